"""Dask as an engine: runs are made by the workers of a cluster, or of one started here. Dask is imported here alone.

Futures of Dask are used as they are: wrapped by `get_executor`, they never end when the scheduler is lost.
"""

from __future__ import annotations

import atexit
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from uuid import uuid4

from ampler.core.errors import AmplerError, EngineFailed, InvalidInput, MissingDependency
from ampler.core.threads import PINNED
from ampler.running.engines import Fate, Lost, Returned, done
from ampler.running.work import Batch, CannotLoad, Parcel, Task, Work, names_of, run_taken, take_packed

CONNECT = 15.0  # timeout of a scheduler, in seconds
GOODBYE = 5.0  # timeout to end our own cluster, in seconds
TOGETHER = 0.005  # seconds to wait for further results, as fetching many costs hardly more than one
UNSENT = 0.05  # seconds between checks while no worker has the work
RECOUNT = 2.0  # seconds between updates of the list of workers
ARRIVAL = 0.1  # … and without any worker
SPREAD = 2.0  # seconds that the first workers have to take the work before runs are sent to those that have
SETTLED = 1.0  # seconds after which a new worker is no longer new
LOST = 60.0  # seconds without a worker after which a local cluster has none any more
FIRST = 100  # the priority of the work: before all runs that wait
DEATHS = 4  # number of workers killed by the work after which it is to blame; as Dask's limit for a task
FETCH = 30.0  # timeout for fetching results; those of a lost worker may never arrive
UNABLE = (CannotLoad, ImportError, AttributeError)  # versions of a worker; the last two if ampler is missing or differs


