"""A report as a LaTeX document: the methods paragraph and the tables, each ready to be cut out and pasted. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ampler.analysis import Analysis
from ampler.analysis.words import headline
from ampler.report.latex import booktabs, escaped, holm_table, tex_number, wrapped
from ampler.report.methods import Sentence, as_latex, cited, methods
from ampler.report.subject import Subject

MOST_COLUMNS = 8  # algorithms whose statistics fit side by side
MOST_ROWS = 40  # of a table that fits a page

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage[margin=2cm]{geometry}"""


def latex_report(subject: Subject) -> str:
    """Return the document."""
    return "\n".join(_lines(subject, methods(subject))) + "\n"


def algorithms_tabular(analysis: Analysis) -> str:
    """Return the algorithms with runs and mean rank, the best rank in bold."""
    best = min(row.mean_rank for row in analysis.algorithms)
    rows = [
        [wrapped(row.algorithm), f"${row.runs}$", _bold(f"{row.mean_rank:.2f}", row.mean_rank == best)]
        for row in analysis.algorithms
    ]
    return booktabs(["algorithm", "runs", "mean rank"], rows, align="lrr", long=len(rows) > MOST_ROWS)


def statistics_tabular(analysis: Analysis) -> str | None:
    """Return the statistic of each algorithm on each instance, the best in bold; None if they do not fit a page."""
    names = [row.algorithm for row in analysis.algorithms]
    if len(names) > MOST_COLUMNS:
        return None
    values = analysis.statistics
    best = values.min(axis=1) if analysis.settings.better == "lower" else values.max(axis=1)
    rows = [
        [
            wrapped(row.instance),
            *(_bold(tex_number(value, 4).strip("$"), value == best[i]) for value in values[i].tolist()),
        ]
        for i, row in enumerate(analysis.accuracy)
    ]
    header = ["instance", *(wrapped(name, 12) for name in names)]
    return booktabs(header, rows, align="l" + "r" * len(names), long=len(rows) > MOST_ROWS)


def _bold(text: str, best: bool) -> str:
    r"""A number in mathematics, \mathbf where it is the best."""
    return rf"$\mathbf{{{text}}}$" if best else f"${text}$"


def _lines(subject: Subject, paragraph: Sequence[Sentence]) -> Iterator[str]:
    analysis = subject.analysis
    yield PREAMBLE
    yield rf"\title{{{escaped(subject.title)}}}"
    yield r"\date{}"
    yield r"\begin{document}"
    yield r"\maketitle"
    yield from ("", escaped(headline(analysis)), "", r"\section*{Method}", "", as_latex(paragraph), "")
    yield from _table("Summary of the comparisons, using Holm's step-down procedure.", holm_tabular(analysis))
    yield from _table(
        "Runs and mean ranks (1 is best) of the algorithms; the best is bold.", algorithms_tabular(analysis)
    )
    statistics = statistics_tabular(analysis)
    if statistics is not None:
        what = f"The {analysis.settings.statistic} of each algorithm on each instance; the best is bold."
        yield from _table(what, statistics)
    if analysis.warnings:
        yield from (r"\section*{To be minded}", r"\begin{itemize}")
        yield from (rf"\item {escaped(each.sentence)}" for each in analysis.warnings)
        yield r"\end{itemize}"
    yield from _bibliography(paragraph)
    yield r"\end{document}"


def holm_tabular(analysis: Analysis) -> str:
    """Return the comparisons in Holm's order, on several pages where they need them."""
    return holm_table(analysis, long=len(analysis.comparisons) > MOST_ROWS)


def _table(caption: str, tabular: str) -> Iterator[str]:
    """A floating table, or a long one with its caption above it."""
    if tabular.startswith(r"\begin{longtable}"):
        yield from (r"\begingroup\footnotesize", rf"\noindent {escaped(caption)}", tabular, r"\endgroup", "")
        return
    yield from (r"\begin{table}[htbp]", r"\centering\footnotesize", rf"\caption{{{escaped(caption)}}}", tabular)
    yield from (r"\end{table}", "")


def _bibliography(paragraph: Sequence[Sentence]) -> Iterator[str]:
    works = cited(paragraph)
    yield r"\begin{thebibliography}{9}"
    yield from (rf"\bibitem{{{work.key}}} {escaped(work.listed)}" for work in works)
    yield r"\end{thebibliography}"
    yield r"\iffalse  % the same for BibTeX"
    yield from (work.bibtex for work in works)
    yield r"\fi"
