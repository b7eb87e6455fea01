"""Runs against the accuracy really reached: each small mark is one kind of instance of the sampling benchmark."""

import csv
from pathlib import Path

import numpy as np

from ampler.report.figures.canvas import canvas
from ampler.report.theme import BLUE, GREEN, GREY, ORANGE

RESULTS = Path("docs/benchmarks/sampling.csv")  # when this is run from the root of the project
if "__file__" in globals():
    RESULTS = Path(__file__).parents[1] / "benchmarks" / "sampling.csv"

RULES = {
    "greedy/none (paper)": ("as in the paper: no guard", ORANGE, "o"),
    "optimal/pairs": ('optimal, guard "pairs"', BLUE, "s"),
    "optimal/all": ('optimal, guard "all"', GREEN, "^"),
}


def points(rule: str) -> np.ndarray:
    """Runs over the optimum and largest true error over se, for normal data and an optimum of five times the start."""
    with RESULTS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rule"] == rule]
    normal = [row for row in rows if row["distribution"] == "normal" and float(row["load"]) == 5]
    return np.array([(float(row["runs"]), float(row["error"])) for row in normal])


with canvas(None, width=4.5, height=3.0) as ax:
    runs = np.linspace(0.9, 2.1, 100)
    ax.axhline(1.0, color=GREY, linewidth=0.8)
    ax.plot(runs, runs**-0.5, color="black", linestyle="--", linewidth=0.8)
    ax.annotate("if variances were known", (1.6, 1.6**-0.5), (-6, -3), textcoords="offset points", ha="right", va="top")
    ax.annotate("less exact than asked ↑", (2.08, 1.0), (0, 4), textcoords="offset points", ha="right", color=GREY)
    ax.annotate("as exact as asked ↓", (2.08, 1.0), (0, -9), textcoords="offset points", ha="right", color=GREY)
    for rule, (label, colour, marker) in RULES.items():
        cells = points(rule)
        ax.plot(*cells.T, marker, color=colour, markersize=3, alpha=0.4, markeredgewidth=0)
        ax.plot(*cells.mean(axis=0), marker, color=colour, markersize=7, markeredgecolor="white", label=label)
    ax.set(xlabel="Runs / optimum", ylabel="Largest true standard error / se", xlim=(0.9, 2.1), ylim=(0.68, 1.75))
    ax.legend(loc="upper right")
