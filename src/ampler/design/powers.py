"""The powers of a family of corrected tests, each at the level of its rank: mean, median, worst, best. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative, Target, Test
from ampler.stats.holm import Correction, divided_levels
from ampler.stats.power import paired_power

Simulated = Literal["simulated"]  # a target beside the others: the mean power of the procedure when it is run

EXACT = 64  # the most lenient tests, summed one by one where the power changes fast with the rank
NODES = 32  # of the Gauss–Legendre rule in log k for all the others


@dataclass(frozen=True, slots=True)
class PlannedFamily:
    """K comparisons tested together at a family-wise level."""

    comparisons: int
    alpha: float
    alternative: Alternative
    correction: Correction

    def levels(self, divisors: NDArray[np.number[Any]]) -> Floats:
        """The levels of the tests with these divisors of α: the k most lenient ones have the divisors 1..k."""
        return divided_levels(divisors, self.comparisons, self.alpha, self.correction)


@dataclass(frozen=True, slots=True)
class Terms:
    """What stays fixed while one of instances, effect and power is solved for."""

    family: PlannedFamily
    target: Target | Simulated
    test: Test

    def t_power(self, instances: int, effect: float) -> float:
        """The target's power when t-tests are done on so many instances."""
        return target_power(self.family, self.target, instances, effect)


@dataclass(frozen=True, slots=True)
class PowerProfile:
    """The powers of a family in four numbers."""

    mean: float
    median: float
    worst: float
    best: float


def power_profile(family: PlannedFamily, instances: int, effect: float) -> PowerProfile:
    """Return the mean, median, worst and best power of t-tests on so many instances, each at its rank's level.

    >>> power_profile(PlannedFamily(21, 0.05, "two-sided", "holm"), 57, 0.5)
    PowerProfile(mean=0.80440..., median=0.78842..., worst=0.71935..., best=0.95989...)
    """
    K = family.comparisons
    divisors, weights = rank_sum(K)
    powers = divided_powers(family, instances, effect, np.concatenate([divisors, [K // 2 + 1, (K + 1) // 2, K, 1]]))
    lower, upper, worst, best = (float(power) for power in powers[-4:])
    return PowerProfile(_mean(weights, powers[:-4]), (lower + upper) / 2, worst, best)


def target_power(family: PlannedFamily, target: Target | Simulated, instances: int, effect: float) -> float:
    """Return the power that a target speaks of, for t-tests on so many instances.

    >>> round(target_power(PlannedFamily(21, 0.05, "two-sided", "holm"), "mean", 57, 0.5), 3)
    0.804
    """
    if target in ("mean", "simulated"):
        divisors, weights = rank_sum(family.comparisons)
        return _mean(weights, divided_powers(family, instances, effect, divisors))
    divisor = target_divisor(target, family.comparisons)
    return float(divided_powers(family, instances, effect, np.array([divisor]))[0])


def target_divisor(target: Target | Simulated, comparisons: int) -> float:
    """Return what α is divided by for the test that decides whether the target is met.

    Rank r of K has the divisor K − r + 1, so the k most lenient tests have the divisors 1..k: when the one with divisor
    k has the wanted power, at least k tests have it. The median is the paper's rule with K′ = ⌈K/2⌉: K − K′ + 1.
    For the mean no single test decides; log k has the mean log K! / K ≈ log(K/e), so K/e is a good first guess.

    >>> [target_divisor(target, 21) for target in ("worst", "median", "best", 5)]
    [21, 11, 1, 5]
    """
    match target:
        case "worst":
            return comparisons
        case "median":
            return comparisons - (comparisons + 1) // 2 + 1
        case "best":
            return 1
        case "mean" | "simulated":
            return max(1.0, comparisons / np.e)
        case int():
            return target


def divided_powers(family: PlannedFamily, instances: int, effect: float, divisors: NDArray[np.number[Any]]) -> Floats:
    """Return the power of a t-test at the level that belongs to each divisor of α."""
    return paired_power(instances, effect, family.levels(divisors), alternative=family.alternative)


def _mean(weights: Floats, powers: Floats) -> float:
    """A mean of powers is a power: weights that sum to 1 only up to rounding must not push it beyond 1."""
    return min(1.0, float(weights @ powers))


@lru_cache(maxsize=64)
def rank_sum(comparisons: int) -> tuple[Floats, Floats]:
    """Return divisors and weights so that Σ weight·power is the mean of the powers at α/1, …, α/K.

    Up to 2·EXACT all K of them. Beyond, the first a = EXACT, and for the rest the midpoint form of Euler–Maclaurin.
    Let g(k) be the power at α/k. Taylor gives ∫ g from k−½ to k+½ = g(k) + g″(k)/24 + …; summed over k = a+1..K,
    Σ g(k) = ∫ g from a+½ to K+½ − [g′(K+½) − g′(a+½)]/24 + …, with g′(x+½) ≈ g(x+1) − g(x).
    The integral becomes ∫ g(e^y)·e^y dy, smooth in y = log k. What is left out is near 10⁻³·g‴(a): below 10⁻⁸ in the
    sum of 129 or more powers, so below 10⁻¹⁰ in their mean.
    """
    K = comparisons
    if K <= 2 * EXACT:
        return np.arange(1.0, K + 1), np.full(K, 1 / K)
    nodes, node_weights = np.polynomial.legendre.leggauss(NODES)
    low, high = np.log(EXACT + 0.5), np.log(K + 0.5)
    ranks = np.exp((low + high) / 2 + (high - low) / 2 * nodes)
    divisors = np.concatenate([np.arange(1.0, EXACT + 1), ranks, [EXACT, EXACT + 1, K, K + 1]])
    slopes = np.array([-1, 1, 1, -1]) / 24
    weights = np.concatenate([np.ones(EXACT), (high - low) / 2 * node_weights * ranks, slopes])
    return divisors, weights / K
