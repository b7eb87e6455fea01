"""A design in words: the question, the answer in one sentence, the powers by rank, what else would help. Pure.

The shell and the browser ask the same questions and give the same answers; neither has words of its own for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ampler.core.errors import InvalidDesign
from ampler.core.values import Alternative, Test
from ampler.core.wording import count, rounded_up
from ampler.design import Design, achieved_power, detectable_effect, n_comparisons, required_instances
from ampler.design.powers import Target
from ampler.design.simulate import Dependence
from ampler.design.simulation import simulate_design
from ampler.stats.holm import Correction
from ampler.stats.paired import paired_test
from ampler.stats.power import paired_power

Wanted = Literal["instances", "effect", "power"]

REHEARSAL = 500_000  # random numbers for one rehearsal: some hundredths of a second
MOST_REPLICATIONS = 4000  # the second decimal of the mean power is then certain to about one
FEWEST_REPLICATIONS = 100
FULL_TABLE = 30  # with more comparisons, the table shows only some of the ranks


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignQuestion:
    """What is asked: two of instances, effect and power are given, the third is wanted.

    `reference` is True when all algorithms are compared with one, False for all with all, None when only the number of
    comparisons is known. `seed` is for what is simulated.
    """

    comparisons: int
    instances: int | None = None
    effect: float | None = None
    power: float | None = None
    alpha: float = 0.05
    target: Target = "mean"
    alternative: Alternative = "two-sided"
    test: Test = "t"
    correction: Correction = "holm"
    algorithms: int | None = None
    reference: bool | None = None
    seed: int = 0

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
class Advice:
    """A sentence that may help, and what to change in the question to follow it."""

    sentence: str
    change: dict[str, Any]


def solve(question: DesignQuestion) -> Design:
    """Return the design that answers the question.

    >>> round(solve(DesignQuestion(comparisons=7, instances=200, effect=0.25)).power, 3)
    0.853
    """
    names = ("comparisons", "alpha", "target", "alternative", "test", "correction")
    family: dict[str, Any] = {name: getattr(question, name) for name in names}
    solvers: dict[Wanted, Any] = {
        "instances": required_instances,
        "effect": detectable_effect,
        "power": achieved_power,
    }
    given: dict[str, Any] = {name: getattr(question, name) for name in solvers if name != question.wanted}
    if question.target == "simulated" and question.wanted == "instances":
        given |= {"dependence": question.dependence, "seed": question.seed}
    answer: Design = solvers[question.wanted](**given, **family)
    return answer


def headline(question: DesignQuestion, design: Design) -> str:
    """Say the answer in one sentence.

    >>> question = DesignQuestion(comparisons=21, effect=0.5, power=0.8)
    >>> headline(question, solve(question))
    '57 instances: mean power 0.804 for d = 0.5 over 21 comparisons (two-sided paired t-tests, Holm, α = 0.05).'
    """
    promise, family = _promise(design), f"over {count(design.comparisons, 'comparison')} ({_procedure(design)})"
    match question.wanted:
        case "instances":
            return f"{design.instances:,} instances: {promise} for d = {design.effect:.4g} {family}."
        case "effect":
            least = rounded_up(design.effect, 3)
            return f"d = {least} is detectable: {promise} with {design.instances:,} instances {family}."
        case "power":
            begin = promise[0].upper() + promise[1:]
            return f"{begin} for d = {design.effect:.4g} with {design.instances:,} instances {family}."


def rank_rows(design: Design, *, most: int = FULL_TABLE) -> list[RankRow]:
    """Return the tests by rank, strictest first; if there are very many, the first, the last and some between.

    >>> design = required_instances(comparisons=3, effect=0.5, power=0.8)
    >>> [(row.rank, round(row.power, 3)) for row in rank_rows(design)]
    [(1, 0.743), (2, 0.793), (3, 0.869)]
    """
    ranks = _shown_ranks(design.comparisons, most)
    levels = _levels(design, ranks)
    powers = paired_power(design.instances, design.effect, levels, test=design.test, alternative=design.alternative)
    columns = (ranks.tolist(), levels.tolist(), powers.tolist())
    return [RankRow(rank, level, power) for rank, level, power in zip(*columns, strict=True)]


def advice(question: DesignQuestion, design: Design) -> Iterator[Advice]:
    """Yield what would need fewer instances, and what the answer leaves open."""
    other: dict[str, Any]
    if question.reference and question.alternative == "two-sided":
        other = {"alternative": "greater"}
        yield Advice(
            f"If only one direction matters, one-sided tests would {_instead(question, design, other)}.", other
        )
    if question.reference is False and question.algorithms is not None:
        other = {"reference": True, "comparisons": n_comparisons(question.algorithms, reference=True)}
        yield Advice(f"All algorithms against one reference would {_instead(question, design, other)}.", other)
    if question.correction == "bonferroni" and design.comparisons > 1:
        other = {"correction": "holm"}
        yield Advice(f"Holm's procedure, as sound as Bonferroni's, would {_instead(question, design, other)}.", other)
    elif question.target != "worst" and design.comparisons > 1:
        yield _worst_case(question, design)


def with_available(question: DesignQuestion, available: int) -> str:
    """Say what the instances that exist can detect.

    >>> with_available(DesignQuestion(comparisons=21, effect=0.5, power=0.8), 40)
    'With the 40 instances you have, d = 0.61 is detectable with mean power 0.8; for d = 0.5 it is 0.596.'
    """
    question = _by_convention(question)
    detectable = detectable_with(question, available)
    reached = solve(replace(question, instances=available, power=None))
    begin = f"With the {available:,} instances you have, d = {rounded_up(detectable.effect, 2)} is detectable with"
    rest = f"for d = {reached.effect:.4g} it is {reached.power:.3f}"
    return f"{begin} {_target_name(question.target)} {question.power:.4g}; {rest}."


def detectable_with(question: DesignQuestion, available: int) -> Design:
    """Return the design that so many instances allow: its effect is the smallest they can detect."""
    return solve(replace(_by_convention(question), instances=available, effect=None))


def rehearsed(question: DesignQuestion, design: Design) -> str | None:
    """Say which mean power Holm's procedure has when it is run, all or half of the differences being real.

    None for a single comparison, which has no family to step through, and for families too large to simulate at once.
    """
    K, work = design.comparisons, design.comparisons * (2 if paired_test(design.test).by_moments else design.instances)
    replications = min(MOST_REPLICATIONS, REHEARSAL // work)
    if K == 1 or replications < FEWEST_REPLICATIONS:
        return None

    def mean_power(null: int) -> float:
        check = simulate_design(
            design, null=null, dependence=question.dependence, replications=replications, rng=question.seed
        )
        return float(check.mean_power or 0.0)

    correction, real = design.correction.capitalize(), K - K // 2
    return (
        f"Run for real on simulated differences, {correction}'s mean power is {mean_power(0):.2f} when all {K:,} "
        f"differences are real and {mean_power(K - real):.2f} when {real:,} of them {'is' if real == 1 else 'are'}."
    )


def _by_convention(question: DesignQuestion) -> DesignQuestion:
    """The same question for the mean of the marginal powers, where a simulated search has no answer."""
    return replace(question, target="mean") if question.target == "simulated" else question


def _promise(design: Design) -> str:
    """The power reached, in the words of the target."""
    if design.comparisons == 1:
        return f"power {design.reached:.3f}"
    if isinstance(design.target, int):
        return f"power {design.reached:.3f} or more in {design.target:,} of the comparisons"
    return f"{_target_name(design.target)} {design.reached:.3f}"


def _target_name(target: Target) -> str:
    if isinstance(target, int):
        return f"power in {target:,} of the comparisons"
    return "simulated mean power" if target == "simulated" else f"{target} power"


def _procedure(design: Design) -> str:
    sides = "two-sided" if design.alternative == "two-sided" else "one-sided"
    test = paired_test(design.test)
    name = test.plural if design.comparisons > 1 else test.words
    correction = f", {design.correction.capitalize()}" if design.comparisons > 1 else ""
    return f"{sides} {name}{correction}, α = {design.alpha:.4g}"


def _shown_ranks(comparisons: int, most: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """All ranks; or the first three, the last three, and some between that are ever closer to the last."""
    if comparisons <= most:
        return np.arange(1, comparisons + 1)
    # the level of rank r is α/(K − r + 1): equal steps of log(K − r + 1) give powers of all sizes
    between = comparisons + 1 - np.geomspace(comparisons, 1, 12).round().astype(np.int64)
    ends = [1, 2, 3, comparisons - 2, comparisons - 1, comparisons]
    return np.unique(np.concatenate([between, ends]))


def _levels(design: Design, ranks: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    if design.correction == "bonferroni":
        return np.full(len(ranks), design.alpha / design.comparisons)
    return design.alpha / (design.comparisons - ranks + 1)


def _instead(question: DesignQuestion, design: Design, change: dict[str, Any]) -> str:
    """Say what the changed question's answer is instead of the design's."""
    other = solve(replace(question, **change))
    match question.wanted:
        case "instances":
            return f"need {other.instances:,} instances instead of {design.instances:,}"
        case "effect":
            return f"detect d = {rounded_up(other.effect, 3)} instead of {rounded_up(design.effect, 3)}"
        case "power":
            return f"reach {_target_name(question.target)} {other.power:.3f} instead of {design.power:.3f}"


def _worst_case(question: DesignQuestion, design: Design) -> Advice:
    change: dict[str, Any] = {"target": "worst"}
    begin = f"The strictest of the {design.comparisons:,} tests has power {design.worst_power:.3f}"
    other = solve(replace(question, **change))
    match question.wanted:
        case "instances":
            return Advice(f"{begin}; {other.instances:,} instances would give it {question.power:.4g}.", change)
        case "effect":
            return Advice(f"{begin}; it has {question.power:.4g} from d = {rounded_up(other.effect, 3)} on.", change)
        case "power":
            return Advice(f"{begin}.", change)
