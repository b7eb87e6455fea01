"""Conservative bounds of variances, with strength borrowed from all algorithms. Pure.

Stopping when *estimated* standard errors pass picks the moments where variances are underestimated. So each variance is
replaced by an upper bound. Variances share a prior: Smyth's empirical Bayes (2004), fitted by moments of logarithms.
The last axis of every array holds the algorithms; leading axes are independent problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import chdtri, psi, zeta

from ampler.core.arrays import Floats
from ampler.core.settings import CalibrationVersion, Guard
from ampler.stats.summaries import rate_variance_bounds


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of the variance bounds: probabilities that a true variance exceeds its bound."""

    level: float  # of one algorithm, under "pairs"
    reference_level: float  # the reference is in every pair, so its bound must be safer
    together: float  # of all algorithms, under "all"
    knows_statistics: bool  # that the variance of a quantile or trimmed mean is worth less than n−1 degrees of freedom
    lent: float  # degrees of freedom a constant algorithm borrows from the only one that varies
    # Chance that the variances differ more than the prior admits; matters where few algorithms speak. All bounds of
    # "all" hold, in the hardest case (10 runs, prior degrees 20), in 84 to 94 % of the samples instead of 69 to 76 %.
    caution: float
    least: float  # minimum degrees of freedom of a variance, so that one outlier does not inflate every bound
    most: float  # degrees of the prior: true variances are never all the same, however alike the estimates look

    @lru_cache(maxsize=256)  # noqa: B019  # there are two calibrations
    def levels(self, guard: Guard, algorithms: int, reference: int | None) -> Floats:
        """Return the error probability of each algorithm; under "all" never larger than under "pairs"."""
        levels = np.full(algorithms, self.level)
        if reference is not None:
            levels[reference] = self.reference_level
        levels = np.minimum(levels, self.together / algorithms) if guard == "all" else levels
        levels.flags.writeable = False  # shared by all decisions
        return levels


# Results files keep their calibration version, so that their decisions never change. The first version kept its level
# for all pairs, but for 89 % only of those that need more than the first runs, and for 40 to 75 % of quantiles.
NEWEST: CalibrationVersion = 2
CALIBRATIONS: Mapping[CalibrationVersion, Calibration] = {
    1: Calibration(0.1, 0.05, together=0.1, knows_statistics=False, lent=0.0, caution=0.1, least=1.0, most=50.0),
    2: Calibration(0.05, 0.025, together=0.1, knows_statistics=True, lent=1.0, caution=0.1, least=1.0, most=50.0),
}
MAX_PRIOR_DEGREES = 50.0  # true variances are never all the same, however alike the estimates look


def guarded_variances(
    counts: Floats,
    variances: Floats,
    kurtosis: Floats | None = None,
    *,
    degrees: Floats | None = None,
    rates: Floats | None = None,
    guard: Guard = "pairs",
    reference: int | None = None,
    edition: CalibrationVersion = NEWEST,
) -> Floats:
    """Return the variance of one run to be used for each algorithm, in allocation and stopping alike.

    `variances` are sample variances (n−1); `kurtosis` is n·M4/M2² of each algorithm from its central power sums, for
    the mean; `degrees` are what the variances are worth, for statistics that know it; `rates` are the shares of yes,
    whose variances follow from themselves. Constant algorithms get their bound from the others, unless all are
    constant; an algorithm with fewer than two values keeps its variance.

    >>> guarded_variances(np.full(3, 10.0), np.array([4.0, 5.0, 6.0]), guard="all").round(1).tolist()
    [8.8, 9.5, 10.1]
    """
    counts, variances = np.asarray(counts, dtype=float), np.asarray(variances, dtype=float)
    if guard == "none":
        return variances
    calibration = CALIBRATIONS[edition]
    levels = calibration.levels(guard, counts.shape[-1], reference)
    if rates is not None:
        return np.where(counts > 1, rate_variance_bounds(counts, rates, levels), variances)
    stated = degrees if calibration.knows_statistics else None
    worth = effective_degrees(counts, variances, kurtosis, stated, least=calibration.least)
    prior = fitted_prior(variances, worth, caution=calibration.caution, most=calibration.most)
    squares, total = _lent(variances, worth, *prior.joined(variances, worth), calibration.lent)
    bounds = squares / chi_square_quantile(levels, np.maximum(total, calibration.least))
    return np.where(worth > 0, bounds, variances)


