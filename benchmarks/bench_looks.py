"""How long looks take: the boundaries of 21 comparisons, once, and a decision after a look.

Run it with `make bench` or by itself; it exits with 1 if a target is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from ampler.stats.sequential import Declared, decide, named_spending, student_schedule, t_evidence
from speed_page import Line, keep

LOOKS = (24, 35, 47, 58)
COMPARISONS = 21


def seconds(call: Callable[[], object], times: int = 1) -> float:
    """Processor time of a call, the mean of several."""
    began = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - began) / times


def boundaries() -> list[tuple[float, ...]]:
    schedule = student_schedule(named_spending("OF"), LOOKS)
    return [schedule.nominal_levels(0.05 / m) for m in range(1, COMPARISONS + 1)]


def lines() -> Iterator[Line]:
    differences = np.random.default_rng(1).normal(0.2, 1.0, (LOOKS[-1], COMPARISONS))
    declared = Declared(LOOKS)
    student_schedule(named_spending("OF"), (20, 40)).nominal_levels(0.05)  # scipy is loaded by now
    yield line("boundaries of four looks, 21 comparisons", seconds(boundaries), 0.6)
    yield line("the same again", seconds(boundaries, 100), 0.001)
    evidence = t_evidence(differences, LOOKS, effect=0.5)
    decide(evidence, declared)
    yield line("a decision after a look", seconds(lambda: decide(evidence, declared), 100), 0.005)


def line(what: str, taken: float, most: float) -> Line:
    return Line(what, f"≤ {1000 * most:g} ms", f"{1000 * taken:.2f} ms", taken <= most, "processor time")


if __name__ == "__main__":
    sys.exit(keep("bench_looks", lines()))
