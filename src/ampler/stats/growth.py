"""Tests of a study that fixed its size after a pilot. Pure.

The final test is the ordinary t-test of all instances, at a level that allows for a size chosen from the pilot's
variances (`internal_pilot`). Studies that were begun before version 0.3 keep the "growth" test: the mean of all
instances, and as variance how much the centred sum of squares has grown since the pilot, SS(N) − SS(n₀). A small share
of every level is set aside for comparisons that are clear after the pilot; the rest is for the end.

Instances are rows in their declared order, comparisons are columns; NaN is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.choices import Alternative
from ampler.core.errors import InvalidData
from ampler.stats.holm import step_down
from ampler.stats.internal_pilot import error_rates, nominal_levels
from ampler.stats.location import ROUNDING

FinalTest = Literal["t", "growth"]


@dataclass(frozen=True, slots=True, eq=False)
class GrowthTest:
    """One test for each comparison."""

    means: Floats
    errors: Floats  # standard errors of the means
    freedom: Floats
    statistics: Floats
    p_values: Floats
    alternative: Alternative = "two-sided"
    sizes: tuple[Codes, int] | None = None  # of the pilot that chose the size, and available, where tests allow for it

    def nominal(self, levels: float | Floats) -> Floats:
        """Return the level of each t-test and its interval at which the error rate is this one."""
        wanted = np.broadcast_to(np.asarray(levels, dtype=float), self.means.shape)
        return wanted if self.sizes is None else _by_pilot(nominal_levels, wanted, self)

    def intervals(self, levels: float | Floats) -> Floats:
        """Return the intervals of the means at these error rates, one row each; one-sided tests leave one end open."""
        from scipy.special import stdtrit

        tails = self.nominal(levels) / (2 if self.alternative == "two-sided" else 1)
        half = -stdtrit(self.freedom, tails) * self.errors
        low = np.full_like(half, -np.inf) if self.alternative == "less" else self.means - half
        high = np.full_like(half, np.inf) if self.alternative == "greater" else self.means + half
        return np.column_stack([low, high])


@dataclass(frozen=True, slots=True, eq=False)
class Conclusions:
    """What a family of comparisons may claim at the end."""

    end: GrowthTest  # NaN where a comparison was clear after the pilot and got no more instances
    clear: Bools  # decided by the pilot
    adjusted: Floats  # Holm's p-values
    intervals: Floats  # one row each, covering all true means together with probability 1 − alpha


def growth_test(differences: Floats, since: int, *, alternative: Alternative = "two-sided") -> GrowthTest:
    """Test each mean with the variance grown after the first `since` instances; `since=1` is the ordinary t-test.

    >>> x = np.array([[0.3], [0.1], [0.5], [0.2], [0.6]])
    >>> round(growth_test(x, 1).p_values.item(), 6), growth_test(x, 2).freedom.item()
    (0.021461, 3.0)
    """
    from scipy.special import stdtr

    table = _checked(differences, since)
    found = np.array([_growth(column[:since], column[since:]) for column in table.T], dtype=float).reshape(-1, 4)
    means, errors, freedom, t = found.T
    tail = {"two-sided": -np.abs(t), "less": t, "greater": -t}[alternative]
    p = np.minimum(1.0, (2 if alternative == "two-sided" else 1) * stdtr(np.maximum(freedom, 1), tail))
    return GrowthTest(means, errors, freedom, t, p, alternative)


def resized_t_test(
    differences: Floats, pilots: Codes, available: int, *, alternative: Alternative = "two-sided"
) -> GrowthTest:
    """Test each mean by the ordinary t-test, allowing for a number of instances that a pilot has chosen.

    `pilots` are the pilot's instances of each comparison. A p-value is at most alpha if and only if the test rejects
    at the level that `nominal_levels` gives alpha.

    >>> x = np.array([[0.3], [0.1], [0.5], [0.2], [0.6]])
    >>> round(resized_t_test(x, np.array([3]), 100).p_values.item(), 3)
    0.067
    """
    test = replace(growth_test(differences, 1, alternative=alternative), sizes=(pilots, available))
    return replace(test, p_values=_by_pilot(error_rates, test.p_values, test))


def _by_pilot(curve: Callable[..., Floats], values: Floats, test: GrowthTest) -> Floats:
    """The values of a curve for each comparison, by the size of its pilot and all of its instances."""
    assert test.sizes is not None
    pilots, available = test.sizes
    result = np.array(values)
    for pilot in set(pilots.tolist()):
        here = pilots == pilot
        result[here] = curve(values[here], test.freedom[here] + 1, pilot, available, test.alternative)
    return result


def clear_after_pilot(p_values: Floats, *, alpha: float, share: float) -> Bools:
    """Say which comparisons are decided by the pilot's ordinary p-values, at this share of every level of Holm."""
    return step_down(p_values / share, alpha).rejected


