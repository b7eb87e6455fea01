"""`ampler analyse`: what the results you have allow to conclude."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.analysis_options import AnalysisOptions, ResultsFile, takes_analysis_options
from ampler.app.shell.options import JsonOption
from ampler.app.shell.output import WrongUsage, write_json

if TYPE_CHECKING:
    from ampler.analysis import Analysis

Option = typer.Option


@takes_analysis_options
def analyse(
    file: ResultsFile,
    asked: AnalysisOptions,
    explore: Annotated[bool, Option("--explore", help="Show subgroups and how stable the conclusion is.")] = False,
    json: JsonOption = False,
    latex: Annotated[bool, Option("--latex", help="Print the Holm table as LaTeX (booktabs).")] = False,
    csv: Annotated[bool, Option("--csv", help="Print the comparisons as CSV.")] = False,
) -> None:
    """What may I conclude? Compare the algorithms of a study, or of results you already have.

    Example: ampler analyse runs.csv --reference full --difference percent
    """
    if json + latex + csv > 1:
        raise WrongUsage("choose one of --json, --latex and --csv")
    _print(asked.analysis_of(file), explore=explore, json=json, latex=latex, csv=csv)


def _print(analysis: Analysis, *, explore: bool, json: bool, latex: bool, csv: bool) -> None:
    if json:
        write_json(analysis.as_dict())
    elif latex:
        from ampler.report.latex import holm_table

        print(holm_table(analysis))
    elif csv:
        from ampler.report.csv import comparisons_csv

        print(comparisons_csv(analysis), end="")
    else:
        from ampler.app.shell.findings import tell, tell_exploration

        tell(analysis)
        if explore:
            tell_exploration(analysis)
