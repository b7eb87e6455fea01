"""Later families of comparisons: algorithms that join a study whose first family is finished.

The results of the first family decided on its size or its end, and its tests account for this. Further algorithms
change nothing of it: they form a family of their own, with its own error rate. Its size follows from the first plan and
the known variances alone, never from means, so that the ordinary tests hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri

from ampler.analysis.differences import observe
from ampler.core.arrays import Runs, paired_by_index
from ampler.core.contracts import FinishedGroup, Store, narrowed
from ampler.core.errors import InvalidDesign, PlanMismatch
from ampler.core.plan import Continue, DecisionRecord, EndStudy, Plan, PlanRecord, Question, StudyDecision
from ampler.core.settings import Settings
from ampler.core.text import amount, count, quoted
from ampler.design import achieved_power, n_comparisons, required_instances
from ampler.design.detect import mean_power, needed_instances
from ampler.sampling.rules import Accuracy
from ampler.study.changes import TESTED, check_decided
from ampler.study.detect import Detect
from ampler.study.plan import begun_first
from ampler.study.record import as_begun, record, rule_of, settings_of
from ampler.study.stopping import digests_in_force

RULE = "AddedAlgorithms"  # as plans are recorded
NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedAlgorithms:
    """The study rule of a later family: all its algorithms on a fixed number of instances, then the end.

    `added` algorithms are compared with the reference, or without one with each other and all earlier ones. `runs` are
    those of each algorithm on every instance; None leaves them to the rule for one instance.
    """

    family: int
    added: tuple[str, ...]
    runs: Mapping[str, int] | None = None
    detect: float | None = None  # smallest difference of interest, that the power is about

    def groups(self, plan: Plan, /) -> Sequence[Sequence[str]]:
        """Return all instances as one group."""
        return ([instance.name for instance in plan.instances],)

    def __call__(self, plan: Plan, finished: Sequence[FinishedGroup], /) -> StudyDecision:
        """Request all runs, then end the family."""
        if finished:
            return EndStudy(f"Family {self.family} is complete.")
        names, question = tuple(algorithm.name for algorithm in plan.algorithms), plan.question
        pairs = comparisons_with(self.added, len(names), reference=question.reference is not None)
        others = "the others" if question.reference is None else question.reference
        power, note = "", ()  # type: str, tuple[str, ...]
        if plan.power is not None and plan.needed is not None:
            power = f"; power {plan.power:.2f} for {smallest_difference(self.detect, question)}"
            if plan.needed > len(plan.instances):
                there = f"this family has {len(plan.instances)}"
                note = (f"power {question.power:g} needs {plan.needed} instances, and {there}",)
        reason = (
            f"Family {self.family}: {quoted(self.added, NAMES)} against {others}, {count(pairs, 'comparison')} on"
            f" {count(len(plan.instances), 'instance')}{power}. Its error rate of {100 * question.alpha:g} % holds for"
            " this family alone. Earlier verdicts stay as they are."
        )
        instances = tuple(instance.name for instance in plan.instances)
        return Continue(names, instances, self.runs, reason, notes=note, last=True)


def smallest_difference(detect: float | None, question: Question) -> str:
    """Return the smallest difference of interest in words; nothing where there is none."""
    if detect is not None:
        return f"a difference of {amount(detect, question.difference)}"
    return "" if question.effect is None else f"effect {question.effect:g}"


def comparisons_with(added: Sequence[str], algorithms: int, *, reference: bool) -> int:
    """Return how many pairs have an added algorithm, among so many algorithms with the reference if there is one.

    >>> comparisons_with(["d"], 4, reference=False), comparisons_with(["d"], 2, reference=True)
    (3, 1)
    """
    earlier = algorithms - len(added)
    return len(added) if reference else n_comparisons(algorithms) - (n_comparisons(earlier) if earlier > 1 else 0)


def family_indexes(plans: Sequence[PlanRecord]) -> list[int]:
    """Return the place of the plan of each family among all plans of a study, the first family's first."""
    last: dict[int, int] = {}
    for index, plan in enumerate(plans):
        is_later = plan.study_rule.get("rule") == RULE
        last = {**last, plan.study_rule["family"]: index} if is_later else {1: index}
    return list(last.values())


