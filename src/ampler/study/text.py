"""Text of a study: plan, expected cost, progress, and merged parts. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ampler.core.plan import Plan
from ampler.core.text import Column, TextTable, count, count_are, duration, short_duration, short_names, without_common
from ampler.design.text import noise_sentence
from ampler.sampling.rules import Accuracy
from ampler.study.changes import TESTED
from ampler.study.detect import Detect
from ampler.study.families import AddedAlgorithms
from ampler.study.plan import design_of
from ampler.study.stopping import decided

if TYPE_CHECKING:
    from ampler.study.forecast import Forecast
    from ampler.study.status import StudySnapshot, StudyStatus
    from ampler.study.store import Merged, Rescued

SHORT_HEAD = 10  # characters of an algorithm's name over a column of counts
PARTS_SHOWN = 10  # of missing runs
LATER = (
    "List all algorithms now. After this decision none can join its tests; when the study is finished, further"
    " algorithms can be added as a later family with its own error rate."
)
STATES = {"accuracy reached": "target SE reached", "budget spent": "budget reached", "runs done": "complete"}


def planned(plan: Plan) -> str:
    """Describe what a plan compares and on how many instances, without a full stop."""
    against = f"all vs {plan.question.reference}" if plan.question.reference else "all pairs"
    known = plan.power is not None and plan.question.effect is not None
    power = f", power {plan.power:.2f} at effect {plan.question.effect:g}" if known else ""
    further = f" of {len(plan.instances) + len(plan.untouched)}" if plan.untouched else ""
    most = "" if plan.study_rule is None or isinstance(plan.study_rule, AddedAlgorithms) else "up to "
    where = f"{most}{len(plan.instances)}{further} instances"
    where = where if len(plan.instances) > 1 or plan.untouched else f"one instance, {plan.instances[0].name}"
    return f"{len(plan.algorithms)} algorithms, {against}, {plan.question.difference} differences, on {where}{power}"


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return the warnings of a plan, without full stops, with what speaks against its kind of difference."""
    from ampler.analysis.advice_text import percent_note

    question = plan.question
    planned = question.effect is not None or isinstance(plan.study_rule, Detect)
    percent = percent_note(question.difference, question.reference) if planned else None
    return plan.warnings if percent is None else (*plan.warnings, percent)


def noise_allowed(plan: Plan) -> str | None:
    """State the run noise that the power of a plan includes, and the power under more; None without a power."""
    design = design_of(plan)
    if design is None:
        return None
    se = plan.rule.se if isinstance(plan.rule, Accuracy) else None
    return noise_sentence(design, se).replace("d includes", f"effect = {design.effect:g} includes", 1)


def first_decision(plan: Plan) -> str:
    """Describe the first stage of an adaptive study, with warnings; empty for other studies."""
    if plan.study_rule is None:
        return ""
    first = decided(plan, ())
    values_decide = type(plan.study_rule).__name__ in TESTED
    fixed = [LATER] if values_decide else []
    return " ".join([first.reason, *map(noted, first.notes), *fixed])


def expected(forecast: Forecast) -> str:
    """Describe the expected cost of a study.

    >>> from ampler.study.forecast import Forecast
    >>> expected(Forecast(3, 2, least_runs=60, most_runs=150, least_seconds=120.0, most_seconds=390.0))
    'Estimate from one instance: 60 to 150 runs, 60 seconds to 3.2 minutes with 2 workers \
    (2 minutes to 6.5 minutes of computing).'
    """
    if forecast.recorded and not forecast.instances:
        return f"All runs are complete: {count(forecast.recorded, 'run')} recorded."
    more = f" more (in addition to {forecast.recorded:,} recorded ones)" if forecast.recorded else ""
    runs = f"{forecast.least_runs:,}"
    if forecast.most_runs is not None and forecast.most_runs > forecast.least_runs:
        runs += f" to {forecast.most_runs:,}"
    if forecast.decides:
        span = _span(forecast.least_wall, forecast.most_wall or forecast.least_wall)
        time = "" if span is None else f" and {span} with {count(forecast.workers, 'worker')}"
        return f"Until the next decision, the study takes {runs} runs{more}{time}."
    if forecast.most_runs is None:
        return f"The study takes at least {runs} runs{more}."
    span = _span(forecast.least_wall, forecast.most_wall)
    if span is None:
        return f"The study takes {runs} runs{more}. The time is unknown until every algorithm gives a value."
    computing = _span(forecast.least_seconds, forecast.most_seconds)
    workers = "1 worker" if forecast.workers == 1 else f"{forecast.workers} workers ({computing} of computing)"
    return f"Estimate from one instance: {runs} runs{more}, {span} with {workers}."


