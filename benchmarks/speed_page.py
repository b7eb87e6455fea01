"""What benchmarks of speed share: units of this machine to hold others' times against, and the page of results.

A program that is not installed cannot be timed in the same run. Its time is then the one it took beside an earlier
ampler, in units of a loop that is measured again here: so the machine, and its load, cancel out.
"""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"
COLUMNS = ("benchmark", "what", "target", "measured", "met", "against", "load")

TITLE = """# Speed

Written by `make bench`: each line was measured in one run, beside what it is compared with, on two cores
({machine}). `load` is the machine's load average at that moment: above 2 other work was going on. Processor times
feel it a little; the shares of workers that are busy feel it much, since a driver that waits for a core keeps its
workers waiting.

| what | target | measured | | against | load |
|---|---:|---:|---|---|---:|
"""


class Line(NamedTuple):
    """A line of the page: what was measured, what is wanted, what came out, and against what."""

    what: str
    target: str
    measured: str
    met: bool
    against: str


def quickest(work: Callable[[], object], repeats: int, blocks: int = 15) -> float:
    """Return the seconds of processor time of one call, in the quickest block: other work only adds to it."""
    best = float("inf")
    for _ in range(blocks):
        began = process_time()
        for _ in range(repeats):
            work()
        best = min(best, (process_time() - began) / repeats)
    return best


@cache
def numpy_unit() -> float:
    """Return the seconds that four operations on 22 numbers take here."""
    values, others = np.linspace(1.0, 2.0, 22), np.linspace(3.0, 2.0, 22)

    def work() -> None:
        np.add.reduce(values * others)
        np.sqrt(values / others)

    return quickest(work, 1000, blocks=100)


def keep(benchmark: str, lines: Iterable[Line]) -> int:
    """Print the lines as they come, put them on the page in the place of older ones; return 1 if a target is missed."""
    kept = [row for row in _kept() if row["benchmark"] != benchmark]
    missed = False
    print(f"{'what':62}{'target':>12}{'measured':>12}  against")
    for line in lines:
        print(f"{line.what:62}{line.target:>12}{line.measured:>12}  {line.against}{'' if line.met else '   MISSED'}")
        missed |= not line.met
        kept.append(dict(zip(COLUMNS, _cells(benchmark, line), strict=True)))
    _write(sorted(kept, key=lambda row: row["benchmark"]))
    return int(missed)


def _cells(benchmark: str, line: Line) -> tuple[str, ...]:
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return benchmark, line.what, line.target, line.measured, "yes" if line.met else "no", line.against, load


def _kept() -> list[dict[str, str]]:
    file = FOLDER / "speed.csv"
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _write(rows: list[dict[str, str]]) -> None:
    with (FOLDER / "speed.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    machine = f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}"
    table = "".join(_row(row) for row in rows)
    (FOLDER / "speed.md").write_text(TITLE.format(machine=machine) + table, encoding="utf-8")


def _row(row: dict[str, str]) -> str:
    missed = "" if row["met"] == "yes" else "missed"
    return f"| {row['what']} | {row['target']} | {row['measured']} | {missed} | {row['against']} | {row['load']} |\n"
