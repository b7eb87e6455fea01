"""A cluster of 64 workers on this machine: how busy one driver keeps them, and how many it could keep busy.

The work is simulated: runs sleep, so that 64 workers (threads of four worker processes of Dask) need no 64 cores. The
driver, Dask's scheduler and the worker processes share this machine; what the driver itself costs a run is the
processor time of its whole process. Shares are those of a whole study, from the call to its return: start and end are
in them. `--quick` makes a quarter of the runs, `--workers 1024` tries another number (it writes no page). The last line
cuts the study into four parts, each with a driver, a scheduler and workers of its own, and merges them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ampler import Question, make_plan, merge_stores, open_store, read_store, run_plan
from ampler.running.engines.dask import dask_cluster
from ampler.sampling.rules import Fixed
from ampler.study.plan import part_of
from measuring import folder_on_disk, napping
from speed_page import Line, keep, print_lines

PROCESSES, WORKERS = 4, 64
BUSY = {1.0: 0.95, 0.05: 0.8}  # the share of the workers' time wanted, for runs of so many seconds
ALGORITHMS = "abc"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="make a quarter of the runs")
    parser.add_argument("--workers", type=int, default=WORKERS, help="how many there are, a multiple of four")
    chosen = parser.parse_args()
    found = lines(chosen.workers, 5.0 if chosen.quick else 20.0)
    if chosen.workers == WORKERS and not chosen.quick:
        return keep("bench_cluster", found)
    print_lines(found)
    return 0


def lines(workers: int, seconds: float) -> Iterator[Line]:
    here = f"{workers} Dask workers that sleep, on this machine"
    with cluster(PROCESSES, workers) as client:
        carried_out(client, workers, 0.05, 1.0)  # the workers import what they need
        for nap, target in BUSY.items():
            runs, took, cost = carried_out(client, workers, nap, seconds)
            share = runs * nap / (workers * took)
            yield Line(f"workers busy at runs of {nap:g} s", f"≥ {target:.0%}", f"{share:.1%}", share >= target, here)
            yield Line(f"the driver's own time for a run of {nap:g} s", "", f"{1e6 * cost:.0f} µs", True, here)
            feeds = f"{nap / cost:.0f}"
            yield Line(f"workers one driver can feed with runs of {nap:g} s", "", feeds, True, "its own time")
    for nap in BUSY:
        runs, took = in_parts(workers, nap=nap, seconds=seconds)
        what = f"workers busy at runs of {nap:g} s, four parts and merge"
        yield Line(what, "", f"{runs * nap / (workers * took):.1%}", True, here)


@contextmanager
def cluster(processes: int, workers: int) -> Iterator[Any]:
    """A scheduler and its workers, each a process of its own, as on a cluster."""
    with folder_on_disk() as folder, ExitStack() as stack:
        file = Path(folder, "scheduler.json")
        stack.enter_context(started("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)))
        while not file.exists():
            time.sleep(0.1)
        for _ in range(processes):
            how = ("--nthreads", str(workers // processes), "--no-nanny", "--memory-limit", "0")
            stack.enter_context(started("worker", "--scheduler-file", str(file), *how))
        client = stack.enter_context(dask_cluster(str(file)))
        client.wait_for_workers(processes, timeout=60)
        yield client


@contextmanager
def started(what: str, *arguments: str) -> Iterator[None]:
    command = [sys.executable, "-m", "dask", what, "--no-dashboard", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def carried_out(client: Any, workers: int, nap: float, seconds: float) -> tuple[int, float, float]:
    """Carry out a study; return its runs, its seconds by the clock, and the driver's own seconds for each run."""
    with folder_on_disk() as folder, open_store(Path(folder, "study.db")) as store:
        began, own = time.perf_counter(), time.process_time()
        progress = run_plan(plan_of(workers, nap, seconds), store, executor=client)
        return progress.new, time.perf_counter() - began, (time.process_time() - own) / progress.new


def in_parts(workers: int, *, nap: float, seconds: float) -> tuple[int, float]:
    """The same, cut into parts that know nothing of each other; return the runs, and the seconds with the merging."""
    context = get_context("spawn")
    ready = context.Barrier(PROCESSES + 1)
    with folder_on_disk() as folder:
        files = [Path(folder, f"part-{number}.db") for number in range(1, PROCESSES + 1)]
        jobs = [
            context.Process(target=_part, args=(workers, nap, seconds, number, file, ready))
            for number, file in enumerate(files, start=1)
        ]
        for job in jobs:
            job.start()
        ready.wait(timeout=120)
        began = time.perf_counter()
        for job in jobs:
            job.join()
        merge_stores(files, Path(folder, "study.db"))
        took = time.perf_counter() - began
        with read_store(Path(folder, "study.db")) as store:
            return sum(each.runs for each in store.tally()), took


def _part(workers: int, nap: float, seconds: float, number: int, file: Path, ready: Any) -> None:
    """What one job of a job array does, with a cluster of its own."""
    own = workers // PROCESSES
    with cluster(1, own) as client:
        carried_out(client, own, 0.05, 0.15)
        ready.wait(timeout=120)
        with open_store(file) as store:
            run_plan(part_of(plan_of(workers, nap, seconds), number, PROCESSES), store, executor=client)


def plan_of(workers: int, nap: float, seconds: float) -> Any:
    """A study that takes so many seconds: every algorithm a whole number of times on as many instances as workers."""
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms=dict.fromkeys(ALGORITHMS, partial(napping, nap=nap)),
        instances=[f"i{number}" for number in range(workers)],
        rule=Fixed(runs=max(1, round(seconds / nap / len(ALGORITHMS)))),
        seed=1,
        count="all",
    )


if __name__ == "__main__":
    sys.exit(main())