def to_come(forecast: Forecast) -> str | None:
    """Describe the remaining cost of a resumed study; None if nothing is recorded or missing.

    >>> from ampler.study.forecast import Forecast
    >>> to_come(Forecast(3, 2, 47, 120, None, None, recorded=2088))
    '2,088 runs recorded, 47 to 120 more to make on 3 instances.'
    """
    if not forecast.recorded or not forecast.instances:
        return None
    least, most = forecast.least_runs, forecast.most_runs
    span = f"at least {least:,}" if most is None else f"{least:,}" if most == least else f"{least:,} to {most:,}"
    on = count(forecast.instances, "instance")
    return f"{count(forecast.recorded, 'run')} recorded, {span} more to make on {on}."


def standing(status: StudyStatus) -> str:
    """State the progress of a study."""
    why = "" if status.failure is None else f" Runs failed {status.failure}."
    failed = f" ({status.failures} failed)" if status.failures else ""
    untouched = f" {count(status.untouched, 'more instance')} not needed." if status.untouched else ""
    unused = f" {count(status.unused, 'run')} outside the plan unused." if status.unused else ""
    part = f" (part {status.part})" if status.part else ""
    return (
        f"{status.name}{part}: {status.finished} of {count(len(status.instances), 'instance')} finished."
        f" {count(status.runs, 'run')}{failed}, {short_duration(status.seconds)} of computing in"
        f" {count(status.sessions, 'session')}.{why}{untouched}{unused}{''.join(f' {note}' for note in status.notes)}"
    )


def how_far(snapshot: StudySnapshot, carried_out: bool | None) -> str:
    """State the progress of a study in short; `carried_out` if it is running now, None if unknown."""
    done, total = snapshot.status.finished, len(snapshot.status.instances)
    if snapshot.ended:
        return f"All {total} instances are finished" if total > 1 else "The instance is finished"
    begin = f"{done} of {count(total, 'instance')}"
    left = None if snapshot.progress is None else snapshot.progress.left
    if carried_out and left is not None:
        return f"{begin}, about {duration(max(1.0, left))} left"
    return f"{begin}, and it is not running now" if carried_out is False else f"{begin} so far"


def decisions_taken(status: StudyStatus) -> Iterator[str]:
    """Yield the decisions over instances, with their dates and warnings."""
    for decision in status.decisions:
        yield f"{decision.taken[:16].replace('T', ' ')}: {decision.reason}"
        yield from map(noted, decision.notes)


def noted(sentence: str) -> str:
    """Return a text as a note."""
    return f"Note: {sentence}."


def standing_columns(status: StudyStatus) -> TextTable:
    """Return the state of each instance: runs by algorithm, failures, largest standard error.

    Where room is short, the last algorithms are left out first.
    """
    instances, columns = status.instances, []
    for place, (name, short) in enumerate(
        zip(status.algorithms, short_names(status.algorithms, SHORT_HEAD), strict=True), start=4
    ):
        runs = tuple(str(instance.runs[name]) for instance in instances)
        columns.append(Column(name, runs, leaves=place, narrow=Column(short, runs, leaves=place)))
    if any(instance.failures for instance in instances):
        columns.append(Column("failed", tuple(str(instance.failures) for instance in instances), leaves=2))
    errors = ("" if instance.error is None else f"{instance.error:.3g}" for instance in instances)
    states = (state_text(instance.reason or instance.state) for instance in instances)
    return TextTable(
        (
            Column("instance", without_common([instance.name for instance in instances]), "name"),
            *columns,
            Column("largest SE", tuple(errors), leaves=1),
            Column("state", tuple(states), "words", leaves=3),
        )
    )


def state_text(state: str) -> str:
    """Return the state of an instance, or the reason why it is finished, in words."""
    return STATES.get(state, state)


def missing_parts(merged: Merged) -> str | None:
    """State which parts of a study were not among the files, if any."""
    if not merged.missing:
        return None
    numbers = ", ".join(merged.missing[:PARTS_SHOWN]) + (" …" if len(merged.missing) > PARTS_SHOWN else "")
    they = "it is" if len(merged.missing) == 1 else "they are"
    return f"{count_are(len(merged.missing), 'part')} missing: {numbers}; merge again when {they} available."


def put_together(merged: Merged, finished: int, where: str) -> str:
    """Describe what a merge gave: how many runs are now in `where`, and how many instances are finished."""
    total = len(merged.plan.instances)
    done = f"all {total}" if finished == total else f"{finished} of {total}"
    rest = "" if finished == total else " An analysis ignores the rest until then."
    return f"{merged.plan.name}: {count_are(merged.runs, 'run')} in {where}; {done} instances are finished.{rest}"


def saved_from(rescued: Rescued, source: str, where: str) -> str:
    """State how many runs a rescue has saved, and whether anything is lost."""
    rest = "Lost:" if rescued.lost else "All recorded runs were saved."
    return f"{count(rescued.runs, 'run')} of {source} saved in {where}. {rest}"


def _span(least: float | None, most: float | None) -> str | None:
    """A range of times as text; None if unknown."""
    if least is None or most is None:
        return None
    if most < 1:
        return "less than a second"
    low = duration(least) if least >= 1 else "less than a second"
    return duration(most) if duration(most) == low else f"{low} to {duration(most)}"
