"""Changes of the plan of a results file: new parts, reused runs, and forbidden changes. Pure.

Decisions are replayed under the new plan whatever changed; a change is reported beforehand. A study that decides over
instances from what it has seen holds its levels only if everything else was fixed before: such changes are refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ampler.core.errors import PlanMismatch
from ampler.core.failures import policy_data
from ampler.core.plan import DecisionRecord, PlanRecord, Question
from ampler.core.text import count, listed, parameter
from ampler.design import n_comparisons


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """A changed setting."""

    name: str
    before: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.name} {_display(self.before)} → {_display(self.now)}"


@dataclass(frozen=True, slots=True)
class PlanChange:
    """Differences between a plan and its predecessor: names and settings. `str` describes their effect.

    `replayed` says whether decisions on instances that were finished are taken again.
    """

    algorithms: tuple[str, ...]
    algorithms_gone: tuple[str, ...]
    instances: tuple[str, ...]
    instances_gone: tuple[str, ...]
    settings: tuple[ChangedSetting, ...]
    comparisons: tuple[int, int]
    used: tuple[int, int]
    reference: str | None
    adaptive: bool
    replayed: bool

    def __str__(self) -> str:
        heads, effects = ", ".join(self._heads()), ", ".join(self._effects())
        levels_change = self.comparisons[0] != self.comparisons[1] or any(item.name in LEVELS for item in self.settings)
        levels = "; the levels change, so earlier decisions may" if levels_change else ""
        return f"{heads}: {effects or 'recorded runs are used as they are'}{levels}."

    def _heads(self) -> Iterator[str]:
        """The differences as texts."""
        came, went = len(self.algorithms), len(self.algorithms_gone)
        if came or went:
            counts = " and ".join(f"{sign}{number}" for sign, number in (("+", came), ("−", went)) if number)
            first, second = self.comparisons
            step = "" if first == second else f"{first} → "
            yield f"{counts} algorithm{'' if came + went == 1 else 's'}: {step}{count(second, 'comparison')}"
        if self.used[0] != self.used[1]:
            yield f"{self.used[0]} → {count(self.used[1], 'instance')}"
        elif self.instances:
            yield f"{count(len(self.instances), 'instance')} exchanged"
        yield from map(str, self.settings)

    def _effects(self) -> Iterator[str]:
        """The new runs, and the use of the existing ones."""
        if self.instances:
            yield f"{count(len(self.instances), 'new instance')} for all"
        if self.algorithms:
            yield f"new runs of {listed(self.algorithms, NAMES_SHOWN)} on {self.used[1]}"
        if self.algorithms and self.adaptive:
            yield f"more runs of {'other algorithms' if self.reference is None else 'the reference'}"
        if self.replayed and not self.algorithms:
            yield "decisions are made again, with recorded runs where possible"
        if self.instances_gone:
            yield f"the runs on {count(len(self.instances_gone), 'instance')} stay unused"
        if self.algorithms_gone:
            yield f"the runs of {listed(self.algorithms_gone, NAMES_SHOWN)} stay unused"
        if self.replayed and self._may_shrink():
            yield "runs outside the new plan stay unused"

    def _may_shrink(self) -> bool:
        """Whether the new plan may need fewer runs somewhere than the old one."""
        modest = {"budget": False, "se": True}  # whether a larger number means fewer runs
        return any(
            setting.name not in modest
            or None in (setting.before, setting.now)
            or (setting.now > setting.before) == modest[setting.name]
            for setting in self.settings
            if setting.name not in LEVELS | HARMLESS
        )


NAMES_SHOWN = 5
OVER_INSTANCES = ("detect", "pilot", "looks")  # settings of study rules with the same name in study.toml
LEVELS = {"alpha", "alternative", "test"}
HARMLESS = {"timeout", "cpu-timeout", "memory", "retries", "part", "effect", "power", "target", "better", "margin"}


def plan_change(before: PlanRecord, now: PlanRecord) -> PlanChange | None:
    """Return the differences between a plan and its predecessor; None if there are no relevant ones.

    Changes that affect the values of runs are not listed: the results file refuses them."""
    change = PlanChange(
        algorithms=_new(before.algorithms, now.algorithms),
        algorithms_gone=_new(now.algorithms, before.algorithms),
        instances=_new(before.instances, now.instances),
        instances_gone=_new(now.instances, before.instances),
        settings=tuple(_settings(before, now)),
        comparisons=(comparisons_of(before), comparisons_of(now)),
        used=(len(before.instances), len(now.instances)),
        reference=now.question.reference,
        adaptive="se" in now.rule,
        replayed=before.decisions != now.decisions,
    )
    names = (change.algorithms, change.algorithms_gone, change.instances, change.instances_gone, change.settings)
    return change if any(names) else None


def _new(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    old = set(before)
    return tuple(name for name in now if name not in old)


def comparisons_of(plan: PlanRecord) -> int:
    """Return how many pairs of algorithms a plan compares."""
    return n_comparisons(len(plan.algorithms), reference=plan.question.reference is not None)


def _settings(before: PlanRecord, now: PlanRecord) -> Iterator[ChangedSetting]:
    first, second = _flat(before), _flat(now)
    follow = {*before.open.get("rule", ())} & {*now.open.get("rule", ())}  # derived settings
    for name in {**first, **second}:
        internal = name.startswith("rule ") and first.get("rule rule") != second.get("rule rule")
        if first.get(name) != second.get(name) and name not in follow and not internal:
            yield ChangedSetting(name, first.get(name), second.get(name))


def _flat(plan: PlanRecord) -> Mapping[str, Any]:
    """Everything a user can set besides algorithms and instances, by name. Costs come with the algorithms."""
    question = dataclasses.asdict(plan.question)
    limits: dict[str, Any] = {}
    for name, default in dataclasses.asdict(plan.limits).items():
        every = plan.own_limits.items()
        own = {algorithm: limit for algorithm, mine in every if (limit := getattr(mine, name)) is not None}
        limits[name.replace("_", "-")] = {**({} if default is None else {"all": default}), **own} if own else default
    return {
        **{name: value for name, value in plan.rule.items() if name not in question and name != "costs"},
        **question,
        **limits,
        "on-failure": policy_data(plan.policy),
        "retries": plan.retries,
        "part": plan.part or None,
        **{name if name in OVER_INSTANCES else f"rule {name}": value for name, value in plan.study_rule.items()},
    }


def _display(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return " ".join(f"{name} {_display(item)}" for name, item in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


DISPLAYED = {"better"}  # fields of a question about the report
TESTED = {"Detect", "Looking"}  # study rules whose tests account for their decisions
LOOKED = "Looking"  # the rule with interim analyses
SHOWN = 5


def check_decided(
    before: PlanRecord, decisions: Sequence[DecisionRecord], now: PlanRecord, *, again: bool = False
) -> None:
    """Raise PlanMismatch if a plan changes the basis of earlier decisions, or repeats runs behind them."""
    if before.study_rule.get("rule") not in TESTED or all(record.number == 0 for record in decisions):
        return
    when = f"on {decisions[-1].taken[:10]} from the results" if decisions[-1].taken else "from the results"
    if changed := list(_changed(before, now)):
        further = ", with the same seed and instances and its own error rate" if "the algorithms" in changed else ""
        raise PlanMismatch(
            f"{listed(changed, SHOWN)} cannot be changed now: decisions were made {when}, and the tests account only"
            f" for the original plan; restore the old value, or start a new study in another file"
            f" ({parameter('path')}){further}"
        )
    if again:
        raise PlanMismatch(
            f"recorded runs cannot be repeated now: decisions were made {when},"
            f" and the runs are a part of them; omit {parameter('retry_failed')} and {parameter('again')}, or start a"
            f" new study in another file ({parameter('path')})"
        )


def changed_fields(before: Question, now: Question) -> list[str]:
    """Return the names of the fields in which two questions differ."""
    names = (field.name for field in fields(Question))
    return [name for name in names if getattr(before, name) != getattr(now, name)]


def is_decided_alike(before: PlanRecord, now: PlanRecord) -> bool:
    """Whether the decisions over instances that were taken under one plan are those of the other."""
    same = before.decisions == now.decisions and before.instances == now.instances
    return same and set(changed_fields(before.question, now.question)) <= DISPLAYED


def _changed(before: PlanRecord, now: PlanRecord) -> Iterator[str]:
    """Yield the changed settings, named as in study.toml."""
    if before.fingerprint.seed != now.fingerprint.seed:
        yield "the seed"
        return
    if before.study_rule.get("rule") != now.study_rule.get("rule"):
        yield "how the number of instances is decided"
        return
    names = _differing("study_rule", before, now)
    yield from (name.replace("_", "-") for name in names)
    changed = [name for name in changed_fields(before.question, now.question) if name not in DISPLAYED]
    yield from (name.replace("_", "-") for name in changed)
    if not names and before.rule.get("rule") != now.rule.get("rule"):
        yield "how many runs are made on an instance"
    elif not names:  # the study rule fixes the runs
        yield from (name.replace("_", "-") for name in _differing("rule", before, now))
    if before.algorithms != now.algorithms or before.deterministic != now.deterministic:
        yield "the algorithms"
    if before.instances != now.instances:
        yield "the instances"
    if policy_data(before.policy) != policy_data(now.policy):
        yield "on-failure"


def _differing(part: str, before: PlanRecord, now: PlanRecord) -> list[str]:
    """The settings of a rule that somebody changed; those that were open and are only follow from others."""
    first, second = getattr(before, part), getattr(now, part)
    follow = {*before.open.get(part, ())} & {*now.open.get(part, ())}
    names = [name for name in first if first[name] != second.get(name)]
    return [name for name in names if name not in follow] or names


def check_declared(before: PlanRecord, now: PlanRecord, finished: Collection[str]) -> None:
    """Raise PlanMismatch if interim analyses are declared after the first results."""
    if now.study_rule.get("rule") == LOOKED != before.study_rule.get("rule") and finished:
        raise PlanMismatch(
            "interim analyses must be planned before the first results, got"
            f" {count(len(finished), 'finished instance')}; omit looks, or start a new study in another file"
            f" ({parameter('path')})"
        )
