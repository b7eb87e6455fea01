"""Figures of planning: sample sizes, powers, a pilot and the runs it planned, interim analyses and their limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.adaptive import pilot_test
from ampler.analysis.interim import InterimLimits
from ampler.analysis.text import finding_sentence
from ampler.core.arrays import Interval
from ampler.core.errors import InvalidData
from ampler.core.settings import Alternative, Target, Test
from ampler.core.verdicts import Finding
from ampler.design import Design, achieved_power, detectable_effect, power_curve, required_instances
from ampler.design.detect import PilotReport
from ampler.report.figures import canvas as fig
from ampler.report.tables import interim_of
from ampler.report.theme import (
    ACCENT,
    BLUE,
    CONTRAST,
    EQUIVALENT,
    GREEN,
    GREY,
    INCONCLUSIVE,
    MUTED,
    ORANGE,
    PAPER,
    SKY,
    VERDICTS,
)
from ampler.stats.holm import Correction
from ampler.stats.sequential.decisions import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SampleSizes", "draw_sample_sizes", "sample_sizes_data"]
__all__ += ["PowerProfiles", "draw_power_profiles", "power_profiles_data"]
__all__ += ["PowerCurve", "draw_power_curve", "power_curve_data"]
__all__ += ["PilotData", "draw_pilot", "pilot_data"]
__all__ += ["SpendingData", "draw_spending", "spending_data"]
__all__ += ["LookPaths", "draw_look_paths", "look_paths_data"]
__all__ += ["LookStops", "draw_look_stops", "look_stops_data"]

PROFILE_LINES = (
    ("best_power", GREEN, "--", "Best"),
    ("mean_power", BLUE, "-", "Mean\nwith N"),
    ("worst_power", ORANGE, ":", "Worst"),
)
CURVE_POINTS = 61
LABEL_WIDTH = 0.3  # inches that one label of a number of instances takes
CURVE_END = 0.995  # the power at which a curve has nothing more to show


@dataclass(frozen=True, slots=True)
class SampleSizes:
    """Instances needed under Bonferroni's and Holm's correction, for each number of comparisons."""

    comparisons: tuple[int, ...]
    bonferroni: tuple[int, ...]
    holm: tuple[int, ...]

    @property
    def finding(self) -> str:
        """State the saving by Holm's procedure for the most comparisons."""
        one, other, count = self.bonferroni[-1], self.holm[-1], self.comparisons[-1]
        return f"Holm needs {other} instances for {count} comparisons, Bonferroni {one}"


@dataclass(frozen=True, slots=True)
class PowerProfiles:
    """Designs for a mean power, one for each number of comparisons, with the power of every single test."""

    designs: tuple[Design, ...]
    powers: tuple[tuple[float, ...], ...]

    @property
    def finding(self) -> str:
        """State the lowest power of a test in a design for a mean power."""
        worst = min(design.worst_power for design in self.designs)
        return f"The worst test keeps a power of {worst:.2f} or more"


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """The power that a number of instances has for effects of every size, and the design to point at."""

    designs: tuple[Design, ...]
    marked: Design

    @property
    def finding(self) -> str:
        """The power for the effect to point at."""
        size = f"N = {self.marked.instances}, K = {self.marked.comparisons}"
        return f"{size}: power {self.marked.power:.3f} for d = {self.marked.effect:.3g}"


class PlannedFor(TypedDict, total=False):
    """Settings of designs, as in `required_instances`; effect 0.5 and power 0.9 by default."""

    effect: float
    power: float
    alpha: float
    alternative: Alternative
    test: Test


PAPERS: PlannedFor = {"effect": 0.5, "power": 0.9}  # Campelo & Wanner (2019), Figures 1 and 2


def sample_sizes_data(*, comparisons: Iterable[int] = range(1, 31), **asked: Unpack[PlannedFor]) -> SampleSizes:
    """Return how many instances each number of comparisons needs (Campelo & Wanner 2019, Figure 1).

    `asked` are effect (0.5), power (0.9), alpha, alternative and test, as in `required_instances`.

    >>> data = sample_sizes_data(comparisons=[1, 15])
    >>> data.bonferroni, data.holm
    ((44, 76), (44, 67))
    """
    counts, planned_for = tuple(comparisons), PAPERS | asked

    def needed(count: int, target: Target, correction: Correction) -> int:
        return required_instances(comparisons=count, target=target, correction=correction, **planned_for).instances

    bonferroni = tuple(needed(count, "worst", "bonferroni") for count in counts)
    return SampleSizes(counts, bonferroni, holm=tuple(needed(count, "mean", "holm") for count in counts))