def pooled_kurtosis(counts: Floats, variances: Floats, kurtosis: Floats) -> Floats:
    """Return the kurtosis shared by the algorithms that vary, weighted by their runs; 3 for normal data."""
    varies = (variances > 0) & (counts > 1)
    n = np.where(varies, counts, 2.0)
    single = np.where(varies, kurtosis, 0.0) * (n + 1) / (n - 1)  # n·M4/M2² is too small in small samples
    weight = np.where(varies, n, 0.0)
    total = weight.sum(axis=-1)
    return np.where(total > 0, (weight * single).sum(axis=-1) / np.maximum(total, 1.0), 3.0)


def effective_degrees(
    counts: Floats, variances: Floats, kurtosis: Floats | None, degrees: Floats | None = None, *, least: float = 1.0
) -> Floats:
    """Return the degrees of freedom a variance is worth: `degrees` if known, or n−1, fewer where tails are heavy."""
    if degrees is not None:
        return np.where(counts > 1, np.maximum(degrees, least), 0.0)
    if kurtosis is None:
        return np.maximum(counts - 1.0, 0.0)
    # Var(s²)/σ⁴ is about (κ−1)/n against 2/(n−1) for normal data; light tails are not trusted to do better.
    excess = np.maximum(pooled_kurtosis(counts, variances, kurtosis) - 1.0, 2.0)
    reduced = np.maximum(np.asarray(2.0 / excess)[..., None] * (counts - 1.0), least)
    return np.where(counts > 1, reduced, 0.0)


def _lent(variances: Floats, degrees: Floats, squares: Floats, total: Floats, lent: float) -> tuple[Floats, Floats]:
    """Give constant algorithms the variance of the only one that varies: equal values do not prove that it is 0.

    With two that vary there is a prior to borrow from; of values that are 1 in a tenth of the runs and else 0, and two
    algorithms, 69 % of the pairs come within the accuracy wanted instead of 56 %.
    """
    varies = (variances > 0) & (degrees > 0)
    alone = np.add.reduce(varies, axis=-1, keepdims=True, dtype=np.intp) == 1
    if not alone.any():  # fast path for the usual case
        return squares, total
    borrows = alone & ~varies & (degrees > 0)
    lender = np.where(varies, variances, 0.0).sum(axis=-1, keepdims=True)
    return np.where(borrows, lent * lender, squares), np.where(borrows, degrees + lent, total)


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """Prior of a variance from all variances: evidence worth `degrees` of freedom for `variance`."""

    degrees: Floats
    variance: Floats

    def joined(self, variances: Floats, degrees: Floats) -> tuple[Floats, Floats]:
        """Return the sums of squares and the degrees of freedom of each variance and the prior together."""
        strength = self.degrees[..., None]
        return degrees * variances + strength * self.variance[..., None], degrees + strength


def fitted_prior(
    variances: Floats, degrees: Floats, *, caution: float | None = None, most: float = MAX_PRIOR_DEGREES
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
    logs = np.where(used, np.log(np.where(used, variances, 1.0)) - psi(half) + np.log(half), 0.0)
    mean = logs.sum(axis=-1) / np.maximum(size, 1)
    apart = np.where(used, logs - mean[..., None], 0.0)
    freedom = np.maximum(size - 1.0, 1.0)  # of the sum of squares; a low quantile instead gives the upper bound
    spread = (apart * apart).sum(axis=-1) / (freedom if caution is None else chi_square_quantile(caution, freedom))
    noise = np.where(used, zeta(2, half), 0.0).sum(axis=-1) / np.maximum(size, 1)
    half_prior = _inverse_trigamma(spread - noise, most)
    variance = np.exp(mean + psi(half_prior) - np.log(half_prior))
    return Prior(np.where(size > 1, 2 * half_prior, 0.0), np.where(size > 0, variance, 0.0))


def moderated(variances: Floats, degrees: Floats) -> Floats:
    """Return shrunken variances with the mean of the original ones.

    Unshrunken variances from few runs seem to differ where they do not, and an allocation that follows
    these differences seems to save runs that cannot be saved. The original mean is unbiased.

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
    return np.asarray(chdtri(degrees, 1.0 - level))


def _inverse_trigamma(value: Floats, most: float) -> Floats:
    """Solve ψ′(y) = value by Newton's method on 1/ψ′ (Smyth 2004, appendix), y at most half of `most`."""
    # ψ′ and ψ″ are Hurwitz's zeta functions, with which scipy's polygamma begins too, only much slower.
    target = np.maximum(value, zeta(2, most / 2))
    # Two upper bounds of y, sharp for small and for large values; from above the iteration is monotone and quadratic.
    y = np.minimum(0.5 + 1.0 / target, 1.0 / np.sqrt(np.maximum(target - np.pi**2 / 6, 1e-9)))
    for _ in range(4):
        first = zeta(2, y)
        y = y - first * (1.0 - first / target) / (2.0 * zeta(3, y))
    return np.asarray(np.minimum(y, most / 2))
