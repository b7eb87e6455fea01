"""Studies that find their own size as a page of the documentation: what was simulated, tables, and what is not reached.

Run: python benchmarks/detect_page.py PART ..., the parts being cells, worlds, tables, pilots, costly, paper=RUNS.CSV,
pure=LOG.JSONL and whole=LOG.JSONL for what `detect_series` kept. What they give is kept in docs/benchmarks/detect.csv,
from which docs/benchmarks/detect.md is written. Of a corner that was counted before the larger count stays: studies
have numbers, and the same number is the same study.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np

import detect_paper
import detect_worlds
from detect_series import NAMES, PURE, Corner, tallies
from detect_simulation import CELLS, Family, Tally, Truth, equal, goal_of, oracle, simulate

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"
PILOTED: tuple[tuple[Family, float, float], ...] = (
    *((1, spread, noise) for spread, noise in ((0.7, 0.3), (1.5, 0.3), (3.0, 0.3), (3.0, 2.0))),
    *((5, spread, 0.3) for spread in (0.7, 3.0)),
)


@dataclass(frozen=True)
class Row:
    """What came out of the studies of one cell."""

    part: str
    family: str
    spread: float  # τ/δ
    noise: float  # sd of a run over τ
    pilot: int
    instance_cost: float
    dear: float  # cost of a run of the first algorithm
    null_studies: int
    error: float
    error_se: float
    studies: int
    power: float
    power_se: float
    least_power: float
    instances: float
    low: float
    high: float
    cost: float
    cost_se: float
    early: float
    best_instances: int  # the oracle's
    best_cost: float


def row(part: str, family: str, cell: tuple[float, float], null: Tally, real: Tally, **said: float) -> Row:
    """Count the studies of a cell, without a difference and with."""
    best = oracle(real.truth, goal_of(real.truth, **_settings(real.truth, **said)))
    costs = [each.cost for each in real.outcomes]
    return Row(
        part,
        family,
        *cell,
        pilot=int(said.get("pilot", 20)),
        instance_cost=said.get("instance_cost", 0.0),
        dear=said.get("dear", 1.0),
        null_studies=len(null.outcomes),
        error=null.errors[0],
        error_se=null.errors[1],
        studies=len(real.outcomes),
        power=real.power,
        power_se=real.power_error,
        least_power=real.least_power,
        **dict(zip(("instances", "low", "high"), real.instances, strict=True)),
        cost=float(np.mean(costs)),
        cost_se=float(np.std(costs, ddof=1) / np.sqrt(len(costs))),
        early=real.early,
        best_instances=best.instances,
        best_cost=best.cost,
    )


def _settings(truth: Truth, **said: float) -> dict[str, object]:
    """What a goal is told: a dear algorithm is the first."""
    given: dict[str, object] = {name: value for name, value in said.items() if name != "dear"}
    if "dear" in said:
        given["costs"] = (said["dear"], *(1.0,) * (len(truth.means) - 1))
    return given


def counted(part: str, cell: tuple[Family, float, float], key: int, share: float = 1.0, **said: float) -> Row:
    """Simulate a cell by means and variances alone."""
    family, spread, noise = cell
    number = int(PURE[family] * share)
    null, real = equal(family, spread, noise), equal(family, spread, noise, 1.0)
    goal = goal_of(null, **_settings(null, **said))
    tallies = simulate(null, number, key=2 * key, goal=goal), simulate(real, number // 2, key=2 * key + 1, goal=goal)
    return row(part, NAMES[family], (spread, noise), *tallies, **said)


def logged(kind: str, path: str) -> Iterator[Row]:
    """Count the studies that a series kept; corners of which there are none are left out."""
    parts = {"pure": ("cells", "leavers"), "whole": ("whole", "whole leavers")}[kind]
    found = [(corner, tally) for corner, tally in tallies(kind, Path(path)) if len(tally.outcomes) > 1]
    null = {_cell(corner): tally for corner, tally in found if not corner.truth.differences.any()}
    for corner, tally in found:
        if corner.part == "leavers":
            yield row(parts[1], corner.name, (corner.spread, corner.noise), tally, tally)
        elif corner.truth.differences.any() and _cell(corner) in null:
            yield row(parts[0], corner.name, (corner.spread, corner.noise), null[_cell(corner)], tally)


def _cell(corner: Corner) -> tuple[str, float, float]:
    return corner.name, corner.spread, corner.noise


def pilots() -> Iterator[Row]:
    """Pilots of other sizes."""
    for place, pilot in enumerate((10, 15, 20, 30)):
        for key, cell in enumerate(
            ((1, 0.7, 0.3), (1, 1.5, 0.3), (1, 3.0, 0.3), (1, 3.0, 2.0), (5, 0.7, 0.3), (5, 3.0, 0.3))
        ):
            yield counted("pilots", cell, 2000 + 10 * place + key, 0.1, pilot=pilot)


def costly() -> Iterator[Row]:
    """Instances that cost as much as many runs, and an algorithm whose runs are dear."""
    key = 3000
    for family in (1, 5, "all"):
        for spread, noise in ((0.7, 2.0), (1.5, 0.3), (1.5, 2.0), (3.0, 2.0)):
            for said in ({"instance_cost": 20.0}, {"instance_cost": 100.0}, {"dear": 10.0}):
                key += 1
                yield counted("costly", (family, spread, noise), key, 0.1, **said)


def cells() -> Iterator[Row]:
    """Every cell, with a tenth of the studies that a long series has."""
    for place, cell in enumerate(CELLS):
        yield counted("cells", cell, place, 0.1)


def worlds() -> Iterator[Row]:
    """Differences of other shapes, 40 instances available: the t-test, the growth test of before, the bootstrap-t."""
    for each in detect_worlds.counted(4000):
        yield row("worlds", each.name, (each.spread, each.noise), each.null, each.real)


def tables() -> Iterator[Row]:
    """Public tables as populations, planned and tested as now and as before."""
    nan = float("nan")
    for each in detect_worlds.of_tables():
        found = each.studies, each.power, each.power_error
        yield Row(
            "tables", each.name, each.spread, nan, 20, 0.0, 1.0, 0, nan, nan, *found, nan, each.instances,
            nan, nan, nan, nan, each.warned, each.best_instances, nan,
        )  # fmt: skip


def paper(path: str) -> Iterator[Row]:
    """The paper's first experiment; the errors are not counted there."""
    experiment = detect_paper.read(path)
    for available in (3000, 57):
        done = detect_paper.studies(experiment, available, 400)
        runs, found = [float(each.runs) for each in done], [each.found for each in done]
        (cost, cost_se), (power, power_se) = map(detect_paper.mean_and_error, (runs, found))
        sizes = [each.instances for each in done]
        yield Row(
            "paper",
            "as many as needed" if available > 57 else "57",
            *(float("nan"),) * 2,
            20, 0.0, 1.0, 0, float("nan"), float("nan"), len(done), power, power_se, float("nan"),
            float(np.mean(sizes)), *np.percentile(sizes, [10, 90]).tolist(), cost, cost_se,
            float(np.mean([each.left for each in done])), 57, float(experiment.runs),
        )  # fmt: skip


