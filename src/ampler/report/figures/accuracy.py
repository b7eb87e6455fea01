"""The figure of accuracy: the standard errors of all pairs on each instance, with the runs they took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Codes, Floats
from ampler.core.checks import choice
from ampler.report.figures.colours import BLUE, GREY, ORANGE
from ampler.report.figures.labels import WIDEST, labels
from ampler.report.figures.style import COLUMN, PAGE, canvas, unit_of, write_in_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AccuracyOrder = Literal["given", "name", "error", "runs"]

NAMED = 90  # instances whose names still fit below a page
DOTS = 6000  # standard errors drawn one by one; more become a band
WIDE_SPREAD = 50.0  # largest over median error, above which the axis is logarithmic
DEEPEST = 1e-6  # of the largest error: what is below looks like zero
NARROW = 24  # instances that fit a column


@dataclass(frozen=True, slots=True, eq=False)
class AccuracyData:
    """The standard errors of all pairs (columns) on each instance (rows), and the runs spent there."""

    instances: tuple[str, ...]  # labels
    errors: Floats  # NaN: not known, or the pair lacks the instance
    largest_guarded: Floats  # of each instance, allowing for luck
    runs: tuple[int, ...]
    at_budget: tuple[bool, ...]
    wanted: float | None  # se
    difference: str


def accuracy_data(analysis: Analysis, *, order: AccuracyOrder = "given", widest: int = WIDEST) -> AccuracyData:
    """Return the standard errors per instance with the totals of the runs (Campelo & Wanner 2019, Figure 3).

    `order` is that of the runs ("given"), by "name", or by the largest "error" or the "runs", largest first.
    """
    choice("order", order, ("given", "name", "error", "runs"), "it says how the instances follow each other")
    rows = analysis.accuracy
    keys = {
        "given": lambda place: place,
        "name": lambda place: rows[place].instance.casefold(),
        "error": lambda place: -np.nan_to_num(rows[place].error, nan=np.inf),
        "runs": lambda place: -sum(rows[place].runs),
    }
    places = sorted(range(len(rows)), key=keys[order])
    return AccuracyData(
        instances=labels([rows[place].instance for place in places], widest),
        errors=analysis.errors[places],
        largest_guarded=np.array([rows[place].guarded_error for place in places]),
        runs=tuple(sum(rows[place].runs) for place in places),
        at_budget=tuple(rows[place].at_budget for place in places),
        wanted=analysis.settings.se,
        difference=unit_of(analysis),
    )


def draw_accuracy(data: AccuracyData, ax: Axes | None = None, *, guarded: bool = False) -> Axes:
    """Draw the standard errors of each instance, the accuracy wanted, and above the runs that were spent.

    `guarded` adds the largest guarded standard error of each instance.
    """
    many = len(data.instances) > NARROW
    with canvas(ax, width=PAGE if many else COLUMN, height=3.0) as ax:
        places = np.arange(1, len(data.instances) + 1)
        if data.errors.size > DOTS:
            _draw_band(ax, places, data)
        else:
            _draw_dots(ax, places, data)
        if guarded:
            ax.plot(places, data.largest_guarded, "_", color=GREY, markersize=5, label="Guarded")
        if data.wanted is not None:
            ax.axhline(data.wanted, color="black", linestyle="--", linewidth=0.8, label=f"Wanted, {_wanted(data)}")
        ax.set_xlim(0.3, len(places) + 0.7)
        ax.set_ylabel("Standard error" + (", percentage points" if data.difference == "points" else ""))
        _choose_scale(ax, data)
        ax.grid(axis="x", visible=False)
        _name_instances(ax, data)
        above_totals = 3.4 if len(places) <= NAMED else 0.4
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=4 if many else 2,
            columnspacing=1.0,
            borderpad=0,
            borderaxespad=above_totals,
        )
    return ax


def _wanted(data: AccuracyData) -> str:
    assert data.wanted is not None
    return f"{(100 if data.difference == 'points' else 1) * data.wanted:g}"


def _draw_dots(ax: Axes, places: Codes, data: AccuracyData) -> None:
    over = data.errors > (np.inf if data.wanted is None else data.wanted)
    x = np.broadcast_to(places[:, None], data.errors.shape)
    for chosen, color, marker, label in ((~over, BLUE, "o", "Pair"), (over, ORANGE, "^", "Pair above")):
        if chosen.any():
            dots = ax.plot(x[chosen], data.errors[chosen], marker, color=color, label=label)
            dots[0].set(markersize=2.6, markeredgewidth=0, alpha=0.7)


def _draw_band(ax: Axes, places: Codes, data: AccuracyData) -> None:
    """Too many to be told apart: from the smallest to the largest known of each instance."""
    known = np.isfinite(data.errors)
    low = np.where(known, data.errors, np.inf).min(axis=1)
    high = np.where(known.any(axis=1), np.where(known, data.errors, 0.0).max(axis=1), np.nan)
    ax.fill_between(places, low, high, step="mid", color=BLUE, alpha=0.3, linewidth=0, label="All pairs")
    ax.plot(places, high, drawstyle="steps-mid", color=BLUE, linewidth=0.7, label="Largest")


def _choose_scale(ax: Axes, data: AccuracyData) -> None:
    """Errors of very different size are shown on a logarithmic axis, which is linear next to zero."""
    known = data.errors[data.errors > 0]  # NaN is not
    if known.size and known.max() > WIDE_SPREAD * np.median(known):
        ax.set_yscale("symlog", linthresh=max(float(known.min()), float(known.max()) * DEEPEST))
    else:
        write_in_unit(ax.yaxis, data.difference)
    ax.set_ylim(bottom=0)


def _name_instances(ax: Axes, data: AccuracyData) -> None:
    """Names below and totals above; where there are too many, the axis counts the instances."""
    if len(data.instances) > NAMED:
        ax.set_xlabel(f"Instance, 1 to {len(data.instances)}; {sum(data.runs):,} runs in all")
        return
    size = 6.0 if len(data.instances) <= 60 else 4.5
    ax.set_xticks(range(1, len(data.instances) + 1), data.instances, rotation=90, fontsize=size)
    for place, (runs, spent) in enumerate(zip(data.runs, data.at_budget, strict=True), start=1):
        ax.annotate(
            str(runs), (place, 1.0), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points"
        ).set(
            rotation=90,
            ha="center",
            va="bottom",
            fontsize=size,
            fontweight="bold" if spent else "normal",
            annotation_clip=False,
        )
