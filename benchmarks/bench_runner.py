"""The runner: how much of the workers' time goes into runs, and how many runs a second it can record.

Run it with `make bench` or by itself; it exits with 1 if a target is missed. All studies are kept in a real study
file. "Busy" runs keep their core until the wall clock says so, "sleeping" ones leave it to others. The ideal is what
as many bare processes manage that do nothing but call the algorithm, measured next to each study.
"""

from __future__ import annotations

import multiprocessing
import random
import sys
import time
from typing import Any

from ampler.sampling.rules import Accuracy, Fixed
from measuring import Algorithm, runs_per_second

TRIES = 3  # the best counts: other work on the machine only ever makes it slower


def main() -> int:
    """Print the table and return the exit code."""
    print(f"{'runner':<58}{'target':>12}{'measured':>12}")
    accuracy = Accuracy(se=0.02, difference="simple", start=10, budget=250)
    met = [
        share("busy runs of 1 ms, 2 workers: share of the ideal", busy(0.001), Fixed(runs=100), 0.8),
        share("the same with decisions on accuracy", busy(0.001), accuracy, 0.8),
        rate("runs that do nothing, 2 workers, recorded", nothing, Fixed(runs=300), 5000),
        rate("the same with decisions on accuracy", nothing, accuracy, 5000),
        speedup("sleeping runs of 20 ms: 2 workers over 1", sleeping(0.02), 1.8),
        share("busy runs of 20 ms, 2 workers: share of the ideal", busy(0.02), Fixed(runs=5), 0.9),
    ]
    return 0 if all(met) else 1


def share(what: str, algorithm: Algorithm, rule: Any, target: float) -> bool:
    best = max(
        runs_per_second(algorithm, rule, workers=2, instances=20) / bare_rate(algorithm, 2) for _ in range(TRIES)
    )
    return told(what, f"{target:.0%}", f"{best:.0%}", met=best >= target)


def rate(what: str, algorithm: Algorithm, rule: Any, target: float) -> bool:
    best = max(runs_per_second(algorithm, rule, workers=2, instances=40) for _ in range(TRIES))
    return told(what, f"{target:.0f} /s", f"{best:.0f} /s", met=best >= target)


def speedup(what: str, algorithm: Algorithm, target: float) -> bool:
    rule = Fixed(runs=10)
    best = max(
        runs_per_second(algorithm, rule, workers=2, instances=10)
        / runs_per_second(algorithm, rule, workers=1, instances=10)
        for _ in range(TRIES)
    )
    return told(what, f"{target:.1f} ×", f"{best:.2f} ×", met=best >= target)


def told(what: str, target: str, measured: str, *, met: bool) -> bool:
    print(f"{what:<58}{target:>12}{measured:>12}{'' if met else '   MISSED'}", flush=True)
    return met


def bare_rate(algorithm: Algorithm, processes: int, seconds: float = 2.0) -> float:
    """Calls per second of processes that do nothing else."""
    context = multiprocessing.get_context("fork")
    counts = context.Array("q", processes)

    def work(place: int) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            algorithm("i1", counts[place])
            counts[place] += 1

    crew = [context.Process(target=work, args=(place,)) for place in range(processes)]
    for process in crew:
        process.start()
    for process in crew:
        process.join()
    return sum(counts) / seconds


def nothing(instance: str, seed: int) -> float:
    return seed / 2**31


def busy(seconds: float) -> Algorithm:
    def algorithm(instance: str, seed: int) -> float:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass
        return random.Random(seed).random()

    return algorithm


def sleeping(seconds: float) -> Algorithm:
    def algorithm(instance: str, seed: int) -> float:
        time.sleep(seconds)
        return random.Random(seed).random()

    return algorithm


if __name__ == "__main__":
    sys.exit(main())
