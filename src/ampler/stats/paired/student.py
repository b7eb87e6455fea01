"""The paired t-test: as `scipy.stats.ttest_1samp`, but also right for differences of magnitude 1e±300."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

from ampler.core.arrays import Floats
from ampler.core.settings import Alternative
from ampler.stats.descriptive import ROUNDING, location
from ampler.stats.paired.contract import Bounds, Many, one_sided, p_of_t


def p_value(x: Floats, alternative: Alternative) -> float:
    """Return the p-value of the t statistic; 1 if all differences are equal."""
    p = float(p_of_t(t_statistic(x), len(x) - 1, alternative))
    return 1.0 if math.isnan(p) else p


def many(differences: Floats, alternative: Alternative) -> Many:
    """Return the p-values of many samples, on the last axis; for simulations, whose magnitudes are ordinary."""
    n = differences.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, sd = differences.mean(-1), differences.std(-1, ddof=1)
        t = np.where(sd > ROUNDING * np.abs(mean), mean / (sd / math.sqrt(n)), np.nan)
    return Many(np.where(np.isnan(t), 1.0, p_of_t(t, n - 1, alternative)), t > 0)


def t_statistic(differences: Floats) -> float:
    """Return √N·mean/sd; NaN if all differences are equal."""
    mean, sd, _ = location(differences)
    return math.nan if sd <= ROUNDING * abs(mean) else mean / sd * math.sqrt(len(differences))


def estimate(x: Floats) -> float:
    """Return the mean difference."""
    mean, _, exponent = location(x)
    return math.ldexp(mean, exponent)


leaning = estimate  # fast enough


def interval(x: Floats, alternative: Alternative, alpha: float) -> Bounds:
    """Return the interval of the mean difference; the whole line if all differences are equal."""
    mean, sd, exponent = location(x)
    if sd <= ROUNDING * abs(mean):
        return Bounds(-math.inf, math.inf, 1 - alpha)
    tail = alpha / 2 if alternative == "two-sided" else alpha
    half = -float(stdtrit(len(x) - 1, tail)) * sd / math.sqrt(len(x))
    with np.errstate(over="ignore"):  # beyond the largest double a bound is infinite
        lower, upper = np.ldexp([mean - half, mean + half], exponent).tolist()
    return one_sided(lower, upper, alternative, 1 - alpha)
