"""The posteriors of all comparisons together: what is learnt from each other, where none is missing. Pure.

A shared prior needs every comparison on every instance. Where cells are missing it is fitted on the largest complete
block, and comparisons outside it have no shared posterior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats, Pair
from ampler.core.errors import InvalidData
from ampler.stats.bayes import SharedPosterior, shared_posteriors
from ampler.stats.bayes.shared import FEWEST


@dataclass(frozen=True, slots=True)
class SharedFamily:
    """Comparisons that learn from each other, how far apart the algorithms are, and on how many instances."""

    comparisons: Mapping[Pair, SharedPosterior] = field(default_factory=dict)
    omega: float = nan
    instances: int = 0
    problem: str = ""  # why there are none


def family_of(
    differences: Floats, pairs: Sequence[Pair], *, reference: str | None, margin: float, level: float
) -> SharedFamily:
    """Return the shared posteriors of comparisons (columns), with one reference or of all with all."""
    try:
        if reference is not None:
            return _with_reference(differences, pairs, margin, level)
        return _all_with_all(differences, pairs, margin, level)
    except InvalidData as problem:
        return SharedFamily(problem=str(problem))


def largest_block(present: Bools) -> tuple[Codes, Codes]:
    """Return rows and columns without gaps: of the fullest columns, as many as make the largest table.

    >>> [part.tolist() for part in largest_block(np.array([[1, 0], [1, 0], [1, 1], [1, 0]], dtype=bool))]
    [[0, 1, 2, 3], [0]]
    """
    order = np.argsort(-present.sum(axis=0), kind="stable")
    complete = np.logical_and.accumulate(present[:, order], axis=1)
    counts = complete.sum(axis=0)
    sizes = np.where(counts >= FEWEST, counts, 0) * np.arange(1, len(order) + 1)
    kept = int(np.argmax(sizes)) + 1 if sizes.any() else len(order)
    return np.flatnonzero(complete[:, kept - 1]), np.sort(order[:kept])


def _with_reference(differences: Floats, pairs: Sequence[Pair], margin: float, level: float) -> SharedFamily:
    rows, columns = _varying(differences)
    fit = shared_posteriors(differences[np.ix_(rows, columns)], margin=margin, level=level)
    found = {pairs[k]: one for k, one in zip(columns, fit.comparisons, strict=True)}
    return SharedFamily(found, fit.omega, len(rows))


def _all_with_all(differences: Floats, pairs: Sequence[Pair], margin: float, level: float) -> SharedFamily:
    """All pairs are sums of the differences of one algorithm to all others: the one that tells most."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    tables = {base: _to_others(differences, pairs, base, names) for base in names}
    base = max(names, key=lambda name: _telling(tables[name]))
    others = [name for name in names if name != base]
    rows, columns = _varying(tables[base])
    kept = [base, *(others[k] for k in columns)]
    chosen = [(kept.index(i), kept.index(j)) for i, j in pairs if i in kept and j in kept]
    fit = shared_posteriors(tables[base][np.ix_(rows, columns)], margin=margin, level=level, pairs=chosen)
    found = {(kept[i], kept[j]): one for (i, j), one in zip(chosen, fit.comparisons, strict=True)}
    return SharedFamily(found, fit.omega, len(rows))


def _to_others(differences: Floats, pairs: Sequence[Pair], base: str, names: Sequence[str]) -> Floats:
    places = {pair: k for k, pair in enumerate(pairs)}
    return np.column_stack([_between(differences, places, base, other) for other in names if other != base])


def _telling(table: Floats) -> tuple[int, int]:
    """To how many others an algorithm has differences that vary, and how many differences that are."""
    there = ~np.isnan(table)
    varies = [len(np.unique(column[has])) > 1 for column, has in zip(table.T, there.T, strict=True)]
    return sum(varies), int(there.sum())


def _between(differences: Floats, places: Mapping[Pair, int], first: str, second: str) -> Floats:
    if (first, second) in places:
        return np.asarray(differences[:, places[first, second]])
    return np.asarray(-differences[:, places[second, first]])


def _varying(table: Floats) -> tuple[Codes, Codes]:
    """The largest complete block, without what never varies in it: that is known, and nothing is learnt from it."""
    rows, columns = largest_block(~np.isnan(table))
    block = table[np.ix_(rows, columns)]
    largest = np.abs(block).max(initial=0.0)
    varies = (block / largest).std(axis=0) > 0 if largest > 0 else np.zeros(len(columns), dtype=bool)
    if not varies.any():
        raise InvalidData(f"a shared prior needs differences that vary on {FEWEST} or more complete instances")
    return rows, columns[varies]
