"""Cohen's d of paired differences, and its interval from the noncentral t distribution. Pure."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ampler.core.arrays import Codes, Floats, Interval
from ampler.stats.noncentral_t import noncentralities
from ampler.stats.paired.missing import FEWEST, present_columns
from ampler.stats.paired.student import t_statistic

EFFECT_LEVEL = 0.95  # of the interval of d; plain, not adjusted for the family


def effect_size(differences: Floats) -> float:
    """Return Cohen's d of paired differences, mean/sd; NaN if all are equal or there are too few.

    >>> effect_size(np.array([1.0, 2.0, 3.0]))
    2.0
    """
    return t_statistic(differences) / math.sqrt(len(differences)) if len(differences) >= FEWEST else math.nan


def effect_intervals(differences: Floats) -> tuple[Interval, ...]:
    """Return the plain 95 % interval of each column's d, by inverting the noncentral t distribution.

    A column is NaN on the instances that its pair lacks; with fewer than two differences nothing is known of d.
    """
    columns = present_columns(differences)
    t = np.array([t_statistic(column) if len(column) >= FEWEST else math.nan for column in columns])
    return effect_intervals_of(t, np.array([max(len(column), FEWEST) for column in columns]))


def effect_intervals_of(t: Floats, instances: Codes, level: ArrayLike = 1 - EFFECT_LEVEL) -> tuple[Interval, ...]:
    """Return the intervals of d at this error level from the t statistics of so many instances."""
    n, levels = instances, np.broadcast_to(np.asarray(level, dtype=float), t.shape)
    sign = np.where(t < 0, -1.0, 1.0)
    low, high = (_noncentralities(np.abs(t), n - 1, tails) for tails in (levels / 2, 1 - levels / 2))
    flipped = np.where(sign > 0, [low, high], [-high, -low]) / np.sqrt(n)
    return tuple((float(lower), float(upper)) for lower, upper in flipped.T)


def _noncentralities(t: Floats, degrees: Codes, tails: Floats) -> Floats:
    """Those of noncentral_t, for t >= 0; NaN for none."""
    result = np.full(len(t), math.nan)
    known = np.isfinite(t)
    result[known] = noncentralities(t[known], degrees[known], tails[known])
    return result
