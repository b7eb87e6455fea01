"""An analysis as a terminal shows it: blocks of text in their order, the same for `print` and for the command. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ampler.analysis import tables, text
from ampler.analysis.clusters import cluster_lines
from ampler.analysis.families import families_sentence
from ampler.analysis.fixed_instances import fixed_cells
from ampler.analysis.results import Analysis
from ampler.analysis.solvers import about_solvers, solver_columns, solver_table
from ampler.analysis.standings import ranks_sentence
from ampler.analysis.units import measure_text
from ampler.core.errors import by_severity
from ampler.core.text import DEFAULT_WIDTH, TextTable, capitalised, count, display_width, listed, table_of, wrap_lines

HEADER = ("columns", "direction")  # kinds of warnings that are part of the header, not of the list
MAX_PAIRS = 24  # maximum rows of comparisons without --explain
MAX_WARNINGS = 3
NOTES = {"accuracy-unknown", "rates", "table", "columns", "unused", "plan", "pairing"}  # shown with --explain only
MAX_HIDDEN_COLUMNS = 60  # maximum number of names
BRIEF_ROWS = 10  # rows of the table in a short display
BRIEF_LENGTH = 600  # maximum length of the answer in a short display

Style = Literal["answer", "text", "quiet", "warning"]


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a list of points, a table, or all of them in this order."""

    paragraph: str = ""
    style: Style = "text"
    points: tuple[str, ...] = ()
    table: TextTable | None = None


def blocks(analysis: Analysis, *, shell: bool = False, explain: bool = False) -> Iterator[Block]:
    """Yield the parts of the display: the answer, the tables, the tests, the warnings.

    Warnings name parameters as Python has them, or options of the `shell`. With `explain` every verdict, test and
    warning comes in detail.
    """
    yield Block(text.headline(analysis), "answer")
    yield Block(measure_text(analysis), "quiet")
    if explain or len(analysis.comparisons) == 1:
        yield Block(points=tuple(text.verdict_sentences(analysis)))
    else:
        yield Block(text.inconclusive_sentence(analysis))
    if analysis.measures is not None:
        yield from (Block(table=table) for table in analysis.measures.tables())
        yield Block(analysis.measures.about, "quiet")
    if (solvers := solver_table(analysis)) is not None:
        yield Block(table=solver_columns(solvers))
        yield Block(about_solvers(solvers), "quiet")
    elif analysis.settings.reference is None and len(analysis.algorithms) > 2 and not analysis.unfinished:
        yield Block(table=tables.algorithm_columns(analysis))
    table = tables.comparison_columns(analysis)
    more = 0 if explain else max(0, len(analysis.comparisons) - MAX_PAIRS)
    yield Block(table=table.first(MAX_PAIRS) if more else table)
    yield Block(f"… and {more:,} more comparisons." if more else "", "quiet")
    if (fixed := fixed_cells(analysis)) is not None:
        yield Block(table=table_of(*fixed, names=(1,), words=(0, 3)))
    yield Block(text.about_table(analysis), "quiet")
    for family in analysis.families:
        yield Block(f"{family.head} {family.notes}".rstrip())
        yield Block(table=None if family.analysis is None else tables.comparison_columns(family.analysis))
    yield Block(families_sentence(analysis.families) if analysis.families else "")
    yield from _detailed(analysis) if explain else ()
    yield Block(points=() if analysis.looks is None else tuple(text.course_sentences(analysis)))
    yield Block(points=tuple(f"{line}." for line in cluster_lines(analysis)))
    yield Block(text.about_stopping(analysis) or "")
    yield from _warnings(analysis, shell=shell, explain=explain)


def _detailed(analysis: Analysis) -> Iterator[Block]:
    """Basis of the tests, roles of the columns, and the omnibus test."""
    if not analysis.unfinished:
        yield Block(table=tables.test_columns(analysis))
    yield Block(points=tuple(item.sentence for item in analysis.warnings if item.kind in HEADER))
    yield Block(points=tuple(f"{capitalised(line)}." for line in text.question_lines(analysis)))
    sentences = text.about_intervals(analysis), ranks_sentence(analysis), text.together(analysis)
    yield Block(points=tuple(filter(None, sentences)))


def _warnings(analysis: Analysis, *, shell: bool, explain: bool) -> Iterator[Block]:
    """Yield the warnings, those that could reverse a verdict first: three without notes, or all with their details."""
    ranked = by_severity(warning for warning in analysis.warnings if warning.kind not in HEADER)
    hidden_kinds = NOTES | ({"power"} if len(analysis.comparisons) > 1 else set())  # the power is already in the answer
    brief = [each for each in ranked if each.kind not in hidden_kinds and not each.holds]
    shown = ranked if explain else brief[:MAX_WARNINGS]
    for number, warning in enumerate(shown):
        wording = warning.wording(shell=shell, details=explain)
        yield Block(f"{'' if number else chr(10)}⚠ {capitalised(warning.severity)}. {wording}", "warning")
    if len(ranked) > len(shown):
        hidden = count(len(ranked) - len(shown), "more note" if len(shown) == len(brief) else "more warning")
        gap = "" if shown else "\n"
        yield Block(f"{gap}… and {hidden}{' (--explain shows all)' if shell else ''}.", "quiet")


def plain_text(analysis: Analysis, width: int = DEFAULT_WIDTH) -> str:
    """Return the whole display as plain lines."""
    return "\n".join(line for block in blocks(analysis) for line in _lines(block, width))


def brief_text(analysis: Analysis) -> str:
    """Return the answer, the first rows of the table and the number of warnings: at most one screen."""
    answer = text.headline(analysis)
    answer = answer if len(answer) <= BRIEF_LENGTH else f"{answer[:BRIEF_LENGTH]} …"
    short, number = tables.comparison_columns(analysis).first(BRIEF_ROWS), len(analysis.comparisons)
    more = [f"… {number - BRIEF_ROWS:,} more comparisons."] if number > BRIEF_ROWS else []
    kinds = dict.fromkeys(warning.kind for warning in by_severity(analysis.warnings) if warning.kind not in HEADER)
    warnings = [f"Warnings: {listed(kinds, 8)}. print(analysis) has the whole text."] if kinds else []
    table = short.fitted().lines[: 3 * BRIEF_ROWS]
    return "\n".join([*wrap_lines(answer, DEFAULT_WIDTH), measure_text(analysis), "", *table, *more, *warnings])


def _lines(block: Block, width: int) -> Iterator[str]:
    for line in block.paragraph.split("\n") if block.paragraph else ():
        yield from wrap_lines(line, width) if line else [""]
    for point in block.points:
        for number, line in enumerate(wrap_lines(point, width - 2)):
            yield f"{' ' if number else '•'} {line}"
    if block.table is not None:
        fitted = block.table.fitted(width)
        yield ""
        yield from fitted.head
        if fitted.head:
            yield "─" * max(map(display_width, fitted.lines))
        yield from fitted.body
        if fitted.left_out:
            hidden = listed(fitted.left_out, MAX_HIDDEN_COLUMNS)
            yield from wrap_lines(f"Hidden columns at {width} characters: {hidden}.", width)
        yield ""
