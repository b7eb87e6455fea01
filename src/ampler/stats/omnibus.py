"""Omnibus tests: Friedman, Iman-Davenport, block ANOVA, mean ranks, Nemenyi's critical difference. Pure.

They do not gate the pairwise comparisons; they are reported because readers expect them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr, ndtri

from ampler.core.arrays import Floats
from ampler.core.settings import Better
from ampler.stats.descriptive import mean_ranks_of, settled_rows

LEAST_ALPHA = 1e-6
WIDEST_RANGE = 40.0  # standard deviations: wider than the range of any number of algorithms
FARTHEST = 9.0  # standard deviations at which the normal density ends
POINTS = 900  # of the integral, whose error falls faster than any power of their distance


@dataclass(frozen=True, slots=True)
class RankTest:
    """A χ² statistic on mean ranks, and the F that Iman & Davenport (1980) make of it, which is less conservative."""

    statistic: float
    p_value: float
    iman_davenport: float
    iman_davenport_p: float


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's rank test. `corrected` for ties agrees with R and scipy; `uncorrected` is the textbook formula.

    The corrected Iman-Davenport statistic is exactly the F of a block ANOVA on the ranks.
    """

    corrected: RankTest
    uncorrected: RankTest
    has_ties: bool
    freedom: int
    iman_davenport_freedom: tuple[int, int]


@dataclass(frozen=True, slots=True)
class BlockAnova:
    """Analysis of variance with instances as blocks: the F of the algorithms."""

    statistic: float
    p_value: float
    freedom: tuple[int, int]
    mean_square_algorithms: float
    mean_square_instances: float
    mean_square_residual: float


@dataclass(frozen=True, slots=True)
class Omnibus:
    """All omnibus tests, on the statistic of each algorithm on each instance."""

    friedman: Friedman
    anova: BlockAnova
    mean_ranks: tuple[float, ...]  # of each algorithm; 1 is best
    critical_difference: float
    instances: int  # those on which all algorithms have values


def omnibus(statistics: Floats, *, better: Better = "lower", alpha: float = 0.05) -> Omnibus:
    """Return every omnibus result for instances in rows and algorithms in columns."""
    instances, algorithms = statistics.shape
    return Omnibus(
        friedman=friedman(statistics),
        anova=block_anova(statistics),
        mean_ranks=tuple(ranks(statistics, better=better).mean(axis=0).tolist()),
        critical_difference=critical_difference(algorithms, instances, alpha=alpha),
        instances=instances,
    )


def ranks(statistics: Floats, *, better: Better = "lower") -> Floats:
    """Return the rank of each algorithm (column) on each instance (row); 1 is best, ties share the mean rank.

    Values within rounding of each other are tied.

    >>> ranks(np.array([[10.0, 30.0, 20.0], [5.0, 5.0, 9.0]])).tolist()
    [[1.0, 3.0, 2.0], [1.5, 1.5, 3.0]]
    """
    return mean_ranks_of(settled_rows(statistics if better == "lower" else -statistics))


def friedman(statistics: Floats) -> Friedman:
    """Test whether the ranks of the algorithms differ more than by chance.

    `scipy.stats.friedmanchisquare` gives the corrected statistic only, and NaN when every row is tied throughout.

    >>> result = friedman(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]]))
    >>> result.corrected.statistic, result.freedom
    (4.5, 2)
    """
    n, a = statistics.shape
    r = ranks(statistics)
    between = n * float(np.sum((r.mean(axis=0) - (a + 1) / 2) ** 2))
    untied = a * (a + 1) / 12
    within = float(np.sum((r - (a + 1) / 2) ** 2)) / (n * (a - 1))  # the same without ties
    return Friedman(
        corrected=_rank_test(between / within if within else 0.0, n, a),
        uncorrected=_rank_test(between / untied, n, a),
        has_ties=not math.isclose(within, untied),
        freedom=a - 1,
        iman_davenport_freedom=(a - 1, (a - 1) * (n - 1)),
    )