@contextmanager
def dask_cluster(where: str, *, workers: int | None = None) -> Iterator[Any]:
    """Connect to the Dask cluster at an address or of a scheduler file, or start one here ("local"); yield its client.

    `workers` is the number of workers of a local cluster; it ends with the `with` statement.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError as problem:
        raise MissingDependency("a Dask cluster needs Dask: pip install 'ampler[dask]'") from problem
    with ExitStack() as stack:
        if where == "local":
            import dask

            try:
                security = distributed.Security.temporary()
            except ImportError as problem:
                raise MissingDependency(
                    "a Dask cluster on this machine needs certificates, so that only you can use it:"
                    " pip install 'ampler[dask]'"
                ) from problem
            routes = (f"distributed.{part}.http.routes" for part in ("scheduler", "worker"))
            try:
                with dask.config.set({route: [] for route in routes}):
                    cluster = distributed.LocalCluster(
                        security=security,  # in-memory certificates keep out other users of this machine
                        env=PINNED | {name: text for name, text in os.environ.items() if name in PINNED},
                        n_workers=workers,
                        threads_per_worker=1,
                        host="127.0.0.1",
                        dashboard_address=None,
                        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port
                        memory_limit=None,  # limits are those of the study
                        silence_logs="CRITICAL",
                    )
            except (OSError, RuntimeError) as problem:  # a worker was killed while it started
                atexit.unregister(import_module("distributed.deploy.spec").close_clusters)  # it would wait and complain
                raise EngineFailed(f"the Dask cluster did not start ({sentence(problem)}); run again") from problem
            stack.callback(_end, cluster)
            client = distributed.Client(cluster, timeout=CONNECT, set_as_default=False)
        else:
            client = _connected(distributed, where)
        stack.callback(client.close, timeout=GOODBYE)
        yield client


def _end(cluster: Any) -> None:
    with suppress(TimeoutError):  # of a worker that was killed meanwhile; the others end with this process
        cluster.close(timeout=GOODBYE)


class DaskEngine:
    """Runs are made by the workers of a Dask cluster, as many as there are at the moment.

    Each worker takes the work they share before it makes runs of it, and runs need nothing else: they can be made by
    whoever is free. The work travels between workers as bytes, and each unpacks it itself. Of what Dask cannot unpack
    on arrival, such as a function whose module a worker does not see, it makes a connection that is out of step;
    whatever comes over it next, in this study or another, never arrives, and runs that need it wait forever."""

    def __init__(self, client: Any, work: Work, workers: int | None = None) -> None:
        self._client, self._fixed = client, workers
        self._ended: SimpleQueue[Any] = SimpleQueue()
        self._to_send: list[Sequence[Task]] = []
        self._under_way: dict[Any, _Sent] = {}
        self._digest, data, folders = Parcel(work).packed
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # large instances are sent once
            self._work = client.submit(bytes, data, pure=False)
        how = {"digest": self._digest, "folders": folders, "priority": FIRST, "pure": False}
        self._take = partial(client.submit, take_packed, self._work, **how)
        self._threads: dict[str, int] = {}  # of each worker
        self._taking: dict[str, Any] = {}  # the future of it, of each worker that takes the work
        self._having: set[str] = set()  # workers that have taken the work
        self._unable: dict[str, str] = {}  # those that cannot, and why
        self._next_look = self._last_came = 0.0
        self._last_seen = time.monotonic()  # at least one
        self._deaths = 0  # errors of workers that received the work

    @property
    def workers(self) -> int:
        """The number of runs that can be made at the same time; at least one, as workers may yet come."""
        self._look()
        return self._fixed or max(1, sum(self._threads[at] for at in self._threads.keys() - self._unable.keys()))

    @property
    def busy(self) -> int:
        """The number of chunks under way."""
        return len(self._to_send) + len(self._under_way)

    def submit(self, tasks: Sequence[Task]) -> None:
        """Have a chunk of runs made; it is sent together with others, before anything is waited for."""
        self._check()
        self._to_send.append(tasks)

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return the outcomes of chunks; wait up to `timeout` seconds for the first."""
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
        # all results are fetched at once: a question for each would wait its turn every time
        finished = {future.key: future for future in futures if future.status == "finished"}
        fetch, batches = partial(self._client.gather, finished, errors="skip", asynchronous=True), {}
        with suppress(Exception):  # then fetch each result alone, for its error
            batches = dict(self._client.sync(fetch, callback_timeout=FETCH)) if finished else {}
        return [self._fate(future, batches.get(future.key)) for future in futures]

    def close(self, *, at_once: bool) -> None:
        """Cancel everything unfinished; the cluster itself belongs to its owner."""
        if self._client.status == "running":
            futures = [sent.future for sent in self._under_way.values()]
            with suppress(Exception):  # a closing cluster needs no cancellation
                self._client.cancel([*futures, *self._taking.values(), self._work], force=True)

    def _send(self) -> None:
        """Send all chunks at once: a call for each costs the driver several times as much."""
        if not (self._to_send and self._having):
            return
        chunks, self._to_send = self._to_send, []
        only = frozenset(self._having if self._having != self._threads.keys() else ())  # may make them; none: any may
        # Of a large group of tasks Dask would keep most at the scheduler, and workers would wait for its answers.
        group = f"runs-{uuid4().hex}"
        keys, digests = [(group, number) for number in range(len(chunks))], [self._digest] * len(chunks)
        names, where = [names_of(tasks) for tasks in chunks], sorted(only) or None
        futures = self._client.map(run_taken, digests, names, key=keys, pure=False, workers=where)
        for future, tasks in zip(futures, chunks, strict=True):
            self._under_way[future.key] = _Sent(future, tasks, only)
            future.add_done_callback(self._ended.put)

    def _fate(self, future: Any, batch: Batch | None) -> Fate:
        tasks = self._under_way.pop(future.key).tasks
        if batch is not None:
            return done(tasks, batch)
        if future.status not in ("finished", "error"):  # cancelled, or gone with its worker while it was fetched
            self._check()
            self._client.cancel([future], force=True)
            return Returned(tasks)
        try:
            batch = future.result(timeout=FETCH)
        except AmplerError:
            raise
        except UNABLE:  # all take the work once more, unless somebody has just come: one that should have it has not
            if time.monotonic() - self._last_came > SETTLED:
                self._having = set()
            self._next_look = 0.0
            return Returned(tasks)
        except Exception as problem:
            self._check()
            return Lost(tasks, f"{type(problem).__name__}: {problem}")
        return done(tasks, batch)

    def _check(self) -> None:
        """Raise EngineFailed when there is no cluster any more."""
        if self._client.status != "running":
            raise EngineFailed(
                "the connection to the Dask scheduler was lost; recorded runs are safe: start it again, then run again"
            )

    def _look(self) -> None:
        """Update the list of workers if it is due, send the work to new ones, and note which have it.

        What only workers that are gone may make is taken back: Dask would wait for these to return. EngineFailed when
        there are workers and none of them can take the work.
        """
        self._check()
        due = time.monotonic() >= self._next_look
        if due:
            self._count()
        ended = {at: future for at, future in self._taking.items() if future.status in ("finished", "error")}
        for at, future in ended.items():
            del self._taking[at]
            if future.status == "finished":
                self._having.add(at)
            else:
                problem = future.exception()
                self._unable[at] = str(problem) if isinstance(problem, CannotLoad) else sentence(problem)
        if ended and self._unable.keys() == self._threads.keys():
            raise _cannot_load(self._unable[min(self._unable)])
        sent = self._under_way.values() if due else ()
        stranded = [one.future for one in sent if one.only and self._threads.keys().isdisjoint(one.only)]
        if stranded:
            self._client.cancel(stranded, force=True)

    def _count(self) -> None:
        self._threads = self._client.nthreads()
        self._next_look = time.monotonic() + (RECOUNT if self._threads else ARRIVAL)
        self._last_seen = time.monotonic() if self._threads else self._last_seen
        cluster: Any = getattr(self._client, "cluster", None)
        if type(cluster).__name__ == "LocalCluster" and len(self._threads) < len(cluster.worker_spec):
            if not self._threads and time.monotonic() - self._last_seen > LOST:
                raise EngineFailed("the workers of the local Dask cluster were lost; recorded runs are kept: run again")
            cluster.scale(len(cluster.worker_spec))  # Dask replaces killed workers, but not workers ended by SIGTERM
        self._having &= self._threads.keys()
        self._unable = {at: why for at, why in self._unable.items() if at in self._threads}
        # such as a module that ends its process on import; if one worker has the work, others may die
        self._deaths = 0 if self._having else self._deaths + len(self._taking.keys() - self._threads.keys())
        if self._deaths >= DEATHS:
            raise _cannot_load(f"{self._deaths} of them ended while they did")
        self._taking = {at: future for at, future in self._taking.items() if at in self._threads}
        came = self._threads.keys() - self._having - self._unable.keys() - self._taking.keys()
        for at in came:
            self._taking[at] = self._take(workers=[at])
        if came and not self._last_came:  # all start together, without waiting for busy workers
            until = time.monotonic() + SPREAD
            for future in self._taking.values():
                with suppress(Exception):
                    future.exception(timeout=max(0.0, until - time.monotonic()))
        if came:
            self._last_came = time.monotonic()


class _Sent(NamedTuple):
    """Running chunk: its future, which keeps it alive in Dask, and its allowed workers."""

    future: Any
    tasks: Sequence[Task]
    only: frozenset[str]


def _connected(distributed: Any, where: str) -> Any:
    place = Path(where)
    if place.is_file():
        given = {"scheduler_file": str(place)}
    elif ":" in where:
        given = {"address": where}
    else:
        raise InvalidInput(
            "the Dask cluster must be 'local', an address such as tcp://node7:8786 or an existing scheduler file,"
            f" got {where!r}"
        )
    try:
        return distributed.Client(**given, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, KeyError) as problem:
        raise EngineFailed(
            f"no Dask scheduler answers at {where} ({sentence(problem)}); start it, or fix the address"
        ) from problem


def _cannot_load(words: str) -> EngineFailed:
    return EngineFailed(
        f"the Dask workers cannot load the study ({words}); they need the same"
        " packages as this process, and the study's folder under the same path"
    )


def sentence(problem: BaseException) -> str:
    """Return the first line of an error message."""
    return f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
