"""Design, and the questions it answers: required_instances, achieved_power, detectable_effect, power_curve. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import hypot
from numbers import Integral
from reprlib import repr as shown
from typing import Any, get_args

from ampler.core.arrays import Floats
from ampler.core.checks import choice, finite, integer, share
from ampler.core.choices import Alternative, Target, TargetWord, Test
from ampler.core.errors import InvalidDesign
from ampler.core.notebooks import shown_in_notebook
from ampler.design.looks import Looks, check_terms, checked_shares, fewest_with_looks, looks_of
from ampler.design.powers import PlannedFamily, Simulated, Terms, power_profile
from ampler.design.simulate import Dependence
from ampler.design.solve import (
    LARGEST_EFFECT,
    MOST_INSTANCES,
    SimulatedPower,
    SimulationTerms,
    fewest_instances,
    fewest_simulated,
    smallest_effect,
)
from ampler.stats.holm import Correction, corrected_levels
from ampler.stats.paired import paired_test
from ampler.stats.power import paired_power, t_instances

MOST_COMPARISONS = 10**7  # all pairs of 4472 algorithms
HIGHEST_POWER = 1 - 1e-9  # a mean of powers is good to 1e-10, so that more could not be told from certainty
SMALLEST_ALPHA = 1e-100  # below, the quantile of t at α/K is not computed reliably


@dataclass(frozen=True, slots=True)
class Design:
    """A comparison planned for one effect: instances, comparisons, and the powers that go with them.

    `power` is the wanted one (where it was solved for, the one reached). The four powers are those of the K tests if
    every true difference equals the effect, each test at its own rank's level; `levels` and `powers` list them,
    strictest first. `simulated` is there when the target was "simulated". With `looks` the instances are the most that
    are needed, and `power` is what the looks together reach.
    """

    instances: int
    comparisons: int
    effect: float
    power: float
    alpha: float
    target: Target | Simulated
    alternative: Alternative
    test: Test
    correction: Correction
    mean_power: float
    median_power: float
    worst_power: float
    best_power: float
    simulated: SimulatedPower | None = None
    looks: Looks | None = None

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
        if self.looks is not None:
            return self.looks.power
        return self.terms.t_power(t_instances(self.instances, self.test), self.effect)

    @property
    def terms(self) -> Terms:
        """What stays fixed when one of instances, effect and power is solved for."""
        return Terms(
            PlannedFamily(self.comparisons, self.alpha, self.alternative, self.correction), self.target, self.test
        )

    _repr_html_ = shown_in_notebook

    def as_dict(self, *, profile: bool = False) -> dict[str, Any]:
        """Return the fields as JSON has them; with `profile` also `levels` and `powers` by rank."""
        ranks = {"levels": self.levels.tolist(), "powers": self.powers.tolist()} if profile else {}
        return asdict(self) | ranks

    def __str__(self) -> str:
        from ampler.design.words import design_in_words

        return design_in_words(self)


def required_instances(
    *,
    comparisons: int,
    effect: float,
    power: float = 0.8,
    alpha: float = 0.05,
    target: Target | Simulated = "mean",
    alternative: Alternative = "two-sided",
    test: Test = "t",
    correction: Correction = "holm",
    dependence: Dependence | None = None,
    seed: int | None = None,
    replications: int | None = None,
    looks: int | Sequence[float] | None = None,
) -> Design:
    """Return the design with the fewest instances whose power reaches the wanted one for an effect of this size.

    `target` says which power must reach it: the "mean" over the comparisons, the "median", the "worst", the "best",
    that of at least so many comparisons (a whole number), or the mean power of the whole procedure run for real on
    normal differences ("simulated"). Only the last takes `dependence` ("independent", the default, or "reference" when
    all comparisons share an algorithm), `seed` and `replications`. With `looks`, their number or their shares of the
    instances, the results are looked at on the way, and the instances are the most that are needed.

    >>> print(required_instances(comparisons=21, effect=0.5, power=0.8))
    57 instances: mean power 0.804 for d = 0.5 over 21 comparisons (two-sided paired t-tests, Holm, α = 0.05)
    >>> required_instances(comparisons=21, effect=0.5, target="simulated", dependence="reference").instances
    53
    >>> required_instances(comparisons=21, effect=0.5, looks=4).looks.instances
    (24, 35, 47, 58)
    """
    terms = _checked_terms(comparisons, alpha, target, alternative, test, correction)
    simulation = _checked_simulation(target, dependence, seed, replications)
    size, wanted = _checked_effect(effect), _checked_power(power)
    if looks is not None:
        return looked(terms, size, wanted, looks)
    needed = fewest_instances(terms, size, wanted)
    if simulation is None:
        return _design(terms, needed, size, wanted)
    needed, simulated = fewest_simulated(terms, simulation, needed, size, wanted)
    return _design(terms, needed, size, wanted, simulated)


def looked(
    terms: Terms,
    effect: float,
    power: float,
    looks: int | Sequence[float],
    pairs: Sequence[tuple[int, int]] | None = None,
) -> Design:
    """Return the smallest design with looks; `pairs` are who is compared, for what the looks save."""
    found = fewest_with_looks(terms, checked_shares(looks), effect, power, pairs=pairs)
    return replace(_design(terms, found.instances[-1], effect, power), looks=found)


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
    looks: int | Sequence[float] | None = None,
) -> Design:
    """Return the design with these instances; its `power` is what the target reaches for an effect of this size.

    With `looks`, as of `required_instances`, it is the power of a study that is looked at on the way.

    >>> print(achieved_power(instances=200, comparisons=7, effect=0.25))
    200 instances: mean power 0.853 for d = 0.25 over 7 comparisons (two-sided paired t-tests, Holm, α = 0.05)
    """
    terms = _checked_terms(comparisons, alpha, _not_simulated(target), alternative, test, correction)
    count, size = _checked_instances(instances), _checked_effect(effect)
    if looks is None:
        return _achieved(terms, count, size)
    check_terms(terms)
    as_t = t_instances(count, test)
    found = looks_of(terms, checked_shares(looks), as_t, size, plain=as_t, saving=False)
    return replace(_design(terms, count, size, found.power), looks=found)


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
    200 instances: mean power 0.850 for d = 0.249 over 7 comparisons (two-sided paired t-tests, Holm, α = 0.05)
    """
    terms = _checked_terms(comparisons, alpha, _not_simulated(target), alternative, test, correction)
    count, wanted = _checked_instances(instances), _checked_power(power)
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
    terms = _checked_terms(comparisons, alpha, _not_simulated(target), alternative, test, correction)
    count = _checked_instances(instances)
    return tuple(_achieved(terms, count, _checked_effect(effect)) for effect in _checked_effects(effects))


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
    profile = power_profile(terms.family, t_instances(instances, terms.test), effect)
    powers = {f"{name}_power": value for name, value in asdict(profile).items()}
    asked = asdict(terms.family) | {"target": terms.target, "test": terms.test}
    return Design(instances=instances, effect=effect, power=power, simulated=simulated, **asked, **powers)


