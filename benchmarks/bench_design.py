"""How fast designs with very many comparisons are, and that they are the same as by full evaluation."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from math import ceil

import numpy as np

from ampler.design import required_instances
from ampler.design.simulate import simulate_design
from ampler.stats.holm import holm_levels
from ampler.stats.power import paired_power
from speed_page import Line, keep

CASE = {"effect": 0.5, "power": 0.8, "alpha": 0.05}
TARGETS = {1_000: 0.005, 100_000: 0.060}  # seconds of processor time per design
SIMULATION_TARGET = 1.0  # seconds: a check of the paper's design must not be felt in the shell


def main() -> int:
    required_instances(comparisons=3, **CASE)  # imports scipy.stats
    return keep("bench_design", lines())


def lines() -> Iterator[Line]:
    for comparisons, target in TARGETS.items():
        yield design_line(comparisons, target)
    design = required_instances(comparisons=21, **CASE)
    seconds = best_of(3, lambda: simulate_design(design, dependence="reference"))
    met = seconds <= SIMULATION_TARGET
    yield Line("simulate_design, 20 000 families", f"≤ {SIMULATION_TARGET:g} s", f"{seconds:.2f} s", met, "")


def design_line(comparisons: int, target: float) -> Line:
    design = required_instances(comparisons=comparisons, **CASE)
    quick = best_of(20, lambda: required_instances(comparisons=comparisons, **CASE))
    began = time.process_time()
    needed = full_evaluation(comparisons, design.instances)
    slow = time.process_time() - began
    beside = f"{slow / quick:.0f} × quicker than all K powers; N = {design.instances}, by those {needed}"
    met = needed == design.instances and quick <= target
    return Line(f"a design of K = {comparisons}", f"≤ {1e3 * target:g} ms", f"{1e3 * quick:.2f} ms", met, beside)


def full_evaluation(comparisons: int, near: int) -> int:
    """Bisect on the plain mean of all K powers, from a bracket of a tenth around the answer to be checked."""
    levels = holm_levels(comparisons, CASE["alpha"])
    low, high = near - max(1, ceil(near / 10)), near + max(1, ceil(near / 10))
    while high - low > 1:
        middle = (low + high) // 2
        if np.mean(paired_power(middle, CASE["effect"], levels)) >= CASE["power"]:
            high = middle
        else:
            low = middle
    return high


def best_of(times: int, call: Callable[[], object]) -> float:
    """The quickest of several calls: what the code takes when the machine does nothing else."""
    return min(timed(call) for _ in range(times))


def timed(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
