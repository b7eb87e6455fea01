"""The study rule with interim analyses, at which decided comparisons stop with a controlled error rate. Pure.

It decides by the very differences that the analysis of the study tests, and by the same replay of the analyses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ampler.analysis.interim import InterimAnalyses, InterimPlan
from ampler.core.arrays import joined_runs, paired_by_index
from ampler.core.contracts import FinishedGroup
from ampler.core.errors import AnalysisWarning, InvalidData, InvalidPlan
from ampler.core.plan import Continue, EndStudy, Plan, Question, StudyDecision
from ampler.core.settings import Settings, share
from ampler.core.text import listed, parameter
from ampler.design.interim import checked_shares, instances_at
from ampler.stats.paired import SINGLE_TESTS, paired_test
from ampler.stats.sequential.boundaries import named_spending
from ampler.stats.sequential.decisions import needless
from ampler.study.run_inputs import in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Analyse the results after these shares of the instances, and stop decided comparisons.

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
        """Raise InvalidPlan if interim analyses do not support the plan."""
        check_question(plan.question, len(plan.algorithms))
        if plan.instances != in_order(plan.seed, (*plan.instances, *plan.untouched))[: len(plan.instances)]:
            raise InvalidPlan(  # in a sorted order, early analyses are not representative
                "interim analyses need the instances in the random order of the seed, got a manual order;"
                " omit the order (another seed gives another one)"
            )
        instances_at(self.shares, len(plan.instances))

    def groups(self, plan: Plan, /) -> Sequence[Sequence[str]]:
        """Return the new instances of each look."""
        names = [instance.name for instance in plan.instances]
        counts = instances_at(self.shares, len(names)) if names else ()
        return [names[start:end] for start, end in zip((0, *counts), counts, strict=False)]

    def interim_plan(
        self,
        question: Question,
        instances: int,
        continued: Sequence[Continue],
        decisions: Sequence[Continue | EndStudy] = (),
    ) -> InterimPlan:
        """Return the declared analyses for this many instances, and the algorithms `asked` at each.

        `decisions` are those on record, the first one before the first look.
        """
        return InterimPlan(
            looks=instances_at(self.shares, instances),
            alpha=question.alpha,
            spending=self.spending,
            equivalence=self.equivalence,
            effect=question.effect,
            test=question.test,
            alternative=question.alternative,
            instances=tuple(tuple(decision.instances) for decision in continued),
            algorithms=tuple(tuple(decision.algorithms) for decision in continued),
            recorded=tuple(tuple(decision.details.get("verdicts", ())) for decision in decisions[1:]),
        )

    def __call__(self, plan: Plan, finished: Sequence[FinishedGroup], /) -> StudyDecision:
        """Ask for the instances of the next look, with the algorithms that are still needed, or end the study."""
        from ampler.analysis.interim import interim_plan_text, interim_status_sentence, skewed_note

        if not plan.instances:
            return EndStudy("There are no instances.")
        groups, names = self.groups(plan), tuple(algorithm.name for algorithm in plan.algorithms)
        if not finished:
            counts = instances_at(self.shares, len(plan.instances))
            return Continue(names, tuple(groups[0]), reason=interim_plan_text(counts, plan.question.effect))
        analyses = self.analyses(plan, finished)
        pairs = [(names.index(first), names.index(second)) for first, second in analyses.pairs]
        idle = needless(pairs, analyses.history[-1])
        needed = tuple(name for index, name in enumerate(names) if index not in idle)
        reason = interim_status_sentence(analyses, [name for name in names if name not in needed])
        note = skewed_note(analyses, plan.question.difference, len(finished))
        notes = () if note is None else (note,)
        details = {  # no numbers whose rounding depends on the machine
            "look": analyses.course.done,
            "of": len(analyses.course.looks),
            "instances": analyses.course.looks[analyses.course.done - 1],
            "pairs": [list(pair) for pair in analyses.pairs],
            "verdicts": list(analyses.history[-1]),
            "decided_at": [item.look if item.verdict != "continue" else None for item in analyses.standings],
            "going": list(needed),
        }
        if analyses.ended:
            return EndStudy(reason, details, notes)
        following, last = tuple(groups[len(finished)]), len(finished) + 1 == len(groups)
        return Continue(needed, following, None, reason, details, notes, last)

    def analyses(self, plan: Plan, finished: Sequence[FinishedGroup]) -> InterimAnalyses:
        """Return the interim analyses of the groups that are finished."""
        from ampler.analysis.interim import replayed
        from ampler.study.record import record, rule_of, settings_of

        plan_record, continued = record(plan), [group.asked for group in finished]
        declared = self.interim_plan(plan.question, len(plan.instances), continued, continued)
        runs = joined_runs([group.runs for group in finished], plan_record.algorithms)
        runs = paired_by_index(runs) if plan_record.seeds == "shared" else runs
        settings, rule = Settings(**settings_of(plan_record)), rule_of(plan_record)
        return replayed(runs, declared, settings, plan_record.deterministic, rule).result


def looking(looks: int | Sequence[float] | None) -> Looking | None:
    """Return the rule for these looks; None for a single analysis at the end."""
    if looks is None:
        return None
    rule = Looking(looks=looks)
    return rule if len(rule.shares) > 1 else None


def check_question(question: Question, algorithms: int) -> None:
    """Raise InvalidPlan for a question that has no form over looks."""
    if paired_test(question.test).family is not None:
        raise InvalidPlan(
            f"interim analyses are for the tests {SINGLE_TESTS}, got test = {question.test!r};"
            " choose one of these, or omit looks"
        )
    if question.margin is not None:
        raise InvalidPlan("interim analyses test equivalence within effect and have no margin; omit margin or looks")
    if question.difference == "percent" and question.reference is None and algorithms > 2:
        raise InvalidPlan(
            "interim analyses drop algorithms, and percent differences of all pairs would change with them (they"
            " divide by the mean of all); specify a reference, use simple or ratio"
            " differences, or omit looks"
        )


DECISIVE = (
    *("difference", "reference", "test", "alternative", "alpha", "statistic", "margin", "floor", "shift", "failures"),
    *("effect", "estimate"),
)
ANYWAY = f"use ordinary tests without error control: {parameter('ignore_looks', True)}"
SHOWN = 3


def check_looks(looks: InterimPlan, planned: Settings, settings: Settings) -> None:
    """Raise InvalidData before the first interim analysis, or if its settings differ from the plan."""
    if not looks.done:
        raise InvalidData(
            f"the first interim analysis of this study is after {looks.looks[0]} instances, which are not"
            f" finished yet; resume the study, or {ANYWAY}"
        )
    if changed := [name for name in DECISIVE if getattr(planned, name) != getattr(settings, name)]:
        raise InvalidData(
            f"{listed(changed, SHOWN)} must stay as planned in a study with interim analyses, because its decisions"
            f" depend on {'it' if len(changed) == 1 else 'them'}; restore the plan, or {ANYWAY}"
        )


def without_looks(looks: InterimPlan) -> AnalysisWarning:
    """Return the heading of an analysis that ignores the interim analyses."""
    when = listed([str(look) for look in looks.looks], len(looks.looks))
    return AnalysisWarning(
        "looked",
        f"Do not report these results: interim analyses were made after {when} instances, and these tests ignore"
        " them. Too many false differences are found. Omit ignore-looks for valid tests.",
    )
