"""`ampler merge`: the study files of a study that was run in parts become one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ampler.app.shell.output import WrongUsage, note, say, say_next


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="PART.DB …", help="The study files of the parts.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="STUDY.DB", help="The study file to make, or to add the parts to."),
    ],
    same: Annotated[
        bool, typer.Option("--same", help="Parts that were run with different code give the same values.")
    ] = False,
) -> None:
    """Put the parts of a study together: the result is the study file of a study that was not cut.

    Example: ampler merge part-*.db -o study.db
    """
    if all(os.path.realpath(part) == os.path.realpath(output) for part in parts):
        raise WrongUsage(f"there is nothing to merge into {output}: name the study files of the parts")
    from ampler.study import words
    from ampler.study.status import status_of
    from ampler.study.store import merge_stores, read_store

    merged = merge_stores(parts, output, same=same)
    with read_store(output) as store:
        finished = status_of(store).finished
    missing = words.missing_parts(merged)
    if missing:
        note(f"Note: {missing}")
    say(words.put_together(merged, finished, output.name), style="bold")
    say_next("analyse", output)
