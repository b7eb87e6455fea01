"""The options of every command that analyses results, declared once: a command takes them all as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from ampler.app.shell.options import NumberOption, WholeOption
from ampler.app.shell.output import WrongUsage
from ampler.app.shell.table_options import (
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
from ampler.core.values import Alternative, Better, Difference, Test

if TYPE_CHECKING:
    from ampler.analysis import Analysis

Option = typer.Option

ResultsFile = Annotated[Path, typer.Argument(metavar="FILE", help="study.db, CSV, Parquet, ARFF or hyperfine's JSON.")]


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """What is asked of results, as the shell takes it."""

    reference: Annotated[str | None, Option(metavar="NAME", help="Compare all with this one; else all pairs.")] = None
    difference: Annotated[Difference | None, Option(help="Must be chosen, unless a study says it.")] = None
    test: Annotated[Test | None, Option(help="The paired test: t if not said.")] = None
    alternative: Annotated[Alternative | None, Option(help="Of first - second: two-sided if not said.")] = None
    alpha: Annotated[float | None, NumberOption(help="Family-wise error rate: 0.05 if not said.")] = None
    better: Annotated[Better | None, Option(help="For the words of the verdict: lower if not said.")] = None
    statistic: Annotated[
        str | None, Option(metavar="NAME", help="mean, median, trimmed-mean, a quantile: mean if not said.")
    ] = None
    se: Annotated[float | None, NumberOption(help="The accuracy that was wanted on each instance.")] = None
    budget: Annotated[int | None, WholeOption(help="The most runs on one instance.")] = None
    margin: Annotated[float | None, NumberOption(help="Differences within it count as equivalent.")] = None
    effect: Annotated[float | None, NumberOption(help="The effect that was planned for.")] = None
    power: Annotated[float | None, NumberOption(help="The power that was planned for: 0.8 if not said.")] = None
    formula: Annotated[
        Literal["delta", "paper"] | None, Option(help="Errors of percent differences, all with all: delta if not said.")
    ] = None
    algorithm: AlgorithmOption = None
    instance: InstanceOption = None
    value: ValueOption = None
    metric: MetricOption = None
    where: WhereOption = None
    encoding: EncodingOption = None
    on_failure: FailureOption = None

    def for_analysis(self, file: Path) -> dict[str, Any]:
        """Return the options as `analyse` takes them; WrongUsage when the kind of difference is not said."""
        from ampler.front import is_study_file

        if self.difference is None and not is_study_file(file):
            raise WrongUsage(f"say which difference is compared: {DIFFERENCES}")
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return said | {
            "algorithm": several(self.algorithm),
            "instance": several(self.instance),
            "where": conditions(self.where),
        }

    def analysis_of(self, file: Path) -> Analysis:
        """Return the analysis of a file under these options."""
        from ampler.front import analyse

        return analyse(file, **self.for_analysis(file))


def takes_analysis_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command with a parameter `asked` the options of an analysis, in the place of that parameter."""
    hints = get_type_hints(AnalysisOptions, include_extras=True)
    own = get_type_hints(command, include_extras=True)
    options = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(AnalysisOptions)
    ]
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        mine = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=own[parameter.name])
        parameters += options if parameter.name == "asked" else [mine]

    @wraps(command)
    def with_options(**said: Any) -> None:
        asked = AnalysisOptions(**{field.name: said.pop(field.name) for field in fields(AnalysisOptions)})
        command(asked=asked, **said)

    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_options
