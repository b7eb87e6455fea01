"""`ampler export`: the runs of a study as a table that any program can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.options import told_as_usage
from ampler.app.shell.output import say, say_next

if TYPE_CHECKING:
    from ampler.core.values import Observation
    from ampler.study.store import SqliteStore


def export(
    study: Annotated[Path, typer.Argument(metavar="STUDY.DB", help="The file in which the runs are kept.")],
    table: Annotated[Path, typer.Argument(metavar="RUNS.CSV|RUNS.PARQUET", help="The table to write.")],
    superseded: Annotated[
        bool,
        typer.Option("--superseded", help="What counts no longer instead: earlier attempts, and runs of earlier code."),
    ] = False,
) -> None:
    """Write the runs of a study as CSV or Parquet: one row for each run, its last attempt,
    with all that it measured.

    Example: ampler export study.db runs.csv
    """
    from ampler.core.files import check_not_input
    from ampler.data.export import measure_names, write_runs, writer_for
    from ampler.study.store import read_store

    with told_as_usage():  # a name that cannot be written is told before the study is read
        check_not_input(table, study)
        writer_for(table)
    with read_store(study) as store:
        wanted: Callable[[], Iterator[Observation]] = partial(_superseded, store) if superseded else store.observations
        number = write_runs(wanted(), table, measures=measure_names(wanted()))
    say(f"{number} {'superseded attempts' if superseded else 'runs'} are written to {table}.", style="bold")
    say_next("report", study)


def _superseded(store: SqliteStore) -> Iterator[Observation]:
    """All attempts but those that count."""
    counting = {(seen.key, seen.attempt) for seen in store.observations()}
    return (seen for seen in store.observations(superseded=True) if (seen.key, seen.attempt) not in counting)
