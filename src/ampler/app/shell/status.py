"""`ampler status`: where a study stands, per instance and algorithm; a study that runs can be looked at too."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ampler.app.shell.options import JsonOption
from ampler.app.shell.output import say, say_next, say_points, say_table, write_json


def status(
    study: Annotated[Path, typer.Argument(metavar="STUDY.DB", help="The file in which the runs are kept.")],
    json: JsonOption = False,
) -> None:
    """Show where a study stands, per instance and algorithm. It may be running meanwhile.

    Example: ampler status study.db
    """
    from ampler.study import words
    from ampler.study.status import status_of
    from ampler.study.store import read_store

    with read_store(study) as store:
        found = status_of(store)
    if json:
        failure = None if found.failure is None else found.failure._asdict()
        write_json({"finished": found.finished, **asdict(found), "failure": failure})
        return
    say(words.standing(found))
    say_points(words.decisions_taken(found))
    say_table(words.standing_columns(found))
    described = study.with_suffix(".toml")
    if found.finished < len(found.instances) and described.is_file():
        say_next("run", described, apart=False)
    else:
        say_next("analyse", study, apart=False)
