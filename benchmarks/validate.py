"""Are the promises kept? Whole studies, simulated end to end through the public API, and the page they write.

    python benchmarks/validate.py                  some studies of every cell (two minutes)
    python benchmarks/validate.py --write          all (some 25 minutes on two cores); docs/benchmarks/validation.*
    python benchmarks/validate.py --page           only the page, from the results that are there

Results are kept cell by cell, so a run that was stopped goes on where it was; delete the CSV to start afresh.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

import ampler as am
from kept_results import FOLDER, append, asked, read
from validation_studies import Judged, World, carried_out

SEED = 20261  # fixed before the first look
ALPHA, POWER, EFFECT = 0.05, 0.8, 0.5
STUDIES = {1: 600, 7: 300, 21: 120}  # of a cell, by comparisons
FEW = 12  # of each cell, to see that all goes
WORKERS = 2
TESTS = ("t", "wilcoxon", "sign", "bootstrap-t")
LOOKS = {"looks": 4}
REPEATS = World.repeats
PLENTY = 160  # instances that a study which finds its own size may choose from


@dataclass(frozen=True)
class Cell:
    """Studies of one kind in one kind of world."""

    size: str  # how the study's size is found: "fixed", "looks", "se" or "detect"
    truth: str  # "equal", "half" or "all": how many of the differences are real
    comparisons: int
    reference: str = "shared"
    runs: str = "normal"
    failing: float = 0.0

    @property
    def name(self) -> str:
        return "/".join(map(str, (self.size, self.truth, self.comparisons, self.reference, self.runs, self.failing)))

    @property
    def world(self) -> World:
        """The world, in which a real difference has the effect that the design is for."""
        null = {"equal": self.comparisons, "half": self.comparisons // 2, "all": 0}[self.truth]
        world = World(
            comparisons=self.comparisons,
            instances=PLENTY if self.size == "detect" else designed(self.comparisons, looks=LOOKS.get(self.size)),
            null=null,
            shared=self.reference == "shared",
            runs=self.runs,
            failing=self.failing,
        )
        return replace(world, effect=EFFECT * (world.spread if self.size in ("fixed", "looks") else 1.0))

    @property
    def tests(self) -> tuple[str, ...]:
        """Studies that find their own size are tested as they were planned."""
        return TESTS if self.size == "fixed" else ("t",)

    @property
    def sizes(self) -> dict[str, Any]:
        """What such a study says of its size."""
        return {
            "fixed": {"design": am.FixedSize(runs=REPEATS)},
            "looks": {
                "design": am.FixedSize(instances="needed", runs=REPEATS, effect=EFFECT, interim=LOOKS["looks"]),
                "power": POWER,
            },
            "se": {"design": am.Precision(se=0.2)},
            "detect": {"detect": EFFECT, "power": POWER},
        }[self.size]


@dataclass(frozen=True)
class Row:
    """One test in one cell."""

    cell: str
    comparisons: int
    test: str
    studies: int
    error: float  # family-wise
    power: float  # NaN where nothing is real
    power_se: float
    coverage: float  # of all joint intervals together; NaN where they are not of the difference
    effect_coverage: float  # of intervals of d, where the runs are fixed
    runs: float
    instances: float


def main() -> int:
    chosen = asked(__doc__)
    path = FOLDER / "validation.csv"
    rows = read(path, Row) if chosen.page else measure(path if chosen.write else None)
    if chosen.write or chosen.page:
        (FOLDER / "validation.md").write_text(page(rows), encoding="utf-8")
    else:
        print(page(rows))
    return 0


def cells() -> Iterator[Cell]:
    """Everything that is looked at."""
    for comparisons in STUDIES:
        for truth in ("equal", "half", "all"):
            if comparisons > 1 or truth != "half":
                yield Cell("fixed", truth, comparisons)
                yield Cell("looks", truth, comparisons)
                yield Cell("detect", truth, comparisons)
    for comparisons in (7, 21):
        yield Cell("fixed", "equal", comparisons, reference="the same everywhere")
    for comparisons in (1, 7):
        yield Cell("se", "equal", comparisons)
        yield Cell("se", "all", comparisons)
        yield Cell("se", "equal", comparisons, runs="exponential")
    for runs in ("exponential", "heavy"):
        yield Cell("fixed", "equal", 7, runs=runs)
    yield Cell("fixed", "equal", 7, failing=0.1)
    yield Cell("fixed", "all", 7, failing=0.1)


@cache
def designed(comparisons: int, looks: int | None) -> int:
    """The instances that the design asks for, at most."""
    asked_for = {"effect": EFFECT, "power": POWER, "alpha": ALPHA, "looks": looks}
    return am.required_instances(comparisons=comparisons, **asked_for).instances  # type: ignore[arg-type]


def measure(path: Path | None) -> list[Row]:
    """Measure every cell that is not there yet, and keep it; few studies of each where nothing is kept."""
    rows = read(path, Row) if path is not None else []
    there = {row.cell for row in rows}
    with ProcessPoolExecutor(WORKERS) as pool:
        for cell in cells():
            if cell.name not in there:
                count = FEW if path is None else STUDIES[cell.comparisons]
                new = list(summed(cell, list(pool.map(partial(study, cell), range(count), chunksize=4))))
                rows += new
                if path is not None:
                    append(path, new)
    return rows


def study(cell: Cell, number: int) -> dict[str, Judged]:
    """Carry out one study of a cell; its seed follows from the cell and its number alone."""
    seed = int(np.random.SeedSequence([SEED, *cell.name.encode(), number]).generate_state(1)[0]) // 2
    return carried_out(cell.world, seed, cell.sizes, cell.tests)


def summed(cell: Cell, studies: list[dict[str, Judged]]) -> Iterator[Row]:
    """Return one row for each test."""
    for test in cell.tests:
        each = [results[test] for results in studies]
        found = np.array([one.found for one in each])
        yield Row(
            cell.name,
            cell.comparisons,
            test,
            len(each),
            error=float(np.mean([one.false for one in each])),
            power=float(found.mean()),
            power_se=float(found.std(ddof=1) / sqrt(len(each))),
            coverage=nan if test == "sign" else float(np.mean([one.covered for one in each])),  # its interval: of wins
            effect_coverage=float(np.mean([one.effect_covered for one in each])) if cell.size == "fixed" else nan,
            runs=float(np.mean([one.runs for one in each])),
            instances=float(np.mean([one.instances for one in each])),
        )


# what is promised -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """A rate that shall not lie beyond a bound, and how far it does, in standard errors at the bound."""

    words: str
    row: Row
    rate: float
    bound: float
    beyond: float

    @property
    def sentence(self) -> str:
        size, truth, comparisons, reference, runs = _described(self.row).split(" | ")
        where = f"{size}, K = {comparisons}, real: {truth}, reference: {reference}, runs: {runs}"
        return f"{self.words}, {self.row.test} ({where}): {self.rate:.3f} for {self.bound} ({self.row.studies} studies)"


def promises(rows: list[Row]) -> Iterator[Promise]:
    """Everything that is promised, with what was measured."""
    for row in rows:
        spread = sqrt(ALPHA * (1 - ALPHA) / row.studies)
        if "/all/" not in row.cell:
            yield Promise("family-wise error", row, row.error, ALPHA, (row.error - ALPHA) / spread)
        if row.test == "t":
            yield Promise("joint coverage", row, row.coverage, 1 - ALPHA, (1 - ALPHA - row.coverage) / spread)
        if row.test == "t" and "/all/" in row.cell:
            yield Promise("mean power", row, row.power, POWER, (POWER - row.power) / max(row.power_se, 1e-9))
        if row.test == "t" and not isnan(row.effect_coverage):
            missed = 1 - ALPHA - row.effect_coverage  # intervals of one study hang together: as one at most
            yield Promise("coverage of d", row, row.effect_coverage, 1 - ALPHA, missed / spread)


# the page ---------------------------------------------------------------------------------------------------------

INTRODUCTION = f"""# Whole studies, simulated

