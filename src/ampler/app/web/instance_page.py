"""One instance of a study: the runs of each algorithm, their differences with intervals, and why it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from ampler.app.web.instance_charts import DifferenceRow, differences_chart, runs_chart
from ampler.app.web.live import LiveStudy
from ampler.app.web.pages import NotThere, as_sentence, page
from ampler.core.errors import AmplerError
from ampler.core.failures import StopStudy
from ampler.core.runs import Runs
from ampler.core.values import Observation
from ampler.core.wording import count, digits
from ampler.study.following import StudyLook
from ampler.study.status import InstanceStatus

if TYPE_CHECKING:
    from ampler.analysis import Analysis


def instance_page(request: Request) -> Response:
    """Show an instance by its place in the plan's order."""
    state = request.app.state
    live: LiveStudy = state.live.of(state.shelf.find(request.path_params["name"]))
    look = live.seen().look
    place = request.path_params["place"]
    instances = look.status.instances
    if not 1 <= place <= len(instances):
        raise NotThere(f"the study {live.name} has instances 1 to {len(instances)}, and no {place}")
    runs = _runs_of(live, instances[place - 1].name)
    values = _values(look, instances[place - 1], runs)
    around: dict[str, Any] = {"before": place - 1 or None, "after": place + 1 if place < len(instances) else None}
    return page("instance.html", here="studies", name=live.name, place=place, of=len(instances), **around, **values)


def _runs_of(live: LiveStudy, instance: str) -> list[Observation]:
    from ampler.study.store import read_store

    with read_store(live.path) as store:
        return list(store.observations(instance))


def _values(look: StudyLook, instance: InstanceStatus, runs: list[Observation]) -> dict[str, Any]:
    by_algorithm = {name: [run for run in runs if run.key.algorithm == name] for name in look.status.algorithms}
    given = {name: [run.value for run in those if run.value is not None] for name, those in by_algorithm.items()}
    analysis, why_not = _analysed(look, runs)
    percent = look.plan.question.difference == "percent"
    failed = [run for run in runs if run.value is None]
    return {
        "instance": instance,
        "headline": _headline(instance),
        "stopped": _stopped(look, instance, percent),
        "runs": runs_chart(given) if any(given.values()) else None,
        "table": [_algorithm_row(name, those, given[name]) for name, those in by_algorithm.items()],
        "differences": None if analysis is None else differences_chart(_difference_rows(analysis)),
        "verdicts": []
        if analysis is None
        else [f"{each.first} and {each.second}: {each.verdict}." for each in analysis.comparisons],
        "why_not": why_not,
        "failed": [(run.key.algorithm, run.key.index, run.status, run.message) for run in failed[:20]],
        "failures": len(failed),
    }


def _headline(instance: InstanceStatus) -> str:
    runs = count(sum(instance.runs.values()), "run")
    if instance.state == "finished":
        return f"{instance.name} is finished after {runs}"
    return (
        f"{instance.name} waits for its first runs"
        if instance.state == "waiting"
        else f"{instance.name}: {runs} so far"
    )


def _stopped(look: StudyLook, instance: InstanceStatus, percent: bool) -> str:
    """Why it stopped, or what it still waits for."""
    error, target = look.errors.get(instance.name), look.target

    def shown(number: float) -> str:
        return f"{digits(100 * number)} %" if percent else digits(number)

    reached = "" if error is None else f" The largest standard error of a difference is {shown(error)}"
    wanted = "" if error is None or target is None else f", and {shown(target)} was wanted"
    end = "." if reached else ""
    if instance.state == "finished":
        return f"It stopped because: {instance.reason}.{reached}{wanted}{end}"
    if instance.state == "waiting":
        return "Nothing was run on it yet; the study comes to it in the plan's order."
    return f"It is under way.{reached}{wanted}{end}"


def _algorithm_row(name: str, runs: list[Observation], given: list[float]) -> tuple[str, int, int, str, str, str]:
    import numpy as np

    if not given:
        return name, len(runs), len(runs), "–", "–", "–"
    spread = digits(float(np.std(given, ddof=1))) if len(given) > 1 else "–"
    seconds = sum(run.seconds for run in runs) / len(runs)
    return name, len(runs), len(runs) - len(given), digits(float(np.mean(given)), 5), spread, f"{digits(seconds)} s"


def _analysed(look: StudyLook, runs: list[Observation]) -> tuple[Analysis | None, str]:
    """What the runs of this instance show, by the study's own question; or the sentence why that cannot be said yet."""
    from ampler.core.settings import asked_by
    from ampler.front import analyse

    question, policy = look.plan.question, look.plan.policy
    names = ("difference", "reference", "better", "alternative", "alpha", "statistic", "margin", "floor")
    asked = {name: value for name, value in asked_by(question).items() if name in names}
    if not isinstance(policy, StopStudy):
        asked["on_failure"] = policy
    try:
        return analyse(Runs.of(run for run in runs if run.status == "ok" or "on_failure" in asked), **asked), ""
    except AmplerError as problem:
        return None, as_sentence(problem)


def _difference_rows(analysis: Analysis) -> list[DifferenceRow]:
    from ampler.analysis.units import estimate_in_unit, estimate_text, interval_in_unit

    rows = []
    for each in analysis.comparisons:
        shown = estimate_in_unit(each.estimate, analysis)
        low, high = interval_in_unit(each.joint_interval, analysis)
        unit = " %" if analysis.settings.difference == "percent" else ""
        rows.append(
            DifferenceRow(
                f"{each.first} − {each.second}",
                shown,
                low,
                high,
                f"{estimate_text(shown, analysis)}{unit}",
                each.claimed,
            )
        )
    return rows
