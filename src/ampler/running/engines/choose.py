"""Which engine is meant by what the user gave: nothing, an executor, a client of a cluster."""

from __future__ import annotations

from typing import Any

from ampler.running.engines import Engine, EngineKind
from ampler.running.engines.dask import DaskEngine
from ampler.running.engines.executor import ExecutorEngine
from ampler.running.engines.local import LocalPool
from ampler.running.work import Work

ENGINES: tuple[EngineKind, ...] = (
    LocalPool,
    DaskEngine,
    ExecutorEngine,  # takes what nobody else does
)


def engine_for(executor: Any, work: Work, workers: int | None = None) -> Engine:
    """Return what makes the runs of some work; with so many workers, or as many as there are."""
    return _kind(executor).over(executor, work, workers)


def capacity_of(executor: Any) -> int:
    """Return how many runs can be made at the same time."""
    return _kind(executor).capacity(executor)


def _kind(executor: Any) -> EngineKind:
    return next(kind for kind in ENGINES if kind.takes(executor))