def has_ended(decisions: Sequence[DecisionRecord]) -> bool:
    """Whether the study, or the family, is finished."""
    return any(isinstance(item.decision, EndStudy) for item in decisions)


def plan_in_force(plan: Plan, store: Store, *, again: bool = False) -> Plan:
    """Return the plan that is carried out, with the settings that its study was begun with.

    That is the plan of a later family where algorithms join a finished study whose results decided on its size or end.
    PlanMismatch when a plan would change what such decisions rest on; so do runs that are made `again`.
    """
    if isinstance(plan.study_rule, AddedAlgorithms):
        return plan
    plan, plans = begun_first(plan, store.begun()), store.plans()
    if not plans:
        return as_begun(plan)
    first, *checked = family_indexes(plans)
    later = [index for index in checked if store.decisions(index)]  # were run; what was only checked may change
    before, decisions = plans[first], store.decisions(first)
    names = [algorithm.name for algorithm in plan.algorithms]
    new = [name for name in names if name not in before.algorithms]
    is_decided = before.study_rule.get("rule") in TESTED and any(item.number for item in decisions)
    if not is_decided or not (new or checked):
        plan = as_begun(plan, before)
        check_decided(before, decisions, record(plan), again=again)
        return plan
    original = as_begun(_with_algorithms(plan, before.algorithms), before)
    check_decided(before, decisions, record(original), again=again)
    joined = [name for index in later for name in plans[index].study_rule["added"]]
    added = [name for name in new if name not in joined]
    if gone := [name for name in (joined if new else plans[-1].study_rule["added"]) if name not in names]:
        raise PlanMismatch(f"{quoted(gone, NAMES)} joined the study in a later family: put the algorithm back")
    if added and not (has_ended(decisions) and (not later or has_ended(store.decisions(later[-1])))):
        raise PlanMismatch(
            f"{quoted(added, NAMES)} cannot join now, because decisions were made from the results and the study is not"
            " finished: run it to its end without the new algorithms, then add them as a later family"
        )
    if not added:
        return _as_recorded(plan, original, plans[later[-1]])
    reference = before.question.reference
    earlier = (*before.algorithms, *joined) if reference is None else (reference,)
    return _as_planned(plan, original, store, first, [*earlier, *added], added, len(later) + 2)


def with_later_family(plan: Plan, store: Store) -> Plan:
    """Return the plan of the later family that is carried out; a plan without one as it is."""
    now = plan_in_force(plan, store)
    return now if isinstance(now.study_rule, AddedAlgorithms) else plan


def _with_algorithms(plan: Plan, names: Sequence[str]) -> Plan:
    """The plan for some of its algorithms."""
    own = {algorithm.name: algorithm for algorithm in plan.algorithms}
    algorithms = tuple(own[name] for name in names if name in own)
    return replace(plan, algorithms=algorithms, rule=narrowed(plan.rule, [item.name for item in algorithms]))


def _of_family(plan: Plan, original: Plan, names: Sequence[str], order: Sequence[str], used: int) -> Plan:
    """The plan of a family on the first instances of an order, with the settings of the first family."""
    own, rule = _with_algorithms(plan, names), original.rule
    if isinstance(own.rule, Accuracy) and isinstance(rule, Accuracy):
        rule = replace(rule, costs=own.rule.costs)
    every = {instance.name: instance for instance in (*original.instances, *original.untouched)}
    return replace(
        original,
        algorithms=own.algorithms,
        rule=rule,
        instances=tuple(every[name] for name in order[:used]),
        untouched=tuple(every[name] for name in order[used:]),
        limits=plan.limits,
        retries=plan.retries,
        warnings=(),
    )


