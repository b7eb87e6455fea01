"""Tests of a study whose size was fixed after an internal pilot: their level, and the variance after it. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.settings import Alternative
from ampler.stats.descriptive import ROUNDING
from ampler.stats.holm import step_down
from ampler.stats.paired.contract import p_of_t
from ampler.stats.power import QuadratureGrid, chi_nodes

MOST = 64.0  # pilots: this many instances make the choice of their number unimportant
FULL = 2.0  # pilots up to which the level is lowered in full
LEVELS = np.geomspace(1e-12, 1.0, 37)
FACTORS = np.geomspace(0.4, 16.0, 30)  # of r, in pilots; the largest error rate lies well inside
SIZES = np.append(np.geomspace(1.0, 8.0, 19), (16.0, MOST))  # of N, in pilots
NODES = QuadratureGrid(1 / 4, 1.0, 36.0)  # precision of error rates: three digits
STEPS = 4  # towards L: each leaves less than a tenth of the error


def nominal_levels(
    alphas: ArrayLike, instances: ArrayLike, pilot: int, available: int, alternative: Alternative = "two-sided"
) -> Floats:
    """Return the levels at which t-tests of this many instances err no more often than alpha.

    A pilot has chosen their number, from the `available` ones. A one-sided test has half the level of a two-sided one
    at twice its alpha.

    >>> nominal_levels(0.05, [20, 40, 400], 20, 10**6).round(4).tolist(), nominal_levels(0.05, 20, 20, 20).item()
    ([0.0424, 0.0424, 0.0492], 0.05)
    """
    levels, sides = np.asarray(alphas, dtype=float), 1 if alternative == "two-sided" else 2
    with np.errstate(divide="ignore"):
        lowered = np.interp(np.log(sides * levels), np.log(LEVELS), _lowering(pilot, available))
    return np.asarray(levels * np.exp(-lowered * np.minimum(1.0, FULL * pilot / np.asarray(instances))))


def error_rates(
    p_values: Floats, instances: Floats, pilot: int, available: int, alternative: Alternative = "two-sided"
) -> Floats:
    """Return the p-values of t-tests that allow for the choice of their number: the inverse of `nominal_levels`."""
    sides, lowering = 1 if alternative == "two-sided" else 2, _lowering(pilot, available)
    result = np.array(p_values, dtype=float)
    inside = (p_values > 0) & (sides * p_values < 1)
    for number in set(instances[inside].tolist()):
        here = inside & (instances == number)
        curve = np.log(LEVELS) - lowering * min(1.0, FULL * pilot / number)
        below = np.minimum(np.log(sides * p_values[here]) - curve[0], 0.0)
        result[here] = np.exp(np.interp(np.log(sides * p_values[here]), curve, np.log(LEVELS)) + below) / sides
    return result


@lru_cache(maxsize=64)
def _lowering(pilot: int, available: int) -> Floats:
    """L, for LEVELS."""
    most = min(available / pilot, MOST)
    if most <= 1:
        return np.zeros(len(LEVELS))
    sizes = np.unique(np.append(SIZES[most > SIZES], most))
    deviations, weights = chi_nodes(pilot - 1, NODES)
    rates = _log_rates(pilot, sizes, deviations)
    lowering = np.zeros(len(LEVELS))
    for _ in range(STEPS):
        levels = np.log(LEVELS)[:, None] - lowering[:, None] * np.minimum(1.0, FULL / sizes)
        at = np.stack([_between(levels[:, k], rates[:, :, k]) for k in range(len(sizes))], axis=2)
        largest = np.max([_by_size(at, sizes, factor * deviations**2) @ weights for factor in FACTORS], axis=0)
        lowering = np.maximum(0.0, lowering + np.log(largest / LEVELS))
    return lowering


def _log_rates(pilot: int, sizes: Floats, deviations: Floats) -> Floats:
    """The logarithms of error rates, for LEVELS, standard deviations of the pilot, and sizes."""
    rates = np.empty((len(LEVELS), len(deviations), len(sizes)))
    for index, size in enumerate(sizes * pilot):
        critical = -stdtrit(size - 1, LEVELS / 2)
        after, weights = chi_nodes(size - pilot, NODES) if size > pilot else (np.zeros(1), np.ones(1))
        squares = (pilot - 1) * deviations[:, None] ** 2 + (size - pilot) * after**2
        rates[:, :, index] = 2 * ndtr(-critical[:, None, None] * np.sqrt(squares / (size - 1))) @ weights
    return np.log(np.maximum(rates, 1e-300))


def _between(levels: Floats, log_rates: Floats) -> Floats:
    """The error rates (levels, deviations) at other levels than LEVELS."""
    grid = np.log(LEVELS)
    right = np.clip(np.searchsorted(grid, levels), 1, len(grid) - 1)
    share = ((levels - grid[right - 1]) / (grid[right] - grid[right - 1]))[:, None]
    return np.asarray(np.exp(log_rates[right - 1] * (1 - share) + log_rates[right] * share))


def _by_size(rates: Floats, sizes: Floats, targets: Floats) -> Floats:
    """The error rates (levels, deviations) where each deviation leads to the size that is wanted then."""
    places = np.log(np.clip(targets, 1.0, sizes[-1]))
    right = np.clip(np.searchsorted(np.log(sizes), places), 1, len(sizes) - 1)
    low, high = np.log(sizes)[right - 1], np.log(sizes)[right]
    share, rows = (places - low) / (high - low), np.arange(len(places))
    return np.asarray(rates[:, rows, right - 1] * (1 - share) + rates[:, rows, right] * share)


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
    sizes: tuple[Codes, int] | None = None  # pilot and available instances, if the tests adjust for the choice

    def nominal(self, levels: float | Floats) -> Floats:
        """Return the level of each t-test and its interval at which the error rate is this one."""
        targets = np.broadcast_to(np.asarray(levels, dtype=float), self.means.shape)
        return targets if self.sizes is None else _by_pilot(nominal_levels, targets, self)

    def intervals(self, levels: float | Floats) -> Floats:
        """Return the intervals of the means at these error rates, one row each; one-sided tests leave one end open."""
        tails = self.nominal(levels) / (2 if self.alternative == "two-sided" else 1)
        half = -stdtrit(self.freedom, tails) * self.errors
        low = np.full_like(half, -np.inf) if self.alternative == "less" else self.means - half
        high = np.full_like(half, np.inf) if self.alternative == "greater" else self.means + half
        return np.column_stack([low, high])


def growth_test(differences: Floats, since: int, *, alternative: Alternative = "two-sided") -> GrowthTest:
    """Test each mean with the variance added after the first `since` instances; `since=1` is the ordinary t-test.

    >>> x = np.array([[0.3], [0.1], [0.5], [0.2], [0.6]])
    >>> round(growth_test(x, 1).p_values.item(), 6), growth_test(x, 2).freedom.item()
    (0.021461, 3.0)
    """
    table = np.asarray(differences, dtype=float)
    rows = np.array([_growth(column[:since], column[since:]) for column in table.T], dtype=float).reshape(-1, 4)
    means, errors, freedom, t = rows.T
    return GrowthTest(means, errors, freedom, t, p_of_t(t, np.maximum(freedom, 1), alternative), alternative)


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
    """The values of a curve for each comparison, by its numbers of pilot and total instances."""
    assert test.sizes is not None
    pilots, available = test.sizes
    result = np.array(values)
    for pilot in set(pilots.tolist()):
        here = pilots == pilot
        result[here] = curve(values[here], test.freedom[here] + 1, pilot, available, test.alternative)
    return result


def clear_after_pilot(p_values: Floats, *, alpha: float, share: float) -> Bools:
    """Return which comparisons are significant at the pilot stage, with this share of every level of Holm."""
    return step_down(p_values / share, alpha).rejected


def _growth(before: Floats, after: Floats) -> tuple[float, float, float, float]:
    """Mean, standard error, degrees of freedom and t.

    SS(N) − SS(n₀) is the new instances' own sum of squares, and n₀·m/N times the squared step of the means.
    """
    old, new = before[~np.isnan(before)], after[~np.isnan(after)]
    if not len(old):
        old, new = new[:1], new[1:]  # without a pilot all of the variance is new
    n, m = len(old), len(new)
    if m < 1:
        return math.nan, math.nan, 0.0, math.nan
    exponent = int(np.frexp(max(np.abs(old).max(), np.abs(new).max()))[1])
    origin = np.ldexp(old[0], -exponent)
    old, new = np.ldexp(old, -exponent) - origin, np.ldexp(new, -exponent) - origin  # sound at any magnitude
    early, late = old.mean(), new.mean()
    increase = np.sum((new - late) ** 2) + n * m / (n + m) * (late - early) ** 2
    mean, error = origin + (n * early + m * late) / (n + m), math.sqrt(increase / m / (n + m))
    if error * math.sqrt(n + m) > ROUNDING * abs(mean):
        t = mean / error
    else:
        t = math.copysign(math.inf, mean) if mean else 0
    return math.ldexp(mean, exponent), math.ldexp(error, exponent), m, t
