"""Execution of a plan in one thread, which takes decisions, feeds workers, and alone writes to the store.

Also the remaining runs of a plan, by a replay of its decisions over the recorded runs.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import Any

from ampler.core import settings
from ampler.core.arrays import on_instances
from ampler.core.contracts import Executor, FinishedGroup, Store
from ampler.core.errors import InvalidInput, PlanMismatch, RunFailed, StoreError
from ampler.core.failures import StopStudy
from ampler.core.plan import Algorithm, Continue, DecisionRecord, EndStudy, Function, Plan, PlanRecord, StudyDecision
from ampler.core.runs import Code, Finished, Observation, Progress, RunKey
from ampler.core.text import composed, listed, parameter
from ampler.running.engines import Done, Engine, Fate, Lost, Returned, capacity_of, engine_for
from ampler.running.instance import (
    AHEAD,
    Attempt,
    InstanceRun,
    RunTimes,
    TaskQueue,
    alternating,
    call_rule,
    mean_seconds,
)
from ampler.running.one_run.execution import check_supported
from ampler.running.progress import ProgressMeter
from ampler.running.work import CHANGED_INSTANCE, Task, Work
from ampler.study import code as codes
from ampler.study.changes import PlanChange, check_declared, is_decided_alike, plan_change
from ampler.study.code import CodeChange, Files
from ampler.study.failure_patterns import AlwaysFailing
from ampler.study.families import AddedAlgorithms, plan_in_force
from ampler.study.forecast import Forecast, Share, forecast, instance_budget, summed
from ampler.study.record import record
from ampler.study.stopping import check_study_rule, digests_in_force, instance_digest, recorded
from ampler.study.stopping import decided as next_decision
from ampler.study.store import Journal, environment

REPORT_EVERY = 0.5  # seconds
MARK_EVERY = 1.0  # seconds between notes of the progress in the store, at least,
MARK_SHARE = 0.01  # maximum share of the time that they may take


def run_plan(
    plan: Plan,
    store: Store,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    retry_failed: bool = False,
    despite_failures: bool = False,
    same: Names = False,
    again: Names = False,
    report: Callable[[Progress], object] | None = None,
    announce: Callable[[PlanChange], object] | None = None,
    expect: Callable[[Forecast], object] | None = None,
    decided: Callable[[StudyDecision], object] | None = None,
) -> Progress:
    """Carry out a plan: make the runs the store lacks, until the rule has stopped on every instance requested.

    Runs are made by `workers` processes (default: one for each core), or by an executor of the kind of
    concurrent.futures. `report` receives the progress now and then, `announce` before anything starts how the
    plan differs from the one under which the recorded runs were made, `expect` what is still to be made, and `decided`
    of each new decision over instances. When every run of an algorithm fails from the start for one kind of reason,
    RunFailed says so and why, unless the study shall continue `despite_failures`. When the code of an algorithm is not
    that of its recorded runs, PlanMismatch asks before anything starts whether it is the `same` all the same, or those
    runs are made `again`; then the old ones are superseded. Each is true or false for all algorithms, or names some.
    Interrupted, by Ctrl-C, SIGTERM or worse, it leaves all that is recorded, and calling it again continues from there.
    """
    if workers is not None:
        settings.workers("workers", workers, "or None for one worker on each core")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InvalidInput(
            f"executor must have a submit method, like those of concurrent.futures, got {executor!r};"
            " omit it for processes on this machine"
        )
    settings.truth("retry_failed", retry_failed)
    settings.truth("despite_failures", despite_failures)
    for algorithm in plan.algorithms:
        check_supported(algorithm, plan.limits_of(algorithm))
    before, earlier, on_record = store.plans()[-1:], last_carried_out(store), store.decisions()
    plan = plan_in_force(plan, store, again=retry_failed or bool(again))
    check_study_rule(plan)
    plan_record = record(plan)
    if before:
        check_declared(before[0], plan_record, store.finished(*digests_in_force(before[0], on_record)))
    code = resolve_code_changes(plan, store, same=same, again=again)
    store.begin(plan_record, {**environment(), **({"part": plan.part} if plan.part else {})})
    code.keep(store)
    workers_now = workers or capacity_of(executor)
    is_later = isinstance(plan.study_rule, AddedAlgorithms)
    if (
        announce is not None
        and not is_later
        and earlier
        and store.begun()
        and (change := plan_change(earlier[0], plan_record))
    ):
        announce(change)
    if expect is not None:
        expect(still_to_make(plan, store, mean_seconds(store.tally()), workers=workers_now))
    holds = before and not (retry_failed or again) and is_decided_alike(before[0], plan_record)
    driver = Driver(
        plan,
        store,
        plan_record,
        workers_now,
        again=retry_failed,
        despite=despite_failures,
        report=report,
        decided=decided,
        on_record=on_record if holds else (),
        watch=None if same is True else CodeWatch(plan.algorithms, code),
    )
    if driver.advance():
        driver.abort_if_always_failing()
        with Interrupts() as interrupts:
            driver.run(engine_for(executor, Work.of(plan), workers), interrupts)
    return driver.progress(workers_now)


class Driver:
    """One execution of a plan: groups of instances, waiting and active ones, and the runs they need."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        plan_record: PlanRecord,
        workers: int,
        *,
        again: bool,
        despite: bool,
        report: Callable[[Progress], object] | None,
        decided: Callable[[StudyDecision], object] | None,
        on_record: Sequence[DecisionRecord],
        watch: CodeWatch | None,
    ) -> None:
        self._plan, self._store, self._plan_record, self._workers = plan, store, plan_record, workers
        self._again, self._report, self._decided, self._watch = again, report, decided, watch
        self._next_report = self._next_mark = 0.0
        tally, failures = store.tally(), store.failures()
        failed = [observation.key for observation in failures]
        self._hopeless: AlwaysFailing | None = None  # with the policy "stop", the first failure is final
        if not despite and not isinstance(plan.policy, StopStudy):
            self._hopeless = AlwaysFailing(tally, () if again else failures, instances=len(plan.instances))
        self._superseded = superseded_attempts(store)
        counted = {run.key for run in store.observations()} if self._superseded else set()
        gone = {key for key, _ in self._superseded} - counted  # runs without a counting attempt
        self.meter = ProgressMeter(plan, tally, failed, gone)
        self._times = RunTimes(tally)
        self._queue = TaskQueue([instance.name for instance in plan.instances], workers)
        self._journal = Journal(store)
        self._under_way: dict[str, InstanceRun] = {}
        self._arrived: deque[Fate] = deque()  # results of workers that are not recorded yet
        self._to_retry = {key.instance for key in failed} if again else set()
        self._failed_now: set[RunKey] = set()
        self._decisions, self._on_record = store.decisions(), on_record
        self._groups: list[FinishedGroup] = []
        self._request: Continue | None = None
        self._done: dict[str, Finished] = {}  # instances of the active group
        self._ended = False
        self._waiting: deque[str] = deque()

    def run(self, engine: Engine, interrupts: Interrupts) -> None:
        """Run until the study ends. All results are recorded, whatever happens."""
        try:
            while self._keep_busy(engine):
                due = self._journal.due_in  # a group of runs must be written then
                self._arrived.extend(engine.collect(REPORT_EVERY if due is None else min(due, REPORT_EVERY)))
                while self._arrived:  # what became of a chunk
                    match self._arrived.popleft():
                        case Done(observations, seconds):
                            self._times.note(observations, seconds)
                            self._take(observations)
                        case Lost(tasks, how):
                            self._take([self._under_way[task.key.instance].lost(task, how) for task in tasks])
                        case Returned(tasks):
                            self._queue.add(tasks)
                if time.monotonic() >= self._next_mark:
                    self._mark(engine.workers)
                if self._journal.due_in == 0:
                    self.meter.add(self._journal.flush())
                if time.monotonic() >= self._next_report:
                    self._send_report(engine)
                interrupts.repeat()
        except BaseException:
            try:
                self._save(engine)
            finally:
                engine.close(at_once=True)
            raise
        engine.close(at_once=False)
        self._send_report(engine)

    def advance(self) -> bool:
        """When a group of instances is finished, decide how the study continues; False when it has ended.

        Groups that are finished on record need no runs: the study rule is called again until one does.
        """
        while not (self._ended or self._waiting or self._under_way):
            self.meter.add(self._journal.flush())
            if self._request is not None:
                digest = instance_digest(self._plan_record, self._request)
                self._groups.append(_finished_group(self._request, digest, self._done, self._store))
            self._take_decision(call_rule(lambda: next_decision(self._plan, self._groups, self._on_record)))
        return not self._ended

    def _take_decision(self, decision: StudyDecision) -> None:
        """Record a new decision, and queue its instances.

        The instances of a group wait; those finished under the same decisions need no replay.
        """
        number = len(self._groups)
        if isinstance(decision, Continue):
            self._request, self._done = decision, {}
            self.meter.reopen(decision.instances)
            finished = self._store.finished(instance_digest(self._plan_record, decision))
            for name in decision.instances:
                if name in finished and name not in self._to_retry:
                    self._finish(finished[name])
                else:
                    self._waiting.append(name)
        else:
            self._ended = True
        requests = [group.asked for group in self._groups] + ([] if self._request is None else [self._request])
        self.meter.requested({name for request in requests for name in request.instances})
        self._mark(self._workers)
        new = recorded(number, decision)
        if [decision.digest for decision in self._decisions[number : number + 1]] != [new.digest]:
            self._decisions = (*self._decisions[:number], new)
            self._store.decide(number, decision)
            if self._decided is not None:
                self._decided(decision)
        elif self._ended:
            self._store.add([])  # the mark is written all the same

    def _finish(self, done: Finished) -> None:
        self._done[done.instance] = done
        self.meter.finish(done)

    def _keep_busy(self, engine: Engine) -> bool:
        """Keep the workers busy, group after group; False when the study has ended."""
        while True:
            self._queue.workers = engine.workers  # the number of workers of a cluster changes
            while engine.busy < AHEAD * engine.workers:
                while self._waiting and self._queue.is_short(self._times):
                    self._open(self._waiting.popleft())
                chunk = self._queue.chunk(self._times)
                if not chunk:
                    break
                engine.submit(chunk)
            if engine.busy:
                return True
            if not self.advance():
                return False

    def _open(self, name: str) -> None:
        """Begin an instance, and replay its recorded runs."""
        assert self._request is not None, "a group was requested"
        instance = InstanceRun(
            self._plan,
            name,
            instance_digest(self._plan_record, self._request),
            self._store.observations(name, superseded=True),
            request=self._request,
            again=self._again,
            failed_now=self._failed_now,
            superseded=self._superseded,
        )
        self._under_way[name] = instance
        self._continue(instance, instance.begin())

    def _continue(self, instance: InstanceRun, tasks: Sequence[Task]) -> None:
        if tasks:
            self._queue.add(alternating(tasks, seed=f"{self._plan.seed}/{instance.name}/{instance.rounds}"))
        if instance.done is not None:
            self.meter.add(self._journal.add(finished=instance.done))
            self._finish(instance.done)
            del self._under_way[instance.name]

    def _take(self, observations: Sequence[Observation]) -> None:
        """Record runs, and continue their instances."""
        spoiled = [run for run in observations if run.cause == CHANGED_INSTANCE]
        if spoiled:
            observations = [run for run in observations if run.cause != CHANGED_INSTANCE]
        if self._watch is not None and (changes := self._watch.changes()):
            self.meter.add(self._journal.add(*[run for run in observations if run.key.algorithm not in changes]))
            which = "; ".join(f"{name!r} ({codes.file_list(files)})" for name, files in changes.items())
            raise RunFailed(
                f"the study stops: the code of {which} was changed while it ran; later runs are not"
                f" recorded: restore the old code, or run again with {parameter('same', True)} if the change does"
                f" not matter, or with {parameter('again', True)} to repeat earlier runs"
            )
        self.meter.add(self._journal.add(*observations))
        self._failed_now.update([observation.key for observation in observations if observation.status != "ok"])
        if self._hopeless is not None:
            self._hopeless.note(observations)
        self.abort_if_always_failing()
        for observation in observations:
            instance = self._under_way[observation.key.instance]
            tasks = instance.take(observation)
            if tasks or instance.done is not None:
                self._continue(instance, tasks)
        if spoiled:
            raise RunFailed(
                f"the study stops: {spoiled[0].message}; runs on this instance are not recorded: restore the"
                " old content, or rename the changed file, and run again"
            )

    def abort_if_always_failing(self) -> None:
        """Raise RunFailed if all runs of an algorithm failed so far."""
        if self._hopeless is not None and (reason := self._hopeless.found()) is not None:
            raise RunFailed(reason)

    def progress(self, workers: int) -> Progress:
        """Return the progress of the study on the instances requested so far."""
        return self.meter.progress(self._under_way.values(), len(self._waiting), self._times, workers)

    def _mark(self, workers: int) -> None:
        """Keep the progress of the study in the store, with the next group of runs.

        What that takes is processor time: next to workers that are busy it may take longer by the clock."""
        began = time.thread_time()
        self._store.mark(self.progress(workers))
        spent = time.thread_time() - began
        self._next_mark = time.monotonic() + max(MARK_EVERY, spent / MARK_SHARE)

    def _send_report(self, engine: Engine) -> None:
        if self._report is not None:
            self._report(self.progress(engine.workers))
            self._next_report = time.monotonic() + REPORT_EVERY

    def _save(self, engine: Engine) -> None:
        """Record what has arrived; a store that fails here has raised already, or the next run will."""
        with suppress(StoreError):
            arrived = (*self._arrived, *engine.collect(0))
            changes = {} if self._watch is None else self._watch.changes()
            made = [run for fate in arrived if isinstance(fate, Done) for run in fate.observations]
            planned = [run for run in made if run.cause != CHANGED_INSTANCE and run.key.algorithm not in changes]
            self._journal.add(*planned)
            self.meter.add(self._journal.flush())
            self._mark(engine.workers)
            self._store.add([])  # watchers see the final state


