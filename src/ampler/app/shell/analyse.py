"""`ampler analyse`: what the results you have allow to conclude: the answer, then the table, then what to mind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.options import (
    JsonOption,
    ResultsFile,
    Said,
    as_arguments,
    results_options,
    takes,
)
from ampler.app.shell.output import WrongUsage, say, say_lines, say_points, write_json

if TYPE_CHECKING:
    from ampler.analysis import Analysis
    from ampler.analysis.bayes import Bayes

Option = typer.Option
MOST_SENTENCES = 12  # verdicts told in full; the table has them all
MOST_PROBABLE = 6  # of the longer sentences with probabilities


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
        if explore:
            tell_exploration(analysis)


def _latex(analysis: Analysis, *, bayes: bool) -> str:
    from ampler.report.latex import bayes_tabular, holm_table

    return f"{holm_table(analysis)}\n\n{bayes_tabular(analysis.bayes)}" if bayes else holm_table(analysis)


def tell(analysis: Analysis) -> None:
    """Print what was found."""
    from ampler.analysis import words

    say(words.headline(analysis), style="bold")
    if taken := words.taken(analysis):
        say(taken)
    say_points(words.verdict_sentences(analysis, most=MOST_SENTENCES))
    print()
    for line in words.question_lines(analysis):
        say(f"{line[0].upper()}{line[1:]}.")
    print()
    say_lines(words.holm_lines(analysis))
    print()
    say(words.about_intervals(analysis))
    if analysis.looks is not None:
        say_points(words.course_sentences(analysis))
    if stopped := words.about_stopping(analysis):
        say(stopped)
    say(words.together(analysis))
    mind = [caution.sentence for caution in analysis.warnings if caution.kind != "columns"]
    if mind:
        print()
        say("Mind:", style="bold")
        say_points(mind)


def tell_bayes(bayes: Bayes) -> None:
    """Print how probable it is: the answer, the table, what to know of it, and who is best by rankings alone."""
    from ampler.analysis.bayes import words

    print()
    say(words.bayes_headline(bayes), style="bold")
    say_points(words.bayes_sentences(bayes, most=MOST_PROBABLE))
    print()
    say_lines(words.bayes_lines(bayes))
    print()
    say_points(words.footnotes(bayes))
    if bayes.ranking is not None:
        print()
        say_lines(words.ranking_lines(bayes))
        print()
        say(words.ABOUT_RANKING)


def tell_exploration(analysis: Analysis) -> None:
    """Print what is there for forming ideas: other tests and differences, subgroups."""
    from ampler.analysis import words

    print()
    say(words.ABOUT_EXPLORATION, style="bold")
    say_lines(words.stability_lines(analysis))
    for note in dict.fromkeys(each.note for each in analysis.stability if each.note):
        say(f"– {note}.")
    if analysis.subgroups:
        print()
        say_lines(words.subgroup_lines(analysis))
