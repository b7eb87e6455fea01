"""How often posteriors are right, and their page.

    python benchmarks/bench_bayes.py            few studies (a minute)
    python benchmarks/bench_bayes.py --write    all of it (some minutes); docs/benchmarks/bayes.*
    python benchmarks/bench_bayes.py --page     only the page, from the results that are there

Results are kept cell by cell, so a run that was stopped goes on where it was; delete the CSV to start afresh.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import sqrt
from pathlib import Path

from bayes_simulation import KINDS, Cell, Truth, coverage, judged, looking, without_margin
from kept_results import FOLDER, append, asked, read

STUDIES = {"coverage": (2000, 100), "verdicts": (400, 10), "looks": (100_000, 10_000), "no margin": (5000, 500)}
CELLS = (
    *(Cell("equal", n, tau) for n, tau in ((5, 2.0), (20, 0.5), (57, 0.05))),
    *(Cell("lognormal, log-sd 1", n, tau) for n, tau in ((10, 2.0), (20, 0.5), (57, 2.0))),
    *(Cell("15 % six times as large", n, tau) for n, tau in ((20, 2.0), (57, 0.5), (57, 1.0), (57, 2.0))),
    Cell("15 % six times as large, differing by +1 tau", 57, 2.0),
    Cell("log-sd 0.5, correlated 0.6 with the difference", 57, 0.5),
    Cell("log-sd 1, correlated 0.6 with the difference", 57, 1.0),
)
TRUTHS = (
    *(Truth("nothing differs", n, 0.1) for n in (20, 57)),
    *(Truth("three at ±0.6", n, 0.1) for n in (20, 57)),
    Truth("spread 0.2", 57, 0.1),
    Truth("the reference better by 0.4", 57, 0.2),
    Truth("all just outside the margin", 57, 0.2),
    Truth("all just outside the margin", 57, 0.4),
)
LOOKS = ((0.0, 0.0), (0.1, 0.0), (0.0, 0.3), (0.1, 0.3))

INTRODUCTION = """# Posteriors: how often they are right

