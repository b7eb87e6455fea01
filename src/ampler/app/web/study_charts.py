"""The charts of a study: runs by instance and algorithm as a heat map, and accuracy against what is wanted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ampler.app.web.charts import Frame, Scale, box, chart, dot, label, line, ticks
from ampler.core.wording import count, digits, shortened
from ampler.study.status import InstanceStatus, StudyStatus

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH = 1216
NAMES = 176  # for the names of the algorithms
MOST_COLUMNS = 200  # of instances; with more, a column is several
TITLED = 400  # cells up to which each says what it is
SHADES = 4
TALLEST, LOWEST = 24.0, 10.0
LONGEST_NAME = 22
WIDE, HIGH = 1216, 240
MOST_DOTS = 400


def heat_chart(status: StudyStatus) -> Markup:
    """Draw how many runs each algorithm has on each instance: darker is more; an orange corner is a failure."""
    bins = binned(status.instances, MOST_COLUMNS)
    width = min(64.0, (WIDTH - NAMES) / max(1, len(bins)))
    height = max(LOWEST, min(TALLEST, width, 480 / max(1, len(status.algorithms))))
    means = {name: [_mean(group, name) for group in bins] for name in status.algorithms}
    most = max((max(row, default=0.0) for row in means.values()), default=0.0)
    titled = len(bins) * len(status.algorithms) <= TITLED
    parts = [
        label((NAMES - 8, row * height + height * 0.5 + 4.5), shortened(name, LONGEST_NAME), anchor="end")
        for row, name in enumerate(status.algorithms)
    ]
    shades: defaultdict[int, list[str]] = defaultdict(list)
    size = (max(1.0, width - 2), max(1.0, height - 2))
    for row, name in enumerate(status.algorithms):
        for column, mean in enumerate(means[name]):
            at, shade = (NAMES + column * width, row * height), shade_of(mean, most)
            if titled:
                words = f"{_named(bins[column])}, {name}: {count(round(mean), 'run')}"
                parts.append(box(at, size, f"heat heat-{shade}", words=words))
            else:
                shades[shade].append(f"M{at[0]:.1f} {at[1]:.1f}h{size[0]:.1f}v{size[1]:.1f}h-{size[0]:.1f}z")
    parts += [f'<path class="heat heat-{shade}" d="{"".join(paths)}"/>' for shade, paths in shades.items()]
    tall = len(status.algorithms) * height
    parts += _failed_marks(bins, width, tall)
    return chart(WIDTH, tall + 14, parts, words=_heat_words(status))


def heat_legend(status: StudyStatus) -> list[tuple[int, str]]:
    """Return what each shade of the heat map stands for."""
    most = max((runs for instance in status.instances for runs in instance.runs.values()), default=0)
    limits = [math.ceil(most * shade / SHADES) for shade in range(SHADES + 1)]
    words = ["no run yet"]
    for low, high in pairwise(limits):
        words.append(f"{high}" if high <= low + 1 else f"{low + 1}–{high}")
    return [(shade, word) for shade, word in enumerate(words) if shade == 0 or limits[shade] > limits[shade - 1]]


def shade_of(runs: float, most: float) -> int:
    """Return the shade of a number of runs: 0 for none, else 1 to 4 by its share of the most.

    >>> [shade_of(runs, 100) for runs in (0, 1, 50, 100)]
    [0, 1, 2, 4]
    """
    return 0 if runs <= 0 or most <= 0 else max(1, min(SHADES, math.ceil(SHADES * runs / most)))


def accuracy_chart(status: StudyStatus, errors: Mapping[str, float], target: float | None, percent: bool) -> Markup:
    """Draw the largest standard error of each instance in the plan's order against the one that is wanted."""
    factor, unit = (100.0, " %") if percent else (1.0, "")
    places = [(place, each) for place, each in enumerate(status.instances, start=1) if each.name in errors]
    shown = _worst_of_bins(places, errors)
    wanted = None if target is None else target * factor
    high = max([errors[each.name] * factor for _, each in shown] + ([] if wanted is None else [1.6 * wanted]) or [1.0])
    high = min(high, 6 * wanted) if wanted else high
    plane = Frame(
        WIDE, HIGH, Scale(0.5, len(status.instances) + 0.5, 52, WIDE - 8), Scale(0, high * 1.05, HIGH - 46, 24)
    )
    whole = sorted({round(at) for at in ticks(1, len(status.instances), 10)} | {1})
    parts = plane.axes(
        "instance, in the plan's order", f"largest standard error{unit}", x_ticks=whole, y_ticks=ticks(0, high, 4)
    )
    for place, each in shown:
        error = errors[each.name] * factor
        done = each.state == "finished"
        words = f"{each.name}: {digits(error)}{unit}, {each.reason or each.state}"
        parts.append(dot((plane.x(place), plane.y(error)), "dot" if done else "dot open", radius=4, words=words))
    if wanted is not None:
        parts.append(line((plane.x.begin, plane.y(wanted)), (plane.x.end, plane.y(wanted)), "target"))
        parts.append(label((plane.x.end, plane.y(wanted) - 7), f"wanted {digits(wanted)}{unit}", anchor="end"))
    known = f"{len(places)} of {count(len(status.instances), 'instance')}"
    return chart(WIDE, HIGH, parts, words=f"Largest standard error of {known}, wanted {digits(wanted or 0)}{unit}")


def binned(instances: Sequence[InstanceStatus], most: int) -> list[Sequence[InstanceStatus]]:
    """Return neighbouring instances in at most so many groups, of sizes as equal as can be."""
    size = max(1, math.ceil(len(instances) / most))
    return [instances[begin : begin + size] for begin in range(0, len(instances), size)]


def _worst_of_bins(
    places: list[tuple[int, InstanceStatus]], errors: Mapping[str, float]
) -> list[tuple[int, InstanceStatus]]:
    size = max(1, math.ceil(len(places) / MOST_DOTS))
    groups = (places[begin : begin + size] for begin in range(0, len(places), size))
    return [max(group, key=lambda each: errors[each[1].name]) for group in groups]


def _mean(group: Sequence[InstanceStatus], algorithm: str) -> float:
    return sum(each.runs[algorithm] for each in group) / len(group)


def _named(group: Sequence[InstanceStatus]) -> str:
    return group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"


def _failed_marks(bins: Sequence[Sequence[InstanceStatus]], width: float, tall: float) -> list[str]:
    """A mark below each column in which runs failed."""
    failed = [(column, sum(each.failures for each in group)) for column, group in enumerate(bins)]
    return [
        box(
            (NAMES + column * width, tall + 4),
            (max(1.0, width - 2), 5),
            "failed",
            words=f"{count(number, 'run')} failed",
        )
        for column, number in failed
        if number
    ]


def _heat_words(status: StudyStatus) -> str:
    return (
        f"Runs of {count(len(status.algorithms), 'algorithm')} on {count(len(status.instances), 'instance')}:"
        f" {count(status.runs, 'run')} in all"
    )
