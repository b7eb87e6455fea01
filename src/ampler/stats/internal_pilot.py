"""The ordinary t-test after a pilot has chosen the number of instances: the level at which it keeps alpha. Pure.

A small variance of the pilot leads to few instances, so that the variance of all of them is too small on average, and
the test errs a little more often than its level says (Wittes & Brittain 1990; Kieser & Friede 2000). For normal
differences its error rate is an integral over two sums of squares: V of the pilot, which chooses N, and G of what comes
after. The mean is independent of both, so that, in units of the standard deviation,

    P(|T| > c) = E P(|Z| > c·√((V + G)/(N − 1))),   V ~ χ²(n₀ − 1),   G ~ χ²(N − n₀),   N = r·V/(n₀ − 1).

The factor r is not known, as it contains the true variance: the largest error rate over all r counts. It falls as N
grows beyond the pilot, so the level is lowered less there: to α·exp(−L·h), with h = 1 up to N = 2·n₀ and 2·n₀/N beyond.
The number L(α) is such that the largest error rate is α.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative
from ampler.stats.noncentral_t import Precision, chi_nodes

MOST = 64.0  # pilots: so many instances make the choice of their number unimportant
FULL = 2.0  # pilots up to which the level is lowered in full
LEVELS = np.geomspace(1e-12, 1.0, 37)
FACTORS = np.geomspace(0.4, 16.0, 30)  # of r, in pilots; the largest error rate lies well inside
SIZES = np.append(np.geomspace(1.0, 8.0, 19), (16.0, MOST))  # of N, in pilots
NODES = Precision(1 / 4, 1.0, 36.0)  # three digits of an error rate are enough
STEPS = 4  # towards L: each leaves less than a tenth of the error


def nominal_levels(
    alphas: ArrayLike,
    instances: ArrayLike,
    pilot: int,
    available: int,
    alternative: Alternative = "two-sided",
) -> Floats:
    """Return the levels at which t-tests of so many instances err no more often than alpha.

    A pilot has chosen their number, from the `available` ones. A one-sided test has half the level of a two-sided one
    at twice its alpha.

    >>> nominal_levels(0.05, [20, 40, 400], 20, 10**6).round(4).tolist(), nominal_levels(0.05, 20, 20, 20).item()
    ([0.0424, 0.0424, 0.0492], 0.05)
    """
    given, sides = np.asarray(alphas, dtype=float), 1 if alternative == "two-sided" else 2
    with np.errstate(divide="ignore"):
        lowered = np.interp(np.log(sides * given), np.log(LEVELS), _lowering(pilot, available))
    return np.asarray(given * np.exp(-lowered * _share(np.asarray(instances) / pilot)))


def error_rates(
    p_values: Floats, instances: Floats, pilot: int, available: int, alternative: Alternative = "two-sided"
) -> Floats:
    """Return the p-values of t-tests that allow for the choice of their number: the inverse of `nominal_levels`."""
    sides, lowering = 1 if alternative == "two-sided" else 2, _lowering(pilot, available)
    result = np.array(p_values, dtype=float)
    known = (p_values > 0) & (sides * p_values < 1)
    for number in set(instances[known].tolist()):
        here = known & (instances == number)
        curve = np.log(LEVELS) - lowering * _share(np.array(number / pilot))
        below = np.minimum(np.log(sides * p_values[here]) - curve[0], 0.0)
        result[here] = np.exp(np.interp(np.log(sides * p_values[here]), curve, np.log(LEVELS)) + below) / sides
    return result


def _share(ratios: Floats) -> Floats:
    """How much of the full lowering a number of instances needs, in pilots."""
    return np.asarray(np.minimum(1.0, FULL / ratios))


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
        levels = np.log(LEVELS)[:, None] - lowering[:, None] * _share(sizes)
        at = np.stack([_between(levels[:, k], rates[:, :, k]) for k in range(len(sizes))], axis=2)
        largest = np.max([_by_size(at, sizes, factor * deviations**2) @ weights for factor in FACTORS], axis=0)
        lowering = np.maximum(0.0, lowering + np.log(largest / LEVELS))
    return lowering


def _log_rates(pilot: int, sizes: Floats, deviations: Floats) -> Floats:
    """The logarithms of error rates, for LEVELS, standard deviations of the pilot, and sizes."""
    from scipy.special import ndtr, stdtrit

    rates = np.empty((len(LEVELS), len(deviations), len(sizes)))
    for place, size in enumerate(sizes * pilot):
        critical = -stdtrit(size - 1, LEVELS / 2)
        after, weights = chi_nodes(size - pilot, NODES) if size > pilot else (np.zeros(1), np.ones(1))
        squares = (pilot - 1) * deviations[:, None] ** 2 + (size - pilot) * after**2
        rates[:, :, place] = 2 * ndtr(-critical[:, None, None] * np.sqrt(squares / (size - 1))) @ weights
    return np.log(np.maximum(rates, 1e-300))


def _between(levels: Floats, log_rates: Floats) -> Floats:
    """The error rates (levels, deviations) at other levels than LEVELS."""
    grid = np.log(LEVELS)
    right = np.clip(np.searchsorted(grid, levels), 1, len(grid) - 1)
    share = ((levels - grid[right - 1]) / (grid[right] - grid[right - 1]))[:, None]
    return np.asarray(np.exp(log_rates[right - 1] * (1 - share) + log_rates[right] * share))


def _by_size(rates: Floats, sizes: Floats, wanted: Floats) -> Floats:
    """The error rates (levels, deviations) where each deviation leads to the size that is wanted then."""
    places = np.log(np.clip(wanted, 1.0, sizes[-1]))
    right = np.clip(np.searchsorted(np.log(sizes), places), 1, len(sizes) - 1)
    low, high = np.log(sizes)[right - 1], np.log(sizes)[right]
    share, rows = (places - low) / (high - low), np.arange(len(places))
    return np.asarray(rates[:, rows, right - 1] * (1 - share) + rates[:, rows, right] * share)
