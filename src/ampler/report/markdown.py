"""A report as Markdown (templates/report.md): the answer, the tables, the methods paragraph and its BibTeX entries."""

from __future__ import annotations

import re

from ampler.analysis.families import families_sentence
from ampler.analysis.standings import disagreements
from ampler.analysis.text import course_sentences, course_title, headline, together, verdict_sentences
from ampler.analysis.units import measure_text
from ampler.report import Subject, tables
from ampler.report.methods import cited, methods, plain_paragraph
from ampler.report.resources import templates

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def markdown_report(subject: Subject) -> str:
    """Return the report."""
    analysis, paragraph = subject.analysis, methods(subject)
    values = {
        "title": subject.title,
        "answer": headline(analysis),
        "measure": measure_text(analysis),
        "verdicts": verdict_sentences(analysis),
        "warnings": [warning.sentence for warning in analysis.warnings],
        "course_title": course_title(analysis),
        "course": list(course_sentences(analysis)),
        "tables": tables.report_tables(analysis),
        "families": families_sentence(analysis.families) if analysis.families else "",
        "exploratory": list(tables.exploratory_tables(analysis)),
        "probable": tables.probable_words(analysis),
        "together": together(analysis),
        "disagreements": disagreements(analysis),
        "paragraph": plain_paragraph(paragraph),
        "works": cited(paragraph),
    }
    return templates().get_template("report.md").render(values, md=as_markdown)


def as_markdown(text: str) -> str:
    r"""Return a text that Markdown shows unchanged, on one line.

    >>> print(as_markdown("a_b | <c>"))
    a\_b \| \<c\>
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
