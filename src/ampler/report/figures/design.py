"""Figures of designs: instances over comparisons, the powers behind Holm's procedure, the power curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from ampler.core.choices import Alternative, Target, Test
from ampler.design import Design, achieved_power, detectable_effect, power_curve, required_instances
from ampler.report.figures.colours import BLUE, GREEN, GREY, ORANGE, PAPER
from ampler.report.figures.style import canvas
from ampler.report.figures.titles import entitle, explain
from ampler.stats.holm import Correction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        """What Holm's procedure saves where there are most comparisons."""
        one, other, count = self.bonferroni[-1], self.holm[-1], self.comparisons[-1]
        return f"Holm needs {other} instances for {count} comparisons, Bonferroni {one}"


@dataclass(frozen=True, slots=True)
class PowerProfiles:
    """Designs for a mean power, one for each number of comparisons, with the power of every single test."""

    designs: tuple[Design, ...]
    powers: tuple[tuple[float, ...], ...]

    @property
    def finding(self) -> str:
        """How low the worst test may fall in a design for a mean power."""
        worst = min(design.worst_power for design in self.designs)
        return f"The worst test keeps a power of {worst:.2f} or more"


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """The power that a number of instances has for effects of every size, and the design to point at."""

    designs: tuple[Design, ...]
    marked: Design


class PlannedFor(TypedDict, total=False):
    """What designs are made for, as `required_instances` takes it; effect 0.5 and power 0.9 if not said."""

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

    return SampleSizes(
        comparisons=counts,
        bonferroni=tuple(needed(count, "worst", "bonferroni") for count in counts),
        holm=tuple(needed(count, "mean", "holm") for count in counts),
    )


def draw_sample_sizes(data: SampleSizes, ax: Axes | None = None) -> Axes:
    """Draw the instances needed over the number of comparisons, Bonferroni against Holm."""
    with canvas(ax) as ax:
        ax.plot(data.comparisons, data.bonferroni, color=ORANGE, marker="s", linestyle="--", label="Bonferroni")
        ax.plot(data.comparisons, data.holm, color=BLUE, marker="o", label="Holm, mean power")
        ax.set_xlabel("Comparisons, K")
        ax.set_ylabel("Instances needed, N")
        _count_in_whole_numbers(ax)
        middle = len(data.comparisons) // 2
        _name_line(ax, (data.comparisons[middle], data.bonferroni[middle]), "Bonferroni", ORANGE, (-4, 8))
        _name_line(ax, (data.comparisons[middle], data.holm[middle]), "Holm, mean power", BLUE, (4, -14))
        entitle(ax, data.finding)
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
    counts = [design.comparisons for design in data.designs]
    with canvas(ax) as ax:
        for count, powers in zip(counts, data.powers, strict=True):
            ax.plot([count] * len(powers), powers, ".", color=GREY, alpha=0.6, markersize=2.5, markeredgewidth=0)
        for name, color, style, label in PROFILE_LINES:
            heights = [getattr(design, name) for design in data.designs]
            ax.plot(counts, heights, color=color, linestyle=style, label=label)
            shift = (5, -9 if style == "-" else 0)  # below the number of instances
            words = ax.annotate(label, (counts[-1], heights[-1]), shift, textcoords="offset points", va="center")
            words.set(color=color, annotation_clip=False)
        _label_instances(ax, data)
        ax.set_xlabel("Comparisons, K")
        ax.set_ylabel("Power")
        _count_in_whole_numbers(ax)
        entitle(ax, data.finding)
    return ax


def power_curve_data(design: Design, *, effects: Iterable[float] | None = None) -> PowerCurve:
    """Return the power of a design's instances for other effects (Campelo & Wanner 2019, Figure 6).

    Without `effects`, the curve runs from nothing to where every test is all but certain to find the effect.
    """
    settings = _settings(design)
    if effects is None:
        effects = _effects_to_certainty(design, settings)
    return PowerCurve(
        designs=power_curve(effects=effects, **settings), marked=achieved_power(effect=design.effect, **settings)
    )


def draw_power_curve(data: PowerCurve, ax: Axes | None = None) -> Axes:
    """Draw the mean power over the effect, between the worst and the best of the tests."""
    effects = [design.effect for design in data.designs]
    with canvas(ax) as ax:
        if data.marked.comparisons > 1:
            worst, best = ([getattr(design, name) for design in data.designs] for name in ("worst_power", "best_power"))
            ax.fill_between(effects, worst, best, color=BLUE, alpha=0.15, linewidth=0, label="Worst to best test")
        ax.plot(effects, [design.mean_power for design in data.designs], color=BLUE, label="Mean power")
        _point_at(ax, data.marked)
        ax.set_xlabel("Effect, d")
        ax.set_ylabel("Power")
        ax.set_xlim(0, max(effects))
        ax.set_ylim(0, 1.02)
        middle = min(data.designs, key=lambda design: abs(design.mean_power - 0.5))
        _name_line(ax, (middle.effect, middle.mean_power), "Mean power", BLUE, (10, -14))
        if data.marked.comparisons > 1:
            explain(ax, "Effect, d", "Shaded: from the worst test to the best")
    return ax


def _name_line(ax: Axes, at: tuple[float, float], name: str, color: str, shift: tuple[float, float]) -> None:
    """Write the name of a line beside it, which needs no legend."""
    ax.annotate(name, at, shift, textcoords="offset points", color=color, ha="right" if shift[0] < 0 else "left")


def _settings(design: Design) -> dict[str, Any]:
    """What stays the same along a power curve."""
    return {
        "instances": design.instances,
        "comparisons": design.comparisons,
        "alpha": design.alpha,
        "target": "mean" if design.target == "simulated" else design.target,  # a curve is drawn, not simulated
        "alternative": design.alternative,
        "test": design.test,
        "correction": design.correction,
    }


def _effects_to_certainty(design: Design, settings: dict[str, Any]) -> list[float]:
    certain = detectable_effect(power=CURVE_END, **settings | {"target": "worst"}).effect
    end = max(certain, 1.1 * design.effect)
    return [end / 1000, *np.linspace(0, end, CURVE_POINTS)[1:].tolist()]


def _count_in_whole_numbers(ax: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))


def _label_instances(ax: Axes, data: PowerProfiles) -> None:
    """Write N above the line of the mean power, as often as there is room for it."""
    from matplotlib.patheffects import withStroke

    room = ax.get_window_extent().width / ax.figure.dpi / LABEL_WIDTH
    every = ceil(len(data.designs) / room)
    for design in data.designs[::-every]:
        at = (design.comparisons, design.mean_power)
        words = ax.annotate(
            str(design.instances), at, (0, 4), textcoords="offset points", ha="center", fontsize="small"
        )
        words.set(color=BLUE, path_effects=[withStroke(linewidth=2, foreground=PAPER)])


def _point_at(ax: Axes, design: Design) -> None:
    """Mark a design by lines to both axes, and write above what it is."""
    ax.plot([0, design.effect, design.effect], [design.power, design.power, 0], ":", color=GREY, linewidth=0.8)
    ax.plot([design.effect], [design.power], "o", color=ORANGE, markersize=4, zorder=3)
    words = f"N = {design.instances}, K = {design.comparisons}: power {design.power:.3f} for d = {design.effect:.3g}"
    entitle(ax, words)
