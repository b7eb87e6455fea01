"""What travels to a worker and back: the work is sent once, then only the names of runs."""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_long
from dataclasses import dataclass, field, fields
from itertools import repeat, starmap
from pathlib import Path
from typing import Any, NamedTuple

from ampler.core.values import Algorithm, Function, Instance, Limits, Observation, Plan, RunKey
from ampler.running.instance_files import change_of, spoiled, unless_changed
from ampler.running.one_run import Outcome, maker_of
from ampler.study.seeds import run_seed


class Task(NamedTuple):
    """A run to be made: its key, the how-manieth attempt, and the round of decisions that asked for it.

    `alone` keeps it out of the company of others: it was lost once and may be the one that kills workers.
    """

    key: RunKey
    attempt: int = 0
    round: int = 0
    alone: bool = False


Maker = Callable[[Instance, int], Outcome]
Name = tuple[str, str, int]  # instance, algorithm, index: plain tuples are pickled ten times as fast as dataclasses

REMEMBERED = 4  # parcels that a process keeps unpacked
IN_USE = 60.0  # seconds after its last use for which any other is kept: studies that share workers do not push it out

LINE = "line"  # of an Outcome: shown by a check, and not recorded
GIVEN = tuple(name for name in Outcome._fields if name != LINE)  # called as in an Observation
OBSERVED = tuple(field.name for field in fields(Observation))


@dataclass(frozen=True, slots=True)
class Batch:
    """What a chunk of runs gave, column by column in its order, and the seconds it took with all around the runs."""

    columns: Mapping[str, Sequence[Any]]
    seconds: float


@dataclass(frozen=True)
class Work:
    """All a worker has to know of a plan to make its runs.

    `showing` has runs with a value say in their message which line it was read from.
    """

    algorithms: Mapping[str, Algorithm]
    instances: Mapping[str, Instance]
    seed: int
    limits: Limits  # of algorithms that have none of their own
    showing: bool = False

    @classmethod
    def of(cls, plan: Plan, *, showing: bool = False) -> Work:
        """Return the work of a plan."""
        return cls(
            {algorithm.name: algorithm for algorithm in plan.algorithms},
            {instance.name: instance for instance in plan.instances},
            plan.seed,
            plan.limits,
            showing,
        )

    def run(self, names: Sequence[Name], at: c_long | None = None) -> Batch:
        """Make runs, one after the other; `at` is told at which of them we are."""
        began = time.perf_counter()
        at = c_long() if at is None else at
        seeds = [run_seed(self.seed, *name) for name in names]
        makers = {name: self._maker(name) for name in {name for _, name, _ in names}}
        outcomes = []
        for place, ((instance, algorithm, _), seed) in enumerate(zip(names, seeds, strict=True)):
            at.value = place
            outcomes.append(_run(makers[algorithm], self.instances[instance], seed))
        columns = dict(zip(Outcome._fields, zip(*outcomes, strict=True) if outcomes else repeat(()), strict=False))
        lines = columns.pop(LINE)
        if self.showing:
            columns["message"] = tuple(message or line for message, line in zip(columns["message"], lines, strict=True))
        return Batch({"seed": seeds, **columns}, time.perf_counter() - began)

    def _maker(self, algorithm: str) -> Maker:
        return maker_of(self.algorithms[algorithm], self.algorithms[algorithm].limits.over(self.limits))


def _run(make: Maker, instance: Instance, seed: int) -> Outcome:
    """A run on a file that is, before and after it, the one that was planned."""
    if not instance.path:
        return make(instance, seed)
    change = change_of(instance)
    if change is not None:
        return spoiled(change)
    return unless_changed(instance, make(instance, seed))


def names_of(tasks: Sequence[Task]) -> list[Name]:
    """Return what a worker has to know of tasks."""
    return [(task.key.instance, task.key.algorithm, task.key.index) for task in tasks]


def observed(tasks: Sequence[Task], batch: Batch) -> list[Observation]:
    """Return what a worker gave for tasks as observations."""
    columns = {
        **batch.columns,
        "key": [task.key for task in tasks],
        "attempt": [task.attempt for task in tasks],
        "round": [task.round for task in tasks],
    }
    return list(starmap(Observation, zip(*(columns[name] for name in OBSERVED), strict=True)))


