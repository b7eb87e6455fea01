"""An analysis as tables of text: comparisons, tests, algorithms, and exploratory tables. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ampler.analysis import units
from ampler.analysis.compare import Comparison
from ampler.analysis.exploration import Subgroup
from ampler.analysis.results import Analysis
from ampler.analysis.rows import ComparisonRow, difference_head, difference_unit, rows_of
from ampler.analysis.standings import side_by_side
from ampler.analysis.units import range_text
from ampler.core.text import Column, TextTable, digits, table_of
from ampler.stats.paired import ESTIMANDS, paired_test

Count = Callable[[Comparison], int]


def counted(analysis: Analysis) -> Mapping[str, Count]:
    """Return the columns of counts by their heads, in their order; most analyses have none."""
    columns: dict[str, Count] = {}
    if analysis.incomplete:
        columns["instances"] = lambda item: item.instances
    if analysis.unsolved:
        columns["neither solved"] = lambda item: len(analysis.unsolved.get(item.pair, ()))
    return columns


def counts_of(comparison: Comparison, analysis: Analysis) -> list[int]:
    """Return the counts of one comparison."""
    return [count(comparison) for count in counted(analysis).values()]


BAR = 9  # characters of the bar of a row
NOT_SIGNIFICANT = "── not significant below this line ──"


def comparison_columns(analysis: Analysis) -> TextTable:
    """Return the comparisons, a row each: mark, difference, simultaneous interval, wins, adjusted p, verdict."""
    rows, looks, is_several = rows_of(analysis), analysis.looks, analysis.single is None
    estimates, intervals, unit = _in_one_unit([row.estimate_text for row in rows], [row.bracket_text for row in rows])
    wins = Column("better on", tuple(f"{row.wins.first}/{row.wins.instances}" for row in rows), leaves=1)
    names = tuple(row.name for row in rows)
    columns = [
        Column("", tuple(row.mark for row in rows)),
        Column("comparison" if analysis.settings.reference is None else "", names, "name"),
        *(
            Column(head, tuple(str(number(row.comparison)) for row in rows), leaves=2)
            for head, number in counted(analysis).items()
        ),
        Column(f"{difference_head(analysis)}{unit}", tuple(estimates)),
    ]
    if analysis.unfinished:
        return TextTable((*columns[1:], replace(wins, leaves=0)) if is_several else tuple(columns))
    level = digits(100 * (1 - analysis.settings.family_alpha))
    columns += [
        Column(f"{'repeated' if looks else 'simultaneous'} {level} % CI", tuple(intervals)),
        Column("", tuple(_bars(rows, analysis)), leaves=2),
        *([wins] if is_several else []),
        Column("adj. p", tuple(row.p_text for row in rows)),
    ]
    if looks is not None:
        columns.append(Column("look", tuple(str(looks.standing(row.pair).look) for row in rows), leaves=3))
    columns.append(Column("verdict", tuple(row.verdict_text for row in rows), "words"))
    rejected = sum(row.comparison.rejected for row in rows)
    is_ordered = all(row.comparison.rejected for row in rows[:rejected])
    breaks = {rejected: f"   {NOT_SIGNIFICANT}"} if 0 < rejected < len(rows) and is_ordered else {}
    return TextTable(tuple(columns), breaks=breaks)


def _bars(rows: Sequence[ComparisonRow], analysis: Analysis) -> Iterator[str]:
    """Yield each estimate in its simultaneous interval, on one scale; an arrow where the interval has no end."""
    neutral = ESTIMANDS[rows[0].comparison.estimate_of].neutral
    ends = [end for row in rows for end in (*row.ends, row.estimate) if math.isfinite(end)]
    low, high = min([*ends, neutral]), max([*ends, neutral])

    def place(value: float) -> int:
        within = min(max(value, low), high)
        return round((BAR - 1) * ((within / 2 - low / 2) / (high / 2 - low / 2 or 1.0)))  # halves: no overflow

    for row in rows:
        cells = ["╌"] * BAR
        cells[place(neutral)] = "┼"
        if row.is_known:
            first, last = map(place, row.ends)
            cells[first : last + 1] = "━" * (last + 1 - first)
            cells[first] = "◂" if math.isinf(row.ends[0]) else cells[first]
            cells[last] = "▸" if math.isinf(row.ends[1]) else cells[last]
            cells[place(row.estimate)] = "●"
        yield "".join(cells)


def test_columns(analysis: Analysis) -> TextTable:
    """Return the details of the tests: rank, marginal interval at the level of the rank, p, its level, d."""
    settings = analysis.settings
    steps, p_text = paired_test(settings.test).procedure, partial(units.p_value_text, settings=settings)
    rows = [
        (
            str(row.comparison.rank),
            row.name,
            range_text(*row.texts[1:3]),
            p_text(row.p_value, row.comparison.sample_size),
            digits(row.comparison.alpha, 2),
            p_text(row.p_adjusted, row.comparison.sample_size),
            digits(row.effect_size, 2).replace("-", "−"),
        )
        for row in rows_of(analysis)
    ]
    head = ("rank", "comparison", f"{steps.level}-level CI", "p", "α", f"p ({steps.name})", "d")
    return table_of(head, rows, names=(1,))


def algorithm_columns(analysis: Analysis) -> TextTable:
    """Return the algorithms, the best first: rank, estimate, wins, solved runs, and the group that is tied with it.

    Algorithms with a common letter are not significantly different by the tests of the pairs.
    """
    standings, runs = side_by_side(analysis), {row.algorithm: row for row in analysis.algorithms}
    rows = [
        (
            row.algorithm,
            f"{row.mean_rank:.2f}",
            "–" if math.isnan(row.mean) else digits(row.mean, 4).replace("-", "−"),
            str(row.beats),
            str(row.loses),
            f"{runs[row.algorithm].solved:,} of {runs[row.algorithm].runs:,}",
            analysis.groups.get(row.algorithm, ""),
        )
        for row in standings
    ]
    statistic = analysis.settings.statistic_name
    head = ("algorithm", "mean rank", statistic, "pairs won", "pairs lost", "solved", "tied group")
    is_shown = dict.fromkeys(head, True) | {
        "mean rank": not any(math.isnan(row.mean_rank) for row in standings),
        "solved": any(row.failures for row in analysis.algorithms),
    }
    columns = table_of(head, rows, words=(6,), leaves={4: 1}).columns
    return TextTable(tuple(column for column in columns if is_shown[column.head]))


def _in_one_unit(estimates: Sequence[str], intervals: Sequence[str]) -> tuple[list[str], list[str], str]:
    """The texts without a common unit, and that unit for the heading."""
    for unit in (" %", " points"):
        if all(text.endswith(unit) or text == "–" for text in estimates):
            bare = [[text.replace(unit, "") for text in texts] for texts in (estimates, intervals)]
            return bare[0], bare[1], f",{unit}"
    return list(estimates), list(intervals), ""


def stability_columns(analysis: Analysis) -> TextTable:
    """Return the table of the decisions by other tests, differences and statistics."""
    rows = [
        [
            *(conclusion.test, conclusion.difference, conclusion.statistic),
            f"{conclusion.same} of {len(conclusion.decisions)}" if not conclusion.note else "–",
        ]
        for conclusion in analysis.stability
    ]
    return table_of(["test", "difference", "statistic", "decisions that stay"], rows, names=(0, 1, 2))


def subgroup_columns(analysis: Analysis) -> TextTable:
    """Return the table of every comparison on groups of instances."""
    unit = difference_unit(analysis)
    rows = [
        [
            f"{subgroup.feature} = {subgroup.value}",
            str(subgroup.instances),
            subgroup_name(subgroup, analysis),
            units.signed(units.quantity_text(displayed_subgroup(subgroup, analysis).estimate, unit)),
            units.p_value_text(subgroup.p_value, subgroup.instances, analysis.settings),
        ]
        for subgroup in analysis.subgroups
    ]
    header = ["subgroup", "instances", "comparison", difference_head(analysis), "p"]
    return table_of(header, rows, names=(0, 2), leaves={1: 1})


def subgroup_name(subgroup: Subgroup, analysis: Analysis) -> str:
    """Return the name of the row of a subgroup."""
    return subgroup.second if analysis.settings.reference is not None else f"{subgroup.first} − {subgroup.second}"


def displayed_subgroup(subgroup: Subgroup, analysis: Analysis) -> Subgroup:
    """Return a subgroup as displayed: other − reference where there is one."""
    if analysis.settings.reference is None:
        return subgroup
    total, (low, high) = 1.0 if difference_unit(analysis) == "share" else 0.0, subgroup.interval
    return replace(subgroup, estimate=total - subgroup.estimate, interval=(total - high, total - low))
