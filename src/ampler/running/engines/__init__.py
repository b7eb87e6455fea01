"""Who makes the runs: chunks of tasks go in, and what became of them comes back.

Read in this order: `executor` (anything that is an executor of the kind of concurrent.futures), `local` (processes of
this machine, the default; `worker` is the life of one, `fresh` their start beside threads), `dask` (a cluster;
`dask_workers` are its workers), `choose` (which of them is meant). An engine may import `running.work` and what is
below, never the driver, which knows no engine but by the contract on this page.

A new engine is a file with a class that fills `Engine` and `EngineKind`, and its line in `choose`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ampler.core.values import Observation
from ampler.running.work import Batch, Task, Work, observed


@dataclass(frozen=True, slots=True)
class Done:
    """A chunk whose runs were made, and the seconds it took with everything around the runs."""

    observations: Sequence[Observation]
    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """Runs that were being made when their worker died; `how` it died."""

    tasks: Sequence[Task]
    how: str


@dataclass(frozen=True, slots=True)
class Returned:
    """Runs that were not begun, or whose results went down with another one's worker: they are simply made again."""

    tasks: Sequence[Task]


Fate = Done | Lost | Returned


class Engine(Protocol):
    """What the driver needs of an engine. It is used from one thread."""

    @property
    def workers(self) -> int:
        """The number of runs that can be made at the same time."""

    @property
    def busy(self) -> int:
        """The number of chunks under way."""

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made."""

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return what became of chunks, waiting up to `timeout` seconds for the first."""

    def close(self, *, at_once: bool) -> None:
        """Let the workers go; `at_once` whatever they are doing."""


class EngineKind(Protocol):
    """What is asked of the class of an engine before there is one. `executor` is what the user gave, or None."""

    def takes(self, executor: Any) -> bool:
        """Say whether this engine is meant."""

    def capacity(self, executor: Any) -> int:
        """Return how many runs it can make at the same time."""

    def over(self, executor: Any, work: Work, workers: int | None) -> Engine:
        """Return the engine; `workers` is the number that was asked for, None for as many as there are."""


def done(tasks: Sequence[Task], batch: Batch) -> Done:
    """Return the fate of a chunk whose results have come."""
    return Done(observed(tasks, batch), batch.seconds)


def cores() -> int:
    """Return the number of cores we may use."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()) or 1
