"""Who is truly within se: the guard by number of algorithms, distribution and statistic, and its page.

    python benchmarks/bench_guard.py            two algorithms (a minute)
    python benchmarks/bench_guard.py --write    all of it (some minutes); docs/benchmarks/guard.*
    python benchmarks/bench_guard.py --page     only the page, from the results that are there

Counted are the hard pairs, those that the first runs do not bring within se: the others are there whatever the guard.
Results are kept group by group, so a run that was stopped goes on where it was; delete the CSV to start afresh.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from kept_results import FOLDER, append, asked, read
from sampling_simulation import DISTRIBUTIONS, PAPER, PATTERNS, Cell, Rule, simulate, streams_for, tabulated_chi_square

REPLICATIONS = 200
PROMISED = 0.95
RULES = (PAPER, Rule(), Rule(edition=2), Rule(guard="all", edition=2))
NAMES = ("none (paper)", "pairs, first edition", "pairs", "all")
CONTINUOUS = ("normal", "exponential", "lognormal")
STATISTICS = ("median", "quantile:0.9", "trimmed-mean")

INTRODUCTION = """# The guard, by distribution and statistic

Which pairs are truly known to within `se` when the rule says so? Counted are the *hard* pairs, those that the first ten
runs of each algorithm do not bring there; the others are within `se` whatever the guard. Simple differences, `optimal`
allocation (the first rule: the paper's), optimum = 5 times the first runs. Means: with a reference and all pairs, all
patterns of standard deviations of [the comparison of rules](sampling.md); other statistics: equal standard deviations
and all pairs, and linear ones with a reference. 200 replications of each cell, seeds fixed; in brackets the standard
error. Written by `python benchmarks/bench_guard.py --write` from `guard.csv`.
"""


@dataclass(frozen=True)
class Row:
    """One guard in one group of cells: the same statistic, number of algorithms and distribution."""

    statistic: str
    algorithms: int
    distribution: str
    guard: str
    cells: int
    runs: float  # over the optimum
    within: float  # share of the hard pairs truly within se
    within_se: float
    worst: float  # the same in the worst cell
    every: float  # share of instances with all pairs within se

    @property
    def group(self) -> tuple[str, int, str]:
        return self.statistic, self.algorithms, self.distribution

    @property
    def is_short(self) -> bool:
        return self.within + 2 * self.within_se < PROMISED


def main() -> int:
    chosen = asked(__doc__)
    path = FOLDER / "guard.csv"
    if chosen.page:
        rows = read(path, Row)
    else:
        rows = measure([group for group in groups() if chosen.write or group[1] == 2], path if chosen.write else None)
    if chosen.write or chosen.page:
        (FOLDER / "guard.md").write_text(page(rows), encoding="utf-8")
    for row in rows:
        print(f"{row.statistic:14}{row.algorithms:3} {row.distribution:12}{row.guard:22}{row.runs:6.2f} {_share(row)}")
    return int(any(row.is_short for row in rows if row.guard == "pairs" and row.distribution == "normal"))


def groups() -> Iterator[tuple[str, int, str]]:
    yield from product(("mean",), (2, 5, 10, 22), DISTRIBUTIONS)
    yield from product(STATISTICS, (2, 5), CONTINUOUS)


def cells_of(statistic: str, algorithms: int, distribution: str) -> list[Cell]:
    if statistic == "mean":
        kinds = [(reference, pattern) for reference, pattern in product((True, False), PATTERNS)]
    else:
        kinds = [(False, "equal"), (True, "linear")]
    return [
        Cell("simple", reference, algorithms, pattern, distribution, 5.0, statistic)
        for reference, pattern in kinds
        if reference or pattern != "noisy reference"
    ]


def measure(wanted: list[tuple[str, int, str]], path: Path | None) -> list[Row]:
    """Simulate the groups that the file does not hold yet, and add them there."""
    rows = read(path, Row) if path else []
    known = {row.group for row in rows}
    for group in wanted:
        if group not in known:
            with tabulated_chi_square():
                fresh = list(measured(*group))
            rows += fresh
            if path:
                append(path, fresh)
            print(*group, file=sys.stderr)
    return rows


def measured(statistic: str, algorithms: int, distribution: str, replications: int = REPLICATIONS) -> Iterator[Row]:
    """Yield what each guard gives in a group."""
    cells = cells_of(statistic, algorithms, distribution)
    streams = streams_for(cells[0], replications)
    for name, rule in zip(NAMES, RULES, strict=True):
        if statistic != "mean" and rule == PAPER:
            continue  # one run per decision and a statistic computed anew for each: not worth the hours
        outcomes = [simulate(cell, rule, streams) for cell in cells]
        hard = np.array([outcome.hard_within for outcome in outcomes if outcome.cell.hard.any()])
        each = hard.mean(axis=0)
        numbers = (
            np.mean([outcome.runs.mean() for outcome in outcomes]),
            each.mean(),
            each.std() / np.sqrt(len(each)),
            hard.mean(axis=1).min(),
            np.mean([(outcome.hard_within == 1).mean() for outcome in outcomes]),
        )
        yield Row(statistic, algorithms, distribution, name, len(cells), *(round(float(x), 4) for x in numbers))


# --- the page ---------------------------------------------------------------------------------------------------------


def page(rows: list[Row]) -> str:
    means = [row for row in rows if row.statistic == "mean"]
    others = [row for row in rows if row.statistic != "mean"]
    return "\n".join(
        [
            INTRODUCTION,
            _not_reached(rows),
            _not_measured(rows),
            _table("Means", means),
            _table("Other statistics", others),
            _costs(rows),
        ]
    )


def _not_measured(rows: list[Row]) -> str:
    """The groups that the file does not hold yet, so that nobody takes their absence for a success."""
    known = {row.group for row in rows}
    missing = [
        f"{statistic}, A = {size}, {law}" for statistic, size, law in groups() if (statistic, size, law) not in known
    ]
    return f"Not measured yet: {'; '.join(missing)}.\n" if missing else ""


def _not_reached(rows: list[Row]) -> str:
    short = sorted((row for row in rows if row.guard == "pairs" and row.is_short), key=lambda row: row.within)
    lines = [
        "## What is not reached",
        "",
        'Under `"pairs"` 95 % of the hard pairs shall be truly within `se`. They are not, by more than two standard'
        " errors, here:",
        "",
        "| statistic | A | values | hard pairs within se | in the worst cell |",
        "|---|---|---|---|---|",
        *(
            f"| {row.statistic} | {row.algorithms} | {row.distribution} | {_share(row)} | {row.worst:.0%} |"
            for row in short
        ),
    ]
    return "\n".join([*lines, ""])


def _table(title: str, rows: list[Row]) -> str:
    lines = [
        f"## {title}",
        "",
        "Hard pairs truly within `se`.",
        "",
        "| statistic | A | values | " + " | ".join(NAMES) + " |",
        "|---|---|---|" + "---|" * len(NAMES),
    ]
    for group in dict.fromkeys(row.group for row in rows):
        found = {row.guard: _share(row) for row in rows if row.group == group}
        statistic, algorithms, distribution = group
        shares = " | ".join(found.get(name, "–") for name in NAMES)
        lines.append(f"| {statistic} | {algorithms} | {distribution} | {shares} |")
    return "\n".join([*lines, ""])


def _costs(rows: list[Row]) -> str:
    lines = [
        "## What it costs",
        "",
        "Runs over the optimum, which knows the variances.",
        "",
        "| statistic | A | values | " + " | ".join(NAMES) + " |",
        "|---|---|---|" + "---|" * len(NAMES),
    ]
    for group in dict.fromkeys(row.group for row in rows):
        found = {row.guard: f"{row.runs:.2f}" for row in rows if row.group == group}
        statistic, algorithms, distribution = group
        lines.append(
            f"| {statistic} | {algorithms} | {distribution} | {' | '.join(found.get(name, '–') for name in NAMES)} |"
        )
    return "\n".join([*lines, ""])


def _share(row: Row) -> str:
    return f"{100 * row.within:.1f} % ({100 * row.within_se:.1f})"


if __name__ == "__main__":
    sys.exit(main())
