"""A study with looks, told: the comparisons with what stopped them, the looks with their limits, and what was done."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from ampler.analysis import Analysis
from ampler.analysis.look_table import verdict_word
from ampler.analysis.look_words import look_method_sentences
from ampler.analysis.looked import Looked
from ampler.analysis.units import estimate_header, in_table, texts_in_unit
from ampler.core.errors import InvalidData
from ampler.core.wording import alike, digits
from ampler.report.references import Sentence
from ampler.report.tables import Cell, ReportTable, estimate_cells, number_cell, p_cell, words_cell


def looks_of_analysis(analysis: Analysis) -> Looked:
    """Return what the looks said; InvalidData for an analysis of a study without looks."""
    if analysis.looks is None:
        raise InvalidData("this is about a study with looks (looks = 4), and the analysis is of another")
    return analysis.looks


def looked_table(analysis: Analysis) -> ReportTable:
    """Return the comparisons: verdict, instances used, estimate with its repeated interval, sequential p-values."""
    looked = looks_of_analysis(analysis)
    header = ("rank", "comparison", "verdict", "look", "instances", estimate_header(analysis))
    return ReportTable(
        name="comparisons",
        caption="The comparisons, those found different first. Each was decided at its look, on the instances it had"
        " there; intervals are repeated confidence intervals, at the level of the rank and jointly, and hold whatever"
        " made a comparison stop; p-values are sequential ones, adjusted by Holm's procedure."
        f"{_relevance(looked)}",
        header=(*header, "repeated interval", "joint interval", "sequential p", "adjusted p", "d", "d, 95 %"),
        rows=tuple(
            (
                Cell(str(each.rank), each.rank),
                words_cell(f"{each.first} × {each.second}"),
                words_cell(verdict_word(each, analysis)),
                _number(looked.standing((each.first, each.second)).look),
                _number(each.instances),
                *estimate_cells(
                    each.estimate, each.interval, each.joint_interval, write=partial(texts_in_unit, analysis)
                ),
                p_cell(each.p_value),
                p_cell(each.p_holm),
                number_cell(each.effect_size, 2),
                estimate_cells(each.effect_size, each.effect_interval, write=partial(alike, significant=2))[1],
            )
            for each in in_table(analysis)
        ),
        words=frozenset({1, 2}),
    )


def looks_table(analysis: Analysis) -> ReportTable | None:
    """Return the looks: instances, what the statistic had to reach, and what was decided; None where there are none."""
    if analysis.looks is None:
        return None
    looked = analysis.looks
    scale = "t" if looked.course.test == "t" else "z"
    return ReportTable(
        name="looks",
        caption=f"The looks: how large |{scale}| had to be for a difference, at the level of all comparisons together"
        " and of a last one, how small for none that is relevant, and how many comparisons had which verdict then.",
        header=(
            *("look", "instances", f"|{scale}|, strictest", f"|{scale}|, mildest", f"|{scale}|, no relevant"),
            *("different", "no relevant difference", "open", "algorithms run"),
        ),
        rows=tuple(_look_row(looked, look) for look in range(1, len(looked.limits) + 1)),
    )


def look_methods(analysis: Analysis) -> Iterator[Sentence]:
    """Yield what a paper says of the looks."""
    for words, cites in look_method_sentences(looks_of_analysis(analysis)):
        yield Sentence(words, cites)


def _look_row(looked: Looked, look: int) -> tuple[Cell, ...]:
    limits, over = looked.limits[look - 1], look <= looked.course.done
    opened = looked.number("continue", look) + looked.number("undecided", look) if over else math.nan
    decided = [looked.number(kind, look) if over else math.nan for kind in ("different", "no relevant difference")]
    run = len(looked.course.algorithms[look - 1]) if over else math.nan
    return (
        _number(look),
        _number(looked.course.looks[look - 1]),
        *(number_cell(limit) for limit in (limits.strictest, limits.mildest, limits.equivalent)),
        *(number_cell(float(number)) for number in (*decided, opened, run)),
    )


def _relevance(looked: Looked) -> str:
    effect = looked.course.effect
    return "" if effect is None else f" No relevant difference: smaller than d = {digits(effect)}."


def _number(value: int) -> Cell:
    return Cell(f"{value:,}", value)
