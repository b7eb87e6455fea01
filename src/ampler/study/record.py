"""What is kept of a plan: the fingerprint of what gives runs their values, and the plan as plain data. Pure.

Two plans may share a study file when no name they have in common changed its fingerprint. Decisions (se, budget,
guard, more algorithms, more instances) are no part of it: they are replayed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from typing import Any

from ampler.core.failures import policy_data, policy_from
from ampler.core.values import Algorithm, Fingerprint, Function, Limits, Plan, PlanRecord, Question


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
    if isinstance(algorithm, Function):
        return {"python": algorithm.origin, "parameters": parameters, "value": algorithm.reading.text}
    what = {"arguments": "command", "irace": "runner", "worker": "worker"}[algorithm.protocol]
    return {what: list(algorithm.argv), "parameters": parameters, "value": algorithm.reading.text}


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
    described = described_rule(plan.rule)
    deterministic = tuple(algorithm.name for algorithm in plan.algorithms if algorithm.deterministic)
    names = [algorithm.name for algorithm in plan.algorithms]
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
        decisions=digest([names, list(deterministic), described, policy_data(plan.policy)]),
        warnings=plan.warnings,
        part=plan.part,
        elsewhere=tuple(instance.name for instance in everything if instance.name not in ours),
    )


def uncut(kept: PlanRecord) -> PlanRecord:
    """Return the record of the whole study from that of one of its parts; without a date."""
    return dataclasses.replace(kept, part="", elsewhere=(), created="")


def described_rule(rule: Any) -> dict[str, Any]:
    """Return a rule as plain data: its type's name and fields; of a plain function, where it is defined."""
    if dataclasses.is_dataclass(rule) and not isinstance(rule, type):
        fields = {field.name: plain(getattr(rule, field.name)) for field in dataclasses.fields(rule) if field.init}
        return {"rule": type(rule).__name__, **fields}
    return {"rule": origin(rule)}


def origin(function: Any) -> str:
    """Return where a callable is defined, as "module:name".

    >>> origin(math.sqrt)
    'math:sqrt'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def to_json(kept: PlanRecord) -> str:
    """Write a record as JSON."""
    data = dataclasses.asdict(kept)
    data["policy"] = policy_data(kept.policy)
    return canonical(data)


def from_json(text: str) -> PlanRecord:
    """Read a record from JSON; to_json's other half."""
    data = json.loads(text)
    given = {
        "question": Question(**data["question"]),
        "fingerprint": Fingerprint(**data["fingerprint"]),
        "limits": Limits(**data["limits"]),
        "policy": policy_from(data["policy"]),
    }
    lists = ("untouched", "deterministic", "timed", "warnings", "elsewhere")
    tuples = {name: tuple(data[name]) for name in lists if name in data}
    return PlanRecord(**{**data, **given, **tuples})


def canonical(data: Any, *, sort_keys: bool = False) -> str:
    """Write plain data as JSON without blanks; the order of names is kept, as it carries meaning."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=sort_keys)


def digest(data: Any) -> str:
    """Return a short hash of plain data; the order in which a mapping names its keys does not matter."""
    return hashlib.blake2b(canonical(data, sort_keys=True).encode(), digest_size=16).hexdigest()


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers that are not finite as text, functions by where they are defined."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Set):
        return sorted((plain(each) for each in value), key=canonical)
    if isinstance(value, Collection):
        return [plain(each) for each in value]
    if hasattr(value, "item"):  # a numpy number
        return plain(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return described_rule(value)
    return origin(value) if callable(value) else repr(value)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return repr(" ".join(map(str, value)))
    if isinstance(value, str):
        return repr(value if len(value) < 64 else f"{value[:12]}…") if value else "nothing"
    return "nothing" if value is None else canonical(value)
