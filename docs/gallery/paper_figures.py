"""Figures 3, 4 and 5 and Table 1 of Campelo & Wanner (2019), from the runs of their first experiment.

The runs belong to their authors and are not part of the project. Where they lie beside it, the figures and the table
are made anew; elsewhere those in docs/figures are kept, and Figure 5 is drawn from the numbers of the table.
"""

import csv
from pathlib import Path

import ampler as am
from ampler.plots import (
    IntervalRow,
    Intervals,
    accuracy_data,
    draw_accuracy,
    draw_intervals,
    draw_runs,
    runs_data,
    save,
)

DOCS = Path(am.__file__).parents[2] / "docs"
RUNS = DOCS.parents[1] / "shared" / "public-data" / "paper_experiment1_runs.csv"
TABLE = DOCS / "figures" / "paper_table_1.csv"
COLUMNS = ("rank", "comparison", "alpha", "p", "estimate", "low", "high", "joint low", "joint high", "d", "rejected")


def make_anew() -> None:
    """Draw Figures 3 and 4 and write the numbers of Table 1, rounded to what a reader can use."""
    settings = am.Settings(se=0.05, budget=1100, formula="paper")
    analysis = am.analyse(RUNS, reference="Full", difference="percent", better="lower", settings=settings)
    save(draw_accuracy(accuracy_data(analysis)), DOCS / "figures" / "paper_figure_3.svg")
    save(draw_runs(runs_data(analysis)), DOCS / "figures" / "paper_figure_4.svg")
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for each in analysis.comparisons:
            numbers = (each.alpha, each.p_value, each.estimate, *each.interval, *each.joint_interval, each.effect_size)
            rounded = (f"{number:.4g}" for number in numbers)
            rows.writerow([each.rank, each.second, *rounded, "yes" if each.rejected else "no"])


def table_1() -> Intervals:
    """Return the comparisons of Table 1, as Figure 5 shows them."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [
            IntervalRow(
                label=row["comparison"],
                estimate=float(row["estimate"]),
                holm=(float(row["low"]), float(row["high"])),
                joint=(float(row["joint low"]), float(row["joint high"])),
                rejected=row["rejected"] == "yes",
                finding="worse" if row["rejected"] == "yes" else "inconclusive",
            )
            for row in csv.DictReader(file)
        ]
    return Intervals(
        rows=tuple(rows),
        left_out=0,
        difference="percent",
        estimate_of="mean",
        name="Percent difference, (Full − other) / Full",
        neutral=0.0,
        alpha=0.05,
        finding=f"Full is better than {sum(row.rejected for row in rows)} of {len(rows)} algorithms",
    )


if RUNS.is_file():
    make_anew()
ax = draw_intervals(table_1(), interval="both")
