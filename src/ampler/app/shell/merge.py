"""`ampler merge`: the study files of a study that was run in parts become one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.output import note, say

if TYPE_CHECKING:
    from ampler.study.store import Merged


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="PART.DB …", help="The study files of the parts.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="STUDY.DB", help="The study file to make, or to add the parts to."),
    ],
) -> None:
    """Put the parts of a study together: the result is the study file of a study that was not cut.

    Example: ampler merge part-*.db -o study.db
    """
    from ampler.study.status import status_of
    from ampler.study.store import merge_stores, read_store

    merged = merge_stores(parts, output)
    with read_store(output) as store:
        finished = status_of(store).finished
    _note_missing(merged)
    say(_summary(merged, finished, output))


def _note_missing(merged: Merged) -> None:
    if merged.missing:
        shown = ", ".join(merged.missing[:10]) + (" …" if len(merged.missing) > 10 else "")
        note(f"Note: {len(merged.missing)} parts are not among the files: {shown}; merge again when they are there.")


def _summary(merged: Merged, finished: int, output: Path) -> str:
    planned = len(merged.plan.instances)
    done = f"all {planned}" if finished == planned else f"{finished} of {planned}"
    rest = "" if finished == planned else " The others are left out of an analysis until they are."
    return (
        f"{merged.plan.name}: {merged.runs} runs are in {output.name}; {done} instances are finished.{rest}"
        f" Next: ampler analyse {output.name}"
    )
