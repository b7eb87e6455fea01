"""`ampler analyse`, `report` and `serve`: conclusions in a terminal, as a file, in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ampler.app import load_matplotlib
from ampler.app.cli import options as shared
from ampler.app.cli.options import IntegerOption, JsonOption, MeasureOption, Options, ResultsFiles
from ampler.app.cli.output import (
    WrongUsage,
    has_colours,
    mark_colours,
    note,
    say,
    say_lines,
    say_next,
    say_points,
    say_table,
    write_json,
)
from ampler.core.errors import MissingDependency

if TYPE_CHECKING:
    from ampler.analysis import Analysis
    from ampler.analysis.bayes import Bayes

Option = typer.Option
MAX_PROBABLE = 3  # maximum number of sentences with probabilities


@shared.takes(options=shared.results_options())
def analyse(
    files: ResultsFiles,
    options: Options,
    explain: Annotated[bool, Option("--explain", help="Show all verdicts, tests and warnings in detail.")] = False,
    explore: Annotated[bool, Option("--explore", help="Show subgroups and how stable the conclusion is.")] = False,
    bayes: Annotated[
        bool, Option("--bayes", help="Add posterior probabilities of worse, equivalent and better; needs --margin.")
    ] = False,
    json: JsonOption = False,
    latex: Annotated[bool, Option("--latex", help="Print the Holm table as LaTeX (booktabs).")] = False,
    csv: Annotated[bool, Option("--csv", help="Print the comparisons as CSV.")] = False,
    measure: MeasureOption = None,
) -> None:
    """Compare algorithms: verdicts and intervals.

    Example: ampler analyse runs.csv --reference full --difference ratio
    """
    from ampler import api
    from ampler.analysis import tables, text

    if json + latex + csv > 1:
        raise WrongUsage("choose one of --json, --latex and --csv")
    results, keywords = (None, {}) if measure else shared.read_options(files, options)
    if results is not None and len(results.runs.algorithms) == 1:
        if latex or csv or bayes or explore:
            raise WrongUsage(
                "the results have one algorithm, and nothing to compare: omit --latex, --csv, --bayes and --explore"
            )
        description = api.describe(results, settings=keywords["settings"])
        write_json(description.as_dict()) if json else say_lines(
            [*str(description).splitlines(), *results.lines(shell=True)[2:]]
        )
        return
    analysis = shared.analysed(files, options, measure) if results is None else api.analyse(results, **keywords)
    if json:
        write_json(analysis.as_dict() | ({"bayes": analysis.bayes.as_dict()} if bayes else {}))
    elif latex:
        from ampler.report.latex import bayes_tabular, holm_table

        say_lines([holm_table(analysis), *(["", bayes_tabular(analysis.bayes)] if bayes else [])])
    elif csv:
        from ampler.report.tables import comparisons_csv

        say_lines(comparisons_csv(analysis, bayes=bayes).splitlines())
    else:
        tell(analysis, explain=explain)
        if bayes:
            _tell_bayes(analysis.bayes)
        if explore and not analysis.unfinished:
            print()
            say(text.ABOUT_EXPLORATION, style="bold")
            say_table(tables.stability_columns(analysis))
            for remark in dict.fromkeys(row.note for row in analysis.stability if row.note):
                say(f"– {remark}.")
            if analysis.subgroups:
                say_table(tables.subgroup_columns(analysis))
        say_next("report", *files, *shared.as_command_line(options | {"measure": measure}), "-o", "report.html")


def tell(analysis: Analysis, *, explain: bool = False) -> None:
    """Print the analysis, in the width and the colours of this terminal."""
    from ampler.analysis.display import blocks
    from ampler.report.theme import TERMINAL

    styles = {"answer": "bold", "text": "", "quiet": "dim", "warning": TERMINAL["caution"] if has_colours() else ""}
    for block in blocks(analysis, shell=True, explain=explain):
        if block.paragraph:
            print(end="\n" * block.paragraph.startswith("\n"))
            say(block.paragraph.lstrip("\n"), style=styles[block.style])
        say_points(block.points)
        if block.table is not None:
            say_table(block.table, colours=mark_colours())


def _tell_bayes(bayes: Bayes) -> None:
    """Print how probable it is: the answer, the table, what to know of it, and who is best by rankings alone."""
    from ampler.analysis import bayes as posteriors

    print()
    say(posteriors.bayes_headline(bayes), style="bold")
    say_points(posteriors.bayes_sentences(bayes, most=MAX_PROBABLE))
    say_table(posteriors.bayes_columns(bayes))
    say_points(posteriors.footnotes(bayes))
    if bayes.ranking is not None:
        say_table(posteriors.ranking_columns(bayes))
        say(posteriors.ABOUT_RANKING)


@shared.takes(options=shared.results_options())
def report(
    files: ResultsFiles,
    options: Options,
    output: Annotated[
        Path, Option("--output", "-o", metavar="FILE", help="Report to write: .html, .tex, .md or .csv.")
    ] = Path("report.html"),
    title: Annotated[str | None, Option(metavar="TEXT", help="Title. [default: name of the study or file]")] = None,
    figures: Annotated[Path | None, Option(metavar="FOLDER", help="Also write every figure to this folder.")] = None,
    figure_format: Annotated[
        Literal["pdf", "svg", "png", "pgf"], Option(help="Format of these figures; pgf needs LaTeX.")
    ] = "pdf",
    measure: MeasureOption = None,
) -> None:
    """Write a report: HTML, LaTeX, Markdown, CSV.

    It contains tables, figures, and paragraphs on methods and results to paste.

    Example: ampler report study.db -o study.html
    """
    from ampler.api import is_study_file
    from ampler.core.serialization import check_not_input
    from ampler.report import report_format, subject_of, write_figures, write_report

    with shared.usage_errors():  # before any work is done
        kind = report_format(output)
        check_not_input(output, *files)
    analysis = shared.analysed(files, options, measure)
    study = files[0] if len(files) == 1 and is_study_file(files[0]) else None
    title = title or (None if study else " and ".join(dict.fromkeys(file.stem for file in files)))
    subject = subject_of(analysis, title=title, study=study)
    if kind == "html" or figures is not None:
        load_matplotlib()
    say_lines([f"Written: {write_report(subject, output)}"])  # never wrapped, so that it can be copied
    if figures is not None:
        say_lines([f"Written: {len(write_figures(subject, figures, kind=figure_format))} figures in {figures}"])
    if study is not None:
        say_next("export", study, "runs.csv")  # format of printed papers


def serve(
    studies: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[STUDY.DB]...", help="Results files to show; studies may be running."),
    ] = None,
    port: Annotated[int, IntegerOption(help="Port to listen on; 0 means any free port.")] = 0,
    host: Annotated[str, Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Show studies and results in a browser.

    It prints the address to open. Ctrl-C ends it.

    Example: ampler serve study.db
    """
    if not 0 <= port <= 65535:
        raise WrongUsage(f"--port must be between 0 and 65535, got {port}")
    try:
        from ampler.app.web import server
        from ampler.app.web.studies import check_watchable
    except ModuleNotFoundError as problem:
        raise MissingDependency("the browser needs Starlette and uvicorn: pip install 'ampler[web]'") from problem
    check_watchable(studies or [])
    token = token_urlsafe(24)  # on this machine, too: other users of it can open its ports
    with shared.usage_errors():
        listener = server.listening_socket(host, port)
    app = server.application(studies or [], host=host, token=token)
    say_lines([server.address_of(listener, host, token)])
    sys.stdout.flush()  # a program that reads the address through a pipe waits for it
    note("Open this address in a browser; Ctrl-C ends it.")
    server.answer_requests(app, listener)
