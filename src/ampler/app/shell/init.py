"""`ampler init`: a commented study.toml to start from, with solver and instances; it works as it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.output import WrongUsage, say, say_next

if TYPE_CHECKING:
    from ampler.study.starters.init import Flavour

Option = typer.Option


def init(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where to write; default: here.")] = Path(),
    python: Annotated[bool, Option("--python", help="Algorithms are Python functions; the default.")] = False,
    command: Annotated[bool, Option("--command", help="Algorithms are commands, in any language.")] = False,
    irace: Annotated[bool, Option("--irace", help="Algorithms are irace target runners.")] = False,
    worker: Annotated[bool, Option("--worker", help="Algorithms are programs that make run after run.")] = False,
) -> None:
    """Write a commented study.toml to start from, with a solver and instances. Nothing is overwritten.

    Example: ampler init --command
    """
    from ampler.study.starters.init import write_starter

    wanted: dict[Flavour, bool] = {"python": python, "command": command, "irace": irace, "worker": worker}
    chosen = [flavour for flavour, is_wanted in wanted.items() if is_wanted] or ["python"]
    if len(chosen) > 1:
        raise WrongUsage(
            f"one kind of study can be begun at a time, got {' and '.join(f'--{each}' for each in chosen)}"
        )
    names = write_starter(folder, chosen[0])
    others = [name for name in names if not name.startswith("instances/")]
    study = folder / "study.toml"
    say(
        f"{' and '.join(str(folder / name) for name in others)} are written, with {len(names) - len(others)} instances."
    )
    say_next("check", study)
