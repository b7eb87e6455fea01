"""How much the true differences vary between instances, known from differences that the runs blur. Pure.

Model: difference ~ N(φ, se²) on each instance, φ ~ N(μ, τ²) over instances. Given τ, everything is normal, so that
every posterior is a mixture of normal distributions over τ; μ is never put on a grid. Prior: flat in μ and Jeffreys' in
τ, p(τ) ∝ √Σ[τ/(se² + τ²)]², which has no scale of its own and with exact differences leads to Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.checks import positive
from ampler.core.errors import InvalidData
from ampler.stats.bayes.mixture import NormalMixture

SCANS, NODES = (128, 64), 256  # coarse looks that find where the posterior is, then the fine one
NEGLIGIBLE = 40.0  # of the logarithm, below the mode
SMALLEST, LARGEST = 1e-9, 1e4  # τ in units of the data
FEW, LARGEST_OF_FEW = 4, 1e9  # with two or three instances the tail is long


@dataclass(frozen=True, slots=True)
class ProperPrior:
    """Beliefs that can be integrated: μ ~ N(0, mean_sd²), τ ~ half-normal with this scale."""

    mean_sd: float
    tau_scale: float

    def __post_init__(self) -> None:
        positive("mean_sd", self.mean_sd, "give the spread that means are believed to have", error=InvalidData)
        positive("tau_scale", self.tau_scale, "give the size that τ is believed to have", error=InvalidData)


@dataclass(frozen=True, slots=True, eq=False)
class TauPosterior:
    """Values of τ with their weights, and mean and standard deviation of μ given each."""

    tau: Floats
    weights: Floats
    centres: Floats
    errors: Floats

    def mean(self) -> NormalMixture:
        """Return the posterior of the mean over instances."""
        return NormalMixture(self.weights, self.centres, self.errors)

    def new_instance(self) -> NormalMixture:
        """Return the distribution of the difference on a new instance of the same kind."""
        return NormalMixture(self.weights, self.centres, np.hypot(self.errors, self.tau))

    def effect(self) -> NormalMixture:
        """Return the posterior of μ/τ."""
        return NormalMixture(self.weights, self.centres / self.tau, self.errors / self.tau)

    def tau_mean(self) -> float:
        """Return the posterior mean of τ."""
        return float(self.weights @ self.tau)

    def tau_below(self, limit: float) -> float:
        """Return the probability that τ is smaller."""
        return float(self.weights @ (self.tau < limit))


def tau_posterior(differences: Floats, errors: Floats, prior: ProperPrior | None = None) -> TauPosterior:
    """Return the posterior of τ, and of μ given τ, by the trapezoid rule on the logarithm of τ."""
    centre = float(np.median(differences))
    scale = max(float(np.ptp(differences)), float(errors.max()))
    y, se = (differences - centre) / scale, errors / scale  # divided before they are squared: 1e-200 stays a number
    model = _Model(y, se * se, -centre / scale, None if prior is None else _scaled(prior, scale))
    low, high = log(SMALLEST), log(LARGEST if len(y) >= FEW else LARGEST_OF_FEW)
    for count in SCANS:
        low, high = model.narrowed(np.linspace(low, high, count))
    u = np.linspace(low, high, NODES)
    logs, centres, spread = model.at(u)
    weights = np.exp(logs - logs.max())
    return TauPosterior(scale * np.exp(u), weights / weights.sum(), centre + scale * centres, scale * spread)


def _scaled(prior: ProperPrior, scale: float) -> ProperPrior:
    return ProperPrior(prior.mean_sd / scale, prior.tau_scale / scale)


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The data in units of their own, around their median."""

    y: Floats
    squared_errors: Floats
    prior_mean: float  # where a proper prior has its zero
    prior: ProperPrior | None

    def at(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the log density of u = log τ (not normalised), and mean and standard deviation of μ given τ."""
        squared = np.exp(2 * u)[:, None]
        w = 1 / (self.squared_errors + squared)
        belief = 0.0 if self.prior is None else self.prior.mean_sd**-2.0
        precision = w.sum(axis=1) + belief
        centre = (w @ self.y + belief * self.prior_mean) / precision
        misfit = (w * (self.y - centre[:, None]) ** 2).sum(axis=1) + belief * (centre - self.prior_mean) ** 2
        density = 0.5 * (np.log(w).sum(axis=1) - np.log(precision) - misfit)
        return density + self._log_prior(u, w) + u, centre, precision**-0.5

    def narrowed(self, u: Floats) -> tuple[float, float]:
        """Return where the density is not negligible, and one step more on either side."""
        logs = self.at(u)[0]
        kept = np.flatnonzero(logs > logs.max() - NEGLIGIBLE)
        return float(u[max(0, kept[0] - 1)]), float(u[min(len(u) - 1, kept[-1] + 1)])

    def _log_prior(self, u: Floats, w: Floats) -> Floats:
        if self.prior is not None:
            return np.asarray(-0.5 * (np.exp(u) / self.prior.tau_scale) ** 2)
        return np.asarray(u + 0.5 * np.log((w * w).sum(axis=1)))
