"""The number that completes a design: the fewest instances or the smallest effect, computed or simulated. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from ampler.core.errors import InvalidDesign
from ampler.design.powers import Terms, target_divisor
from ampler.design.simulate import Dependence, families_for, scenario_of, simulate_families
from ampler.stats.paired import paired_test
from ampler.stats.power import instances_for, t_instances, tail_levels

MOST_INSTANCES = 10**9  # nobody has more; the search ends here instead of running on
LARGEST_EFFECT = 1000.0  # standard deviations; beyond, the noncentral t distribution is no longer computed reliably
FEWEST_SEARCHED = 400  # families: with fewer, the simulated number of instances would be a lottery

_probit = NormalDist().inv_cdf


@dataclass(frozen=True, slots=True)
class SimulationTerms:
    """How the power is simulated."""

    dependence: Dependence
    seed: int
    replications: int | None


@dataclass(frozen=True, slots=True)
class SimulatedPower:
    """The mean power that simulation gave, with its Monte Carlo standard error and what it was simulated with."""

    power: float
    error: float
    dependence: Dependence
    replications: int
    seed: int


def fewest_instances(terms: Terms, effect: float, power: float) -> int:
    """Return the fewest instances by the marginal powers: for the mean, what the paper's Algorithm 2 finds by steps."""
    n = smallest(
        lambda n: terms.t_power(n, effect),
        power,
        guess=_normal_instances(terms, effect, power),
        least=2,
        most=MOST_INSTANCES,
    )
    return _within_reach(n and instances_for(n, terms.test), effect, power)


@lru_cache(maxsize=256)
def smallest_effect(terms: Terms, instances: int, power: float) -> float:
    """Return the effect at which the power, which rises with it, is the wanted one."""
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


def fewest_simulated(
    terms: Terms, simulation: SimulationTerms, guess: int, effect: float, power: float
) -> tuple[int, SimulatedPower]:
    """Return the fewest instances by simulations that all use the same random numbers, and the power they gave."""
    scenario = scenario_of(terms, guess, effect, dependence=simulation.dependence)
    families = simulation.replications or families_for(scenario, least=FEWEST_SEARCHED)
    roughly = _simulated_power(terms, simulation, max(2, families // 16), effect)
    near = _simulated_instances(terms, roughly, guess, effect, power)  # cheap, so that the dear search starts close
    power_at = _simulated_power(terms, simulation, families, effect)
    needed = _simulated_instances(terms, power_at, near, effect, power)
    return needed, power_at(needed)


def _normal_instances(terms: Terms, effect: float, power: float) -> int:
    """A first guess: d·√N = z_tail + z_power for a normal statistic, and z²/2 more for the estimated variance."""
    from scipy.special import ndtri

    family = terms.family
    level = family.levels(np.array(target_divisor(terms.target, family.comparisons)))
    critical = -float(ndtri(float(tail_levels(level, family.alternative))))
    root = min(max(0.0, critical + float(ndtri(power))) / effect, sqrt(MOST_INSTANCES))  # its square stays finite
    return ceil(root**2 + critical**2 / 2)


def _within_reach(instances: int | None, effect: float, power: float) -> int:
    """Refuse what nobody can do."""
    if instances is None or instances > MOST_INSTANCES:
        raise InvalidDesign(
            f"an effect of {effect!r} takes more than {MOST_INSTANCES} instances for power {power!r}: "
            "ask for a larger effect or less power"
        )
    return instances


def _simulated_instances(
    terms: Terms, power_at: Callable[[int], SimulatedPower], guess: int, effect: float, power: float
) -> int:
    """The fewest instances by simulated power, with a look back for tests whose power has teeth."""
    least = instances_for(2, terms.test)
    n = smallest(lambda n: power_at(n).power, power, guess=guess, least=least, most=MOST_INSTANCES)
    found = _within_reach(n, effect, power)
    earlier = range(max(least, found - paired_test(terms.test).look_back), found)
    return next((n for n in earlier if power_at(n).power >= power), found)


def _simulated_power(
    terms: Terms, simulation: SimulationTerms, families: int, effect: float
) -> Callable[[int], SimulatedPower]:
    """Return the simulated mean power as a function of the instances."""

    @cache
    def power_at(instances: int) -> SimulatedPower:
        scenario = scenario_of(terms, instances, effect, dependence=simulation.dependence)
        counts = simulate_families(scenario, families=families, seed=simulation.seed)
        return SimulatedPower(counts.mean_power, counts.error, simulation.dependence, families, simulation.seed)

    return power_at


# ── the smallest whole number at which a rising curve reaches a value ─────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Point:
    """A place on the curve."""

    n: int
    height: float


def smallest(
    curve: Callable[[int], float], wanted: float, *, guess: int, least: int = 1, most: int = 10**9
) -> int | None:
    """Return the smallest n in least..most with curve(n) ≥ wanted, or None if even `most` does not reach it.

    The curve gives probabilities and must not fall. It is asked seldom: a few times near a good guess, and
    from a bad one a number of times that grows with the logarithm of the distance.

    >>> smallest(lambda n: 1 - 0.9**n, 0.8, guess=10)
    16
    """
    bracket = _bracket(curve, wanted, min(max(guess, least), most), least, most)
    if bracket is None:
        return None
    low, high = bracket
    halve = False
    while (gap := high.n - low.n) > 1:
        n = low.n + gap // 2 if halve else _between(low, high, wanted)
        point = Point(n, curve(n))
        low, high = (low, point) if point.height >= wanted else (point, high)
        halve = high.n - low.n > gap / 2  # the line misled us: be safe once
    return high.n


def _bracket(
    curve: Callable[[int], float], wanted: float, guess: int, least: int, most: int
) -> tuple[Point, Point] | None:
    """Step away from the guess, each time twice as far, until the wanted height lies between two points."""
    low = high = Point(guess, curve(guess))
    step = max(1, guess // 64)
    while low.height >= wanted:
        n = max(least - 1, low.n - step)
        high, low = low, (Point(n, curve(n)) if n >= least else Point(n, 0.0))  # below `least` there is no curve
        if n < least:
            break
        step *= 2
    while high.height < wanted:
        if high.n == most:
            return None
        n = min(most, high.n + step)
        low, high = high, Point(n, curve(n))
        step *= 2
    return low, high


def _between(low: Point, high: Point, wanted: float) -> int:
    """Where the line between two points meets the wanted height, in √n and probits: power is nearly straight there.

    It keeps a little away from both ends, so that one step more closes in from the other side.
    """
    below, above, aim = (_probit(min(max(height, 1e-12), 1 - 1e-12)) for height in (low.height, high.height, wanted))
    share = (aim - below) / (above - below) if above > below else 0.5
    n = ceil((sqrt(low.n) + share * (sqrt(high.n) - sqrt(low.n))) ** 2)
    margin = max(1, (high.n - low.n) // 64)
    return min(max(n, low.n + margin), high.n - margin)
