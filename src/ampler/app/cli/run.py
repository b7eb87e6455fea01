"""The commands that make runs: `ampler check`, `run`, and for another workflow that makes them `next` and `record`."""

from __future__ import annotations

import json as json_module
import shlex
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ampler.app.cli.options import IntegerOption, JsonOption, StoreOption, WorkersOption, check_workers
from ampler.app.cli.output import (
    INTERRUPTED,
    WrongUsage,
    note,
    say,
    say_lines,
    say_next,
    say_points,
    say_table,
    write_json,
)
from ampler.core.errors import InvalidData, StoreError

if TYPE_CHECKING:
    from ampler.core.plan import Plan, StudyDecision
    from ampler.running.check import Check
    from ampler.running.work import Task
    from ampler.study.forecast import Forecast
    from ampler.study.store import SqliteStore
    from ampler.study.toml import StudyFile

Option = typer.Option
Definition = Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="The study definition.")]
MAX_LINE = 1_000_000  # characters of a result


def check(
    study: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="Study definition to check.")],
    store: StoreOption = None,
    workers: WorkersOption = None,
    write_costs: Annotated[
        bool, Option("--write-costs", help="Write relative run times into study.toml as costs.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Test a study with one run per algorithm.

    The runs count towards the study. The output also estimates the cost of the study.

    Example: ampler check study.toml
    """
    from ampler.core.serialization import replace_file
    from ampler.running.check import Check, inspect_plan, refuse_what_does_not_run
    from ampler.running.driver import still_to_make
    from ampler.running.engines import cores
    from ampler.study.families import with_later_family
    from ampler.study.forecast import relative_costs
    from ampler.study.store import open_store, recorded_better
    from ampler.study.toml import read_study_file
    from ampler.study.toml.reading import with_costs

    check_workers(workers)
    file = read_study_file(study, better=recorded_better(store or study.with_suffix(".db")))
    with open_store(store or file.path.with_suffix(".db")) as opened:
        try:
            inspection = inspect_plan(
                file.plan,
                opened,
                report=lambda name: note(f"running {name} …") if sys.stderr.isatty() else None,
                announce=lambda change: note(f"The plan has changed. {change}"),
            )
        except KeyboardInterrupt:
            note("Interrupted. First runs that have ended are recorded.")
            raise typer.Exit(INTERRUPTED) from None
        opened.make_sure()
        file = replace(file, plan=with_later_family(file.plan, opened))
        forecast = still_to_make(file.plan, opened, inspection.seconds, workers=workers or file.workers or cores())
    result = Check(file.plan, inspection, forecast)
    if json:
        write_json(_checked_document(file, result))
    else:
        _tell_check(study, file, result, opened.path.name)
    refuse_what_does_not_run(file.plan, inspection)
    if write_costs:
        costs = relative_costs(inspection.seconds)
        text = with_costs(file.path.read_bytes().decode(), costs)
        with replace_file(file.path) as draft:
            draft.write_bytes(text.encode())
        written = ", ".join(f"{name} {cost:g}" for name, cost in costs.items())
        note(f"Costs are written into {file.path.name}: {written}.")


def _tell_check(study: Path, file: StudyFile, result: Check, results: str) -> None:
    from ampler.core.text import listed
    from ampler.running.check import first_run_columns, first_runs_recorded, measures, problems, read_from
    from ampler.study.text import expected, first_decision, noise_allowed, planned

    plan, inspection = file.plan, result.inspection
    failing = [repr(name) for name in dict.fromkeys(name for name, _ in problems(plan, inspection))]
    state = f"is not ready, because of {listed(failing, len(failing))}" if failing else "is ready"
    say(f"{file.path.name} {state}: {planned(plan)}.", style="bold")
    say_points(f"Note: {warning}." for warning in (*result.warnings, *file.notes))
    if (noise := noise_allowed(plan)) is not None:
        say(noise)
    print()
    say(f"Each algorithm on {inspection.instance}:")
    say_table(first_run_columns(inspection))
    say_points(read_from(run) for run in inspection.findings if run.line)
    say_points(measures(run) for run in inspection.findings if run.first.measures)
    recorded = first_runs_recorded(inspection, results)
    for sentence in filter(None, (first_decision(plan), result.shared_seeds, expected(result.forecast), recorded)):
        say(sentence)
    if not failing and all(run.recorded for run in inspection.findings):
        say_next("run", study)


def _checked_document(file: StudyFile, result: Check) -> dict[str, Any]:
    from dataclasses import asdict

    from ampler.design.text import powers_left
    from ampler.study.forecast import relative_costs
    from ampler.study.plan import design_of

    plan, inspection, forecast, design = file.plan, result.inspection, result.forecast, design_of(file.plan)
    left = () if design is None else powers_left(design)  # if the effect is in standard deviations between instances
    algorithms = [
        {
            "name": run.algorithm.name,
            **{name: getattr(run.first, name) for name in ("value", "status", "message", "measures", "seed")},
            **{name: getattr(run, name) for name in ("line", "seconds", "kind", "recorded", "earlier", "remark")},
            "is_time": run.algorithm.reading.is_time,
            "deterministic": run.algorithm.deterministic,
            "same_seed": None if run.again is None else run.again.value,
            "other_seed": None if run.second is None else run.second.value,
            "changed_code": [] if run.changed is None else list(run.changed.files),
        }
        for run in inspection.findings
    ]
    return {
        "name": plan.name,
        "instances": len(plan.instances),
        "needed": plan.needed,
        "power": plan.power,
        "power_left": [{"se_over_sd": one.ratio, "noise_share": one.share, "power": one.power} for one in left],
        "warnings": [*result.warnings, *file.notes],
        "instance": inspection.instance,
        "algorithms": algorithms,
        "forecast": {**asdict(forecast), "least_wall": forecast.least_wall, "most_wall": forecast.most_wall},
        "costs": relative_costs(inspection.seconds) if inspection.seconds else {},
        **({"correlation": inspection.correlation} if plan.seeds == "shared" else {}),
    }


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
    from ampler.running.engines.dask import dask_cluster
    from ampler.study.plan import part_of
    from ampler.study.store import open_store, recorded_better
    from ampler.study.text import plan_warnings
    from ampler.study.toml import read_study_file

    check_workers(workers)
    if same and again:
        raise WrongUsage("--same and --again contradict each other; choose one")
    numbers = None if part is None else _part_numbers(part)
    file = read_study_file(study, better=recorded_better(store or study.with_suffix(".db")))
    plan = file.plan if numbers is None else part_of(file.plan, *numbers)
    workers = workers or file.workers
    results = store or study.with_suffix(".db")
    if store is None and numbers is not None:  # each part in its own file
        results = study.with_name(f"{study.stem}-part-{numbers[0]:0{len(str(numbers[1]))}}-of-{numbers[1]}.db")
    options = {"retry_failed": retry_failed, "despite_failures": despite_failures}
    code = {"same": same or keep or False, "again": again or rerun or False}
    with open_store(results) as opened:
        for warning in plan_warnings(plan):
            note(f"Note: {warning}")
        with nullcontext() if dask is None else dask_cluster(dask, workers=workers) as client:
            # A cluster keeps its number of workers; a local one was started with the requested number.
            summary = carry_out(plan, opened, executor=client, workers=None if client else workers, **options, **code)
    say(summary, style="bold")
    say_next("analyse", results)


def _part_numbers(text: str) -> tuple[int, int]:
    number, slash, parts = text.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise WrongUsage(f"--part must be I/N with I between 1 and N, such as 3/20, got {text!r}")
    return int(number), int(parts)


def carry_out(plan: Plan, store: SqliteStore, **options: Any) -> str:
    """Make the missing runs with progress on stderr, and return a summary."""
    from ampler.core.text import count_are
    from ampler.running import run_plan
    from ampler.running.progress import ProgressBar, carried_out
    from ampler.study.failure_patterns import commonest
    from ampler.study.stopping import digests_in_force
    from ampler.study.text import noted, to_come
    from ampler.study.warnings import fairness_notes

    def tell_decision(decision: StudyDecision) -> None:
        for sentence in filter(None, (decision.reason, *map(noted, decision.notes))):
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
        except StoreError as problem:  # the file is lost: describe what happened
            rest = problem.in_shell
        note(f"Interrupted. {rest}")
        raise typer.Exit(INTERRUPTED) from None
    store.make_sure()
    record = store.plans()[-1]
    finished = store.finished(*digests_in_force(record, store.decisions()))
    for caution in fairness_notes(record, store):
        note(f"Note: {caution.in_shell}")
    reasons = [instance.reason for instance in finished.values()]
    return carried_out(plan.name, progress, reasons, store.path.name, commonest(store.failures()))


# runs that another workflow makes ---------------------------------------------------------------------------------


def next_runs(
    study: Definition,
    store: StoreOption = None,
    limit: Annotated[int | None, IntegerOption(help="Maximum number of runs to print. [default: all]")] = None,
    json: JsonOption = False,
) -> None:
    """List the runs to make now.

    Example: ampler next study.toml --json
    """
    from ampler.running.external import exchange
    from ampler.study.store import open_store

    plan, results = _plan_and_results(study, store)
    if limit is not None and limit < 1:
        raise WrongUsage(f"--limit must be at least 1, got {limit}")
    with open_store(results) as opened:
        wanted = exchange(plan, opened).wanted
    runs = [_described(task, plan) for task in wanted[:limit]]
    if json:
        write_json({"study": plan.name, "complete": not wanted, "wanted": len(wanted), "runs": runs})
        return
    say_lines("\t".join(str(run[name]) for name in ("instance", "algorithm", "index", "seed", "call")) for run in runs)
    if not wanted:
        note(f"The study is complete. Next: ampler analyse {shlex.quote(str(results))}")


def record(
    study: Definition,
    results: Annotated[
        Path, typer.Argument(metavar="RUNS.JSONL", help="File with one JSON object per run; - for stdin.")
    ],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Record runs made elsewhere.

    Example: ampler record study.toml runs.jsonl
    """
    from ampler.core.text import count, count_are
    from ampler.running.external import exchange
    from ampler.study.store import open_store

    plan, path = _plan_and_results(study, store)
    lines = list(_lines(results))
    with open_store(path) as opened:
        outcome = exchange(plan, opened, lines)
    if json:
        numbers = {name: getattr(outcome, name) for name in ("recorded", "known", "unused")}
        write_json(numbers | {"complete": not outcome.wanted, "wanted": len(outcome.wanted)})
        return
    rest = f"Wanted: {count(len(outcome.wanted), 'run')}." if outcome.wanted else "The study is complete."
    others = f"{outcome.known} known already, {outcome.unused} not wanted now"
    say(f"{count_are(outcome.recorded, 'run')} recorded in {path}; {others}. {rest}")
    say_next(*(("next", study) if outcome.wanted else ("analyse", path)))


def _plan_and_results(study: Path, store: Path | None) -> tuple[Plan, Path]:
    """Return the plan and the results file; a results file stands for the definition of the same name."""
    from ampler.study.store import recorded_better
    from ampler.study.toml import read_study_file

    if study.suffix == ".db":
        study, store = study.with_suffix(".toml"), store or study
        if not study.exists():
            raise WrongUsage(f"{store} is a results file; name its study definition: ampler next study.toml")
    results = store or study.with_suffix(".db")
    return read_study_file(study, better=recorded_better(results)).plan, results


def _described(task: Task, plan: Plan) -> dict[str, Any]:
    """Return all that is needed to make a run."""
    from ampler.core.plan import Command
    from ampler.study.run_inputs import arguments, planned_seed

    key = task.key
    instance = next(item for item in plan.instances if item.name == key.instance)
    algorithm = next(item for item in plan.algorithms if item.name == key.algorithm)
    seed = planned_seed(plan, key)
    run: dict[str, Any] = {"instance": key.instance, "algorithm": key.algorithm, "index": key.index, "seed": seed}
    if isinstance(algorithm, Command):
        words = algorithm.argv if algorithm.protocol == "worker" else arguments(algorithm, instance, seed)
        return run | {"path": instance.path, "command": words, "folder": algorithm.folder, "call": shlex.join(words)}
    return run | {"path": instance.path, "python": algorithm.origin, "call": algorithm.origin}


def _lines(path: Path) -> Iterator[Any]:
    """The JSON values on the lines of a file."""
    try:
        with sys.stdin if str(path) == "-" else path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if len(line) > MAX_LINE:
                    raise InvalidData(f"{path}, line {number}: longer than {MAX_LINE:,} characters")
                if not line.strip():
                    continue
                try:
                    yield json_module.loads(line)
                except (ValueError, RecursionError):
                    raise InvalidData(f"{path}, line {number}: not a JSON object; write one run per line") from None
    except OSError as problem:
        raise InvalidData(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidData(f"{path} must be text in UTF-8, one JSON object per line") from None
