"""Shape of the differences: skewness, how surely it is there, how often t then errs, and single far values. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.choices import Alternative
from ampler.stats.location import is_constant, location

SUPPORT = 3.0  # standard errors from 0 from which on a skewness counts: equal tails are so far away in 0.3 % of cases


def skewness(differences: Floats) -> float:
    """Return the adjusted sample skewness G1; NaN with fewer than three differences or constant ones."""
    n = len(differences)
    if n < 3 or is_constant(differences):
        return math.nan
    mean, sd, exponent = location(differences)
    z = (np.ldexp(differences, -exponent) - mean) / sd
    return float(np.sum(z**3)) * n / ((n - 1) * (n - 2))


def skewness_score(differences: Floats) -> float:
    """Return the skewness as a standard normal score, if the differences are normal (D'Agostino 1970).

    It is NaN with fewer than eight differences, as the approximation needs, or constant ones.

    >>> round(skewness_score(np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 3.0])), 2)
    3.1
    """
    n = len(differences)
    if n < 8 or is_constant(differences):
        return math.nan
    y = skewness(differences) * (n - 2) / math.sqrt(n * (n - 1)) * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (kurtosis - 1)) - 1
    return math.asinh(y * math.sqrt((square - 1) / 2)) / math.sqrt(math.log(square) / 2)


@dataclass(frozen=True, slots=True)
class Farthest:
    """The difference farthest from the mean."""

    place: int
    share: float  # of the sum of squares about the mean
    p_value: float  # of Grubbs' test: how often normal differences have one so far away, or more seldom


def farthest(differences: Floats) -> Farthest:
    """Return the difference that is farthest from the mean, with its share of the variance (Grubbs 1950).

    The p-value is Bonferroni's bound over the differences; it is 1 with fewer than three, or constant ones.

    >>> farthest(np.array([0.1, -0.2, 0.0, 0.3, 9.0, -0.1])).share
    0.83...
    """
    from scipy.special import stdtr

    n = len(differences)
    if n < 3 or is_constant(differences):
        return Farthest(0, 0.0, 1.0)
    mean, sd, exponent = location(differences)
    squares = ((np.ldexp(differences, -exponent) - mean) / sd) ** 2
    place = int(np.argmax(squares))
    share = float(squares[place]) / (n - 1)
    largest = (n - 1) / n  # the share if all others are equal
    if share >= largest * (1 - 1e-9):
        return Farthest(place, share, 0.0)
    t = math.sqrt(n * (n - 2) * share / (n - 1) / (1 - share / largest))
    return Farthest(place, share, min(1.0, 2 * n * float(stdtr(n - 2, -t))))


def pooled_skewness(counts: Floats, variances: Floats, skews: Floats, *, supported: bool = False) -> Floats:
    """Return the skewness of the runs of each algorithm (columns) over all instances (rows).

    `skews` are √n·M3/M2^1.5 of each cell. Sums up to the last run of a rule that stops by the values are right on
    average (Wald's identity), so cells are weighted by their runs; the skewness of each cell is far too small, as
    cells end early that have not met their large values yet. With `supported` it counts as far as the cells agree:
    heavy symmetric tails have a large skewness in a few cells, and in the others as often one to the other side.

    >>> moments = np.array([[4.0, 9.0]]), np.ones((1, 2)), np.array([[0.0, 1.0]])
    >>> pooled_skewness(*moments).round(3).tolist()
    [0.0, 1.212]
    """
    known = (counts > 2) & np.isfinite(variances)
    n = np.where(known, counts, 3.0)
    degrees = np.where(known, n - 1.0, 0.0)
    squares = degrees * np.where(known, variances, 0.0) / _instance_spreads(np.where(known, variances, 0.0))[:, None]
    third = (np.where(known, skews, 0.0) * squares**1.5 / np.sqrt(n)).sum(axis=0)
    variance = _ratio(squares.sum(axis=0), degrees.sum(axis=0))
    found = _ratio(_ratio(third, (degrees * (n - 2.0) / n).sum(axis=0)), variance**1.5)
    return found * _support(skews, known & (variances > 0)) if supported else found


def _support(skews: Floats, known: Bools) -> Floats:
    """How surely the cells of each algorithm are skewed on average to one side: from 0, within chance, to 1.

    The skewness of a cell is at most the root of its values, so that no cell outweighs the others.
    """
    cells = known.sum(axis=0)
    mean = _mean_where(np.where(known, skews, 0.0), known, 0)[0]
    squares = np.where(known, (skews - mean) ** 2, 0.0).sum(axis=0)
    squared_error = _ratio(squares, cells * (cells - 1.0))
    return np.where(cells > 1, np.maximum(0.0, 1.0 - _ratio(SUPPORT**2 * squared_error, mean**2)), 1.0)


def _instance_spreads(variances: Floats) -> Floats:
    """How much more the runs vary on each instance than elsewhere, as far as this is more than chance.

    The logarithms are split into algorithm, instance and rest; the part of an instance is trusted as far as these
    parts differ more than the rest lets them (1 − 1/F).
    """
    varies = variances > 0
    logs = np.where(varies, np.log(np.where(varies, variances, 1.0)), 0.0)
    rest = np.where(varies, logs - _mean_where(logs, varies, 0), 0.0)
    parts = _mean_where(rest, varies, 1)
    rest = np.where(varies, rest - parts, 0.0)
    instances, algorithms = variances.shape
    between = float((varies * parts**2).sum()) / max(instances - 1, 1)
    within = float((rest**2).sum()) / max((instances - 1) * (algorithms - 1), 1)
    trust = max(0.0, 1.0 - within / between) if between > 0 else 0.0
    return np.asarray(np.exp(trust * parts[:, 0]))


def _mean_where(values: Floats, used: Bools, axis: int) -> Floats:
    """The mean along an axis of what is used; 0 where nothing is."""
    total = np.where(used, values, 0.0).sum(axis=axis, keepdims=True)
    return np.asarray(total / np.maximum(used.sum(axis=axis, keepdims=True), 1))


def _ratio(over: Floats, under: Floats) -> Floats:
    """The ratio, 0 where there is nothing to divide by."""
    return np.divide(over, under, out=np.zeros(np.shape(over)), where=under > 0)


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
