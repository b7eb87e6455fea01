"""How many iterations a second the case study's annealing makes, and which move objects take how long."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from ampler_upmsp.annealing import Parameters, _State, anneal
from ampler_upmsp.instance import generate_instance
from ampler_upmsp.moves import FAMILIES, KINDS

# jobs, machines: million iterations a second of processor time wanted on an idle core
TARGETS = {(50, 10): 9.0, (100, 20): 9.0, (250, 30): 6.0}
ITERATIONS = 3_000_000
SETTINGS = Parameters(iterations_per_temperature=20_000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", action="store_true", help="also show the nanoseconds of each move object")
    chosen = parser.parse_args()
    anneal(generate_instance(5, 2, 9, seed=1), seed=1, iterations=10)  # compiles
    print(f"{'jobs × machines':<18}{'target':>16}{'measured':>16}")
    met = [speed_row(*size, target) for size, target in TARGETS.items()]
    if chosen.moves:
        print_moves()
    return 0 if all(met) else 1


def speed_row(jobs: int, machines: int, target: float) -> bool:
    instance = generate_instance(jobs, machines, 99, seed=1)
    speed = max(speed_of(instance) for _ in range(5))  # the machine's own speed: other work only slows it down
    met = speed >= target
    print(f"{f'{jobs} × {machines}':<18}{target:>11.1f} M/s{speed:>11.1f} M/s{'' if met else '   MISSED'}")
    return met


def speed_of(instance) -> float:
    began = time.process_time()
    anneal(instance, seed=3, iterations=ITERATIONS, parameters=SETTINGS)
    return ITERATIONS / (time.process_time() - began) / 1e6


def print_moves() -> None:
    """Time each object alone, from a solution that has been annealed."""
    for jobs, machines in TARGETS:
        state = _State.make(generate_instance(jobs, machines, 99, seed=1), 1, SETTINGS, None)
        state.advance(np.arange(24), ITERATIONS, SETTINGS)
        print(f"{f'{jobs} × {machines}, ns':<18}" + "".join(f"{kind:>10}" for kind in KINDS))
        for number, family in enumerate(FAMILIES):
            times = [nanoseconds(state, 4 * number + kind) for kind in range(4)]
            print(f"{family:<18}" + "".join(f"{time:>10.0f}" for time in times))


def nanoseconds(state: _State, move: int, steps: int = 300_000) -> float:
    began = time.process_time()
    state.advance(np.array([move]), steps, SETTINGS)
    return (time.process_time() - began) / steps * 1e9


if __name__ == "__main__":
    sys.exit(main())
