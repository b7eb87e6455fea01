"""Decisions over instances: the continuing instances and algorithms, and the end of the study. Pure.

The rule for one instance says how many runs it needs; a study rule says which instances are run at all. It is asked
when a group of instances that it has declared is finished, and asked again from the beginning when a study is resumed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from ampler.core.arrays import Samples
from ampler.core.contracts import CheckingStudyRule, FinishedGroup, Rule, StudyRule, narrowed
from ampler.core.errors import InvalidRule
from ampler.core.plan import Continue, Decision, DecisionRecord, EndStudy, Plan, PlanRecord, Sample, Stop, StudyDecision
from ampler.core.runs import Finished
from ampler.core.serialization import digest, record_data


@dataclass(frozen=True, slots=True)
class AllInstances:
    """The simplest study rule: run all algorithms on all instances as one group, then end the study."""

    def groups(self, plan: Plan, /) -> Sequence[Sequence[str]]:
        """Return all instances as one group; the part of a study may have none."""
        return (_instances(plan),) if plan.instances else ()

    def __call__(self, plan: Plan, finished: Sequence[FinishedGroup], /) -> StudyDecision:
        """Ask for everything, once."""
        if finished or not plan.instances:
            return EndStudy("all instances are finished")
        return Continue(_algorithms(plan), _instances(plan))


def study_rule(plan: Plan) -> StudyRule:
    """Return the rule that decides over the instances of a plan."""
    return AllInstances() if plan.study_rule is None else cast(StudyRule, plan.study_rule)


def decided(plan: Plan, finished: Sequence[FinishedGroup], on_record: Sequence[DecisionRecord] = ()) -> StudyDecision:
    """Return the next decision of a study: the one `on_record`, otherwise that of its rule.

    InvalidRule when that is not what was declared. Names come in the plan's order.
    """
    groups, number = checked_groups(plan), len(finished)
    decision = on_record[number].decision if number < len(on_record) else study_rule(plan)(plan, finished)
    if isinstance(decision, EndStudy):
        return decision
    _check(decision, groups, finished[-1].asked.algorithms if finished else _algorithms(plan), number)
    algorithms, instances = set(decision.algorithms), set(decision.instances)
    return replace(
        decision,
        algorithms=tuple(name for name in _algorithms(plan) if name in algorithms),
        instances=tuple(name for name in _instances(plan) if name in instances),
    )


def checked_groups(plan: Plan) -> Sequence[Sequence[str]]:
    """Return the declared groups; InvalidRule unless they are some of the plan's instances, each in one group.

    A group after the first may be empty: then a decision asks for more on the instances that are there.
    """
    groups = study_rule(plan).groups(plan)
    names = [name for group in groups for name in group]
    strangers = set(names) - set(_instances(plan))
    begins = bool(groups) and bool(groups[0])
    if strangers or len(set(names)) != len(names) or begins != bool(plan.instances):
        raise InvalidRule(
            "a study rule must declare groups of the plan's instances, the first of them not empty and each instance in"
            f" one group only, got {[list(group)[:5] for group in groups]!r}"
        )
    return groups


def check_study_rule(plan: Plan) -> None:
    """Raise InvalidPlan or InvalidRule if the rule over instances does not fit the plan."""
    if isinstance(plan.study_rule, CheckingStudyRule):
        plan.study_rule.check(plan)
    checked_groups(plan)


def instance_rule(plan: Plan, request: Continue) -> Rule:
    """Return the rule for one instance under a decision: the plan's, or the runs that the decision fixes."""
    if request.runs is not None:
        return Exactly(dict(request.runs))
    rule: Rule = plan.rule
    return rule if set(request.algorithms) == set(_algorithms(plan)) else narrowed(rule, request.algorithms)


@dataclass(frozen=True, slots=True)
class Exactly:
    """A rule for one instance: this many runs of each algorithm, all at once; a failed run is not repeated."""

    runs: Mapping[str, int]

    def __call__(self, samples: Samples, /) -> Decision:
        """Return the runs that are missing."""
        missing = {name: count for name, count in self.predict(samples).items() if count}
        return Sample(missing) if missing else Stop("runs done")

    def predict(self, samples: Samples, /) -> Mapping[str, int]:
        """Return the number of remaining runs of each algorithm."""
        total = {name: min(count, 1) if name in samples.deterministic else count for name, count in self.runs.items()}
        return {name: max(0, count - int(samples.spent[samples.position(name)])) for name, count in total.items()}


