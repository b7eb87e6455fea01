"""The posterior of one comparison: the mean over instances, their heterogeneity, and a new instance. Pure.

Model: difference ~ N(φ, se²) on each instance, φ ~ N(μ, τ²) over instances. Given τ, everything is normal, so that
every posterior is a mixture of normal distributions over τ; μ is never put on a grid. Prior: flat in μ and Jeffreys' in
τ, p(τ) ∝ √Σ[τ/(se² + τ²)]², which has no scale of its own and with exact differences leads to Student's t.

The robust posterior has φ ~ t₄(μ, τ²), for instances that are far out: a sensitivity analysis of the centre of typical
instances. Student's t is a normal distribution whose precision varies, φ ~ N(μ, τ²/λ) with λ ~ Gamma(2, rate 2), so
that each instance's likelihood is a sum over λ; μ and log τ are on a grid that is narrowed to where the posterior is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Literal, cast, get_args

import numpy as np
from scipy.special import ndtr, ndtri, sici, stdtr, stdtrit

from ampler.core.arrays import Bools, Floats, Interval
from ampler.core.errors import InvalidData
from ampler.core.settings import Weights
from ampler.stats.descriptive import location

Side = Literal["less", "equivalent", "more"]
Claim = Side | Literal["inconclusive"]

CERTAIN = 0.975
SHARED_FROM = 3  # comparisons needed to share a prior
CLOSE = 1e-15
SCANS, NODES = (128, 64), 256  # coarse grids to locate the posterior, then a fine one
TINY = sys.float_info.min  # smaller tolerances are flushed to zero by some libraries
NEGLIGIBLE = 40.0  # of the logarithm, below the mode
SMALLEST_RANGE = 1e-290  # of the differences: smaller units of τ have no full precision
SMALLEST, LARGEST = 1e-9, 1e4  # τ in units of the data
FEW, LARGEST_OF_FEW = 4, 1e9  # with two or three instances the tail is long


@dataclass(frozen=True, slots=True)
class Areas:
    """Probabilities that sum to 1: below −margin, between, above +margin."""

    less: float
    equivalent: float
    more: float

    @classmethod
    def of_tails(cls, less: float, more: float) -> Areas:
        """Return the areas from the outer two; none is negative after rounding."""
        return cls(less, max(0.0, 1.0 - less - more), more)

    def of(self, side: Side) -> float:
        """Return one of the probabilities."""
        return cast(float, getattr(self, side))

    def turned(self) -> Areas:
        """Return the areas of the reversed difference."""
        return Areas(self.more, self.equivalent, self.less)


@dataclass(frozen=True, slots=True, eq=False)
class NormalMixture:
    """Normal distributions with weights that sum to 1."""

    weights: Floats
    means: Floats
    deviations: Floats

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.weights @ self.means)

    def areas(self, margin: float) -> Areas:
        """Return the probabilities outside and within ±margin."""
        less = float(self.weights @ ndtr((-margin - self.means) / self.deviations))
        more = float(self.weights @ ndtr((self.means - margin) / self.deviations))
        return Areas.of_tails(less, more)

    def interval(self, level: float) -> Interval:
        """Return the interval with equal tails that has this probability."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def quantile(self, probability: float) -> float:
        """Return the quantile, which lies between the smallest and the largest quantile of a component.

        >>> import numpy as np
        >>> round(NormalMixture(np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.ones(2)).quantile(0.9), 6)
        1.849468
        """
        from scipy.optimize import brentq

        used = (self.means + self.deviations * float(ndtri(probability)))[self.weights > 0]
        low, high = float(used.min()), float(used.max())
        room = 1e-9 * (high - low) + 1e-12 * max(abs(low), abs(high))  # for the rounding of both ends
        if not room:
            return low
        unit = high - low + 2 * room  # tolerances in tiny units would underflow

        def excess(x: float) -> float:
            return float(self.weights @ ndtr((x * unit - self.means) / self.deviations)) - probability

        return unit * float(brentq(excess, (low - room) / unit, (high + room) / unit, xtol=CLOSE**2, rtol=CLOSE))


