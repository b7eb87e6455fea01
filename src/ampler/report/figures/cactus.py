"""The cactus plot of solvers: how many runs give a value within each effort, with solved counts and PAR scores."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Floats
from ampler.core.errors import InvalidInput
from ampler.core.failures import Par
from ampler.core.wording import digits
from ampler.report.figures.labels import first_of, labels
from ampler.report.figures.profile import recorded_runs
from ampler.report.figures.steps import Staircase, draw_steps
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 8  # curves that can be told apart
FACTOR = 10.0  # of PAR10, which is usual
WIDEST = 16  # characters of a name beside its curve
WIDE_SPREAD = 30.0  # largest over smallest value, above which the axis is logarithmic


@dataclass(frozen=True, slots=True, eq=False)
class CactusData:
    """The values of the runs that gave one, sorted, for each algorithm; how many there were; and PAR scores."""

    algorithms: tuple[str, ...]  # labels
    values: tuple[Floats, ...]  # of each algorithm, smallest first
    runs: tuple[int, ...]  # those that failed included
    par: tuple[float, ...]  # mean over runs, failed ones as factor · cutoff; NaN: the cutoff is not known
    factor: float
    cutoff: float | None

    @property
    def solved(self) -> tuple[int, ...]:
        """How many runs of each algorithm gave a value."""
        return tuple(len(values) for values in self.values)

    def within(self, algorithm: int, value: float) -> int:
        """Return how many runs of an algorithm gave a value that is not larger."""
        return int(np.searchsorted(self.values[algorithm], value, side="right"))

    @property
    def finding(self) -> str:
        """Who solves most, and who has the best score."""
        shares = [solved / max(runs, 1) for solved, runs in zip(self.solved, self.runs, strict=True)]
        places, names = first_of(self.algorithms, shares)
        most, verb = places[0], "solves" if len(places) == 1 else "solve"
        words = f"{names} {verb} most: {self.solved[most]:,} of {self.runs[most]:,} runs"
        if any(score != score for score in self.par):
            return words
        (best, *_), names = first_of(self.algorithms, self.par, larger=False)
        return f"{words}; best PAR{self.factor:g}: {names}, {digits(self.par[best])}"


def cactus_data(
    analysis: Analysis, *, factor: float | None = None, cutoff: float | None = None, widest: int = WIDEST
) -> CactusData:
    """Return what each algorithm solves, and within which value (a run time, evaluations): smaller values are better.

    PAR scores take `factor` and `cutoff` from the analysis where failed runs count so; else say the cutoff.
    """
    if analysis.settings.better != "lower":
        raise InvalidInput("a cactus plot is of efforts, of which lower ones are better; draw a profile instead")
    runs, policy = recorded_runs(analysis), analysis.settings.failures
    told = policy if isinstance(policy, Par) else None
    factor = factor or (told.factor if told else FACTOR)
    cutoff = cutoff or (told.cutoff if told else None) or _recorded_cutoff(analysis)
    names = [row.algorithm for row in analysis.algorithms]
    mine = [runs.algorithm == k for k in range(len(names))]
    values = tuple(np.sort(runs.value[own & runs.ok]) for own in mine)
    numbers = tuple(int(own.sum()) for own in mine)
    return CactusData(
        algorithms=labels(names, widest),
        values=values,
        runs=numbers,
        par=tuple(_par(found, number, factor, cutoff) for found, number in zip(values, numbers, strict=True)),
        factor=factor,
        cutoff=cutoff,
    )


def draw_cactus(data: CactusData, ax: Axes | None = None, *, most: int = MOST) -> Axes:
    """Draw how many runs each algorithm solves within each value; higher is better, and its count is at its end.

    Where there are many algorithms, the `most` that solve most are drawn.
    """
    found = np.concatenate(data.values) if any(data.solved) else np.array([1.0])
    low, end = float(found.min()), data.cutoff or float(found.max())
    with canvas(ax, height=2.8) as ax:
        is_wide = low > 0 and end > WIDE_SPREAD * low
        if is_wide:
            ax.set_xscale("log")
        ax.set_xlim(low if is_wide else min(0.0, low), max(end, low + 1e-12 * abs(low) or 1.0))
        shown = sorted(sorted(range(len(data.runs)), key=lambda k: -data.solved[k])[:most])
        names = [f"{data.algorithms[k]} {data.solved[k]:,}" for k in shown]
        draw_steps(
            ax, [Staircase(name, data.values[k], counted=True) for name, k in zip(names, shown, strict=True)], end=end
        )
        ax.set_ylim(0, 1.04 * max(data.runs))
        ax.set_ylabel("Runs solved")
        entitle(ax, data.finding)
        more = f"{len(data.runs) - len(shown)} more are not shown" if len(shown) < len(data.runs) else ""
        explain(ax, "within this value", "" if data.cutoff is None else f"Cutoff: {digits(data.cutoff)}", more)
    return ax


def _recorded_cutoff(analysis: Analysis) -> float | None:
    """The largest value that was recorded of a failed run, which is where solvers are stopped."""
    runs = recorded_runs(analysis)
    failed = runs.value[~runs.ok & np.isfinite(runs.value)]
    return float(failed.max()) if failed.size else None


def _par(values: Floats, runs: int, factor: float, cutoff: float | None) -> float:
    failed = runs - len(values)
    if not runs or (failed and cutoff is None):
        return nan
    return float((values.sum() + failed * factor * (cutoff or 0.0)) / runs)
