"""How fast designs with very many comparisons are, and that they are the same as by full evaluation."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import ceil

import numpy as np

from ampler.design import required_instances
from ampler.design.simulate import simulate_design
from ampler.stats.holm import holm_levels
from ampler.stats.power import paired_power

CASE = {"effect": 0.5, "power": 0.8, "alpha": 0.05}
TARGETS = {1_000: 0.005, 100_000: 0.060}  # seconds per design
SIMULATION_TARGET = 1.0  # seconds: a check of the paper's design must not be felt in the shell


def main() -> int:
    required_instances(comparisons=3, **CASE)  # imports scipy.stats
    print(f"{'mean-target design':<34}{'target':>10}{'measured':>11}{'full sum':>11}{'ratio':>8}   N")
    results = [design_row(comparisons, target) for comparisons, target in TARGETS.items()]
    results.append(simulation_row())
    return 0 if all(results) else 1


def design_row(comparisons: int, target: float) -> bool:
    design = required_instances(comparisons=comparisons, **CASE)
    quick = best_of(20, lambda: required_instances(comparisons=comparisons, **CASE))
    began = time.perf_counter()
    needed = full_evaluation(comparisons, design.instances)
    slow = time.perf_counter() - began
    same = needed == design.instances
    met = same and quick <= target
    print(
        f"{f'K = {comparisons}':<34}{target * 1e3:>7.0f} ms{quick * 1e3:>8.2f} ms{slow * 1e3:>8.0f} ms"
        f"{slow / quick:>7.0f}×"
        f"   {design.instances} {'same' if same else f'but {needed} by full evaluation'}{'' if met else '   MISSED'}"
    )
    return met


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


def simulation_row() -> bool:
    design = required_instances(comparisons=21, **CASE)
    seconds = best_of(3, lambda: simulate_design(design, dependence="reference"))
    met = seconds <= SIMULATION_TARGET
    print(
        f"{'simulate_design, 20000 families':<34}{SIMULATION_TARGET * 1e3:>7.0f} ms{seconds * 1e3:>8.0f} ms"
        f"{'' if met else '   MISSED'}"
    )
    return met


def best_of(times: int, call: Callable[[], object]) -> float:
    """The quickest of several calls: what the code takes when the machine does nothing else."""
    return min(timed(call) for _ in range(times))


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
