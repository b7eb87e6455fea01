"""`ampler export`: the runs of a study as a table that any program can read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ampler.app.shell.output import say


def export(
    study: Annotated[Path, typer.Argument(metavar="STUDY.DB", help="The file in which the runs are kept.")],
    table: Annotated[Path, typer.Argument(metavar="RUNS.CSV|RUNS.PARQUET", help="The table to write.")],
) -> None:
    """Write the runs of a study as CSV or Parquet: one row for each run, its last attempt,
    with all that it measured.

    Example: ampler export study.db runs.csv
    """
    from ampler.core.files import check_not_input
    from ampler.data.export import measure_names, write_runs, writer_for
    from ampler.study.store import read_store

    check_not_input(table, study)
    writer_for(table)  # a name that cannot be written is told before the study is read
    with read_store(study) as store:
        number = write_runs(store.observations(), table, measures=measure_names(store.observations()))
    say(f"{number} runs are written to {table}.")
