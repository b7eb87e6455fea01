"""The number that completes a design: the fewest instances or the smallest effect, computed or rehearsed. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt

from ampler.core.errors import InvalidDesign
from ampler.design.powers import target_divisor
from ampler.design.search import smallest
from ampler.design.simulate import Dependence, Setting, families_for, rehearse
from ampler.design.terms import LARGEST_EFFECT, MOST_INSTANCES, Rehearsal, Terms
from ampler.stats.paired import paired_test
from ampler.stats.power import instances_for, t_instances, tail_levels

FEWEST_FAMILIES = 400  # with fewer, the simulated number of instances would be a lottery


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


def fewest_rehearsed(
    terms: Terms, rehearsal: Rehearsal, guess: int, effect: float, power: float
) -> tuple[int, SimulatedPower]:
    """Return the fewest instances by rehearsals that all use the same random numbers, and the power they gave."""
    families = rehearsal.replications or families_for(_setting(terms, rehearsal, guess, effect), least=FEWEST_FAMILIES)
    roughly = _rehearsed(terms, rehearsal, max(2, families // 16), effect)
    near = _rehearsed_instances(terms, roughly, guess, effect, power)  # cheap, so that the dear search starts close
    rehearsed = _rehearsed(terms, rehearsal, families, effect)
    needed = _rehearsed_instances(terms, rehearsed, near, effect, power)
    return needed, rehearsed(needed)


def _normal_instances(terms: Terms, effect: float, power: float) -> int:
    """A first guess: d·√N = z_tail + z_power for a normal statistic, and z²/2 more for the estimated variance."""
    from scipy.special import ndtri

    family = terms.family
    divisor = target_divisor(terms.target, family.comparisons) if family.correction == "holm" else family.comparisons
    critical = -float(ndtri(float(tail_levels(family.alpha / divisor, family.alternative))))
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


def _rehearsed_instances(
    terms: Terms, rehearsed: Callable[[int], SimulatedPower], guess: int, effect: float, power: float
) -> int:
    """The fewest instances by simulated power, with a look back for tests whose power has teeth."""
    least = instances_for(2, terms.test)
    n = smallest(lambda n: rehearsed(n).power, power, guess=guess, least=least, most=MOST_INSTANCES)
    found = _within_reach(n, effect, power)
    earlier = range(max(least, found - paired_test(terms.test).look_back), found)
    return next((n for n in earlier if rehearsed(n).power >= power), found)


def _rehearsed(terms: Terms, rehearsal: Rehearsal, families: int, effect: float) -> Callable[[int], SimulatedPower]:
    """Return the simulated mean power as a function of the instances."""

    @cache
    def rehearsed(instances: int) -> SimulatedPower:
        setting = _setting(terms, rehearsal, instances, effect)
        tally = rehearse(setting, families=families, seed=rehearsal.seed)
        return SimulatedPower(tally.mean_power, tally.error, rehearsal.dependence, families, rehearsal.seed)

    return rehearsed


def _setting(terms: Terms, rehearsal: Rehearsal, instances: int, effect: float) -> Setting:
    """What is rehearsed: every difference is real, as the other targets assume."""
    family = terms.family
    return Setting(
        instances=instances,
        comparisons=family.comparisons,
        real=family.comparisons,
        effect=effect,
        alpha=family.alpha,
        alternative=family.alternative,
        test=terms.test,
        correction=family.correction,
        dependence=rehearsal.dependence,
    )
