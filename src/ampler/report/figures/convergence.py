"""The figure of convergence: how the standard errors of one instance fall as runs are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.blocks import gather, leading_runs, summarise
from ampler.core.arrays import Floats
from ampler.core.errors import InvalidInput
from ampler.core.runs import on_instances
from ampler.report.figures.colours import BLUE, GREY, INK
from ampler.report.figures.labels import WIDEST, instance_labels, pair_labels
from ampler.report.figures.numbers import compact, unit_of, write_in_unit
from ampler.report.figures.profile import recorded_runs
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain
from ampler.stats.contrasts import contrasts_of
from ampler.stats.summaries import is_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST = 2  # runs from which on there is a standard error
LINES, WITHIN = 60, 0.9  # lines that can be told apart; share of the pairs in the band of more
MOST_STEPS = 60  # numbers of runs at which errors are computed


@dataclass(frozen=True, slots=True, eq=False)
class ConvergenceData:
    """The standard error of every pair (columns) after so many runs of each algorithm (rows), on one instance.

    An algorithm that was run less often keeps what it has.
    """

    instance: str  # label
    pairs: tuple[str, ...]  # labels
    runs: tuple[int, ...]
    errors: Floats  # NaN: not known
    wanted: float | None  # se
    difference: str

    @property
    def largest(self) -> Floats:
        """The largest error of all pairs after so many runs."""
        known = np.isfinite(self.errors)
        return np.where(known.any(axis=1), np.where(known, self.errors, -np.inf).max(axis=1), np.nan)

    @property
    def finding(self) -> str:
        """Whether, and when, the accuracy that is wanted was reached."""
        largest = self.largest
        shown = compact((100 if self.difference in ("percent", "points") else 1) * float(largest[-1]), 3)
        unit = " %" if self.difference == "percent" else ""
        if self.wanted is None:
            return f"{self.instance}: the largest standard error falls to {shown}{unit}"
        if not largest[-1] <= self.wanted:
            return f"{self.instance}: not as accurate as wanted after {self.runs[-1]} runs"
        above = np.flatnonzero(~(largest <= self.wanted))
        reached = self.runs[int(above[-1]) + 1] if above.size else self.runs[0]
        return f"{self.instance}: as accurate as wanted from {reached} runs of each on"


def convergence_data(analysis: Analysis, instance: str | None = None, *, widest: int = WIDEST) -> ConvergenceData:
    """Return how the standard errors fell on an instance, by default the one with the largest error at the end."""
    runs, settings = recorded_runs(analysis), analysis.settings
    if runs.shared is not None:
        raise InvalidInput("runs that were paired one by one have no errors of first runs to draw")
    if not is_named(settings.statistic_name):
        raise InvalidInput(f"the errors of first runs are drawn for statistics with a name, got {settings.statistic!r}")
    names = [row.instance for row in analysis.accuracy]
    instance = instance if instance is not None else names[_least_known(analysis)]
    if instance not in names:
        raise InvalidInput(f"the instance must be one that is used, such as {names[0]!r}, got {instance!r}")
    contrasts = contrasts_of(
        runs.algorithms, difference=settings.difference, reference=settings.reference, formula=settings.formula
    )
    cells = gather(on_instances(runs, {instance}), settings.failures)
    steps = _steps(int(cells.counts.max()))
    errors = [summarise(leading_runs(cells, most), settings.statistic).errors(contrasts)[0] for most in steps]
    return ConvergenceData(
        instance=instance_labels(analysis, widest)[names.index(instance)],
        pairs=pair_labels(analysis, analysis.pairs, widest),
        runs=steps,
        errors=np.array(errors),
        wanted=settings.se,
        difference=unit_of(analysis),
    )


def draw_convergence(data: ConvergenceData, ax: Axes | None = None) -> Axes:
    """Draw the errors of all pairs over the runs: thin lines, the largest of all thick, what is wanted dashed."""
    with canvas(ax, height=2.5) as ax:
        _draw_pairs(ax, data)
        ax.plot(data.runs, data.largest, color=BLUE, linewidth=1.8)
        if data.wanted is not None:
            ax.axhline(data.wanted, color=INK, linestyle="--", linewidth=0.9)
        ax.set_xlim(data.runs[0], data.runs[-1] if len(data.runs) > 1 else data.runs[0] + 1)
        ax.set_ylim(0, None)
        ax.set_ylabel("Standard error")
        write_in_unit(ax.yaxis, "simple" if data.difference == "ratio" else data.difference)
        wanted = "; dashed: wanted" if data.wanted is not None else ""
        entitle(ax, data.finding)
        several = f"Thick: largest of {len(data.pairs)} pairs{wanted}"
        shaded = f"Shaded: {100 * WITHIN:g} % of them" if _are_many(data) else ""
        explain(ax, "Runs of each algorithm", several if len(data.pairs) > 1 else wanted[2:].capitalize(), shaded)
        ax.locator_params(axis="x", integer=True)
    return ax


def _draw_pairs(ax: Axes, data: ConvergenceData) -> None:
    """A thin line for each pair; more than can be told apart become a band."""
    if not _are_many(data):
        ax.plot(data.runs, data.errors, color=GREY, linewidth=0.7, alpha=0.7)
        return
    known = np.isfinite(data.errors).all(axis=0)
    low, middle, high = np.quantile(data.errors[:, known], [(1 - WITHIN) / 2, 0.5, (1 + WITHIN) / 2], axis=1)
    ax.fill_between(data.runs, low, high, color=GREY, alpha=0.25, linewidth=0)
    ax.plot(data.runs, middle, color=GREY, linewidth=0.9)


def _are_many(data: ConvergenceData) -> bool:
    return len(data.pairs) > LINES and bool(np.isfinite(data.errors).all(axis=0).any())


def _least_known(analysis: Analysis) -> int:
    errors = [-1.0 if np.isnan(row.error) else row.error for row in analysis.accuracy]
    return int(np.argmax(errors))


def _steps(most: int) -> tuple[int, ...]:
    """The numbers of runs at which errors are shown: all, or evenly spread ones with the first and the last."""
    if most < FIRST:
        raise InvalidInput("the errors of an instance need two runs or more of an algorithm, got one of each")
    found = np.unique(np.linspace(FIRST, most, min(MOST_STEPS, most - FIRST + 1)).round().astype(int))
    return tuple(found.tolist())
