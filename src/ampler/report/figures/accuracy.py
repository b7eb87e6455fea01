"""The figure of accuracy: the standard errors of all pairs on each instance, with the runs they took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.ordering import told_order
from ampler.core.arrays import Codes, Floats
from ampler.core.checks import choice
from ampler.report.figures.colours import BLUE, GREY, INK, MUTED, ORANGE
from ampler.report.figures.labels import WIDEST, instance_labels
from ampler.report.figures.numbers import compact, unit_of, write_in_unit
from ampler.report.figures.rows import NAMED, beside, fit_rows, lay_rows
from ampler.report.figures.style import COLUMN, PAGE, canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AccuracyOrder = Literal["given", "feature", "name", "error", "runs"]

DOTS = 6000  # standard errors drawn one by one; more become a band
WIDE_SPREAD = 50.0  # largest over median error, above which the axis is logarithmic
DEEPEST = 1e-6  # of the largest error: what is below looks like zero


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

    @property
    def finding(self) -> str:
        """On how many instances the differences are known as accurately as wanted."""
        known = self.errors[np.isfinite(self.errors)]
        if not known.size:
            return "The standard errors are not known"
        if self.wanted is None:
            return f"Standard errors from {self._shown(known.min())} to {self._shown(known.max())}"
        reached = int((~(self.errors > self.wanted)).all(axis=1).sum())
        spent = f"; {sum(self.at_budget)} ended at the budget" if any(self.at_budget) else ""
        return f"{reached} of {len(self.runs)} instances are as accurate as wanted{spent}"

    def _shown(self, error: float) -> str:
        return compact(100 * error, 3) + " %" if self.difference == "percent" else compact(error, 3)


def accuracy_data(analysis: Analysis, *, order: AccuracyOrder = "given", widest: int = WIDEST) -> AccuracyData:
    """Return the standard errors per instance with the totals of the runs (Campelo & Wanner 2019, Figure 3).

    `order` is that of the runs ("given"), by "feature" (of instances that have some, else by name), by "name", or by
    the largest "error" or the "runs", largest first.
    """
    choice("order", order, get_args(AccuracyOrder), "it says how the instances follow each other")
    rows, names = analysis.accuracy, instance_labels(analysis, widest)
    keys = {
        "given": lambda place: place,
        "feature": told_order(analysis).index,
        "name": lambda place: rows[place].instance.casefold(),
        "error": lambda place: -np.nan_to_num(rows[place].error, nan=np.inf),
        "runs": lambda place: -sum(rows[place].runs),
    }
    places = sorted(range(len(rows)), key=keys[order])
    return AccuracyData(
        instances=tuple(names[place] for place in places),
        errors=analysis.errors[places],
        largest_guarded=np.array([rows[place].guarded_error for place in places]),
        runs=tuple(sum(rows[place].runs) for place in places),
        at_budget=tuple(rows[place].at_budget for place in places),
        wanted=analysis.settings.se,
        difference=unit_of(analysis),
    )


def draw_accuracy(data: AccuracyData, ax: Axes | None = None, *, guarded: bool = False) -> Axes:
    """Draw the standard errors of each instance, the accuracy wanted, and at the right the runs that were spent.

    More than 40 instances become a strip without names. `guarded` adds the largest guarded standard error of each.
    """
    size = len(data.instances)
    named = size <= NAMED
    with canvas(ax, width=COLUMN if named else PAGE, height=2.8) as ax:
        strip = _Strip(ax, across=not named)
        _draw_errors(strip, np.arange(size), data)
        if guarded:
            strip.plot(
                np.arange(size), data.largest_guarded, "|_"[strip.across], color=GREY, markersize=6, label="Guarded"
            )
        if data.wanted is not None:
            strip.line(data.wanted, color=INK, linestyle="--", linewidth=0.9)
        _choose_scale(strip, data)
        if named:
            _name_rows(ax, data)
        else:
            _count_places(ax, data)
        _say(ax, data, named=named, guarded=guarded)
        if named:
            fit_rows(ax, size)
    return ax


@dataclass(frozen=True)
class _Strip:
    """Axes on which instances are rows, or with many of them columns; values run the other way."""

    ax: Axes
    across: bool  # instances are columns

    def plot(self, places: Codes, values: Floats, marker: str, **look: object) -> None:
        x, y = (places, values) if self.across else (values, places)
        self.ax.plot(x, y, marker, **look)  # type: ignore[arg-type]

    def line(self, value: float, **look: object) -> None:
        (self.ax.axhline if self.across else self.ax.axvline)(value, **look)  # type: ignore[arg-type]

    def bars(self, places: Codes, low: Floats, high: Floats, **look: object) -> None:
        (self.ax.vlines if self.across else self.ax.hlines)(places, low, high, **look)  # type: ignore[arg-type]


def _draw_errors(strip: _Strip, places: Codes, data: AccuracyData) -> None:
    """A dot for each pair; too many to be told apart become a line from the smallest to the largest."""
    if data.errors.size > DOTS:
        known = np.isfinite(data.errors)
        low = np.where(known, data.errors, np.inf).min(axis=1)
        high = np.where(known.any(axis=1), np.where(known, data.errors, 0.0).max(axis=1), np.nan)
        strip.bars(places, low, high, color=BLUE, linewidth=1.4, alpha=0.5)
        strip.plot(places, high, "o", color=BLUE, markersize=3, label="Largest")
        return
    over = data.errors > (np.inf if data.wanted is None else data.wanted)
    at = np.broadcast_to(places[:, None], data.errors.shape)
    for chosen, color, marker, label in ((~over, BLUE, "o", "Pair"), (over, ORANGE, "^", "Pair above")):
        if chosen.any():
            look = {"color": color, "markersize": 3, "markeredgewidth": 0, "alpha": 0.65}
            strip.plot(at[chosen], data.errors[chosen], marker, label=label, **look)


def _choose_scale(strip: _Strip, data: AccuracyData) -> None:
    """Errors of very different size are shown on a logarithmic axis, which is linear next to zero."""
    known = data.errors[data.errors > 0]  # NaN is not
    axis, name = (strip.ax.yaxis, "y") if strip.across else (strip.ax.xaxis, "x")
    if known.size and known.max() > WIDE_SPREAD * np.median(known):
        threshold = max(float(known.min()), float(known.max()) * DEEPEST)
        (strip.ax.set_yscale if strip.across else strip.ax.set_xscale)("symlog", linthresh=threshold)
    else:
        write_in_unit(axis, "simple" if data.difference == "ratio" else data.difference)
    strip.ax.set(**{f"{name}lim": (0, None)})


def _name_rows(ax: Axes, data: AccuracyData) -> None:
    lay_rows(ax, data.instances)
    for place, (runs, spent) in enumerate(zip(data.runs, data.at_budget, strict=True)):
        beside(ax, place, f"{runs:,}", color=INK if spent else MUTED, fontweight="bold" if spent else "normal")


def _count_places(ax: Axes, data: AccuracyData) -> None:
    ax.set_xlim(-0.7, len(data.instances) - 0.3)
    ax.set_xticks([])
    ax.grid(axis="x", visible=False)
    ax.set_ylabel(_name(data))


def _name(data: AccuracyData) -> str:
    return "Standard error" + (", percentage points" if data.difference == "points" else "")


def _say(ax: Axes, data: AccuracyData, *, named: bool, guarded: bool) -> None:
    over = data.wanted is not None and bool((data.errors > data.wanted).any())
    wanted = "" if data.wanted is None else f"Dashed: wanted{'; triangles: above it' if over else ''}"
    marks = "Bars: guarded" if guarded else ""
    entitle(ax, data.finding)
    if named:
        explain(
            ax, _name(data), "Right: runs" + ("; bold: the whole budget" if any(data.at_budget) else ""), wanted, marks
        )
    else:
        explain(ax, f"{len(data.runs)} instances, {sum(data.runs):,} runs", wanted, marks)
