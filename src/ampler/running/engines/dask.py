"""Dask as an engine: runs are made by the workers of a cluster, or of one started here. Dask is imported here alone.

Futures of Dask are used as they are: wrapped by `get_executor`, they never end when the scheduler is lost.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from ampler.core.errors import AmplerError, EngineFailed, InvalidInput, MissingDependency
from ampler.running.engines import Fate, Lost, Returned, done
from ampler.running.work import Batch, Parcel, Task, Work, names_of, run_parcel

CONNECT = 15.0  # seconds a scheduler has to answer
RECOUNT = 2.0  # seconds between looks at the number of workers, which come and go
GOODBYE = 5.0  # seconds a cluster of ours has to end
SPREAD = 2.0  # seconds the work has to reach the workers before the first runs are sent after it
TOGETHER = 0.005  # seconds for which further results are waited for, as fetching many costs hardly more than one


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


def threads_of(client: Any) -> int:
    """Return how many runs a cluster can make at the same time now; at least one, as workers may yet come."""
    threads: dict[str, int] = client.nthreads()
    return max(1, sum(threads.values()))


class DaskEngine:
    """Runs are made by the workers of a Dask cluster, as many as there are at the moment."""

    def __init__(self, client: Any, work: Work, workers: int | None = None) -> None:
        self._client = client
        self._fixed, self._counted, self._count = workers, -RECOUNT, 1
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._to_send: list[Sequence[Task]] = []
        self._under_way: dict[Any, tuple[Any, Sequence[Task]]] = {}  # Dask forgets what no future speaks of
        self._shared, self._spread_over = _shared(client, work), 0

    @classmethod
    def takes(cls, executor: Any) -> bool:
        """Take Dask's clients, and the executors made from them."""
        return client_of(executor) is not None

    @classmethod
    def capacity(cls, executor: Any) -> int:
        """Return how many runs the cluster can make at the same time now."""
        return threads_of(client_of(executor))

    @classmethod
    def over(cls, executor: Any, work: Work, workers: int | None) -> DaskEngine:
        """Return the engine over a cluster."""
        return cls(client_of(executor), work, workers)

    @property
    def workers(self) -> int:
        """The number of runs that can be made at the same time."""
        if self._fixed is not None:
            return self._fixed
        if time.monotonic() - self._counted >= RECOUNT:
            self._check()
            self._count = threads_of(self._client)
            self._counted = time.monotonic()
        return self._count

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
        self._check()
        self._send()
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
            futures = [future for future, _ in self._under_way.values()]
            with suppress(Exception):  # a cluster that goes away needs nothing taken back
                self._client.cancel([*futures, self._shared], force=True)

    def _send(self) -> None:
        """Send all chunks at once: a call for each costs the driver several times as much."""
        chunks, self._to_send = self._to_send, []
        if not chunks:
            return
        self._spread()
        names = [names_of(tasks) for tasks in chunks]
        # Of a large group of tasks Dask would keep most at the scheduler, and workers would wait for its answers.
        group = f"runs-{uuid4().hex}"
        keys = [(group, number) for number in range(len(chunks))]
        futures = self._client.map(run_parcel, [self._shared] * len(chunks), names, key=keys, pure=False)
        for future, tasks in zip(futures, chunks, strict=True):
            self._under_way[future.key] = (future, tasks)
            future.add_done_callback(self._ended.put)

    def _spread(self) -> None:
        """Have the work on all workers: Dask gives runs to those that have it, and moves them to others late.

        Each takes it with an empty chunk of its own. Dask's `replicate` never ends where one of them cannot take it.
        """
        threads = self.workers
        if threads > self._spread_over:
            with suppress(Exception):  # where no worker is there yet, or one goes: those that come take it with a run
                self._shared.exception(timeout=SPREAD)
                self._spread_over, until = threads, time.monotonic() + SPREAD
                (having,) = self._client.who_has([self._shared]).values()
                takers = self._client.nthreads().keys() - set(having)
                chunks = [self._client.submit(run_parcel, self._shared, [], workers=[at], pure=False) for at in takers]
                for chunk in chunks:
                    chunk.exception(timeout=max(0.0, until - time.monotonic()))

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
        _, tasks = self._under_way.pop(future.key)
        if batch is not None:
            return done(tasks, batch)
        if future.status == "cancelled":
            self._check()
            return Returned(tasks)
        try:
            return done(tasks, future.result())
        except AmplerError:
            raise
        except Exception as problem:
            self._check()
            return Lost(tasks, f"{type(problem).__name__}: {problem}")

    def _check(self) -> None:
        """Raise EngineFailed when there is no cluster any more, or when its workers cannot load the study."""
        if self._client.status != "running":
            raise EngineFailed(
                "the connection to the Dask scheduler was lost; what is recorded stays: start it again, then run again"
            )
        if self._shared.status == "error":
            problem = self._shared.exception()
            raise EngineFailed(
                f"the Dask workers cannot load the study ({_sentence(problem)}); they need the same"
                " packages as this process, and must see the study's folder under the same path"
            )


def _shared(client: Any, work: Work) -> Any:
    """The work as a task of its own: it travels once to each worker, and again if the one that has it dies.

    It goes as bytes: what Dask itself understands would be unpacked by the scheduler, which need not know the study.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # large instances are sent once
        return client.submit(pickle.loads, pickle.dumps(Parcel(work)), pure=False)


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
            f"no Dask scheduler answers at {where} ({_sentence(problem)}); start it, or mend the address"
        ) from problem


def _sentence(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
