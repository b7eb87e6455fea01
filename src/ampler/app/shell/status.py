"""`ampler status`: where a study stands, per instance and algorithm; a study that runs can be looked at too."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.options import JsonOption
from ampler.app.shell.output import say, say_table, write_json

if TYPE_CHECKING:
    from ampler.study.status import StudyStatus


def status(
    study: Annotated[Path, typer.Argument(metavar="STUDY.DB", help="The file in which the runs are kept.")],
    json: JsonOption = False,
) -> None:
    """Show where a study stands, per instance and algorithm. It may be running meanwhile.

    Example: ampler status study.db
    """
    from ampler.study.status import status_of
    from ampler.study.store import read_store

    with read_store(study) as store:
        found = status_of(store)
    if json:
        write_json({"finished": found.finished, **asdict(found)})
    else:
        _show(found)


def _show(found: StudyStatus) -> None:
    from ampler.core.wording import short_duration

    failed = f", {found.failures} of them without a value" if found.failures else ""
    untouched = f" {found.untouched} further instances were not needed." if found.untouched else ""
    unused = f" {found.unused} runs are not asked for by the plan and stay unused." if found.unused else ""
    part = f" (part {found.part})" if found.part else ""
    say(
        f"{found.name}{part}: {found.finished} of {len(found.instances)} instances are finished; {found.runs} runs are"
        f" recorded{failed}, {short_duration(found.seconds)} of computing in {found.sessions} sessions."
        f"{untouched}{unused}"
    )
    rows = [
        [
            instance.name,
            *(str(instance.runs[algorithm]) for algorithm in found.algorithms),
            str(instance.failures),
            "" if instance.error is None else f"{instance.error:.3g}",
            instance.reason or instance.state,
        ]
        for instance in found.instances
    ]
    say_table(["instance", *found.algorithms, "failed", "worst SE", "state"], rows, left=["instance", "state"])