def _achieved(terms: Terms, instances: int, effect: float) -> Design:
    """The design whose power is the one reached."""
    return _design(terms, instances, effect, terms.t_power(t_instances(instances, terms.test), effect))


# ── the terms of a design, checked once at the public door ────────────────────────────────────────────────────────────


def _checked_terms(comparisons: Any, alpha: Any, target: Any, alternative: Any, test: Any, correction: Any) -> Terms:
    """Check what stays fixed."""
    count = integer("comparisons", comparisons, 1, MOST_COMPARISONS, "n_comparisons(algorithms) counts them")
    family = PlannedFamily(
        comparisons=count,
        alpha=_alpha(alpha),
        alternative=choice("alternative", alternative, get_args(Alternative), "one side is 'less' or 'greater'"),
        correction=choice("correction", correction, get_args(Correction), "'holm' needs fewer instances"),
    )
    terms = Terms(family, _target(target, count), choice("test", test, get_args(Test), "'t' is the default"))
    _check_correction(terms)
    return terms


def _check_correction(terms: Terms) -> None:
    """A test that judges all comparisons together brings its own steps."""
    if terms.family.correction != "holm" and paired_test(terms.test).family is not None:
        raise InvalidDesign(
            f"correction {terms.family.correction!r} is for tests done one by one, got it with {terms.test!r}, which"
            " judges all comparisons together: leave it out"
        )


def _checked_instances(value: Any) -> int:
    """Check a number of instances."""
    return integer("instances", value, 2, MOST_INSTANCES, "a paired test takes two or more")


def _checked_effect(value: Any) -> float:
    """Check an effect size."""
    effect = finite("effect", value, "give mean/sd of the smallest difference that matters, such as 0.5")
    if not 0 < effect <= LARGEST_EFFECT:
        raise InvalidDesign(
            f"effect must be positive and at most {LARGEST_EFFECT:g} standard deviations, got {shown(value)}: "
            "give the size of the smallest effect that matters, such as 0.5"
        )
    return effect


def _checked_effects(effects: Any) -> tuple[Any, ...]:
    """Check that effects are many; each is checked by itself."""
    if isinstance(effects, str) or not isinstance(effects, Iterable):
        raise InvalidDesign(f"effects must be a list of numbers, got {shown(effects)}: write for example [0.2, 0.5]")
    return tuple(effects)


def _checked_power(value: Any) -> float:
    """Check a wanted power."""
    power = share("power", value, "0.8 and 0.9 are usual")
    if power > HIGHEST_POWER:
        raise InvalidDesign(f"power must be at most {HIGHEST_POWER}, got {shown(value)}: 0.8 and 0.9 are usual")
    return power


def _checked_simulation(target: Any, dependence: Any, seed: Any, replications: Any) -> SimulationTerms | None:
    """Check how to simulate, which only the simulated target does."""
    given = {"dependence": dependence, "seed": seed, "replications": replications}
    if target != "simulated":
        for name, value in given.items():
            if value is not None:
                raise InvalidDesign(f"{name} is for target 'simulated' alone, got {shown(value)}: leave it out")
        return None
    return SimulationTerms(
        choice(
            "dependence",
            "independent" if dependence is None else dependence,
            get_args(Dependence),
            "'reference' is for all-vs-one",
        ),
        integer("seed", 0 if seed is None else seed, 0, 2**63, "any whole number will do"),
        None if replications is None else integer("replications", replications, 2, 10**9, "10000 are plenty"),
    )


def _not_simulated(target: Target | Simulated) -> Target:
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


def _target(value: Any, comparisons: int) -> Target | Simulated:
    """Check a target: a word, or the number of tests that must reach the power."""
    way_out = f"or the number of tests that must reach the power, from 1 to {comparisons}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        word: Target | Simulated = choice("target", value, (*get_args(TargetWord), "simulated"), way_out)
        return word
    return integer("target", value, 1, comparisons, "that many of the comparisons must reach the power")
