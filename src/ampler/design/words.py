"""A design in words: the ask, the answer in one sentence, the powers by rank, what else would help. Pure.

The shell and the browser ask the same questions and give the same answers; neither has words of its own for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ampler.core.choices import Alternative, Target, Test
from ampler.core.errors import InvalidDesign
from ampler.core.wording import count, listed, rounded_up
from ampler.design import Design, achieved_power, detectable_effect, n_comparisons, required_instances
from ampler.design.looks import Expectation, Looks, all_pairs, saving_of
from ampler.design.noise import powers_left
from ampler.design.powers import Simulated
from ampler.design.simulate import Dependence, scenario_of, simulate_design
from ampler.stats.holm import Correction, divided_levels
from ampler.stats.paired import paired_test
from ampler.stats.power import paired_power, t_instances

Wanted = Literal["instances", "effect", "power"]

SIMULATION_WORK = 500_000  # random numbers for one simulation: some hundredths of a second
RESAMPLED = 15  # times as much for tests whose power no formula gives: about a second
MOST_REPLICATIONS = 4000  # the second decimal of the mean power is then certain to about one
FEWEST_REPLICATIONS = 100
FULL_TABLE = 30  # with more comparisons, the table shows only some of the ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked: two of instances, effect and power are given, the third is wanted.

    `reference` is True when all algorithms are compared with one, False for all with all, None when only the number of
    comparisons is known. `seed` is for what is simulated.
    """

    comparisons: int
    instances: int | None = None
    effect: float | None = None
    power: float | None = None
    alpha: float = 0.05
    target: Target | Simulated = "mean"
    alternative: Alternative = "two-sided"
    test: Test = "t"
    correction: Correction = "holm"
    algorithms: int | None = None
    reference: bool | None = None
    seed: int = 0
    looks: int | tuple[float, ...] | None = None

    @property
    def dependence(self) -> Dependence:
        """How the comparisons hang together when they are simulated."""
        return "reference" if self.reference else "independent"

    @property
    def wanted(self) -> Wanted:
        """Which of the three is to be solved for."""
        match self.instances, self.effect, self.power:
            case (None, effect, power) if effect is not None and power is not None:
                return "instances"
            case (instances, None, power) if instances is not None and power is not None:
                return "effect"
            case (instances, effect, None) if instances is not None and effect is not None:
                return "power"
        raise InvalidDesign(
            "give two of instances, effect and power, and the third is solved for; got "
            f"instances = {self.instances}, effect = {self.effect}, power = {self.power}"
        )


