"""Options of every command that reads a table of results: which columns, which rows, what failed runs count as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from ampler.app.shell.output import WrongUsage

Option = typer.Option

DIFFERENCES = "--difference simple (a - b), percent (of the reference or the grand mean) or log-ratio (log a/b)"

AlgorithmOption = Annotated[str | None, Option(metavar="COLUMN", help="Names the algorithm; several: a,b.")]
InstanceOption = Annotated[str | None, Option(metavar="COLUMN", help="Names the instance; several: a,b.")]
ValueOption = Annotated[str | None, Option(metavar="COLUMN", help="Holds the value to compare.")]
MetricOption = Annotated[str | None, Option(metavar="NAME", help="Which metric, if the table has several.")]
WhereOption = Annotated[list[str] | None, Option(metavar="COLUMN=VALUE", help="Use these rows only; repeatable.")]
EncodingOption = Annotated[str | None, Option(metavar="NAME", help="Of a text file that is not UTF-8, as cp1252.")]
FailureOption = Annotated[
    str | None, Option(metavar="POLICY", help="A failed run counts as: drop, penalty=VALUE, par=K[,cutoff=SECONDS].")
]


def several(names: str | None) -> list[str] | None:
    """Return the names of columns joined by commas.

    >>> several("function, dimension")
    ['function', 'dimension']
    """
    return None if names is None else [name.strip() for name in names.split(",")]


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
