"""How many iterations a second the case study's annealing makes, beside the published Java program where that is found.

Where UPMSP_JAR names the Java program (a class path: its jar, then what it needs), both take turns at the same
searches, in processor time of code that is warm; else the Java program's time is the one that it took in such a run,
in units of this machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, cast

import numpy as np

from ampler_upmsp.annealing import Parameters, Result, _State, anneal
from ampler_upmsp.command import NAMES
from ampler_upmsp.instance import Instance, generate_instance, read_instance, write_instance
from ampler_upmsp.moves import FAMILIES, KINDS
from speed_page import ABSENT, Line, keep, numpy_unit, quickest

# jobs, machines: million iterations a second of processor time wanted on an idle core
TARGETS = {(50, 10): 9.0, (100, 20): 9.0, (250, 30): 6.0}
FASTER = 4  # times, than the Java program
# the time of an iteration of the Java program in those of `numpy_unit` (1.81 µs): 214, 224 and 248 ns on a quiet
# machine. Beside much other work, which takes more from larger tables, 0.127, 0.154 and 0.230 were measured.
JAVA_UNITS = {(50, 10): 0.118, (100, 20): 0.124, (250, 30): 0.137}
ITERATIONS = 3_000_000
ALONE = 1_000_000  # iterations with one neighbourhood
WARM = 4  # searches, after which the Java program gets no faster
TURNS = 5
SETTINGS = Parameters(iterations_per_temperature=20_000)
TURNS_JAVA = Path(__file__).with_name("AnnealingTurns.java")


class Turn(NamedTuple):
    """What one search took, in seconds of processor time of either program."""

    java: float
    ours: float

    @property
    def ratio(self) -> float:
        return self.java / self.ours


class Java:
    """The published program, waiting for searches to do on one instance."""

    def __init__(self, jar: str, instance: Instance, folder: str):
        file = Path(folder, f"{instance.name}.txt")
        write_instance(instance, file)
        command = ["java", "-cp", jar, str(TURNS_JAVA), str(file)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.instance, self.process = instance, process
        self.questions, self.answers = cast(IO[str], process.stdin), cast(IO[str], process.stdout)

    def seconds(self, families: Sequence[str], iterations: int, makespan: int) -> float:
        """Search as we did, which must come to the same makespan; return the seconds of processor time."""
        names = ",".join(name for name, family in NAMES.items() if family in families and name != family)
        self.questions.write(f"3 {iterations} {SETTINGS.iterations_per_temperature} {names}\n")
        self.questions.flush()
        said = self.answers.readline().split()
        if len(said) != 2 or int(said[0]) != makespan:
            raise SystemExit(f"the Java program must come to the makespan {makespan}, it said {said or 'nothing'}")
        return int(said[1]) / 1e9

    def turns(self, families: Sequence[str], iterations: int, count: int = TURNS) -> list[Turn]:
        """Let both search in turns."""
        return [self.turn(families, iterations) for _ in range(count)]

    def turn(self, families: Sequence[str], iterations: int) -> Turn:
        ours, result = searched(self.instance, families, iterations)
        return Turn(self.seconds(families, iterations, result.makespan), ours)

    def close(self) -> None:
        self.process.communicate()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", action="store_true", help="also show the nanoseconds of each move object")
    parser.add_argument("--families", action="store_true", help="also take turns with one neighbourhood at a time")
    parser.add_argument("--around", action="store_true", help="also show what a run takes besides its search")
    chosen = parser.parse_args()
    anneal(generate_instance(5, 2, 9, seed=1), seed=1, iterations=10)  # compiles
    jar = os.environ.get("UPMSP_JAR") if shutil.which("java") else None
    missed = keep("bench_annealing", lines(jar, families=chosen.families))
    if chosen.moves:
        print_moves()
    if chosen.around:
        print_around()
    return missed


def lines(jar: str | None, *, families: bool) -> Iterator[Line]:
    if jar is None:
        print("The Java program is absent (no UPMSP_JAR, or no java): its time is that of an earlier run.")
    for size, target in TARGETS.items():
        instance = generate_instance(*size, 99, seed=1)
        turns = turns_of(jar, instance, families=families) if jar else stored_turns(size, instance)
        ratios = sorted(turn.ratio for turn in turns)
        speed = ITERATIONS / min(turn.ours for turn in turns) / 1e6  # other work only slows it down
        name = f"annealing, {size[0]} jobs on {size[1]} machines"
        yield Line(f"{name}, million iterations a second", f"≥ {target:.0f}", f"{speed:.1f}", speed >= target, "a core")
        ratio = statistics.median(ratios)
        against = f"the Java program, {f'{len(turns)} turns' if jar else f'timed earlier; {ABSENT}'}"
        against += f", from {ratios[0]:.1f} to {ratios[-1]:.1f} ×"
        yield Line(f"{name}, speed", f"≥ {FASTER} ×", f"{ratio:.1f} ×", ratio >= FASTER, against)


def turns_of(jar: str, instance: Instance, *, families: bool) -> list[Turn]:
    with tempfile.TemporaryDirectory() as folder:
        java = Java(jar, instance, folder)
        java.turns(FAMILIES, ITERATIONS, WARM)
        turns = java.turns(FAMILIES, ITERATIONS)
        print_units(turns)
        if families:
            print_families(java)
        java.close()
    return turns


def stored_turns(size: tuple[int, int], instance: Instance) -> list[Turn]:
    java = JAVA_UNITS[size] * numpy_unit() * ITERATIONS
    return [Turn(java, searched(instance, FAMILIES, ITERATIONS)[0]) for _ in range(TURNS)]


def searched(instance: Instance, families: Sequence[str], iterations: int) -> tuple[float, Result]:
    """Search with some of the neighbourhoods; return the seconds of processor time and what came out."""
    disable = [family for family in FAMILIES if family not in families]
    began = time.process_time()
    result = anneal(instance, seed=3, iterations=iterations, disable=disable, parameters=SETTINGS)
    return time.process_time() - began, result


def print_units(turns: Sequence[Turn]) -> None:
    """Show the quickest searches of both: other work only slows them down."""
    java, ours = (min(times) / ITERATIONS for times in zip(*turns, strict=True))
    units = f"{java / numpy_unit():.3f} units"
    print(
        f"  an iteration: Java {java * 1e9:.0f} ns ({units}), ours {ours * 1e9:.1f} ns, {java / ours:.1f} ×", flush=True
    )


def print_families(java: Java) -> None:
    """Take turns with each neighbourhood alone: the same searches, as they come to the same makespan."""
    for family in FAMILIES:
        java.turns([family], ALONE, 2)
        ratios = sorted(turn.ratio for turn in java.turns([family], ALONE))
        print(f"  {family}: {statistics.median(ratios):.1f} × ({ratios[0]:.1f} to {ratios[-1]:.1f})", flush=True)


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


def print_around() -> None:
    """Show what a run takes besides its search: starting a program, reading an instance, beginning and checking."""
    with tempfile.TemporaryDirectory() as folder:
        for size in TARGETS:
            file = Path(folder, "instance.txt")
            write_instance(generate_instance(*size, 99, seed=1), file)
            print(f"{size[0]} × {size[1]}, ms: " + ", ".join(f"{what} {ms:.1f}" for what, ms in around(file)))


def around(file: Path) -> Iterator[tuple[str, float]]:
    """Yield the milliseconds of processor time of each step."""
    instance, program = read_instance(file), f"main([{str(file)!r}, '--seed', '1', '--iterations', '0'])"
    yield "an empty Python program", child_milliseconds("pass")
    yield "with our imports", child_milliseconds("import ampler_upmsp.command")
    yield "upmsp-solve without iterations", child_milliseconds(f"from ampler_upmsp.command import main; {program}")
    yield "reading", 1e3 * quickest(lambda: read_instance(file), 1, blocks=3)
    yield "a first search of no iterations", 1e3 * quickest(lambda: no_search(read_instance(file)), 1, blocks=3)
    yield "a further one", 1e3 * quickest(lambda: no_search(instance), 10)
    yield "200 000 iterations", 1e3 * quickest(lambda: anneal(instance, seed=1, iterations=200_000), 1, blocks=5)


def no_search(instance: Instance) -> Result:
    return anneal(instance, seed=1, iterations=0)


def child_milliseconds(code: str) -> float:
    """Return the milliseconds that a Python program takes, of the quickest of three."""
    return 1e3 * min(child_seconds(code) for _ in range(3))


def child_seconds(code: str) -> float:
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    sys.exit(main())
