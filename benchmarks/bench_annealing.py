"""How many iterations a second the case study's annealing makes, and which move objects take how long.

Where UPMSP_JAR names the published Java program, both take turns on the same instances; else it is said to be absent.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ampler_upmsp.annealing import Parameters, _State, anneal
from ampler_upmsp.instance import Instance, generate_instance, write_instance
from ampler_upmsp.moves import FAMILIES, KINDS
from speed_page import Line, keep

# jobs, machines: million iterations a second of processor time wanted on an idle core
TARGETS = {(50, 10): 9.0, (100, 20): 9.0, (250, 30): 6.0}
ITERATIONS = 3_000_000
FASTER = 4  # times, than the Java program
TURNS = 3
SETTINGS = Parameters(iterations_per_temperature=20_000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", action="store_true", help="also show the nanoseconds of each move object")
    chosen = parser.parse_args()
    anneal(generate_instance(5, 2, 9, seed=1), seed=1, iterations=10)  # compiles
    missed = keep("bench_annealing", lines(os.environ.get("UPMSP_JAR")))
    if chosen.moves:
        print_moves()
    return missed


def lines(jar: str | None) -> Iterator[Line]:
    for (jobs, machines), target in TARGETS.items():
        instance = generate_instance(jobs, machines, 99, seed=1)
        speed = max(speed_of(instance) for _ in range(5))  # the machine's own speed: other work only slows it down
        what = f"annealing, {jobs} jobs on {machines} machines, million iterations a second"
        yield Line(what, f"≥ {target:.0f}", f"{speed:.1f}", speed >= target, "a core of this machine")
        if jar is not None:
            ratio = statistics.median(java_seconds(jar, instance) / our_seconds(instance) for _ in range(TURNS))
            what = f"annealing, {jobs} jobs on {machines} machines, speed"
            yield Line(what, f"≥ {FASTER} ×", f"{ratio:.1f} ×", ratio >= FASTER, "the Java program, in turns")
    if jar is None:
        print("the Java program is absent: name its jar in UPMSP_JAR to have it timed beside ours")


def speed_of(instance: Instance) -> float:
    began = time.process_time()
    anneal(instance, seed=3, iterations=ITERATIONS, parameters=SETTINGS)
    return ITERATIONS / (time.process_time() - began) / 1e6


def our_seconds(instance: Instance) -> float:
    return anneal(instance, seed=3, iterations=ITERATIONS, parameters=SETTINGS).seconds


def java_seconds(jar: str, instance: Instance) -> float:
    """The seconds that the Java program says its search took: makespan, iterations and nanoseconds are its one line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "instance.txt")
        write_instance(instance, file)
        how = ["--seed", "3", "--iterations-limit", str(ITERATIONS), "--time-limit", "600000"]
        how += ["--iterations-per-temperature", str(SETTINGS.iterations_per_temperature)]
        said = subprocess.run(
            ["java", "-jar", jar, "optimize", *how, str(file)], capture_output=True, text=True, check=True
        )
    return int(said.stdout.split()[-1]) / 1e9


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
