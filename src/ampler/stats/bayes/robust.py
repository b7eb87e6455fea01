"""The same for instances some of which are far out: φ ~ t₄(μ, τ²) instead of normal. A sensitivity analysis. Pure.

It estimates the centre of the typical instances, not the mean over all of them. Student's t is a normal distribution
whose precision varies, φ ~ N(μ, τ²/λ) with λ ~ Gamma(2, rate 2), so that each instance's likelihood is a sum over λ;
μ and log τ are on a grid that is narrowed to where the posterior is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np

from ampler.core.arrays import Bools, Floats, Interval
from ampler.stats.bayes.mixture import Areas

GRID = (49, 29)  # of μ and of log τ: with eight instances or more, ends of intervals are good to 3e-4 of their spread
COARSE = 15  # of each, to find the place
SCANS = 3
STEP, COARSE_STEP = 0.6, 1.2  # in log λ
NEGLIGIBLE = 20.0  # of the logarithm, below the mode
SMALLEST, LARGEST = 1e-6, 1e3  # τ in units of the data
SMALLEST_PRECISION, LARGEST_PRECISION = 1e-7, 15.0  # λ beyond these does not matter
RAREST = 0.02  # nor does λ below this share of (τ over the largest distance)², even to the instance farthest out


@dataclass(frozen=True, eq=False)
class RobustPosterior:
    """The posterior of μ and τ on a grid; weights sum to 1."""

    centres: Floats  # of μ
    tau: Floats
    weights: Floats  # μ in rows, τ in columns

    @property
    def mean(self) -> float:
        """The posterior mean of μ."""
        return float(self.weights.sum(axis=1) @ self.centres)

    @property
    def tau_mean(self) -> float:
        """The posterior mean of τ."""
        return float(self.weights.sum(axis=0) @ self.tau)

    @property
    def deviation(self) -> float:
        """The posterior standard deviation of μ."""
        return float(np.sqrt(self.weights.sum(axis=1) @ (self.centres - self.mean) ** 2))

    def areas(self, margin: float) -> Areas:
        """Return the probabilities that μ lies outside and within ±margin."""
        return Areas.of_tails(float(self._below(-margin)), 1.0 - float(self._below(margin)))

    def new_areas(self, margin: float) -> Areas:
        """Return the same for the difference on a new instance."""
        return Areas.of_tails(self._new_below(-margin), 1.0 - self._new_below(margin))

    def interval(self, level: float) -> Interval:
        """Return the interval of μ with equal tails."""
        return self._quantile(self._below, (1 - level) / 2), self._quantile(self._below, (1 + level) / 2)

    def new_interval(self, level: float) -> Interval:
        """Return the interval of the difference on a new instance."""
        return self._quantile(self._new_below, (1 - level) / 2), self._quantile(self._new_below, (1 + level) / 2)

    def _below(self, limit: float) -> float:
        """The integral of Whittaker's smooth curve through the density on its even grid: as exact as the grid."""
        from scipy.special import sici

        steps = (limit - self.centres) / (self.centres[1] - self.centres[0])
        return float(self.weights.sum(axis=1) @ (0.5 + sici(np.pi * steps)[0] / np.pi))

    def _new_below(self, limit: float) -> float:
        return float((self.weights * _student_below((limit - self.centres[:, None]) / self.tau)).sum())

    def _quantile(self, below: Callable[[float], float], probability: float) -> float:
        from scipy.optimize import brentq

        low, high = float(self.centres[0]), float(self.centres[-1])
        width = high - low
        while below(low) > probability:
            low, width = low - width, 2 * width
        while below(high) < probability:
            high, width = high + width, 2 * width
        return float(brentq(lambda x: below(x) - probability, low, high, xtol=1e-12 * width, rtol=1e-12))


def robust_posterior(differences: Floats, errors: Floats) -> RobustPosterior:
    """Return the posterior of μ and τ when instances may be far out."""
    centre = float(np.median(differences))
    scale = max(float(np.ptp(differences)), float(errors.max()))
    model = _Model((differences - centre) / scale, (errors / scale) ** 2)
    box = (float(model.y.min()) - 1.0, float(model.y.max()) + 1.0), (log(SMALLEST), log(LARGEST))
    for _ in range(SCANS):
        box = model.narrowed(box)
    mu, u = np.linspace(*box[0], GRID[0]), np.linspace(*box[1], GRID[1])
    logs = model.log_density(mu, u, STEP)
    weights = np.exp(logs - logs.max())
    return RobustPosterior(centre + scale * mu, scale * np.exp(u), weights / weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    y: Floats
    squared_errors: Floats

    def log_density(self, mu: Floats, u: Floats, step: float) -> Floats:
        """Return the log density of μ (rows) and u = log τ (columns), not normalised."""
        squared = (self.y[:, None, None] - mu[:, None]) ** 2  # instances, μ, λ
        farthest = float(squared.max())
        columns = []
        for tau in np.exp(u):
            precisions, shares = _precisions(step, RAREST * tau * tau / farthest)
            halves = -0.5 / (self.squared_errors[:, None] + tau * tau / precisions)
            parts = np.exp(squared * halves[:, None, :]) @ (shares * np.sqrt(-halves))[:, :, None]
            with np.errstate(divide="ignore"):
                columns.append(np.log(parts[:, :, 0]).sum(axis=0) + self._log_prior(tau))
        return np.array(columns).T + u

    def narrowed(self, box: tuple[Interval, Interval]) -> tuple[Interval, Interval]:
        """Return where the density is not negligible, and one step more on every side."""
        mu, u = (np.linspace(*side, COARSE) for side in box)
        logs = self.log_density(mu, u, COARSE_STEP)
        kept = logs > logs.max() - NEGLIGIBLE
        return _around(mu, kept.any(axis=1)), _around(u, kept.any(axis=0))

    def _log_prior(self, tau: float) -> float:
        return float(np.log(tau) + 0.5 * np.log(((self.squared_errors + tau * tau) ** -2.0).sum()))


def _student_below(t: Floats) -> Floats:
    """The distribution function of Student's t with four degrees of freedom, which has a closed form."""
    s = t / np.sqrt(4 + t * t)  # the sine of an angle
    return np.asarray(0.5 + 0.75 * (s - s**3 / 3))


def _around(nodes: Floats, kept: Bools) -> Interval:
    places = np.flatnonzero(kept)
    return float(nodes[max(0, places[0] - 1)]), float(nodes[min(len(nodes) - 1, places[-1] + 1)])


def _precisions(step: float, least: float) -> tuple[Floats, Floats]:
    """Values of λ, not below the least that matters, and their probabilities."""
    values, shares = _all_precisions(step)
    first = int(np.searchsorted(values, least))
    return values[first:], shares[first:]


@lru_cache(maxsize=8)
def _all_precisions(step: float) -> tuple[Floats, Floats]:
    """Values of λ and their probabilities, by the trapezoid rule on the logarithm of λ."""
    logs = np.arange(log(LARGEST_PRECISION), log(SMALLEST_PRECISION), -step)[::-1]
    shares = np.exp(2 * logs - 2 * np.exp(logs))
    return np.exp(logs), shares / shares.sum()
