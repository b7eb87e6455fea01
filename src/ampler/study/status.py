"""Status of a study: the contents of its store compared with its last plan; the study may be running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from ampler.core.arrays import Samples
from ampler.core.contracts import Store, current_error
from ampler.core.errors import AmplerError, StoreUnusable
from ampler.core.failures import value_of
from ampler.core.plan import DecisionRecord, EndStudy, PlanRecord
from ampler.core.runs import Finished, Observation, Progress, Tally
from ampler.study.failure_patterns import CommonFailure, commonest, reason_of
from ampler.study.families import family_indexes
from ampler.study.record import rule_of
from ampler.study.stopping import digests_in_force, instances_in_force
from ampler.study.store.store import SqliteStore
from ampler.study.warnings import fairness_notes, growth_warning


def status_of(store: Store) -> StudyStatus:
    """Return the progress of a study under its last plan; the decisions are those of all its families."""
    plan, plans, decisions = planned_last(store), store.plans(), store.decisions()
    first, *later = family_indexes(plans)
    done = store.finished(*digests_in_force(plan, decisions))
    status = counted_status(plan, store.tally(), decisions, done, *requested_runs(store, earlier=True))
    notes = tuple(note.sentence for note in (*growth_warning(store, plans[: first + 1]), *fairness_notes(plan, store)))
    if later:
        taken = tuple(item for index in (first, *later) for item in _taken(plans[index], store.decisions(index)))
        status = replace(status, decisions=taken)
    return replace(status, sessions=len(store.sessions()), failure=commonest(store.failures()), notes=notes)


def requested_runs(store: Store, *, earlier: bool = False) -> Iterator[tuple[PlanRecord, Mapping[str, Finished]]]:
    """Yield the plan of each family, or of the `earlier` ones, with the finished instances, which count the runs."""
    plans = store.plans()
    indexes = family_indexes(plans)
    for index in indexes[:-1] if earlier else indexes:
        yield plans[index], store.finished(*digests_in_force(plans[index], store.decisions(index)))


def planned_last(store: Store) -> PlanRecord:
    """Return the plan in force; StoreUnusable when there is none yet."""
    plans = store.plans()
    if not plans:
        raise StoreUnusable("the results file holds no plan yet; `ampler run` begins one")
    return plans[-1]


def counted_status(
    plan: PlanRecord,
    tally: Collection[Tally],
    decisions: Sequence[DecisionRecord],
    finished: Mapping[str, Finished],
    *earlier: tuple[PlanRecord, Mapping[str, Finished]],
) -> StudyStatus:
    """Return the progress of a study, from what is counted; of sessions, reasons and the machine it says nothing.

    `earlier` are the plans of earlier families with their finished instances.
    """
    instances = {name: dict.fromkeys(plan.algorithms, 0) for name in instances_in_force(plan, decisions)}
    failures: Counter[str] = Counter()
    for cell in tally:
        if cell.instance in instances and cell.algorithm in plan.algorithms:
            instances[cell.instance][cell.algorithm] = cell.runs
            failures[cell.instance] += cell.runs - cell.ok
    return StudyStatus(
        name=plan.name,
        reference=plan.question.reference,
        algorithms=plan.algorithms,
        runs=sum(cell.runs for cell in tally),
        failures=sum(cell.runs - cell.ok for cell in tally),
        seconds=sum(cell.seconds for cell in tally),
        sessions=0,
        untouched=len(plan.untouched) + len(plan.instances) - len(instances),
        part=plan.part,
        unused=unused_runs(tally, (plan, finished), *earlier),
        decisions=_taken(plan, decisions),
        instances=tuple(
            InstanceStatus(name, "finished", done.reason, done.error, runs, failures[name])
            if (done := finished.get(name)) is not None
            else InstanceStatus(
                name, "under way" if any(runs.values()) else "waiting", None, None, runs, failures[name]
            )
            for name, runs in instances.items()
        ),
    )


def _taken(plan: PlanRecord, decisions: Sequence[DecisionRecord]) -> tuple[TakenDecision, ...]:
    """The decisions of a study whose values decide; that all instances are run is no news."""
    return tuple(
        TakenDecision(record.taken, record.decision.reason, record.decision.notes, record.decision.details)
        for record in decisions
        if plan.study_rule
    )


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """State of an instance, with the runs of each algorithm."""

    name: str
    state: Literal["finished", "under way", "waiting"]
    reason: str | None  # reason for its end
    error: float | None  # the largest standard error of interest at its end
    runs: Mapping[str, int]
    failures: int


@dataclass(frozen=True, slots=True)
class TakenDecision:
    """A decision over instances: its date, text, warnings, and details as plain data."""

    taken: str
    reason: str
    notes: tuple[str, ...]
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """Progress of a study. `unused` runs are recorded and not requested by the last plan, as far as that is known."""

    name: str
    reference: str | None
    algorithms: tuple[str, ...]
    runs: int
    failures: int
    seconds: float
    sessions: int
    untouched: int
    part: str
    unused: int
    instances: tuple[InstanceStatus, ...]
    failure: CommonFailure | None = None  # why runs failed most often
    notes: tuple[str, ...] = ()  # on the machine that made the runs
    decisions: tuple[TakenDecision, ...] = ()  # decisions over instances, if adaptive

    @property
    def finished(self) -> int:
        """The number of finished instances."""
        return sum(instance.state == "finished" for instance in self.instances)


def unused_runs(tally: Iterable[Tally], *families: tuple[PlanRecord, Mapping[str, Finished]]) -> int:
    """Count the recorded runs that no plan of a family asks for; on instances under way that is not known yet."""
    named = [(set(plan.instances), set(plan.algorithms), finished) for plan, finished in families]

    def requested(cell: Tally) -> int:
        asked = [
            finished[cell.instance].counts.get(cell.algorithm, 0) if cell.instance in finished else cell.runs
            for instances, algorithms, finished in named
            if cell.instance in instances and cell.algorithm in algorithms
        ]
        return max(asked, default=0)

    return sum(max(0, cell.runs - requested(cell)) for cell in tally)


RECENT_RUNS = 12
RECENT_FAILURES = 400  # failed runs whose reasons are counted


@dataclass(frozen=True, slots=True)
class FailureReason:
    """Reason of recent failures of an algorithm: an example message, their number, and their instances."""

    algorithm: str
    status: str
    message: str
    times: int
    instance: str


@dataclass(frozen=True, slots=True)
class StudySnapshot:
    """Snapshot of a study, for displays.

    `errors` are the largest standard errors of interest on instances, finished or under way, as far as they are known,
    and `target` is the target standard error. `times` are runs and seconds of each algorithm.
    """

    status: StudyStatus
    plan: PlanRecord
    progress: Progress | None
    errors: Mapping[str, float]
    target: float | None
    recent: tuple[Observation, ...]
    reasons: tuple[FailureReason, ...]
    times: Mapping[str, tuple[int, float]]
    ended: bool  # no run is missing


def snapshot_of(store: SqliteStore) -> StudySnapshot:
    """Return a snapshot of a results file; the study may be running."""
    plan, decisions = planned_last(store), store.decisions()
    done, tally = store.finished(*digests_in_force(plan, decisions)), store.tally()
    status = counted_status(plan, tally, decisions, done, *requested_runs(store, earlier=True))
    status = replace(status, sessions=len(store.sessions()))
    times: dict[str, tuple[int, float]] = {}
    for cell in tally:
        runs, seconds = times.get(cell.algorithm, (0, 0.0))
        times[cell.algorithm] = runs + cell.runs, seconds + cell.seconds
    has_decided = not plan.study_rule or any(isinstance(record.decision, EndStudy) for record in decisions)
    return StudySnapshot(
        status=status,
        plan=plan,
        progress=store.progress(),
        errors=_errors(store, plan, status, done),
        target=plan.rule.get("se"),
        recent=tuple(store.latest(RECENT_RUNS)),
        reasons=reasons_of(store.latest(RECENT_FAILURES, failed=True)) if status.failures else (),
        times=times,
        ended=has_decided and status.finished == len(status.instances),
    )


def _errors(store: Store, plan: PlanRecord, status: StudyStatus, done: Mapping[str, Finished]) -> dict[str, float]:
    """Largest standard errors: recorded ones of finished instances, those of instances under way from their values."""
    errors = {name: ended.error for name, ended in done.items() if ended.error is not None}
    rule = rule_of(plan)
    for instance in status.instances if rule is not None else ():
        if instance.state == "under way":
            with suppress(AmplerError):  # invalid values for the statistic are reported by the running study
                error = current_error(rule, _samples(store, plan, instance.name))
                errors |= {} if error is None else {instance.name: error}
    return errors


def _samples(store: Store, plan: PlanRecord, instance: str) -> Samples:
    """The values on an instance, of each algorithm up to its first run that is missing."""
    samples = Samples(plan.algorithms, deterministic=plan.deterministic)
    following = dict.fromkeys(plan.algorithms, 0)
    for run in store.observations(instance):
        name, value = run.key.algorithm, value_of(run, plan.policy)
        if following.get(name) == run.key.index:
            following[name] += 1
            if value is None:
                samples.drop(name)
            else:
                samples.add(name, plan.question.adjusted(value))
    return samples


def reasons_of(failures: Iterable[Observation]) -> tuple[FailureReason, ...]:
    """Return why runs failed, the commonest reason first.

    >>> from ampler.core.runs import RunKey
    >>> seen = [Observation(RunKey("i1", "a", n), None, status="failed", message="it broke") for n in range(3)]
    >>> [(reason.algorithm, reason.message, reason.times) for reason in reasons_of(seen)]
    [('a', 'it broke', 3)]
    """
    runs = list(failures)
    times = Counter(map(_kind, runs))
    first = {_kind(run): run for run in reversed(runs)}
    return tuple(
        FailureReason(which[0], which[1], first[which].message, number, first[which].key.instance)
        for which, number in times.most_common()
    )


def _kind(run: Observation) -> tuple[str, str, str]:
    """The common part of messages that may name the instance."""
    return run.key.algorithm, run.status, reason_of(run).replace(run.key.instance, "…")