def agreed_verdict(posteriors: Sequence[Areas], certain: float = CERTAIN) -> Claim:
    """Return the verdict that every posterior supports."""
    sides = (side for side in get_args(Side) if all(areas.of(side) >= certain for areas in posteriors))
    return next(sides, "inconclusive")


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


def tau_posterior(differences: Floats, errors: Floats) -> TauPosterior:
    """Return the posterior of τ, and of μ given τ, by the trapezoid rule on the logarithm of τ."""
    centre = float(np.median(differences))
    scale = max(float(np.ptp(differences)), float(errors.max()))
    y, se = (differences - centre) / scale, errors / scale  # divided before squaring, so that 1e-200 does not underflow
    model = _Model(y, se * se)
    low, high = log(SMALLEST), log(LARGEST if len(y) >= FEW else LARGEST_OF_FEW)
    for count in SCANS:
        low, high = model.narrowed(np.linspace(low, high, count))
    u = np.linspace(low, high, NODES)
    logs, centres, spread = model.at(u)
    weights = np.exp(logs - logs.max())
    return TauPosterior(scale * np.exp(u), weights / weights.sum(), centre + scale * centres, scale * spread)


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The data, centred at the median and scaled."""

    y: Floats
    squared_errors: Floats

    def at(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the log density of u = log τ (not normalised), and mean and standard deviation of μ given τ."""
        squared = np.exp(2 * u)[:, None]
        w = 1 / (self.squared_errors + squared)
        precision = w.sum(axis=1)
        centre = (w @ self.y) / precision
        misfit = (w * (self.y - centre[:, None]) ** 2).sum(axis=1)
        density = 0.5 * (np.log(w).sum(axis=1) - np.log(precision) - misfit)
        prior = u + 0.5 * np.log((w * w).sum(axis=1))
        return density + prior + u, centre, precision**-0.5

    def narrowed(self, u: Floats) -> tuple[float, float]:
        """Return where the density is not negligible, and one step more on either side."""
        logs = self.at(u)[0]
        return _around(u, logs > logs.max() - NEGLIGIBLE)


GRID = (49, 29)  # of μ and of log τ: with eight instances or more, ends of intervals are good to 3e-4 of their spread
COARSE = 15  # of each, to find the place
ROBUST_SCANS = 3
STEP, COARSE_STEP = 0.6, 1.2  # in log λ
ROBUST_NEGLIGIBLE = 20.0  # of the logarithm, below the mode
ROBUST_SMALLEST, ROBUST_LARGEST = 1e-6, 1e3  # τ in units of the data
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

    def areas(self, margin: float, *, new: bool = False) -> Areas:
        """Return the probabilities that μ, or the difference on a new instance, lies outside and within ±margin."""
        below = self._new_below if new else self._below
        return Areas.of_tails(below(-margin), 1.0 - below(margin))

    def interval(self, level: float, *, new: bool = False) -> Interval:
        """Return the interval of μ, or of the difference on a new instance, with equal tails."""
        below = self._new_below if new else self._below
        return self._quantile(below, (1 - level) / 2), self._quantile(below, (1 + level) / 2)

    def _below(self, limit: float) -> float:
        """The integral of Whittaker's smooth curve through the density on its even grid: as exact as the grid."""
        steps = (limit - self.centres) / (self.centres[1] - self.centres[0])
        return float(self.weights.sum(axis=1) @ (0.5 + sici(np.pi * steps)[0] / np.pi))

    def _new_below(self, limit: float) -> float:
        t = (limit - self.centres[:, None]) / self.tau
        s = t / np.sqrt(4 + t * t)  # the sine of an angle: Student's t with four degrees of freedom has a closed form
        return float((self.weights * (0.5 + 0.75 * (s - s**3 / 3))).sum())

    def _quantile(self, below: Callable[[float], float], probability: float) -> float:
        from scipy.optimize import brentq

        low, high = float(self.centres[0]), float(self.centres[-1])
        width = high - low
        while below(low) > probability:
            low, width = low - width, 2 * width
        while below(high) < probability:
            high, width = high + width, 2 * width
        return float(brentq(lambda x: below(x) - probability, low, high, xtol=max(1e-12 * width, TINY), rtol=1e-12))


