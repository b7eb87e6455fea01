"""`ampler analyse`: what the results you have allow to conclude: the answer, then the table, then what to mind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.options import JsonOption, ResultsFile, Said, as_arguments, settings_options, table_options, takes
from ampler.app.shell.output import WrongUsage, say, say_lines, say_points, write_json

if TYPE_CHECKING:
    from ampler.analysis import Analysis

Option = typer.Option
MOST_SENTENCES = 12  # verdicts told in full; the table has them all


@takes(asked=[*settings_options(), *table_options()])
def analyse(
    file: ResultsFile,
    asked: Said,
    explore: Annotated[bool, Option("--explore", help="Show subgroups and how stable the conclusion is.")] = False,
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
        write_json(analysis.as_dict())
    elif latex:
        from ampler.report.latex import holm_table

        print(holm_table(analysis))
    elif csv:
        from ampler.report.csv import comparisons_csv

        print(comparisons_csv(analysis), end="")
    else:
        tell(analysis)
        if explore:
            tell_exploration(analysis)


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
    say(words.together(analysis))
    mind = [caution.sentence for caution in analysis.warnings if caution.kind != "columns"]
    if mind:
        print()
        say("Mind:", style="bold")
        say_points(mind)


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
