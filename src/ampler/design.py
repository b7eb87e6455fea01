"""How many instances a comparison needs, which power it reaches, which effect it can detect. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil, hypot, sqrt
from numbers import Integral
from reprlib import repr as shown
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ampler.checks import choice, number, share, whole
from ampler.errors import InvalidDesign
from ampler.holm import Correction, corrected_levels
from ampler.model import Alternative, Test
from ampler.power import instances_for, paired_power, t_instances, tail_levels
from ampler.profile import Family, Target, power_profile, target_divisor, target_power
from ampler.rehearsal import Dependence, Setting, families_for, rehearse
from ampler.search import smallest

Floats = NDArray[np.float64]

MOST_INSTANCES = 10**9  # nobody has more; the search ends here instead of running on
MOST_COMPARISONS = 10**7  # all pairs of 4472 algorithms
LARGEST_EFFECT = 1000.0  # standard deviations; beyond, the noncentral t distribution is no longer computed reliably
HIGHEST_POWER = 1 - 1e-9  # a mean of powers is good to 1e-10, so that more could not be told from certainty
FEWEST_FAMILIES = 400  # with fewer, the simulated number of instances would be a lottery
SMALLEST_ALPHA = 1e-100  # below, so is its quantile at α/K


@dataclass(frozen=True, slots=True)
class SimulatedPower:
    """The mean power that simulation gave, with its Monte Carlo standard error and what it was simulated with."""

    power: float
    error: float
    dependence: Dependence
    replications: int
    seed: int


@dataclass(frozen=True, slots=True)
class Design:
    """A comparison planned for one effect: instances, comparisons, and the powers that go with them.

    `power` is the wanted one (where it was solved for, the one reached). The four powers are those of the K tests if
    every true difference equals the effect, each test at its own rank's level; `levels` and `powers` list them,
    strictest first. `simulated` is there when the target was "simulated".
    """

    instances: int
    comparisons: int
    effect: float
    power: float
    alpha: float
    target: Target
    alternative: Alternative
    test: Test
    correction: Correction
    mean_power: float
    median_power: float
    worst_power: float
    best_power: float
    simulated: SimulatedPower | None = None

    @property
    def levels(self) -> Floats:
        """The significance levels of the ranks 1..K, strictest first."""
        return corrected_levels(self.comparisons, self.alpha, self.correction)

    @property
    def powers(self) -> Floats:
        """The powers of the ranks 1..K, strictest first."""
        return paired_power(self.instances, self.effect, self.levels, test=self.test, alternative=self.alternative)

    @property
    def reached(self) -> float:
        """The power that these instances give to what `target` names."""
        if self.simulated is not None:
            return self.simulated.power
        family = Family(self.comparisons, self.alpha, self.alternative, self.correction)
        return target_power(family, self.target, t_instances(self.instances, self.test), self.effect)

    def as_dict(self, *, profile: bool = False) -> dict[str, Any]:
        """Return the fields as JSON has them; with `profile` also `levels` and `powers` by rank."""
        ranks = {"levels": self.levels.tolist(), "powers": self.powers.tolist()} if profile else {}
        return asdict(self) | ranks

    def __str__(self) -> str:
        return f"{self.instances} instances: {_promise(self)} ({_procedure(self)})"


def required_instances(
    *,
    comparisons: int,
    effect: float,
    power: float = 0.8,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
    dependence: Dependence | None = None,
    seed: int | None = None,
    replications: int | None = None,
) -> Design:
    """Return the design with the fewest instances whose power reaches the wanted one for an effect of this size.

    `target` says which power must reach it: the "mean" over the comparisons, the "median", the "worst", the "best",
    that of at least so many comparisons (a whole number), or the mean power of Holm's procedure run for real on normal
    differences ("simulated"). Only the last takes `dependence` ("independent", the default, or "reference" when all
    comparisons share an algorithm), `seed` and `replications`.

    >>> print(required_instances(comparisons=21, effect=0.5, power=0.8))
    57 instances: mean power 0.804 for d = 0.5 over 21 comparisons (two-sided paired t-tests, Holm, alpha = 0.05)
    >>> required_instances(comparisons=21, effect=0.5, target="simulated", dependence="reference").instances
    53
    """
    question = _question(comparisons, alpha, target, alternative, test, correction)
    rehearsal = _rehearsal(target, dependence, seed, replications)
    size, wanted = _effect(effect), _power(power)
    needed = _conventional_instances(question, size, wanted)
    if rehearsal is None:
        return _design(question, needed, size, wanted)
    return _simulated_design(question, rehearsal, needed, size, wanted)


def achieved_power(
    *,
    instances: int,
    comparisons: int,
    effect: float,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
) -> Design:
    """Return the design with these instances; its `power` is what the target reaches for an effect of this size.

    >>> print(achieved_power(instances=200, comparisons=7, effect=0.25))
    200 instances: mean power 0.853 for d = 0.25 over 7 comparisons (two-sided paired t-tests, Holm, alpha = 0.05)
    """
    question = _question(comparisons, alpha, _not_simulated(target), alternative, test, correction)
    return _achieved(question, _instances(instances), _effect(effect))


def detectable_effect(
    *,
    instances: int,
    comparisons: int,
    power: float = 0.8,
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
) -> Design:
    """Return the design with these instances; its `effect` is the smallest that is detected with the wanted power.

    >>> print(detectable_effect(instances=200, comparisons=7, power=0.85))
    200 instances: mean power 0.850 for d = 0.249 over 7 comparisons (two-sided paired t-tests, Holm, alpha = 0.05)
    """
    question = _question(comparisons, alpha, _not_simulated(target), alternative, test, correction)
    count, wanted = _instances(instances), _power(power)
    return _design(question, count, _smallest_effect(question, count, wanted), wanted)


def power_curve(
    *,
    instances: int,
    comparisons: int,
    effects: Iterable[float],
    alpha: float = 0.05,
    target: Target = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
) -> tuple[Design, ...]:
    """Return one design per effect, in the order given: the power that these instances have for each of them.

    >>> [round(design.mean_power, 2) for design in power_curve(instances=200, comparisons=7, effects=[0.1, 0.2, 0.3])]
    [0.16, 0.64, 0.96]
    """
    question = _question(comparisons, alpha, _not_simulated(target), alternative, test, correction)
    count = _instances(instances)
    return tuple(_achieved(question, count, _effect(effect)) for effect in _listed(effects))


def n_comparisons(algorithms: int, *, reference: bool = False) -> int:
    """Return how many pairs are compared: A − 1 with a reference (all-vs-one), A·(A − 1)/2 without (all-vs-all).

    >>> n_comparisons(22, reference=True), n_comparisons(22, reference=False)
    (21, 231)
    """
    count = whole("algorithms", algorithms, 2, MOST_INSTANCES, "a comparison takes two")
    return count - 1 if reference else count * (count - 1) // 2


def effect_from(difference: float, sd: float, *, se: float = 0.0) -> float:
    """Return the standardised effect of a raw difference that is just worth detecting.

    `sd` is the standard deviation of the true differences over instances, `se` the standard error with which each of
    them is measured. Tests see the measured ones, whose variance is sd² + se²: the noise of the runs counts.

    >>> effect_from(2.0, 4.0), effect_from(2.0, 4.0, se=3.0)
    (0.5, 0.4)
    """
    size = abs(number("difference", difference, "give the smallest that matters"))
    spread = number("sd", sd, "estimate it from a pilot or from earlier studies")
    noise = number("se", se, "give the standard error of one instance's difference, or 0")
    if size == 0:
        raise InvalidDesign(f"difference must not be zero, got {shown(difference)}: give the smallest that matters")
    if spread <= 0:
        raise InvalidDesign(f"sd must be positive, got {shown(sd)}: estimate it from a pilot or from earlier studies")
    if noise < 0:
        raise InvalidDesign(f"se must not be negative, got {shown(se)}: give one difference's standard error, or 0")
    return size / hypot(spread, noise)


# ── solving ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Question:
    """What stays fixed while one of instances, effect and power is solved for; checked at the door."""

    family: Family
    target: Target
    test: Test

    def t_power(self, instances: int, effect: float) -> float:
        """The target's power when t-tests are done on so many instances."""
        return target_power(self.family, self.target, instances, effect)


