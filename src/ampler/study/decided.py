"""What must stay as it is once a study has taken decisions from its values: all that its tests rest on. Pure.

A study that decides over instances from what it has seen holds its levels only if everything else was fixed before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, replace

from ampler.core.errors import PlanMismatch
from ampler.core.failures import policy_data
from ampler.core.spoken import parameter
from ampler.core.values import DecisionRecord, PlanRecord, Question
from ampler.core.wording import count, listed

HARMLESS = {"better"}  # fields of a question that say how an answer is told
TESTED = {"Detect", "Looking"}  # rules over instances whose tests allow for their decisions; of others nothing is known
LOOKED = "Looking"  # the rule that is looked at on the way
SHOWN = 5


def check_decided(
    before: PlanRecord, decisions: Sequence[DecisionRecord], now: PlanRecord, *, again: bool = False
) -> None:
    """Raise PlanMismatch if a plan changes what decisions already rest on, or runs they saw are made again."""
    if before.study_rule.get("rule") not in TESTED or all(taken.number == 0 for taken in decisions):
        return
    when = f"was decided on {decisions[-1].taken[:10]} from the values so far" if decisions[-1].taken else "was decided"
    changed = list(_changed(before, now))
    if changed:
        raise PlanMismatch(
            f"{listed(changed, SHOWN)} cannot be changed any more: how the study goes on {when}, and its tests hold"
            f" only for what was asked before; put it back, or begin a new study in another file ({parameter('path')})"
        )
    if again:
        raise PlanMismatch(
            f"recorded runs cannot be made again any more, failed ones or others: how the study goes on {when},"
            f" of which they are a part; leave {parameter('retry_failed')} and {parameter('again')} out, or begin a new"
            f" study in another file ({parameter('path')})"
        )


def is_decided_alike(before: PlanRecord, now: PlanRecord) -> bool:
    """Whether the decisions over instances that were taken under one plan are those of the other."""
    asked = replace(before.question, **{name: getattr(now.question, name) for name in HARMLESS})
    return before.decisions == now.decisions and before.instances == now.instances and asked == now.question


def _changed(before: PlanRecord, now: PlanRecord) -> Iterator[str]:
    """What is no longer as it was, in the words of study.toml."""
    if before.study_rule.get("rule") != now.study_rule.get("rule"):
        yield "how the number of instances is decided"
        return
    names = _differing("study_rule", before, now)
    yield from (name.replace("_", "-") for name in names)
    for field in fields(Question):
        if field.name not in HARMLESS and getattr(before.question, field.name) != getattr(now.question, field.name):
            yield field.name
    if not names:
        yield from _changed_runs(before, now)
    if before.algorithms != now.algorithms or before.deterministic != now.deterministic:
        yield "the algorithms"
    if before.instances != now.instances:
        yield "the instances"
    if policy_data(before.policy) != policy_data(now.policy):
        yield "on-failure"


def _changed_runs(before: PlanRecord, now: PlanRecord) -> Iterator[str]:
    """What decides on the runs of an instance, and is another; a rule over instances that fixes them has said so."""
    if before.rule.get("rule") != now.rule.get("rule"):
        yield "how many runs are made on an instance"
        return
    yield from (name.replace("_", "-") for name in _differing("rule", before, now))


def _differing(part: str, before: PlanRecord, now: PlanRecord) -> list[str]:
    """The settings of a rule that somebody changed; those that were open and are only follow from others."""
    first, second = getattr(before, part), getattr(now, part)
    follow = {*before.open.get(part, ())} & {*now.open.get(part, ())}
    names = [name for name in first if first[name] != second.get(name)]
    return [name for name in names if name not in follow] or names


def check_declared(before: PlanRecord, now: PlanRecord, finished: Collection[str]) -> None:
    """Raise PlanMismatch if looks are declared when there are results already, which may have moved them."""
    if now.study_rule.get("rule") != LOOKED or before.study_rule.get("rule") == LOOKED or not finished:
        return
    raise PlanMismatch(
        f"looks must be declared before there are results, got them with {count(len(finished), 'instance')} finished"
        f" under a plan without looks; leave looks out, or begin a new study in another file ({parameter('path')})"
    )
