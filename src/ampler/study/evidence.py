"""What a study file says besides its runs: settings, groups of instances, what a reader must know, how it was run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

from ampler.analysis.evidence import Evidence
from ampler.analysis.looked import LookCourse
from ampler.core.contracts import Store
from ampler.core.errors import InvalidData, InvalidInput, StoreUnusable
from ampler.core.values import Caution, Continue, DecisionRecord, EndStudy, Finished, Limits, PlanRecord, Question
from ampler.core.wording import listed
from ampler.design.pilot import PilotReport
from ampler.sampling.rules import Fixed
from ampler.study.asked import rule_of, settings_of
from ampler.study.code.changes import FILES_SHOWN, declared_same, shown, unseen
from ampler.study.detect_rule import Detect
from ampler.study.fairness import fairness_notes
from ampler.study.looks_rule import Looking
from ampler.study.repeated_testing import growth_warning, sizes_tested
from ampler.study.status import unused_runs
from ampler.study.stopping import digests_in_force, instances_in_force
from ampler.study.store import read_store


@dataclass(frozen=True, slots=True)
class StudyOrigin:
    """How the runs of a study came about: the last plan, the date of the first one, and the last environment.

    `first` is the plan under which the first runs were made, and `sizes` are the instances that had results each time
    before the study was enlarged. `course` and `looks` are what values decided, whatever is made of it.
    """

    plan: PlanRecord
    begun: str
    environment: Mapping[str, str]
    first: PlanRecord
    sizes: tuple[int, ...] = ()
    course: PilotReport | None = None
    looks: LookCourse | None = None


def evidence_of_study(source: Any) -> Evidence:
    """Read the runs of a study file, or of an open store, with all that its plan says about them."""
    if hasattr(source, "plans"):
        return _of_store(source)
    with read_store(source) as store:
        return _of_store(store)


def origin_of_study(path: str | PathLike[str]) -> StudyOrigin | None:
    """Return what a study file says of how its runs were made; None when it holds no plan yet."""
    with read_store(path) as store:
        plans, sessions, decisions = store.plans(), store.sessions(), store.decisions()
        if not plans:
            return None
        begun = store.begun_under()
    environment = dict(sessions[-1].environment) if sessions else {}
    environment.pop("check", None)  # that nothing but a look was had then is nothing of the machine
    return StudyOrigin(
        plans[-1],
        plans[0].created,
        environment,
        first=plans[min(begun, default=0)],
        sizes=sizes_tested(plans, [begun.get(place, ()) for place in range(len(plans))]),
        course=course_of(plans[-1], decisions),
        looks=looks_of_study(plans[-1], decisions),
    )


def _of_store(store: Store) -> Evidence:
    plans = store.plans()
    if not plans:
        raise StoreUnusable("the study file holds no plan yet; run the study first")
    plan = plans[-1]
    decisions = store.decisions()
    digests, instances = digests_in_force(plan, decisions), instances_in_force(plan, decisions)
    done = store.finished(*digests)
    finished = len(done.keys() & set(instances))
    if not finished:
        raise InvalidData("no instance of the study is finished yet; run it further, then analyse it")
    notes = (
        *growth_warning(store, plans),
        *_part(plan),
        *_unfinished(finished, len(instances)),
        *_unused(plan, store, done),
        *_changed(plans),
    )
    notes += (*_undecided(plan, decisions), *fairness_notes(plan, store), *_code(plan, store))
    course, looks = course_of(plan, decisions), looks_of_study(plan, decisions)
    missing = _missing(plan, decisions, finished, len(instances)) if looks is None else ""
    said = (store.runs(*digests), _features(plan), settings_of(plan), notes, plan.deterministic, rule_of(plan))
    fixed_runs = plan.rule.get("rule") == Fixed.__name__
    return Evidence(*said, course, looks, missing, _time_limit(plan), fixed_runs, measure_of(plan))


def _missing(plan: PlanRecord, decisions: Collection[DecisionRecord], finished: int, planned: int) -> str:
    """What the recorded plan asks for and is not there, in words; nothing where the study is complete."""
    if finished < planned:
        return f"{finished} of {planned} planned instances are there"
    if plan.part:
        return f"these are the instances of part {plan.part} only"
    if plan.study_rule and not _has_ended(decisions):
        return "its values decide how it continues"
    return ""


def _time_limit(plan: PlanRecord) -> float | None:
    """The limit on the times that all algorithms are judged by; None if they are judged by something else."""
    if set(plan.timed) != set(plan.algorithms):
        return None
    limits = set()
    for name in plan.algorithms:
        limit = plan.own_limits.get(name, Limits()).over(plan.limits)
        ordered = [limit.timeout, limit.cpu_timeout]
        if plan.fingerprint.algorithms[name]["value"] == "cpu-seconds":
            ordered.reverse()
        limits.add(next((each for each in ordered if each is not None), None))
    return limits.pop() if len(limits) == 1 else None


def measure_of(plan: PlanRecord) -> str:
    """Return what the algorithms of a study give, by the name under which it is read."""
    times = {"seconds": "wall-clock time in seconds", "cpu-seconds": "processor time in seconds"}
    texts = {str(fields.get("value", "")) for fields in plan.fingerprint.algorithms.values()}
    text = texts.pop() if len(texts) == 1 else ""
    return times.get(text) or (text.removeprefix("json:") if text.startswith("json:") else "value")


def course_of(plan: PlanRecord, decisions: Collection[DecisionRecord]) -> PilotReport | None:
    """Return how the values of a study decided on its size; None if they did not, or it is not at its end."""
    if plan.study_rule.get("rule") != Detect.__name__ or not _has_ended(decisions):
        return None
    try:
        (details,) = (taken.decision.details for taken in decisions if taken.number == 1)
        return PilotReport.from_data(details)
    except (KeyError, TypeError, ValueError):
        raise StoreUnusable(
            "the decision on the size of the study cannot be read in its file; ampler rescue saves the runs"
        ) from None


def looks_of_study(plan: PlanRecord, decisions: Collection[DecisionRecord]) -> LookCourse | None:
    """Return the looks that were declared, with those that are over; None for a study without looks."""
    if plan.study_rule.get("rule") != Looking.__name__:
        return None
    over = max((taken.number for taken in decisions), default=0)
    asked = [taken.decision for taken in decisions if taken.number < over and isinstance(taken.decision, Continue)]
    try:
        rule = Looking(**{name: value for name, value in plan.study_rule.items() if name != "rule"})
        groups, names = [each.instances for each in asked], [each.algorithms for each in asked]
        return rule.course(plan.question, len(plan.instances), groups, names, [taken.decision for taken in decisions])
    except (TypeError, InvalidInput):
        raise StoreUnusable("the looks cannot be read in the study file; ampler rescue saves the runs") from None


def _has_ended(decisions: Collection[DecisionRecord]) -> bool:
    return any(isinstance(taken.decision, EndStudy) for taken in decisions)


def _undecided(plan: PlanRecord, decisions: Collection[DecisionRecord]) -> tuple[Caution, ...]:
    if not plan.study_rule or _has_ended(decisions) or plan.study_rule.get("rule") == Looking.__name__:
        return ()  # looks say themselves how far they are
    sentence = (
        "The study is not at its end, and its values decide how it goes on: what stands here is by ordinary tests,"
        " which hold no level before the end; run the study further and claim nothing yet."
    )
    return (Caution("course", sentence),)


def _features(plan: PlanRecord) -> dict[str, dict[str, object]]:
    """The plan keeps features by instance; an analysis wants them by feature."""
    features: dict[str, dict[str, object]] = {}
    for instance, values in plan.features.items():
        for name, value in values.items():
            features.setdefault(name, {})[instance] = value
    return features


def _unfinished(finished: int, planned: int) -> tuple[Caution, ...]:
    if finished >= planned:
        return ()
    sentence = (
        f"{planned - finished} of {planned} planned instances are not finished and left out: run the study further."
    )
    return (Caution("unfinished", sentence),)


def _part(plan: PlanRecord) -> tuple[Caution, ...]:
    if not plan.part:
        return ()
    sentence = f"These are the instances of part {plan.part} only: put the parts together with `ampler merge`."
    return (Caution("part", sentence),)


def _code(plan: PlanRecord, store: Store) -> tuple[Caution, ...]:
    """Code that was changed between runs that all count: somebody has said that this does not matter."""
    codes = store.codes() if hasattr(store, "codes") else ()
    changed = {name: declared_same(codes, name) for name in plan.algorithms}
    told = [f"{name} ({shown(files)})" for name, files in changed.items() if files]
    notes = []
    if told:
        how = "The code or the instances were changed while the study was made, and said to give the same values"
        notes.append(Caution("code", f"{how}: {'; '.join(told)}."))
    hidden = dict.fromkeys(name for code in codes if code.counts for name in unseen(code.files or {}))
    if hidden and len(store.sessions()) > 1:
        which = listed(list(hidden), FILES_SHOWN)
        notes.append(Caution("code", f"Whether these instances changed between sessions cannot be seen: {which}."))
    return tuple(notes)


def _unused(plan: PlanRecord, store: Store, done: Mapping[str, Finished]) -> tuple[Caution, ...]:
    """Runs of an earlier plan that this one does not ask for."""
    number = unused_runs(plan, store.tally(), done)
    if not number:
        return ()
    runs = "1 recorded run is" if number == 1 else f"{number} recorded runs are"
    return (Caution("unused", f"{runs} not asked for by the plan in force and left out."),)


def _changed(plans: tuple[PlanRecord, ...]) -> tuple[Caution, ...]:
    """Comparisons that were chosen after looking deserve a word."""
    first, last = plans[0], plans[-1]
    added = [name for name in last.algorithms if name not in first.algorithms]
    asked = [
        field.name
        for field in fields(Question)
        if getattr(first.question, field.name) != getattr(last.question, field.name)
    ]
    changes = [*(f"algorithm {name} was added" for name in added), *(f"{name} was changed" for name in asked)]
    if not changes:
        return ()
    return (Caution("plan", f"The plan was changed after the first one of {first.created}: {'; '.join(changes)}."),)
