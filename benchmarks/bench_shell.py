"""The shell must feel quick: CPU time of `ampler --help` and `ampler design`, with what importing scipy.stats takes.

The targets are for an idle machine; next to them stand the times of importing typer and scipy.stats in the same
minute, which no command can go below. On a busy machine compare with those.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence

from speed_page import Line, keep

REPEATS = 5
DESIGN = ["-m", "ampler", "design", "--algorithms", "22", "--vs-one", "--effect", "0.5", "--power", "0.8"]
CASES = [
    ("ampler --help", ["-m", "ampler", "--help"], 0.4, "import typer"),
    ("ampler design", DESIGN, 1.8, "import scipy.stats"),
    ("ampler design --json", [*DESIGN, "--json"], 1.8, "import scipy.stats"),
]


def cpu_seconds(arguments: Sequence[str]) -> float:
    """The least CPU time of several runs, user and system, with one thread."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    times = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


def main() -> int:
    return keep("bench_shell", lines())


def lines() -> Iterator[Line]:
    """Each command beside what it cannot go below."""
    for name, arguments, target, below in CASES:
        floor, seconds = cpu_seconds(["-c", below]), cpu_seconds(arguments)
        beside = f"{seconds / floor:.1f} × `{below}`, {floor:.2f} s"
        yield Line(f"`{name}`, processor time", f"≤ {target:.1f} s", f"{seconds:.2f} s", seconds <= target, beside)


if __name__ == "__main__":
    sys.exit(main())
