"""How long looks take: the boundaries of 21 comparisons, once, and a decision after a look.

python benchmarks/bench_looks.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ampler.stats.sequential import Declared, decide, named_spending, student_schedule, t_evidence

LOOKS = (24, 35, 47, 58)
COMPARISONS = 21
MOST = {"boundaries": 0.6, "again": 0.001, "decision": 0.005}  # seconds of processor time


def seconds(call: Callable[[], object], times: int = 1) -> float:
    """Processor time of a call, the mean of several."""
    began = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - began) / times


def boundaries() -> list[tuple[float, ...]]:
    schedule = student_schedule(named_spending("OF"), LOOKS)
    return [schedule.nominal_levels(0.05 / m) for m in range(1, COMPARISONS + 1)]


def main() -> None:
    """Print what was measured beside what it may be."""
    differences = np.random.default_rng(1).normal(0.2, 1.0, (LOOKS[-1], COMPARISONS))
    declared = Declared(LOOKS)
    student_schedule(named_spending("OF"), (20, 40)).nominal_levels(0.05)  # scipy is loaded by now
    found = {"boundaries": seconds(boundaries), "again": seconds(boundaries, 100)}
    evidence = t_evidence(differences, LOOKS, effect=0.5)
    decide(evidence, declared)
    found["decision"] = seconds(lambda: decide(evidence, declared), 100)
    for name, taken in found.items():
        print(f"{name}: {1000 * taken:.2f} ms of processor time, {1000 * MOST[name]:g} at most")


if __name__ == "__main__":
    main()
