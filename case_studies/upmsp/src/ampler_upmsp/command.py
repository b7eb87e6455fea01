"""`upmsp-solve`: the annealing as a program that prints `makespan iterations nanoseconds`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ampler_upmsp.annealing import Parameters, Result, anneal
from ampler_upmsp.gantt import draw_gantt, gantt_data
from ampler_upmsp.instance import Instance, read_instance
from ampler_upmsp.variants import ORDER

DEFAULTS = Parameters()

# the names that the published Java program uses, and the paper's
NAMES = {
    "shift": "SHF",
    "direct-swap": "DSW",
    "swap": "SWP",
    "switch": "SWT",
    "task-move": "TSK",
    "two-shift": "2SH",
} | {family: family for family in ORDER}


def main(argv: Sequence[str] | None = None) -> int:
    """Solve one instance and print what came out; a problem is one sentence on stderr and exit code 1."""
    arguments = _parser().parse_args(argv)
    try:
        instance = read_instance(arguments.instance)
        result = _solve(instance, arguments)
        if arguments.solution:
            arguments.solution.write_text(format_solution(result))
        if arguments.track:
            arguments.track.write_text(format_track(result))
        if arguments.gantt:
            draw(arguments.gantt, instance, result)
    except (ValueError, OSError) as problem:
        print(f"upmsp-solve: {problem}", file=sys.stderr)
        return 1
    print(result.makespan, result.iterations, round(result.seconds * 1e9))
    return 0


def format_solution(result: Result) -> str:
    """Return the schedule as text: the number of machines, then per machine its number of jobs and the jobs."""
    lines = [str(len(result.solution.sequences))]
    lines += [" ".join(map(str, (len(sequence), *sequence))) for sequence in result.solution.sequences]
    return "\n".join([*lines, "", f"Total makespan: {result.makespan}"]) + "\n"


def format_track(result: Result) -> str:
    """Return the incumbents as CSV: iteration, seconds, makespan."""
    rows = [f"{found.iteration},{found.seconds:.6f},{found.makespan}" for found in result.incumbents]
    return "\n".join(["iteration,seconds,makespan", *rows]) + "\n"


def draw(path: Path, instance: Instance, result: Result) -> None:
    """Draw the schedule; the ending of the file's name says the format."""
    from ampler.plots import save

    save(draw_gantt(gantt_data(instance, result.solution)), path)


def _solve(instance: Instance, arguments: argparse.Namespace) -> Result:
    parameters = Parameters(
        temperature=arguments.temperature,
        cooling=arguments.cooling,
        iterations_per_temperature=arguments.iterations_per_temperature,
    )
    return anneal(
        instance,
        seed=arguments.seed,
        iterations=arguments.iterations,
        seconds=arguments.seconds,
        disable=[NAMES[name] for name in arguments.disable],
        parameters=parameters,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="upmsp-solve", description=__doc__)
    parser.add_argument("instance", type=Path, help="a file in the format of Vallada and Ruiz, plain or gzip")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, help="stop after so many iterations")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds (default: 0.015 · jobs · machines)")
    parser.add_argument("--disable", action="append", default=[], choices=sorted(NAMES), help="may be repeated")
    parser.add_argument("--temperature", type=float, default=DEFAULTS.temperature)
    parser.add_argument("--cooling", type=float, default=DEFAULTS.cooling)
    parser.add_argument("--iterations-per-temperature", type=int, default=DEFAULTS.iterations_per_temperature)
    parser.add_argument("--solution", type=Path, metavar="FILE", help="write the schedule to a file")
    parser.add_argument("--track", type=Path, metavar="FILE", help="write the incumbents to a CSV file")
    parser.add_argument("--gantt", type=_figure, metavar="FILE", help="draw the schedule: .svg, .pdf or .png")
    return parser


def _figure(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in (".svg", ".pdf", ".png"):  # said before the search
        raise argparse.ArgumentTypeError(f"the name of a figure must end in .svg, .pdf or .png, got {text!r}")
    return path
