"""The commands to begin with: `ampler init` writes a study to start from, `ampler demo` carries out a small one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ampler.app import load_matplotlib
from ampler.app.cli.options import WorkersOption, check_workers
from ampler.app.cli.output import INTERRUPTED, WrongUsage, note, say, say_next

if TYPE_CHECKING:
    from ampler.study.starters import Flavour

Option = typer.Option


def init(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Folder to write to.")] = Path(),
    python: Annotated[bool, Option("--python", help="Algorithms are Python functions. [default]")] = False,
    command: Annotated[bool, Option("--command", help="Algorithms are commands, in any language.")] = False,
    irace: Annotated[bool, Option("--irace", help="Algorithms are irace target runners.")] = False,
    worker: Annotated[
        bool, Option("--worker", help="Algorithms are persistent workers (many runs per process).")
    ] = False,
) -> None:
    """Write a commented study.toml to start from.

    A working solver and instances come with it. Nothing is overwritten.

    Example: ampler init --command
    """
    from ampler.study.starters import write_starter

    options: dict[Flavour, bool] = {"python": python, "command": command, "irace": irace, "worker": worker}
    chosen = [flavour for flavour, is_chosen in options.items() if is_chosen] or ["python"]
    if len(chosen) > 1:
        got = " and ".join(f"--{flavour}" for flavour in chosen)
        raise WrongUsage(f"one kind of study can be begun at a time, got {got}")
    names = write_starter(folder, chosen[0])
    others = [str(folder / name) for name in names if not name.startswith("instances/")]
    say(f"{' and '.join(others)} were written, with {len(names) - len(others)} instances.")
    say_next("check", folder / "study.toml")


def demo(
    output: Annotated[Path, Option(metavar="FOLDER", help="Folder for the study.")] = Path("ampler-demo"),
    workers: WorkersOption = None,
) -> None:
    """Run a small example study.

    It compares three annealers for the travelling salesman problem in less than a minute.

    Example: ampler demo
    """
    from ampler.api import analyse
    from ampler.app.cli.analyse import tell
    from ampler.report import write_report
    from ampler.running import run_plan
    from ampler.running.progress import ProgressBar
    from ampler.study.starters.demo import write_study
    from ampler.study.store import open_store, recorded_better
    from ampler.study.toml import read_study_file

    check_workers(workers)
    definition = write_study(output)
    file = read_study_file(definition, better=recorded_better(definition.with_suffix(".db")))
    plan, instances = file.plan, len(file.plan.instances)
    say(
        f"{len(plan.algorithms)} annealers for the travelling salesman problem on {instances} random instances (power"
        f" {plan.question.power:g} needs {plan.needed}). The study definition is {output / file.path.name}. The output"
        " below is that of ampler run, ampler analyse and ampler report.",
        style="bold",
    )
    with open_store(file.path.with_suffix(".db")) as store:
        try:
            with ProgressBar(note) as bar:
                progress = run_plan(plan, store, workers=workers or file.workers, report=bar)
        except KeyboardInterrupt:
            note("Interrupted. Finished runs are recorded; rerun the same command to resume.")
            raise typer.Exit(INTERRUPTED) from None
        store.make_sure()
        took = f" in {progress.seconds:.0f} s" if progress.new else ""
        say(f"{progress.runs} runs are recorded in {store.path.name}, {progress.new} of them made now{took}.")
        load_matplotlib()
        analysis = analyse(store)
        print()
        tell(analysis)
        report = write_report(analysis, output / "report.html", study=store.path)
    print()
    say(f"The report, with figures and the paragraph for your paper: {report}")
    say_next("init")
