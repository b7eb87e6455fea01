"""What many variances say about each of them: Smyth's empirical Bayes (2004), fitted by moments of logarithms. Pure.

A variance from few runs is mostly chance; together many of them tell which size is usual and how much they differ. The
last axis holds the variances that share a prior; leading axes are independent problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ampler.core.arrays import Floats

MAX_PRIOR_DEGREES = 50.0  # true variances are never all the same, however alike the estimates look


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """What the variances together say about one: `degrees` of freedom's worth of evidence for `variance`."""

    degrees: Floats
    variance: Floats

    def joined(self, variances: Floats, degrees: Floats) -> tuple[Floats, Floats]:
        """Return the sums of squares and the degrees of freedom of each variance and the prior together."""
        strength = self.degrees[..., None]
        return degrees * variances + strength * self.variance[..., None], degrees + strength


def fitted_prior(
    variances: Floats, degrees: Floats, *, caution: float | None = None, most: float | None = None
) -> Prior:
    """Fit a scaled inverse chi-square prior to the variances by moments of their logarithms (Smyth 2004, section 6.2).

    With `caution`, a chance, the variance of the logarithms is replaced by its upper bound: few variances may look
    alike by luck. The prior has at most `most` degrees. Variances of 0 stay out; with fewer than two others there is
    nothing to borrow.
    """
    used = (variances > 0) & (degrees > 0)
    size = used.sum(axis=-1)
    half = np.where(used, degrees, 2.0) / 2
    # E log s² = log σ² + ψ(ν/2) − log(ν/2), so each of these estimates a log variance without bias.
    logs = np.where(used, np.log(np.where(used, variances, 1.0)) - digamma(half) + np.log(half), 0.0)
    mean = logs.sum(axis=-1) / np.maximum(size, 1)
    apart = np.where(used, logs - mean[..., None], 0.0)
    spread = (apart * apart).sum(axis=-1) / _divisor(np.maximum(size - 1.0, 1.0), caution)
    noise = np.where(used, trigamma(half), 0.0).sum(axis=-1) / np.maximum(size, 1)
    half_prior = _inverse_trigamma(spread - noise, MAX_PRIOR_DEGREES if most is None else most)
    variance = np.exp(mean + digamma(half_prior) - np.log(half_prior))
    return Prior(np.where(size > 1, 2 * half_prior, 0.0), np.where(size > 0, variance, 0.0))


def moderated(variances: Floats, degrees: Floats) -> Floats:
    """Return variances that borrow strength from each other; their mean is that of the variances that came.

    Taken at their word, variances from few runs would seem to differ where they do not, and an allocation that follows
    these differences would seem to save runs that nobody can save. The mean that came is right on average.

    >>> moderated(np.array([1.0, 9.0, 5.0]), np.full(3, 3.0)).round(1).tolist()
    [3.6, 6.4, 5.0]
    """
    prior = fitted_prior(variances, degrees)
    squares, total = prior.joined(variances, degrees)
    shrunk = np.where(prior.degrees[..., None] > 0, squares / np.where(total > 0, total, 1.0), variances)
    means = shrunk.mean(axis=-1, keepdims=True)
    factor = np.divide(variances.mean(axis=-1, keepdims=True), means, out=np.zeros_like(means), where=means > 0)
    return np.asarray(factor * shrunk)


def chi_square_quantile(level: Floats | float, degrees: Floats) -> Floats:
    """Return the value that a chi-square variable stays below with probability `level`."""
    return np.asarray(_special().chdtri(degrees, 1.0 - level))


def _divisor(degrees: Floats, caution: float | None) -> Floats:
    """What a sum of squares is divided by: its degrees for the variance, a low quantile for its upper bound."""
    return degrees if caution is None else chi_square_quantile(caution, degrees)


def _inverse_trigamma(value: Floats, most: float) -> Floats:
    """Solve ψ′(y) = value by Newton's method on 1/ψ′ (Smyth 2004, appendix), y at most half of `most`."""
    highest = most / 2
    wanted = np.maximum(value, least_trigamma(highest))
    # Two upper bounds of y, sharp for small and for large values; from above the iteration is monotone and quadratic.
    y = np.minimum(0.5 + 1.0 / wanted, 1.0 / np.sqrt(np.maximum(wanted - np.pi**2 / 6, 1e-9)))
    for _ in range(4):
        first = trigamma(y)
        y = y + first * (1.0 - first / wanted) / trigamma_slope(y)
    return np.asarray(np.minimum(y, highest))


@cache
def least_trigamma(highest: float) -> float:
    """Return ψ′ at the largest value that is looked for."""
    return float(trigamma(np.float64(highest)))


def digamma(x: Any) -> Any:
    """Return ψ(x)."""
    return _special().psi(x)


def trigamma(x: Any) -> Any:
    """Return ψ′(x) for x > 0; much quicker than scipy's polygamma, which also begins with Hurwitz's zeta function."""
    return _special().zeta(2, x)


def trigamma_slope(x: Any) -> Any:
    """Return ψ″(x) for x > 0."""
    return -2.0 * _special().zeta(3, x)


@cache
def _special() -> Any:
    """scipy's special functions, which take a while to load and stand in the loop of every decision."""
    import scipy.special

    return scipy.special
