"""Shape of the differences: skewness and its significance, the error rate of t under it, and outliers. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, ndtr, ndtri, stdtr, stdtrit

from ampler.core.arrays import Bools, Floats
from ampler.core.settings import Alternative
from ampler.stats.descriptive import is_constant, location

SUPPORT = 3.0  # standard errors above which a skewness counts: symmetric tails exceed it in 0.3 % of cases


def skewness(differences: Floats) -> float:
    """Return the adjusted sample skewness G1; NaN with fewer than three differences or constant ones."""
    n, z = len(differences), _standard(differences)
    return math.nan if z is None else float(np.sum(z**3)) * n / ((n - 1) * (n - 2))


def _standard(differences: Floats) -> Floats | None:
    """The differences in standard deviations from their mean; None with fewer than three, or constant ones."""
    if len(differences) < 3 or is_constant(differences):
        return None
    mean, sd, exponent = location(differences)
    return np.asarray((np.ldexp(differences, -exponent) - mean) / sd)


def skewness_score(differences: Floats) -> float:
    """Return the skewness as a standard normal score, if the differences are normal (D'Agostino 1970).

    It is NaN with fewer than eight differences, as the approximation needs, or constant ones.

    >>> round(skewness_score(np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 3.0])), 2)
    3.41
    """
    n = len(differences)
    return math.nan if n < 8 or is_constant(differences) else _normal_score(skewness(differences), n)


def _normal_score(skewness: float, n: int) -> float:
    """The sample skewness of n normal values as a standard normal score (D'Agostino 1970)."""
    y = skewness * (n - 2) / math.sqrt(n * (n - 1)) * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (kurtosis - 1)) - 1
    return math.asinh(y * math.sqrt((square - 1) / 2)) / math.sqrt(math.log(square) / 2)


def normality_p_value(differences: Floats) -> float:
    """Return the p-value of the Shapiro-Francia test (Royston 1993); 1 with few or constant values.

    >>> round(normality_p_value(np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 3.0])), 5)
    0.0005
    """
    n, z = len(differences), _standard(differences)
    if n < 8 or z is None:
        return 1.0
    scores = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    rest = 1 - float(scores @ np.sort(z)) ** 2 / float(scores @ scores) / (n - 1)
    u = math.log(n)
    v = math.log(u)
    mean, sd = 1.0521 * (v - u) - 1.2725, 1.0308 - 0.26758 * (v + 2 / u)
    return float(ndtr((mean - math.log(max(rest, 1e-300))) / sd))


@dataclass(frozen=True, slots=True)
class Farthest:
    """The difference farthest from the mean."""

    index: int
    share: float  # of the sum of squares about the mean
    p_value: float  # p-value of Grubbs' test, or an upper bound


def farthest_difference(differences: Floats) -> Farthest:
    """Return the difference that is farthest from the mean, with its share of the variance (Grubbs 1950).

    The p-value is Bonferroni's bound over the differences; it is 1 with fewer than three, or constant ones.

    >>> farthest_difference(np.array([0.1, -0.2, 0.0, 0.3, 9.0, -0.1])).share
    0.83...
    """
    n, z = len(differences), _standard(differences)
    if z is None:
        return Farthest(0, 0.0, 1.0)
    index = int(np.argmax(z * z))
    share = float(z[index] ** 2) / (n - 1)
    largest = (n - 1) / n  # the share if all others are equal
    if share >= largest * (1 - 1e-9):
        return Farthest(index, share, 0.0)
    t = math.sqrt(n * (n - 2) * share / (n - 1) / (1 - share / largest))
    return Farthest(index, share, min(1.0, 2 * n * float(stdtr(n - 2, -t))))


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
    valid = (counts > 2) & np.isfinite(variances)
    n = np.where(valid, counts, 3.0)
    degrees = np.where(valid, n - 1.0, 0.0)
    squares = degrees * np.where(valid, variances, 0.0) / _instance_spreads(np.where(valid, variances, 0.0))[:, None]
    third = (np.where(valid, skews, 0.0) * squares**1.5 / np.sqrt(n)).sum(axis=0)
    variance = _ratio(squares.sum(axis=0), degrees.sum(axis=0))
    skew = _ratio(_ratio(third, (degrees * (n - 2.0) / n).sum(axis=0)), variance**1.5)
    return skew * _support(skews, valid & (variances > 0)) if supported else skew