Simulated differences, as they come to the posteriors, seeds fixed before the first look; in brackets the standard error
in the last digits. Written by `python benchmarks/bench_bayes.py --write` from `bayes.csv`;
[what it means](../how-probable.md).
"""


ABOUT_LOOKS = """One comparison, normal differences with standard deviation 1, judged after 57 instances, or after every
one from the 10th on until it is claimed that the mean is beyond the margin (probability 0.975). Where all means are 0,
the share of studies that claim a difference; where they are spread, the share of the claims that are false."""
ABOUT_VERDICTS = """Twenty-one comparisons with one reference, margin and differences in standard deviations. The share
of studies that claim any difference falsely, by the plain posterior alone and where both must agree, as verdicts do;
any equivalence falsely, by the shared posterior alone and by both; and differences claimed per study."""
ABOUT_INTERVALS = """The share of studies whose 95 % credible interval holds the mean over instances, and the true
difference on one more instance. tau is the spread of true differences between instances, in units of a usual standard
error."""


@dataclass(frozen=True)
class Row:
    """One number that was measured."""

    part: str
    kind: str
    instances: int
    size: float  # tau, or the margin
    what: str
    value: float
    studies: int

    @property
    def cell(self) -> tuple[str, str, int, float]:
        return self.part, self.kind, self.instances, self.size

    @property
    def text(self) -> str:
        if self.what.endswith("claims"):
            return f"{self.value:.2f}"
        return f"{self.value:.3f} ({1000 * sqrt(self.value * (1 - self.value) / self.studies):.0f})"


def main() -> int:
    chosen = asked(__doc__)
    path = FOLDER / "bayes.csv"
    rows = read(path, Row) if chosen.write or chosen.page else []
    if not chosen.page:
        rows = measure(rows, path if chosen.write else None)
    text = page(rows)
    if chosen.write or chosen.page:
        (FOLDER / "bayes.md").write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


def measure(rows: list[Row], path: Path | None) -> list[Row]:
    """Measure every cell that is not there yet, and keep it; without a path with few studies."""
    there = {row.cell for row in rows}
    for cell in _cells():
        if cell in there:
            continue
        new = list(_measured(cell, STUDIES[cell[0]][path is None]))
        rows = rows + new
        if path is not None:
            append(path, new)
    return rows


def _cells() -> Iterator[tuple[str, str, int, float]]:
    yield from (("coverage", cell.errors, cell.instances, cell.tau) for cell in CELLS)
    yield from (("verdicts", truth.kind, truth.instances, truth.margin) for truth in TRUTHS)
    yield from (("looks", f"spread {spread:g}", 57, margin) for margin, spread in LOOKS)
    yield from (("no margin", "nothing differs", n, 0.0) for n in (20, 57))


def _measured(cell: tuple[str, str, int, float], studies: int) -> Iterator[Row]:
    part, kind, instances, size = cell
    if part == "no margin":
        yield Row(*cell, "any direction", without_margin(instances, studies), studies)
        return
    if part == "looks":
        found = looking(size, studies, spread=float(kind.removeprefix("spread ")))
        yield Row(*cell, "once", found.once, found.once_of)
        yield Row(*cell, "every", found.every, found.every_of)
        return
    made = coverage(Cell(*cell[1:]), studies) if part == "coverage" else judged(Truth(*cell[1:]), studies)
    for field in fields(made):
        if field.name != "studies":
            yield Row(*cell, field.name, getattr(made, field.name), studies)


# the page ---------------------------------------------------------------------------------------------------------


def page(rows: list[Row]) -> str:
    return "\n".join([INTRODUCTION, *_looks(rows), *_verdicts(rows), *_coverage(rows)])


def _looks(rows: list[Row]) -> Iterator[str]:
    yield from ("## Looking again and again", "")
    yield ABOUT_LOOKS
    yield from ("", "| true means | margin | one look | a look at each of 48 |", "|---|---|---|---|")
    for margin, spread in LOOKS:
        found = _of(rows, ("looks", f"spread {spread:g}", 57, margin))
        means = "0" if spread == 0 else f"spread {spread:g}: of the claims"
        yield f"| {means} | {margin:g} | {found['once'].text} | {found['every'].text} |"
    shares = [_of(rows, ("no margin", "nothing differs", n, 0.0))["any direction"].text for n in (20, 57)]
    yield from (
        "",
        "Without a margin, 21 comparisons of equal algorithms and one look, the probability of some direction",
    )
    yield from (f"passes 0.975 in {shares[0]} of the studies with 20 instances and in {shares[1]} with 57.", "")


def _verdicts(rows: list[Row]) -> Iterator[str]:
    yield from ("## Verdicts", "")
    yield ABOUT_VERDICTS
    names = ("plain", "both", "shared_equivalent", "both_equivalent", "plain_claims", "both_claims")
    heads = ("false difference: plain", "both", "false equivalence: shared", "both", "claims: plain", "both")
    yield from ("", f"| truth | N | margin | {' | '.join(heads)} |", f"|{'---|' * 9}")
    for truth in TRUTHS:
        found = _of(rows, ("verdicts", truth.kind, truth.instances, truth.margin))
        cells = " | ".join(found[name].text for name in names)
        yield f"| {truth.kind} | {truth.instances} | {truth.margin:g} | {cells} |"
    yield ""


def _coverage(rows: list[Row]) -> Iterator[str]:
    yield from ("## Intervals", "")
    yield ABOUT_INTERVALS
    names = ("equal", "equal_new", "precision", "precision_new")
    heads = ("equal weights: mean", "new instance", "precision weights: mean", "new instance")
    yield from ("", f"| standard errors | N | tau | {' | '.join(heads)} |", f"|{'---|' * 7}")
    for cell in sorted(CELLS, key=lambda each: list(KINDS).index(each.errors)):
        found = _of(rows, ("coverage", cell.errors, cell.instances, cell.tau))
        yield f"| {cell.errors} | {cell.instances} | {cell.tau:g} | {' | '.join(found[name].text for name in names)} |"
    yield ""


def _of(rows: list[Row], cell: tuple[str, str, int, float]) -> dict[str, Row]:
    return {row.what: row for row in rows if row.cell == cell}


if __name__ == "__main__":
    sys.exit(main())
