"""The powers of a family of corrected tests, and the number that completes a design: instances or effect. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Alternative, Target, Test
from ampler.stats.holm import Correction, divided_levels
from ampler.stats.power import instances_for, paired_power, t_instances, tail_levels

Simulated = Literal["simulated"]  # a further target: the simulated mean power of the procedure

EXACT = 64  # the most lenient tests, summed one by one where the power changes fast with the rank
NODES = 32  # of the Gauss–Legendre rule in log k for all the others


@dataclass(frozen=True, slots=True)
class PlannedFamily:
    """K comparisons tested together at a family-wise level."""

    comparisons: int
    alpha: float
    alternative: Alternative
    correction: Correction

    @property
    def sides(self) -> Literal[1, 2]:
        """The number of sides of the tests."""
        return 2 if self.alternative == "two-sided" else 1

    def levels(self, divisors: NDArray[np.number[Any]]) -> Floats:
        """The levels of the tests with these divisors of α: the k most lenient ones have the divisors 1..k."""
        return divided_levels(divisors, self.comparisons, self.alpha, self.correction)


@dataclass(frozen=True, slots=True)
class Terms:
    """The fixed terms, while one of instances, effect and power is solved for."""

    family: PlannedFamily
    target: Target | Simulated
    test: Test

    def t_power(self, instances: int, effect: float) -> float:
        """The target's power when t-tests are done on this many instances.

        >>> family = PlannedFamily(21, 0.05, "two-sided", "holm")
        >>> round(Terms(family, "mean", "t").t_power(57, 0.5), 3)
        0.804
        """
        if self.target in ("mean", "simulated"):
            divisors, weights = rank_sum(self.family.comparisons)
            return _mean(weights, divided_powers(self.family, instances, effect, divisors))
        divisor = target_divisor(self.target, self.family.comparisons)
        return float(divided_powers(self.family, instances, effect, np.array([divisor]))[0])


def power_profile(family: PlannedFamily, instances: int, effect: float) -> dict[str, float]:
    """Return the mean, median, worst and best power of t-tests on this many instances, each at its rank's level.

    >>> power_profile(PlannedFamily(21, 0.05, "two-sided", "holm"), 57, 0.5)["worst_power"]
    0.71935...
    """
    K = family.comparisons
    divisors, weights = rank_sum(K)
    powers = divided_powers(family, instances, effect, np.concatenate([divisors, [K // 2 + 1, (K + 1) // 2, K, 1]]))
    lower, upper, worst, best = powers[-4:].tolist()
    mean, median = _mean(weights, powers[:-4]), (lower + upper) / 2
    return {"mean_power": mean, "median_power": median, "worst_power": worst, "best_power": best}


def target_divisor(target: Target | Simulated, comparisons: int) -> float:
    """Return the divisor of α for the test that decides whether the target is met.

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
    return divisors, np.concatenate([np.ones(EXACT), (high - low) / 2 * node_weights * ranks, slopes]) / K


MOST_INSTANCES = 10**9  # upper limit of the search
LARGEST_EFFECT = 1000.0  # standard deviations; beyond, the noncentral t distribution is no longer computed reliably

_probit = NormalDist().inv_cdf


def fewest_instances(terms: Terms, effect: float, power: float) -> int:
    """Return the fewest instances by the marginal powers; for the mean, the result of the paper's Algorithm 2."""
    n = smallest(
        lambda n: terms.t_power(n, effect),
        power,
        guess=_normal_instances(terms, effect, power),
        least=2,
        most=MOST_INSTANCES,
    )
    return within_reach(n and instances_for(n, terms.test), effect, power)


