"""`ampler run`: carries out a study; interrupted, it goes on where it was."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ampler.app.shell.options import Flag, StoreOption, WorkersOption, check_workers
from ampler.app.shell.output import INTERRUPTED, WrongUsage, note, say, say_next

if TYPE_CHECKING:
    from ampler.core.values import Plan, StudyDecision
    from ampler.study.forecast import Forecast
    from ampler.study.store import SqliteStore


def run(
    study: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="The study file to carry out.")],
    store: StoreOption = None,
    workers: WorkersOption = None,
    retry_failed: Annotated[bool, Flag("--retry-failed", "Try failed runs of earlier sessions again.")] = False,
    despite_failures: Annotated[
        bool, Flag("--despite-failures", "Go on even when every run of an algorithm fails.")
    ] = False,
    same: Annotated[bool, Flag("--same", "Changed code gives the same values: recorded runs are used.")] = False,
    again: Annotated[
        bool, Flag("--again", "Runs of code that has changed are made anew; the old ones are superseded.")
    ] = False,
    part: Annotated[
        str | None, typer.Option(metavar="I/N", help="Only the I-th of N parts of the instances; see ampler merge.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|FILE|local", help="Runs are made by a Dask cluster: its scheduler, or a new one."
        ),
    ] = None,
) -> None:
    """Carry out a study. Interrupt it at any time: the same command goes on where it was.

    Example: ampler run study.toml --workers 4
    """
    from ampler.study.plan import part_of
    from ampler.study.store import open_store, recorded_better
    from ampler.study.toml import read_study_file
    from ampler.study.words import plan_warnings

    check_workers(workers)
    if same and again:
        raise WrongUsage("--same and --again contradict each other; say one of them")
    cut = None if part is None else part_numbers(part)
    file = read_study_file(study, better=recorded_better(store or study.with_suffix(".db")))
    plan = file.plan if cut is None else part_of(file.plan, *cut)
    kept = store or default_store(study, plan)
    with open_store(kept) as opened:
        for warning in plan_warnings(plan):
            note(f"Note: {warning}")
        with _cluster(dask, workers or file.workers) as client:
            # A cluster has as many workers as it has; ours has been made with as many as were asked for.
            given = {
                "retry_failed": retry_failed,
                "despite_failures": despite_failures,
                "same": same,
                "again": again,
            }
            _carry_out(plan, opened, client, None if client else workers or file.workers, given)
    say_next("analyse", kept)


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
    """Return where runs are kept unless said otherwise: beside study.toml, each part in a file of its own."""
    if not plan.part:
        return study.with_suffix(".db")
    number, _, parts = plan.part.partition("/")
    return study.with_name(f"{study.stem}-part-{number.zfill(len(parts))}-of-{parts}.db")


def _cluster(where: str | None, workers: int | None) -> AbstractContextManager[Any]:
    """The Dask cluster that was asked for, if any."""
    if where is None:
        return nullcontext()
    from ampler.running.engines.dask import dask_cluster

    return dask_cluster(where, workers=workers)


def _tell(decision: StudyDecision) -> None:
    """Say what was decided over instances, and what to mind."""
    from ampler.study.words import noted

    for sentence in (decision.reason, *map(noted, decision.notes)):
        if sentence:
            note(sentence)


def _expect(forecast: Forecast) -> None:
    from ampler.study.words import to_come

    if (sentence := to_come(forecast)) is not None:
        note(sentence)


def _carry_out(plan: Plan, store: SqliteStore, executor: Any, workers: int | None, given: Mapping[str, Any]) -> None:
    from ampler.app.shell.progress import Display
    from ampler.running import run_plan, words
    from ampler.study.failing import commonest
    from ampler.study.fairness import fairness_notes
    from ampler.study.stopping import digests_in_force

    try:
        with Display() as display:
            progress = run_plan(
                plan,
                store,
                workers=workers,
                executor=executor,
                report=display,
                announce=lambda change: note(f"The plan has changed. {change}"),
                expect=_expect,
                decided=None if plan.study_rule is None else _tell,
                **given,
            )
    except KeyboardInterrupt:
        note(f"Interrupted. {_kept(store)}")
        raise typer.Exit(INTERRUPTED) from None
    store.make_sure()
    kept = store.plans()[-1]
    digests = digests_in_force(kept, store.decisions())
    reasons = [done.reason for done in store.finished(*digests).values()]
    done = words.carried_out(plan.name, progress, reasons, store.path.name, commonest(store.failures()))
    for caution in fairness_notes(kept, store):
        note(f"Note: {caution.in_shell}")
    say(done, style="bold")


def _kept(store: SqliteStore) -> str:
    """What an interrupted study has on record; where its file is lost, what has become of it."""
    from ampler.core.errors import StoreError
    from ampler.core.wording import count_are

    try:
        store.make_sure()
    except StoreError as problem:
        return problem.in_shell
    recorded = sum(tally.runs for tally in store.tally())
    return f"{count_are(recorded, 'run')} recorded in {store.path.name}; the same command goes on from there."
