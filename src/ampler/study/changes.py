"""What happens when a study file meets a new plan: what is new, what is used again, what is no longer asked for. Pure.

Nothing here decides anything. Decisions are replayed under the new plan whatever changed; this says so beforehand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ampler.core.failures import policy_data
from ampler.core.values import PlanRecord
from ampler.core.wording import count, listed


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """A setting that is not what it was."""

    name: str
    before: Any
    now: Any

    def __str__(self) -> str:
        return f"{self.name} {_shown(self.before)} → {_shown(self.now)}"


@dataclass(frozen=True, slots=True)
class PlanChange:
    """How a plan differs from the one before: names that came and went, and settings. `str` says what will happen.

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
        levels = "; the levels change, so earlier decisions may" if self._levels_change() else ""
        return f"{heads}: {effects or 'recorded runs are used as they are'}{levels}."

    def _heads(self) -> Iterator[str]:
        """What is different."""
        came, went = len(self.algorithms), len(self.algorithms_gone)
        if came or went:
            counts = [*([f"+{came}"] if came else []), *([f"−{went}"] if went else [])]
            plural = "" if came + went == 1 else "s"
            first, second = self.comparisons
            step = "" if first == second else f"{first} → "
            yield f"{' and '.join(counts)} algorithm{plural}: {step}{count(second, 'comparison')}"
        if self.used[0] != self.used[1]:
            yield f"{self.used[0]} → {count(self.used[1], 'instance')}"
        elif self.instances:
            yield f"{count(len(self.instances), 'instance')} exchanged"
        yield from map(str, self.settings)

    def _effects(self) -> Iterator[str]:
        """What will be run, and what becomes of the runs that are there."""
        if self.instances:
            yield f"{count(len(self.instances), 'new instance')} for all"
        if self.algorithms:
            yield f"new runs of {listed(self.algorithms, NAMES_SHOWN)} on {self.used[1]}"
        if self.algorithms and self.adaptive:
            yield f"some more of {'the others' if self.reference is None else 'the reference'}"
        if self.replayed and not self.algorithms:
            yield "decisions are taken again, with the recorded runs wherever they are asked for"
        if self.instances_gone:
            yield f"the runs on {count(len(self.instances_gone), 'instance')} stay unused"
        if self.algorithms_gone:
            yield f"the runs of {listed(self.algorithms_gone, NAMES_SHOWN)} stay unused"
        if self.replayed and self._may_shrink():
            yield "runs that are no longer asked for stay unused"

    def _may_shrink(self) -> bool:
        """Whether the new plan may want fewer runs somewhere than the old one did."""
        modest = {"budget": False, "se": True}  # whether a larger number means fewer runs
        rule = [setting for setting in self.settings if setting.name not in LEVELS | HARMLESS]
        return any(
            setting.name not in modest
            or None in (setting.before, setting.now)
            or (setting.now > setting.before) == modest[setting.name]
            for setting in rule
        )

    def _levels_change(self) -> bool:
        changed = {setting.name for setting in self.settings}
        return self.comparisons[0] != self.comparisons[1] or bool(changed & LEVELS)


NAMES_SHOWN = 5
LEVELS = {"alpha", "alternative", "test"}
HARMLESS = {"timeout", "cpu-timeout", "memory", "retries", "part", "effect", "power", "target", "better", "margin"}


def plan_change(before: PlanRecord, now: PlanRecord) -> PlanChange | None:
    """Return how a plan differs from the one before it; None when nothing is different that could matter.

    A change that would give runs other values is not told here: the study file refuses it.
    """
    change = PlanChange(
        algorithms=_new(before.algorithms, now.algorithms),
        algorithms_gone=_new(now.algorithms, before.algorithms),
        instances=_new(before.instances, now.instances),
        instances_gone=_new(now.instances, before.instances),
        settings=tuple(_settings(before, now)),
        comparisons=(_comparisons(before), _comparisons(now)),
        used=(len(before.instances), len(now.instances)),
        reference=now.question.reference,
        adaptive="se" in now.rule,
        replayed=before.decisions != now.decisions,
    )
    names = (change.algorithms, change.algorithms_gone, change.instances, change.instances_gone, change.settings)
    return change if any(names) else None


def _new(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    known = set(before)
    return tuple(name for name in now if name not in known)


def _comparisons(plan: PlanRecord) -> int:
    others = len(plan.algorithms) - 1
    return others if plan.question.reference is not None else others * (others + 1) // 2


def _settings(before: PlanRecord, now: PlanRecord) -> Iterator[ChangedSetting]:
    first, second = _flat(before), _flat(now)
    follow = {*before.open.get("rule", ())} & {*now.open.get("rule", ())}  # nobody chose them: they follow from others
    for name in {**first, **second}:
        if first.get(name) != second.get(name) and name not in follow:
            yield ChangedSetting(name, first.get(name), second.get(name))


def _flat(plan: PlanRecord) -> Mapping[str, Any]:
    """Everything a user can set besides algorithms and instances, by name. Costs come with the algorithms."""
    question, limits = dataclasses.asdict(plan.question), _limits(plan)
    rule = {name: value for name, value in plan.rule.items() if name not in question and name != "costs"}
    policy = {"on-failure": policy_data(plan.policy)}
    return {
        **rule,
        **question,
        **limits,
        **policy,
        "retries": plan.retries,
        "part": plan.part or None,
        "study rule": plan.study_rule or None,
    }


def _limits(plan: PlanRecord) -> dict[str, Any]:
    """The limits by their names in study.toml, with those of single algorithms where they have any."""
    limits: dict[str, Any] = {}
    for name in ("timeout", "memory", "cpu_timeout"):
        own = {each: getattr(mine, name) for each, mine in plan.own_limits.items() if getattr(mine, name) is not None}
        default = getattr(plan.limits, name)
        limits[name.replace("_", "-")] = {**({} if default is None else {"all": default}), **own} if own else default
    return limits


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return " ".join(f"{name} {_shown(each)}" for name, each in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