@lru_cache(maxsize=256)
def smallest_effect(terms: Terms, instances: int, power: float) -> float:
    """Return the effect with the target power."""
    from scipy.optimize import brentq

    n = t_instances(instances, terms.test)
    least = terms.t_power(n, 0.0)
    if power <= least:
        raise InvalidDesign(f"power must exceed the {least:.4g} of false alarms alone, got {power!r}: ask for more")
    high = 1 / sqrt(n)
    while terms.t_power(n, high) < power:
        if high == LARGEST_EFFECT:
            raise InvalidDesign(
                f"no effect up to {LARGEST_EFFECT:g} is detected with power {power!r} on {instances} instances: "
                "use more instances or a larger alpha"
            )
        high = min(2 * high, LARGEST_EFFECT)
    return float(brentq(lambda effect: terms.t_power(n, effect) - power, 0.0, high, xtol=1e-15, rtol=1e-14))


def _normal_instances(terms: Terms, effect: float, power: float) -> int:
    """A first guess: d·√N = z_tail + z_power for a normal statistic, and z²/2 more for the estimated variance."""
    family = terms.family
    level = family.levels(np.array(target_divisor(terms.target, family.comparisons)))
    critical = -float(ndtri(float(tail_levels(level, family.alternative))))
    root = min(max(0.0, critical + float(ndtri(power))) / effect, sqrt(MOST_INSTANCES))  # its square stays finite
    return ceil(root**2 + critical**2 / 2)


def within_reach(instances: int | None, effect: float, power: float) -> int:
    """Refuse designs beyond the limits."""
    if instances is None or instances > MOST_INSTANCES:
        raise InvalidDesign(
            f"an effect of {effect!r} takes more than {MOST_INSTANCES} instances for power {power!r}: "
            "ask for a larger effect or less power"
        )
    return instances


# ── the smallest whole number at which a rising curve reaches a value ─────────────────────────────────────────────────


Point = tuple[int, float]  # a point of the curve


def smallest(
    curve: Callable[[int], float], target: float, *, guess: int, least: int = 1, most: int = 10**9
) -> int | None:
    """Return the smallest n in least..most with curve(n) ≥ target, or None if even `most` does not reach it.

    The curve gives probabilities and must not fall. It is evaluated a few times near a good guess, and
    from a bad one a number of times that grows with the logarithm of the distance.

    >>> smallest(lambda n: 1 - 0.9**n, 0.8, guess=10)
    16
    """
    bracket = _bracket(curve, target, min(max(guess, least), most), least, most)
    if bracket is None:
        return None
    low, high = bracket
    halve = False
    while (gap := high[0] - low[0]) > 1:
        n = low[0] + gap // 2 if halve else _between(low, high, target)
        point = n, curve(n)
        low, high = (low, point) if point[1] >= target else (point, high)
        halve = high[0] - low[0] > gap / 2  # poor interpolation: bisect once
    return high[0]


def _bracket(
    curve: Callable[[int], float], target: float, guess: int, least: int, most: int
) -> tuple[Point, Point] | None:
    """Step away from the guess, each time twice as far, until the target lies between two points."""
    low = high = guess, curve(guess)
    step = max(1, guess // 64)
    while low[1] >= target:
        n = max(least - 1, low[0] - step)
        high, low = low, (n, curve(n) if n >= least else 0.0)  # below `least` there is no curve
        step *= 2
    while high[1] < target:
        if high[0] == most:
            return None
        n = min(most, high[0] + step)
        low, high = high, (n, curve(n))
        step *= 2
    return low, high


def _between(low: Point, high: Point, target: float) -> int:
    """Interpolation between two points in √n and probits, where power is nearly linear.

    It keeps a little away from both ends, so that one step more closes in from the other side.
    """
    (first, lower), (last, upper) = low, high
    below, above, aim = (_probit(min(max(height, 1e-12), 1 - 1e-12)) for height in (lower, upper, target))
    share = (aim - below) / (above - below) if above > below else 0.5
    n = ceil((sqrt(first) + share * (sqrt(last) - sqrt(first))) ** 2)
    margin = max(1, (last - first) // 64)
    return min(max(n, first + margin), last - margin)