Are the promises kept by studies as users run them? Each is planned, run, kept in a file and analysed through the public
API, in a world whose truth is known: algorithms against a reference, simple differences that vary between instances
with standard deviation 1, half of it the reference's (*shared*) or none; runs scatter by 0.3 around them, normally or
otherwise. None of the differences is real, half of them or all are, with the effect {EFFECT} that the design is for
(power {POWER}, α = {ALPHA}). *fixed*: the designed instances, 5 runs of each algorithm. *looks*: the same with four
looks on the way. *se*: the default rule, se = 0.2. *detect*: a study that finds its own size for {EFFECT}, {PLENTY}
instances being there. {STUDIES[1]}, {STUDIES[7]} and {STUDIES[21]} studies of a cell for K = 1, 7 and 21; seeds fixed
before the first look. In brackets standard errors in the last digits. Written by `make validate`.
"""


def page(rows: list[Row]) -> str:
    """The page, what is not reached first."""
    all_of_them = list(promises(rows))
    beyond = [each for each in all_of_them if each.beyond > 3]
    two = sum(each.beyond > 2 for each in all_of_them)
    said = [f"- {each.sentence}" for each in beyond] or [
        "Nothing: no promise is missed by more than three standard errors."
    ]
    count = (
        f"Of {len(all_of_them)} promises {two} are missed by more than two standard errors; by chance alone it would be"
        f" {0.023 * len(all_of_them):.0f} if all were kept exactly, fewer as many are kept with room to spare."
    )
    parts = [INTRODUCTION, "## What is not reached\n", *said, "", count, "", *tables(rows)]
    return "\n".join(parts) + "\n"


def tables(rows: list[Row]) -> Iterator[str]:
    """Errors, powers and coverages."""
    yield "## Family-wise error\n"
    yield from _table([row for row in rows if "/all/" not in row.cell], "error", lambda row: _rate(row.error, row))
    yield "\n## Mean power\n"
    real = [row for row in rows if not isnan(row.power)]
    yield from _table(real, "power", lambda row: f"{row.power:.3f} ({1000 * row.power_se:.0f})")
    yield "\n## Joint coverage, and that of intervals of d\n"
    yield f"| size | real | K | reference | runs | joint | of d | instances | runs of a study |\n|{'---|' * 9}"
    for row in rows:
        if row.test == "t":
            held = "" if isnan(row.effect_coverage) else _rate(row.effect_coverage, row)
            yield f"| {_described(row)} | {_rate(row.coverage, row)} | {held} | {row.instances:.0f} | {row.runs:,.0f} |"


def _table(rows: list[Row], what: str, shown: Callable[[Row], str]) -> Iterator[str]:
    """One line for a cell, one column for a test."""
    yield f"| size | real | K | reference | runs | {' | '.join(TESTS)} |\n|---|---|---|---|---|{'---|' * len(TESTS)}"
    for cell in dict.fromkeys(row.cell for row in rows):
        mine = {row.test: row for row in rows if row.cell == cell}
        columns = [shown(mine[test]) if test in mine else "" for test in TESTS]
        yield f"| {_described(mine['t'])} | {' | '.join(columns)} |"


def _described(row: Row) -> str:
    size, truth, comparisons, reference, runs, failing = row.cell.split("/")
    failed = f", {100 * float(failing):.0f} % fail" if float(failing) else ""
    return " | ".join((size, {"equal": "none"}.get(truth, truth), comparisons, reference, runs + failed))


def _rate(rate: float, row: Row) -> str:
    return f"{rate:.3f} ({1000 * sqrt(max(rate * (1 - rate), 0.0) / row.studies):.0f})"


if __name__ == "__main__":
    sys.exit(main())
