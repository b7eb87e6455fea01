"""An analysis told: one HTML page, a LaTeX document, Markdown, a CSV of the comparisons, and figures for a paper.

    an analysis, a results file, a table ─► Subject ─► methods, tables, drawings ─► html | latex | markdown | csv

Here: what a report is about, and how the runs were made. In reading order:

* `resources`: the files of sentences, captions, tokens and templates;
* `methods`: the paragraph that says what was done (methods.toml), and the works it cites (references.bib);
* `theme`: colours, type and spaces that page, browser, terminal and figures share;
* `axis`, `rows`: the comparisons, one row each, which every format shows, and the axis on which they stand;
* `tables`, `drawings`: tables and figures, the same for every format;
* `figures`: each figure as data and drawing, which is also what `ampler.plots` gives;
* `svg`: rows, instances and figures in a page, and the titles of their marks;
* `notebook`: what notebooks show of a design, an analysis, advice and a study;
* `html` (with its templates), `latex`, `markdown`: the formats; that of CSV is in `tables`.

Imports every package but `app` and `testing`. Sentences about an analysis are written in `analysis.text`; this package
lays them out. matplotlib, pandas and jinja2 are loaded when something is written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ampler.analysis import Analysis
from ampler.api import analyse, is_study_file, read_results
from ampler.core.errors import InvalidInput
from ampler.core.serialization import check_not_input, is_path, replace_file
from ampler.study.evidence import StudyOrigin, origin_of_study

__all__ = ["FORMATS", "Subject", "render", "report_format", "subject_of", "write_figures", "write_report"]

FORMATS = ("html", "md", "tex", "csv")
FIGURES = ("pdf", "svg", "png", "pgf")


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Subject of a report."""

    title: str
    analysis: Analysis
    origin: StudyOrigin | None = None


def subject_of(
    source: Any,
    *,
    title: str | None = None,
    study: str | PathLike[str] | None = None,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> Subject:
    """Return the subject of a report on an Analysis, a results file, a table of results or a data frame.

    `study` names the results file of an Analysis, so that the report can say how the runs were made; `reading` are
    keywords of `read_results`, and `options` those of `analyse`."""
    if isinstance(source, Analysis):
        if options:
            given = ", ".join(map(repr, options))
            raise InvalidInput(f"an Analysis has its settings already, got {given}; give them to analyse")
        origin = None if study is None else origin_of_study(study)
        return Subject(title or (origin.plan.name if origin else "Comparison of algorithms"), source, origin)
    study = study or (source if is_study_file(source) else None)
    origin = None if study is None else origin_of_study(study)
    if not title:
        file = Path(source).stem if isinstance(source, str | PathLike) else "Comparison of algorithms"
        title = file if origin is None else origin.plan.name
    return Subject(title, analyse(read_results(source, **reading or {}), **options), origin)


def write_report(
    source: Any,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    study: str | PathLike[str] | None = None,
    **options: Any,
) -> Path:
    """Write a report on an Analysis, a results file, a table of results or a data frame; return where it is.

    Parameters
    ----------
    source : Analysis, path, DataFrame or Results
        What the report is about.
    path : path
        File to write; its ending is the format: .html (one page that needs nothing else), .tex, .md or .csv.
    title : str, optional
        Title of the report; by default the name of the study or of the file.
    study : path, optional
        Results file of an Analysis, so that the methods paragraph names the rule that made its runs.
    options : keywords
        Keywords of `analyse`, unless the source is an Analysis.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> frame = pd.DataFrame({"dataset": ["a", "b", "c", "d"], "old": [9, 8, 7, 9], "new": [5, 4, 4, 6]})
    >>> path = write_report(frame, tempfile.mkdtemp() + "/report.md", difference="simple", better="lower")
    >>> print(path.read_text(encoding="utf-8").splitlines()[2])
    **new is better than old.**
    """
    if not is_path(path):
        raise InvalidInput(f"a report needs the path of its file, got {path!r}")
    kind = report_format(path)  # checked before any work
    check_not_input(path, source, study)
    subject = source if isinstance(source, Subject) else subject_of(source, title=title, study=study, **options)
    text = render(subject, kind)
    with replace_file(path) as draft:  # a reader never sees half a report
        draft.write_text(text, encoding="utf-8", errors="replace", newline="\n")  # names may contain invalid characters
    return Path(path)


def render(subject: Subject, kind: str) -> str:
    """Return the text of a report in one of the formats."""
    match kind:
        case "html":
            from ampler.report.html import html_report

            return html_report(subject)
        case "md":
            from ampler.report.markdown import markdown_report

            return markdown_report(subject)
        case "tex":
            from ampler.report.latex import latex_report

            return latex_report(subject)
    from ampler.report.tables import comparisons_csv

    return comparisons_csv(subject.analysis, bayes=subject.analysis.weighs_a_margin)


def write_figures(subject: Subject, folder: str | PathLike[str], *, kind: str = "pdf") -> tuple[Path, ...]:
    """Write every figure of the report into a folder, as pdf, svg, png or pgf; return their paths.

    The first, verdict, is the rows with which a page begins.
    """
    from ampler.report.drawings import figures_of
    from ampler.report.figures.canvas import save

    if kind not in FIGURES:
        raise InvalidInput(f"figures must be one of {', '.join(FIGURES)}, got {kind!r}")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for drawing in figures_of(subject.analysis):
        paths.append(target / f"{drawing.name}.{kind}")
        save(drawing.draw(), paths[-1])
    return tuple(paths)


def report_format(path: str | PathLike[str]) -> str:
    """Return the format that a path asks for.

    >>> report_format("study.HTML")
    'html'
    """
    ending = Path(path).suffix.lstrip(".").lower()
    ending = {"htm": "html", "markdown": "md"}.get(ending, ending)
    if ending not in FORMATS:
        raise InvalidInput(f"a report must end in .html, .tex, .md or .csv, got {os.fspath(path)!r}")
    return ending
