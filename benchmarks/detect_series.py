"""Long series of studies that find their own size, kept study by study: interrupted at any time, they go on.

Run: python benchmarks/detect_series.py KIND LOG.JSONL [SECONDS [KEY ...]], the kinds being pure and whole: the decision
and the tests on drawn means, or whole studies through the public door. Corners take turns, so that all are equally far
when it is interrupted; keys choose some of them. `detect_page` counts what is there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from time import process_time

import numpy as np

import detect_simulation
import detect_studies
from detect_simulation import CELLS, FAR_AWAY, Family, Outcome, Tally, Truth, equal, goal_of, oracle

NAMES: dict[Family, str] = {1: "1", 5: "5", 21: "21", "all": "10 (A = 5, all with all)"}
PURE: dict[Family, int] = {1: 8000, 5: 4000, 21: 2000, "all": 4000}  # studies without a difference; half as many with
WHOLE: tuple[tuple[float, int], ...] = ((5_000, 400), (50_000, 200), (float("inf"), 100))  # up to so many runs each
LEAVERS = 200  # whole studies in which algorithms leave
LEAVING = 1000  # the first key of studies in which algorithms leave
TURN = {"pure": 50, "whole": 4}  # studies of a cell before the next one has its turn


@dataclass(frozen=True)
class Corner:
    """One truth, and how many studies of it are wanted."""

    name: str
    spread: float  # τ/δ
    noise: float  # sd of a run over τ
    truth: Truth
    key: int  # of the random numbers
    wanted: int
    part: str = "cells"


def corners(kind: str) -> list[Corner]:
    """Every truth, without and with differences, and those in which algorithms leave after the pilot."""
    found = []
    for place, (family, spread, noise) in enumerate(CELLS):
        real = equal(family, spread, noise, 1.0)
        number = PURE[family] if kind == "pure" else _affordable(oracle(real, goal_of(real)).cost)
        for key, truth, wanted in ((0, equal(family, spread, noise), number), (1, real, (number + 1) // 2)):
            found.append(Corner(NAMES[family], spread, noise, truth, 2 * place + key, wanted))
    for place, (family, name, truth) in enumerate(FAR_AWAY):
        number = PURE[family] if kind == "pure" else LEAVERS
        found.append(Corner(name, 1.4, 0.7, truth, LEAVING + place, number, "leavers"))
    return found


def _affordable(runs: float) -> int:
    return next(number for most, number in WHOLE if runs <= most)


def study(kind: str, corner: Corner, number: int) -> Outcome:
    """Carry out one study: the same number gives the same one."""
    module = detect_simulation if kind == "pure" else detect_studies
    return module.numbered(corner.truth, corner.key, number)


def go_on(kind: str, path: Path, seconds: float, keys: set[int]) -> None:
    """Carry out studies that are missing, corner after corner, until all are there or the time is over."""
    began, done = process_time(), kept(path)
    path.write_text("".join(f"{line}\n" for line in _lines(path)))  # without what was cut off
    chosen = [corner for corner in corners(kind) if corner.key in keys or not keys]
    with path.open("a") as file:
        for corner, number in turns(kind, chosen):
            if process_time() - began > seconds:
                return
            if (corner.key, number) not in done:
                file.write(_line(corner.key, number, study(kind, corner, number)))
                file.flush()


def turns(kind: str, of: list[Corner]) -> Iterator[tuple[Corner, int]]:
    """The studies in their order: some of each corner, then some more."""
    most, turn = max(corner.wanted for corner in of), TURN[kind]
    for begin in range(0, most, turn):
        for corner in of:
            yield from ((corner, number) for number in range(begin, min(begin + turn, corner.wanted)))


def tallies(kind: str, path: Path) -> Iterator[tuple[Corner, Tally]]:
    """Yield each corner with its studies from the first on without a gap; of some there may be none."""
    done = kept(path)
    for corner in corners(kind):
        numbers = takewhile(lambda number, key=corner.key: (key, number) in done, count())
        yield corner, Tally(corner.truth, [done[corner.key, number] for number in numbers])


def kept(path: Path) -> dict[tuple[int, int], Outcome]:
    """The studies of a file, by key and number; a line that was cut off is made again."""
    return dict(_read(line) for line in _lines(path))


def _lines(path: Path) -> list[str]:
    return path.read_text().split("\n")[:-1] if path.exists() else []


def _line(key: int, number: int, outcome: Outcome) -> str:
    found = "".join(str(int(each)) for each in outcome.rejected)
    return json.dumps([key, number, found, outcome.instances, outcome.runs, outcome.early, outcome.cost]) + "\n"


def _read(line: str) -> tuple[tuple[int, int], Outcome]:
    key, number, found, *rest = json.loads(line)
    return (key, number), Outcome(np.array([each == "1" for each in found]), *rest)


def main() -> None:
    kind, path, *more = sys.argv[1:]
    go_on(kind, Path(path), float(more[0]) if more else float("inf"), set(map(int, more[1:])))
    for corner, tally in tallies(kind, Path(path)):
        print(f"{corner.name} {corner.spread:g} {corner.noise:g}: {len(tally.outcomes)} of {corner.wanted}")


if __name__ == "__main__":
    main()