def draw_sample_sizes(data: SampleSizes, ax: Axes | None = None) -> Axes:
    """Draw the instances needed over the number of comparisons, Bonferroni against Holm."""
    with fig.canvas(ax) as ax:
        ax.plot(data.comparisons, data.bonferroni, color=ORANGE, marker="s", linestyle="--", label="Bonferroni")
        ax.plot(data.comparisons, data.holm, color=BLUE, marker="o", label="Holm, mean power")
        ax.set(xlabel="Comparisons, K", ylabel="Instances needed, N")
        _count_in_whole_numbers(ax)
        middle = len(data.comparisons) // 2
        _name_line(ax, (data.comparisons[middle], data.bonferroni[middle]), "Bonferroni", ORANGE, (-4, 8))
        _name_line(ax, (data.comparisons[middle], data.holm[middle]), "Holm, mean power", BLUE, (4, -14))
        fig.describe(ax, data.finding)
    return ax


def power_profiles_data(*, comparisons: Iterable[int] = range(1, 31), **asked: Unpack[PlannedFor]) -> PowerProfiles:
    """Return the powers of all tests in designs for a mean power (Campelo & Wanner 2019, Figure 2).

    `asked` are effect (0.5), power (0.9), alpha, alternative and test, as in `required_instances`.

    >>> [round(power, 3) for power in power_profiles_data(comparisons=[3]).powers[0]]
    [0.866, 0.899, 0.943]
    """
    designs = tuple(required_instances(comparisons=count, **(PAPERS | asked)) for count in comparisons)
    return PowerProfiles(designs=designs, powers=tuple(tuple(design.powers.tolist()) for design in designs))


def draw_power_profiles(data: PowerProfiles, ax: Axes | None = None) -> Axes:
    """Draw the power of every test, with the best, mean and worst of each design and its number of instances."""
    from matplotlib.patheffects import withStroke

    counts = [design.comparisons for design in data.designs]
    with fig.canvas(ax) as ax:
        for count, powers in zip(counts, data.powers, strict=True):
            ax.plot([count] * len(powers), powers, ".", color=GREY, alpha=0.6, markersize=2.5, markeredgewidth=0)
        for name, color, style, label in PROFILE_LINES:
            heights = [getattr(design, name) for design in data.designs]
            ax.plot(counts, heights, color=color, linestyle=style, label=label)
            shift = (5, -9 if style == "-" else 0)  # below the number of instances
            note = ax.annotate(label, (counts[-1], heights[-1]), shift, textcoords="offset points", va="center")
            note.set(color=color, annotation_clip=False)
        every = ceil(len(data.designs) * LABEL_WIDTH / (ax.get_window_extent().width / ax.figure.dpi))
        for design in data.designs[::-every]:  # N above the line of the mean power, as often as space permits
            at = design.comparisons, design.mean_power
            above: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": "small", "color": BLUE}
            stroke = withStroke(linewidth=2, foreground=PAPER)
            ax.annotate(str(design.instances), at, (0, 4), path_effects=[stroke], **above)
        ax.set(xlabel="Comparisons, K", ylabel="Power")
        _count_in_whole_numbers(ax)
        fig.describe(ax, data.finding)
    return ax


def power_curve_data(design: Design, *, effects: Iterable[float] | None = None) -> PowerCurve:
    """Return the power of a design's instances for other effects (Campelo & Wanner 2019, Figure 6).

    Without `effects`, the curve runs from nothing to where every test is all but certain to find the effect.
    """
    names = ("instances", "comparisons", "alpha", "alternative", "test", "correction", "per_cluster", "icc")
    settings: dict[str, Any] = {name: getattr(design, name) for name in names}
    settings["target"] = "mean" if design.target == "simulated" else design.target  # the curve has no simulated powers
    if effects is None:
        certain = detectable_effect(power=CURVE_END, **settings | {"target": "worst"}).effect
        end = max(certain, 1.1 * design.effect)
        effects = [end / 1000, *np.linspace(0, end, CURVE_POINTS)[1:].tolist()]
    marked = achieved_power(effect=design.effect, **settings)
    return PowerCurve(designs=power_curve(effects=effects, **settings), marked=marked)


