"""Messages to and from workers: the work is sent once, then only the keys of runs.

Before and after each run it is checked whether the file of its instance is still the planned one.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
import sysconfig
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_long
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import repeat, starmap
from pathlib import Path
from typing import Any, NamedTuple

from ampler.core.answers import agree, expected_answer, is_unknown
from ampler.core.errors import InvalidInput
from ampler.core.plan import Algorithm, Function, Instance, Limits, Plan, Seeds
from ampler.core.runs import Observation, RunKey
from ampler.running.one_run.execution import TRIES, maker_of, starts_processes
from ampler.running.one_run.readings import Outcome
from ampler.study.run_inputs import run_seed


class Task(NamedTuple):
    """A run to be made: its key, the attempt number, and the round of decisions that requested it.

    `alone` keeps it out of the company of others: it was lost once and may be the one that kills workers.
    """

    key: RunKey
    attempt: int = 0
    round: int = 0
    alone: bool = False


Maker = Callable[[Instance, int], Outcome]
Name = tuple[str, str, int]  # instance, algorithm, index: plain tuples are pickled ten times as fast as dataclasses

CHANGED_INSTANCE = "instance"  # the cause of a run that must not be recorded
REMEMBERED = 16  # unpacked parcels kept by a process, so that studies can share workers

LINE = "line"  # of an Outcome: shown by a check, and not recorded
REPORTED = tuple(name for name in Outcome._fields if name != LINE)  # named as in an Observation
OBSERVED = tuple(field.name for field in fields(Observation))


@dataclass(frozen=True, slots=True)
class Batch:
    """Results of a chunk of runs by column, and its total seconds."""

    columns: Mapping[str, Sequence[Any]]
    seconds: float


@dataclass(frozen=True)
class Work:
    """The parts of a plan that a worker needs to make its runs.

    `showing` has runs with a value carry in their message the line it was read from.
    """

    algorithms: Mapping[str, Algorithm]
    instances: Mapping[str, Instance]
    seed: int
    limits: Limits  # of algorithms that have none of their own
    showing: bool = False
    seeds: Seeds = "own"

    @classmethod
    def of(cls, plan: Plan, *, showing: bool = False) -> Work:
        """Return the work of a plan."""
        algorithms = {algorithm.name: algorithm for algorithm in plan.algorithms}
        instances = {instance.name: instance for instance in plan.instances}
        return cls(algorithms, instances, plan.seed, plan.limits, showing, plan.seeds)

    def run(self, names: Sequence[Name], at: c_long | None = None) -> Batch:
        """Make runs, one after the other; `at` is set to the index of the one under way."""
        began = time.perf_counter()
        at = c_long() if at is None else at
        seeds = [self.seed_of(name) for name in names]
        makers = {
            name: maker_of(self.algorithms[name], self.algorithms[name].limits.over(self.limits))
            for name in {algorithm for _, algorithm, _ in names}
        }
        outcomes = []
        for index, ((instance, algorithm, _), seed) in enumerate(zip(names, seeds, strict=True)):
            at.value = index
            outcomes.append(_run(makers[algorithm], self.instances[instance], seed))
        columns = dict(zip(Outcome._fields, zip(*outcomes, strict=True) if outcomes else repeat(()), strict=False))
        lines = columns.pop(LINE)
        if self.showing:
            columns["message"] = tuple(message or line for message, line in zip(columns["message"], lines, strict=True))
        return Batch({"seed": seeds, **columns}, time.perf_counter() - began)

    def seed_of(self, name: Name) -> int:
        """Return the seed of a run."""
        instance, algorithm, index = name
        return run_seed(self.seed, instance, None if self.seeds == "shared" else algorithm, index)

    def starts_processes(self, algorithm: str) -> bool:
        """State whether runs of an algorithm are more than calls of a function."""
        return starts_processes(self.algorithms[algorithm], self.algorithms[algorithm].limits.over(self.limits))


def _run(make: Maker, instance: Instance, seed: int) -> Outcome:
    """A run with a check of its file before and after; with a changed file the result is invalid."""
    if not instance.path:
        return judged(make(instance, seed), instance)
    outcome, change = Outcome(None, 0.0), change_of(instance)
    if change is None:
        outcome = judged(make(instance, seed), instance)
        change = change_of(instance)
    if change is None:
        return outcome
    return outcome._replace(value=None, status="failed", message=change, measures=None, cause=CHANGED_INSTANCE)


def judged(outcome: Outcome, instance: Instance) -> Outcome:
    """Return the outcome; a run without an answer, or with another than expected on the instance, is a failed one."""
    if outcome.value is None or outcome.answer is None:
        return outcome
    if is_unknown(outcome.answer):
        message = f"its answer {outcome.answer!r} solves nothing"
        return outcome._replace(value=None, status="failed", cause="value", message=message)
    expected = expected_answer(instance.features)
    if expected is None or agree(outcome.answer, *expected):
        return outcome
    message = f"its answer {outcome.answer!r} is wrong: expected is {expected[0]!r}"
    return outcome._replace(value=None, status="failed", cause="wrong", message=message)


_as_planned: dict[tuple[str, str], tuple[int, ...]] = {}  # status of files with verified content


def change_of(instance: Instance) -> str | None:
    """Describe the change of an instance's file, if it differs from the planned one.

    A file with the same status as before is not read again.
    """
    if not (instance.path and instance.sha256):
        return None
    try:
        now = os.stat(instance.path)
        status = (now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
        if _as_planned.get((instance.path, instance.sha256)) == status:
            return None
        with open(instance.path, "rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        return f"its instance file {instance.name!r} cannot be read any more ({problem.strerror})"
    if sha256 != instance.sha256:
        return f"its instance file {instance.name!r} was changed while the study ran"
    _as_planned[instance.path, instance.sha256] = status
    return None


def names_of(tasks: Sequence[Task]) -> list[Name]:
    """Return the request for tasks."""
    return [_name(task.key) for task in tasks]


def observed(tasks: Sequence[Task], batch: Batch) -> list[Observation]:
    """Return the results of tasks as observations."""
    keys, attempts, rounds = ([task[place] for task in tasks] for place in range(3))
    columns = {**batch.columns, "key": keys, "attempt": attempts, "round": rounds}
    return list(starmap(Observation, zip(*(columns[name] for name in OBSERVED), strict=True)))


@dataclass(frozen=True)
class Parcel:
    """Work for executors of any kind: threads share it, other processes unpack it once and remember it.

    It is pickled the first time it leaves this process, functions by value where cloudpickle is installed.
    """

    work: Work

    @cached_property
    def packed(self) -> tuple[str, bytes, tuple[str, ...]]:
        """The digest by which a process remembers the work, the work as bytes, and the folders it needs."""
        try:
            data = _dumps()(self.work)
        except (TypeError, AttributeError, pickle.PicklingError) as problem:
            raise InvalidInput(
                f"algorithms and instances must be objects that can be sent to other processes ({problem}); create"
                " locks, connections and generators inside the function"
            ) from problem
        return hashlib.blake2b(data, digest_size=16).hexdigest(), data, folders_of(self.work)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpacked, self.packed


def folders_of(work: Work) -> tuple[str, ...]:
    """Return the folders from which the modules of a study were imported, without installed packages.

    Other processes need them on their import path: functions of a module travel as its name.
    """
    origins = [algorithm.origin for algorithm in work.algorithms.values() if isinstance(algorithm, Function)]
    modules = [*origins, *(type(instance.data).__module__ for instance in work.instances.values())]
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders: dict[str, None] = {}
    for name in dict.fromkeys(re.split(r"[.:]", module)[0] for module in modules):
        loaded = sys.modules.get(name)
        if (file := getattr(loaded, "__file__", None)) and name != "__main__":
            folders[str(Path(file).parents[1 if hasattr(loaded, "__path__") else 0])] = None
    return tuple(folder for folder in folders if folder not in installed and folder in sys.path)


def run_parcel(parcel: Parcel, names: Sequence[Name]) -> Batch:
    """Make runs of a parcel: what is submitted to an executor.

    Runs that start processes are made by a worker of this thread's own: its supervisor ends all that they leave behind,
    also when this process is killed, and there forking is safe.
    """
    work = parcel.work
    careful = [name for name in names if work.starts_processes(name[1])]
    if not careful:
        return work.run(names)
    began = time.perf_counter()
    runs = {_name(run.key): run for run in _runs_of_helper(parcel, careful)}
    rest = [name for name in names if name not in runs]
    runs |= {_name(run.key): run for run in observed([Task(RunKey(*name)) for name in rest], work.run(rest))}
    columns = {field: [getattr(runs[name], field) for name in names] for field in ("seed", *REPORTED)}
    return Batch(columns, time.perf_counter() - began)


def _runs_of_helper(parcel: Parcel, names: Sequence[Name]) -> Iterator[Observation]:
    """Have runs made by this thread's helper, a worker for those runs of a parcel that start processes.

    A run that takes its worker along is tried again, as elsewhere.
    """
    from ampler.running.engines import Done, LocalPool, Lost  # engines import this module

    helper: tuple[int, Parcel, LocalPool] | None = getattr(_threads, "helper", None)
    if helper is not None and helper[0] == os.getpid() and helper[1] is parcel:
        pool = helper[2]
    else:
        if helper is not None and helper[0] == os.getpid():
            del _threads.helper
            helper[2].close(at_once=True)
        algorithms = {name: own for name, own in parcel.work.algorithms.items() if parcel.work.starts_processes(name)}
        pool = LocalPool(replace(parcel.work, algorithms=algorithms), 1)
        _threads.helper = os.getpid(), parcel, pool
    losses: Counter[Task] = Counter()
    try:
        for name in names:
            pool.submit([Task(RunKey(*name))])
        while pool.busy:
            for fate in pool.collect(None):
                if isinstance(fate, Done):
                    yield from fate.observations
                    continue
                for task in fate.tasks:
                    losses[task] += isinstance(fate, Lost)
                    if isinstance(fate, Lost) and losses[task] == TRIES:
                        how = f"{fate.how}, and with it the process that made the run, {TRIES} times"
                        seed = parcel.work.seed_of(_name(task.key))
                        yield Observation(task.key, None, status="failed", message=how, seed=seed, cause="worker")
                    else:
                        pool.submit([task])
    except BaseException:  # its answers could be mistaken for others
        del _threads.helper
        pool.close(at_once=True)
        raise


_threads = threading.local()


def _name(key: RunKey) -> Name:
    return key.instance, key.algorithm, key.index


def sendable(work: Work) -> bytes | None:
    """Return some work as bytes for a new process; None when it can only be inherited by a fork.

    Functions of scripts and notebooks travel by value, which needs cloudpickle.
    """
    dumps = _dumps()
    if dumps is pickle.dumps:
        return None
    try:
        return dumps(work)
    except Exception as problem:
        if "lock" in str(problem).lower():
            raise InvalidInput(
                "functions must not hold a lock of this process, because it has other threads; a worker would wait"
                f" forever for it ({problem}); create the lock in a module, or inside the function"
            ) from problem
        return None


class CannotLoad(Exception):
    """A process does not have the work, or cannot unpack it, as where a module or a folder is missing."""


def take_packed(data: bytes, *, digest: str, folders: tuple[str, ...]) -> None:
    """Unpack work that came as bytes, and remember it; CannotLoad when that cannot be done here."""
    try:
        _unpacked(digest, data, folders)
    except (Exception, SystemExit) as problem:  # importing a module runs its code
        raise CannotLoad(f"{type(problem).__name__}: {problem}") from None


def run_taken(digest: str, names: Sequence[Name]) -> Batch:
    """Make runs of work that was taken before; CannotLoad when it was not, or is forgotten."""
    return run_parcel(_unpacked(digest), names)


_parcels: dict[str, Parcel] = {}  # by the digest of their bytes, the last one used last
_unpacking = threading.Lock()  # threads of a worker may get the same parcel at the same time


def _unpacked(digest: str, data: bytes | None = None, folders: tuple[str, ...] = ()) -> Parcel:
    """The parcel in some bytes, unpacked when it comes for the first time; CannotLoad without them."""
    with _unpacking:
        parcel = _parcels.pop(digest, None)
        if parcel is None:
            if data is None:
                raise CannotLoad("it does not have the work")
            sys.path[:0] = [folder for folder in folders if folder not in sys.path]
            parcel = Parcel(pickle.loads(data))
        _parcels[digest] = parcel
        for oldest in list(_parcels)[:-REMEMBERED]:
            del _parcels[oldest]
    return parcel


def _dumps() -> Callable[[Any], bytes]:
    try:
        from cloudpickle import dumps
    except ImportError:
        return pickle.dumps
    result: Callable[[Any], bytes] = dumps
    return result
