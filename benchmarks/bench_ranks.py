"""Processor time of the critical-difference diagram of 10 algorithms on 100 instances, beside scikit-posthocs'.

Each is timed in a process of its own that reads a table, ranks, tests, draws and writes an SVG: the diagram alone, a
second one with its table and tests, and the whole process with its imports. None may cost more than theirs. The same
after a whole analysis, which tells more than ranks, is shown beside it. All have their bytecode, as installed packages
do. Run it with `make bench` or by itself; it exits with 1 if a target is missed. Without scikit-posthocs, which is not
a dependency, ours alone is shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from measuring import Row, print_table

INSTANCES, ALGORITHMS = 100, 10
TIMES = 3  # processes of each, of which the cheapest counts: other work on the machine must not

OURS = """
import pandas as pd
from ampler.plots import draw_ranks, save, table_ranks

def prepare(table):
    return table_ranks(pd.read_csv(table), better="lower")

def draw(found, figure):
    save(draw_ranks(found), figure)
"""
ANALYSED = """
import pandas as pd
from ampler import analyse
from ampler.plots import draw_ranks, ranks_data, save

def prepare(table):
    return analyse(pd.read_csv(table), difference="simple", better="lower")

def draw(analysis, figure):
    save(draw_ranks(ranks_data(analysis)), figure)
"""
THEIRS = """
import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as plt
import pandas as pd
import scikit_posthocs as sp

def prepare(table):
    values = pd.read_csv(table, index_col=0)
    return values.rank(axis=1).mean(), sp.posthoc_nemenyi_friedman(values)

def draw(found, figure):
    plt.figure(figsize=(7.2, 2.2))
    sp.critical_difference_diagram(*found)
    plt.savefig(figure)
    plt.close()
"""
TIMED = """
import sys, time
draw(prepare(sys.argv[1]), sys.argv[2])
whole = time.process_time()
found = prepare(sys.argv[1])
prepared = time.process_time()
draw(found, sys.argv[2])
drawn = time.process_time()
print(drawn - prepared, drawn - whole, whole)
"""


def main() -> int:
    """Print the table and return the exit code."""
    return print_table(rows())


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        write_table(table)
        ours, analysed = seconds(OURS, table), seconds(ANALYSED, table)
        known = find_spec("scikit_posthocs") is not None
        theirs = seconds(THEIRS, table) if known else (float("inf"),) * 3
        if not known:
            print("scikit-posthocs is not here; ours alone is measured")
        parts = ("the diagram, drawn and written", "with its table and tests", "the whole process, with imports")
        for what, mine, other in zip(parts, ours, theirs, strict=True):
            yield f"{what}: seconds of processor time", f"≤ {other:.3f}", f"{mine:.3f}", mine <= other
        yield "the whole process with an analysis (informational)", "", f"{analysed[2]:.3f}", True


def seconds(drawing: str, table: Path) -> tuple[float, float, float]:
    """The processor time of drawing alone, of a second figure in a process, and of the process up to the first."""
    command = [sys.executable, "-c", drawing + TIMED, str(table), str(table.with_suffix(".svg"))]
    compiled = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    compiled["PYTHONPYCACHEPREFIX"] = str(table.parent / "compiled")
    run = partial(subprocess.run, command, capture_output=True, text=True, check=True, env=compiled)
    said = [run().stdout.split() for _ in range(1 + TIMES)][1:]  # the first one compiles
    alone, again, whole = np.array(said, float).min(axis=0).tolist()
    return alone, again, whole


def write_table(path: Path) -> None:
    rng = np.random.default_rng(2019)
    values = 100 + rng.normal(0, 5, (INSTANCES, 1)) + rng.normal(0, 3, (INSTANCES, ALGORITHMS))
    values += 0.4 * np.arange(ALGORITHMS)
    frame = pd.DataFrame(values, columns=[f"algorithm {k}" for k in range(ALGORITHMS)])
    frame.insert(0, "instance", [f"i{k}" for k in range(INSTANCES)])
    frame.to_csv(path, index=False)


if __name__ == "__main__":
    sys.exit(main())
