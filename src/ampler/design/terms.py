"""The terms of a design: what stays fixed while one number is solved for, checked once at the public door. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from reprlib import repr as shown
from typing import Any, get_args

from ampler.core.checks import choice, finite, integer, share
from ampler.core.errors import InvalidDesign
from ampler.core.values import Alternative, Test
from ampler.design.powers import Family, Target, target_power
from ampler.design.simulate import Dependence
from ampler.stats.holm import Correction

MOST_INSTANCES = 10**9  # nobody has more; the search ends here instead of running on
MOST_COMPARISONS = 10**7  # all pairs of 4472 algorithms
LARGEST_EFFECT = 1000.0  # standard deviations; beyond, the noncentral t distribution is no longer computed reliably
HIGHEST_POWER = 1 - 1e-9  # a mean of powers is good to 1e-10, so that more could not be told from certainty
SMALLEST_ALPHA = 1e-100  # below, the quantile of t at α/K is not computed reliably


@dataclass(frozen=True, slots=True)
class Terms:
    """What stays fixed while one of instances, effect and power is solved for; checked at the door."""

    family: Family
    target: Target
    test: Test

    def t_power(self, instances: int, effect: float) -> float:
        """The target's power when t-tests are done on so many instances."""
        return target_power(self.family, self.target, instances, effect)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How the power is simulated."""

    dependence: Dependence
    seed: int
    replications: int | None


def checked_terms(comparisons: Any, alpha: Any, target: Any, alternative: Any, test: Any, correction: Any) -> Terms:
    """Check what stays fixed."""
    count = integer("comparisons", comparisons, 1, MOST_COMPARISONS, "n_comparisons(algorithms) counts them")
    family = Family(
        comparisons=count,
        alpha=_alpha(alpha),
        alternative=choice("alternative", alternative, get_args(Alternative), "one side is 'less' or 'greater'"),
        correction=choice("correction", correction, get_args(Correction), "'holm' needs fewer instances"),
    )
    return Terms(family, _target(target, count), choice("test", test, get_args(Test), "'t' is the default"))


def checked_instances(value: Any) -> int:
    """Check a number of instances."""
    return integer("instances", value, 2, MOST_INSTANCES, "a paired test takes two or more")


def checked_effect(value: Any) -> float:
    """Check an effect size."""
    effect = finite("effect", value, "give mean/sd of the smallest difference that matters, such as 0.5")
    if not 0 < effect <= LARGEST_EFFECT:
        raise InvalidDesign(
            f"effect must be positive and at most {LARGEST_EFFECT:g} standard deviations, got {shown(value)}: "
            "give the size of the smallest effect that matters, such as 0.5"
        )
    return effect


def checked_effects(effects: Any) -> tuple[Any, ...]:
    """Check that effects are many; each is checked by itself."""
    if isinstance(effects, str) or not isinstance(effects, Iterable):
        raise InvalidDesign(f"effects must be a list of numbers, got {shown(effects)}: write for example [0.2, 0.5]")
    return tuple(effects)


def checked_power(value: Any) -> float:
    """Check a wanted power."""
    power = share("power", value, "0.8 and 0.9 are usual")
    if power > HIGHEST_POWER:
        raise InvalidDesign(f"power must be at most {HIGHEST_POWER}, got {shown(value)}: 0.8 and 0.9 are usual")
    return power


def checked_rehearsal(target: Any, dependence: Any, seed: Any, replications: Any) -> Rehearsal | None:
    """Check how to simulate, which only the simulated target does."""
    given = {"dependence": dependence, "seed": seed, "replications": replications}
    if target != "simulated":
        for name, value in given.items():
            if value is not None:
                raise InvalidDesign(f"{name} is for target 'simulated' alone, got {shown(value)}: leave it out")
        return None
    return Rehearsal(
        choice(
            "dependence",
            "independent" if dependence is None else dependence,
            get_args(Dependence),
            "'reference' is for all-vs-one",
        ),
        integer("seed", 0 if seed is None else seed, 0, 2**63, "any whole number will do"),
        None if replications is None else integer("replications", replications, 2, 10**9, "10000 are plenty"),
    )


def not_simulated(target: Target) -> Target:
    """Only the number of instances is searched by simulation."""
    if target == "simulated":
        raise InvalidDesign(
            "target 'simulated' solves for the instances alone, got it with the instances given: "
            "use target 'mean', or simulate_design on the result"
        )
    return target


def _alpha(value: Any) -> float:
    """Check a family-wise level."""
    alpha = share("alpha", value, "0.05 is usual")
    if alpha < SMALLEST_ALPHA:
        raise InvalidDesign(f"alpha must be {SMALLEST_ALPHA:g} or more, got {shown(value)}: 0.05 is usual")
    return alpha


def _target(value: Any, comparisons: int) -> Target:
    """Check a target: a word, or the number of tests that must reach the power."""
    way_out = f"or the number of tests that must reach the power, from 1 to {comparisons}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        word: Target = choice("target", value, ("mean", "median", "worst", "best", "simulated"), way_out)
        return word
    return integer("target", value, 1, comparisons, "that many of the comparisons must reach the power")