def _design(
    question: _Question, instances: int, effect: float, power: float, simulated: SimulatedPower | None = None
) -> Design:
    """Fill in the powers that go with the numbers."""
    family = question.family
    profile = power_profile(family, t_instances(instances, question.test), effect)
    return Design(
        instances=instances,
        comparisons=family.comparisons,
        effect=effect,
        power=power,
        alpha=family.alpha,
        target=question.target,
        alternative=family.alternative,
        test=question.test,
        correction=family.correction,
        mean_power=profile.mean,
        median_power=profile.median,
        worst_power=profile.worst,
        best_power=profile.best,
        simulated=simulated,
    )


def _achieved(question: _Question, instances: int, effect: float) -> Design:
    """The design whose power is the one reached."""
    return _design(question, instances, effect, question.t_power(t_instances(instances, question.test), effect))


def _conventional_instances(question: _Question, effect: float, power: float) -> int:
    """The fewest instances by the marginal powers: for the mean, what the paper's Algorithm 2 finds in steps of one."""
    n = smallest(
        lambda n: question.t_power(n, effect),
        power,
        guess=_normal_instances(question, effect, power),
        least=2,
        most=MOST_INSTANCES,
    )
    return _within_reach(n and instances_for(n, question.test), effect, power)


def _normal_instances(question: _Question, effect: float, power: float) -> int:
    """A first guess: d·√N = z_tail + z_power for a normal statistic, and z²/2 more for the estimated variance."""
    from scipy.special import ndtri

    family = question.family
    divisor = target_divisor(question.target, family.comparisons) if family.correction == "holm" else family.comparisons
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


