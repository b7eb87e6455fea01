"""Performance profiles: the share of instances, or of runs, that each algorithm brings near the best that was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ampler.analysis import Analysis
from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.checks import choice
from ampler.core.errors import InvalidInput
from ampler.core.runs import Runs
from ampler.report.figures.labels import first_of, labels
from ampler.report.figures.numbers import compact, size_text
from ampler.report.figures.steps import Staircase, draw_steps
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ProfileOf = Literal["instances", "runs"]

WIDEST = 16  # characters of a name beside its line
MOST = 8  # curves that can be told apart
DWARFS = 10.0  # times the median distance: an end beyond this would press most steps together
FARTHEST = 0.02  # of the area that the last part of a curve may hold before the axis ends


@dataclass(frozen=True, slots=True, eq=False)
class ProfileData:
    """How far each algorithm is from the best that was seen: sorted distances, infinite where there is no value.

    Distances are ratios where all values are positive, else differences.
    """

    algorithms: tuple[str, ...]  # labels
    distances: tuple[Floats, ...]  # of each algorithm, smallest first: 1 or 0 is the best
    of: ProfileOf
    is_ratio: bool

    def share(self, algorithm: int, distance: float) -> float:
        """Return the share that an algorithm brings within a distance of the best."""
        found = self.distances[algorithm]
        return float(np.searchsorted(found, distance, side="right")) / len(found)

    def leading(self, most: int) -> list[int]:
        """Return the algorithms that are nearest to the best, at most so many, in their order."""
        reach = [float(np.minimum(found, _end(self)).mean()) for found in self.distances]
        return sorted(sorted(range(len(reach)), key=reach.__getitem__)[:most])

    @property
    def best(self) -> float:
        """The distance of the best itself."""
        return 1.0 if self.is_ratio else 0.0

    @property
    def finding(self) -> str:
        """Who is most often the best."""
        shares = [self.share(k, self.best) for k in range(len(self.algorithms))]
        (most, *others), names = first_of(self.algorithms, shares)
        what = "instances" if self.of == "instances" else "runs"
        if self.of == "instances":
            word = "are each best on" if others else "is best on"
        else:
            word = "each reach the best seen in" if others else "reaches the best seen in"
        return f"{names} {word} {size_text(shares[most], 'percent', 0)} of {what}"


def profile_data(analysis: Analysis, *, of: ProfileOf = "instances", widest: int = WIDEST) -> ProfileData:
    """Return the performance profile of each algorithm (Dolan & Moré 2002).

    The value of an algorithm on an instance is set beside the best of all algorithms there; with `of="runs"` every run
    beside the best run of all, which shows how often each target is reached. What has no value is never near.
    """
    choice("of", of, ("instances", "runs"), "it says what is counted")
    lower = analysis.settings.better == "lower"
    values, instance, algorithm = _instances(analysis) if of == "instances" else _runs(analysis)
    known = np.isfinite(values)
    worst = np.inf if lower else -np.inf
    best = np.full(int(instance.max()) + 1, worst)
    (np.minimum if lower else np.maximum).at(best, instance[known], values[known])
    is_ratio = bool((values[known] > 0).all())
    distance = _distances(values, best[instance], known, is_ratio=is_ratio, lower=lower)
    names = [row.algorithm for row in analysis.algorithms]
    return ProfileData(
        algorithms=labels(names, widest),
        distances=tuple(np.sort(distance[algorithm == k]) for k in range(len(names))),
        of=of,
        is_ratio=is_ratio,
    )


def draw_profile(data: ProfileData, ax: Axes | None = None, *, most: int = MOST) -> Axes:
    """Draw the share that each algorithm brings within a distance of the best; higher is better.

    Where there are many algorithms, the `most` that are nearest to the best are drawn.
    """
    with canvas(ax, height=2.7) as ax:
        end = _end(data)
        stretched = _stretch(ax, data, end)
        ax.set_xlim(data.best, end)
        shown = data.leading(most)
        draw_steps(ax, [Staircase(data.algorithms[k], data.distances[k]) for k in shown], end=end)
        ax.set_ylim(0, 1.02)
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        ax.set_ylabel(f"Share of {data.of}")
        words = "value / best seen" if data.is_ratio else "value − best seen"
        entitle(ax, data.finding)
        scale = "The axis is logarithmic further out" if stretched else ""
        more = f"{len(data.algorithms) - len(shown)} more are not shown" if len(shown) < len(data.algorithms) else ""
        explain(ax, f"Distance: {words}", scale, "Higher is better; left: who is best", more)
    return ax


def _instances(analysis: Analysis) -> tuple[Floats, Codes, Codes]:
    """The statistic of each algorithm on each instance, without value where none of its runs gave one."""
    values = np.where(solved_cells(analysis), analysis.statistics, np.nan)
    instance, algorithm = np.indices(values.shape)
    return values.ravel(), instance.ravel(), algorithm.ravel()


def solved_cells(analysis: Analysis) -> Bools:
    """Return which algorithms gave a value on which instances; all that have a statistic, where runs are not kept."""
    there: Bools = np.isfinite(analysis.statistics)
    runs = analysis.recorded
    if runs is None or runs.ok.all():
        return there
    place = {row.instance: k for k, row in enumerate(analysis.accuracy)}
    rows = np.array([place.get(name, -1) for name in runs.instances])[runs.instance]
    found = np.zeros_like(there)
    chosen = runs.ok & (rows >= 0)
    found[rows[chosen], runs.algorithm[chosen]] = True
    return there & found


def recorded_runs(analysis: Analysis) -> Runs:
    """Return the runs of an analysis; InvalidInput where it does not keep them."""
    if analysis.recorded is None:
        raise InvalidInput("this figure needs the runs themselves; draw it from what `analyse` returned")
    return analysis.recorded


def _runs(analysis: Analysis) -> tuple[Floats, Codes, Codes]:
    runs = recorded_runs(analysis)
    return np.where(runs.ok, runs.value, np.nan), runs.instance, runs.algorithm


def _distances(values: Floats, best: Floats, known: Bools, *, is_ratio: bool, lower: bool) -> Floats:
    found = np.full(len(values), np.inf)
    value, top = values[known], best[known]
    if is_ratio:
        found[known] = value / top if lower else top / value
    else:
        found[known] = value - top if lower else top - value
    return found


def _end(data: ProfileData) -> float:
    """Where the axis ends: most of the finite distances lie before."""
    found = np.concatenate([each[np.isfinite(each)] for each in data.distances])
    if not found.size:
        return data.best + 1.0
    end = float(np.quantile(found, 1 - FARTHEST))
    return end if end > data.best else max(float(found.max()), data.best + 1.0)


def _stretch(ax: Axes, data: ProfileData, end: float) -> bool:
    """Make the axis logarithmic beyond a typical distance where the farthest would dwarf the others."""
    found = np.concatenate([each[np.isfinite(each)] for each in data.distances]) - data.best
    typical = float(np.median(found[found > 0])) if (found > 0).any() else 0.0
    if not typical or end - data.best <= DWARFS * typical:
        return False
    best = data.best
    ax.set_xscale(
        "function",
        functions=(
            lambda x: np.log1p(np.maximum(np.asarray(x) - best, 0.0) / typical),
            lambda y: best + typical * np.expm1(np.minimum(y, 500.0)),
        ),
    )
    powers = range(int(np.floor(np.log10(typical))), int(np.ceil(np.log10(end - best))) + 1)
    gaps = [step * 10.0**power for power in powers for step in (1, 2, 5) if typical / 2 <= step * 10.0**power]
    gaps = [gap for gap in gaps if gap <= end - best]
    gaps = gaps[:: max(1, -(-len(gaps) // 4))]
    marks = [best, *(gap if data.is_ratio and gap >= 2 else best + gap for gap in gaps)]  # round numbers
    ax.set_xticks(marks, [compact(mark, 3) for mark in marks])
    return True
