"""`ampler analyse`: what the results you have allow to conclude: the answer, then the table, then what to mind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.colours import colour, mark_colours
from ampler.app.shell.options import (
    JsonOption,
    ResultsFile,
    Said,
    as_arguments,
    option_words,
    results_options,
    takes,
)
from ampler.app.shell.output import WrongUsage, has_colours, say, say_lines, say_next, say_points, say_table, write_json
from ampler.core.layout import Column, TextTable

if TYPE_CHECKING:
    from ampler.analysis import Analysis
    from ampler.analysis.bayes import Bayes
    from ampler.core.values import Caution

Option = typer.Option
MOST_SENTENCES = 5  # about verdicts; the table has them all
MOST_PROBABLE = 3  # sentences with probabilities, beside how many more there are and what is undecided


@takes(asked=results_options())
def analyse(
    file: ResultsFile,
    asked: Said,
    explore: Annotated[bool, Option("--explore", help="Show subgroups and how stable the conclusion is.")] = False,
    bayes: Annotated[
        bool, Option("--bayes", help="Say how probable worse, equivalent and better are; goes with --margin.")
    ] = False,
    json: JsonOption = False,
    latex: Annotated[bool, Option("--latex", help="Print the Holm table as LaTeX (booktabs).")] = False,
    csv: Annotated[bool, Option("--csv", help="Print the comparisons as CSV.")] = False,
) -> None:
    """What may I conclude? Compare the algorithms of a study, or of results you already have.

    Example: ampler analyse runs.csv --reference full --difference percent
    """
    from ampler import front

    if json + latex + csv > 1:
        raise WrongUsage("choose one of --json, --latex and --csv")
    analysis = front.analyse(file, **as_arguments(file, asked))
    if json:
        write_json(analysis.as_dict() | ({"bayes": analysis.bayes.as_dict()} if bayes else {}))
    elif latex:
        say_lines([_latex(analysis, bayes=bayes)])
    elif csv:
        from ampler.report.csv import comparisons_csv

        say_lines(comparisons_csv(analysis, bayes=bayes).splitlines())
    else:
        tell(analysis)
        if bayes:
            tell_bayes(analysis.bayes)
        if explore and not analysis.unfinished:
            tell_exploration(analysis)
        _next(file, asked)


def _latex(analysis: Analysis, *, bayes: bool) -> str:
    from ampler.report.latex import bayes_tabular, holm_table

    return f"{holm_table(analysis)}\n\n{bayes_tabular(analysis.bayes)}" if bayes else holm_table(analysis)


def tell(analysis: Analysis) -> None:
    """Print what was found: the answer, the verdicts, the table, how it was tested, and what to mind."""
    from ampler.analysis import words
    from ampler.analysis.text import holm_columns
    from ampler.analysis.units import measure_in_words

    say(words.headline(analysis), style="bold")
    say(f"{measure_in_words(analysis)}.", style="dim")
    if taken := " ".join(each.in_shell for each in analysis.warnings if each.kind == "columns"):
        say(taken, style="dim")
    say_points(words.verdict_sentences(analysis, most=MOST_SENTENCES))
    say_table(_marked(holm_columns(analysis), analysis), colours=mark_colours())
    for line in words.question_lines(analysis):
        say(f"{line[0].upper()}{line[1:]}.", style="dim")
    say(words.about_intervals(analysis), style="dim")
    if analysis.looks is not None:
        say_points(words.course_sentences(analysis))
    if stopped := words.about_stopping(analysis):
        say(stopped)
    say(words.together(analysis), style="dim")
    _mind([caution for caution in analysis.warnings if caution.kind != "columns"])


def _mind(cautions: Sequence[Caution]) -> None:
    """What a reader must know, by what it could change: the gravest first."""
    from ampler.analysis.cautions import gravity, ranked

    if not cautions:
        return
    print()
    say("Mind:", style="bold")
    for what, alike in groupby(ranked(cautions), key=lambda caution: gravity(caution.kind)):
        say(f"{what[0].upper()}{what[1:]}:", style=colour("caution") if has_colours() else "")
        say_points(caution.in_shell for caution in alike)


def _marked(table: TextTable, analysis: Analysis) -> TextTable:
    """The table with the mark of each verdict before its row: colour never stands alone."""
    from ampler.analysis.answer import findings
    from ampler.analysis.text import said_of_second
    from ampler.report.look import MARKS

    marks = Column("", tuple(MARKS.get(said_of_second(each), " ") for each in findings(analysis).values()))
    return TextTable((marks, *table.columns), table.breaks)


def tell_bayes(bayes: Bayes) -> None:
    """Print how probable it is: the answer, the table, what to know of it, and who is best by rankings alone."""
    from ampler.analysis.bayes import words

    print()
    say(words.bayes_headline(bayes), style="bold")
    say_points(words.bayes_sentences(bayes, most=MOST_PROBABLE))
    say_table(words.bayes_columns(bayes))
    say_points(words.footnotes(bayes))
    if bayes.ranking is not None:
        say_table(words.ranking_columns(bayes))
        say(words.ABOUT_RANKING)


def tell_exploration(analysis: Analysis) -> None:
    """Print what is there for forming ideas: other tests and differences, subgroups."""
    from ampler.analysis import text, words

    print()
    say(words.ABOUT_EXPLORATION, style="bold")
    say_table(text.stability_columns(analysis))
    for note in dict.fromkeys(each.note for each in analysis.stability if each.note):
        say(f"– {note}.")
    if analysis.subgroups:
        say_table(text.subgroup_columns(analysis))


def _next(file: Path, asked: Said) -> None:
    """The same as a page, with the same options."""
    say_next("report", file, *option_words(asked), "-o", "report.html")