def still_to_make(plan: Plan, store: Store, seconds: Mapping[str, float], *, workers: int) -> Forecast:
    """Return the remaining cost of a plan; `seconds` are those of a run of each algorithm.

    A study that was checked and never run is still to be made as a whole: its first runs are part of it.
    """
    if all("check" in session.environment for session in store.sessions()):
        return forecast(plan, seconds, workers=workers)
    plan, plans = plan_in_force(plan, store), store.plans()
    plan_record, superseded = record(plan), superseded_attempts(store)
    on_record = store.decisions() if plans and is_decided_alike(plans[-1], plan_record) else ()
    groups: list[FinishedGroup] = []
    shares: list[Share] = []  # cost of each unfinished instance
    while not isinstance(request := call_rule(lambda: next_decision(plan, groups, on_record)), EndStudy):
        digest = instance_digest(plan_record, request)
        done = store.finished(digest)
        budget, begun, fresh = instance_budget(plan), store.begun(), None
        for name in (name for name in request.instances if name not in done):
            if name not in begun and fresh is not None:  # instances without runs take the same
                shares.append(fresh)
                continue
            attempts = store.observations(name, superseded=True)
            instance = InstanceRun(plan, name, digest, attempts, request=request, superseded=superseded)
            missing = Counter(task.key.algorithm for task in instance.begin())
            if instance.done is None:
                further = None if budget is None else max(0, budget - sum(instance.requested.values()))
                shares.append(Share(missing, further))
                fresh = fresh if name in begun else shares[-1]
        if not done.keys() >= set(request.instances):
            break
        groups.append(_finished_group(request, digest, done, store))
    made = sum(tally.runs for tally in store.tally())
    return summed(plan, shares, seconds, workers=workers, recorded=made)


