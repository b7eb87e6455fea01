"""How probable is it that the mean difference over instances is smaller, about the same, or larger? Pure.

With equal weights the posterior of the mean is exactly Student's t, so that its interval is the one of the t-test.
Equal weights are the default: standard errors are often related to the differences themselves, and weighting by
precision then answers another question. The errors of the runs are used to see through to a new instance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ampler.core.arrays import Floats, Interval
from ampler.core.checks import choice, share
from ampler.core.choices import Weights
from ampler.core.errors import InvalidData
from ampler.stats.bayes.heterogeneity import ProperPrior, TauPosterior, tau_posterior
from ampler.stats.bayes.mixture import Areas, checked_margin
from ampler.stats.bayes.robust import robust_posterior
from ampler.stats.location import location
from ampler.stats.ranks import mean_ranks_of

Model = Literal["normal", "robust"]

FEWEST = 3  # instances
IDENTIFIED = 0.5  # τ counts as seen if it is below half the runs' error with less than this probability


@dataclass(frozen=True, slots=True)
class Posterior:
    """What is known of one comparison: the mean over instances, and a new instance of the same kind."""

    mean: float
    interval: Interval
    areas: Areas
    new_areas: Areas
    new_interval: Interval
    effect: tuple[float, float, float] | None  # mean/τ: median and interval; None where τ cannot be told from run noise
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
    prior: ProperPrior | None = None,
    level: float = 0.95,
) -> Posterior:
    """Return the posterior of one comparison, from its difference on each instance and their standard errors.

    Without `errors` the differences count as exact, and a new instance as one on which runs are as noisy. A `prior`
    of one's own goes with precision weights.

    >>> found = posterior(np.array([1.2, 0.4, 0.9, 1.6, 0.3]), margin=0.5)
    >>> round(found.mean, 2), [round(part, 3) for part in (found.areas.less, found.areas.equivalent, found.areas.more)]
    (0.88, [0.002, 0.095, 0.903])
    """
    y, se = _checked(differences, errors)
    choice("weights", weights, ("equal", "precision"), "'equal' is the default", error=InvalidData)
    choice("model", model, ("normal", "robust"), "'normal' is the default", error=InvalidData)
    share("level", level, "0.95 is usual", error=InvalidData)
    checked_margin(margin)
    if prior is not None and (weights, model) != ("precision", "normal"):
        raise InvalidData(f"a proper prior needs precision weights and the normal model, got {weights!r} and {model!r}")
    if model == "robust":
        return _robust(y, se, margin, weights, level)
    return _equal(y, se, margin, level) if weights == "equal" else _precision(y, se, margin, level, prior)


def error_correlation(differences: Floats, errors: Floats) -> float:
    """Return Spearman's correlation between the standard errors and the differences; NaN if either is constant.

    Precision weights are for errors that have nothing to do with the differences: far from 0, do not use them.
    """
    a, b = (mean_ranks_of(values) - (len(values) + 1) / 2 for values in (errors, differences))
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0 else math.nan


def _equal(y: Floats, se: Floats, margin: float, level: float) -> Posterior:
    """Student's t for the mean. If instances are a random sample, differences vary by τ² + the mean of se²."""
    from scipy.special import stdtr, stdtrit

    mean, sd, exponent = location(y)
    n = len(y)
    freedom, error = n - 1, math.ldexp(sd, exponent) / math.sqrt(n)
    mean = math.ldexp(mean, exponent)
    half = -float(stdtrit(freedom, (1 - level) / 2)) * error
    if error > 0:
        less, more = (float(stdtr(freedom, (side * mean - margin) / error)) for side in (-1, 1))
    else:
        less, more = float(mean < -margin), float(mean > margin)
    areas, interval = Areas.of_tails(less, more), (mean - half, mean + half)
    typical = _typical(se)
    return _summary(tau_posterior(y, np.full(n, typical)), typical, mean, interval, areas, margin, "equal", level)


def _precision(y: Floats, se: Floats, margin: float, level: float, prior: ProperPrior | None) -> Posterior:
    _refuse_spikes(se, y, "precision weights")
    found = tau_posterior(y, se, prior)
    mean = found.mean()
    interval, areas = mean.interval(level), mean.areas(margin)
    return _summary(found, _typical(se), mean.mean, interval, areas, margin, "precision", level)


def _typical(se: Floats) -> float:
    """The root of the mean square, at any magnitude."""
    largest = float(se.max())
    return largest * math.sqrt(float(np.mean((se / largest) ** 2))) if largest > 0 else 0.0


def _summary(
    found: TauPosterior,
    typical: float,
    mean: float,
    interval: Interval,
    areas: Areas,
    margin: float,
    weights: Weights,
    level: float,
) -> Posterior:
    new, effect = found.new_instance(), found.effect()
    seen = found.tau_below(typical / 2) < IDENTIFIED
    return Posterior(
        mean=mean,
        interval=interval,
        areas=areas,
        new_areas=new.areas(margin),
        new_interval=new.interval(level),
        effect=(effect.quantile(0.5), *effect.interval(level)) if seen else None,
        tau=found.tau_mean(),
        margin=margin,
        weights=weights,
        model="normal",
        level=level,
    )


def _robust(y: Floats, se: Floats, margin: float, weights: Weights, level: float) -> Posterior:
    _refuse_spikes(se, y, "the robust model")
    found = robust_posterior(y, se)
    return Posterior(
        mean=found.mean,
        interval=found.interval(level),
        areas=found.areas(margin),
        new_areas=found.new_areas(margin),
        new_interval=found.new_interval(level),
        effect=None,
        tau=found.tau_mean,
        margin=margin,
        weights=weights,
        model="robust",
        level=level,
    )


def _refuse_spikes(se: Floats, y: Floats, what: str) -> None:
    """Exact differences that agree, or a single one, would draw τ to 0 and outweigh everything else."""
    exact = y[se == 0]
    if len(exact) == 0 or (len(exact) == len(y) and len(np.unique(exact)) == len(y)):
        return
    if len(exact) == 1 or len(np.unique(exact)) < len(exact):
        raise InvalidData(
            f"{what} cannot be used when exact differences (standard error 0) repeat or stand alone, got {len(exact)} "
            f"of {len(y)}: use equal weights and the normal model"
        )


def _checked(differences: Floats, errors: Floats | None) -> tuple[Floats, Floats]:
    y = np.asarray(differences, dtype=float)
    se = np.zeros_like(y) if errors is None else np.asarray(errors, dtype=float)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise InvalidData("differences must be finite numbers, one for each instance")
    if len(y) < FEWEST:
        raise InvalidData(f"a posterior needs {FEWEST} or more instances, got {len(y)}")
    if se.shape != y.shape or not (np.isfinite(se).all() and (se >= 0).all()):
        raise InvalidData("standard errors must be numbers that are not negative, one for each difference")
    if not se.any() and (y == y[0]).all():
        raise InvalidData("differences that are all the same and exact have no posterior: nothing varies")
    return y, se
