"""`ampler check`: reads a study, runs each algorithm once, and says what the whole will take."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ampler.app.shell.options import JsonOption, StoreOption, WorkersOption, check_workers
from ampler.app.shell.output import INTERRUPTED, note, say, say_next, say_points, say_table, write_json

if TYPE_CHECKING:
    from ampler.core.values import Plan
    from ampler.running.check import FirstRun, Inspection
    from ampler.study.forecast import Forecast
    from ampler.study.toml import StudyFile

WriteCostsOption = Annotated[
    bool, typer.Option("--write-costs", help="Write the run times, as relative costs, into the study file.")
]


def check(
    study: Annotated[Path, typer.Argument(metavar="STUDY.TOML", help="The study file to check.")],
    store: StoreOption = None,
    workers: WorkersOption = None,
    write_costs: WriteCostsOption = False,
    json: JsonOption = False,
) -> None:
    """Read a study, run each algorithm on one instance, and say what the whole will take.

    Example: ampler check study.toml
    """
    from ampler.running.check import refuse_what_does_not_run
    from ampler.running.remaining import still_to_make
    from ampler.study.store import open_store, recorded_better
    from ampler.study.toml import read_study_file

    check_workers(workers)
    file = read_study_file(study, better=recorded_better(store or study.with_suffix(".db")))
    with open_store(store or file.path.with_suffix(".db")) as opened:
        found = _inspected(file.plan, opened)
        opened.make_sure()
        kept, number = opened.path.name, workers or file.workers or _cores()
        told = still_to_make(file.plan, opened, found.seconds, workers=number)
    if json:
        write_json(_document(file, found, told))
    else:
        _show(study, file, found, told, kept)
    refuse_what_does_not_run(file.plan, found)
    if write_costs:
        _write_costs(file, found)


def _inspected(plan: Plan, store: Any) -> Inspection:
    from ampler.running.check import inspect_plan

    try:
        return inspect_plan(
            plan,
            store,
            report=_say_where if sys.stderr.isatty() else _say_nothing,
            announce=lambda change: note(f"The plan has changed. {change}"),
        )
    except KeyboardInterrupt:
        note("Interrupted. First runs that have ended are recorded.")
        raise typer.Exit(INTERRUPTED) from None


def _say_where(name: str) -> None:
    note(f"running {name} …")


def _say_nothing(name: str) -> None:
    """Where nobody looks on."""


def _show(study: Path, file: StudyFile, found: Inspection, told: Forecast, kept: str) -> None:
    from ampler.running.words import first_run_columns, first_runs_kept, measures, read_from
    from ampler.study.words import expected, first_decision, noise_allowed, planned

    say(f"{file.path.name} is in order: {planned(file.plan)}.", style="bold")
    warnings = _warnings(file, found)
    if warnings:
        say_points(f"Note: {warning}." for warning in warnings)
    noise = noise_allowed(file.plan)
    if noise is not None:
        say(noise)
    print()
    say(f"Each algorithm on {found.instance}:")
    say_table(first_run_columns(found))
    say_points(read_from(each) for each in found.findings if each.line)
    say_points(measures(each) for each in found.findings if each.first.measures)
    for sentence in (first_decision(file.plan), expected(told)):
        if sentence:
            say(sentence)
    ready = all(each.recorded for each in found.findings)
    say(first_runs_kept(found, kept))
    if ready:
        say_next("run", study)


def _warnings(file: StudyFile, found: Inspection) -> list[str]:
    from ampler.running.check import not_positive
    from ampler.study.words import plan_warnings

    problem = not_positive(file.plan, found)
    changed = [f"{each.changed}; ampler run will ask for --same or --again" for each in found.findings if each.changed]
    return [*plan_warnings(file.plan), *file.notes, *([] if problem is None else [problem]), *changed]


def _document(file: StudyFile, found: Inspection, told: Forecast) -> dict[str, Any]:
    from dataclasses import asdict

    from ampler.study.forecast import relative_costs

    plan = file.plan
    return {
        "name": plan.name,
        "instances": len(plan.instances),
        "needed": plan.needed,
        "power": plan.power,
        "power_left": _power_left(plan),
        "warnings": _warnings(file, found),
        "instance": found.instance,
        "algorithms": [_entry(each) for each in found.findings],
        "forecast": {**asdict(told), "least_wall": told.least_wall, "most_wall": told.most_wall},
        "costs": relative_costs(found.seconds) if found.seconds else {},
    }


def _power_left(plan: Plan) -> list[dict[str, float]]:
    """What is left of the power if the effect is in standard deviations between instances, by se over one of these."""
    from ampler.design.noise import powers_left
    from ampler.study.plan import design_of

    design = design_of(plan)
    left = () if design is None else powers_left(design)
    return [{"se_over_sd": each.ratio, "noise_share": each.share, "power": each.power} for each in left]


def _entry(finding: FirstRun) -> dict[str, Any]:
    first = finding.first
    return {
        "name": finding.algorithm.name,
        "value": first.value,
        "line": finding.line,
        "seconds": finding.seconds,
        "status": first.status,
        "message": first.message,
        "measures": first.measures,
        "seed": first.seed,
        "is_time": finding.algorithm.reading.is_time,
        "deterministic": finding.algorithm.deterministic,
        "kind": finding.kind,
        "same_seed": None if finding.again is None else finding.again.value,
        "other_seed": None if finding.second is None else finding.second.value,
        "recorded": finding.recorded,
        "earlier": finding.earlier,
        "changed_code": [] if finding.changed is None else list(finding.changed.files),
        "remark": finding.remark,
    }


def _write_costs(file: StudyFile, found: Inspection) -> None:
    from ampler.core.files import replaced
    from ampler.study.forecast import relative_costs
    from ampler.study.toml.costs import with_costs

    costs = relative_costs(found.seconds)
    text = with_costs(file.path.read_text(encoding="utf-8"), costs)
    with replaced(file.path) as draft:
        draft.write_text(text, encoding="utf-8")
    note(f"Costs are written into {file.path.name}: {', '.join(f'{name} {cost:g}' for name, cost in costs.items())}.")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
