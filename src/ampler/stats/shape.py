"""Skewness of the differences: how large it is, how surely it is there, and how often the t-test then errs. Pure."""

from __future__ import annotations

import math

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative
from ampler.stats.location import is_constant, location


def skewness(differences: Floats) -> float:
    """Return the adjusted sample skewness G1; NaN with fewer than three differences or constant ones."""
    n = len(differences)
    if n < 3 or is_constant(differences):
        return math.nan
    mean, sd, exponent = location(differences)
    z = (np.ldexp(differences, -exponent) - mean) / sd
    return float(np.sum(z**3)) * n / ((n - 1) * (n - 2))


def error_inflation(skewness: float, instances: int, alpha: float, alternative: Alternative = "two-sided") -> float:
    """Return how many times more often than alpha a t-test rejects a true null hypothesis at this skewness.

    The Edgeworth terms of the t statistic (Hall 1992, section 2.6) with the kurtosis of a gamma distribution. Against
    simulation (gamma, skewness 1 to 3) mostly within 20 % from 20 instances on. A one-sided test on the safe side
    counts as 1.

    >>> round(error_inflation(2.0, 57, 0.05 / 21), 1)  # exponential differences; simulated: 3.8
    4.1
    """
    from scipy.special import ndtri

    tail = alpha / 2 if alternative == "two-sided" else alpha
    towards = {"two-sided": 0.0, "less": skewness, "greater": -skewness}[alternative]
    if math.isnan(skewness) or towards < 0:
        return 1.0
    z = -float(ndtri(tail))
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    n = instances + 5  # fits small samples best
    shift = towards * (2 * z * z + 1) / (6 * math.sqrt(n))
    spread = z * skewness**2 * ((z**4 + 2 * z * z - 3) / 18 - (z * z - 3) / 8) / n
    return max(1.0, 1 + density * (shift + spread) / tail)


def skewness_error(n: int) -> float:
    """Return the standard error of the sample skewness of n normal values; infinite when n is too small to judge."""
    if n < 4:
        return math.inf
    return math.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