@dataclass(frozen=True, slots=True)
class RankRow:
    """The level and the power of one test, by the rank of its p-value."""

    rank: int
    level: float
    power: float


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence that may help, and what to change in the question to follow it."""

    sentence: str
    change: dict[str, Any]


def answer_to(ask: Ask) -> Design:
    """Return the design that answers the question.

    >>> round(answer_to(Ask(comparisons=7, instances=200, effect=0.25)).power, 3)
    0.853
    """
    names = ("comparisons", "alpha", "target", "alternative", "test", "correction")
    family: dict[str, Any] = {name: getattr(ask, name) for name in names}
    solvers: dict[Wanted, Any] = {
        "instances": required_instances,
        "effect": detectable_effect,
        "power": achieved_power,
    }
    given: dict[str, Any] = {name: getattr(ask, name) for name in solvers if name != ask.wanted}
    if ask.looks is not None:
        return answer_with_looks(ask, given, family)
    if ask.target == "simulated" and ask.wanted == "instances":
        given |= {"dependence": ask.dependence, "seed": ask.seed}
    solved: Design = solvers[ask.wanted](**given, **family)
    return solved


def answer_with_looks(ask: Ask, given: dict[str, Any], family: dict[str, Any]) -> Design:
    """Return the design with looks; what they save is that of the algorithms as they are compared."""
    if ask.wanted != "instances":
        raise InvalidDesign(f"looks are planned when the instances are asked for, got the question for {ask.wanted}")
    design = required_instances(**given, **family, looks=ask.looks)
    if ask.reference is not False or ask.algorithms is None or design.looks is None:
        return design
    return replace(design, looks=saving_of(design.looks, design.terms, design.effect, all_pairs(ask.algorithms)))


def answer_sentence(ask: Ask, design: Design) -> str:
    """Say the answer in one sentence.

    >>> ask = Ask(comparisons=7, instances=200, effect=0.25)
    >>> answer_sentence(ask, answer_to(ask))
    'Mean power 0.853 for d = 0.25 with 200 instances over 7 comparisons (two-sided paired t-tests, Holm, α = 0.05).'
    """
    promise = _promise(design)
    match ask.wanted:
        case "instances":
            sentence = design_in_words(design)
            return f"{sentence[0].upper()}{sentence[1:]}."
        case "effect":
            least = rounded_up(design.effect, 3)
            return f"d = {least} is detectable: {promise} with {design.instances:,} instances {_family(design)}."
        case "power":
            begin = promise[0].upper() + promise[1:]
            return f"{begin} for d = {design.effect:.4g} with {design.instances:,} instances {_family(design)}."


def design_in_words(design: Design) -> str:
    """Say what a design needs and gives, without a full stop.

    >>> design_in_words(required_instances(comparisons=21, effect=0.5, power=0.8))
    '57 instances: mean power 0.804 for d = 0.5 over 21 comparisons (two-sided paired t-tests, Holm, α = 0.05)'
    """
    promise = f"{_promise(design)} for d = {design.effect:.4g} {_family(design)}"
    if design.looks is not None:
        looks = design.looks
        return (
            f"at most {looks.instances[-1]:,} instances ({looks.without:,} without looks), decisions after"
            f" {listed(map(str, looks.instances), len(looks.instances))}: {promise}"
        )
    return f"{design.instances:,} instances: {promise}"


def rank_rows(design: Design, *, most: int = FULL_TABLE) -> list[RankRow]:
    """Return the tests by rank, strictest first; if there are very many, the first, the last and some between.

    There are none where a test judges all comparisons together.

    >>> design = required_instances(comparisons=3, effect=0.5, power=0.8)
    >>> [(row.rank, round(row.power, 3)) for row in rank_rows(design)]
    [(1, 0.743), (2, 0.793), (3, 0.869)]
    """
    if not _has_ranks(design):
        return []
    ranks = _shown_ranks(design.comparisons, most)
    levels = divided_levels(design.comparisons + 1 - ranks, design.comparisons, design.alpha, design.correction)
    powers = paired_power(design.instances, design.effect, levels, test=design.test, alternative=design.alternative)
    columns = (ranks.tolist(), levels.tolist(), powers.tolist())
    return [RankRow(rank, level, power) for rank, level, power in zip(*columns, strict=True)]


def look_rows(looks: Looks) -> list[tuple[int, int, float]]:
    """Return the looks: number, instances, and the share of true differences found by then.

    >>> found = required_instances(comparisons=7, effect=0.5, looks=2)
    >>> [(number, instances) for number, instances, _ in look_rows(found.looks)]
    [(1, 24), (2, 47)]
    """
    return [(look, *row) for look, row in enumerate(zip(looks.instances, looks.found, strict=True), start=1)]


def looks_sentences(design: Design) -> list[str]:
    """Say what looks cost and save, and what they leave to be minded; nothing for a design without them."""
    if design.looks is None:
        return []
    looks = design.looks
    more = looks.instances[-1] - looks.without
    price = f"The looks cost {count(more, 'instance')} at the most" if more > 0 else "The looks cost no instance"
    expected = "; ".join(map(_expectation, looks.expected))
    saved = f" On average, beside the runs of a design without looks: {expected}." if expected else ""
    skewed = (
        "Strongly skewed differences make t-tests err, and looks sharpen that: mind what is said of skewness at each."
        " Estimates of comparisons that stop early are a little too large."
    )
    return [f"{price}.{saved}", skewed]


def _expectation(each: Expectation) -> str:
    there = {"nothing": "no difference is there", "half": "half of them are", "all": "all are"}[each.there]
    return f"{each.instances:.0f} instances and {100 * each.runs:.0f} % of the runs if {there}"


def hints(ask: Ask, design: Design) -> Iterator[Hint]:
    """Yield what would need fewer instances, and what the answer leaves open."""
    other: dict[str, Any]
    if ask.reference and ask.alternative == "two-sided":
        other = {"alternative": "greater"}
        yield Hint(f"If only one direction matters, one-sided tests would {_instead(ask, design, other)}.", other)
    if ask.reference is False and ask.algorithms is not None:
        other = {"reference": True, "comparisons": n_comparisons(ask.algorithms, reference=True)}
        yield Hint(f"All algorithms against one reference would {_instead(ask, design, other)}.", other)
    if ask.correction == "bonferroni" and design.comparisons > 1:
        other = {"correction": "holm"}
        yield Hint(f"Holm's procedure, as sound as Bonferroni's, would {_instead(ask, design, other)}.", other)
    elif ask.target != "worst" and design.comparisons > 1 and _has_ranks(design):
        yield _worst_case(ask, design)


def with_available(ask: Ask, available: int) -> str:
    """Say what the instances that exist can detect.

    >>> with_available(Ask(comparisons=21, effect=0.5, power=0.8), 40)
    'With the 40 instances you have, d = 0.61 is detectable with mean power 0.8; for d = 0.5 it is 0.596.'
    """
    ask = _by_convention(ask)
    detectable = detectable_with(ask, available)
    reached = answer_to(replace(ask, instances=available, power=None))
    begin = f"With the {available:,} instances you have, d = {rounded_up(detectable.effect, 2)} is detectable with"
    rest = f"for d = {reached.effect:.4g} it is {reached.power:.3f}"
    return f"{begin} {_target_name(ask.target)} {ask.power:.4g}; {rest}."


def detectable_with(ask: Ask, available: int) -> Design:
    """Return the design that so many instances allow: its effect is the smallest they can detect."""
    return answer_to(replace(_by_convention(ask), instances=available, effect=None))


def simulated_sentence(ask: Ask, design: Design) -> str | None:
    """Say which mean power Holm's procedure has when it is run, all or half of the differences being real.

    None for a single comparison, which has no family to step through, and for families too large to simulate at once.
    """
    K, work = design.comparisons, scenario_of(design.terms, design.instances, design.effect).work
    replications = min(MOST_REPLICATIONS, SIMULATION_WORK * (1 if _has_ranks(design) else RESAMPLED) // work)
    if K == 1 or replications < FEWEST_REPLICATIONS:
        return None

    def mean_power(null: int) -> float:
        check = simulate_design(design, null=null, dependence=ask.dependence, replications=replications, rng=ask.seed)
        return float(check.mean_power or 0.0)

    real = K - K // 2
    whose = f"{_steps(design)}'s" if _has_ranks(design) else "the step-down's"
    return (
        f"Run for real on simulated differences, {whose} mean power is {mean_power(0):.2f} when all {K:,} "
        f"differences are real and {mean_power(K - real):.2f} when {real:,} of them {'is' if real == 1 else 'are'}."
    )


def borrowed_sentence(design: Design) -> str | None:
    """Say whose powers these are, where a test that judges all comparisons together has none by rank.

    >>> print(borrowed_sentence(required_instances(comparisons=3, effect=0.5, test="bootstrap-t")))
    Bootstrap-t tests are judged together and have no levels by rank: the powers are those of paired t-tests under \
