"""A study in words: what is planned, what it will take, where it stands, and what its parts gave together. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ampler.core.layout import Column, TextTable
from ampler.core.names import short_names, without_common
from ampler.core.values import Plan
from ampler.core.wording import count, count_are, duration, short_duration
from ampler.design.words import noise_sentence
from ampler.sampling.rules import Accuracy
from ampler.study.detect_rule import Detect
from ampler.study.plan import design_of
from ampler.study.stopping import decided

if TYPE_CHECKING:  # the sentences know values alone, not how they are made
    from ampler.study.following import StudyLook
    from ampler.study.forecast import Forecast
    from ampler.study.status import StudyStatus
    from ampler.study.store import Merged, Rescued

SHORT_HEAD = 10  # characters of an algorithm's name over a column of counts
PARTS_SHOWN = 10  # of those that are missing


def planned(plan: Plan) -> str:
    """Say what a plan compares and on how many instances, without a full stop."""
    against = f"all with {plan.question.reference}" if plan.question.reference else "all with all"
    power = "" if plan.power is None else f", power {plan.power:.2f} at effect {plan.question.effect:g}"
    further = f" of {len(plan.instances) + len(plan.untouched)}" if plan.untouched else ""
    most = "up to " if plan.study_rule is not None else ""
    where = f"{most}{len(plan.instances)}{further} instances"
    where = where if len(plan.instances) > 1 or plan.untouched else f"one instance, {plan.instances[0].name}"
    return f"{len(plan.algorithms)} algorithms, {against}, {plan.question.difference} differences, on {where}{power}"


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """Return the warnings of a plan, without full stops, with what speaks against its kind of difference."""
    asked = plan.question
    planned = asked.effect is not None or isinstance(plan.study_rule, Detect)
    if asked.difference != "percent" or asked.reference is None or not planned:
        return plan.warnings
    percent = (
        f"percent differences favour the reference: where {asked.reference} and another algorithm are equally good,"
        f' {asked.reference} looks better on average; ratio differences (difference = "ratio") do not'
    )
    return (*plan.warnings, percent)


def noise_allowed(plan: Plan) -> str | None:
    """Say which noise of runs the power of a plan allows for, and what is left of it; None without a power."""
    design = design_of(plan)
    if design is None:
        return None
    se = plan.rule.se if isinstance(plan.rule, Accuracy) else None
    return noise_sentence(design, se).replace("part of d,", f"part of effect = {design.effect:g},", 1)


def first_decision(plan: Plan) -> str:
    """Say what a study that decides for itself begins with, and what to mind; nothing where it does not."""
    if plan.study_rule is None:
        return ""
    first = decided(plan, ())
    return " ".join([first.reason, *map(noted, first.notes)])


def expected(forecast: Forecast) -> str:
    """Say what a study will take.

    >>> from ampler.study.forecast import Forecast
    >>> expected(Forecast(3, 2, least_runs=60, most_runs=150, least_seconds=120.0, most_seconds=390.0))
    'As far as one instance can tell, the study will take 60 to 150 runs and 60 seconds to 3.2 minutes with 2 workers \
(2 minutes to 6.5 minutes of computing).'
    """
    if forecast.recorded and not forecast.instances:
        return f"Nothing is left to be made: {count(forecast.recorded, 'run')} recorded."
    more = f" more, beside the {forecast.recorded:,} that are recorded," if forecast.recorded else ""
    runs = f"{forecast.least_runs:,}"
    if forecast.decides:
        most = forecast.least_runs if forecast.most_runs is None else forecast.most_runs
        runs += f" to {most:,}" if most > forecast.least_runs else ""
        span = _span(forecast.least_wall, forecast.most_wall or forecast.least_wall)
        time = "" if span is None else f" and {span} with {count(forecast.workers, 'worker')}"
        return f"Until it is decided how the study goes on, it will take {runs} runs{more}{time}."
    if forecast.most_runs is None:
        return f"The study will take at least {runs} runs{more.rstrip(',')}."
    if forecast.most_runs > forecast.least_runs:
        runs += f" to {forecast.most_runs:,}"
    span, computing = (
        _span(forecast.least_wall, forecast.most_wall),
        _span(forecast.least_seconds, forecast.most_seconds),
    )
    if span is None:
        rest = "how long is not known while an algorithm gives no value"
        return f"The study will take {runs} runs{more.rstrip(',')}; {rest}."
    workers = "1 worker" if forecast.workers == 1 else f"{forecast.workers} workers ({computing} of computing)"
    return f"As far as one instance can tell, the study will take {runs} runs{more} and {span} with {workers}."


def to_come(forecast: Forecast) -> str | None:
    """Say what a study that is gone on with will still take; None when nothing is recorded, or nothing is missing.

    >>> from ampler.study.forecast import Forecast
    >>> to_come(Forecast(3, 2, 47, 120, None, None, recorded=2088))
    '2,088 runs recorded, 47 to 120 more to be made on 3 instances.'
    """
    if not forecast.recorded or not forecast.instances:
        return None
    least, most = forecast.least_runs, forecast.most_runs
    span = f"at least {least:,}" if most is None else f"{least:,}" if most == least else f"{least:,} to {most:,}"
    on = count(forecast.instances, "instance")
    return f"{count(forecast.recorded, 'run')} recorded, {span} more to be made on {on}."


def standing(status: StudyStatus) -> str:
    """Say where a study stands."""
    why = "" if status.failure is None else f" Runs failed {status.failure}."
    failed = f", {status.failures} of them without a value" if status.failures else ""
    further = "1 further instance was" if status.untouched == 1 else f"{status.untouched} further instances were"
    untouched = f" {further} not needed." if status.untouched else ""
    are = "is not asked for by the plan and stays" if status.unused == 1 else "are not asked for by the plan and stay"
    unused = f" {count(status.unused, 'run')} {are} unused." if status.unused else ""
    part = f" (part {status.part})" if status.part else ""
    finished = "is" if len(status.instances) == 1 else "are"
    return (
        f"{status.name}{part}: {status.finished} of {count(len(status.instances), 'instance')} {finished} finished;"
        f" {count_are(status.runs, 'run')} recorded{failed}, {short_duration(status.seconds)} of computing in"
        f" {count(status.sessions, 'session')}."
        f"{why}{untouched}{unused}{''.join(f' {note}' for note in status.notes)}"
    )


def how_far(look: StudyLook, carried_out: bool | None) -> str:
    """Say in a few words how far a study is; `carried_out` when somebody makes its runs now, None if unknown."""
    done, total = look.status.finished, len(look.status.instances)
    if look.ended:
        return f"All {total} instances are finished" if total > 1 else "The instance is finished"
    begin = f"{done} of {count(total, 'instance')}"
    left = None if look.progress is None else look.progress.left
    if carried_out and left is not None:
        return f"{begin}, about {duration(max(1.0, left))} left"
    return f"{begin}, and nobody is running it now" if carried_out is False else f"{begin} so far"


def decisions_taken(status: StudyStatus) -> Iterator[str]:
    """Yield what was decided over instances, with its date, and what to mind."""
    for each in status.decisions:
        yield f"{each.taken[:16].replace('T', ' ')}: {each.reason}"
        yield from map(noted, each.notes)


def noted(sentence: str) -> str:
    """Return what is to be minded as a note."""
    return f"Note: {sentence}."


def standing_columns(status: StudyStatus) -> TextTable:
    """Return where each instance stands: its runs by algorithm, failures, the largest standard error, its state.

    Where room is short, the last algorithms are left out first.
    """
    number = len(status.algorithms)
    heads = (status.algorithms, short_names(status.algorithms, SHORT_HEAD))
    runs = [tuple(str(each.runs[name]) for each in status.instances) for name in status.algorithms]
    algorithms = (
        Column(heads[0][k], runs[k], leaves=4 + k, narrow=Column(heads[1][k], runs[k], leaves=4 + k))
        for k in range(number)
    )
    failed = tuple(str(each.failures) for each in status.instances)
    errors = ("" if each.error is None else f"{each.error:.3g}" for each in status.instances)
    return TextTable(
        (
            Column("instance", without_common([each.name for each in status.instances]), "name"),
            *algorithms,
            *([Column("failed", failed, leaves=2)] if any(each.failures for each in status.instances) else []),
            Column("worst SE", tuple(errors), leaves=1),
            Column("state", tuple(each.reason or each.state for each in status.instances), "words", leaves=3),
        )
    )


def missing_parts(merged: Merged) -> str | None:
    """Say which parts of a study were not among the files, if any."""
    if not merged.missing:
        return None
    more = " …" if len(merged.missing) > PARTS_SHOWN else ""
    shown = ", ".join(merged.missing[:PARTS_SHOWN]) + more
    they = "it is" if len(merged.missing) == 1 else "they are"
    return f"{count_are(len(merged.missing), 'part')} not among the files: {shown}; merge again when {they} there."


def put_together(merged: Merged, finished: int, where: str) -> str:
    """Say what a merge gave: how many runs are now in `where`, and how many instances are finished."""
    total = len(merged.plan.instances)
    done = f"all {total}" if finished == total else f"{finished} of {total}"
    rest = "" if finished == total else " The others are left out of an analysis until they are."
    return f"{merged.plan.name}: {count_are(merged.runs, 'run')} in {where}; {done} instances are finished.{rest}"


def saved_from(rescued: Rescued, source: str, where: str) -> str:
    """Say how many runs a rescue has saved, and whether anything is lost."""
    rest = "Not in it are:" if rescued.lost else "Nothing that the file tells of is lost."
    return f"{count(rescued.runs, 'run')} of {source} {'is' if rescued.runs == 1 else 'are'} saved in {where}. {rest}"


def _span(least: float | None, most: float | None) -> str | None:
    """A range of times as people say it; None when it is not known."""
    if least is None or most is None:
        return None
    if most < 1:
        return "less than a second"
    low = duration(least) if least >= 1 else "less than a second"
    return duration(most) if duration(most) == low else f"{low} to {duration(most)}"
