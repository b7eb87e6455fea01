"""Options that several commands have, and how words become values. Those of an analysis are made from its settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from ampler.app.shell.output import WrongUsage
from ampler.core.checks import MOST_WORKERS
from ampler.core.enumerated import names_in
from ampler.core.errors import InvalidInput
from ampler.core.settings import declared, types
from ampler.core.wording import shortened

Option = typer.Option
Said = dict[str, Any]  # options by name, as they were said; None: not said

SEVERAL = (
    "algorithm",
    "algorithms",
    "instance",
    "ignore",
    "describing",
    "paired",
)  # take names joined by commas
DIFFERENCES = "--difference simple (a - b), percent (of the reference or the grand mean) or ratio (a / b)"

JsonOption = Annotated[bool, Option("--json", help="Print one JSON document and nothing else.")]
ResultsFile = Annotated[Path, typer.Argument(metavar="FILE", help="study.db, a table, or what another tool left.")]


def as_number(text: str | float) -> float:
    """Read a number; typer's own message would not say what was written.

    >>> as_number("0.5")
    0.5
    """
    try:
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


NumberOption = partial(Option, parser=as_number, metavar="NUMBER")
WholeOption = partial(Option, parser=as_integer, metavar="N")


def Flag(name: str, help: str) -> Any:  # noqa: N802 - stands in signatures beside Option
    """Return an option without a value."""
    return Option(name, help=help)


StoreOption = Annotated[
    Path | None, Option(metavar="FILE", help="Where runs are kept; default: the study's name with .db.")
]
WorkersOption = Annotated[int | None, WholeOption(help="Runs at the same time; default: one for each core.")]


@contextmanager
def told_as_usage() -> Iterator[None]:
    """Have what options alone make wrong leave with the exit code of wrong usage; data are not read here."""
    try:
        yield
    except InvalidInput as problem:
        raise WrongUsage(problem.in_shell) from None


def from_options_alone(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command that reads no data: whatever it refuses is wrong usage."""

    @wraps(command)
    def call(*words: Any, **said: Any) -> None:
        with told_as_usage():
            command(*words, **said)

    return call


def check_workers(workers: int | None) -> None:
    """Refuse to make runs by nobody, or by more than a machine can bear."""
    if workers is not None and workers < 1:
        raise WrongUsage(f"--workers must be at least 1, got {workers}")
    if workers is not None and workers > MOST_WORKERS:
        raise WrongUsage(f"--workers must be at most {MOST_WORKERS:,}, got {shortened(str(workers))}")


# many options as one parameter ------------------------------------------------------------------------------------


