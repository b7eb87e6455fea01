"""Figures of accuracy: standard errors on each instance, how they fall with the runs, and where the runs went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.blocks import gather, leading_runs, summarise
from ampler.analysis.standings import reading_order
from ampler.core.arrays import Counts, Floats, on_instances
from ampler.core.errors import InvalidInput
from ampler.core.settings import choice
from ampler.report.figures import canvas as fig
from ampler.report.figures.performance import recorded_runs
from ampler.report.theme import BLUE, GREY, INK, MUTED, ORANGE
from ampler.stats.contrasts import contrasts_of
from ampler.stats.summaries import is_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AccuracyData", "accuracy_data", "draw_accuracy"]
__all__ += ["ConvergenceData", "convergence_data", "draw_convergence"]
__all__ += ["RunsData", "draw_runs", "runs_data"]

AccuracyOrder = Literal["given", "feature", "name", "error", "runs"]

DOTS = 6000  # maximum number of single standard errors; more become a band
WIDE_SPREAD = 50.0  # largest over median error, above which the axis is logarithmic
DEEPEST = 1e-6  # share of the largest error below which errors look like zero


@dataclass(frozen=True, slots=True, eq=False)
class AccuracyData:
    """The standard errors of all pairs (columns) on each instance (rows), and the runs spent there."""

    instances: tuple[str, ...]  # labels
    errors: Floats  # NaN: not known, or the pair lacks the instance
    largest_guarded: Floats  # of each instance, with conservative variance bounds
    runs: tuple[int, ...]
    at_budget: tuple[bool, ...]
    wanted: float | None  # se
    difference: str

    @property
    def finding(self) -> str:
        """State the number of instances that reach the target standard error."""
        known = self.errors[np.isfinite(self.errors)]
        if not known.size:
            return "The standard errors are not known"
        if self.wanted is None:
            scale, unit = (100, " %") if self.difference == "percent" else (1, "")
            ends = [fig.compact(scale * end, 3) + unit for end in (known.min(), known.max())]
            return f"Standard errors from {' to '.join(ends)}"
        reached = int((~(self.errors > self.wanted)).all(axis=1).sum())
        spent = f"; {sum(self.at_budget)} ended at the budget" if any(self.at_budget) else ""
        return f"{reached} of {len(self.runs)} instances are as accurate as wanted{spent}"


def accuracy_data(analysis: Analysis, *, order: AccuracyOrder = "given", widest: int = fig.WIDEST) -> AccuracyData:
    """Return the standard errors per instance with the totals of the runs (Campelo & Wanner 2019, Figure 3).

    `order` is that of the runs ("given"), by "feature" (of instances that have some, else by name), by "name", or by
    the largest "error" or the "runs", largest first.
    """
    choice("order", order, get_args(AccuracyOrder), "it is the order of the instances")
    names = fig.instance_labels(analysis, widest)
    keys = {
        "given": lambda index: index,
        "feature": reading_order(analysis).index,
        "name": lambda index: analysis.accuracy[index].instance.casefold(),
        "error": lambda index: -np.nan_to_num(analysis.accuracy[index].error, nan=np.inf),
        "runs": lambda index: -sum(analysis.accuracy[index].runs),
    }
    places = sorted(range(len(names)), key=keys[order])
    rows = [analysis.accuracy[index] for index in places]
    return AccuracyData(
        instances=tuple(names[index] for index in places),
        errors=analysis.errors[places],
        largest_guarded=np.array([row.guarded_error for row in rows]),
        runs=tuple(sum(row.runs) for row in rows),
        at_budget=tuple(row.at_budget for row in rows),
        wanted=analysis.settings.se,
        difference=fig.unit_of(analysis),
    )


def draw_accuracy(data: AccuracyData, ax: Axes | None = None, *, guarded: bool = False) -> Axes:
    """Draw the standard errors of each instance, the target, and at the right the numbers of runs.

    More than 40 instances become a strip without names. `guarded` adds the largest guarded standard error of each.
    """
    size = len(data.instances)
    has_names = size <= fig.NAMED
    name = "Standard error" + (", percentage points" if data.difference == "points" else "")
    with fig.canvas(ax, width=fig.COLUMN if has_names else fig.PAGE, height=2.8) as ax:
        _draw_errors(ax, data, across=not has_names)
        if guarded:
            x, y = (data.largest_guarded, np.arange(size)) if has_names else (np.arange(size), data.largest_guarded)
            ax.plot(x, y, "|" if has_names else "_", color=GREY, markersize=6, label="Guarded")
        if data.wanted is not None:
            (ax.axvline if has_names else ax.axhline)(data.wanted, color=INK, linestyle="--", linewidth=0.9)
        side, known = "x" if has_names else "y", data.errors[data.errors > 0]  # false for NaN
        if known.size and known.max() > WIDE_SPREAD * np.median(known):  # logarithmic, and linear next to zero
            threshold = max(float(known.min()), float(known.max()) * DEEPEST)
            (ax.set_xscale if has_names else ax.set_yscale)("symlog", linthresh=threshold)
        else:
            fig.write_in_unit(ax.xaxis if has_names else ax.yaxis, _unit_of_errors(data))
        ax.set(**{f"{side}lim": (0, None)})
        if has_names:
            fig.lay_rows(ax, data.instances)
            for index, (runs, spent) in enumerate(zip(data.runs, data.at_budget, strict=True)):
                color, weight = (INK, "bold") if spent else (MUTED, "normal")
                fig.beside(ax, index, f"{runs:,}", color=color, fontweight=weight)
            about = [name, "Right: runs" + ("; bold: the whole budget" if any(data.at_budget) else "")]
        else:
            fig.lay_strip(ax, size)
            ax.set_ylabel(name)
            about = [f"{size} instances, {sum(data.runs):,} runs"]
        over = data.wanted is not None and bool((data.errors > data.wanted).any())
        dashed = "" if data.wanted is None else f"Dashed: wanted{'; triangles: above it' if over else ''}"
        fig.describe(ax, data.finding, *about, dashed, "Bars: guarded" if guarded else "")
        if has_names:
            fig.fit_rows(ax, size)
    return ax


def _draw_errors(ax: Axes, data: AccuracyData, *, across: bool) -> None:
    """A dot for each pair; too many to be distinguished become a line from the smallest to the largest.

    Instances are rows, or columns `across` the page.
    """
    places = np.arange(len(data.instances))
    if data.errors.size > DOTS:
        known = np.isfinite(data.errors)
        low = np.where(known, data.errors, np.inf).min(axis=1)
        high = _largest(data.errors)
        (ax.vlines if across else ax.hlines)(places, low, high, color=BLUE, linewidth=1.4, alpha=0.5)
        ax.plot(*((places, high) if across else (high, places)), "o", color=BLUE, markersize=3, label="Largest")
        return
    over = data.errors > (np.inf if data.wanted is None else data.wanted)
    at = np.broadcast_to(places[:, None], data.errors.shape)
    for chosen, color, marker, label in ((~over, BLUE, "o", "Pair"), (over, ORANGE, "^", "Pair above")):
        if chosen.any():
            x, y = (at, data.errors) if across else (data.errors, at)
            style: dict[str, Any] = {"markersize": 3, "markeredgewidth": 0, "alpha": 0.65}
            ax.plot(x[chosen], y[chosen], marker, color=color, label=label, **style)


def _largest(errors: Floats) -> Floats:
    """The largest known error of each row."""
    known = np.isfinite(errors)
    return np.where(known.any(axis=1), np.where(known, errors, -np.inf).max(axis=1), np.nan)


def _unit_of_errors(data: AccuracyData | ConvergenceData) -> str:
    return "simple" if data.difference == "ratio" else data.difference  # errors of logarithms are no factors


FIRST = 2  # runs from which on there is a standard error
LINES, WITHIN = 60, 0.9  # lines that can be distinguished; share of the pairs in the band of more
MOST_STEPS = 60  # numbers of runs at which errors are computed


@dataclass(frozen=True, slots=True, eq=False)
class ConvergenceData:
    """The standard error of every pair (columns) after this many runs of each algorithm (rows), on one instance.

    Algorithms with fewer runs keep their last value.
    """

    instance: str  # label
    pairs: tuple[str, ...]  # labels
    runs: tuple[int, ...]
    errors: Floats  # NaN: not known
    wanted: float | None  # se
    difference: str

    @property
    def largest(self) -> Floats:
        """The largest error of all pairs after this many runs."""
        return _largest(self.errors)

    @property
    def finding(self) -> str:
        """State whether and when the target was reached."""
        largest = self.largest
        if self.wanted is None:
            last = fig.compact((100 if self.difference in ("percent", "points") else 1) * float(largest[-1]), 3)
            unit = " %" if self.difference == "percent" else ""
            return f"{self.instance}: the largest standard error falls to {last}{unit}"
        if not largest[-1] <= self.wanted:
            return f"{self.instance}: not as accurate as wanted after {self.runs[-1]} runs"
        above = np.flatnonzero(~(largest <= self.wanted))
        reached = self.runs[int(above[-1]) + 1] if above.size else self.runs[0]
        return f"{self.instance}: as accurate as wanted from {reached} runs of each on"


def convergence_data(analysis: Analysis, instance: str | None = None, *, widest: int = fig.WIDEST) -> ConvergenceData:
    """Return how the standard errors fell on an instance, by default the one with the largest error at the end."""
    runs, settings = recorded_runs(analysis), analysis.settings
    if runs.shared is not None:
        raise InvalidInput("runs that were paired one by one have no errors of first runs to draw")
    if not is_named(settings.statistic_name):
        raise InvalidInput(f"the errors of first runs are drawn for statistics with a name, got {settings.statistic!r}")
    errors = [-1.0 if np.isnan(row.error) else row.error for row in analysis.accuracy]
    index = int(np.argmax(errors)) if instance is None else fig.row_of(analysis, instance)
    contrasts = contrasts_of(
        runs.algorithms, difference=settings.difference, reference=settings.reference, formula=settings.formula
    )
    cells = gather(on_instances(runs, {analysis.accuracy[index].instance}), settings.failures)
    most = int(cells.counts.max())
    if most < FIRST:
        raise InvalidInput("the errors of an instance need two runs or more of an algorithm, got one of each")
    steps = np.unique(np.linspace(FIRST, most, min(MOST_STEPS, most - FIRST + 1)).round().astype(int)).tolist()
    summaries = (summarise(leading_runs(cells, step), settings.statistic) for step in steps)
    return ConvergenceData(
        instance=fig.instance_labels(analysis, widest)[index],
        pairs=fig.pair_labels(analysis, analysis.pairs, widest),
        runs=tuple(steps),
        errors=np.array([summary.errors(contrasts)[0] for summary in summaries]),
        wanted=settings.se,
        difference=fig.unit_of(analysis),
    )


def draw_convergence(data: ConvergenceData, ax: Axes | None = None) -> Axes:
    """Draw the errors of all pairs over the runs: thin lines, the largest thick, the target dashed."""
    complete = np.isfinite(data.errors).all(axis=0)
    is_band = len(data.pairs) > LINES and bool(complete.any())  # more lines than can be distinguished
    with fig.canvas(ax, height=2.5) as ax:
        if is_band:
            ends = [(1 - WITHIN) / 2, 0.5, (1 + WITHIN) / 2]
            low, middle, high = np.quantile(data.errors[:, complete], ends, axis=1)
            ax.fill_between(data.runs, low, high, color=GREY, alpha=0.25, linewidth=0)
            ax.plot(data.runs, middle, color=GREY, linewidth=0.9)
        else:
            ax.plot(data.runs, data.errors, color=GREY, linewidth=0.7, alpha=0.7)
        ax.plot(data.runs, data.largest, color=BLUE, linewidth=1.8)
        if data.wanted is not None:
            ax.axhline(data.wanted, color=INK, linestyle="--", linewidth=0.9)
        ax.set_xlim(data.runs[0], data.runs[-1] if len(data.runs) > 1 else data.runs[0] + 1)
        ax.set(ylim=(0, None), ylabel="Standard error")
        fig.write_in_unit(ax.yaxis, _unit_of_errors(data))
        lines = [f"Thick: largest of {len(data.pairs)} pairs"] if len(data.pairs) > 1 else []
        lines += [] if data.wanted is None else ["dashed: wanted" if lines else "Dashed: wanted"]
        shaded = f"Shaded: {100 * WITHIN:g} % of them" if is_band else ""
        fig.describe(ax, data.finding, "Runs of each algorithm", "; ".join(lines), shaded)
        ax.locator_params(axis="x", integer=True)
    return ax


RunsOrder = Literal["given", "name", "runs"]

WIDE_RUNS = 15.0  # largest over smallest number of runs, above which the axis is logarithmic


@dataclass(frozen=True, slots=True, eq=False)
class RunsData:
    """The runs of each algorithm on each instance: algorithms from top to bottom, their counts sorted."""

    algorithms: tuple[str, ...]  # labels
    counts: Counts  # of an algorithm (row) on the instances (columns), smallest first
    reference: int | None  # the row of the reference

    @property
    def totals(self) -> tuple[int, ...]:
        """The runs of each algorithm in total."""
        return tuple(self.counts.sum(axis=1).tolist())

    @property
    def finding(self) -> str:
        """State the algorithm with most runs."""
        totals = self.totals
        if len(set(totals)) == 1:
            return f"Every algorithm had {totals[0]:,} runs"
        (most, *_), names = fig.first_of(self.algorithms, totals)
        return f"{names} took most: {totals[most]:,} of {sum(totals):,} runs"


def runs_data(analysis: Analysis, *, order: RunsOrder = "given", widest: int = fig.WIDEST) -> RunsData:
    """Return how the runs were distributed over the algorithms (Campelo & Wanner 2019, Figure 4).

    `order` is that of the algorithms ("given"), by "name", or by the total of the "runs", largest first.
    """
    choice("order", order, ("given", "name", "runs"), "it is the order of the rows")
    names = [row.algorithm for row in analysis.algorithms]
    counts = np.array([row.runs for row in analysis.accuracy], np.int64).T
    keys = {
        "given": lambda index: index,
        "name": lambda index: names[index].casefold(),
        "runs": lambda index: -int(counts[index].sum()),
    }
    places = sorted(range(len(names)), key=keys[order])
    reference = analysis.settings.reference
    return RunsData(
        algorithms=fig.labels([names[index] for index in places], widest),
        counts=np.sort(counts[places], axis=1),
        reference=None if reference is None else places.index(names.index(reference)),
    )


def draw_runs(data: RunsData, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the runs per instance of each algorithm: every instance, the quartiles, the total."""
    from matplotlib.ticker import LogLocator, NullFormatter

    with fig.canvas(ax) as ax:
        for index, counts in enumerate(data.counts):
            color = ORANGE if index == data.reference else BLUE
            first, middle, third = np.percentile(counts, (25, 50, 75))
            numbers, bar = np.unique(counts), [index - 0.34, index + 0.34]
            dots: dict[str, Any] = {"alpha": 0.45, "markersize": 2.4, "markeredgewidth": 0}
            ax.plot(numbers, np.full(len(numbers), index), "o", color=color, **dots)
            ax.barh(index, third - first, left=first, height=0.56, color=color, alpha=0.35, linewidth=0)
            ax.plot([middle, middle], bar, color=color, linewidth=1.4, solid_capstyle="butt")
        fig.lay_rows(ax, data.algorithms)
        smallest, largest = int(data.counts.min()), int(data.counts.max())
        if smallest == 0 or largest <= WIDE_RUNS * smallest:
            ax.set_xlim(left=0)
        else:
            ax.set_xscale("log")
            ax.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.set_xlim(0.93 * smallest, 1.07 * largest)
        for index, total in enumerate(data.totals):
            fig.beside(ax, index, f"{total:,}", color=MUTED)
        notes = "Runs on one instance (right: in all)", "Box: quartiles; dots: numbers that occur"
        fig.describe(ax, data.finding, *notes)
        fig.fit_rows(ax, len(data.algorithms))
    return ax
