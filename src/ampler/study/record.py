"""What is kept of a plan: the fingerprint of what gives runs their values, and the plan as plain data. Pure.

Two plans may share a study file when no name they have in common changed its fingerprint. Decisions (se, budget,
guard, more algorithms, more instances) are no part of it: they are replayed.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, replace
from typing import Any

from ampler.core.failures import policy_data, policy_from
from ampler.core.plain import canonical, described_rule, digest, plain
from ampler.core.values import Algorithm, Fingerprint, Function, Limits, Plan, PlanRecord, Question
from ampler.study.command_line import commands_around
from ampler.study.defaults import FIRST_FORMULA, as_first_written, described_whole, resolved, with_defaults

POWER_DIGITS = 9  # that make a plan another one
STORED_DIFFERENCE = {"ratio": "log-ratio"}  # results files keep the word of version 0.1, so that equal plans are equal


def fingerprint(plan: Plan) -> Fingerprint:
    """Return what gives the plan's runs their values; names in the plan's order. That of a part is the whole's."""
    return Fingerprint(
        seed=plan.seed,
        algorithms={algorithm.name: identity(algorithm) for algorithm in plan.algorithms},
        instances={instance.name: instance.sha256 for instance in plan.all_instances or plan.instances},
    )


def identity(algorithm: Algorithm) -> dict[str, Any]:
    """Return the fields of an algorithm that its values hang on.

    The folder is left out (a study may be moved), and so are cost and limits.
    """
    parameters = plain(dict(algorithm.parameters))
    around = _around(algorithm)
    if isinstance(algorithm, Function):
        return {"python": algorithm.origin, "parameters": parameters, "value": algorithm.reading.text, **around}
    what = {"arguments": "command", "irace": "runner", "worker": "worker"}[algorithm.protocol]
    given = {what: list(algorithm.argv), "parameters": parameters, "value": algorithm.reading.text}
    unusual = {} if algorithm.success == (0,) else {"success": sorted(set(algorithm.success))}
    return given | unusual | around  # what is usual is not said, so that files of earlier days are equal


def _around(algorithm: Algorithm) -> dict[str, Any]:
    """The commands around its runs, as far as there are any."""
    given: dict[str, Any] = {name: list(command.argv) for name, command in commands_around(algorithm).items()}
    runs = algorithm.around.warmup
    return given | ({"warmup": runs} if isinstance(runs, int) and runs else {})


@dataclass(frozen=True, slots=True)
class Change:
    """A field that differs between what is recorded and what is planned."""

    what: str
    field: str
    recorded: Any
    planned: Any

    def __str__(self) -> str:
        return f"{self.field} of {self.what} is recorded as {_shown(self.recorded)}, planned as {_shown(self.planned)}"


def changed(recorded: Fingerprint, planned: Fingerprint) -> Change | None:
    """Return the first field in which two fingerprints contradict each other; a name only one of them has does not.

    >>> before = Fingerprint(1, {"full": {"command": ["solve", "{instance}"]}}, {"i1": ""})
    >>> print(changed(before, Fingerprint(1, {"full": {"command": ["solve2", "{instance}"]}, "new": {}}, {})))
    command of algorithm 'full' is recorded as 'solve {instance}', planned as 'solve2 {instance}'
    """
    if recorded.seed != planned.seed:
        return Change("the study", "seed", recorded.seed, planned.seed)
    for name in (name for name in planned.algorithms if name in recorded.algorithms):
        before, now = recorded.algorithms[name], planned.algorithms[name]
        for field in [*before, *(field for field in now if field not in before)]:
            if digest(before.get(field)) != digest(now.get(field)):
                return Change(f"algorithm {name!r}", field, before.get(field), now.get(field))
    for name in (name for name in planned.instances if name in recorded.instances):
        if recorded.instances[name] != planned.instances[name]:
            return Change(f"instance {name!r}", "content", recorded.instances[name], planned.instances[name])
    return None