def _as_recorded(plan: Plan, original: Plan, family: PlanRecord) -> Plan:
    """The plan of a family that was begun."""
    rule = {name: value for name, value in family.study_rule.items() if name != "rule"}
    order = [*family.instances, *family.untouched]
    return replace(
        _of_family(plan, original, family.algorithms, order, len(family.instances)),
        study_rule=AddedAlgorithms(**{**rule, "added": tuple(rule["added"])}),
        needed=family.needed,
        power=family.power,
    )


def _as_planned(
    plan: Plan, original: Plan, store: Store, first: int, names: Sequence[str], added: Sequence[str], family: int
) -> Plan:
    """The plan of a new family."""
    before, decisions, question = store.plans()[first], store.decisions(first), original.question
    size = FamilySize(len(before.instances))
    pairs = comparisons_with(added, len(names), reference=question.reference is not None)
    rule, runs = original.study_rule, None
    if isinstance(rule, Detect):
        requests = [item.decision for item in decisions if isinstance(item.decision, Continue)]
        own: dict[str, int] = {}
        for request in requests:
            own |= {name: max(number, own.get(name, 0)) for name, number in (request.runs or {}).items()}
        deterministic = {algorithm.name for algorithm in plan.algorithms if algorithm.deterministic}
        most = max(rule.start, *own.values())
        runs = {name: 1 if name in deterministic else own.get(name, most) for name in names}
        if question.cluster is not None:
            order = [*requests[-1].instances, *(n for n in before.instances if n not in requests[-1].instances)]
            size = FamilySize(len(requests[-1].instances))
        else:
            known = store.runs(*digests_in_force(before, decisions), plan=first)
            size = size_by_variances(original, before, known, pairs, len(added) * (len(names) - len(added)))
    elif question.effect is not None:
        with suppress(InvalidDesign):
            size = size_by_effect(original, pairs)
    if question.cluster is None:
        order = [*before.instances, *before.untouched]
    detect = rule.detect if isinstance(rule, Detect) else None
    return replace(
        _of_family(plan, original, names, order, size.instances),
        study_rule=AddedAlgorithms(family=family, added=tuple(added), runs=runs, detect=detect),
        needed=size.needed,
        power=size.power,
    )


class FamilySize(NamedTuple):
    """How many instances a family gets, how many reach the wanted power, and the power; None: not known."""

    instances: int
    needed: int | None = None
    power: float | None = None


def size_by_effect(original: Plan, pairs: int) -> FamilySize:
    """Return the size of a family for a standardised effect of interest; it depends on no result."""
    question, available = original.question, len(original.instances) + len(original.untouched)
    terms = {name: getattr(question, name) for name in ("effect", "alpha", "target", "alternative", "test")}
    needed = required_instances(comparisons=pairs, power=question.power, **terms).instances
    used = min(needed, available) if original.use == "needed" else len(original.instances)
    return FamilySize(used, needed, achieved_power(comparisons=pairs, instances=used, **terms).power)


def size_by_variances(original: Plan, before: PlanRecord, runs: Runs, pairs: int, together: int) -> FamilySize:
    """Return the size of a family by the variances of the first one, whose `runs` these are.

    Variances of the new comparisons are not known yet. Those of normal differences say nothing of their means, so that
    a number of instances that follows from them leaves the tests as they are. At most `together` pairs differ.
    """
    runs = paired_by_index(runs) if before.seeds == "shared" else runs
    settings = Settings(**settings_of(before))
    observed = observe(runs, settings, before.deterministic, rule_of(before))
    differences = observed.estimates.differences(observed.contrasts, settings.estimate)
    goal = original.study_rule.goal(original)
    goal = replace(goal, fresh=True, together=min(pairs, together))
    freedom = (~np.isnan(differences)).sum(axis=0) - 1.0
    bounds = np.nanvar(differences, axis=0, ddof=1) * freedom / chdtri(freedom, goal.caution)
    variances = np.full(pairs, bounds.mean())
    needed = needed_instances(goal, variances)
    used = min(max(needed, goal.pilot), goal.available)  # fewer than the pilot's would be no saving
    return FamilySize(used, needed, mean_power(goal, variances, used))
