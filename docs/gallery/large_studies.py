"""Processor time and memory of what is done with a study, by the number of its runs."""

import csv
from pathlib import Path

from ampler.report.figures.canvas import canvas
from ampler.report.theme import LIGHT

RESULTS = Path("docs/benchmarks/large.csv")  # when this is run from the root of the project
if "__file__" in globals():
    RESULTS = Path(__file__).parents[1] / "benchmarks" / "large.csv"

SHOWN = {
    "export": ("inconclusive", "v"),
    "report": ("contrast", "s"),
    "analyse": ("accent", "o"),
    "resume": ("series-3", "^"),
    "status": ("series-4", "D"),
}


def points(what: str) -> tuple[list[float], list[float]]:
    """Runs and seconds."""
    with RESULTS.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["what"] == what]
    return [float(row["runs"]) for row in rows], [float(row["seconds"]) for row in rows]


with canvas(None, width=4.5, height=3.0) as ax:
    ax.plot([1e6, 1e7], [0.7, 7.0], color=LIGHT["muted"], linestyle="--", linewidth=0.8)
    ax.annotate("as the runs", (3e6, 2.1), (4, -10), textcoords="offset points", color=LIGHT["muted"])
    for what, (colour, marker) in SHOWN.items():
        ax.plot(*points(what), marker=marker, color=LIGHT[colour], markersize=4, linewidth=1.2, label=what)
    ax.set(xscale="log", yscale="log", xlabel="Recorded runs", ylabel="Processor time, s")
    ax.legend(loc="upper left")
