"""Any executor as an engine: whatever has the `submit` of concurrent.futures, be it threads, processes or MPI."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

from ampler.core.contracts import Executor
from ampler.core.errors import AmplerError, EngineFailed
from ampler.running.engines import Fate, Lost, Returned, cores, done
from ampler.running.work import Batch, Parcel, Task, Work, names_of, run_parcel


class ExecutorEngine:
    """Runs are made by an executor of the kind of concurrent.futures."""

    def __init__(self, executor: Executor, work: Work, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        self._parcel = Parcel(work)
        self._futures: dict[Future[Batch], Sequence[Task]] = {}

    @classmethod
    def takes(cls, executor: Any) -> bool:
        """Take any executor."""
        return executor is not None

    @classmethod
    def capacity(cls, executor: Any) -> int:
        """Return as many workers as the executor has, if it says so, or else one for each core."""
        # The executors of the standard library, mpi4py and loky keep their number here; nowhere is it public.
        return getattr(executor, "_max_workers", None) or cores()

    @classmethod
    def over(cls, executor: Any, work: Work, workers: int | None) -> ExecutorEngine:
        """Return the engine over an executor."""
        return cls(executor, work, workers or cls.capacity(executor))

    @property
    def busy(self) -> int:
        """The number of chunks under way."""
        return len(self._futures)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made."""
        try:
            self._futures[self._executor.submit(run_parcel, self._parcel, names_of(tasks))] = tasks
        except RuntimeError as problem:  # broken, or shut down
            raise EngineFailed(
                f"the executor takes no more runs ({problem or type(problem).__name__}); "
                "what is recorded stays: run again with a new executor to go on"
            ) from problem

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return what became of chunks, waiting up to `timeout` seconds for the first."""
        done, _ = concurrent.futures.wait(self._futures, timeout, return_when=concurrent.futures.FIRST_COMPLETED)
        return [_fate(self._futures.pop(future), future) for future in done]

    def close(self, *, at_once: bool) -> None:
        """Take back what has not begun; the executor itself belongs to its owner."""
        for future in self._futures:
            future.cancel()


def _fate(tasks: Sequence[Task], future: Future[Batch]) -> Fate:
    try:
        return done(tasks, future.result())
    except CancelledError:
        return Returned(tasks)
    except AmplerError:
        raise
    except Exception as problem:
        return Lost(tasks, f"{type(problem).__name__}: {problem}")
