"""Where a study stands: what its store holds against what its last plan wants. A study may be running meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ampler.core.contracts import Store
from ampler.core.errors import StoreUnusable
from ampler.core.values import DecisionRecord, Finished, PlanRecord, Tally
from ampler.study.failing import CommonFailure, commonest
from ampler.study.fairness import fairness_notes
from ampler.study.repeated_testing import growth_warning
from ampler.study.stopping import digests_in_force, instances_in_force


def status_of(store: Store) -> StudyStatus:
    """Return where a study stands under its last plan."""
    plan, decisions = planned_last(store), store.decisions()
    status = counted_status(plan, store.tally(), decisions, store.finished(*digests_in_force(plan, decisions)))
    return replace(
        status,
        sessions=len(store.sessions()),
        failure=commonest(store.failures()),
        notes=tuple(note.sentence for note in (*growth_warning(store, store.plans()), *fairness_notes(plan, store))),
    )


def planned_last(store: Store) -> PlanRecord:
    """Return the plan in force; StoreUnusable when there is none yet."""
    plans = store.plans()
    if not plans:
        raise StoreUnusable("the study file holds no plan yet; `ampler run` begins one")
    return plans[-1]


def counted_status(
    plan: PlanRecord, tally: Collection[Tally], decisions: Sequence[DecisionRecord], finished: Mapping[str, Finished]
) -> StudyStatus:
    """Return where a study stands, from what is counted; of sessions, reasons and the machine it says nothing."""
    instances = instances_in_force(plan, decisions)
    cells = {(each.instance, each.algorithm): each for each in tally}
    begun, no_runs = {each.instance for each in tally} | finished.keys(), dict.fromkeys(plan.algorithms, 0)
    return StudyStatus(
        name=plan.name,
        reference=plan.question.reference,
        algorithms=plan.algorithms,
        runs=sum(each.runs for each in tally),
        failures=sum(each.runs - each.ok for each in tally),
        seconds=sum(each.seconds for each in tally),
        sessions=0,
        untouched=len(plan.untouched) + len(plan.instances) - len(instances),
        part=plan.part,
        unused=unused_runs(plan, tally, finished),
        decisions=_decisions(plan, decisions),
        instances=tuple(
            _instance(name, plan, cells, finished.get(name))
            if name in begun
            else InstanceStatus(name, "waiting", None, None, no_runs, 0)
            for name in instances
        ),
    )


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """Where an instance stands, with the runs of each algorithm."""

    name: str
    state: Literal["finished", "under way", "waiting"]
    reason: str | None  # why it is finished
    error: float | None  # the largest standard error of interest then
    runs: Mapping[str, int]
    failures: int


@dataclass(frozen=True, slots=True)
class TakenDecision:
    """A decision over instances: its date, what was said, what to mind, and what it rests on as plain data."""

    taken: str
    reason: str
    notes: tuple[str, ...]
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """Where a study stands. `unused` runs are recorded and not asked for by the last plan, as far as that is known."""

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
    decisions: tuple[TakenDecision, ...] = ()  # over instances, if values decide on these

    @property
    def finished(self) -> int:
        """The number of finished instances."""
        return sum(instance.state == "finished" for instance in self.instances)


def _decisions(plan: PlanRecord, decisions: Iterable[DecisionRecord]) -> tuple[TakenDecision, ...]:
    """Those of a study whose values decide; that all instances are run is no news."""
    said = [(each.taken, each.decision) for each in decisions if plan.study_rule]
    return tuple(TakenDecision(taken, each.reason, each.notes, each.details) for taken, each in said)


def unused_runs(plan: PlanRecord, tally: Iterable[Tally], finished: Mapping[str, Finished]) -> int:
    """Count the recorded runs that a plan does not ask for; on instances under way that is not known yet."""
    instances, algorithms = set(plan.instances), set(plan.algorithms)
    number = 0
    for each in tally:
        if each.instance not in instances or each.algorithm not in algorithms:
            number += each.runs
        elif each.instance in finished:
            number += max(0, each.runs - finished[each.instance].counts.get(each.algorithm, 0))
    return number


def _instance(
    name: str, plan: PlanRecord, cells: Mapping[tuple[str, str], Tally], done: Finished | None
) -> InstanceStatus:
    mine = {algorithm: cells.get((name, algorithm)) for algorithm in plan.algorithms}
    runs = {algorithm: 0 if cell is None else cell.runs for algorithm, cell in mine.items()}
    return InstanceStatus(
        name=name,
        state="finished" if done else "under way" if any(runs.values()) else "waiting",
        reason=done.reason if done else None,
        error=done.error if done else None,
        runs=runs,
        failures=sum(cell.runs - cell.ok for cell in mine.values() if cell is not None),
    )
