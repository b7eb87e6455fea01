"""The instances of one comparison: a strip of their differences, and a table with the same numbers. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ampler.analysis import Analysis
from ampler.analysis.units import location_header, table_factor, unit_header
from ampler.core.names import without_common
from ampler.core.wording import digits
from ampler.report.axis import Axis, axis_of, told
from ampler.report.forest import Forest, ForestRow, difference_unit
from ampler.report.tables import Cell, ReportTable, number_cell

MOST = 4_000  # instances of all comparisons together that a page holds
STEP, HIGHEST, APART = (
    9,
    9,
    1.5,
)  # pixels between dots that would lie on each other, how many, percent that counts as on
FOOT = 22  # pixels for the numbers below


@dataclass(frozen=True, slots=True)
class PairOnInstance:
    """One instance of a comparison: both values, their difference and its standard error."""

    name: str
    whole: str
    first: float
    second: float
    difference: float
    error: float


@dataclass(frozen=True, slots=True)
class PairInstances:
    """What a page shows when a comparison is opened."""

    key: str
    title: str
    strip: Any  # markup
    table: ReportTable


def how_many_detailed(analysis: Analysis) -> int:
    """Return of how many comparisons a page holds the instances."""
    return 0 if analysis.single is not None else max(1, MOST // max(analysis.instances, 1))


def pairs_instances(analysis: Analysis, forest: Forest) -> Iterator[PairInstances]:
    """Yield the instances of every comparison that has a key, in the order of the rows."""
    for row in forest.rows:
        if row.key:
            rows = instance_rows(analysis, row.first, row.second)
            yield PairInstances(row.key, _title(row), _strip(rows, row, analysis), _table(rows, row, analysis))


def instance_rows(analysis: Analysis, first: str, second: str) -> list[PairOnInstance]:
    """Return the instances on which both have values, the smallest difference first."""
    names = [row.algorithm for row in analysis.algorithms]
    wholes = [row.instance for row in analysis.accuracy]
    column, short = analysis.pairs.index((first, second)), without_common(wholes)
    phi = analysis.differences[:, column]
    places = np.flatnonzero(~np.isnan(phi))
    return [
        PairOnInstance(
            name=short[i],
            whole=wholes[i],
            first=float(analysis.statistics[i, names.index(first)]),
            second=float(analysis.statistics[i, names.index(second)]),
            difference=float(phi[i]),
            error=float(analysis.errors[i, column]),
        )
        for i in places[np.argsort(phi[places], kind="stable")].tolist()
    ]


def _title(row: ForestRow) -> str:
    return f"{row.first} − {row.second}: {row.word}"


def _table(rows: Sequence[PairOnInstance], row: ForestRow, analysis: Analysis) -> ReportTable:
    asked, factor = analysis.settings, table_factor(analysis.settings)
    known = any(math.isfinite(each.error) for each in rows)
    unit = _unit(analysis)
    return ReportTable(
        name=row.key,
        caption=f"{row.first} and {row.second} on every instance, by the size of the difference.",
        header=(
            *("instance", row.first, row.second, location_header("difference", asked)),
            *((unit_header("SE", asked),) if known else ()),
        ),
        rows=tuple(
            (
                Cell(each.name, each.name.casefold(), whole=each.whole),
                *(Cell(digits(value, 4), value) for value in (each.first, each.second)),
                Cell(_bare(told(each.difference, unit), unit), each.difference),
                *((number_cell(factor * each.error),) if known else ()),
            )
            for each in rows
        ),
        words=frozenset({0}),
    )


def _bare(text: str, unit: str) -> str:
    """A difference without the unit that the head of its column says."""
    return text if unit == "ratio" else text.removesuffix(" %").removesuffix(" points")


def _unit(analysis: Analysis) -> str:
    """The unit of single differences: where estimates are shares, that of what they count."""
    unit = difference_unit(analysis)
    return unit if unit != "share" else "points" if analysis.settings.are_rates else analysis.settings.difference


# the strip --------------------------------------------------------------------------------------------------------


def _strip(rows: Sequence[PairOnInstance], row: ForestRow, analysis: Analysis) -> Any:
    from markupsafe import Markup

    unit, better = _unit(analysis), analysis.settings.better
    axis = axis_of([(each.difference,) * 3 for each in rows], unit, always=(0.0,))
    places = [axis.place(each.difference) for each in rows]
    levels = stacked(places)
    height = (max(levels, default=0) + 2) * STEP
    words = f"The difference on each of {len(rows)} instances, {row.first} − {row.second}"
    parts = [f'<svg class="bar strip" role="img" aria-label="{escape(words)}" width="100%" height="{height + FOOT}">']
    parts += _frame(axis, height)
    for each, at, level in zip(rows, places, levels, strict=True):
        side = "better" if (each.difference > 0) == (better == "higher") else "worse"
        kind = "undecided" if each.difference == 0 else side
        parts.append(
            f'<g class="{kind}"><title>{escape(mark_text(each, row, unit))}</title>'
            f'<circle class="dot" cx="{at:g}%" cy="{height - (level + 1) * STEP}" r="4"/></g>'
        )
    return Markup("".join(parts) + "</svg>")


def _frame(axis: Axis, height: int) -> Iterator[str]:
    for panel in axis.panels:
        for mark in panel.marks:
            yield f'<line class="grid" x1="{mark.at:g}%" x2="{mark.at:g}%" y1="0" y2="{height}"/>'
            anchor = "start" if mark.at < 4 else "end" if mark.at > 96 else "middle"
            yield f'<text x="{mark.at:g}%" y="{height + 15}" text-anchor="{anchor}">{escape(mark.text)}</text>'
    at = axis.place(0.0)
    yield f'<line class="neutral" x1="{at:g}%" x2="{at:g}%" y1="0" y2="{height}"/>'


def stacked(places: Sequence[float]) -> list[int]:
    """Return how high each dot lies, so that dots at nearly the same place lie above each other.

    >>> stacked([10.0, 10.2, 10.4, 50.0])
    [0, 1, 2, 0]
    """
    last: list[float] = []
    levels = []
    for place in places:
        free = [level for level, end in enumerate(last) if place - end >= APART]
        level = free[0] if free else min(len(last), HIGHEST)
        if level == len(last):
            last.append(place)
        last[level] = place
        levels.append(level)
    return levels


def mark_text(each: PairOnInstance, row: ForestRow, unit: str) -> str:
    """Return what a mark says of its instance: both values and the difference, as in the table."""
    of_error = "simple" if unit == "ratio" else unit  # of a logarithm
    error = "" if math.isnan(each.error) else f" ± {told(each.error, of_error)}"
    return (
        f"{each.name}\n{row.first}: {digits(each.first, 4)}\n{row.second}: {digits(each.second, 4)}\n"
        f"difference {told(each.difference, unit)}{error}"
    )