Holm on 40 instances, as measured for normal differences. The target simulated runs the tests themselves.
    >>> borrowed_sentence(required_instances(comparisons=3, effect=0.5)) is None
    True
    """
    test = paired_test(design.test)
    if _has_ranks(design) or design.target == "simulated":
        return None
    name, few = test.plural, t_instances(design.instances, design.test)
    return (
        f"{name[0].upper()}{name[1:]} are judged together and have no levels by rank: the powers are those of"
        f" {paired_test('t').plural} under Holm on {few:,} instances, as measured for normal differences. The target"
        " simulated runs the tests themselves."
    )


def noise_sentence(design: Design, se: float | None = None) -> str:
    """Say that the power allows for the noise of runs, and what is left of it if d did not; with `se`, in its unit.

    >>> noise_sentence(required_instances(comparisons=1, effect=0.5, power=0.8))
    'The noise of runs is part of d, which is in standard deviations of the measured differences. If yours is in \
standard deviations between instances, the power left is 0.77 when se is a third of one (10 % of the variance is \
noise), 0.72 when it is half of one (20 %), 0.52 when it is one (50 %).'
    """
    third, half, whole = powers_left(design)
    places = ("se is a third of one", "it is half of one", "it is one")
    if se is not None:
        places = (f"one is {3 * se:.4g}, three times se", f"it is {2 * se:.4g}", f"it is {se:.4g}")
    return (
        "The noise of runs is part of d, which is in standard deviations of the measured differences. If yours is in"
        f" standard deviations between instances, the power left is {third.power:.2f} when {places[0]}"
        f" ({100 * third.share:.0f} % of the variance is noise), {half.power:.2f} when {places[1]}"
        f" ({100 * half.share:.0f} %), {whole.power:.2f} when {places[2]} ({100 * whole.share:.0f} %)."
    )


def _by_convention(ask: Ask) -> Ask:
    """The same question without looks, and for the mean of the marginal powers where a simulated search has none."""
    plain = replace(ask, looks=None)
    return replace(plain, target="mean") if ask.target == "simulated" else plain


def _promise(design: Design) -> str:
    """The power reached, in the words of the target."""
    reached = _rounded(design.reached)
    if design.comparisons == 1:
        return f"power {reached}"
    if isinstance(design.target, int):
        return f"power {reached} or more in {design.target:,} of the comparisons"
    return f"{_target_name(design.target)} {reached}"


def _rounded(power: float) -> str:
    """Three decimals, but never certainty that is not there."""
    return "above 0.999" if power > 0.9995 else f"{power:.3f}"


def _target_name(target: Target | Simulated) -> str:
    if isinstance(target, int):
        return f"power in {target:,} of the comparisons"
    return "simulated mean power" if target == "simulated" else f"{target} power"


def _family(design: Design) -> str:
    """What is compared, and by which tests."""
    shared = design.simulated is not None and design.simulated.dependence == "reference"
    how = " with a shared reference" if shared else ""
    return f"over {count(design.comparisons, 'comparison')}{how} ({_procedure(design)})"


def _procedure(design: Design) -> str:
    sides = "two-sided" if design.alternative == "two-sided" else "one-sided"
    test = paired_test(design.test)
    name = test.plural if design.comparisons > 1 else test.words
    correction = f", {_steps(design)}" if design.comparisons > 1 else ""
    return f"{sides} {name}{correction}, α = {design.alpha:.4g}"


def _steps(design: Design) -> str:
    """What holds the tests together, by name."""
    return design.correction.capitalize() if _has_ranks(design) else paired_test(design.test).procedure.name


def _has_ranks(design: Design) -> bool:
    """Whether its tests are done one by one, each at the level of its rank."""
    return paired_test(design.test).family is None


def _shown_ranks(comparisons: int, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """All ranks; or the first three, the last three, and some between that are ever closer to the last."""
    if comparisons <= most:
        return np.arange(1, comparisons + 1)
    # the level of rank r is α/(K − r + 1): equal steps of log(K − r + 1) give powers of all sizes
    between = comparisons + 1 - np.geomspace(comparisons, 1, 12).round().astype(np.int64)
    ends = [1, 2, 3, comparisons - 2, comparisons - 1, comparisons]
    return np.unique(np.concatenate([between, ends]))


def _instead(ask: Ask, design: Design, change: dict[str, Any]) -> str:
    """Say what the changed question's answer is instead of the design's."""
    other = answer_to(replace(ask, **change))
    match ask.wanted:
        case "instances":
            return f"need {other.instances:,} instances instead of {design.instances:,}"
        case "effect":
            return f"detect d = {rounded_up(other.effect, 3)} instead of {rounded_up(design.effect, 3)}"
        case "power":
            return f"reach {_target_name(ask.target)} {other.power:.3f} instead of {design.power:.3f}"


def _worst_case(ask: Ask, design: Design) -> Hint:
    change: dict[str, Any] = {"target": "worst"}
    begin = f"The strictest of the {design.comparisons:,} tests has power {design.worst_power:.3f}"
    other = answer_to(replace(ask, **change))
    match ask.wanted:
        case "instances":
            return Hint(f"{begin}; {other.instances:,} instances would give it {ask.power:.4g}.", change)
        case "effect":
            return Hint(f"{begin}; it has {ask.power:.4g} from d = {rounded_up(other.effect, 3)} on.", change)
        case "power":
            return Hint(f"{begin}.", change)