# Recorded form


def instance_digest(plan: PlanRecord, request: Continue) -> str:
    """Return the digest of all that decisions on an instance depend on in addition to its runs, under a decision over
    instances.

    Whoever asks for all algorithms and leaves the runs to the plan's rule adds nothing to the plan's own.
    """
    if request.runs is None and set(request.algorithms) == set(plan.algorithms):
        return plan.decisions
    return digest([plan.decisions, list(request.algorithms), None if request.runs is None else dict(request.runs)])


def digests_in_force(plan: PlanRecord, decisions: Iterable[DecisionRecord]) -> tuple[str, ...]:
    """Return the digests under which instances are finished, in the order of the decisions over instances.

    A results file of earlier days has no such decisions: its instances are finished under the plan's own."""
    request = [record.decision for record in decisions if isinstance(record.decision, Continue)]
    return tuple(dict.fromkeys(instance_digest(plan, item) for item in request)) or (plan.decisions,)


def instances_in_force(plan: PlanRecord, decisions: Collection[DecisionRecord]) -> tuple[str, ...]:
    """Return the instances of a study: all planned ones, until a decision excludes further ones."""
    taken = [record.decision for record in decisions]
    if not any(isinstance(decision, EndStudy) or decision.last for decision in taken):
        return plan.instances
    request = {name for decision in taken if isinstance(decision, Continue) for name in decision.instances}
    return tuple(name for name in plan.instances if name in request)


def joined(finished: Iterable[Mapping[str, Finished]]) -> dict[str, Finished]:
    """Merge records of finished instances: later decisions add runs to earlier ones."""
    together: dict[str, Finished] = {}
    for done in finished:
        for name, now in done.items():
            before = together.get(name, now)
            together[name] = replace(now, counts={**before.counts, **now.counts})
    return together


def recorded(number: int, decision: StudyDecision, taken: str = "") -> DecisionRecord:
    """Return a decision in its recorded form."""
    return DecisionRecord(number, decision, digest(to_data(decision)), taken)


def holding(decisions: Iterable[DecisionRecord]) -> tuple[DecisionRecord, ...]:
    """Return the valid decisions: each one voids earlier ones with the same or a higher number."""
    held: list[DecisionRecord] = []
    for record in decisions:
        held[record.number :] = [record]
    return tuple(held)


def to_data(decision: StudyDecision) -> dict[str, Any]:
    """Return a decision as plain data; rare fields are omitted, as in earlier versions."""
    rare = ("notes", "last")
    data = {name: value for name, value in record_data(asdict(decision)).items() if value or name not in rare}
    return {"continue" if isinstance(decision, Continue) else "end": data}


def from_data(data: Mapping[str, Any]) -> StudyDecision:
    """Return a decision from plain data; the inverse of `to_data`."""
    ((kind, fields),) = data.items()
    tuples = {name: tuple(fields[name]) for name in ("algorithms", "instances", "notes") if name in fields}
    return EndStudy(**fields | tuples) if kind == "end" else Continue(**fields | tuples)


def _check(request: Continue, groups: Sequence[Sequence[str]], present: Collection[str], number: int) -> None:
    """Check that a decision uses declared groups and remaining algorithms only."""
    instances, algorithms, runs, last = request.instances, request.algorithms, request.runs, number + 1
    if number >= len(groups):
        raise InvalidRule(f"a study rule must end the study after its {len(groups)} groups, got {request!r}")
    if not instances or not set(instances) <= {name for group in groups[:last] for name in group}:
        raise InvalidRule(f"a study rule must ask for instances of the first {last} of its groups, got {instances!r}")
    if not algorithms or not set(algorithms) <= set(present):
        names = ", ".join(map(repr, present))
        raise InvalidRule(f"a study rule must ask for algorithms that are still there, {names}, got {algorithms!r}")
    if runs is not None and (set(runs) != set(algorithms) or min(runs.values()) < 1):
        must = "must do so for each algorithm, at least one run"
        raise InvalidRule(f"a study rule that fixes the runs {must}, got {runs!r}")


def _algorithms(plan: Plan) -> tuple[str, ...]:
    return tuple(algorithm.name for algorithm in plan.algorithms)


def _instances(plan: Plan) -> tuple[str, ...]:
    return tuple(instance.name for instance in plan.instances)