def draw_power_curve(data: PowerCurve, ax: Axes | None = None) -> Axes:
    """Draw the mean power over the effect, between the worst and the best of the tests."""
    effects, marked = [design.effect for design in data.designs], data.marked
    with fig.canvas(ax) as ax:
        if marked.comparisons > 1:
            worst, best = ([getattr(design, name) for design in data.designs] for name in ("worst_power", "best_power"))
            ax.fill_between(effects, worst, best, color=BLUE, alpha=0.15, linewidth=0, label="Worst to best test")
        ax.plot(effects, [design.mean_power for design in data.designs], color=BLUE, label="Mean power")
        ax.plot([0, marked.effect, marked.effect], [marked.power, marked.power, 0], ":", color=GREY, linewidth=0.8)
        ax.plot([marked.effect], [marked.power], "o", color=ORANGE, markersize=4, zorder=3)
        ax.set(xlabel="Effect, d", ylabel="Power", xlim=(0, max(effects)), ylim=(0, 1.02))
        middle = min(data.designs, key=lambda design: abs(design.mean_power - 0.5))
        _name_line(ax, (middle.effect, middle.mean_power), "Mean power", BLUE, (10, -14))
        is_shaded = marked.comparisons > 1
        fig.describe(ax, data.finding, *(("Effect, d", "Shaded: from the worst test to the best") if is_shaded else ()))
    return ax


def _name_line(ax: Axes, at: tuple[float, float], name: str, color: str, shift: tuple[float, float]) -> None:
    """Write the name of a line next to it, which needs no legend."""
    ax.annotate(name, at, shift, textcoords="offset points", color=color, ha="right" if shift[0] < 0 else "left")


def _count_in_whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


MOST = 60  # rows that can still be distinguished on one page
USUAL = 0.05  # level of the intervals where the pilot's tests decide nothing


@dataclass(frozen=True, slots=True)
class PilotData:
    """The comparisons after the pilot, in the order of pairs: means, intervals at the pilot's levels, verdicts."""

    labels: tuple[str, ...]
    means: tuple[float, ...]
    intervals: tuple[Interval, ...]
    verdicts: tuple[Finding, ...]  # of the first algorithm of each label; inconclusive: not significant in the pilot
    detect: float
    difference: str
    name: str  # of the axis
    instances: int
    left_out: int  # comparisons that are not shown

    @property
    def finding(self) -> str:
        """State the number of comparisons significant at the pilot stage."""
        significant = sum(verdict != "inconclusive" for verdict in self.verdicts)
        return f"{significant} of {len(self.verdicts)} comparisons were significant at the pilot stage"


@dataclass(frozen=True, slots=True)
class SpendingData:
    """The runs of each algorithm: in the pilot, on its instances later, and on the others."""

    algorithms: tuple[str, ...]
    pilot: tuple[int, ...]  # on its instances, at first
    topped_up: tuple[int, ...]  # on its instances, later
    new: tuple[int, ...]  # on the others
    planned: int  # instances
    total: int

    @property
    def finding(self) -> str:
        """State the share of the pilot in the runs."""
        return f"{sum(self.pilot):,} of {self.total:,} runs were the pilot's"


def pilot_data(analysis: Analysis, *, most: int = MOST, widest: int = fig.WIDEST) -> PilotData:
    """Return the results of the pilot, for the first `most` comparisons."""
    course = _course(analysis)
    level = (course.share or USUAL / course.alpha) * course.alpha / len(course.pairs)
    intervals, sign = pilot_test(course).intervals(level)[:most], fig.display_sign(analysis)
    means = tuple(sign * mean for mean in course.means[:most])
    ahead = [(mean < 0) == (analysis.settings.better == "lower") for mean in means]
    return PilotData(
        labels=fig.pair_labels(analysis, course.pairs[:most], widest),
        means=means,
        intervals=tuple((low, high) if sign > 0 else (-high, -low) for low, high in intervals.tolist()),
        verdicts=tuple(
            ("better" if leads else "worse") if clear else "inconclusive"
            for leads, clear in zip(ahead, course.clear[:most], strict=True)
        ),
        detect=course.detect,
        difference=course.difference,
        name=fig.difference_name(analysis),
        instances=course.pilot,
        left_out=len(course.pairs) - len(intervals),
    )


def spending_data(analysis: Analysis, *, widest: int = fig.WIDEST) -> SpendingData:
    """Return the distribution of the runs of a study with an internal pilot."""
    course = _course(analysis)
    names = [row.algorithm for row in analysis.algorithms]
    counts = np.array([row.runs for row in analysis.accuracy], np.int64)
    first = np.array([row.instance in set(course.instances) for row in analysis.accuracy])
    of_pilot = np.minimum(counts[first], course.start)
    return SpendingData(
        algorithms=fig.labels(names, widest),
        pilot=tuple(of_pilot.sum(axis=0).tolist()),
        topped_up=tuple((counts[first] - of_pilot).sum(axis=0).tolist()),
        new=tuple(counts[~first].sum(axis=0).tolist()),
        planned=course.planned,
        total=int(counts.sum()),
    )