@dataclass(frozen=True)
class Parcel:
    """Work for executors of any kind: threads share it, other processes unpack it once and remember it.

    It is pickled the first time it leaves this process, functions by value where cloudpickle is installed.
    """

    work: Work
    _pickled: list[bytes] = field(default_factory=list, compare=False, repr=False)

    def packed(self) -> tuple[str, bytes, tuple[str, ...]]:
        """Return the digest by which a process remembers the work, the work as bytes, and the folders it needs."""
        if not self._pickled:
            self._pickled.append(_dumps()(self.work))
        data = self._pickled[0]
        return hashlib.blake2b(data, digest_size=16).hexdigest(), data, folders_of(self.work)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpacked, self.packed()


def folders_of(work: Work) -> tuple[str, ...]:
    """Return the folders from which the modules of a study were imported, but for those of installed packages.

    Other processes need them on their import path: functions of a module travel as its name.
    """
    origins = [algorithm.origin for algorithm in work.algorithms.values() if isinstance(algorithm, Function)]
    modules = [*origins, *(type(instance.data).__module__ for instance in work.instances.values())]
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders = dict.fromkeys(_home(re.split(r"[.:]", module)[0]) for module in modules)
    return tuple(folder for folder in folders if folder and folder not in installed and folder in sys.path)


def _home(module: str) -> str:
    """The folder a top-level module was imported from; empty when there is none."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    package = hasattr(sys.modules.get(module), "__path__")
    return str(Path(file).parent.parent if package else Path(file).parent) if file and module != "__main__" else ""


def run_parcel(parcel: Parcel, names: Sequence[Name]) -> Batch:
    """Make runs of a parcel: what is submitted to an executor."""
    return parcel.work.run(names)


class CannotLoad(Exception):
    """A process does not have the work, or cannot unpack it, as where a module or a folder is missing."""


def take_packed(data: bytes, *, digest: str, folders: tuple[str, ...]) -> None:
    """Unpack work that came as bytes, and remember it; CannotLoad when that cannot be done here."""
    try:
        _unpacked(digest, data, folders)
    except (Exception, SystemExit) as problem:  # a module may do anything when it is imported
        raise CannotLoad(f"{type(problem).__name__}: {problem}") from None


def run_taken(digest: str, names: Sequence[Name]) -> Batch:
    """Make runs of work that was taken before; CannotLoad when it was not, or is forgotten."""
    with _unpacking:
        parcel = _parcels.get(digest)
        if parcel is None:
            raise CannotLoad("it does not have the work")
        _remember(digest, parcel)
    return run_parcel(parcel, names)


_parcels: dict[str, Parcel] = {}  # by the digest of their bytes, the last one used last
_used: dict[str, float] = {}  # when
_unpacking = threading.Lock()  # threads of a worker may get the same parcel at the same time


def _unpacked(digest: str, data: bytes, folders: tuple[str, ...]) -> Parcel:
    """The parcel in some bytes, unpacked when it comes for the first time."""
    with _unpacking:
        parcel = _parcels.get(digest)
        if parcel is None:
            sys.path[:0] = [folder for folder in folders if folder not in sys.path]
            parcel = Parcel(pickle.loads(data))
        _remember(digest, parcel)
    return parcel


def _remember(digest: str, parcel: Parcel) -> None:
    """Keep a parcel as the last one used: the last few are kept, and others that were used a moment ago."""
    _parcels.pop(digest, None)
    _parcels[digest], _used[digest] = parcel, time.monotonic()
    for oldest in list(_parcels)[:-REMEMBERED]:
        if time.monotonic() - _used[oldest] > IN_USE:
            del _parcels[oldest], _used[oldest]


def _dumps() -> Callable[[Any], bytes]:
    try:
        from cloudpickle import dumps
    except ImportError:
        return pickle.dumps
    result: Callable[[Any], bytes] = dumps
    return result