def _rank_test(chi_square: float, n: int, a: int) -> RankTest:
    rest = n * (a - 1) - chi_square
    alike = rest < 1e-9 * n * a  # every instance ranks the algorithms the same way
    f = math.inf if alike else (n - 1) * chi_square / rest
    f_p = 0.0 if alike else float(fdtrc(a - 1, (a - 1) * (n - 1), f))
    return RankTest(chi_square, float(chdtrc(a - 1, chi_square)), f, f_p)


def block_anova(statistics: Floats) -> BlockAnova:
    """Test whether the algorithms' means differ, with the instances as blocks.

    >>> round(block_anova(np.array([[1.0, 2.0, 4.0], [2.0, 3.0, 4.5], [0.5, 2.5, 3.0]])).statistic, 3)
    32.0
    """
    n, a = statistics.shape
    exponent = int(np.frexp(np.abs(statistics).max())[1])
    scaled = np.ldexp(statistics, -exponent)  # squares of 1e±300 must neither overflow nor underflow
    shifted = scaled - scaled[:, :1]
    centred = shifted - shifted.mean(axis=1, keepdims=True)
    effects = centred.mean(axis=0)
    algorithms = n * float(np.sum(effects**2)) / (a - 1)
    instances = a * float(np.var(scaled.mean(axis=1), ddof=1))
    residual = float(np.sum((centred - effects) ** 2)) / ((a - 1) * (n - 1))
    f = algorithms / residual if residual else (math.inf if algorithms else math.nan)
    p_value = float(fdtrc(a - 1, (a - 1) * (n - 1), f)) if math.isfinite(f) else (0.0 if f > 0 else 1.0)
    with np.errstate(over="ignore", under="ignore"):  # beyond the range of doubles: infinite or zero
        mean_squares = np.ldexp([algorithms, instances, residual], 2 * exponent).tolist()
    return BlockAnova(f, p_value, (a - 1, (a - 1) * (n - 1)), *mean_squares)


def critical_difference(algorithms: int, instances: int, *, alpha: float = 0.05) -> float:
    """Return Nemenyi's distance: mean ranks further apart than this differ at family-wise level alpha.

    >>> round(critical_difference(4, 14, alpha=0.05), 3)  # Demšar (2006), section 3.2.3 prints 1.25
    1.254
    """
    q = _range_quantile(alpha, algorithms) / math.sqrt(2)
    return q * math.sqrt(algorithms * (algorithms + 1) / (6 * instances))


@lru_cache(maxsize=64)
def _range_quantile(alpha: float, size: int) -> float:
    """The range of this many standard normal values that is exceeded with probability alpha."""
    if alpha < LEAST_ALPHA or alpha > 1 - LEAST_ALPHA:  # limit of precision of 1 − p
        from scipy.stats import studentized_range

        return float(studentized_range.isf(alpha, size, np.inf))
    low, high = 0.0, WIDEST_RANGE
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _range_beyond(middle, size) > alpha else (low, middle)
    return (low + high) / 2


def _range_beyond(reach: float, size: int) -> float:
    """The probability that standard normal values range over more: one minus k ∫ φ(z) (Φ(z) − Φ(z − q))^(k−1) dz."""
    z = np.linspace(-FARTHEST, FARTHEST + reach, POINTS)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * (ndtr(z) - ndtr(z - reach)) ** (size - 1)
    return 1.0 - size * float(np.sum(density)) * float(z[1] - z[0])


def reference_difference(algorithms: int, instances: int, *, alpha: float = 0.05) -> float:
    """Return Bonferroni and Dunn's distance: mean ranks further than this from a reference's differ from it.

    >>> round(reference_difference(4, 14, alpha=0.10), 3)  # Demšar (2006), section 3.2.3 prints 2.128·0.488 = 1.04
    1.038
    """
    q = -float(ndtri(alpha / (2 * (algorithms - 1))))
    return q * math.sqrt(algorithms * (algorithms + 1) / (6 * instances))