PARTS: dict[str, Callable[[str], Iterator[Row]]] = {
    "pure": partial(logged, "pure"),
    "whole": partial(logged, "whole"),
    "pilots": lambda path: pilots(),
    "costly": lambda path: costly(),
    "cells": lambda path: cells(),
    "worlds": lambda path: worlds(),
    "tables": lambda path: tables(),
    "paper": paper,
}


# the file ---------------------------------------------------------------------------------------------------------


def kept() -> list[Row]:
    path = FOLDER / "detect.csv"
    if not path.exists():
        return []
    kinds = {field.name: {"str": str, "int": int, "float": float}[str(field.type)] for field in fields(Row)}
    with path.open(newline="") as file:
        return [Row(**{name: kinds[name](text) for name, text in line.items()}) for line in csv.DictReader(file)]


def keep(rows: Iterable[Row]) -> None:
    with (FOLDER / "detect.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Row)])
        writer.writerows([_short(value) for value in astuple(each)] for each in rows)


def _short(value: object) -> object:
    return f"{value:.5g}" if isinstance(value, float) else value


# the page ---------------------------------------------------------------------------------------------------------

INTRODUCTION = """# Studies that find their own size

What `detect` does where the truth is known. Differences are normal, settings are the defaults, a mean power of 0.80 is
asked for. τ is the standard deviation of a difference between instances, δ is `detect`, noise the standard deviation of
a run. The error is the chance of any false claim when no algorithm differs, the power the share found when all differ
from the reference by δ (all with all: one algorithm of five differs from the others), the least power that of the
difference found least often. The oracle knows τ and the noise beforehand, takes the cheapest plan with at least 5 runs
that has the power, and tests once, at the full level; *ratio* is over it, in instances and in runs (with costs: in
cost). ± is a standard error; studies are those without and with a difference. Seeds were fixed before the first look.
This page is written by `python benchmarks/detect_page.py` from `detect.csv`.
"""
ABOUT = {
    "cells": """## Every cell

The decision after the pilot and the tests at the end of the product, on means and variances of runs that are drawn
(`benchmarks/detect_simulation.py`).
""",
    "leavers": """## With algorithms that leave early

Ten of 21 rivals equal to the reference, five at δ, six far away; two of five equal, one at δ, two far away; all with
all four equal and one far away. The error is that of any false claim among the equal ones.
""",
    "whole": """## Whole studies

The same by whole studies through `am.Study(...).run(path)` (`benchmarks/detect_studies.py`, kept by
`benchmarks/detect_series.py`): every run is made, a study file is written, read and analysed. Each of them decided and
claimed what the pure decision does on its values, run by run; a series ends otherwise. One of 1,000 instances and 22
algorithms has 120,000 runs, so there are fewer studies where the oracle needs more than 5,000 or 50,000 runs.
""",
    "whole leavers": """## Whole studies with algorithms that leave early
""",
    "pilots": """## Other pilots

A pilot of 20 instances is dear where fewer are needed. `pilot = 10` under `[rule]` costs less there, and more
where many are needed, as the spread is known less well.
""",
    "costly": """## Instances or runs that cost

With `instance-cost` fewer instances get more runs. How much of the variation is noise is known from the pilot alone, so
the price over one who knows it is higher. In the last rows of each block a run of the first algorithm costs ten times
one of the others.
""",
    "worlds": """## Differences that are not normal

What varies between instances has another shape (`benchmarks/detect_worlds.py`); 40 instances are available. A rival or
five differ from a quiet reference. *t* is what `detect` does, *growth* what it did before version 0.3, *bootstrap-t*
the same plan ended by the bootstrap-t at the lowered level. Outliers are 5 % of the instances, ten times as far.
*whole*: studies through `am.Study`.
""",
    "tables": """## Public tables as populations

Instances drawn with replacement, runs from those recorded; pairs of two algorithms, moved so that they differ by δ, a
fifth of the population's standard deviation σ. *N/oracle* is over the instances that one who knows the
standard deviation plans, power 0.80; *warned* the share told after the pilot that few instances carry the variance.
""",
    "paper": """## The paper's first experiment again

Instances drawn from the 57 of the first experiment of Campelo & Wanner (2019), δ = 2.64 %, the difference it finds with
mean power 0.80 over the 15 comparisons that are close; power counted (`benchmarks/detect_paper.py`).
""",
}


def page(rows: list[Row]) -> str:
    blocks = [INTRODUCTION, missed(rows)]
    for part, about in ABOUT.items():
        of = sorted((each for each in rows if each.part == part), key=_place)
        if of:
            blocks.append("\n".join([about, *TABLES.get(part, table)(of), ""]))
    return "\n".join(blocks).rstrip() + "\n"


def _place(row: Row) -> tuple[object, ...]:
    """Families in their order, then as the columns stand."""
    families = [*NAMES.values(), row.family]
    return families.index(row.family), row.pilot, row.spread, row.noise, row.dear, row.instance_cost


def missed(rows: list[Row]) -> str:
    """Say which of the promises are not kept in which cells."""
    main = [each for each in rows if each.part == "cells"]
    wrong = [each for each in main if each.error > 0.05 + 3 * np.sqrt(0.05 * 0.95 / each.null_studies)]
    weak = [each for each in main if each.power < 0.78]
    large = [each for each in main if each.best_instances >= 20 and each.instances / each.best_instances > 1.25]
    small = [each.instances / each.best_instances for each in main if each.best_instances < 20]
    price = f"{min(small):.1f} to {max(small):.1f}" if small else "an unknown number of"
    lines = [
        f"* error above 0.05 by more than three standard errors: {_listed(wrong)};",
        f"* mean power below 0.78: {_listed(weak)};",
        f"* more than 1.25 times the oracle's instances where it needs 20 or more: {_listed(large)};",
        f"* where the oracle needs fewer than 20, a study takes {price} times as many;",
        *missed_by_whole([each for each in rows if each.part == "whole"]),
    ]
    return "\n".join(["## What is not reached", "", *lines, ""])


def missed_by_whole(rows: list[Row]) -> Iterator[str]:
    """Say the same of whole studies, of which there are fewer."""
    wrong = [each for each in rows if each.error > 0.05 + 3 * np.sqrt(0.05 * 0.95 / each.null_studies)]
    weak = [each for each in rows if each.power + 3 * each.power_se < 0.78]
    yield f"* whole studies, error above 0.05 by more than three standard errors: {_listed(wrong)};"
    yield f"* whole studies, mean power below 0.78 by more than three standard errors: {_listed(weak)}."


def _listed(rows: list[Row]) -> str:
    return "; ".join(f"K = {each.family}, τ/δ = {each.spread:g}, noise {each.noise:g}" for each in rows) or "nowhere"


def table(rows: list[Row], more: Callable[[Row], str] = lambda row: "", heading: str = "") -> Iterator[str]:
    columns = "error | power | least | instances (10–90 %) | oracle's | ratio | of runs | studies"
    yield f"| K | τ/δ | noise/τ |{heading} {columns} |"
    yield f"|{'---|' * (11 + heading.count('|'))}"
    for each in rows:
        yield (
            f"| {each.family} | {each.spread:g} | {each.noise:g} |{more(each)} {each.error:.3f} ± {each.error_se:.3f} |"
            f" {each.power:.3f} ± {each.power_se:.3f} | {each.least_power:.2f} |"
            f" {each.instances:.0f} ({each.low:.0f}–{each.high:.0f}) | {each.best_instances} |"
            f" {each.instances / each.best_instances:.2f} | {each.cost / each.best_cost:.2f} |"
            f" {each.null_studies:,} + {each.studies:,} |"
        )


def whole_table(rows: list[Row]) -> Iterator[str]:
    yield from table(rows)
    yield ""
    for family in dict.fromkeys(each.family for each in rows):
        of = [each for each in rows if each.family == family]
        nulls, reals = sum(each.null_studies for each in of), sum(each.studies for each in of)
        error = sum(each.error * each.null_studies for each in of) / nulls
        power = sum(each.power * each.studies for each in of) / reals
        deviation = np.sqrt(max(error * (1 - error), 0.01) / nulls)
        spread = np.sqrt(sum((each.power_se * each.studies) ** 2 for each in of)) / reals
        yield (
            f"K = {family}: error {error:.3f} ± {deviation:.3f} in {nulls:,} studies, power {power:.3f} ± {spread:.3f}"
            f" in {reals:,}."
        )
        yield ""


def paper_table(rows: list[Row]) -> Iterator[str]:
    yield "| instances | used | runs, of those that `se = 0.05` took | power over the 15 | studies |"
    yield "|---|---|---|---|---|"
    for each in rows:
        ratio, error = each.cost / each.best_cost, each.cost_se / each.best_cost
        runs, power = f"{ratio:.3f} ± {error:.3f}", f"{each.power:.3f} ± {each.power_se:.3f}"
        yield f"| {each.family} | {each.instances:.0f} | {runs} | {power} | {each.studies} |"


def leavers_table(rows: list[Row]) -> Iterator[str]:
    yield "| K | error | power | clear after the pilot | instances (10–90 %) | studies |"
    yield "|---|---|---|---|---|---|"
    for each in rows:
        yield (
            f"| {each.family} | {each.error:.3f} ± {each.error_se:.3f} | {each.power:.3f} ± {each.power_se:.3f} |"
            f" {each.early:.1f} | {each.instances:.0f} ({each.low:.0f}–{each.high:.0f}) | {each.studies:,} |"
        )


def populations_table(rows: list[Row]) -> Iterator[str]:
    yield "| table | σ/δ | power | N | N/oracle | warned | studies |"
    yield "|---|---|---|---|---|---|---|"
    for each in rows:
        yield (
            f"| {each.family} | {each.spread:g} | {each.power:.2f} ± {each.power_se:.2f} | {each.instances:.0f} |"
            f" {each.instances / each.best_instances:.2f} | {each.early:.2f} | {each.studies:,} |"
        )


TABLES: dict[str, Callable[[list[Row]], Iterator[str]]] = {
    "whole": whole_table,
    "pilots": partial(table, more=lambda each: f" {each.pilot} |", heading=" pilot |"),
    "costly": partial(
        table,
        more=lambda each: f" {each.instance_cost:g} | {each.dear:g} |",
        heading=" instance-cost | cost of the first |",
    ),
    "worlds": partial(table),
    "tables": populations_table,
    "leavers": leavers_table,
    "whole leavers": leavers_table,
    "paper": paper_table,
}


def main() -> None:
    rows = kept()
    for word in sys.argv[1:]:
        part, _, path = word.partition("=")
        began = process_time()
        for each in PARTS[part](path):
            rows = with_row(rows, each)
            keep(rows)
        print(f"{part}: {process_time() - began:.0f} seconds of processor time", flush=True)
    keep(rows)
    (FOLDER / "detect.md").write_text(page(kept()))


def with_row(rows: list[Row], new: Row) -> list[Row]:
    """The rows with a new one, in the place of that which it replaces; the larger count stays."""
    same = [place for place, each in enumerate(rows) if _corner(each) == _corner(new)]
    if not same:
        return [*rows, new]
    larger = max(rows[same[0]], new, key=lambda each: each.null_studies + each.studies)
    return [larger if place == same[0] else each for place, each in enumerate(rows)]


def _corner(row: Row) -> tuple[object, ...]:
    """What a row is of: NaN is the same as NaN."""
    return tuple(map(str, (row.part, row.family, row.spread, row.noise, row.pilot, row.instance_cost, row.dear)))


if __name__ == "__main__":
    main()
