"""`ampler run`: carries out a study; interrupted, it resumes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ampler.app.cli.options import StoreOption, WorkersOption, check_workers
from ampler.app.cli.output import INTERRUPTED, WrongUsage, note, say, say_next
from ampler.core.errors import StoreError

if TYPE_CHECKING:
    from ampler.core.plan import Plan, StudyDecision
    from ampler.study.forecast import Forecast
    from ampler.study.store import SqliteStore

Option = typer.Option


def run(
    study: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="Study definition to run.")],
    store: StoreOption = None,
    workers: WorkersOption = None,
    retry_failed: Annotated[bool, Option("--retry-failed", help="Repeat failed runs of earlier sessions.")] = False,
    despite_failures: Annotated[
        bool, Option("--despite-failures", help="Continue even if every run of an algorithm fails.")
    ] = False,
    same: Annotated[bool, Option("--same", help="Keep the recorded runs although the code has changed.")] = False,
    again: Annotated[bool, Option("--again", help="Repeat the runs of algorithms whose code has changed.")] = False,
    keep: Annotated[list[str] | None, Option(metavar="NAME", help="As --same, for this algorithm.")] = None,
    rerun: Annotated[list[str] | None, Option(metavar="NAME", help="As --again, for this algorithm.")] = None,
    part: Annotated[
        str | None, Option(metavar="I/N", help="Run part I of N of the instances; see ampler merge.")
    ] = None,
    dask: Annotated[
        str | None,
        Option(metavar="ADDRESS|FILE|local", help="Run on a Dask cluster: an existing scheduler, or a new local one."),
    ] = None,
) -> None:
    """Run or resume a study.

    You can interrupt it at any time. Rerun the same command to resume.

    Example: ampler run study.toml --workers 4
    """
    from ampler.study.plan import part_of
    from ampler.study.store import open_store, recorded_better
    from ampler.study.text import plan_warnings
    from ampler.study.toml import read_study_file

    check_workers(workers)
    if same and again:
        raise WrongUsage("--same and --again contradict each other; choose one")
    numbers = None if part is None else part_numbers(part)
    file = read_study_file(study, better=recorded_better(store or study.with_suffix(".db")))
    plan = file.plan if numbers is None else part_of(file.plan, *numbers)
    workers = workers or file.workers
    results = store or default_store(study, plan)
    options = {"retry_failed": retry_failed, "despite_failures": despite_failures}
    code = {"same": same or keep or False, "again": again or rerun or False}
    with open_store(results) as opened:
        for warning in plan_warnings(plan):
            note(f"Note: {warning}")
        with _cluster(dask, workers) as client:
            # A cluster has as many workers as it has; ours has been made with as many as were requested.
            summary = carry_out(plan, opened, executor=client, workers=None if client else workers, **options, **code)
    say(summary, style="bold")
    say_next("analyse", results)


def _cluster(address: str | None, workers: int | None) -> AbstractContextManager[Any]:
    """The Dask cluster at an address, if there is one."""
    if address is None:
        return nullcontext()
    from ampler.running.engines.dask import dask_cluster

    return dask_cluster(address, workers=workers)


def part_numbers(text: str) -> tuple[int, int]:
    """Read which part is meant.

    >>> part_numbers("3/20")
    (3, 20)
    """
    number, slash, parts = text.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise WrongUsage(f"--part must be I/N with I between 1 and N, such as 3/20, got {text!r}")
    return int(number), int(parts)


def default_store(study: Path, plan: Plan) -> Path:
    """Return where runs are kept unless an option says otherwise: next to study.toml, each part in its own file."""
    if not plan.part:
        return study.with_suffix(".db")
    number, _, parts = plan.part.partition("/")
    return study.with_name(f"{study.stem}-part-{number.zfill(len(parts))}-of-{parts}.db")


def carry_out(plan: Plan, store: SqliteStore, **options: Any) -> str:
    """Make the missing runs with progress on stderr, and return what was made in a sentence."""
    from ampler.core.text import count_are
    from ampler.running import run_plan
    from ampler.running.progress import ProgressBar, carried_out
    from ampler.study.failure_patterns import commonest
    from ampler.study.stopping import digests_in_force
    from ampler.study.text import noted, to_come
    from ampler.study.warnings import fairness_notes

    def tell_decision(decision: StudyDecision) -> None:
        for sentence in (decision.reason, *map(noted, decision.notes)):
            if sentence:
                note(sentence)

    def tell_forecast(forecast: Forecast) -> None:
        if (sentence := to_come(forecast)) is not None:
            note(sentence)

    try:
        with ProgressBar(note) as bar:
            progress = run_plan(
                plan,
                store,
                report=bar,
                announce=lambda change: note(f"The plan has changed. {change}"),
                expect=tell_forecast,
                decided=None if plan.study_rule is None else tell_decision,
                **options,
            )
    except KeyboardInterrupt:
        try:
            store.make_sure()
            recorded = sum(tally.runs for tally in store.tally())
            rest = f"{count_are(recorded, 'run')} recorded in {store.path.name}; rerun the same command to resume."
        except StoreError as problem:  # the file is lost: what has become of it
            rest = problem.in_shell
        note(f"Interrupted. {rest}")
        raise typer.Exit(INTERRUPTED) from None
    store.make_sure()
    record = store.plans()[-1]
    digests = digests_in_force(record, store.decisions())
    reasons = [instance.reason for instance in store.finished(*digests).values()]
    for caution in fairness_notes(record, store):
        note(f"Note: {caution.in_shell}")
    return carried_out(plan.name, progress, reasons, store.path.name, commonest(store.failures()))
