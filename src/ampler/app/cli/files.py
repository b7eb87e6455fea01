"""The commands for results files: `ampler merge`, `rescue`, `status` and `export`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.cli.options import JsonOption, StudyFile, usage_errors
from ampler.app.cli.output import WrongUsage, note, say, say_next, say_points, say_table, write_json

if TYPE_CHECKING:
    from ampler.core.runs import Observation

Option = typer.Option


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="PART.DB...", help="Results files of the parts.")],
    output: Annotated[
        Path, Option("--output", "-o", metavar="STUDY.DB", help="Results file to write, or to add the parts to.")
    ],
    same: Annotated[bool, Option("--same", help="Merge parts that were run with different code.")] = False,
) -> None:
    """Merge the parts of a study.

    The result is the results file of the whole study.

    Example: ampler merge part-*.db -o study.db
    """
    if all(os.path.realpath(part) == os.path.realpath(output) for part in parts):
        raise WrongUsage(f"there is nothing to merge into {output}: name the results files of the parts")
    from ampler.study import text
    from ampler.study.status import status_of
    from ampler.study.store import merge_stores, read_store

    merged = merge_stores(parts, output, same=same)
    with read_store(output) as store:
        finished = status_of(store).finished
    missing = text.missing_parts(merged)
    if missing:
        note(f"Note: {missing}")
    say(text.put_together(merged, finished, output.name), style="bold")
    say_next("analyse", output)


def rescue(
    study: Annotated[Path, typer.Argument(metavar="DAMAGED.DB", help="Damaged results file.")],
    output: Annotated[Path, Option("--output", "-o", metavar="NEW.DB", help="Results file to write.")],
) -> None:
    """Save the readable runs of a damaged file.

    The runs go to a new results file; the output lists the losses.

    Example: ampler rescue study.db -o rescued.db
    """
    from ampler.study import text
    from ampler.study.store import rescue_store

    rescued = rescue_store(study, output)
    say(text.saved_from(rescued, study.name, output.name), style="bold")
    say_points(rescued.lost)
    say_next("status", output)


def status(study: StudyFile, json: JsonOption = False) -> None:
    """Show the progress of a study.

    The study may be running.

    Example: ampler status study.db
    """
    from ampler.study import text
    from ampler.study.status import status_of
    from ampler.study.store import read_store

    with read_store(study) as store:
        state = status_of(store)
    if json:
        failure = None if state.failure is None else state.failure._asdict()
        write_json({"finished": state.finished, **asdict(state), "failure": failure})
        return
    say(text.standing(state))
    say_points(text.decisions_taken(state))
    say_table(text.standing_columns(state))
    definition = study.with_suffix(".toml")
    if state.finished < len(state.instances) and definition.is_file():
        say_next("run", definition, apart=False)
    else:
        say_next("analyse", study, apart=False)


def export(
    study: StudyFile,
    table: Annotated[Path, typer.Argument(metavar="RUNS.CSV|RUNS.PARQUET", help="Table to write.")],
    superseded: Annotated[
        bool, Option("--superseded", help="Write earlier attempts and superseded runs instead.")
    ] = False,
) -> None:
    """Export the runs as CSV or Parquet.

    Each row is the last attempt of a run, with all its measures.

    Example: ampler export study.db runs.csv
    """
    from ampler.core.serialization import check_not_input
    from ampler.data.export import is_device, measure_names, write_runs, writer_for
    from ampler.study.store import read_store

    with usage_errors():  # a name that cannot be written is an error before the study is read
        check_not_input(table, study)
        writer_for(table)
    with read_store(study) as store:
        counting = {(run.key, run.attempt) for run in store.observations()} if superseded else set()

        def runs() -> Iterator[Observation]:  # all attempts but those that count, or these
            every = store.observations(superseded=superseded)
            return (run for run in every if (run.key, run.attempt) not in counting)

        number = write_runs(runs(), table, measures=measure_names(runs()))
    if is_device(table):  # nothing but the table
        return
    say(f"{number} {'superseded attempts' if superseded else 'runs'} are written to {table}.", style="bold")
    say_next("report", study)
