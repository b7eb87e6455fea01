"""Charts of designs, studies and instances: data and positions; templates/charts.html draws them as SVG."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from ampler.app.web.pages import templates
from ampler.core.text import count, digits, shortened
from ampler.design import Design
from ampler.design.text import RankRow
from ampler.report.axis import Panel, marks_between
from ampler.report.figures.planning import PowerCurve
from ampler.study.status import StudyStatus

if TYPE_CHECKING:
    from markupsafe import Markup

T = TypeVar("T")
POWERS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
DESIGN_SIZE = (400, 300)
WIDTH = 1216  # of the charts of a study
NAMES_WIDTH = 176  # for the names of the algorithms
MAX_NAME_LENGTH = 22
MAX_COLUMNS = 200  # maximum columns of instances; with more, a column shows several
MAX_TITLES = 400  # cells up to which each has a title
SHADES = 4
MAX_CELL, MIN_CELL = 24.0, 10.0
ACCURACY_HEIGHT = 240
MAX_ACCURACY_DOTS = 400
INSTANCE_WIDTH, ROW, FOOT = 592, 28, 40
MAX_RUN_DOTS = 200  # runs of an algorithm that are drawn; they are taken evenly


@dataclass(frozen=True, slots=True)
class Frame:
    """Two axes, in pixels, with space for their numbers."""

    width: int
    height: int
    x: Panel
    y: Panel


def frame(width: int, height: int, across: tuple[float, float], up: tuple[float, float], *, left: int = 44) -> Frame:
    """Return two axes that hold these values."""
    return Frame(width, height, Panel(*across, left, width - 8), Panel(*up, height - 46, 24))


def _chart(kind: str, size: tuple[float, float], text: str, **values: Any) -> Markup:
    """The chart as an element of a page, with `text` as its description for screen readers."""
    from markupsafe import Markup

    parts = getattr(templates().get_template("charts.html").module, kind)(**values)
    chart = Markup('<svg class="chart" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}">{}</svg>')
    return chart.format(*size, text, parts)


# a design ---------------------------------------------------------------------------------------------------------


def power_chart(curve: PowerCurve, fewer: Sequence[Design] = ()) -> Markup:
    """Draw the mean power over the effect between the worst and the best test; `fewer`: with the instances at hand."""
    marked, last = curve.marked, curve.designs[-1].effect
    plane = frame(*DESIGN_SIZE, (0, last), (0, 1))
    worst, best, mean = (
        [(design.effect, getattr(design, name)) for design in curve.designs]
        for name in ("worst_power", "best_power", "mean_power")
    )
    power, effect = digits(marked.mean_power), digits(marked.effect)
    return _chart(
        "power",
        DESIGN_SIZE,
        f"Mean power {power} for effect {effect} with {marked.instances} instances",
        plane=plane,
        x_ticks=marks_between(0, last, "simple", 6),
        y_ticks=POWERS,
        band=[*worst, *reversed(best)] if marked.comparisons > 1 else [],
        mean=mean,
        fewer=[(design.effect, design.mean_power) for design in fewer],
        at=(plane.x.position(marked.effect), plane.y.position(marked.mean_power)),
        words=f"{power} for d = {effect}",
    )


def ranks_chart(rows: Sequence[RankRow], target: float, comparisons: int) -> Markup:
    """Draw the power of each test, the one with the smallest p-value first, next to the target."""
    ranks = sorted({round(at) for at in marks_between(1, comparisons, "simple", 6)} | {1, comparisons})
    apart = [at for at in ranks if at in (1, comparisons) or 1 + comparisons * 0.06 < at < comparisons * 0.94]
    text = f"Powers of the tests by rank, from {digits(rows[0].power)} to {digits(rows[-1].power)}"
    plane = frame(*DESIGN_SIZE, (0.5, comparisons + 0.5), (0, 1))
    return _chart("ranks", DESIGN_SIZE, text, plane=plane, x_ticks=apart, y_ticks=POWERS, target=target, rows=rows)


# a study: runs by instance and algorithm as a heat map, and accuracy against its target -------------------------------


def heat_chart(status: StudyStatus) -> Markup:
    """Draw how many runs each algorithm has on each instance: darker is more; an orange corner is a failure."""
    bins, names = binned(status.instances, MAX_COLUMNS), status.algorithms
    means, most = _mean_runs(status)
    width = min(64.0, (WIDTH - NAMES_WIDTH) / max(1, len(bins)))
    height = max(MIN_CELL, min(MAX_CELL, width, 480 / max(1, len(names))))
    cells, paths = [], defaultdict[int, list[str]](list)
    for row, name in enumerate(names):
        for column, (group, mean) in enumerate(zip(bins, means[row], strict=True)):
            shade = shade_of(mean, most)
            if len(bins) * len(names) <= MAX_TITLES:
                instances = group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"
                cells.append((column, row, shade, f"{instances}, {name}: {count(round(mean), 'run')}"))
            else:
                across, down = max(1.0, width - 2), max(1.0, height - 2)
                at = f"M{NAMES_WIDTH + column * width:.1f} {row * height:.1f}"
                paths[shade].append(f"{at}h{across:.1f}v{down:.1f}h-{across:.1f}z")
    failures = [(column, sum(instance.failures for instance in group)) for column, group in enumerate(bins)]
    where = f"{count(len(names), 'algorithm')} on {count(len(status.instances), 'instance')}"
    return _chart(
        "heat",
        (WIDTH, len(names) * height + 14),
        f"Runs of {where}: {count(status.runs, 'run')} in all",
        left=NAMES_WIDTH,
        width=width,
        height=height,
        names=[shortened(name, MAX_NAME_LENGTH) for name in names],
        cells=cells,
        paths=paths,
        failures=[(column, failed) for column, failed in failures if failed],
    )


def heat_legend(status: StudyStatus) -> list[tuple[int, str]]:
    """Return the meaning of each shade of the heat map."""
    _, most = _mean_runs(status)
    limits = [math.floor(most * shade / SHADES) for shade in range(SHADES)] + [math.ceil(most)]
    ranges = [f"{high}" if high <= low + 1 else f"{low + 1}–{high}" for low, high in pairwise(limits)]
    legend = enumerate(["no run yet", *ranges])
    return [(shade, text) for shade, text in legend if shade == 0 or limits[shade] > limits[shade - 1]]


def _mean_runs(status: StudyStatus) -> tuple[list[list[float]], float]:
    """Return the mean number of runs of each algorithm in each column, and the largest."""
    bins = binned(status.instances, MAX_COLUMNS)
    means = [[sum(one.runs[name] for one in group) / len(group) for group in bins] for name in status.algorithms]
    return means, max((max(row, default=0.0) for row in means), default=0.0)


def shade_of(runs: float, most: float) -> int:
    """Return the shade of a number of runs: 0 for none, else 1 to 4 by its share of the most.

    >>> [shade_of(runs, 100) for runs in (0, 1, 50, 100)]
    [0, 1, 2, 4]
    """
    return 0 if runs <= 0 or most <= 0 else max(1, min(SHADES, math.ceil(SHADES * runs / most)))


def accuracy_chart(status: StudyStatus, errors: Mapping[str, float], target: float | None, percent: bool) -> Markup:
    """Draw the largest standard error of each instance in the plan's order against the target."""
    factor, unit = (100.0, " %") if percent else (1.0, "")
    numbered = [(index, one) for index, one in enumerate(status.instances, 1) if one.name in errors]
    measured = [(index, errors[one.name] * factor, one) for index, one in numbered]
    dots = [max(group, key=lambda dot: dot[1]) for group in binned(measured, MAX_ACCURACY_DOTS)]
    limit = None if target is None else target * factor
    high = max([error for _, error, _ in dots] + ([1.6 * limit] if limit else []) or [1.0])
    high = (min(high, 6 * limit) if limit else high) or 1.0
    instances = len(status.instances)
    part = f"{len(measured)} of {count(instances, 'instance')}"
    return _chart(
        "accuracy",
        (WIDTH, ACCURACY_HEIGHT),
        f"Largest standard error of {part}, wanted {digits(limit or 0)}{unit}",
        plane=frame(WIDTH, ACCURACY_HEIGHT, (0.5, instances + 0.5), (0, high * 1.05), left=52),
        x_ticks=sorted({round(at) for at in marks_between(1, instances, "simple", 10)} | {1}),
        y_ticks=marks_between(0, high, "simple", 4),
        unit=unit,
        dots=dots,
        limit=limit,
    )


