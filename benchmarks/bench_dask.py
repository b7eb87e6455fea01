"""Dask against the pool of this machine: recorded runs per second with two workers each, on runs of 20 ms.

Run it with `make bench` or by itself; it exits with 1 if the target is missed. Both start their workers before the
clock runs, and take turns, so that other work on the machine troubles both alike.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

from ampler.running.engines.dask import dask_cluster
from ampler.sampling.rules import Accuracy, Fixed
from measuring import Algorithm, napping, runs_per_second
from speed_page import Line, keep

TARGET = 0.8
TURNS = 3


def main() -> int:
    with dask_cluster("local", workers=2) as client:
        client.wait_for_workers(2, timeout=60)
        runs_per_second(napping, Fixed(runs=2), instances=10, executor=client)  # the workers import what they need
        return keep("bench_dask", lines(client))


def lines(client: Any) -> Iterator[Line]:
    accuracy = Accuracy(se=0.05, difference="simple", start=10, budget=60)
    yield compared("sleeping runs of 20 ms, fixed numbers", napping, Fixed(runs=15), client)
    yield compared("sleeping runs of 20 ms, decisions on accuracy", napping, accuracy, client)
    yield compared("busy runs of 20 ms, fixed numbers", busy, Fixed(runs=10), client)


def compared(what: str, algorithm: Algorithm, rule: Any, client: Any) -> Line:
    ratios = []
    for _ in range(TURNS):
        pool = runs_per_second(algorithm, rule, instances=10, workers=2)
        ratios.append(runs_per_second(algorithm, rule, instances=10, executor=client) / pool)
    ratio = statistics.median(ratios)
    return Line(what, f"≥ {TARGET:g} ×", f"{ratio:.2f} ×", ratio >= TARGET, "our own pool, two workers each, in turns")


def busy(instance: str, seed: int) -> float:
    end = time.perf_counter() + 0.02
    while time.perf_counter() < end:
        pass
    return random.Random(seed).random()


if __name__ == "__main__":
    sys.exit(main())
