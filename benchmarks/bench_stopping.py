"""False claims in studies of equal algorithms whose runs were ended by their values, and their page.

    python benchmarks/bench_stopping.py            two algorithms (a minute)
    python benchmarks/bench_stopping.py --write    all of it (some minutes); docs/benchmarks/stopping.*
    python benchmarks/bench_stopping.py --page     only the page, from the results that are there

Results are kept cell by cell, so a run that was stopped goes on where it was; delete the CSV to start afresh.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ampler.core.choices import Difference
from ampler.sampling.rules import Accuracy
from kept_results import FOLDER, append, asked, read
from stopping_simulation import ESTIMATES, UNWARNED, Study, false_claims

TARGET = 0.06
SHOWN = (*ESTIMATES, UNWARNED)

VALUES: tuple[tuple[str, float, float, Difference], ...] = (
    ("exponential", 1.0, 0.3, "simple"),
    ("exponential", 0.2, 0.05, "percent"),
    ("exponential", 0.2, 0.05, "ratio"),
    ("lognormal", 0.6, 0.2, "simple"),
    ("lognormal", 0.6, 0.2, "percent"),
    ("lognormal", 0.6, 0.2, "ratio"),
    ("normal", 0.2, 0.05, "percent"),
    ("t3", 1.0, 0.3, "simple"),
    ("t3", 0.05, 0.0125, "ratio"),
    ("t2", 1.0, 0.3, "simple"),
)
BEYOND: tuple[tuple[str, float, float, Difference], ...] = (  # what no correction mends
    ("long", 1.0, 0.3, "simple"),
    ("long", 0.6, 0.2, "percent"),
    ("bernoulli", 1.0, 0.3, "simple"),
    ("penalties", 1.0, 0.1, "simple"),
)
NAMES = {
    "t3": "Student's t with 3 degrees of freedom",
    "t2": "Student's t with 2 degrees of freedom, in units of its scale",
    "long": "Lognormal with log-sd 1",
    "bernoulli": "One of two values, the far one in a tenth of the runs",
    "penalties": "61 s and in 2 % of the runs 6000 s, beside a steady reference of the same mean",
}
STUDIES = {2: (300, 300, 60), 5: (200, 200, 40), 8: (200, 200, 40), 22: (100, 60, 20)}  # by instances
INSTANCES = (20, 47, 200)

INTRODUCTION = f"""# Stopping by the values: false claims