def draw_pilot(data: PilotData, ax: Axes | None = None) -> Axes:
    """Draw the means of the pilot with intervals and verdicts; the band has irrelevant differences."""
    with fig.canvas(ax) as ax:
        ax.axvspan(-data.detect, data.detect, color=GREY, alpha=0.15, linewidth=0)
        ax.axvline(0.0, color=MUTED, linewidth=0.9)
        finite = [abs(end) for interval in data.intervals for end in interval if np.isfinite(end)]
        far = 1.1 * max([*finite, data.detect, *map(abs, data.means)])  # where open intervals are cut
        for verdict in dict.fromkeys(data.verdicts):
            color, marker = VERDICTS[verdict]
            places = [index for index, own in enumerate(data.verdicts) if own == verdict]
            lows, highs = np.clip([data.intervals[index] for index in places], -far, far).reshape(-1, 2).T
            ax.hlines(places, lows, highs, color=color, linewidth=1.4)
            means = [data.means[index] for index in places]
            ax.plot(means, places, linestyle="none", marker=marker, color=color, markersize=4.4)
        fig.lay_rows(ax, data.labels)
        fig.write_in_unit(ax.xaxis, data.difference)
        fig.describe(ax, data.finding, data.name, f"after {data.instances} instances", fig.not_shown(data.left_out))
        fig.fit_rows(ax, len(data.labels), labels=data.labels)
    return ax


SPENDING = ("Pilot", GREY, ""), ("Added there", SKY, "////"), ("Other", BLUE, "")  # name, colour and hatch of runs


def draw_spending(data: SpendingData, ax: Axes | None = None) -> Axes:
    """Draw the runs of each algorithm as a bar: in the pilot, added on its instances, and on others."""
    with fig.canvas(ax) as ax:
        left = np.zeros(len(data.algorithms))
        for part, (name, color, hatch) in zip((data.pilot, data.topped_up, data.new), SPENDING, strict=True):
            bars = ax.barh(range(len(left)), part, left=left, height=0.62, label=name)
            for bar in bars:
                bar.set(facecolor=color, hatch=hatch, edgecolor=PAPER, linewidth=0)
            left = left + np.array(part)
        fig.lay_rows(ax, data.algorithms)
        fig.describe(ax, data.finding, f"Runs on {data.planned} instances")
        fig.legend_above(ax, columns=3)
        fig.fit_rows(ax, len(data.algorithms), above=0.25)
    return ax


def _course(analysis: Analysis) -> PilotReport:
    if analysis.course is None:
        raise InvalidData("this figure is of a study that found its own size (detect), and the analysis is of another")
    return analysis.course


# interim analyses -------------------------------------------------------------------------------------------------

MAX_NAMED = 6  # paths that have their names
KINDS: dict[Verdict, tuple[str, str, str]] = {  # colour, mark and name of each verdict
    "different": (ACCENT, "D", "Significant"),
    "no relevant difference": (EQUIVALENT, "s", "Equivalent"),
    "undecided": (INCONCLUSIVE, "o", "Inconclusive"),
    "continue": (MUTED, ">", "Continuing"),
}


@dataclass(frozen=True, slots=True)
class LookPaths:
    """Statistics of all comparisons at each interim analysis, with their boundaries."""

    instances: tuple[int, ...]  # of all looks
    limits: tuple[InterimLimits, ...]
    paths: tuple[tuple[float, ...], ...]  # of each comparison, up to the look at which it stopped
    verdicts: tuple[Verdict, ...]
    statistic: str  # "t" or "z"
    sides: int
    labels: tuple[str, ...] = ()  # of the comparisons
    finding: str = ""


@dataclass(frozen=True, slots=True)
class LookStops:
    """Instances of each comparison until it stopped.

    Those found different come first.
    """

    labels: tuple[str, ...]
    instances: tuple[int, ...]
    verdicts: tuple[Verdict, ...]
    looks: tuple[int, ...]
    left_out: int  # comparisons that are not shown
    finding: str = ""


def look_paths_data(analysis: Analysis) -> LookPaths:
    """Return the test statistics at each interim analysis."""
    interim = interim_of(analysis)
    columns = np.transpose(interim.statistics)
    return LookPaths(
        instances=interim.course.looks,
        limits=interim.limits,
        paths=tuple(tuple(column[~np.isnan(column)].tolist()) for column in columns),
        verdicts=tuple(standing.verdict for standing in interim.standings),
        statistic="t" if interim.course.test == "t" else "z",
        sides=interim.course.sides,
        labels=fig.pair_labels(analysis, interim.pairs, fig.WIDEST),
        finding=fig.in_short(finding_sentence(analysis).removesuffix("."), analysis),
    )


