"""What the differences say at each look: how many there are, p-values, repeated intervals. Pure; NaN is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Counts, Floats
from ampler.core.choices import Alternative
from ampler.core.errors import InvalidData
from ampler.stats.noncentral_t import upper_tail
from ampler.stats.paired.student import t_statistic


@dataclass(frozen=True, slots=True, eq=False)
class LookEvidence:
    """Looks in rows, comparisons in columns; a p-value is NaN where a comparison has too little to be tested."""

    counts: Counts  # instances that both algorithms of the comparison have
    p_values: Floats
    equivalence: Floats | None = None  # p-values of "the difference is as large as the relevant effect"


def t_evidence(
    differences: Floats,
    looks: Sequence[int],
    *,
    alternative: Alternative = "two-sided",
    effect: float | None = None,
) -> LookEvidence:
    """Return what t-tests say at each look; instances in rows, in their declared order, and comparisons in columns.

    >>> steps = np.array([[0.5], [1.5], [1.0], [0.2], [0.9], [1.1]])
    >>> t_evidence(steps, (3, 6), effect=0.5).p_values.round(4).tolist()
    [[0.0742], [0.0057]]
    """
    from scipy.special import stdtr

    table = _checked(differences, looks)
    counts = np.array([(~np.isnan(table[:n])).sum(axis=0) for n in looks], dtype=np.int64)
    t = np.array([[_t_of_those_there(column[:n]) for column in table.T] for n in looks])
    freedom = np.maximum(counts - 1, 1)
    tail = {"two-sided": -np.abs(t), "less": t, "greater": -t}[alternative]
    p_values = np.minimum(1.0, (2 if alternative == "two-sided" else 1) * stdtr(freedom, tail))
    return LookEvidence(counts, p_values, None if effect is None else equivalence_p_values(t, counts, effect))


def equivalence_p_values(t: Floats, counts: Counts, effect: float) -> Floats:
    """Return P(|T| is as small as |t|, on its side) when the true effect is as large as the relevant one."""
    if not (math.isfinite(effect) and effect > 0):
        raise InvalidData(f"the relevant effect must be positive, got {effect!r}: 0.5 is usual")
    mirrored = -np.abs(t)  # an upper tail keeps its digits where it is tiny
    return upper_tail(mirrored, np.maximum(counts - 1, 1), -effect * np.sqrt(counts))


def _t_of_those_there(differences: Floats) -> float:
    """The t statistic of the differences that are there: 0 if all are 0, NaN if all are equal or there is one."""
    values = differences[~np.isnan(differences)]
    if len(values) < 2:
        return math.nan
    return t_statistic(values) if values.any() else 0.0


def repeated_interval(
    mean: float, error: float, instances: int, nominal: float, *, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    """Return the confidence interval that holds whatever made the comparison stop.

    It is the ordinary one at the nominal level of the look for the comparison's own level; `error` is s/√n.

    >>> low, high = repeated_interval(0.727, 0.1806, 21, 0.0074)
    >>> round(low, 3), round(high, 3)
    (0.189, 1.265)
    """
    from scipy.special import stdtrit

    half = math.inf
    if nominal > 0:
        half = -float(stdtrit(instances - 1, nominal / (2 if alternative == "two-sided" else 1))) * error
    return (-math.inf if alternative == "less" else mean - half, math.inf if alternative == "greater" else mean + half)


def _checked(differences: Floats, looks: Sequence[int]) -> Floats:
    table = np.asarray(differences, dtype=float)
    if table.ndim != 2 or np.isinf(table).any():
        raise InvalidData("differences must be finite numbers, instances in rows and comparisons in columns")
    if len(table) < looks[-1]:
        raise InvalidData(f"the last look needs {looks[-1]} instances, got {len(table)}: wait for all of the look")
    return table