def robust_posterior(differences: Floats, errors: Floats) -> RobustPosterior:
    """Return the posterior of μ and τ when instances may be far out."""
    centre = float(np.median(differences))
    scale = max(float(np.ptp(differences)), float(errors.max()))
    model = _RobustModel((differences - centre) / scale, (errors / scale) ** 2)
    box = (float(model.y.min()) - 1.0, float(model.y.max()) + 1.0), (log(ROBUST_SMALLEST), log(ROBUST_LARGEST))
    for _ in range(ROBUST_SCANS):
        box = model.narrowed(box)
    mu, u = np.linspace(*box[0], GRID[0]), np.linspace(*box[1], GRID[1])
    logs = model.log_density(mu, u, STEP)
    weights = np.exp(logs - logs.max())
    return RobustPosterior(centre + scale * mu, scale * np.exp(u), weights / weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class _RobustModel:
    y: Floats
    squared_errors: Floats

    def log_density(self, mu: Floats, u: Floats, step: float) -> Floats:
        """Return the log density of μ (rows) and u = log τ (columns), not normalised."""
        squared = (self.y[:, None, None] - mu[:, None]) ** 2  # instances, μ, λ
        farthest = float(squared.max())
        columns = []
        for tau in np.exp(u):
            precisions, shares = _precisions(step)
            first = int(np.searchsorted(precisions, RAREST * tau * tau / farthest))  # those below do not matter
            precisions, shares = precisions[first:], shares[first:]
            halves = -0.5 / (self.squared_errors[:, None] + tau * tau / precisions)
            parts = np.exp(squared * halves[:, None, :]) @ (shares * np.sqrt(-halves))[:, :, None]
            with np.errstate(divide="ignore"):
                prior = log(tau) + 0.5 * float(np.log(((self.squared_errors + tau * tau) ** -2.0).sum()))
                columns.append(np.log(parts[:, :, 0]).sum(axis=0) + prior)
        return np.array(columns).T + u

    def narrowed(self, box: tuple[Interval, Interval]) -> tuple[Interval, Interval]:
        """Return where the density is not negligible, and one step more on every side."""
        mu, u = (np.linspace(*side, COARSE) for side in box)
        logs = self.log_density(mu, u, COARSE_STEP)
        inside = logs > logs.max() - ROBUST_NEGLIGIBLE
        return _around(mu, inside.any(axis=1)), _around(u, inside.any(axis=0))


def _around(nodes: Floats, inside: Bools) -> Interval:
    places = np.flatnonzero(inside)
    return float(nodes[max(0, places[0] - 1)]), float(nodes[min(len(nodes) - 1, places[-1] + 1)])


@lru_cache(maxsize=8)
def _precisions(step: float) -> tuple[Floats, Floats]:
    """Values of λ and their probabilities, by the trapezoid rule on the logarithm of λ."""
    logs = np.arange(log(LARGEST_PRECISION), log(SMALLEST_PRECISION), -step)[::-1]
    shares = np.exp(2 * logs - 2 * np.exp(logs))
    return np.exp(logs), shares / shares.sum()


Model = Literal["normal", "robust"]

FEWEST = 3  # instances
IDENTIFIED = 0.5  # τ is identified if P(τ < half the error of the runs) is below this


@dataclass(frozen=True, slots=True)
class Posterior:
    """Posterior of one comparison: the mean over instances, and a new instance of the same kind."""

    mean: float
    interval: Interval
    areas: Areas
    new_interval: Interval
    new_areas: Areas
    effect: tuple[float, float, float] | None  # mean/τ: median and interval; None where τ is not identified
    tau: float  # posterior mean of the standard deviation between instances
    margin: float
    weights: Weights
    model: Model
    level: float


def posterior(
    differences: Floats,
    errors: Floats | None = None,
    *,
    margin: float,
    weights: Weights = "equal",
    model: Model = "normal",
    level: float = 0.95,
) -> Posterior:
    """Return the posterior of one comparison, from its difference on each instance and their standard errors.

    Without `errors` the differences count as exact, and a new instance as one on which runs are as noisy.

    >>> found = posterior(np.array([1.2, 0.4, 0.9, 1.6, 0.3]), margin=0.5)
    >>> round(found.mean, 2), [round(part, 3) for part in (found.areas.less, found.areas.equivalent, found.areas.more)]
    (0.88, [0.002, 0.095, 0.903])
    """
    y = np.asarray(differences, dtype=float)
    se = np.zeros_like(y) if errors is None else np.asarray(errors, dtype=float)
    if len(y) < FEWEST:
        raise InvalidData(f"a posterior needs {FEWEST} or more instances, got {len(y)}")
    if not se.any() and (y == y[0]).all():
        raise InvalidData("differences that are all the same and exact have no posterior: nothing varies")
    if max(float(np.ptp(y)), float(se.max())) < SMALLEST_RANGE:
        raise InvalidData(f"a posterior needs differences that vary by {SMALLEST_RANGE:g} or more; scale the values up")
    exact = y[se == 0]  # those that agree, or a single one, would draw τ to 0 and outweigh everything else
    are_spikes = len(exact) == 1 < len(y) or len(np.unique(exact)) < len(exact)
    if are_spikes and (model == "robust" or weights == "precision"):
        raise InvalidData(
            f"{'the robust model' if model == 'robust' else 'precision weights'} cannot be used when exact differences"
            f" (standard error 0) repeat or stand alone, got {len(exact)} of {len(y)}: use equal weights and the normal"
            " model"
        )
    if model == "robust":
        robust = robust_posterior(y, se)
        one, other = ((robust.interval(level, new=new), robust.areas(margin, new=new)) for new in (False, True))
        return Posterior(robust.mean, *one, *other, None, robust.tau_mean, margin, weights, model, level)
    largest = float(se.max())  # root mean square of the errors, at any magnitude
    typical = largest * math.sqrt(float(np.mean((se / largest) ** 2))) if largest > 0 else 0.0
    fit = tau_posterior(y, np.full(len(y), typical)) if weights == "equal" else tau_posterior(y, se)
    mean, new = fit.mean(), fit.new_instance()
    if weights == "equal":
        centre, interval, areas = _student(y, margin, level)
    else:
        centre, interval, areas = mean.mean, mean.interval(level), mean.areas(margin)
    about = interval, areas, new.interval(level), new.areas(margin)
    effect = None
    if float(fit.weights @ (fit.tau < typical / 2)) < IDENTIFIED:
        effect = fit.effect().quantile(0.5), *fit.effect().interval(level)
    return Posterior(centre, *about, effect, fit.tau_mean(), margin, weights, model, level)


def _student(y: Floats, margin: float, level: float) -> tuple[float, Interval, Areas]:
    """Student's t for the mean: its centre, interval and areas.

    If instances are a random sample, differences vary by τ² + the mean of se².
    """
    mean, sd, exponent = location(y)
    n = len(y)
    freedom, error = n - 1, math.ldexp(sd, exponent) / math.sqrt(n)
    mean = math.ldexp(mean, exponent)
    half = -float(stdtrit(freedom, (1 - level) / 2)) * error
    if error > 0:
        less, more = (float(stdtr(freedom, (side * mean - margin) / error)) for side in (-1, 1))
    else:
        less, more = float(mean < -margin), float(mean > margin)
    return mean, (mean - half, mean + half), Areas.of_tails(less, more)