def takes(**slots: Sequence[inspect.Parameter]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put options in the place of a command's parameter of that name, which then gets what they say, by name."""

    def with_slots(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            kept = own.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[own.name])
            parameters += slots.get(own.name, [kept])

        @wraps(command)
        def call(**said: Any) -> None:
            grouped = {slot: {each.name: said.pop(each.name) for each in options} for slot, options in slots.items()}
            command(**grouped, **said)

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return call

    return with_slots


def settings_options(*names: str, **words: str) -> list[inspect.Parameter]:
    """Return the options for these settings of an analysis, or for all; `words` replace the help of some."""
    chosen = names or [name for name, setting in declared().items() if setting.help]
    return [_optional(name, _kind(name, words.get(name) or declared()[name].help)) for name in chosen]


def table_options() -> list[inspect.Parameter]:
    """Return the options of a table of results: which columns, which rows, what failed runs count as."""
    return [
        _optional("algorithm", _text("COLUMN", "Names the algorithm; several: a,b.")),
        _optional("algorithms", _text("NAMES", "Compare these only: a,b,c; columns of a wide table.")),
        _optional("instance", _text("COLUMN", "Names the instance; several: a,b.")),
        _optional("ignore", _text("COLUMNS", "Columns that are not looked at: a,b.")),
        _optional("describing", _text("COLUMNS", "Columns that describe instances, whatever their names: a,b.")),
        _optional("value", _text("COLUMN", "Holds the value to compare.")),
        _optional("metric", _text("NAME", "Which metric, if the table has several.")),
        _optional(
            "where",
            Annotated[list[str] | None, Option(metavar="COLUMN=VALUE", help="Use these rows only; repeatable.")],
        ),
        _optional("decimal", _text("MARK", "Decimal mark of numbers, a point or a comma. [default: as cells show]")),
        _optional("encoding", _text("NAME", "Of a text file that is not UTF-8, as cp1252.")),
        _optional(
            "on_failure", _text("POLICY", "A failed run counts as: drop, penalty=VALUE, par=K[,cutoff=SECONDS].")
        ),
    ]


def pairing_options() -> list[inspect.Parameter]:
    """Return the option that says what runs of different algorithms share."""
    return [_optional("paired", _text("COLUMN", "Runs with the same here belong together, as folds; several: a,b."))]


def results_options() -> list[inspect.Parameter]:
    """Return everything that can be said of results and of how they are analysed."""
    return [*settings_options(), *table_options(), *pairing_options(), *looks_options(), *unplanned_options()]


def looks_options() -> list[inspect.Parameter]:
    """Return the option to forget that a study was looked at on the way."""
    kind = Annotated[bool, Option("--ignore-looks", help="Ordinary tests of a study with looks: no level is kept.")]
    return [inspect.Parameter("ignore_looks", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)]


def unplanned_options() -> list[inspect.Parameter]:
    """Return the option to test a study before it is finished."""
    kind = Annotated[bool, Option("--unplanned", help="Test a study that is not finished: no level is kept.")]
    return [inspect.Parameter("unplanned", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)]


def _optional(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _kind(name: str, help: str) -> Any:
    """The type of a setting's option; it may always be left out."""
    kind = types()[name]
    kinds = get_args(kind) if get_origin(kind) is UnionType else (kind,)
    if float in kinds:
        return Annotated[float | None, NumberOption(help=help)]
    if int in kinds:
        return Annotated[int | None, WholeOption(help=help)]
    if str in kinds:
        return _text(declared()[name].metavar, help)
    return Annotated[kind | None, Option(help=help)]


def _text(metavar: str | None, help: str) -> Any:
    return Annotated[str | None, Option(metavar=metavar, help=help)]


# words as values --------------------------------------------------------------------------------------------------


def as_arguments(file: Path, said: Said) -> Said:
    """Return options as `analyse` and `advise` take them; WrongUsage when the kind of difference is not said."""
    from ampler.front import is_study_file

    is_study = is_study_file(file)
    if said["difference"] is None and not is_study:
        raise WrongUsage(f"say which difference is compared: {DIFFERENCES}")
    with told_as_usage():
        check_said(said, together=not is_study)
    columns = {name: several(said[name]) for name in SEVERAL if name in said}
    return said | columns | {"where": conditions(said["where"])}


def check_said(said: Said, *, together: bool) -> None:
    """Raise InvalidInput for options that no data could make right; `together`: no study file adds to them."""
    from ampler.core.failures import as_policy
    from ampler.core.settings import AnalysisSettings
    from ampler.front import check_encoding
    from ampler.stats.summaries import summary_of

    given = {name: value for name, value in said.items() if value is not None}
    for name in given.keys() & declared().keys():
        check = declared()[name].check
        if check is not None:
            check(name, given[name])
    if "on_failure" in given:
        as_policy(given["on_failure"])
    if "statistic" in given:
        summary_of(given["statistic"])
    check_encoding(given.get("encoding"))
    if together:
        AnalysisSettings(**{name: value for name, value in given.items() if name in declared()})


def option_words(said: Said) -> list[str]:
    """Return options as they were said, so that another command can be given them.

    >>> option_words({"difference": "percent", "where": ["d=30"], "on_failure": None, "ignore_looks": True})
    ['--difference', 'percent', '--where', 'd=30', '--ignore-looks']
    """
    given = {
        f"--{name.replace('_', '-')}": value for name, value in said.items() if value is not None and value is not False
    }
    return [
        word
        for option, value in given.items()
        for each in (value if isinstance(value, list) else [value])
        for word in ([option] if each is True else [option, str(each)])
    ]


def word_or_number(word: str | None) -> Any:
    """Return a whole number as one; every other word is checked where it is used.

    >>> word_or_number("3"), word_or_number("mean")
    (3, 'mean')
    """
    return int(word) if word is not None and word.lstrip("-").isdecimal() else word


def several(names: str | None) -> list[str] | None:
    """Return the names of columns joined by commas; one that holds a comma is in quotes.

    >>> several("function, dimension")
    ['function', 'dimension']
    """
    return None if names is None else names_in(names)


def conditions(words: Iterable[str] | None) -> dict[str, object]:
    """Return what COLUMN=VALUE says, by column.

    >>> conditions(["dimension=30"])
    {'dimension': '30'}
    """
    return dict(assignment(word, "--where", "dimension=30") for word in words or ())


def assignment(word: str, option: str, example: str) -> tuple[str, str]:
    """Return the two sides of NAME=VALUE."""
    name, equals, value = word.rpartition("=") if option == "--cost" else word.partition("=")
    if not (name and equals and value):
        raise WrongUsage(f"{option} must look like {example}, got {word!r}")
    return name, value
