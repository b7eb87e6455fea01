"""Carries out a plan: decisions, workers and store meet here, in one thread, and it alone writes to the store."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from ampler.core.contracts import Executor, Store
from ampler.core.errors import StoreError
from ampler.core.values import Observation, Plan
from ampler.running.engines.dask import DaskEngine, client_of, threads_of
from ampler.running.engines.engine import Done, Engine, ExecutorEngine, Fate, Lost, Returned
from ampler.running.engines.local import LocalPool
from ampler.running.instance import Course
from ampler.running.one_run import check_limits
from ampler.running.pace import Pace
from ampler.running.progress import Meter, Progress
from ampler.running.queue import AHEAD, Agenda
from ampler.running.work import Task, Work
from ampler.study.changes import Growth, growth
from ampler.study.plan import begun_first
from ampler.study.record import record
from ampler.study.store import Journal, environment

Report = Callable[[Progress], object]
Announce = Callable[[Growth], object]

REPORT_EVERY = 0.5  # seconds


def run_plan(
    plan: Plan,
    store: Store,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    report: Report | None = None,
    announce: Announce | None = None,
) -> Progress:
    """Carry out a plan: make the runs the store lacks, until the rule has stopped on every instance.

    Runs are made by `workers` processes (default: one for each core), or by an executor of the kind of
    concurrent.futures. `report` is told of the progress now and then, `announce` before anything starts how the plan
    differs from the one under which the recorded runs were made. Interrupted, by Ctrl-C, SIGTERM or worse, it leaves
    all that is recorded, and calling it again goes on from there.
    """
    check_limits(plan.limits)
    plan, before = begun_first(plan, store.begun()), store.plans()[-1:]
    kept = record(plan)
    store.begin(kept, {**environment(), **({"part": plan.part} if plan.part else {})})
    if announce is not None and before and store.begun() and (change := growth(before[0], kept)) is not None:
        announce(change)
    drive = Drive(plan, store, kept.decisions, workers or _workers_of(executor), again=retry_failed, report=report)
    if drive.waiting:
        with sigterm_as_interrupt():
            drive.through(_engine(executor, Work.of(plan), workers))
    return drive.reading(workers or _workers_of(executor))


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Have SIGTERM raise KeyboardInterrupt, as Ctrl-C does; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Drive:
    """One carrying-out of a plan: instances that wait, instances under way, and the runs they want."""

    def __init__(
        self, plan: Plan, store: Store, decisions: str, workers: int, *, again: bool, report: Report | None
    ) -> None:
        self._plan, self._store, self._decisions = plan, store, decisions
        self._again, self._report, self._reported = again, report, 0.0
        tally, failed = store.tally(), [observation.key for observation in store.failures()]
        self.meter = Meter(plan, tally, failed)
        self._pace = Pace(tally)
        self._agenda = Agenda([instance.name for instance in plan.instances], workers)
        self._journal = Journal(store)
        self._courses: dict[str, Course] = {}
        self.waiting = deque(self._unfinished({key.instance for key in failed} if again else set()))

    def through(self, engine: Engine) -> None:
        """Drive until every instance is done. Whatever happens, all that was made is recorded."""
        try:
            while self._fill(engine):
                for fate in engine.collect(self._patience()):
                    self._note(fate)
                self._keep_time(engine)
            self.meter.add(self._journal.flush())
        except BaseException:
            try:
                self._save(engine)
            finally:
                engine.close(at_once=True)
            raise
        engine.close(at_once=False)
        self._tell(engine)

    def _unfinished(self, reopened: set[str]) -> Iterator[str]:
        """The instances that need to be looked at; those finished under the same decisions need no replay."""
        finished = self._store.finished(self._decisions)
        for instance in self._plan.instances:
            if instance.name in finished and instance.name not in reopened:
                self.meter.finish(finished[instance.name])
            else:
                yield instance.name

    def _fill(self, engine: Engine) -> bool:
        """Keep the workers in work; False when there is nothing more to wait for."""
        self._agenda.workers = engine.workers  # those of a cluster come and go
        while engine.busy < AHEAD * engine.workers:
            while self.waiting and self._agenda.is_short(self._pace):
                self._open(self.waiting.popleft())
            chunk = self._agenda.chunk(self._pace)
            if not chunk:
                break
            engine.submit(chunk)
        return engine.busy > 0

    def _open(self, instance: str) -> None:
        """Begin an instance, or replay it as far as its recorded runs go."""
        recorded = self._store.observations(instance, superseded=True)
        course = Course(self._plan, instance, self._decisions, recorded, again=self._again)
        self._courses[instance] = course
        self._go_on(course, course.begin())

    def _go_on(self, course: Course, tasks: Iterable[Task]) -> None:
        self._agenda.add(tasks)
        if course.done is not None:
            self.meter.add(self._journal.add(finished=course.done))
            self.meter.finish(course.done)
            del self._courses[course.instance]

    def _note(self, fate: Fate) -> None:
        """Record what became of a chunk, and go on with its instances."""
        match fate:
            case Done(observations, seconds):
                self._pace.note(observations, seconds)
                self._take(observations)
            case Lost(tasks, how):
                self._take([self._courses[task.key.instance].lost(task, how) for task in tasks])
            case Returned(tasks):
                self._agenda.add(tasks)

    def _take(self, observations: Sequence[Observation]) -> None:
        self.meter.add(self._journal.add(*observations))
        for observation in observations:
            course = self._courses[observation.key.instance]
            self._go_on(course, course.take(observation))

    def _patience(self) -> float:
        """How long to wait for workers: until a group of runs must be written, or somebody wants to know."""
        due = self._journal.due_in
        return REPORT_EVERY if due is None else min(due, REPORT_EVERY)

    def _keep_time(self, engine: Engine) -> None:
        if self._journal.due_in == 0:
            self.meter.add(self._journal.flush())
        if time.monotonic() - self._reported >= REPORT_EVERY:
            self._tell(engine)

    def _tell(self, engine: Engine) -> None:
        if self._report is not None:
            self._report(self.reading(engine.workers))
            self._reported = time.monotonic()

    def reading(self, workers: int) -> Progress:
        """Return where the study stands."""
        return self.meter.reading(self._courses.values(), len(self.waiting), self._pace, workers)

    def _save(self, engine: Engine) -> None:
        """Record what has arrived; a store that fails here has said so already, or the next run will tell."""
        with suppress(StoreError):
            for fate in engine.collect(0):
                if isinstance(fate, Done):
                    self._journal.add(*fate.observations)
            self._journal.flush()


def _engine(executor: Executor | None, work: Work, workers: int | None) -> Engine:
    """What makes the runs: processes of ours, the workers of a Dask cluster, or whatever else is an executor."""
    client = client_of(executor)
    if client is not None:
        return DaskEngine(client, work, workers)
    number = workers or _workers_of(executor)
    return LocalPool(work, number) if executor is None else ExecutorEngine(executor, work, number)


def _workers_of(executor: Executor | None) -> int:
    """As many as the executor has, if it says so, or else the cores we may use."""
    client = client_of(executor)
    if client is not None:
        return threads_of(client)
    known = getattr(executor, "_max_workers", None)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return known or cores or 1