Equal algorithms, the default rule, no spread between instances, so that what is left is run noise and bias alone: the
worst case. Values have mean 1 and the coefficient of variation cv; the reference is one of A algorithms on N instances.
The share of studies in which any difference is claimed, at family-wise level 0.05; target: at most {TARGET}. In
brackets the standard error in the last digits; bold: more than two of them above the target. "Without a warning" counts
the claims that are printed without the words "Biased by when runs ended, not to be claimed" before them. Seeds fixed.
Written by `python benchmarks/bench_stopping.py --write` from `stopping.csv`; [what to do](../stopping-bias.md).
"""


@dataclass(frozen=True)
class Row:
    """One estimate in one kind of study."""

    values: str
    cv: float
    se: float
    difference: str
    algorithms: int
    instances: int
    estimate: str
    studies: int
    claims: float
    claims_se: float

    @property
    def cell(self) -> tuple[str, float, float, str, int, int]:
        return self.values, self.cv, self.se, self.difference, self.algorithms, self.instances

    @property
    def is_beyond(self) -> bool:
        return self.claims - 2 * self.claims_se > TARGET


def main() -> int:
    chosen = asked(__doc__)
    path = FOLDER / "stopping.csv"
    rows = read(path, Row) if chosen.write or chosen.page else []
    if not chosen.page:
        rows = measure(rows, path if chosen.write else None)
    text = page(rows)
    if chosen.write or chosen.page:
        (FOLDER / "stopping.md").write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


def measure(rows: list[Row], path: Path | None) -> list[Row]:
    """Measure every cell that is not there yet, and keep it; without a path two algorithms alone."""
    there = {row.cell for row in rows}
    for cell, studies in cells():
        if cell in there or (path is None and cell[4] > 2):
            continue
        new = list(measured(cell, studies))
        rows = rows + new
        if path is not None:
            append(path, new)
    return rows


def cells() -> Iterator[tuple[tuple[str, float, float, Difference, int, int], int]]:
    """Yield every kind of study, and how many of it."""
    for algorithms, (place, instances), values in product(STUDIES, enumerate(INSTANCES), VALUES):
        yield (*values, algorithms, instances), STUDIES[algorithms][place]
    for algorithms, values in product((2, 5, 8), BEYOND):
        yield (*values, algorithms, 47), 60


def measured(cell: tuple[str, float, float, Difference, int, int], studies: int) -> Iterator[Row]:
    values, cv, se, difference, algorithms, instances = cell
    rule = Accuracy(se=se, difference=difference, reference="a0")
    if values == "penalties":
        rivals = algorithms - 1
        kinds: tuple[tuple[str, ...], tuple[float, ...]] = ("normal", *["penalty"] * rivals), (0.01, *[cv] * rivals)
        study = Study(*kinds, rule, algorithms=algorithms, instances=instances)
    else:
        study = Study(values, cv, rule, algorithms=algorithms, instances=instances)
    for name, (share, error, _) in false_claims(study, studies, key=1).items():
        yield Row(*cell, name, studies, share, error)


# the page ---------------------------------------------------------------------------------------------------------


def page(rows: list[Row]) -> str:
    return "\n".join([INTRODUCTION, "## What is not reached", "", *_not_reached(rows), "", *_tables(rows)])


def _not_reached(rows: list[Row]) -> Iterator[str]:
    yield from _listed(
        "Corrected estimates claim more than wanted here, and the analysis warns before the claim:",
        [row for row in rows if row.estimate == "corrected" and row.is_beyond],
    )
    yield from _listed(
        "More false claims than wanted are printed without a warning here:",
        [row for row in rows if row.estimate == UNWARNED and row.is_beyond],
    )
    missing = len({cell for cell, _ in cells()} - {row.cell for row in rows})
    if missing:
        yield f"Not measured yet: {missing} of the cells."
        yield ""
    alike = [row for row in rows if row.estimate == UNWARNED]
    mean = sum(row.claims * row.studies for row in alike) / max(1, sum(row.studies for row in alike))
    yield f"Over all cells {100 * mean:.1f} % of the studies claim something without a warning."


def _listed(title: str, rows: list[Row]) -> Iterator[str]:
    """The cells by name; that there are none is said too."""
    yield from (title, "")
    for row in rows:
        yield f"- {row.values}, {row.difference}, A = {row.algorithms}, N = {row.instances}: {_share(row)}"
    yield from (() if rows else ("- nowhere",))
    yield ""


def _tables(rows: list[Row]) -> Iterator[str]:
    by = {(row.cell, row.estimate): row for row in rows}
    for values, cv, se, difference in (*VALUES, *BEYOND):
        cells = sorted({row.cell for row in rows if row.cell[:4] == (values, cv, se, difference)})
        yield from (f"## {NAMES.get(values, values.capitalize())}, cv {cv:g}, {difference}, se = {se:g}", "")
        yield from (f"| A | N | studies | {' | '.join(SHOWN)} |", f"|{'---|' * (3 + len(SHOWN))}")
        for cell in cells:
            shown = [by[cell, name] for name in SHOWN]
            yield f"| {cell[4]} | {cell[5]} | {shown[0].studies} | {' | '.join(map(_share, shown))} |"
        yield ""


def _share(row: Row) -> str:
    text = f"{row.claims:.3f} ({1000 * row.claims_se:.0f})"
    return f"**{text}**" if row.is_beyond else text


if __name__ == "__main__":
    sys.exit(main())
