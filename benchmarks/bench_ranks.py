"""Processor time of the critical-difference diagram of 10 algorithms on 100 instances, beside scikit-posthocs'.

Each is timed in a process of its own that reads a table, ranks, tests, draws and writes an SVG: once with everything it
imports, and once more for what a second figure costs. Run it with `make bench` or by itself; it exits with 1 if ours
costs more. Without scikit-posthocs, which is not a dependency, ours alone is shown.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from measuring import Row, print_table

INSTANCES, ALGORITHMS = 100, 10
TIMES = 5  # processes of each, of which the cheapest counts: other work on the machine must not

OURS = """
import pandas as pd
from ampler import analyse
from ampler.plots import draw_ranks, ranks_data, save

def draw(table, figure):
    analysis = analyse(pd.read_csv(table), difference="simple", better="lower")
    save(draw_ranks(ranks_data(analysis)), figure)
"""
THEIRS = """
import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
import pandas as pd
import scikit_posthocs as sp

def draw(table, figure):
    values = pd.read_csv(table, index_col=0)
    found = sp.posthoc_nemenyi_friedman(values)
    plt.figure(figsize=(7.2, 2.2))
    sp.critical_difference_diagram(values.rank(axis=1).mean(), found)
    plt.savefig(figure)
    plt.close()
"""
TIMED = """
import sys, time
draw(*sys.argv[1:])
first = time.process_time()
draw(*sys.argv[1:])
print(first, time.process_time() - first)
"""


def main() -> int:
    """Print the table and return the exit code."""
    return print_table(rows())


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        write_table(table)
        ours = seconds(OURS, table)
        known = find_spec("scikit_posthocs") is not None
        theirs = seconds(THEIRS, table) if known else (float("inf"), float("inf"))
        if not known:
            print("scikit-posthocs is not here; ours alone is measured")
        for what, mine, other in zip(("the whole process", "a second figure"), ours, theirs, strict=True):
            yield f"{what}: seconds of processor time", f"≤ {other:.2f}", f"{mine:.2f}", mine <= other


def seconds(drawing: str, table: Path) -> tuple[float, float]:
    """The processor time of a process that draws, and of drawing once more in it."""
    command = [sys.executable, "-c", drawing + TIMED, str(table), str(table.with_suffix(".svg"))]
    said = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(TIMES)]
    first, second = np.array(said, float).min(axis=0).tolist()
    return first, second


def write_table(path: Path) -> None:
    rng = np.random.default_rng(2019)
    values = 100 + rng.normal(0, 5, (INSTANCES, 1)) + rng.normal(0, 3, (INSTANCES, ALGORITHMS))
    values += 0.4 * np.arange(ALGORITHMS)
    frame = pd.DataFrame(values, columns=[f"algorithm {k}" for k in range(ALGORITHMS)])
    frame.insert(0, "instance", [f"i{k}" for k in range(INSTANCES)])
    frame.to_csv(path, index=False)


if __name__ == "__main__":
    sys.exit(main())