def _finished_group(request: Continue, digest: str, done: Mapping[str, Finished], store: Store) -> FinishedGroup:
    finished = tuple(done[name] for name in request.instances)
    return FinishedGroup(request, finished, lambda: on_instances(store.runs(digest), request.instances))


def superseded_attempts(store: Store) -> Collection[Attempt]:
    """Return the attempts superseded by changed code."""
    return frozenset((observation.key, observation.attempt) for observation in store.superseded())


def last_carried_out(store: Store) -> tuple[PlanRecord, ...]:
    """Return the last plan under which the study was run, if there is any; checks of it do not count.

    A check notes how many plans there were before it. Where nothing but checks was made, the first plan stands for it.
    """
    plans = store.plans()
    before = (session.environment.get("check", "") for session in reversed(store.sessions()))
    number = [len(plans), *map(int, takewhile(str.isdecimal, before))][-1]
    return plans[: max(1, number)][-1:]


class Interrupts:
    """Within its `with` statement Ctrl-C and SIGTERM raise KeyboardInterrupt; only the main thread hears them.

    What is raised while Python clears away an object never arrives, as when one of Dask's futures goes: it is printed
    and forgotten. So a signal is noted, and `repeat` raises what could not be raised or did not arrive. A handler that
    a program has set for Ctrl-C itself stays.
    """

    def __init__(self) -> None:
        self._came = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            theirs = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
            for number in (signal.SIGTERM,) if theirs else (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def repeat(self) -> None:
        """Raise KeyboardInterrupt for a signal whose exception was lost."""
        if self._came:
            raise KeyboardInterrupt

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        while frame is not None and frame.f_code.co_name != "__del__":
            frame = frame.f_back
        if frame is None:
            raise KeyboardInterrupt


# Changed code: where it is not that of the recorded runs, the user is asked before anything runs

Status = tuple[int, int, int, int]  # status of a file: it is not read again while this is unchanged


@dataclass(frozen=True, slots=True)
class CodeStatus:
    """The present code of a plan's algorithms, that of the recorded runs, and where they differ."""

    recorded: tuple[Code, ...]
    now: dict[str, Files]
    changes: tuple[CodeChange, ...] = ()
    rerun: tuple[str, ...] = ()  # algorithms whose earlier runs count no longer
    code: Mapping[str, Files] = field(default_factory=dict)  # without instances

    def keep(self, store: Store, *, without_changed: bool = False) -> None:
        """Record which code counts, and the code of this session; requires a plan."""
        changed = {change.algorithm for change in self.changes} if without_changed else set()
        now = {name: files for name, files in self.now.items() if name not in changed}
        present = {name: Code(name, files) for name, files in now.items()}
        store.keep_code(codes.codes_in_force(self.recorded, now, self.rerun), present)


class CodeWatch:
    """Detects changes of the code of algorithms during the runs.

    Files that look as before are not read again, so that it may be asked often.
    """

    def __init__(self, algorithms: Iterable[Algorithm], code: CodeStatus) -> None:
        self._algorithms, self._code = tuple(algorithms), code.code
        self._paths = {path for algorithm in self._algorithms for path in codes.paths_of(algorithm).values()}
        self._stats: dict[Path, Status | None] = {}
        self._changed: dict[str, tuple[str, ...]] = {}

    def changes(self) -> dict[str, tuple[str, ...]]:
        """Return the changed files by the algorithms that depend on them."""
        stats: dict[Path, Status | None] = dict.fromkeys(self._paths)
        for path in stats:
            with suppress(OSError):
                status = os.stat(path)
                stats[path] = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        if stats != self._stats and not self._changed:
            self._stats, now = stats, codes.codes_of(self._algorithms)
            for algorithm, before in self._code.items():
                present = now[algorithm]
                # a changed file may no longer import another one
                if files := codes.differing(before, present) or tuple(name for name in before if name not in present):
                    self._changed[algorithm] = files
        return self._changed


def code_status(plan: Plan, store: Store) -> CodeStatus:
    """Return the code of a plan's algorithms next to that of the runs in the store."""
    code = codes.codes_of(plan.algorithms)
    objects = codes.objects_of(plan.all_instances or plan.instances)
    functions = {algorithm.name for algorithm in plan.algorithms if isinstance(algorithm, Function)}
    recorded = store.codes()
    now = {name: codes.with_objects(files, objects) if name in functions else files for name, files in code.items()}
    if not codes.code_changes(recorded, now, dict.fromkeys(now, 1)):  # counting the runs there are would take time
        return CodeStatus(recorded, now, code=code)
    begun = store.begun()
    fresh = {f"{codes.OBJECT}{instance.name}" for instance in plan.instances if instance.name not in begun}
    binding = {name: {file: sha for file, sha in files.items() if file not in fresh} for name, files in now.items()}
    runs: Counter[str] = Counter()  # that count; failed ones that will be tried again bind nothing
    for cell in store.tally():
        runs[cell.algorithm] += cell.ok if isinstance(plan.policy, StopStudy) else cell.runs
    return CodeStatus(recorded, now, codes.code_changes(recorded, binding, runs), code=code)


Names = bool | Collection[str]  # for all algorithms or none, or for these


def resolve_code_changes(plan: Plan, store: Store, *, same: Names, again: Names) -> CodeStatus:
    """Return the code a plan is run with; PlanMismatch asks what a change means, unless that is specified.

    `same`: it does not matter. `again`: the runs that were made before are made again. What is said of an algorithm by
    its name comes before what is said of all.
    """
    names = {algorithm.name for algorithm in plan.algorithms}
    named = [set() if isinstance(which, bool) else set(map(composed, which)) for which in (same, again)]
    if strangers := sorted((named[0] | named[1]) - names):
        raise InvalidInput(f"code is kept or rerun by the algorithms {listed(sorted(names), 10)}, got {strangers[0]!r}")
    if named[0] & named[1] or same is again is True:
        raise InvalidInput("choose one treatment of changed code: keep the runs or repeat them, got both")
    kept = names - named[1] if same is True else named[0]
    rerun = names - named[0] if again is True else named[1]
    status = code_status(plan, store)
    unresolved = [change for change in status.changes if change.algorithm not in kept | rerun]
    if unresolved:
        raise PlanMismatch(codes.question(unresolved))
    return replace(status, rerun=tuple(change.algorithm for change in status.changes if change.algorithm in rerun))
