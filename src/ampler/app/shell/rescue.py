"""`ampler rescue`: what can be read of a damaged study file becomes a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ampler.app.shell.output import say, say_next, say_points


def rescue(
    study: Annotated[Path, typer.Argument(metavar="DAMAGED.DB", help="The study file that is damaged.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="NEW.DB", help="The study file to make.")],
) -> None:
    """Save every run that can be read in a damaged study file into a new one; say what is lost.

    Example: ampler rescue study.db -o rescued.db
    """
    from ampler.study import words
    from ampler.study.store import rescue_store

    rescued = rescue_store(study, output)
    say(words.saved_from(rescued, study.name, output.name), style="bold")
    say_points(rescued.lost)
    say_next("status", output)
