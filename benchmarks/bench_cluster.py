"""A cluster of 64 workers on this machine: how busy one driver keeps them, and how many it could keep busy.

The work is simulated: runs sleep, so that 64 workers (threads of four worker processes of Dask) need no 64 cores. Their
scheduler, the workers and the driver share this machine; what the driver itself costs a run is its own processor time.
`--quick` makes a quarter of the runs. The last line cuts the study into parts, each with a driver and workers of its
own, and merges them.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ampler import Question, make_plan, merge_stores, open_store, read_store, run_plan
from ampler.running.engines.dask import dask_cluster
from ampler.sampling.rules import Fixed
from ampler.study.plan import part_of
from measuring import folder_on_disk
from speed_page import Line, keep

PROCESSES, THREADS = 4, 16
WORKERS = PROCESSES * THREADS
BUSY = {1.0: 0.95, 0.05: 0.8}  # the share of the workers' time wanted, for runs of so many seconds
ALGORITHMS = "abc"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="make a quarter of the runs")
    seconds = 5.0 if parser.parse_args().quick else 20.0
    with cluster() as client:
        carried_out(client, 0.05, 1.0)  # the workers import what they need
        return keep("bench_cluster", lines(client, seconds))


def lines(client: Any, seconds: float) -> Iterator[Line]:
    here = f"{WORKERS} Dask workers that sleep, on this machine"
    for nap, target in BUSY.items():
        runs, took, cost = carried_out(client, nap, seconds)
        share = runs * nap / (WORKERS * took)
        yield Line(f"workers busy at runs of {nap:g} s", f"≥ {target:.0%}", f"{share:.0%}", share >= target, here)
        yield Line(f"the driver's own time for a run of {nap:g} s", "", f"{1e6 * cost:.0f} µs", True, here)
        yield Line(f"workers one driver can feed with runs of {nap:g} s", "", f"{nap / cost:.0f}", True, "its own time")
    runs, took = in_parts(client, parts=4, nap=0.05, seconds=seconds)
    share = runs * 0.05 / (WORKERS * took)
    yield Line("workers busy at runs of 0.05 s, four parts and merge", "", f"{share:.0%}", True, here)


@contextmanager
def cluster() -> Iterator[Any]:
    import distributed

    how: dict[str, Any] = {"dashboard_address": None, "host": "127.0.0.1", "memory_limit": None, "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=PROCESSES, threads_per_worker=THREADS, **how) as own,
        distributed.Client(own, set_as_default=False) as client,
    ):
        client.wait_for_workers(PROCESSES, timeout=60)
        yield client


def carried_out(client: Any, nap: float, seconds: float) -> tuple[int, float, float]:
    """Carry out a study; return its runs, its seconds by the clock, and the driver's own seconds for each run."""
    with folder_on_disk() as folder, open_store(Path(folder, "study.db")) as store:
        began, own = time.perf_counter(), time.thread_time()
        progress = run_plan(plan_of(nap, seconds), store, executor=client)
        return progress.new, time.perf_counter() - began, (time.thread_time() - own) / progress.new


def in_parts(client: Any, *, parts: int, nap: float, seconds: float) -> tuple[int, float]:
    """The same, cut into parts that know nothing of each other, each with a driver and its workers; and merged."""
    with folder_on_disk() as folder:
        files = [Path(folder, f"part-{number}.db") for number in range(1, parts + 1)]
        began = time.perf_counter()
        start, address = get_context("spawn").Process, client.scheduler.address
        drivers = [
            start(target=_part, args=(address, nap, seconds, number, parts, file))
            for number, file in enumerate(files, start=1)
        ]
        for driver in drivers:
            driver.start()
        for driver in drivers:
            driver.join()
        merge_stores(files, Path(folder, "study.db"))
        took = time.perf_counter() - began
        with read_store(Path(folder, "study.db")) as store:
            return sum(each.runs for each in store.tally()), took


def _part(address: str, nap: float, seconds: float, number: int, parts: int, file: Path) -> None:
    """What one job of a job array does; a cluster of its own is a share of the workers here."""
    plan = part_of(plan_of(nap, seconds), number, parts)
    with dask_cluster(address) as client, open_store(file) as store:
        run_plan(plan, store, executor=client, workers=WORKERS // parts)


def plan_of(nap: float, seconds: float) -> Any:
    """A study that takes so many seconds: every algorithm a whole number of times on as many instances as workers."""
    return make_plan(
        question=Question("simple"),
        algorithms=dict.fromkeys(ALGORITHMS, partial(napping, nap=nap)),
        instances=[f"i{number}" for number in range(WORKERS)],
        rule=Fixed(runs=max(1, round(seconds / nap / len(ALGORITHMS)))),
        seed=1,
        count="all",
    )


def napping(instance: str, seed: int, *, nap: float) -> float:
    time.sleep(nap)
    return random.Random(seed).random()


if __name__ == "__main__":
    sys.exit(main())
