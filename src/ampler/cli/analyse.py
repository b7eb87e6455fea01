"""`ampler analyse`: what the results you have allow to conclude."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ampler.cli.options import JsonOption, NumberOption, WholeOption
from ampler.cli.output import WrongUsage, write_json
from ampler.cli.table_options import (
    DIFFERENCES,
    AlgorithmOption,
    EncodingOption,
    FailureOption,
    InstanceOption,
    MetricOption,
    ValueOption,
    WhereOption,
    conditions,
    several,
)
from ampler.model import Alternative, Better, Difference, Test

if TYPE_CHECKING:
    from ampler.analysis import Analysis

Option = typer.Option


def analyse(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="study.db, CSV, Parquet, ARFF or hyperfine's JSON.")],
    reference: Annotated[str | None, Option(metavar="NAME", help="Compare all with this one; else all pairs.")] = None,
    difference: Annotated[Difference | None, Option(help="Must be chosen, unless a study says it.")] = None,
    test: Annotated[Test | None, Option(help="The paired test: t if not said.")] = None,
    alternative: Annotated[Alternative | None, Option(help="Of first - second: two-sided if not said.")] = None,
    alpha: Annotated[float | None, NumberOption(help="Family-wise error rate: 0.05 if not said.")] = None,
    better: Annotated[Better | None, Option(help="For the words of the verdict: lower if not said.")] = None,
    statistic: Annotated[
        str | None, Option(metavar="NAME", help="mean, median, trimmed-mean, a quantile: mean if not said.")
    ] = None,
    se: Annotated[float | None, NumberOption(help="The accuracy that was wanted on each instance.")] = None,
    budget: Annotated[int | None, WholeOption(help="The most runs on one instance.")] = None,
    margin: Annotated[float | None, NumberOption(help="Differences within it count as equivalent.")] = None,
    effect: Annotated[float | None, NumberOption(help="The effect that was planned for.")] = None,
    power: Annotated[float | None, NumberOption(help="The power that was planned for: 0.8 if not said.")] = None,
    formula: Annotated[
        Literal["delta", "paper"] | None, Option(help="Errors of percent differences, all with all: delta if not said.")
    ] = None,
    algorithm: AlgorithmOption = None,
    instance: InstanceOption = None,
    value: ValueOption = None,
    metric: MetricOption = None,
    where: WhereOption = None,
    encoding: EncodingOption = None,
    on_failure: FailureOption = None,
    explore: Annotated[bool, Option("--explore", help="Show subgroups and how stable the conclusion is.")] = False,
    json: JsonOption = False,
    latex: Annotated[bool, Option("--latex", help="Print the Holm table as LaTeX (booktabs).")] = False,
    csv: Annotated[bool, Option("--csv", help="Print the comparisons as CSV.")] = False,
) -> None:
    """What may I conclude? Compare the algorithms of a study, or of results you already have.

    Example: ampler analyse runs.csv --reference full --difference percent
    """
    from ampler import sources

    if json + latex + csv > 1:
        raise WrongUsage("choose one of --json, --latex and --csv")
    if difference is None and not sources.is_study_file(file):
        raise WrongUsage(f"say which difference is compared: {DIFFERENCES}")
    analysis = sources.analyse(
        file,
        difference=difference,
        reference=reference,
        better=better,
        test=test,
        alternative=alternative,
        alpha=alpha,
        statistic=statistic,
        formula=formula,
        se=se,
        budget=budget,
        margin=margin,
        effect=effect,
        power=power,
        on_failure=on_failure,
        algorithm=several(algorithm),
        instance=several(instance),
        value=value,
        metric=metric,
        where=conditions(where),
        encoding=encoding,
    )
    _print(analysis, explore=explore, json=json, latex=latex, csv=csv)


def _print(analysis: Analysis, *, explore: bool, json: bool, latex: bool, csv: bool) -> None:
    if json:
        write_json(analysis.as_dict())
    elif latex:
        from ampler.latex import holm_table

        print(holm_table(analysis))
    elif csv:
        print(analysis.table().to_csv(index=False), end="")
    else:
        from ampler.cli.findings import tell, tell_exploration

        tell(analysis)
        if explore:
            tell_exploration(analysis)
