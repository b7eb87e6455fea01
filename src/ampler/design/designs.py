"""The questions a design answers: required_instances, achieved_power, detectable_effect, power_curve. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import hypot
from reprlib import repr as shown
from typing import Any

from ampler.core.arrays import Floats
from ampler.core.checks import finite, integer
from ampler.core.errors import InvalidDesign
from ampler.core.values import Alternative, Test
from ampler.design.powers import Family, Target, power_profile, target_power
from ampler.design.simulate import Dependence
from ampler.design.solve import SimulatedPower, fewest_instances, fewest_rehearsed, smallest_effect
from ampler.design.terms import (
    MOST_INSTANCES,
    Terms,
    checked_effect,
    checked_effects,
    checked_instances,
    checked_power,
    checked_rehearsal,
    checked_terms,
    not_simulated,
)
from ampler.stats.holm import Correction, corrected_levels
from ampler.stats.paired import paired_test
from ampler.stats.power import paired_power, t_instances


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
    terms = checked_terms(comparisons, alpha, target, alternative, test, correction)
    rehearsal = checked_rehearsal(target, dependence, seed, replications)
    size, wanted = checked_effect(effect), checked_power(power)
    needed = fewest_instances(terms, size, wanted)
    if rehearsal is None:
        return _design(terms, needed, size, wanted)
    needed, simulated = fewest_rehearsed(terms, rehearsal, needed, size, wanted)
    return _design(terms, needed, size, wanted, simulated)


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
    terms = checked_terms(comparisons, alpha, not_simulated(target), alternative, test, correction)
    return _achieved(terms, checked_instances(instances), checked_effect(effect))


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
    terms = checked_terms(comparisons, alpha, not_simulated(target), alternative, test, correction)
    count, wanted = checked_instances(instances), checked_power(power)
    return _design(terms, count, smallest_effect(terms, count, wanted), wanted)


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
    terms = checked_terms(comparisons, alpha, not_simulated(target), alternative, test, correction)
    count = checked_instances(instances)
    return tuple(_achieved(terms, count, checked_effect(effect)) for effect in checked_effects(effects))


def n_comparisons(algorithms: int, reference: bool = False) -> int:
    """Return how many pairs are compared: A − 1 with a reference (all-vs-one), A·(A − 1)/2 without (all-vs-all).

    >>> n_comparisons(22, reference=True), n_comparisons(22, reference=False)
    (21, 231)
    """
    count = integer("algorithms", algorithms, 2, MOST_INSTANCES, "a comparison takes two")
    return count - 1 if reference else count * (count - 1) // 2


def effect_from(difference: float, sd: float, *, se: float = 0.0) -> float:
    """Return the standardised effect of a raw difference that is just worth detecting.

    `sd` is the standard deviation of the true differences over instances, `se` the standard error with which each of
    them is measured. Tests see the measured ones, whose variance is sd² + se²: the noise of the runs counts.

    >>> effect_from(2.0, 4.0), effect_from(2.0, 4.0, se=3.0)
    (0.5, 0.4)
    """
    size = abs(finite("difference", difference, "give the smallest that matters"))
    spread = finite("sd", sd, "estimate it from a pilot or from earlier studies")
    noise = finite("se", se, "give the standard error of one instance's difference, or 0")
    if size == 0:
        raise InvalidDesign(f"difference must not be zero, got {shown(difference)}: give the smallest that matters")
    if spread <= 0:
        raise InvalidDesign(f"sd must be positive, got {shown(sd)}: estimate it from a pilot or from earlier studies")
    if noise < 0:
        raise InvalidDesign(f"se must not be negative, got {shown(se)}: give one difference's standard error, or 0")
    return size / hypot(spread, noise)


def _design(
    terms: Terms, instances: int, effect: float, power: float, simulated: SimulatedPower | None = None
) -> Design:
    """Fill in the powers that go with the numbers."""
    family = terms.family
    profile = power_profile(family, t_instances(instances, terms.test), effect)
    return Design(
        instances=instances,
        comparisons=family.comparisons,
        effect=effect,
        power=power,
        alpha=family.alpha,
        target=terms.target,
        alternative=family.alternative,
        test=terms.test,
        correction=family.correction,
        mean_power=profile.mean,
        median_power=profile.median,
        worst_power=profile.worst,
        best_power=profile.best,
        simulated=simulated,
    )


def _achieved(terms: Terms, instances: int, effect: float) -> Design:
    """The design whose power is the one reached."""
    return _design(terms, instances, effect, terms.t_power(t_instances(instances, terms.test), effect))


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
    return f"{sides} {paired_test(design.test).plural}, {design.correction.capitalize()}, alpha = {design.alpha:.4g}"


def _rounded(power: float) -> str:
    """Three decimals, but never certainty that is not there."""
    return "above 0.999" if power > 0.9995 else f"{power:.3f}"
