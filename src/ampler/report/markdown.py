"""A report as Markdown: the answer, the tables, the methods paragraph and its BibTeX entries. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ampler.analysis import Analysis
from ampler.analysis.standings import disagreements
from ampler.analysis.units import measure_in_words
from ampler.analysis.words import course_sentences, course_title, headline, together, verdict_sentences
from ampler.report import tables
from ampler.report.bayes import probable_tables, probable_words
from ampler.report.looks import looks_table
from ampler.report.methods import cited, methods, plain_paragraph
from ampler.report.subject import Subject

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def markdown_report(subject: Subject) -> str:
    """Return the report."""
    return "\n".join(_lines(subject)) + "\n"


def as_markdown(text: str) -> str:
    r"""Return a text that Markdown shows as it stands, on one line.

    >>> print(as_markdown("a_b | <c>"))
    a\_b \| \<c\>
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _lines(subject: Subject) -> Iterator[str]:
    analysis = subject.analysis
    yield from (f"# {as_markdown(subject.title)}", "", f"**{as_markdown(headline(analysis))}**", "")
    yield from (f"{as_markdown(measure_in_words(analysis))}.", "")
    yield from (f"- {as_markdown(sentence)}" for sentence in verdict_sentences(analysis))
    if analysis.warnings:
        yield from ("", "## What to mind", "")
        yield from (f"- {as_markdown(caution.sentence)}" for caution in analysis.warnings)
    if told := list(course_sentences(analysis)):
        yield from ("", f"## {course_title(analysis)}", "")
        yield from (f"{as_markdown(sentence)}\n" for sentence in told)
    if (looks := looks_table(analysis)) is not None:
        yield from _table(looks)
    yield from ("", "## Comparisons", *_table(tables.comparisons_table(analysis)))
    yield from _probable(analysis)
    yield from ("## Algorithms and accuracy", *_table(tables.algorithms_table(analysis)))
    yield from _table(tables.accuracy_table(analysis))
    for lacking in (tables.excluded_table(analysis), tables.unsolved_table(analysis)):
        yield from _table(lacking) if lacking else ()
    yield from ("## What the tests rest on", *_table(tables.assumptions_table(analysis)))
    omnibus = tables.omnibus_table(analysis)
    yield from ("## Side by side", "", as_markdown(together(analysis)), "")
    yield from (f"- {as_markdown(sentence)}" for sentence in disagreements(analysis))
    yield from _table(tables.standings_table(analysis)) if analysis.single is None else ()
    yield from _table(omnibus) if omnibus else ("",)
    yield from ("## Exploratory", "", "Unadjusted: for forming ideas, not for claims.")
    for table in tables.exploratory_tables(analysis):
        yield from _table(table)
    paragraph = methods(subject)
    yield from ("## Method", "", as_markdown(plain_paragraph(paragraph)), "")
    yield from ("```bibtex", *(work.bibtex for work in cited(paragraph)), "```")


def _probable(analysis: Analysis) -> Iterator[str]:
    said = probable_words(analysis)
    yield from ("## How probable it is", "", as_markdown(said.headline), "")
    yield from (f"- {as_markdown(sentence)}" for sentence in said.sentences)
    for table in probable_tables(analysis):
        yield from _table(table)
    yield from (f"- {as_markdown(note)}" for note in said.notes)
    yield ""


def _table(table: tables.ReportTable) -> Iterator[str]:
    """A pipe table with its caption above; the best of a row is bold."""
    yield from ("", as_markdown(table.caption), "")
    yield _row(map(as_markdown, table.header))
    yield _row(":---" if place in table.words else "---:" for place in range(len(table.header)))
    for row in table.rows:
        yield _row(f"**{as_markdown(cell.text)}**" if cell.best else as_markdown(cell.text) for cell in row)
    yield ""


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"
