"""`ampler check`: reads a study, runs each algorithm once, and reports what the whole will take."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ampler.app.cli.options import JsonOption, StoreOption, WorkersOption, check_workers
from ampler.app.cli.output import INTERRUPTED, note, say, say_next, say_points, say_table, write_json

if TYPE_CHECKING:
    from ampler.core.plan import Plan
    from ampler.running.check import FirstRun, Inspection
    from ampler.study.forecast import Forecast
    from ampler.study.toml import StudyFile


def check(
    study: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="Study definition to check.")],
    store: StoreOption = None,
    workers: WorkersOption = None,
    write_costs: Annotated[
        bool, typer.Option("--write-costs", help="Write relative run times into study.toml as costs.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Test a study with one run per algorithm.

    The runs count towards the study. The output also estimates the cost of the study.

    Example: ampler check study.toml
    """
    from ampler.running.check import inspect_plan, refuse_what_does_not_run
    from ampler.running.driver import still_to_make
    from ampler.study.families import with_later_family
    from ampler.study.store import open_store, recorded_better
    from ampler.study.toml import read_study_file

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
        number = workers or file.workers or _cores()
        forecast = still_to_make(file.plan, opened, inspection.seconds, workers=number)
        results = opened.path.name
    if json:
        write_json(_document(file, inspection, forecast))
    else:
        _tell(study, file, inspection, forecast, results)
    refuse_what_does_not_run(file.plan, inspection)
    if write_costs:
        _write_costs(file, inspection)


def _tell(study: Path, file: StudyFile, inspection: Inspection, forecast: Forecast, results: str) -> None:
    from ampler.core.text import listed
    from ampler.running.check import Check, first_run_columns, first_runs_recorded, measures, problems, read_from
    from ampler.study.text import expected, first_decision, noise_allowed, planned

    failing = [repr(name) for name in dict.fromkeys(name for name, _ in problems(file.plan, inspection))]
    state = f"is not ready, because of {listed(failing, len(failing))}" if failing else "is ready"
    say(f"{file.path.name} {state}: {planned(file.plan)}.", style="bold")
    say_points(f"Note: {warning}." for warning in _warnings(file, inspection, forecast))
    noise = noise_allowed(file.plan)
    if noise is not None:
        say(noise)
    print()
    say(f"Each algorithm on {inspection.instance}:")
    say_table(first_run_columns(inspection))
    say_points(read_from(run) for run in inspection.findings if run.line)
    say_points(measures(run) for run in inspection.findings if run.first.measures)
    shared = Check(file.plan, inspection, forecast).shared_seeds
    for sentence in (first_decision(file.plan), shared, expected(forecast), first_runs_recorded(inspection, results)):
        if sentence:
            say(sentence)
    if not failing and all(run.recorded for run in inspection.findings):
        say_next("run", study)


def _warnings(file: StudyFile, inspection: Inspection, forecast: Forecast) -> list[str]:
    from ampler.running.check import Check

    return [*Check(file.plan, inspection, forecast).warnings, *file.notes]


def _document(file: StudyFile, inspection: Inspection, forecast: Forecast) -> dict[str, Any]:
    from dataclasses import asdict

    from ampler.study.forecast import relative_costs

    plan = file.plan
    return {
        "name": plan.name,
        "instances": len(plan.instances),
        "needed": plan.needed,
        "power": plan.power,
        "power_left": _power_left(plan),
        "warnings": _warnings(file, inspection, forecast),
        "instance": inspection.instance,
        "algorithms": [_entry(run) for run in inspection.findings],
        "forecast": {**asdict(forecast), "least_wall": forecast.least_wall, "most_wall": forecast.most_wall},
        "costs": relative_costs(inspection.seconds) if inspection.seconds else {},
        **({"correlation": inspection.correlation} if plan.seeds == "shared" else {}),
    }


def _power_left(plan: Plan) -> list[dict[str, float]]:
    """What is left of the power if the effect is in standard deviations between instances, by se over one of these."""
    from ampler.design.text import powers_left
    from ampler.study.plan import design_of

    design = design_of(plan)
    left = () if design is None else powers_left(design)
    return [{"se_over_sd": point.ratio, "noise_share": point.share, "power": point.power} for point in left]


def _entry(run: FirstRun) -> dict[str, Any]:
    return {
        "name": run.algorithm.name,
        **{name: getattr(run.first, name) for name in ("value", "status", "message", "measures", "seed")},
        **{name: getattr(run, name) for name in ("line", "seconds", "kind", "recorded", "earlier", "remark")},
        "is_time": run.algorithm.reading.is_time,
        "deterministic": run.algorithm.deterministic,
        "same_seed": None if run.again is None else run.again.value,
        "other_seed": None if run.second is None else run.second.value,
        "changed_code": [] if run.changed is None else list(run.changed.files),
    }


def _write_costs(file: StudyFile, inspection: Inspection) -> None:
    from ampler.core.serialization import replace_file
    from ampler.study.forecast import relative_costs
    from ampler.study.toml.reading import with_costs

    costs = relative_costs(inspection.seconds)
    text = with_costs(file.path.read_bytes().decode(), costs)
    with replace_file(file.path) as draft:
        draft.write_bytes(text.encode())
    note(f"Costs are written into {file.path.name}: {', '.join(f'{name} {cost:g}' for name, cost in costs.items())}.")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
