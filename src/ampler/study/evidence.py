"""Further content of a results file: settings, groups of instances, warnings, origin of the runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from ampler.analysis.families import LaterFamily
from ampler.analysis.interim import InterimPlan
from ampler.analysis.results import Results
from ampler.core.answers import contradiction
from ampler.core.arrays import Runs, paired_by_index
from ampler.core.contracts import Store
from ampler.core.errors import AnalysisWarning, InvalidData, InvalidInput, StoreUnusable
from ampler.core.failures import Drop, Par, Penalty, StopStudy
from ampler.core.measures import Measure
from ampler.core.plan import Continue, DecisionRecord, EndStudy, Limits, PlanRecord
from ampler.core.text import count, listed
from ampler.design.detect import PilotReport
from ampler.sampling.rules import Fixed
from ampler.study.changes import changed_fields
from ampler.study.code import FILES_SHOWN, declared_same, file_list, unseen
from ampler.study.detect import Detect
from ampler.study.families import family_indexes, smallest_difference
from ampler.study.interim import Looking
from ampler.study.record import rule_of, settings_of
from ampler.study.status import requested_runs, unused_runs
from ampler.study.stopping import digests_in_force, instances_in_force
from ampler.study.store import read_store
from ampler.study.warnings import Growth, fairness_notes, growth_of, growth_warning

CASES_SHOWN = 3
FEWEST = 2  # finished instances of a family that can be analysed
MEASURED_OTHERWISE = ("difference", "better", "margin", "floor", "shift", "se", "effect", "start", "budget")


@dataclass(frozen=True, slots=True)
class StudyOrigin:
    """Origin of the runs of a study: the last plan, the date of the first one, and the last environment.

    `first` is the plan under which the first runs were made. `course` and `looks` are what values decided, whatever is
    made of it.
    """

    plan: PlanRecord
    begun: str
    environment: Mapping[str, str]
    first: PlanRecord
    growth: Growth | None = None
    course: PilotReport | None = None
    looks: InterimPlan | None = None


def evidence_of_study(source: Any) -> Results:
    """Read the runs of a results file, or of an open store, with all that its plan says about them."""
    if hasattr(source, "plans"):
        return _of_store(source)
    with read_store(source) as store:
        return _of_store(store)


def origin_of_study(path: str | PathLike[str]) -> StudyOrigin | None:
    """Return the origin of the runs of a results file; None without a plan."""
    with read_store(path) as store:
        plans, sessions = store.plans(), store.sessions()
        if not plans:
            return None
        first = family_indexes(plans)[0]
        plans, decisions, begun = plans[: first + 1], store.decisions(first), store.begun_under()
    environment = dict(sessions[-1].environment) if sessions else {}
    environment.pop("check", None)  # the status of a check is no property of the machine
    return StudyOrigin(
        plans[-1],
        plans[0].created,
        environment,
        first=plans[min(begun, default=0)],
        growth=growth_of(plans, [begun.get(index, ()) for index in range(len(plans))]),
        course=pilot_report_of(plans[-1], decisions),
        looks=interim_plan_of(plans[-1], decisions),
    )


def _of_store(store: Store) -> Results:
    plans = store.plans()
    if not plans:
        raise StoreUnusable("the results file holds no plan yet; run the study first")
    first, *later = family_indexes(plans)
    results = _of_family(store, plans[: first + 1])
    families = []
    for index in later:
        plan, decisions = plans[index], store.decisions(index)
        begun = len(store.finished(*digests_in_force(plan, decisions))) >= FEWEST
        family = LaterFamily(
            number=plan.study_rule["family"],
            added=tuple(plan.study_rule["added"]),
            planned=next(item.created for item in plans if item.study_rule == plan.study_rule),
            instances=len(plan.instances),
            needed=plan.needed,
            power=plan.power,
            smallest=smallest_difference(plan.study_rule.get("detect"), plan.question),
            alpha=plan.question.alpha,
        )
        families.append((family, _of_family(store, plans[: index + 1]) if begun else None))
    return replace(results, families=tuple(families))


def _of_family(store: Store, plans: Sequence[PlanRecord]) -> Results:
    """The results of the family that the last of these plans is about."""
    plan, place = plans[-1], len(plans) - 1
    added, decisions = tuple(plan.study_rule.get("added", ())), store.decisions(place)
    digests, instances = digests_in_force(plan, decisions), instances_in_force(plan, decisions)
    done, planned = store.finished(*digests), len(instances)
    finished = len(done.keys() & set(instances))
    if not finished:
        raise InvalidData("no instance of the study is finished yet; run it further, then analyse it")
    has_ended = any(isinstance(record.decision, EndStudy) for record in decisions)
    interim = interim_plan_of(plan, decisions)
    missing = ""  # missing parts of the recorded plan
    if interim is None and finished < planned:
        missing = f"{finished} of {planned} planned instances are there"
    elif interim is None and plan.part:
        missing = f"these are the instances of part {plan.part} only"
    elif interim is None and plan.study_rule and not has_ended:
        missing = "its values decide how it continues"
    features: dict[str, dict[str, object]] = {}  # by feature; in the plan by instance
    for instance, values in plan.features.items():
        for name, value in values.items():
            features.setdefault(name, {})[instance] = value
    notes: list[AnalysisWarning] = [] if added else [*growth_warning(store, plans)]
    if plan.part:
        text = f"These are the instances of part {plan.part} only: put the parts together with `ampler merge`."
        notes.append(AnalysisWarning("part", text))
    if finished < planned:
        left_out = f"{planned - finished} of {planned} planned instances are not finished and left out"
        notes.append(AnalysisWarning("unfinished", f"{left_out}: run the study further."))
    if unused := 0 if added else unused_runs(store.tally(), *requested_runs(store)):
        runs = "1 recorded run is" if unused == 1 else f"{unused} recorded runs are"
        notes.append(AnalysisWarning("unused", f"{runs} outside the plan in force and ignored."))
    notes += [] if added else _changed_plan(tuple(plans))
    if plan.study_rule and not has_ended and interim is None:
        text = (
            "Do not report these results: the study is not finished, and its size depends on its results. These are"
            " ordinary tests without error control. Resume the study."
        )
        notes.append(AnalysisWarning("course", text))
    notes += (*_contradictions(plan, store), *fairness_notes(plan, store), *_changed_code(plan, store))
    results = Results(
        _runs(plan, store, digests, place),
        features,
        settings_of(plan),
        tuple(notes),
        plan.deterministic,
        rule_of(plan),
        pilot_report_of(plan, decisions),
        interim,
        missing,
        _time_limit(plan),
        plan.rule.get("rule") == Fixed.__name__,
        measure_of(plan),
        {  # features with non-numerical labels group the instances
            name: labels
            for name, labels in features.items()
            if labels.keys() >= set(plan.instances)
            and not all(str(label).replace(".", "", 1).isdigit() for label in labels.values())
        },
    )
    return replace(results, added=added, measures=_measured(results, plan, store, digests, place))


def _runs(plan: PlanRecord, store: Store, digests: Collection[str], place: int, measure: str | None = None) -> Runs:
    runs = store.runs(*digests, measure=measure, plan=place)
    return paired_by_index(runs) if plan.seeds == "shared" else runs


def _measured(
    results: Results, plan: PlanRecord, store: Store, digests: Collection[str], place: int
) -> tuple[tuple[Measure, Results], ...]:
    """Each measure of a study with its results; empty where the value is the only one."""
    measured = []
    for item in plan.question.measures or ():
        if item.role == "primary":
            measured.append((item, replace(results, measure=item.name)))
            continue
        runs = _runs(plan, store, digests, place, item.name)
        missing = int((results.runs.ok & ~runs.ok).sum())
        if item.role == "descriptive":
            if len(set(runs.algorithm[runs.ok].tolist())) < len(runs.algorithms):
                continue  # no values, such as the memory of small programs
        elif missing and item.penalty is None and isinstance(plan.policy, StopStudy):
            raise InvalidData(f"{count(missing, 'run')} gave no measure {item.name!r}; set its penalty, or omit it")
        own = {name: value for name, value in results.settings.items() if name not in MEASURED_OTHERWISE}
        is_time = item.name in ("seconds", "cpu-seconds") and isinstance(plan.policy, Par)
        own["failures"] = (plan.policy if is_time else Drop()) if item.penalty is None else Penalty(item.penalty)
        limit = None if is_time else results.time_limit
        changed = replace(results, runs=runs, settings=own, notes=(), rule=None, measure=item.name, time_limit=limit)
        measured.append((item, changed))
    return tuple(measured)


def _time_limit(plan: PlanRecord) -> float | None:
    """The limit on the times that all algorithms are judged by; None if they are judged by something else."""
    if set(plan.timed) != set(plan.algorithms):
        return None
    limits = {
        plan.own_limits.get(name, Limits()).over(plan.limits).on_time(processor=identity["value"] == "cpu-seconds")
        for name, identity in plan.fingerprint.algorithms.items()
    }
    return limits.pop() if len(limits) == 1 else None


def measure_of(plan: PlanRecord) -> str:
    """Return the name of the values of a study."""
    times = {"seconds": "wall-clock time in seconds", "cpu-seconds": "processor time in seconds"}
    texts = {str(fields.get("value", "")) for fields in plan.fingerprint.algorithms.values()}
    text = texts.pop() if len(texts) == 1 else ""
    return times.get(text) or (text.removeprefix("json:") if text.startswith("json:") else "value")


def pilot_report_of(plan: PlanRecord, decisions: Collection[DecisionRecord]) -> PilotReport | None:
    """Return the report of the internal pilot; None without one, or before the end."""
    has_ended = any(isinstance(record.decision, EndStudy) for record in decisions)
    if plan.study_rule.get("rule") != Detect.__name__ or not has_ended or plan.question.cluster is not None:
        return None  # by clusters, the test is the ordinary one at its full level
    try:
        (details,) = (record.decision.details for record in decisions if record.number == 1)
        return PilotReport.from_data(details)
    except (KeyError, TypeError, ValueError):
        raise StoreUnusable(
            "the decision on the size of the study cannot be read; ampler rescue saves the runs"
        ) from None


def interim_plan_of(plan: PlanRecord, decisions: Collection[DecisionRecord]) -> InterimPlan | None:
    """Return the declared interim analyses with the completed ones; None for a study without them."""
    if plan.study_rule.get("rule") != Looking.__name__:
        return None
    over = max((record.number for record in decisions), default=0)
    taken = [record.decision for record in decisions]
    continued = [item.decision for item in decisions if item.number < over and isinstance(item.decision, Continue)]
    try:
        rule = Looking(**{name: value for name, value in plan.study_rule.items() if name != "rule"})
        return rule.interim_plan(plan.question, len(plan.instances), continued, taken)
    except (TypeError, InvalidInput):
        raise StoreUnusable(
            "the interim analyses in the results file are unreadable; ampler rescue saves the runs"
        ) from None


def _contradictions(plan: PlanRecord, store: Store) -> Iterator[AnalysisWarning]:
    """Instances with contradictory answers, if answers are read."""
    if not any(identity.get("answer") for identity in plan.fingerprint.algorithms.values()):
        return
    answers: dict[str, dict[tuple[str, str], None]] = {}  # each once
    for run in store.observations():
        if run.status == "ok" and run.answer is not None:
            answers.setdefault(run.key.instance, {})[run.key.algorithm, run.answer] = None
    found = {name: pair for name, given in answers.items() if (pair := contradiction(given))}
    if found:
        cases = [f"on {name} {a} answers {x!r} and {b} {y!r}" for name, ((a, x), (b, y)) in found.items()]
        yield AnalysisWarning(
            "contradiction",
            f"Answers contradict each other on {count(len(found), 'instance')}: {listed(cases, CASES_SHOWN)}.",
            "At least one of them is wrong: write the right answers into a column `expected` of the features.",
            numbers={"instances": len(found)},
        )


def _changed_code(plan: PlanRecord, store: Store) -> Iterator[AnalysisWarning]:
    """Code changed between counting runs, which the user has declared equivalent."""
    codes = store.codes() if hasattr(store, "codes") else ()
    changed = {name: declared_same(codes, name) for name in plan.algorithms}
    names = [f"{name} ({file_list(files)})" for name, files in changed.items() if files]
    if names:
        how = "The code or the instances were changed during the study; the user confirmed that values stay the same"
        yield AnalysisWarning("code", f"{how}: {'; '.join(names)}.")
    hidden = dict.fromkeys(name for code in codes if code.counts for name in unseen(code.files or {}))
    if hidden and len(store.sessions()) > 1:
        which = listed(list(hidden), FILES_SHOWN)
        yield AnalysisWarning("code", f"Whether these instances changed between sessions cannot be seen: {which}.")


def _changed_plan(plans: tuple[PlanRecord, ...]) -> Iterator[AnalysisWarning]:
    """Return the comparisons that were chosen after the first results."""
    first, last = plans[0], plans[-1]
    changes = [f"algorithm {name} was added" for name in last.algorithms if name not in first.algorithms]
    changes += [f"{name} was changed" for name in changed_fields(first.question, last.question)]
    if changes:
        text = f"The plan was changed after the first one of {first.created}: {'; '.join(changes)}."
        yield AnalysisWarning("plan", text)
