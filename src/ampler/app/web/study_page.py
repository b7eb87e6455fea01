"""One study, live: how far it is, its runs as a heat map, its accuracy, its failures, its latest runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ampler.app.web.live import LiveStudy, Seen
from ampler.app.web.news import News, look_number
from ampler.app.web.pages import as_sentence, fragment, page
from ampler.app.web.study_charts import accuracy_chart, heat_chart, heat_legend
from ampler.core.errors import AmplerError
from ampler.core.failures import FailurePolicy, StopStudy, policy_words
from ampler.core.values import Observation
from ampler.core.wording import count, digits, short_duration
from ampler.study.evidence import measure_of
from ampler.study.following import StudyLook
from ampler.study.status import InstanceStatus
from ampler.study.words import decisions_taken, how_far, standing

SHOWN = 40  # instances in the table, unless all are asked for
PARTS = ("headline", "facts", "heat", "accuracy", "instances", "times", "failures", "recent", "decisions")
STATES = {"under way": 0, "waiting": 2, "finished": 1}  # the order of the table


def study_page(request: Request) -> Response:
    """Show a study as it stands."""
    live = _live(request)
    everything, seen = "all" in request.query_params, live.seen()
    parts = study_parts(live, seen, everything=everything)
    return page("study.html", here="studies", name=live.name, parts=parts, number=seen.number, all=everything)


async def study_changes(request: Request) -> Response:
    """Return what has changed since the look that a page has; nothing when it has the last one.

    Most who ask have been answered before they come here, see `news`: this is for a new look.
    """
    since = look_number(request.query_params.get("seen", ""))
    try:
        news: News = request.app.state.news[_live(request).name]
        told = await run_in_threadpool(news.answer, since)
    except AmplerError as problem:
        return JSONResponse({"problem": as_sentence(problem)}, status_code=422)
    return Response(told, media_type="application/json")


def studies_page(request: Request) -> Response:
    """Show the given studies and where each stands."""
    rows = [_study_row(request, study) for study in request.app.state.shelf]
    return page("studies.html", here="studies", rows=rows)


@dataclass(frozen=True, slots=True)
class StudyRow:
    """A study in the list: where it stands, or why that cannot be said."""

    name: str
    file: str
    headline: str
    sentence: str
    done: int = 0
    total: int = 0
    running: bool = False


def _study_row(request: Request, study: Any) -> StudyRow:
    try:
        seen = request.app.state.live.of(study).seen()
    except AmplerError as problem:
        return StudyRow(study.name, study.path.name, "It cannot be shown", as_sentence(problem))
    status = seen.look.status
    return StudyRow(
        study.name,
        study.path.name,
        how_far(seen.look, seen.carried_out),
        f"{count(status.runs, 'run')} of {count(len(status.algorithms), 'algorithm')},"
        f" {short_duration(status.seconds)} of computing",
        status.finished,
        len(status.instances),
        bool(seen.carried_out) and not seen.look.ended,
    )


def _live(request: Request) -> LiveStudy:
    state = request.app.state
    live: LiveStudy = state.live.of(state.shelf.find(request.path_params["name"]))
    return live


def study_parts(live: LiveStudy, seen: Seen, *, everything: bool = False) -> dict[str, str]:
    """Return the parts of a page by name; of many instances some are shown, unless everything is asked for."""
    values = _values(live, seen, everything=everything)
    return {part: fragment(f"study_{part}.html", **values) for part in PARTS}


def _values(live: LiveStudy, seen: Seen, *, everything: bool) -> dict[str, Any]:
    look, status = seen.look, seen.look.status
    ordered = sorted(enumerate(status.instances, start=1), key=lambda each: (STATES[each[1].state], each[0]))
    shown = ordered if everything else ordered[:SHOWN]
    percent = look.plan.question.difference == "percent"
    return {
        "name": live.name,
        "look": look,
        "status": status,
        "running": bool(seen.carried_out) and not look.ended,
        "headline": how_far(look, seen.carried_out),
        "standing": standing(status).partition(": ")[2],
        "facts": _facts(seen, percent),
        "heat": heat_chart(status),
        "legend": heat_legend(status),
        "accuracy": accuracy_chart(status, look.errors, look.target, percent) if look.errors else None,
        "percent": percent,
        "rows": [_instance_row(place, each, look, percent) for place, each in shown],
        "hidden": len(ordered) - len(shown),
        "times": _times(look),
        "recent": [_run_row(each) for each in look.recent],
        "decisions": list(decisions_taken(status)),
    }


def _failed(policy: FailurePolicy) -> str:
    return "stop the study" if isinstance(policy, StopStudy) else f"are {policy_words(policy)}"


def _facts(seen: Seen, percent: bool) -> list[tuple[str, str]]:
    """The numbers under the headline."""
    look, status, progress = seen.look, seen.look.status, seen.look.progress
    running = bool(seen.carried_out) and not look.ended
    facts = [
        (f"{status.runs:,}", "runs"),
        (f"{status.failures:,}", "without a value"),
        (short_duration(status.seconds), "of computing"),
        (measure_of(look.plan), f"{look.plan.question.better} is better, failed runs {_failed(look.plan.policy)}"),
    ]
    if running and progress is not None and progress.rate > 0:
        facts.append((digits(progress.rate), "runs a second"))
    if running and progress is not None and progress.planned:
        facts.append((f"{progress.planned:,}", "runs expected at the end"))
    if look.target is not None:
        facts.append((_error(look.target, percent), "standard error wanted"))
    return facts


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """An instance in the table."""

    place: int
    name: str
    state: str
    runs: int
    failures: int
    error: str
    value: float


def _instance_row(place: int, each: InstanceStatus, look: StudyLook, percent: bool) -> InstanceRow:
    error = look.errors.get(each.name)
    return InstanceRow(
        place,
        each.name,
        each.reason or each.state,
        sum(each.runs.values()),
        each.failures,
        "–" if error is None else _error(error, percent),
        float("nan") if error is None else error,
    )


def _times(look: StudyLook) -> list[tuple[str, int, str, float]]:
    """Each algorithm: runs, the mean time of one, and its share of the longest."""
    means = {name: seconds / runs if runs else 0.0 for name, (runs, seconds) in look.times.items()}
    longest = max(means.values(), default=0.0) or 1.0
    named = [name for name in look.status.algorithms if name in means]
    return [(name, look.times[name][0], seconds_in_words(means[name]), means[name] / longest) for name in named]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list of the latest."""

    when: str
    instance: str
    algorithm: str
    index: int
    value: str
    seconds: str
    status: str


def _run_row(seen: Observation) -> RunRow:
    ended = "" if seen.started is None else time.strftime("%H:%M:%S", time.localtime(seen.started + seen.seconds))
    value = seen.status if seen.value is None else digits(seen.value, 6)
    return RunRow(
        ended, seen.key.instance, seen.key.algorithm, seen.key.index, value, seconds_in_words(seen.seconds), seen.status
    )


def seconds_in_words(seconds: float) -> str:
    """Return a time that may be short.

    >>> seconds_in_words(0.0123), seconds_in_words(7.2), seconds_in_words(300)
    ('12.3 ms', '7.2 s', '5 min')
    """
    if seconds < 1:
        return f"{digits(1000 * seconds)} ms"
    return f"{digits(seconds)} s" if seconds < 100 else short_duration(seconds)


def _error(error: float, percent: bool) -> str:
    return f"{digits(100 * error)} %" if percent else digits(error)
