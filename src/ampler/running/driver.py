"""Carries out a plan: decisions, workers and store meet here, in one thread, and it alone writes to the store."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress

from ampler.core import checks
from ampler.core.contracts import Executor, FinishedGroup, Store
from ampler.core.errors import InvalidInput, RunFailed, StoreError
from ampler.core.failures import StopStudy
from ampler.core.runs import on_instances
from ampler.core.spoken import parameter
from ampler.core.values import (
    Continue,
    DecisionRecord,
    Finished,
    Observation,
    Plan,
    PlanRecord,
    Progress,
    RunKey,
    StudyDecision,
)
from ampler.running.code import CodeWatch, settled_code
from ampler.running.engines import Done, Engine, Fate, Lost, Returned
from ampler.running.engines.choose import capacity_of, engine_for
from ampler.running.instance import Attempt, InstanceRun
from ampler.running.instance_files import is_spoiled
from ampler.running.interrupts import Interrupts
from ampler.running.one_run import check_can_run, check_limits
from ampler.running.progress import ProgressMeter
from ampler.running.queue import AHEAD, RunTimes, TaskQueue, alternating
from ampler.running.remaining import last_carried_out, run_seconds, still_to_make, superseded_attempts
from ampler.running.ruling import heard
from ampler.running.work import Task, Work
from ampler.study.changes import PlanChange, plan_change
from ampler.study.code.changes import shown
from ampler.study.decided import check_decided, check_declared, is_decided_alike
from ampler.study.defaults import as_begun
from ampler.study.failing import Hopeless
from ampler.study.forecast import Forecast
from ampler.study.plan import begun_first
from ampler.study.record import record
from ampler.study.stopping import check_study_rule, digests_in_force, instance_digest, recorded
from ampler.study.stopping import decided as next_decision
from ampler.study.store import Journal, environment

Report = Callable[[Progress], object]
Announce = Callable[[PlanChange], object]
Expect = Callable[[Forecast], object]
Decided = Callable[[StudyDecision], object]

REPORT_EVERY = 0.5  # seconds
MARK_EVERY = 1.0  # seconds between notes of the progress in the store, at least,
MARK_SHARE = 0.01  # and so rarely that making them takes no more than this share of the time


def run_plan(
    plan: Plan,
    store: Store,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    despite_failures: bool = False,
    same: bool = False,
    again: bool = False,
    report: Report | None = None,
    announce: Announce | None = None,
    expect: Expect | None = None,
    decided: Decided | None = None,
) -> Progress:
    """Carry out a plan: make the runs the store lacks, until the rule has stopped on every instance asked for.

    Runs are made by `workers` processes (default: one for each core), or by an executor of the kind of
    concurrent.futures. `report` is told of the progress now and then, `announce` before anything starts how the plan
    differs from the one under which the recorded runs were made, `expect` what is still to be made, and `decided` of
    each new decision over instances.
    When every run of an algorithm fails from the start for one kind of reason, RunFailed says so and why, unless the
    study shall go on `despite_failures`.
    When the code of an algorithm is not that of its recorded runs, PlanMismatch asks before anything starts whether it
    is the `same` all the same, or those runs are made `again`; then the old ones are superseded.
    Interrupted, by Ctrl-C, SIGTERM or worse, it leaves all that is recorded, and calling it again goes on from there.
    """
    _check_arguments(workers, executor, report=report, announce=announce, expect=expect, decided=decided)
    checks.truth("retry_failed", retry_failed)
    checks.truth("despite_failures", despite_failures)
    checks.truth("same", same)
    checks.truth("again", again)
    for algorithm in plan.algorithms:
        check_can_run(algorithm)
        check_limits(plan.limits_of(algorithm))
    before, earlier, on_record = store.plans()[-1:], last_carried_out(store), store.decisions()
    plan = as_begun(begun_first(plan, store.begun()), *before)
    check_study_rule(plan)
    kept = record(plan)
    if before:
        check_decided(before[0], on_record, kept, again=retry_failed or again)
        check_declared(before[0], kept, store.finished(*digests_in_force(before[0], on_record)))
    code = settled_code(plan, store, same=same, again=again)
    store.begin(kept, {**environment(), **({"part": plan.part} if plan.part else {})})
    code.keep(store)
    number = workers or capacity_of(executor)
    if announce is not None and earlier and store.begun() and (change := plan_change(earlier[0], kept)) is not None:
        announce(change)
    if expect is not None:
        expect(still_to_make(plan, store, run_seconds(store), workers=number))
    holds = before and not (retry_failed or again) and is_decided_alike(before[0], kept)
    driver = Driver(
        plan,
        store,
        kept,
        number,
        again=retry_failed,
        despite=despite_failures,
        report=report,
        decided=decided,
        on_record=on_record if holds else (),
        watch=None if same else CodeWatch(plan.algorithms, code),
    )
    if driver.go_on():
        driver.check_hope()
        with Interrupts() as interrupts:
            driver.run(engine_for(executor, Work.of(plan), workers), interrupts)
    return driver.reading(number)


def _check_arguments(workers: int | None, executor: Executor | None, **listeners: object) -> None:
    if workers is not None:
        checks.workers("workers", workers, "or None for one worker on each core")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InvalidInput(
            f"executor must have a submit method, as those of concurrent.futures have, got {executor!r};"
            " leave it out for processes on this machine"
        )
    for name, listener in listeners.items():
        checks.function(name, listener)


def _gone(superseded: Collection[Attempt], store: Store) -> set[RunKey]:
    """The runs of which no attempt counts."""
    if not superseded:
        return set()
    return {key for key, _ in superseded}.difference(observation.key for observation in store.observations())


def _parted(given: Sequence[Observation]) -> tuple[Sequence[Observation], Sequence[Observation]]:
    """Runs that are recorded, and those made on a file that is not the one that was planned."""
    spoiled = [seen for seen in given if seen.status != "ok" and is_spoiled(seen)]
    return ([seen for seen in given if not is_spoiled(seen)], spoiled) if spoiled else (given, spoiled)


def _made_as_planned(given: Iterable[Observation], changes: Collection[str] = ()) -> list[Observation]:
    """Runs of algorithms whose code was not changed meanwhile, on files that are those that were planned."""
    return [seen for seen in given if seen.key.algorithm not in changes and not is_spoiled(seen)]


class Driver:
    """One carrying-out of a plan: groups of instances, those that wait, those under way, and the runs they want."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        kept: PlanRecord,
        workers: int,
        *,
        again: bool = False,
        despite: bool = False,
        report: Report | None = None,
        decided: Decided | None = None,
        on_record: Sequence[DecisionRecord] = (),
        watch: CodeWatch | None = None,
    ) -> None:
        self._watch = watch
        self._plan, self._store, self._kept = plan, store, kept
        self._again, self._report, self._decided = again, report, decided
        self._next_report = self._next_mark = 0.0
        self._workers = workers
        tally, failures = store.tally(), store.failures()
        failed = [observation.key for observation in failures]
        self._hopeless: Hopeless | None = None  # under the policy to stop the first failure is the last
        if not despite and not isinstance(plan.policy, StopStudy):
            self._hopeless = Hopeless(tally, () if again else failures, instances=len(plan.instances))
        self._superseded = superseded_attempts(store)
        self.meter = ProgressMeter(plan, tally, failed, _gone(self._superseded, store))
        self._times = RunTimes(tally)
        self._queue = TaskQueue([instance.name for instance in plan.instances], workers)
        self._journal = Journal(store)
        self._under_way: dict[str, InstanceRun] = {}
        self._arrived: deque[Fate] = deque()  # what workers gave and nobody has looked at yet
        self._to_retry = {key.instance for key in failed} if again else set()
        self._failed_now: set[RunKey] = set()
        self._taken, self._on_record = store.decisions(), on_record
        self._groups: list[FinishedGroup] = []
        self._asked: Continue | None = None
        self._done: dict[str, Finished] = {}  # of the group that was asked for
        self._ended = False
        self.waiting: deque[str] = deque()

    def run(self, engine: Engine, interrupts: Interrupts) -> None:
        """Carry on until the study ends. Whatever happens, all that was made is recorded."""
        try:
            while self._keep_busy(engine):
                self._arrived.extend(engine.collect(self._patience()))
                while self._arrived:
                    self._note(self._arrived.popleft())
                self._keep_time(engine)
                interrupts.repeat()
        except BaseException:
            try:
                self._save(engine)
            finally:
                engine.close(at_once=True)
            raise
        engine.close(at_once=False)
        self._tell(engine)

    def go_on(self) -> bool:
        """When a group of instances is finished, ask how the study goes on; False when it has ended.

        Groups that are finished on record need no runs: the study rule is asked again until one does.
        """
        while not (self._ended or self.waiting or self._under_way):
            self._flush()
            if self._asked is not None:
                self._groups.append(self._finished_group(self._asked))
            self._take_decision(heard(lambda: next_decision(self._plan, self._groups, self._on_record)))
        return not self._ended

    def _finished_group(self, asked: Continue) -> FinishedGroup:
        digest = instance_digest(self._kept, asked)
        done = tuple(self._done[name] for name in asked.instances)
        return FinishedGroup(asked, done, lambda: on_instances(self._store.runs(digest), asked.instances))

    def _take_decision(self, decision: StudyDecision) -> None:
        """Record a decision unless it is on record, and begin what it asks for."""
        number = len(self._groups)
        if isinstance(decision, Continue):
            self._begin(decision)
        else:
            self._ended = True
        self.meter.wanted(self._asked_so_far())
        self._mark(self._workers)
        taken = recorded(number, decision)
        if [each.digest for each in self._taken[number : number + 1]] != [taken.digest]:
            self._taken = (*self._taken[:number], taken)
            self._store.decide(number, decision)
            if self._decided is not None:
                self._decided(decision)
        elif self._ended:
            self._store.add([])  # the mark is written all the same

    def _begin(self, asked: Continue) -> None:
        """Have the instances of a group wait; those finished under the same decisions need no replay."""
        self._asked, self._done = asked, {}
        self.meter.reopen(asked.instances)
        finished = self._store.finished(instance_digest(self._kept, asked))
        for name in asked.instances:
            if name in finished and name not in self._to_retry:
                self._finish(finished[name])
            else:
                self.waiting.append(name)

    def _finish(self, done: Finished) -> None:
        self._done[done.instance] = done
        self.meter.finish(done)

    def _keep_busy(self, engine: Engine) -> bool:
        """Keep the workers in work, group after group; False when the study has ended."""
        while not self._fill(engine):
            if not self.go_on():
                return False
        return True

    def _fill(self, engine: Engine) -> bool:
        """Keep the workers in work; False when there is nothing more to wait for."""
        self._queue.workers = engine.workers  # those of a cluster come and go
        while engine.busy < AHEAD * engine.workers:
            while self.waiting and self._queue.is_short(self._times):
                self._open(self.waiting.popleft())
            chunk = self._queue.chunk(self._times)
            if not chunk:
                break
            engine.submit(chunk)
        return engine.busy > 0

    def _open(self, name: str) -> None:
        """Begin an instance, or replay it as far as its recorded runs go."""
        assert self._asked is not None, "a group was asked for"
        instance = InstanceRun(
            self._plan,
            name,
            instance_digest(self._kept, self._asked),
            self._store.observations(name, superseded=True),
            asked=self._asked,
            again=self._again,
            made=self._failed_now,
            superseded=self._superseded,
        )
        self._under_way[name] = instance
        self._go_on(instance, instance.begin())

    def _go_on(self, instance: InstanceRun, tasks: Sequence[Task]) -> None:
        if tasks:
            self._queue.add(alternating(tasks, seed=f"{self._plan.seed}/{instance.name}/{instance.rounds}"))
        if instance.done is not None:
            self.meter.add(self._journal.add(finished=instance.done))
            self._finish(instance.done)
            del self._under_way[instance.name]

    def _note(self, fate: Fate) -> None:
        """Record what became of a chunk, and go on with its instances."""
        match fate:
            case Done(observations, seconds):
                self._times.note(observations, seconds)
                self._take(observations)
            case Lost(tasks, how):
                self._take([self._under_way[task.key.instance].lost(task, how) for task in tasks])
            case Returned(tasks):
                self._queue.add(tasks)

    def _take(self, given: Sequence[Observation]) -> None:
        changes = {} if self._watch is None else self._watch.changes()
        if changes:
            self.meter.add(self._journal.add(*_made_as_planned(given, changes)))
            which = "; ".join(f"{name!r} ({shown(files)})" for name, files in changes.items())
            raise RunFailed(
                f"the study stops: code was changed while it ran, that of {which}; runs that ended since are not"
                f" recorded: put the old code back, or run again and say {parameter('same', True)} if the change does"
                f" not matter, {parameter('again', True)} to make the runs before it anew"
            )
        observations, spoiled = _parted(given)
        self.meter.add(self._journal.add(*observations))
        self._failed_now.update([observation.key for observation in observations if observation.status != "ok"])
        if self._hopeless is not None:
            self._hopeless.note(observations)
            self.check_hope()
        for observation in observations:
            instance = self._under_way[observation.key.instance]
            tasks = instance.take(observation)
            if tasks or instance.done is not None:
                self._go_on(instance, tasks)
        for seen in spoiled:
            raise RunFailed(
                f"the study stops: a run was asked for, but {seen.message}; runs on it are not recorded: put the old"
                " content back, or give the changed file another name, and run again"
            )

    def check_hope(self) -> None:
        """Raise RunFailed when an algorithm has done nothing but fail, so that its next runs would too."""
        reason = None if self._hopeless is None else self._hopeless.found()
        if reason is not None:
            raise RunFailed(reason)

    def _patience(self) -> float:
        """How long to wait for workers: until a group of runs must be written, or somebody wants to know."""
        due = self._journal.due_in
        return REPORT_EVERY if due is None else min(due, REPORT_EVERY)

    def _keep_time(self, engine: Engine) -> None:
        if time.monotonic() >= self._next_mark:
            self._mark(engine.workers)
        if self._journal.due_in == 0:
            self._flush()
        if time.monotonic() >= self._next_report:
            self._tell(engine)

    def _flush(self) -> None:
        self.meter.add(self._journal.flush())

    def _mark(self, workers: int) -> None:
        """Have the store note where the study stands, with the runs that are written next.

        What that takes is processor time: beside workers that are busy it may take longer by the clock.
        """
        began = time.thread_time()
        self._store.mark(self.reading(workers))
        taken = time.thread_time() - began
        self._next_mark = time.monotonic() + max(MARK_EVERY, taken / MARK_SHARE)

    def _tell(self, engine: Engine) -> None:
        if self._report is not None:
            self._report(self.reading(engine.workers))
            self._next_report = time.monotonic() + REPORT_EVERY

    def reading(self, workers: int) -> Progress:
        """Return where the study stands, among the instances that were asked for so far: further ones are not known."""
        return self.meter.reading(self._under_way.values(), len(self.waiting), self._times, workers)

    def _asked_so_far(self) -> set[str]:
        asked = [group.asked for group in self._groups] + ([] if self._asked is None else [self._asked])
        return {name for each in asked for name in each.instances}

    def _save(self, engine: Engine) -> None:
        """Record what has arrived; a store that fails here has said so already, or the next run will tell."""
        with suppress(StoreError):
            arrived = (*self._arrived, *engine.collect(0))
            changes = {} if self._watch is None else self._watch.changes()
            for fate in arrived:
                if isinstance(fate, Done):
                    self._journal.add(*_made_as_planned(fate.observations, changes))
            self._flush()
            self._mark(engine.workers)
            self._store.add([])  # whoever watches sees what was recorded at the end