def look_stops_data(analysis: Analysis, *, most: int = MOST, widest: int = fig.WIDEST) -> LookStops:
    """Return when each comparison stopped, the first `most` of them."""
    interim = interim_of(analysis)
    pairs = [(comparison.first, comparison.second) for comparison in analysis.comparisons[:most]]
    standings = [interim.standing(pair) for pair in pairs]
    return LookStops(
        labels=fig.pair_labels(analysis, pairs, widest),
        instances=tuple(standing.instances for standing in standings),
        verdicts=tuple(standing.verdict for standing in standings),
        looks=interim.course.looks,
        left_out=len(analysis.comparisons) - len(pairs),
        finding=fig.in_short(finding_sentence(analysis).removesuffix("."), analysis),
    )


def draw_look_paths(data: LookPaths, ax: Axes | None = None) -> Axes:
    """Draw the statistics against the instances; beyond the upper lines a comparison differs, in the band it does not.

    The upper boundary is that of the strictest level, the lower one that of alpha itself.
    """
    finite = [limit.strictest for limit in data.limits if math.isfinite(limit.strictest)]
    far = 1.5 * max(finite, default=3.0)  # beyond the boundaries, and not to statistics that dwarf them
    with fig.canvas(ax, height=2.8) as ax:
        limits = np.array([(limit.strictest, limit.mildest, limit.equivalent) for limit in data.limits])
        strictest, mildest, equivalent = limits.T
        if not np.isnan(equivalent).all():
            same = np.nan_to_num(equivalent, nan=0.0)
            ax.fill_between(data.instances, -same, same, color=EQUIVALENT, alpha=0.15, linewidth=0)
        for side in (1, -1) if data.sides == 2 else (1,):
            for limit, line in ((strictest, "-"), (mildest, (0, (5, 1.6)))):
                ax.plot(data.instances, side * np.minimum(limit, far), color=CONTRAST, linewidth=1.0, linestyle=line)
        ax.axhline(0.0, color=MUTED, linewidth=0.6)
        ax.set_ylim(-1.05 * far, 1.05 * far)
        for verdict, (color, marker, name) in KINDS.items():
            paths = [path for path, own in zip(data.paths, data.verdicts, strict=True) if own == verdict]
            for index, path in enumerate(paths):
                instances, heights = data.instances[: len(path)], np.clip(path, -far, far)
                ax.plot(instances, heights, color=color, linewidth=0.8, alpha=0.7)
                ax.plot(instances[-1:], heights[-1:], color=color, marker=marker, label=None if index else name)
        for label, path in zip(data.labels if len(data.paths) <= MAX_NAMED else (), data.paths, strict=False):
            if path:
                at = data.instances[len(path) - 1], float(np.clip(path[-1], -far, far))
                shift = {"ha": "right", "xytext": (-4, 4)} if at[0] == data.instances[-1] else {"xytext": (4, 4)}
                ax.annotate(label, at, textcoords="offset points", **shift)
        ax.set_xticks(data.instances)
        ax.set_xlabel("Instances", loc="right")
        ax.set_ylabel(f"{data.statistic} at each interim analysis")
        fig.describe(ax, data.finding)
        fig.legend_above(ax, columns=2)
    return ax


def draw_look_stops(data: LookStops, ax: Axes | None = None) -> Axes:
    """Draw the instances of each comparison until it stopped, with a mark for its verdict."""
    with fig.canvas(ax, height=fig.row_height(len(data.labels), top=0.9, labels=data.labels)) as ax:
        for look in data.looks:
            ax.axvline(look, color=MUTED, linewidth=0.6, linestyle=(0, (1.2, 1.2)))
        for verdict, (color, marker, name) in KINDS.items():
            places = [index for index, own in enumerate(data.verdicts) if own == verdict]
            if places:
                ends = [data.instances[index] for index in places]
                ax.hlines(places, 0, ends, color=color, linewidth=1.4)
                ax.plot(ends, places, linestyle="none", marker=marker, color=color, markersize=3.4, label=name)
        ax.set_yticks(range(len(data.labels)), data.labels)
        ax.set_ylim(len(data.labels) - 0.4, -0.6)
        ax.grid(axis="y", visible=False)
        ax.set(xlim=(0, 1.03 * data.looks[-1]), xticks=[0, *data.looks])
        ax.set_xlabel(f"Instances until it stopped\n{fig.not_shown(data.left_out)}".strip(), loc="right")
        fig.describe(ax, data.finding)
        fig.legend_above(ax, columns=2)  # names take their room on the left
    return ax