def adjusted_p_values(pilot: Floats, end: Floats, *, share: float, alpha: float) -> Floats:
    """Return Holm's adjusted p-values: each comparison counts with its stronger half, those clear early with the first.

    `end` may be NaN where a comparison was decided by the pilot and got no more instances.
    """
    early, late = pilot / share, end / (1 - share)
    both = np.where(clear_after_pilot(pilot, alpha=alpha, share=share), early, np.fmin(early, late))
    return step_down(np.minimum(1.0, both), alpha).adjusted


def conclusions(
    differences: Floats,
    pilot: GrowthTest | None,
    *,
    since: int,
    alpha: float,
    share: float,
    alternative: Alternative,
    available: int | None = None,
) -> Conclusions:
    """Return what all differences say, after a pilot that chose their number; without one, by ordinary t-tests.

    With `available` instances the final test is the t-test of all; else the growth test.
    """
    if pilot is None:
        end = growth_test(differences, 1, alternative=alternative)
        family = step_down(end.p_values, alpha)
        return Conclusions(
            end, np.zeros(len(family.ranks), np.bool_), family.adjusted, end.intervals(alpha / len(family.ranks))
        )
    if available is None:
        end = growth_test(differences, since, alternative=alternative)
    else:
        pilots = pilot.freedom.astype(int) + 1
        end = resized_t_test(differences, pilots, available, alternative=alternative)
    clear = clear_after_pilot(pilot.p_values, alpha=alpha, share=share)
    level = alpha / len(clear)
    intervals = np.where(clear[:, None], pilot.intervals(share * level), end.intervals((1 - share) * level))
    adjusted = adjusted_p_values(pilot.p_values, end.p_values, share=share, alpha=alpha)
    return Conclusions(end, clear, adjusted, intervals)


class _Growth(NamedTuple):
    mean: float
    error: float
    freedom: float
    t: float


def _growth(before: Floats, after: Floats) -> _Growth:
    """SS(N) − SS(n₀) is the new instances' own sum of squares, and n₀·m/N times the squared step of the means."""
    old, new = before[~np.isnan(before)], after[~np.isnan(after)]
    if not len(old):
        old, new = new[:1], new[1:]  # nothing was there before, so that all of the variance is new
    n, m = len(old), len(new)
    if m < 1:
        return _Growth(math.nan, math.nan, 0.0, math.nan)
    exponent = int(np.frexp(max(np.abs(old).max(), np.abs(new).max()))[1])
    origin = np.ldexp(old[0], -exponent)
    old, new = np.ldexp(old, -exponent) - origin, np.ldexp(new, -exponent) - origin  # no magnitude or offset is lost
    early, late = old.mean(), new.mean()
    grown = np.sum((new - late) ** 2) + n * m / (n + m) * (late - early) ** 2
    mean, error = origin + (n * early + m * late) / (n + m), math.sqrt(grown / m / (n + m))
    t = (
        mean / error
        if error * math.sqrt(n + m) > ROUNDING * abs(mean)
        else math.copysign(math.inf, mean)
        if mean
        else 0
    )
    return _Growth(math.ldexp(mean, exponent), math.ldexp(error, exponent), m, t)


def _checked(differences: Floats, since: int) -> Floats:
    table = np.asarray(differences, dtype=float)
    if table.ndim != 2 or np.isinf(table).any():
        raise InvalidData("differences must be finite numbers, instances in rows and comparisons in columns")
    if not 1 <= since < len(table):
        raise InvalidData(f"the variance must grow since an instance before the last of the {len(table)}, got {since}")
    return table