def binned(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Return neighbours in at most this many groups, of sizes as equal as can be."""
    size = max(1, math.ceil(len(items) / most))
    return [items[begin : begin + size] for begin in range(0, len(items), size)]


# one instance: the values of its runs -----------------------------------------------------------------------------


def runs_chart(values: Mapping[str, Sequence[float]]) -> Markup:
    """Draw every run of each algorithm as a dot on its line, and their mean as a stroke."""
    everything = [value for own in values.values() for value in own]
    low, high = min(everything), max(everything)
    margin = 0.04 * (high - low) or max(1e-9, abs(high) * 0.05)
    axis, bottom = Panel(low - margin, high + margin, NAMES_WIDTH, INSTANCE_WIDTH - 8), len(values) * ROW
    rows = []
    for row, (name, own) in enumerate(values.items()):
        shown = own[:: max(1, math.ceil(len(own) / MAX_RUN_DOTS))]
        # neighbouring dots a little apart, always in the same way
        dots = [(axis.position(value), (index * 5 % 7 - 3) * 1.6) for index, value in enumerate(shown)]
        mean = axis.position(sum(own) / len(own)) if own else None
        rows.append((shortened(name, MAX_NAME_LENGTH + 2), row * ROW + ROW / 2, dots, mean))
    marks = [(at, digits(at, 4)) for at in marks_between(axis.low, axis.high, "simple", 5)]
    text = f"Values of {count(len(everything), 'run')} by algorithm"
    return _chart("runs", (INSTANCE_WIDTH, bottom + FOOT), text, axis=axis, marks=marks, bottom=bottom, rows=rows)
