"""Time, memory and size of reports: the paper's first experiment, and a study of a million runs.

Each report is written in a process of its own, so that its time includes starting and its memory is its own. Run it
with `make bench` or by itself; it exits with 1 if a target is missed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from measuring import Row, print_table

PAPER = Path(__file__).parents[2] / "shared" / "public-data" / "paper_experiment1_runs.csv"
INSTANCES, ALGORITHMS, RUNS = 200, 40, 125  # a million runs

CHILD = """
import json, resource, sys, time
begun = time.perf_counter()
from ampler import write_report
write_report(sys.argv[1], sys.argv[2], **json.loads(sys.argv[3]))
usage = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
"""


def main() -> int:
    """Print the table and return the exit code."""
    return print_table(rows())


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        if PAPER.is_file():
            asked = {
                "reference": "Full",
                "difference": "percent",
                "better": "lower",
                "se": 0.05,
                "budget": 1100,
                "effect": 0.5,
            }
            yield from measured("the paper's 23 271 runs", PAPER, Path(folder, "paper.html"), asked, seconds=10, size=2)
        else:
            print("the paper's runs are not here; only the synthetic study is measured")
        table = Path(folder, "million.csv")
        write_million(table)
        asked = {"difference": "percent", "better": "lower", "se": 0.01}
        what = "40 algorithms × 200 instances, all pairs, a million runs"
        yield from measured(what, table, Path(folder, "million.html"), asked, seconds=10, memory=500)


def measured(
    what: str,
    source: Path,
    target: Path,
    asked: dict[str, object],
    *,
    seconds: float,
    size: float | None = None,
    memory: float | None = None,
) -> Iterator[Row]:
    """The processor time decides, as other work on the machine must not; the time on the clock is shown beside it."""
    command = [sys.executable, "-c", CHILD, str(source), str(target), json.dumps(asked)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    clock, cpu, resident = map(float, said)
    yield f"{what}: seconds of processor time", f"< {seconds:g}", f"{cpu:.1f}", cpu < seconds
    yield f"{what}: seconds on the clock (informational)", "", f"{clock:.1f}", True
    megabytes = target.stat().st_size / 1e6
    yield (
        f"{what}: megabytes of the page",
        f"< {size:g}" if size else "",
        f"{megabytes:.2f}",
        not size or megabytes < size,
    )
    yield (
        f"{what}: megabytes of memory",
        f"< {memory:g}" if memory else "",
        f"{resident:.0f}",
        not memory or resident < memory,
    )


def write_million(path: Path) -> None:
    rng = np.random.default_rng(2019)
    cells = np.indices((INSTANCES, ALGORITHMS, RUNS)).reshape(3, -1)
    level = 100 + rng.normal(0, 5, (INSTANCES, 1)) + rng.normal(0, 1, (INSTANCES, ALGORITHMS))
    level += 0.05 * np.arange(ALGORITHMS)
    values = level[cells[0], cells[1]] + rng.normal(0, 3, cells.shape[1])
    frame = pd.DataFrame({"instance": cells[0], "algorithm": cells[1], "value": values})
    frame["algorithm"] = "a" + frame["algorithm"].astype(str)
    frame["instance"] = "i" + frame["instance"].astype(str)
    frame.to_csv(path, index=False)


if __name__ == "__main__":
    sys.exit(main())
