"""Who is best by rankings alone: the Plackett-Luce model on the values of all algorithms. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Better
from ampler.core.errors import InvalidData
from ampler.stats.bayes import RankPosterior, rank_posterior
from ampler.stats.ties import settled_rows


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """What rankings of the algorithms on each instance say, best first."""

    algorithms: tuple[str, ...]
    win: Floats  # the chance to be first on an instance
    best: Floats  # the probability to be the best of all
    better: Floats  # the probability that the row is better than the column
    pair: Floats  # the chance that the row is ahead of the column on an instance
    instances: int  # on which two or more algorithms have values
    effective: float  # draws that count


def ranking_of(algorithms: tuple[str, ...], values: Floats, *, better: Better) -> Ranking:
    """Return the ranking of algorithms (columns) over instances (rows); NaN where one was not run.

    Values that differ by rounding alone are tied; InvalidData where the answer would rest on too few draws.
    """
    present = ~np.isnan(values)
    used = np.flatnonzero(present.any(axis=0))
    rows = present.sum(axis=1) > 1
    if len(used) < 2 or not rows.any():
        raise InvalidData("rankings need an instance on which two or more algorithms have values")
    used = used[present[rows][:, used].any(axis=0)]
    found = rank_posterior(settled_rows(values[rows][:, used]), better=better)
    return _ordered([algorithms[k] for k in used], found, int(rows.sum()))


def _ordered(names: list[str], found: RankPosterior, instances: int) -> Ranking:
    order = np.argsort(-found.win, kind="stable")
    square = np.ix_(order, order)
    return Ranking(
        algorithms=tuple(names[k] for k in order),
        win=found.win[order],
        best=found.best[order],
        better=found.better[square],
        pair=found.pair[square],
        instances=instances,
        effective=found.effective,
    )
