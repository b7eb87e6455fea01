"""The study rule that is looked at on the way: after each look what is decided stops, with the error rate kept. Pure.

It decides by the very differences that the analysis of the study tests, and by the same replay of the looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ampler.core.checks import share
from ampler.core.contracts import FinishedGroup
from ampler.core.errors import InvalidPlan
from ampler.core.runs import joined_runs
from ampler.core.settings import AnalysisSettings
from ampler.core.values import Continue, EndStudy, Plan, Question, StudyDecision
from ampler.design.looks import checked_shares, instances_at
from ampler.stats.sequential import named_spending, needless
from ampler.study.seeds import in_order

if TYPE_CHECKING:
    from ampler.analysis.looked import LookCourse, Looked

TESTS = ("t", "wilcoxon", "sign")


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Look at the results after these shares of the instances, and stop what is decided.

    `looks` are the shares, rising to 1, or their number. `spending` says how much of alpha each look may use up, and
    `equivalence` is the chance, for each comparison, of calling a difference as large as the effect irrelevant.
    """

    looks: int | Sequence[float]
    spending: str = "OF"
    equivalence: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "looks", checked_shares(self.looks))
        named_spending(self.spending)
        share("equivalence", self.equivalence, "0.05 is usual")

    @property
    def shares(self) -> tuple[float, ...]:
        """The looks as shares of all instances."""
        return checked_shares(self.looks)

    def check(self, plan: Plan, /) -> None:
        """Raise InvalidPlan if a plan asks for what looks cannot do."""
        check_question(plan.question, len(plan.algorithms))
        check_order(plan)
        self._counts(len(plan.instances))

    def groups(self, plan: Plan, /) -> Sequence[Sequence[str]]:
        """Return the new instances of each look."""
        names = [instance.name for instance in plan.instances]
        counts = self._counts(len(names)) if names else ()
        return [names[start:end] for start, end in zip((0, *counts), counts, strict=False)]

    def course(
        self,
        question: Question,
        instances: int,
        groups: Sequence[Sequence[str]],
        algorithms: Sequence[Sequence[str]],
        decisions: Sequence[Continue | EndStudy] = (),
    ) -> LookCourse:
        """Return what is declared for so many instances, and how far it came: who was run on which, look by look.

        `decisions` are those on record, the first one before the first look.
        """
        from ampler.analysis.looked import LookCourse

        return LookCourse(
            looks=self._counts(instances),
            alpha=question.alpha,
            spending=self.spending,
            equivalence=self.equivalence,
            effect=question.effect,
            test=question.test,
            alternative=question.alternative,
            instances=tuple(tuple(group) for group in groups),
            algorithms=tuple(tuple(names) for names in algorithms),
            recorded=tuple(tuple(each.details.get("verdicts", ())) for each in decisions[1:]),
        )

    def __call__(self, plan: Plan, finished: Sequence[FinishedGroup], /) -> StudyDecision:
        """Ask for the instances of the next look, with the algorithms that are still needed, or end the study."""
        from ampler.analysis.look_words import after_look, before_looks, skewed_note

        if not plan.instances:
            return EndStudy("There are no instances.")
        groups, names = self.groups(plan), tuple(algorithm.name for algorithm in plan.algorithms)
        if not finished:
            said = before_looks(self._counts(len(plan.instances)), plan.question.effect)
            return Continue(names, tuple(groups[0]), reason=said)
        looked = self._looked(plan, finished)
        going = _needed(looked, names)
        said = after_look(looked, [name for name in names if name not in going])
        note = skewed_note(looked, plan.question.difference, len(finished))
        notes = () if note is None else (note,)
        if looked.ended:
            return EndStudy(said, _details(looked, going), notes)
        following = tuple(groups[len(finished)])
        last = len(finished) + 1 == len(groups)
        return Continue(going, following, None, said, _details(looked, going), notes, last)

    def _looked(self, plan: Plan, finished: Sequence[FinishedGroup]) -> Looked:
        from ampler.analysis.looked import replayed
        from ampler.study.asked import rule_of, settings_of
        from ampler.study.record import record

        kept = record(plan)
        asked = [group.asked for group in finished]
        course = self.course(
            plan.question,
            len(plan.instances),
            [each.instances for each in asked],
            [each.algorithms for each in asked],
            asked,
        )
        runs = joined_runs([group.runs for group in finished], kept.algorithms)
        return replayed(runs, course, AnalysisSettings(**settings_of(kept)), kept.deterministic, rule_of(kept)).looked

    def _counts(self, instances: int) -> tuple[int, ...]:
        return instances_at(self.shares, instances)


def looking(looks: int | Sequence[float] | None) -> Looking | None:
    """Return the rule for these looks; None where there is one look or none, at all instances: a study as ever."""
    if looks is None:
        return None
    rule = Looking(looks=looks)
    return rule if len(rule.shares) > 1 else None


def check_question(question: Question, algorithms: int) -> None:
    """Raise InvalidPlan for a question that has no form over looks."""
    if question.test not in TESTS:
        raise InvalidPlan(
            f"looks are for the tests t, wilcoxon and sign, got test = {question.test!r}, which has no boundaries over"
            " looks; choose one of them, or leave looks out"
        )
    if question.margin is not None:
        raise InvalidPlan(
            "margin has no tests over looks, which say themselves whose difference is smaller than effect; leave margin"
            " out, or looks"
        )
    if question.difference == "percent" and question.reference is None and algorithms > 2:
        raise InvalidPlan(
            "looks drop algorithms that are decided, but percent differences of all with all divide by the mean of all"
            " of them, so that dropping one would change the others; name a reference, use simple or ratio"
            " differences, or leave looks out"
        )


def check_order(plan: Plan) -> None:
    """Raise InvalidPlan unless the instances stand in the order of the seed: a sorted one makes early looks special."""
    everything = in_order(plan.seed, (*plan.instances, *plan.untouched))
    if plan.instances != everything[: len(plan.instances)]:
        raise InvalidPlan(
            "looks need the instances in the random order of the seed, got an order made by hand, in which the first"
            " need not be like the others; leave the order to the plan (another seed gives another one)"
        )


def _needed(looked: Looked, names: Sequence[str]) -> tuple[str, ...]:
    """The algorithms of comparisons that go on."""
    places = {name: place for place, name in enumerate(names)}
    pairs = [(places[first], places[second]) for first, second in looked.pairs]
    idle = needless(pairs, looked.history[-1])
    return tuple(name for place, name in enumerate(names) if place not in idle)


def _details(looked: Looked, going: Sequence[str]) -> dict[str, object]:
    """What the study file keeps of a look besides its words; no numbers that another machine might round otherwise."""
    return {
        "look": looked.course.done,
        "of": len(looked.course.looks),
        "instances": looked.course.looks[looked.course.done - 1],
        "pairs": [list(pair) for pair in looked.pairs],
        "verdicts": list(looked.history[-1]),
        "decided_at": [each.look if each.verdict != "continue" else None for each in looked.standings],
        "going": list(going),
    }
