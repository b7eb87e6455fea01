"""Dask as an engine: runs are made by the workers of a cluster, or of one started here. Dask is imported here alone.

Futures of Dask are used as they are: wrapped by `get_executor`, they never end when the scheduler is lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from ampler.core.errors import AmplerError, EngineFailed, InvalidInput, MissingDependency
from ampler.running.engines import Fate, Lost, Returned, done
from ampler.running.engines.dask_workers import DaskWorkers, sentence
from ampler.running.work import Batch, CannotLoad, Task, Work, names_of

CONNECT = 15.0  # seconds a scheduler has to answer
GOODBYE = 5.0  # seconds a cluster of ours has to end
TOGETHER = 0.005  # seconds for which further results are waited for, as fetching many costs hardly more than one
UNSENT = 0.05  # seconds between looks for a worker that has the work while none has
UNABLE = (CannotLoad, ImportError, AttributeError)  # of a worker: the last two where ampler itself is another or none


@contextmanager
def dask_cluster(where: str, *, workers: int | None = None) -> Iterator[Any]:
    """Connect to the Dask cluster at an address or of a scheduler file, or start one here ("local"); yield its client.

    `workers` is the number of workers of a local cluster; it ends with the `with` statement.
    """
    distributed = _distributed()
    with ExitStack() as stack:
        if where == "local":
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port: another study may have the usual one
                memory_limit=None,  # limits are those of the study
                silence_logs="CRITICAL",
            )
            stack.callback(cluster.close, timeout=GOODBYE)
            where = cluster.scheduler_address
        client = _connected(distributed, where)
        stack.callback(client.close, timeout=GOODBYE)
        yield client


def client_of(executor: Any) -> Any | None:
    """Return the Dask client behind an executor, or None when it is of another kind; Dask is not imported for this."""
    kind = type(executor)
    if kind.__module__ == "distributed.cfexecutor":
        return executor._client  # what get_executor was called on; it has no public name
    return executor if kind.__module__ == "distributed.client" and hasattr(executor, "scatter") else None


class DaskEngine:
    """Runs are made by the workers of a Dask cluster, as many as there are at the moment."""

    def __init__(self, client: Any, work: Work, workers: int | None = None) -> None:
        self._client, self._fixed = client, workers
        self._workers = DaskWorkers(client, work)
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._to_send: list[Sequence[Task]] = []
        self._under_way: dict[Any, _Sent] = {}

    @classmethod
    def takes(cls, executor: Any) -> bool:
        """Take Dask's clients, and the executors made from them."""
        return client_of(executor) is not None

    @classmethod
    def capacity(cls, executor: Any) -> int:
        """Return how many runs the cluster can make at the same time now; at least one, as workers may yet come."""
        client: Any = client_of(executor)
        threads: dict[str, int] = client.nthreads()
        return max(1, sum(threads.values()))

    @classmethod
    def over(cls, executor: Any, work: Work, workers: int | None) -> DaskEngine:
        """Return the engine over a cluster."""
        return cls(client_of(executor), work, workers)

    @property
    def workers(self) -> int:
        """The number of runs that can be made at the same time."""
        self._look()
        return self._fixed or self._workers.threads

    @property
    def busy(self) -> int:
        """The number of chunks under way."""
        return len(self._to_send) + len(self._under_way)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made; it is sent together with others, before anything is waited for."""
        self._check()
        self._to_send.append(tasks)

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return what became of chunks, waiting up to `timeout` seconds for the first."""
        self._look()
        self._send()
        if timeout and self._to_send:
            timeout = min(timeout, UNSENT)
        futures = []
        with suppress(Empty):
            futures.append(self._ended.get(timeout=timeout) if timeout else self._ended.get_nowait())
            if timeout and len(self._under_way) > 1:
                time.sleep(TOGETHER)
            while True:
                futures.append(self._ended.get_nowait())
        batches = self._fetched(futures)
        return [self._fate(future, batches.get(future.key)) for future in futures]

    def close(self, *, at_once: bool) -> None:
        """Take back what is not done; the cluster itself belongs to its owner."""
        if self._client.status == "running":
            futures = [sent.future for sent in self._under_way.values()]
            with suppress(Exception):  # a cluster that goes away needs nothing taken back
                self._client.cancel([*futures, *self._workers.forget()], force=True)

    def _look(self) -> None:
        """See which workers are there, and take back what only others may make: Dask would wait for these to return."""
        self._check()
        if not self._workers.look():
            return
        stranded = [sent.future for sent in self._under_way.values() if self._workers.are_gone(sent.only)]
        if stranded:
            self._client.cancel(stranded, force=True)

    def _send(self) -> None:
        """Send all chunks at once: a call for each costs the driver several times as much."""
        if not (self._to_send and self._workers.ready):
            return
        chunks, self._to_send = self._to_send, []
        futures, only = self._workers.map([names_of(tasks) for tasks in chunks])
        for future, tasks in zip(futures, chunks, strict=True):
            self._under_way[future.key] = _Sent(future, tasks, only)
            future.add_done_callback(self._ended.put)

    def _fetched(self, futures: Sequence[Any]) -> dict[Any, Batch]:
        """Fetch all results at once: a question for each would wait its turn every time; None stands for trouble."""
        finished = {future.key: future for future in futures if future.status == "finished"}
        if not finished:
            return {}
        with suppress(Exception):  # then each is asked for, and says what its trouble is
            batches: dict[Any, Batch] = self._client.gather(finished, errors="skip")
            return batches
        return {}

    def _fate(self, future: Any, batch: Batch | None) -> Fate:
        tasks = self._under_way.pop(future.key).tasks
        if batch is not None:
            return done(tasks, batch)
        if future.status == "cancelled":
            self._check()
            return Returned(tasks)
        try:
            batch = future.result()
        except AmplerError:
            raise
        except UNABLE:
            self._workers.doubt()
            return Returned(tasks)
        except Exception as problem:
            self._check()
            return Lost(tasks, f"{type(problem).__name__}: {problem}")
        return done(tasks, batch)

    def _check(self) -> None:
        """Raise EngineFailed when there is no cluster any more."""
        if self._client.status != "running":
            raise EngineFailed(
                "the connection to the Dask scheduler was lost; what is recorded stays: start it again, then run again"
            )


class _Sent(NamedTuple):
    """A chunk under way: its future, for Dask forgets what none speaks of, and the only workers that may make it."""

    future: Any
    tasks: Sequence[Task]
    only: frozenset[str]


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as problem:
        raise MissingDependency("a Dask cluster needs Dask: pip install 'ampler[dask]'") from problem
    return distributed


def _connected(distributed: Any, where: str) -> Any:
    place = Path(where)
    if place.is_file():
        given = {"scheduler_file": str(place)}
    elif ":" in where:
        given = {"address": where}
    else:
        raise InvalidInput(
            "the Dask cluster must be 'local', an address such as tcp://node7:8786 or a scheduler file that exists,"
            f" got {where!r}"
        )
    try:
        return distributed.Client(**given, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, KeyError) as problem:
        raise EngineFailed(
            f"no Dask scheduler answers at {where} ({sentence(problem)}); start it, or mend the address"
        ) from problem
