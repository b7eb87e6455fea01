"""What benchmarks of speed share: units of this machine to hold others' times against, and the page of results.

A program that is not installed cannot be timed in the same run. Its time is then the one it took beside an earlier
ampler, in units of a loop that is measured again here. That says about how far apart the two are, for machines differ
in what they do quickly: such a line is printed, and the page keeps the one that was measured beside the program.
"""

from __future__ import annotations

import ast
import csv
import datetime
import os
import platform
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

ABSENT = "not installed here"  # in what stands behind a line, of a program that was timed on another day
FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"
COLUMNS = ("benchmark", "what", "target", "measured", "met", "against", "load", "date")

TITLE = """# Speed

Written by `make bench`: each line was measured in one run, beside what it is compared with, on two cores
({machine}). `load` is the machine's load average at that moment: above 2 other work was going on. Processor times
feel it a little; times by the clock, and the shares of workers that are busy, feel it much: a driver that waits for a
core keeps its workers waiting. Lines of a benchmark that was not run again stay, with their date; so do those of a
program that was not installed when it was.

Of {lines} lines with a target {missed}.
"""
HEAD = """
| what | target | measured | | against | load | date |
|---|---:|---:|---|---|---:|---|
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


def numpy_unit() -> float:
    """Return the seconds that four operations on 22 numbers take here, now."""
    values, others = np.linspace(1.0, 2.0, 22), np.linspace(3.0, 2.0, 22)

    def work() -> None:
        np.add.reduce(values * others)
        np.sqrt(values / others)

    return quickest(work, 1000, blocks=100)


def keep(benchmark: str, lines: Iterable[Line], *, among_others: bool = False) -> int:
    """Print the lines as they come, put them on the page in the place of older ones; return 1 if a target is missed.

    Lines of this benchmark that did not come again leave the page, unless the new ones are `among_others`. One that was
    measured beside another program stays when the new one was not.
    """
    new = [dict(zip(COLUMNS, _cells(benchmark, line, load), strict=True)) for line, load in print_lines(lines)]
    again = {row["what"] for row in new}
    older = [row for row in kept() if row["benchmark"] != benchmark or (among_others and row["what"] not in again)]
    beside = {row["what"]: row for row in kept() if row["benchmark"] == benchmark and ABSENT not in row["against"]}
    shown = [beside.get(row["what"], row) if ABSENT in row["against"] else row for row in new]
    _write(sorted([*older, *shown], key=itemgetter("benchmark")))
    return int(any(row["met"] == "no" for row in new))


def print_lines(lines: Iterable[Line]) -> list[tuple[Line, str]]:
    """Print the lines as they come, each with the machine's load at that moment; return both."""
    print(f"{'what':62}{'target':>12}{'measured':>12}  {'against':60} load")
    told = []
    for line in lines:
        told.append((line, load := _load()))
        missed = "" if line.met else "   MISSED"
        print(f"{line.what:62}{line.target:>12}{line.measured:>12}  {line.against:60} {load}{missed}", flush=True)
    return told


def kept() -> list[dict[str, str]]:
    """Return the lines of the page, those of earlier runs too."""
    file = FOLDER / "speed.csv"
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def _cells(benchmark: str, line: Line, load: str) -> tuple[str, ...]:
    today = datetime.date.today().isoformat()
    return benchmark, line.what, line.target, line.measured, "yes" if line.met else "no", line.against, load, today


def _write(rows: list[dict[str, str]]) -> None:
    with (FOLDER / "speed.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (FOLDER / "speed.md").write_text(page(rows), encoding="utf-8")


def page(rows: list[dict[str, str]]) -> str:
    """Return the page: a table for each benchmark, under the sentence with which its script begins."""
    machine = f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}"
    wanted = [row for row in rows if row["target"]]
    missed = sum(row["met"] == "no" for row in wanted)
    said = "all are met" if not missed else "1 is missed" if missed == 1 else f"{missed} are missed"
    text = TITLE.format(machine=machine, lines=len(wanted), missed=said)
    for benchmark, its in groupby(rows, key=itemgetter("benchmark")):
        name = benchmark.removeprefix("bench_").capitalize()
        text += f"\n## {name}\n\n{_sentence(benchmark)}\n{HEAD}" + "".join(map(_row, its))
    return text


def _sentence(benchmark: str) -> str:
    script = Path(__file__).with_name(f"{benchmark}.py")
    said = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) if script.is_file() else None
    return (said or "").split("\n\n")[0]


def _row(row: dict[str, str]) -> str:
    missed = "" if row["met"] == "yes" else "missed"
    cells = (row["what"], row["target"], row["measured"], missed, row["against"], row["load"], row.get("date") or "")
    return f"| {' | '.join(cells)} |\n"
