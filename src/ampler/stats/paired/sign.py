"""The sign test on the differences that are not zero, with the interval of Clopper and Pearson."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr, betaincinv

from ampler.core.arrays import Floats
from ampler.core.settings import Alternative
from ampler.stats.paired.contract import Bounds, Many, p_of_tails


def p_value(x: Floats, alternative: Alternative) -> float:
    """Return the p-value of the number of positive differences under a fair coin."""
    return float(many(x, alternative).p_values)


def many(differences: Floats, alternative: Alternative) -> Many:
    """Return the exact p-values of many samples, on the last axis; zeros are dropped."""
    above, below = (differences > 0).sum(-1), (differences < 0).sum(-1)
    # P(at least `above` of n) = P(at most `below` of n), since signs are symmetric under the null
    at_least, at_most = (bdtr(count.astype(float), above + below, 0.5) for count in (below, above))
    return Many(p_of_tails(at_least, at_most, alternative), above > below)


def leaning(x: Floats) -> float:
    """Return how many more differences are positive than negative."""
    return float(np.sum(np.sign(x)))


def estimate(x: Floats) -> float:
    """Return the share of positive differences; NaN if all are zero."""
    above, below = int(np.sum(x > 0)), int(np.sum(x < 0))
    return above / (above + below) if above + below else math.nan


def interval(x: Floats, alternative: Alternative, alpha: float) -> Bounds:
    """Return the interval of the probability that a difference is positive."""
    above, below = int(np.sum(x > 0)), int(np.sum(x < 0))
    tail = alpha / 2 if alternative == "two-sided" else alpha
    lower = float(betaincinv(above, below + 1, tail)) if above and alternative != "less" else 0.0
    upper = 1 - float(betaincinv(below, above + 1, tail)) if below and alternative != "greater" else 1.0
    return Bounds(lower, upper, 1 - alpha)
