"""Cohen's d of paired differences, and its interval from the noncentral t distribution. Pure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ampler.core.arrays import Codes, Floats, Interval
from ampler.stats.paired.missing import FEWEST, present_columns
from ampler.stats.paired.student import t_statistic

EFFECT_LEVEL = 0.95  # of the interval of d; plain, not adjusted for the family
FAR = 1000.0  # beyond this t the series behind nct.sf does not converge


def effect_size(differences: Floats) -> float:
    """Return Cohen's d of paired differences, mean/sd: infinite if they are constant, NaN if all are zero or few.

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
    n = np.array([max(len(column), FEWEST) for column in columns])
    sign = np.where(t < 0, -1.0, 1.0)
    low, high = (_noncentralities(np.abs(t), n - 1, tail) for tail in _tails())
    flipped = np.where(sign > 0, [low, high], [-high, -low]) / np.sqrt(n)
    return tuple((float(lower), float(upper)) for lower, upper in flipped.T)


def _tails() -> tuple[float, float]:
    return (1 - EFFECT_LEVEL) / 2, (1 + EFFECT_LEVEL) / 2


def _noncentralities(t: Floats, degrees: Codes, tail: float) -> Floats:
    """The noncentrality under which T exceeds t with probability `tail`, for t >= 0."""
    near = np.isfinite(t) & (t <= FAR)
    result = np.where(np.isinf(t), math.inf, math.nan)
    if near.any():
        result[near] = _inverted(t[near], degrees[near], tail)
    far = np.isfinite(t) & ~near
    if far.any():
        result[far] = _asymptotic(t[far], degrees[far], tail)
    return result


def _inverted(t: Floats, degrees: Codes, tail: float) -> Floats:
    # Only sf: cdf is NaN where it is tiny. The bracket is five times as wide as any 95 % interval.
    from scipy.optimize import elementwise
    from scipy.stats import nct

    def excess(ncp: Any, at: Any, freedom: Any) -> Any:
        return nct.sf(at, freedom, ncp) - tail

    find_root: Any = elementwise.find_root  # its stubs know no extra arguments
    width = 10 * np.sqrt(1 + t * t / (2 * degrees))
    roots: Floats = find_root(excess, (t - width, t + width), args=(t, degrees)).x
    return roots


def _asymptotic(t: Floats, degrees: Codes, tail: float) -> Floats:
    """For very large t: T > t when ncp + Z > t·S, with Z normal, S² = χ²/degrees; deviations add in squares."""
    from scipy.special import chdtri, ndtri

    scale = np.sqrt(chdtri(degrees, 1 - tail) / degrees)
    return np.asarray(t + np.sign(tail - 0.5) * np.hypot(t * (scale - 1), ndtri(tail)))
