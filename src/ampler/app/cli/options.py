"""Shared options of commands, and the parsing of texts. Options of an analysis are made from its settings."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from glob import glob
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from ampler.app.cli.output import PROBLEM, WRONG_USAGE, WrongUsage
from ampler.core.errors import InvalidData, InvalidInput
from ampler.core.settings import MOST_WORKERS, READING, choices, declared, help_text, types
from ampler.core.text import proposal, shortened, split_names

if TYPE_CHECKING:
    from ampler.analysis import Analysis
    from ampler.analysis.results import Results

Option = typer.Option
Options = dict[str, Any]  # by name; None: left out

LISTS = (  # names joined by commas
    *("algorithm", "algorithms", "instance", "ignore", "describing", "paired", "resampled", "nested", "crossed"),
    "names",
)
GROUPS = {  # of the options on a help page, by the names of the parameters; others are Output
    "Question": "also measure reference difference better margin non_inferior alternative alpha power effect detect"
    " target inference goal vs_one comparisons instances assurance effect_sd available tolerance allow_inconclusive",
    "Table columns": " ".join(name for name in READING if name not in ("on_failure", "ignore_looks", "unplanned")),
    "Statistics": "test statistic estimate weights floor shift formula mean_over cluster_effects correction guard"
    " on_failure ignore_looks unplanned sd looks per_cluster icc bayes explore",
    "How the runs were made": "se budget start precision runs same timeout workers seconds cost instance_cost",
}
MANY_OPTIONS = 15  # number of options from which a help page has groups
JsonOption = Annotated[bool, Option("--json", help="Print one JSON document.")]
ResultsFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="study.db, a table, another tool's output, or one file per algorithm."),
]
StudyFile = Annotated[Path, typer.Argument(metavar="STUDY.DB", help="Results file of the study.")]


def as_number(text: str | float) -> float:
    """Read a number, or a percentage, with a better message than typer's.

    >>> as_number("0.5"), as_number("1%")
    (0.5, 0.01)
    """
    try:
        if isinstance(text, str) and text.strip().endswith("%"):
            return float(text.strip()[:-1]) / 100
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; write it like 0.5") from None


def as_integer(text: str | int) -> int:
    """Read a whole number.

    >>> as_integer("57")
    57
    """
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number; write it like 57") from None


def _as_word(name: str, text: str) -> str:
    """Return the choice for a text, aliases included, with our own message."""
    try:
        return str(declared()[name].check(name, text))  # type: ignore[misc]
    except InvalidInput as problem:
        raise typer.BadParameter(str(problem)) from None


NumberOption = partial(Option, parser=as_number, metavar="NUMBER")
IntegerOption = partial(Option, parser=as_integer, metavar="N")
StoreOption = Annotated[
    Path | None, Option(metavar="FILE", help="Results file. [default: study.db, named like study.toml]")
]
WorkersOption = Annotated[int | None, IntegerOption(help=help_text("workers"))]


class GroupedCommand(TyperCommand):
    """A command whose help page sorts many options into groups, and shows metavars instead of types."""

    def collect_usage_pieces(self, context: Any) -> list[str]:
        """Return the parts of the usage line."""
        pieces = [parameter.metavar for parameter in self.params if parameter.param_type_name == "argument"]
        return ["[OPTIONS]", *map(str, pieces)]

    def format_options(self, context: Any, formatter: Any) -> None:
        """Write the arguments and the options."""
        records: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        parameters = self.get_params(context)
        group_of = {name: group for group, names in GROUPS.items() for name in names.split()}
        if all(parameter.name != "instance" for parameter in parameters):  # no table is read
            group_of["algorithms"] = "Question"
        for parameter in parameters:
            name, help = parameter.get_help_record(context) or ("", "")
            if parameter.param_type_name == "argument":
                records["Arguments"].append((str(parameter.metavar), help))
                continue
            group = "Options" if len(parameters) < MANY_OPTIONS else group_of.get(str(parameter.name), "Output")
            records.setdefault(group, []).append((name.replace("<", "{").replace(">", "}"), help.replace("  [", " [")))
        for group in ("Arguments", "Options", *GROUPS, "Output"):
            if records.get(group):
                with formatter.section(group):
                    formatter.write_dl(records[group])


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn errors of the options alone into wrong usage; data are not read here."""
    try:
        yield
    except InvalidInput as problem:
        raise WrongUsage(problem.in_shell) from None


def check_workers(workers: int | None) -> None:
    """Refuse a number of workers below 1 or above the maximum."""
    if workers is not None and workers < 1:
        raise WrongUsage(f"--workers must be at least 1, got {workers}")
    if workers is not None and workers > MOST_WORKERS:
        raise WrongUsage(f"--workers must be at most {MOST_WORKERS:,}, got {shortened(str(workers))}")


# many options as one parameter ------------------------------------------------------------------------------------