def _smallest_effect(question: _Question, instances: int, power: float) -> float:
    """The effect at which the power, which rises with it, is the wanted one."""
    from scipy.optimize import brentq

    n = t_instances(instances, question.test)
    least = question.t_power(n, 0.0)
    if power <= least:
        raise InvalidDesign(f"power must exceed the {least:.4g} of false alarms alone, got {power!r}: ask for more")
    high = 1 / sqrt(n)
    while question.t_power(n, high) < power:
        if high == LARGEST_EFFECT:
            raise InvalidDesign(
                f"no effect up to {LARGEST_EFFECT:g} is detected with power {power!r} on {instances} instances: "
                "use more instances or a larger alpha"
            )
        high = min(2 * high, LARGEST_EFFECT)
    return float(brentq(lambda effect: question.t_power(n, effect) - power, 0.0, high, xtol=1e-15, rtol=1e-14))


# ── the simulated target ───────────────────────────────────────────────────────────────────────────────────────────

# How far below an answer a smaller one may hide: the power of the sign test goes up and down with N, since its few
# possible p-values jump over the level; the signed-rank test has many more of them.
LOOK_BACK: dict[Test, int] = {"t": 0, "wilcoxon": 1, "sign": 4}


@dataclass(frozen=True, slots=True)
class _Rehearsal:
    """How the power is simulated."""

    dependence: Dependence
    seed: int
    replications: int | None


