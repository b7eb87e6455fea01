"""The guard's bounds for one instance, in plain numbers: what `guard` finds for many, several times as quickly. Pure.

An instance has few algorithms, and a call of an array function costs as much as arithmetic with thirty numbers. Here is
the usual case, all algorithms vary; `guard` and `variance_prior` tell why each formula is what it is.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ampler.core.arrays import Floats
from ampler.stats.variance_prior import chi_square_quantile, digamma, least_trigamma, trigamma, trigamma_slope

Numbers = list[float]

NEWTON_STEPS = 4


def plain_bounds(
    counts: Floats, variances: Floats, kurtosis: Floats, *, levels: Floats, caution: float, least: float, most: float
) -> Floats | None:
    """Return the guarded variances of one instance; None in all but the usual case."""
    runs, spreads = counts.tolist(), variances.tolist()
    if not (min(runs) > 1.0 and min(spreads) > 0.0 and math.isfinite(sum(spreads))):
        return None
    worth = _degrees(runs, kurtosis.tolist(), least)
    strength, variance = _prior(spreads, worth, caution, most)
    squares = [degrees * spread + strength * variance for degrees, spread in zip(worth, spreads, strict=True)]
    total = np.array([degrees + strength for degrees in worth])
    return np.array(squares) / chi_square_quantile(levels, total)


def _degrees(runs: Numbers, kurtosis: Numbers, least: float) -> Numbers:
    """What each variance is worth: n−1, fewer where the tails of all together are heavy."""
    weighted = [n * each * (n + 1.0) / (n - 1.0) for n, each in zip(runs, kurtosis, strict=True)]
    share = 2.0 / max(sum(weighted) / sum(runs) - 1.0, 2.0)
    return [max(share * (n - 1.0), least) for n in runs]


def _prior(variances: Numbers, degrees: Numbers, caution: float, most: float) -> tuple[float, float]:
    """The degrees of freedom and the variance of the prior that the variances share."""
    half = np.array(degrees) / 2
    size = len(variances)
    logs = [
        math.log(variance) - psi + math.log(each)
        for variance, psi, each in zip(variances, digamma(half).tolist(), half.tolist(), strict=True)
    ]
    mean = sum(logs) / size
    spread = sum((each - mean) ** 2 for each in logs) / _divisor(size, caution)
    half_prior = _inverse_trigamma(spread - sum(trigamma(half).tolist()) / size, most / 2)
    return 2.0 * half_prior, math.exp(mean + float(digamma(half_prior)) - math.log(half_prior))


@cache
def _divisor(size: int, caution: float) -> float:
    """What a sum of `size` squares is divided by for an upper bound of its mean."""
    return float(chi_square_quantile(caution, np.array(size - 1.0)))


def _inverse_trigamma(value: float, highest: float) -> float:
    """Solve ψ′(y) = value by Newton's method on 1/ψ′, y at most the `highest`."""
    if value <= least_trigamma(highest):
        return highest
    y = min(0.5 + 1.0 / value, 1.0 / math.sqrt(max(value - math.pi**2 / 6, 1e-9)))
    for _ in range(NEWTON_STEPS):
        first = float(trigamma(y))
        y += first * (1.0 - first / value) / float(trigamma_slope(y))
    return min(y, highest)
