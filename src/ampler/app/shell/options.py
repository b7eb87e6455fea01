"""Options that several commands have, and numbers read so that an error names what was written."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def number(text: str | float) -> float:
    """Read a number; typer's own message would not say what was written.

    >>> number("0.5")
    0.5
    """
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number; write it like 0.5") from None


def whole(text: str | int) -> int:
    """Read a whole number.

    >>> whole("57")
    57
    """
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number; write it like 57") from None


NumberOption = partial(typer.Option, parser=number, metavar="NUMBER")
WholeOption = partial(typer.Option, parser=whole, metavar="N")
