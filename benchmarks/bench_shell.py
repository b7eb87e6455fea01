"""The shell must feel quick: CPU time of `ampler --help` and `ampler design`, with what importing scipy.stats takes.

The targets are for an idle machine; next to them stand the times of importing typer and scipy.stats in the same
minute, which no command can go below. On a busy machine compare with those.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence

REPEATS = 5
DESIGN = ["-m", "ampler", "design", "--algorithms", "22", "--vs-one", "--effect", "0.5", "--power", "0.8"]
CASES = [
    ("import typer", ["-c", "import typer"], None),
    ("ampler --help", ["-m", "ampler", "--help"], 0.4),
    ("import scipy.stats", ["-c", "import scipy.stats"], None),
    ("ampler design", DESIGN, 1.8),
    ("ampler design --json", [*DESIGN, "--json"], 1.8),
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
    missed = 0
    print(f"{'what':24} {'CPU s':>7} {'target':>7}")
    for name, arguments, target in CASES:
        seconds = cpu_seconds(arguments)
        late = target is not None and seconds > target
        missed += late
        print(f"{name:24} {seconds:7.2f} {'' if target is None else f'{target:7.2f}'}{'  missed' if late else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