def takes(**slots: Sequence[inspect.Parameter]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put options in place of a command's parameter of that name, which then gets their values, by name."""

    def with_slots(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            alone = own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[own.name])
            parameters += slots.get(own.name, [alone])

        @wraps(command)
        def call(**values: Any) -> None:
            grouped = {slot: {own.name: values.pop(own.name) for own in options} for slot, options in slots.items()}
            command(**grouped, **values)

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return call

    return with_slots


def settings_options(*names: str) -> list[inspect.Parameter]:
    """Return the options for these settings of an analysis, or for all."""
    chosen = names or [name for name, setting in declared().items() if setting.option]
    return [_option(name, _setting_type(name)) for name in chosen]


def reading_options(*, leave_out: Sequence[str] = ()) -> list[inspect.Parameter]:
    """Return the options of how results are read: columns, rows, failed runs, interim analyses."""
    options = []
    for name, (kind, setting) in READING.items():
        if kind.startswith("bool"):
            flag = Option(f"--{name.replace('_', '-')}", help=help_text(name))
            options.append(_option(name, Annotated[bool, flag], default=False))
        elif kind.startswith("float"):
            options.append(_option(name, Annotated[float | None, NumberOption(help=help_text(name))]))
        else:
            texts = list[str] if name == "where" else str
            options.append(
                _option(name, Annotated[texts | None, Option(metavar=setting.metavar, help=help_text(name))])
            )
    return [option for option in options if option.name not in leave_out]


def results_options() -> list[inspect.Parameter]:
    """Return every option about results and how they are analysed."""
    return [*settings_options(), *reading_options()]


def _option(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _setting_type(name: str) -> Any:
    """The type of a setting's option; it may always be left out."""
    kind, help = types()[name], help_text(name)
    kinds = get_args(kind) if get_origin(kind) is UnionType else (kind,)
    if float in kinds:
        return Annotated[float | None, NumberOption(help=help)]
    if int in kinds:
        return Annotated[int | None, IntegerOption(help=help)]
    if str in kinds:
        return Annotated[str | None, Option(metavar=declared()[name].metavar, help=help)]

    def as_word(text: str) -> str:  # not a partial, as typer 0.19 needs a name
        return _as_word(name, text)

    return Annotated[str | None, Option(parser=as_word, metavar=f"<{'|'.join(choices(name))}>", help=help)]


# texts as values --------------------------------------------------------------------------------------------------


def read_options(files: Path | Sequence[Path], options: Options) -> tuple[Results, dict[str, Any]]:
    """Read results as options say; return them with the keywords of `analyse` and `advise`.

    WrongUsage for options that no data could make right, and where choices are missing: all of them at once.
    """
    from ampler.api import check_encoding, is_study_file, missing_choices
    from ampler.core.failures import as_policy
    from ampler.core.settings import Settings
    from ampler.stats.summaries import summary_of

    files = [files] if isinstance(files, Path) else _expanded(files)
    file = files[0] if len(files) == 1 else None
    values = {name: value for name, value in options.items() if value is not None}
    chosen = {name: value for name, value in values.items() if name in declared()}
    reading = {name: value for name, value in values.items() if name in READING}
    difference = chosen.get("difference")
    with usage_errors():
        settings = Settings(**chosen | {"difference": None})
        if difference is not None:  # check that these fit together: a table has no settings of its own
            Settings(**{"difference": difference} if is_study_file(file) else chosen)
        if "on_failure" in reading:
            as_policy(reading["on_failure"])
        summary_of(settings.statistic)
        check_encoding(reading.get("encoding"))
    reading |= {name: split_names(reading[name]) for name in LISTS if name in reading}
    source, reading = files if file is None else file, reading | {"where": conditions(reading.get("where"))}
    results, questions = _read_with_proposals(source, reading)
    if missing := missing_choices(results, results.settings.keys() | chosen.keys()):
        text = _missing_text(results, questions, missing)
        raise WrongUsage(text, WRONG_USAGE if "difference" in missing else PROBLEM)
    if questions:
        raise questions[0]
    return results, {"difference": difference, "settings": settings}


def _read_with_proposals(source: Any, reading: Options) -> tuple[Results, list[InvalidData]]:
    """Read results; each question about columns is answered by its first proposal, and returned."""
    from ampler.api import read_results

    questions: list[InvalidData] = []
    while True:
        try:
            return read_results(source, **reading), questions
        except InvalidData as problem:
            name, value, _ = proposal(problem.message)
            is_column = READING.get(name, ("bool",))[0].startswith(("str", "dict"))
            if not is_column or name == "on_failure" or (reading.get(name) and name != "where"):
                raise (questions[0] if questions else problem) from None
            questions.append(problem)
            reading = reading | {name: reading["where"] | value if name == "where" else value}


MeasureOption = Annotated[
    list[str] | None,
    Option(
        "--measure", metavar="KEY=VALUE,...", help="One of several measures: name, better, difference, role, margin."
    ),
]


def analysed(files: Sequence[Path], options: Options, measures: list[str] | None) -> Analysis:
    """Analyse results as options say: those of a study, of one column, or of several columns of a table."""
    from ampler import api
    from ampler.analysis.measures import measures_analysis
    from ampler.core.measures import checked_measures

    if not measures:
        results, keywords = read_options(files, options)
        return api.analyse(results, **keywords)
    with usage_errors():
        if len(files) == 1 and api.is_study_file(files[0]):
            raise WrongUsage("a results file has the measures of its [[measure]] tables; leave out --measure")
        chosen = checked_measures([_measure(text) for text in measures])
        if clash := [name for name in ("difference", "better", "value", "margin") if options.get(name) is not None]:
            raise WrongUsage(f"each --measure has its own {clash[0]}; leave out --{clash[0]}")
    analyses, ignored = {}, split_names(options["ignore"]) if options.get("ignore") else ()
    for item in chosen:
        others = [other.name for other in chosen if other is not item]
        own: Options = {"difference": item.difference, "better": item.better, "value": item.name}
        own |= {"ignore": ",".join([*ignored, *others]) or None}
        own |= {} if item.penalty is None else {"on_failure": f"penalty={item.penalty!r}"}
        with api.measures_named(chosen):
            results, keywords = read_options(files, options | own)
        analyses[item.name] = api.analyse(results, **keywords)
    [primary] = [analyses[item.name] for item in chosen if item.role == "primary"]
    return replace(primary, measures=measures_analysis(chosen, analyses, primary.settings.alpha))


def _measure(text: str) -> dict[str, Any]:
    """The measure of one --measure; one with a margin is non-inferior unless a role is there."""
    pairs = dict(
        assignment(part, "--measure", "name=seconds,better=lower,difference=ratio") for part in text.split(",")
    )
    return {key: as_number(value) if key in ("margin", "penalty") else value for key, value in pairs.items()}


def _expanded(files: Iterable[Path]) -> list[Path]:
    """The files, those of a pattern that no shell expanded in order."""
    expanded: list[Path] = []
    for file in files:
        is_pattern = not file.exists() and any(mark in str(file) for mark in "*?[")
        expanded += map(Path, sorted(glob(str(file)))) if is_pattern else [file]
    return expanded


def _missing_text(results: Results, questions: Sequence[InvalidData], missing: Mapping[str, str]) -> str:
    """Message with the reading of the results, every missing choice, and a complete command to paste."""
    from ampler.core.failures import failed_text

    positive = bool((results.runs.value[results.runs.ok] > 0).all())
    examples = {"difference": "ratio" if positive else "simple", "better": "lower", "on_failure": "drop"}
    command = shlex.join(["ampler", *sys.argv[1:], *as_command_line({name: examples[name] for name in missing})])
    proposals = (proposal(question.message)[2] for question in questions)
    reasons = {"on_failure": f" {failed_text(results.runs).capitalize()}."} if "on_failure" in missing else {}
    needed = [f"• {question.in_shell}" for question in questions] + [
        f"• --{name.replace('_', '-')} {'|'.join(choices(name)) or 'POLICY'}  {help_text(name)}{reasons.get(name, '')}"
        for name in missing
    ]
    if_lower = ", if lower values are better" if "better" in missing else ""
    lines = [*results.lines(shell=True), "These choices have no default:", *needed, f"A complete command{if_lower}:"]
    return "\n".join(["choose how to compare.", *lines, " ".join([command, *proposals])])


def as_command_line(options: Options) -> list[str]:
    """Return options as they were typed, so that another command can be given them.

    >>> as_command_line({"difference": "percent", "where": ["d=30"], "on_failure": None, "ignore_looks": True})
    ['--difference', 'percent', '--where', 'd=30', '--ignore-looks']
    """
    arguments = []
    for name, values in options.items():
        for value in values if isinstance(values, list) else [values]:
            if value is not None and value is not False:
                arguments += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return arguments


def text_or_integer(text: str | None) -> Any:
    """Return a whole number as one; every other text is checked where it is used.

    >>> text_or_integer("3"), text_or_integer("mean")
    (3, 'mean')
    """
    return int(text) if text is not None and text.lstrip("-").isdecimal() else text


def conditions(texts: Iterable[str] | None) -> dict[str, object]:
    """Return the conditions COLUMN=VALUE, by column.

    >>> conditions(["dimension=30"])
    {'dimension': '30'}
    """
    return dict(assignment(text, "--where", "dimension=30") for text in texts or ())


def assignment(text: str, option: str, example: str) -> tuple[str, str]:
    """Return the two sides of NAME=VALUE."""
    name, equals, value = text.rpartition("=") if option == "--cost" else text.partition("=")
    if not (name and equals and value):
        raise WrongUsage(f"{option} must look like {example}, got {text!r}")
    return name, value
