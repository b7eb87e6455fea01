"""The figures of a study with looks: test statistics on their way to the boundaries, and what stopped when."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.looked import LookLimits
from ampler.report.figures.colours import ACCENT, CONTRAST, EQUIVALENT, MUTED, UNDECIDED
from ampler.report.figures.labels import WIDEST, pair_labels
from ampler.report.figures.rows import row_height
from ampler.report.figures.style import canvas
from ampler.report.looks import looks_of_analysis
from ampler.stats.sequential import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 60  # rows that can still be told apart on one page
KINDS: dict[Verdict, tuple[str, str, str]] = {  # colour, mark and name of each verdict
    "different": (ACCENT, "D", "Different"),
    "no relevant difference": (EQUIVALENT, "s", "Not relevant"),
    "undecided": (UNDECIDED, "o", "Undecided"),
    "continue": (MUTED, ">", "Goes on"),
}


@dataclass(frozen=True, slots=True)
class LookPaths:
    """The statistics of all comparisons at each look, with what they had to reach."""

    instances: tuple[int, ...]  # of all looks
    limits: tuple[LookLimits, ...]
    paths: tuple[tuple[float, ...], ...]  # of each comparison, up to the look at which it stopped
    verdicts: tuple[Verdict, ...]
    statistic: str  # "t" or "z"
    sides: int


@dataclass(frozen=True, slots=True)
class LookStops:
    """How many instances each comparison took until it stopped.

    Those found different come first.
    """

    labels: tuple[str, ...]
    instances: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    looks: tuple[int, ...]
    left_out: int  # comparisons that are not shown


def look_paths_data(analysis: Analysis) -> LookPaths:
    """Return how the test statistics went, look by look."""
    looked = looks_of_analysis(analysis)
    columns = zip(*looked.statistics, strict=True)
    return LookPaths(
        instances=looked.course.looks,
        limits=looked.limits,
        paths=tuple(tuple(each for each in column if not math.isnan(each)) for column in columns),
        verdicts=tuple(each.verdict for each in looked.standings),
        statistic="t" if looked.course.test == "t" else "z",
        sides=looked.course.sides,
    )


def look_stops_data(analysis: Analysis, *, most: int = MOST, widest: int = WIDEST) -> LookStops:
    """Return when each comparison stopped, the first `most` of them."""
    looked = looks_of_analysis(analysis)
    shown = [(each.first, each.second) for each in analysis.comparisons[:most]]
    standings = [looked.standing(pair) for pair in shown]
    return LookStops(
        labels=pair_labels(analysis, shown, widest),
        instances=tuple(each.instances for each in standings),
        verdicts=tuple(each.verdict for each in standings),
        looks=looked.course.looks,
        left_out=len(analysis.comparisons) - len(shown),
    )


def draw_look_paths(data: LookPaths, ax: Axes | None = None) -> Axes:
    """Draw the statistics against the instances; beyond the upper lines a comparison differs, in the band it does not.

    The upper boundary is that of the strictest level, the lower one that of alpha itself.
    """
    with canvas(ax, height=2.8) as ax:
        _draw_limits(ax, data)
        for verdict, (color, marker, name) in KINDS.items():
            chosen = [path for path, each in zip(data.paths, data.verdicts, strict=True) if each == verdict]
            for place, path in enumerate(chosen):
                where = data.instances[: len(path)]
                heights = np.clip(path, -_highest(data), _highest(data))
                ax.plot(where, heights, color=color, linewidth=0.8, alpha=0.7)
                ax.plot(where[-1:], heights[-1:], color=color, marker=marker, label=name if place == 0 else None)
        ax.set_xticks(data.instances)
        ax.set_xlabel("Instances", loc="right")
        ax.set_ylabel(f"{data.statistic} at each look")
        _legend(ax)
    return ax


def draw_look_stops(data: LookStops, ax: Axes | None = None) -> Axes:
    """Draw how far each comparison went: the mark at its end says how it was decided."""
    with canvas(ax, height=row_height(len(data.labels), top=0.3, labels=data.labels)) as ax:
        for look in data.looks:
            ax.axvline(look, color=MUTED, linewidth=0.6, linestyle=(0, (1.2, 1.2)))
        for verdict, (color, marker, name) in KINDS.items():
            places = [place for place, each in enumerate(data.verdicts) if each == verdict]
            if places:
                ends = [data.instances[place] for place in places]
                ax.hlines(places, 0, ends, color=color, linewidth=1.4)
                ax.plot(ends, places, linestyle="none", marker=marker, color=color, markersize=3.4, label=name)
        ax.set_yticks(range(len(data.labels)), data.labels)
        ax.set_ylim(len(data.labels) - 0.4, -0.6)
        ax.set_xlim(0, 1.03 * data.looks[-1])
        ax.set_xticks([0, *data.looks])
        ax.grid(axis="y", visible=False)
        more = f"\n{data.left_out} more comparisons are not shown" if data.left_out else ""
        ax.set_xlabel(f"Instances until it stopped{more}", loc="right")
        _legend(ax, columns=2)  # names take their room on the left
    return ax


def _legend(ax: Axes, columns: int = 4) -> None:
    """The verdicts, side by side above the axes."""
    room = {"borderpad": 0.0, "borderaxespad": 0.2, "columnspacing": 1.0, "handlelength": 1.2, "handletextpad": 0.5}
    ax.legend(loc="lower left", bbox_to_anchor=(-0.05, 1.0), ncols=columns, **room)


def _draw_limits(ax: Axes, data: LookPaths) -> None:
    far = _highest(data)
    strictest, mildest, equivalent = (
        np.array([getattr(each, name) for each in data.limits]) for name in ("strictest", "mildest", "equivalent")
    )
    if not np.isnan(equivalent).all():
        same = np.nan_to_num(equivalent, nan=0.0)
        ax.fill_between(data.instances, -same, same, color=EQUIVALENT, alpha=0.15, linewidth=0)
    for side in (1, -1) if data.sides == 2 else (1,):
        for limit, style in ((strictest, "-"), (mildest, (0, (5, 1.6)))):
            ax.plot(data.instances, side * np.minimum(limit, far), color=CONTRAST, linewidth=1.0, linestyle=style)
    ax.axhline(0.0, color=MUTED, linewidth=0.6)
    ax.set_ylim(-1.05 * far, 1.05 * far)


def _highest(data: LookPaths) -> float:
    """How far the axis goes: beyond the boundaries, and not to statistics that dwarf them."""
    limits = [each.strictest for each in data.limits if math.isfinite(each.strictest)]
    return 1.5 * max(limits, default=3.0)