def _support(skews: Floats, valid: Bools) -> Floats:
    """Support for a common skewness of each algorithm's cells: from 0 (within chance) to 1.

    The skewness of a cell is at most the root of its values, so that no cell outweighs the others.
    """
    cells = valid.sum(axis=0)
    mean = _mean_where(np.where(valid, skews, 0.0), valid, 0)[0]
    squares = np.where(valid, (skews - mean) ** 2, 0.0).sum(axis=0)
    squared_error = _ratio(squares, cells * (cells - 1.0))
    return np.where(cells > 1, np.maximum(0.0, 1.0 - _ratio(SUPPORT**2 * squared_error, mean**2)), 1.0)


def _instance_spreads(variances: Floats) -> Floats:
    """Relative run noise of each instance, shrunk by what chance explains.

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
    """The mean of the used entries along an axis; 0 if there are none."""
    total = np.where(used, values, 0.0).sum(axis=axis, keepdims=True)
    return np.asarray(total / np.maximum(used.sum(axis=axis, keepdims=True), 1))


def _ratio(over: Floats, under: Floats) -> Floats:
    """The ratio, or 0 where the divisor is 0."""
    return np.divide(over, under, out=np.zeros(np.shape(over)), where=under > 0)


def error_inflation(skewness: float, instances: int, alpha: float, alternative: Alternative = "two-sided") -> float:
    """Return the error rate of a t-test over alpha at this skewness.

    The Edgeworth terms of the t statistic (Hall 1992, section 2.6) with the kurtosis of a gamma distribution. Against
    simulation (gamma, skewness 1 to 3) mostly within 20 % from 20 instances on. A one-sided test on the safe side
    counts as 1.

    >>> round(error_inflation(2.0, 57, 0.05 / 21), 1)  # exponential differences; simulated: 3.8
    4.1
    """
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
    return math.inf if n < 4 else math.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))


def skewness_p_value(skewness: float, n: int) -> float:
    """Return the two-sided p-value of a sample skewness under normality (D'Agostino 1970); 1 below 8 values.

    >>> round(skewness_p_value(1.0, 20), 3)  # scipy.stats.skewtest of such a sample: 0.054
    0.054
    """
    return 1.0 if n < 8 or math.isnan(skewness) else 2 * float(ndtr(-abs(_normal_score(skewness, n))))


def largest_shares(differences: Floats) -> Floats:
    """Return the share of the value farthest from the mean in each column's sum of squares.

    >>> largest_shares(np.array([[0.0], [1.0], [2.0], [9.0]])).tolist()
    [0.72]
    """
    return np.asarray(np.nanmax(_shares(differences), axis=0))


def largest_share_limit(n: ArrayLike, comparisons: int, level: float = 0.05) -> Floats:
    """Return the share that one of n normal values exceeds with this probability, over all comparisons (Grubbs 1950).

    >>> largest_share_limit([20, 20], 2).round(2).tolist(), largest_share_limit(20, 1).round(2).item()
    ([0.43, 0.43], 0.39)
    """
    size = np.maximum(np.asarray(n, dtype=float), 3.0)
    t = stdtrit(size - 2, level / (2 * size * comparisons))
    return np.asarray((size - 1) / size * t**2 / (size - 2 + t**2))


def tail_factors(differences: Floats, confidence: float = 0.8) -> Floats:
    """Return the factor by which each variance may be underestimated: 1 unless one value dominates it.

    Too much is more than `largest_share_limit`. Then the kurtosis tells how many degrees of freedom the variance has,
    and the factor is that of its upper confidence bound.

    >>> tail_factors(np.array([[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]] * 6 + [[0.0, 20.0]])).round(1).tolist()
    [1.0, 4.1]
    """
    shares, n = _shares(differences), (~np.isnan(differences)).sum(axis=0)
    heavy = np.nanmax(shares, axis=0) > largest_share_limit(n, differences.shape[1])
    kurtosis = n * np.nansum(shares**2, axis=0) * (n + 1) / np.maximum(n - 1, 1)
    freedom = np.maximum(n - 1, 1) * np.minimum(1.0, 2 / np.maximum(kurtosis - 1, 1.0))
    return np.where(heavy, freedom / chdtri(freedom, confidence), 1.0)


def _shares(differences: Floats) -> Floats:
    """The share of each value in the sum of squares of its column; 0 where nothing varies."""
    centred = differences - np.nanmean(differences, axis=0)
    largest = np.nanmax(np.abs(centred), axis=0)
    squares = (centred / np.where(largest > 0, largest, 1.0)) ** 2
    total = np.nansum(squares, axis=0)
    return np.asarray(squares / np.where(total > 0, total, 1.0))
