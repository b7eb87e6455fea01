"""`ampler report`: what was found, as a page, a LaTeX document, Markdown or CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ampler.app.shell.options import (
    ResultsFile,
    Said,
    as_arguments,
    results_options,
    takes,
    told_as_usage,
)
from ampler.app.shell.output import say_lines, say_next
from ampler.app.surroundings import load_matplotlib

Option = typer.Option


@takes(asked=results_options())
def report(
    file: ResultsFile,
    asked: Said,
    output: Annotated[
        Path, Option("--output", "-o", metavar="FILE", help="Ends in .html, .tex, .md or .csv, which is the format.")
    ] = Path("report.html"),
    title: Annotated[str | None, Option(metavar="TEXT", help="The study's or the file's name if not said.")] = None,
    figures: Annotated[Path | None, Option(metavar="FOLDER", help="Write every figure into it as well.")] = None,
    figure_format: Annotated[
        Literal["pdf", "svg", "png", "pgf"], Option(help="Of those figures; pgf needs LaTeX.")
    ] = "pdf",
) -> None:
    """Write a report: one HTML page that needs nothing else, or tables and a methods paragraph to paste.

    Example: ampler report study.db -o study.html
    """
    from ampler.core.files import check_not_input
    from ampler.front import is_study_file
    from ampler.report import report_format, subject_of, write_figures, write_report

    with told_as_usage():  # said before any work is done
        kind = report_format(output)
        check_not_input(output, file)
    subject = subject_of(file, title=title, **as_arguments(file, asked))
    if kind == "html" or figures is not None:
        load_matplotlib()
    say_lines([f"Written: {write_report(subject, output)}"])  # never wrapped, so that it can be copied
    if figures is not None:
        say_lines([f"Written: {len(write_figures(subject, figures, kind=figure_format))} figures in {figures}"])
    if is_study_file(file):
        say_next("export", file, "runs.csv")  # what a paper is published with