def _simulated_design(question: _Question, rehearsal: _Rehearsal, guess: int, effect: float, power: float) -> Design:
    """Search the fewest instances by rehearsals that all use the same random numbers."""
    families = rehearsal.replications or families_for(
        _setting(question, rehearsal, guess, effect), least=FEWEST_FAMILIES
    )
    roughly = _rehearsed(question, rehearsal, max(2, families // 16), effect)
    near = _rehearsed_instances(question, roughly, guess, effect, power)  # cheap, so that the dear search starts close
    rehearsed = _rehearsed(question, rehearsal, families, effect)
    needed = _rehearsed_instances(question, rehearsed, near, effect, power)
    return _design(question, needed, effect, power, rehearsed(needed))


def _rehearsed_instances(
    question: _Question, rehearsed: Callable[[int], SimulatedPower], guess: int, effect: float, power: float
) -> int:
    """The fewest instances by simulated power, with a look back for tests whose power has teeth."""
    least = instances_for(2, question.test)
    n = smallest(lambda n: rehearsed(n).power, power, guess=guess, least=least, most=MOST_INSTANCES)
    found = _within_reach(n, effect, power)
    earlier = range(max(least, found - LOOK_BACK[question.test]), found)
    return next((n for n in earlier if rehearsed(n).power >= power), found)


def _rehearsed(
    question: _Question, rehearsal: _Rehearsal, families: int, effect: float
) -> Callable[[int], SimulatedPower]:
    """Return the simulated mean power as a function of the instances."""

    @cache
    def rehearsed(instances: int) -> SimulatedPower:
        setting = _setting(question, rehearsal, instances, effect)
        tally = rehearse(setting, families=families, seed=rehearsal.seed)
        return SimulatedPower(tally.mean_power, tally.error, rehearsal.dependence, families, rehearsal.seed)

    return rehearsed


def _setting(question: _Question, rehearsal: _Rehearsal, instances: int, effect: float) -> Setting:
    """What is rehearsed: every difference is real, as the other targets assume."""
    family = question.family
    return Setting(
        instances=instances,
        comparisons=family.comparisons,
        real=family.comparisons,
        effect=effect,
        alpha=family.alpha,
        alternative=family.alternative,
        test=question.test,
        correction=family.correction,
        dependence=rehearsal.dependence,
    )


# ── words ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_TESTS: dict[Test, str] = {"t": "paired t-tests", "wilcoxon": "Wilcoxon signed-rank tests", "sign": "sign tests"}


def _promise(design: Design) -> str:
    """Say what the instances give."""
    plural = "comparison" if design.comparisons == 1 else "comparisons"
    where = f"for d = {design.effect:.4g} over {design.comparisons} {plural}"
    if isinstance(design.target, int):
        return f"power {_rounded(design.reached)} or more in at least {design.target} tests {where}"
    if design.simulated is None:
        return f"{design.target} power {_rounded(getattr(design, f'{design.target}_power'))} {where}"
    shared = " with a shared reference" if design.simulated.dependence == "reference" else ""
    return f"simulated mean power {_rounded(design.reached)} {where}{shared}"


def _procedure(design: Design) -> str:
    """Say which tests are meant."""
    sides = "two-sided" if design.alternative == "two-sided" else "one-sided"
    return f"{sides} {_TESTS[design.test]}, {design.correction.capitalize()}, alpha = {design.alpha:.4g}"


def _rounded(power: float) -> str:
    """Three decimals, but never certainty that is not there."""
    return "above 0.999" if power > 0.9995 else f"{power:.3f}"


# ── the door ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _question(comparisons: Any, alpha: Any, target: Any, alternative: Any, test: Any, correction: Any) -> _Question:
    """Check what stays fixed."""
    count = whole("comparisons", comparisons, 1, MOST_COMPARISONS, "n_comparisons(algorithms) counts them")
    family = Family(
        comparisons=count,
        alpha=_alpha(alpha),
        alternative=choice("alternative", alternative, get_args(Alternative), "one side is 'less' or 'greater'"),
        correction=choice("correction", correction, get_args(Correction), "'holm' needs fewer instances"),
    )
    return _Question(family, _target(target, count), choice("test", test, get_args(Test), "'t' is the default"))


def _instances(value: Any) -> int:
    return whole("instances", value, 2, MOST_INSTANCES, "a paired test takes two or more")


def _effect(value: Any) -> float:
    effect = number("effect", value, "give mean/sd of the smallest difference that matters, such as 0.5")
    if not 0 < effect <= LARGEST_EFFECT:
        raise InvalidDesign(
            f"effect must be positive and at most {LARGEST_EFFECT:g} standard deviations, got {shown(value)}: "
            "give the size of the smallest effect that matters, such as 0.5"
        )
    return effect


def _listed(effects: Any) -> tuple[Any, ...]:
    if isinstance(effects, str) or not isinstance(effects, Iterable):
        raise InvalidDesign(f"effects must be a list of numbers, got {shown(effects)}: write for example [0.2, 0.5]")
    return tuple(effects)


def _power(value: Any) -> float:
    power = share("power", value, "0.8 and 0.9 are usual")
    if power > HIGHEST_POWER:
        raise InvalidDesign(f"power must be at most {HIGHEST_POWER}, got {shown(value)}: 0.8 and 0.9 are usual")
    return power


def _alpha(value: Any) -> float:
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
    return whole("target", value, 1, comparisons, "that many of the comparisons must reach the power")


def _not_simulated(target: Target) -> Target:
    """Only the number of instances is searched by simulation."""
    if target == "simulated":
        raise InvalidDesign(
            "target 'simulated' solves for the instances alone, got it with the instances given: "
            "use target 'mean', or simulate_design on the result"
        )
    return target


def _rehearsal(target: Any, dependence: Any, seed: Any, replications: Any) -> _Rehearsal | None:
    """Check how to simulate, which only the simulated target does."""
    given = {"dependence": dependence, "seed": seed, "replications": replications}
    if target != "simulated":
        for name, value in given.items():
            if value is not None:
                raise InvalidDesign(f"{name} is for target 'simulated' alone, got {shown(value)}: leave it out")
        return None
    return _Rehearsal(
        choice("dependence", dependence or "independent", get_args(Dependence), "'reference' is for all-vs-one"),
        whole("seed", 0 if seed is None else seed, 0, 2**63, "any whole number will do"),
        None if replications is None else whole("replications", replications, 2, 10**9, "10000 are plenty"),
    )
