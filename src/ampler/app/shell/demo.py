"""`ampler demo`: a small real study from start to finish."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app.shell.options import WorkersOption, check_workers
from ampler.app.shell.output import INTERRUPTED, note, say, say_next
from ampler.app.surroundings import load_matplotlib

if TYPE_CHECKING:
    from ampler.core.values import Plan
    from ampler.study.store import SqliteStore


def demo(
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the study is kept.")] = Path("ampler-demo"),
    workers: WorkersOption = None,
) -> None:
    """Carry out a small study, from start to finish: three annealers for the travelling salesman.

    Example: ampler demo
    """
    from ampler.study.starters.demo import write_study
    from ampler.study.store import open_store, recorded_better
    from ampler.study.toml import read_study_file

    check_workers(workers)
    definition = write_study(output)
    file = read_study_file(definition, better=recorded_better(definition.with_suffix(".db")))
    say(_introduced(file.plan, file.path.name, output), style="bold")
    with open_store(file.path.with_suffix(".db")) as store:
        _carry_out(file.plan, store, workers or file.workers)
        _conclude(store, output)


def _introduced(plan: Plan, name: str, folder: Path) -> str:
    instances = len(plan.instances)
    return (
        f"{len(plan.algorithms)} annealers for the travelling salesman, on {instances} of"
        f" {instances + len(plan.untouched)} random instances; {plan.needed} are needed for power"
        f" {plan.question.power:g}. The study is {folder / name}; what follows is what ampler run, ampler analyse and"
        " ampler report do with it."
    )


def _carry_out(plan: Plan, store: SqliteStore, workers: int | None) -> None:
    from ampler.app.shell.progress import Display
    from ampler.running import run_plan

    try:
        with Display() as display:
            progress = run_plan(plan, store, workers=workers, report=display)
    except KeyboardInterrupt:
        note("Interrupted. What was made is recorded; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    store.make_sure()
    took = f" in {progress.seconds:.0f} s" if progress.new else ""
    say(f"{progress.runs} runs are recorded in {store.path.name}, {progress.new} of them made now{took}.")


def _conclude(store: SqliteStore, folder: Path) -> None:
    from ampler.app.shell.analyse import tell
    from ampler.front import analyse
    from ampler.report import write_report

    load_matplotlib()
    analysis = analyse(store)
    print()
    tell(analysis)
    report = write_report(analysis, folder / "report.html", study=store.path)
    print()
    say(f"The report, with figures and the paragraph for your paper: {report}")
    say_next("init")