def record(plan: Plan) -> PlanRecord:
    """Return the plan as the study file keeps it."""
    plan = resolved(plan)
    family = len(plan.algorithms), plan.question.reference is not None
    rules = (plan.rule, *([] if plan.study_rule is None else [plan.study_rule]))
    described, *over_instances = (_with_stored_word(described_whole(described_rule(rule), *family)) for rule in rules)
    decisive = [_with_stored_word(as_first_written(rule, *family)) for rule in rules]
    deterministic = tuple(algorithm.name for algorithm in plan.algorithms if algorithm.deterministic)
    names = [algorithm.name for algorithm in plan.algorithms]
    floor = [] if plan.question.floor is None else [{"floor": plan.question.floor}]
    formula = [] if plan.question.formula == FIRST_FORMULA else [{"formula": plan.question.formula}]
    everything, ours = plan.all_instances or plan.instances, {instance.name for instance in plan.instances}
    return PlanRecord(
        name=plan.name,
        question=plan.question,
        fingerprint=fingerprint(plan),
        untouched=tuple(instance.name for instance in plan.untouched),
        features={instance.name: dict(instance.features) for instance in everything if instance.features},
        rule=described,
        limits=plan.limits,
        policy=plan.policy,
        retries=plan.retries,
        needed=plan.needed,
        power=plan.power,
        deterministic=deterministic,
        timed=tuple(algorithm.name for algorithm in plan.algorithms if algorithm.reading.is_time),
        decisions=digest(
            [names, list(deterministic), decisive[0], policy_data(plan.policy), *decisive[1:], *floor, *formula]
        ),
        warnings=plan.warnings,
        part=plan.part,
        elsewhere=tuple(instance.name for instance in everything if instance.name not in ours),
        study_rule=over_instances[0] if over_instances else {},
        own_limits={each.name: each.limits for each in plan.algorithms if each.limits != Limits()},
        use=plan.use,
        analysis=plan.analysis,
        open=plan.open or {},
    )


def uncut(kept: PlanRecord) -> PlanRecord:
    """Return the record of the whole study from that of one of its parts; without a date."""
    return replace(kept, part="", elsewhere=(), created="")


def to_json(kept: PlanRecord) -> str:
    """Write a record as JSON; what most studies do not have is left out, so that records of earlier days are equal."""
    data = dataclasses.asdict(kept)
    data["question"] = _with_stored_word(data["question"])
    for name in ("study_rule", "own_limits", "use"):
        if not data[name]:
            del data[name]
    if kept.question.formula == FIRST_FORMULA:
        del data["question"]["formula"]
    if kept.question.floor is None:
        del data["question"]["floor"]
    data["limits"] = _given(data["limits"])
    if kept.own_limits:
        data["own_limits"] = {name: _given(limits) for name, limits in data["own_limits"].items()}
    data["policy"] = policy_data(kept.policy)
    return canonical(data)


def undated(kept: PlanRecord) -> str:
    """Return a record as text, such that equal plans are equal texts, without its date, its warnings and what was open.

    The power is worked out whenever a plan is made: another release of a library may round its last digit otherwise.
    """
    power = None if kept.power is None else round(kept.power, POWER_DIGITS)
    same = replace(kept, created="", power=power, warnings=(), use=None, open={})
    return canonical(json.loads(to_json(same)), sort_keys=True)


def from_json(text: str) -> PlanRecord:
    """Read a record from JSON; to_json's other half."""
    data = with_defaults(json.loads(text))
    given = {
        "question": Question(**data["question"]),
        "fingerprint": Fingerprint(**data["fingerprint"]),
        "limits": Limits(**data["limits"]),
        "policy": policy_from(data["policy"]),
        "own_limits": {name: Limits(**limits) for name, limits in data.get("own_limits", {}).items()},
    }
    lists = ("untouched", "deterministic", "timed", "warnings", "elsewhere")
    tuples = {name: tuple(data[name]) for name in lists if name in data}
    return PlanRecord(**{**data, **given, **tuples})


def _with_stored_word(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data with the kind of difference as results files have it."""
    if "difference" not in data:
        return data
    return data | {"difference": STORED_DIFFERENCE.get(data["difference"], data["difference"])}


def _given(limits: dict[str, Any]) -> dict[str, Any]:
    """Limits without those that came later, where there are none."""
    return {name: limit for name, limit in limits.items() if limit is not None or name in ("timeout", "memory")}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return repr(" ".join(map(str, value)))
    if isinstance(value, str):
        return repr(value if len(value) < 64 else f"{value[:12]}…") if value else "nothing"
    return "nothing" if value is None else canonical(value)
