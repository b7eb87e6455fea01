"""The record of a plan in a results file: the inputs of the runs, and a value for every setting. Pure.

Two plans may share a results file when no name they have in common changed its fingerprint. Decisions (se, budget,
guard, more algorithms, more instances) are no part of it: they are replayed.

A study keeps the method it was begun with. So its file holds a value for every setting, and the names of those that
were left open; when it is resumed, these keep their recorded values, whatever the defaults are by then.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from ampler.core.errors import InvalidPlan, InvalidRule, StoreUnusable
from ampler.core.failures import Drop, Par, Penalty, StopStudy, policy_data, policy_from
from ampler.core.plan import Algorithm, Fingerprint, Function, Limits, Plan, PlanRecord, Question
from ampler.core.serialization import DEFAULT_BEFORE_FIELD, canonical, described_rule, digest, record_data
from ampler.core.settings import Formula, Settings, question_settings
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.detect import Detect
from ampler.study.interim import Looking
from ampler.study.run_inputs import commands_around

POWER_DIGITS = 9  # versions whose change makes a new plan
STORED_DIFFERENCE = {"ratio": "log-ratio"}  # results files keep the word of version 0.1, so that equal plans are equal


def fingerprint(plan: Plan) -> Fingerprint:
    """Return the fingerprint of a plan: all inputs that determine its runs. A part has that of the whole study."""
    shared = {"seeds": plan.seeds} if plan.seeds == "shared" else {}
    return Fingerprint(
        seed=plan.seed,
        algorithms={algorithm.name: identity(algorithm) | shared for algorithm in plan.algorithms},
        instances={instance.name: instance.sha256 for instance in plan.all_instances or plan.instances},
    )


def identity(algorithm: Algorithm) -> dict[str, Any]:
    """Return the fields of an algorithm that its values depend on.

    The folder is left out (a study may be moved), and so are cost and limits.
    """
    what: dict[str, Any] = {}
    unusual: dict[str, Any] = {}  # defaults are omitted, as in earlier files
    if isinstance(algorithm, Function):
        what = {"python": algorithm.origin}
    else:
        what = {{"arguments": "command", "irace": "runner"}.get(algorithm.protocol, "worker"): list(algorithm.argv)}
        unusual = {} if algorithm.success == (0,) else {"success": sorted(set(algorithm.success))}
    unusual |= {name: list(command.argv) for name, command in commands_around(algorithm).items()}
    warmup = algorithm.around.warmup if isinstance(algorithm.around.warmup, int) else 0
    others = {"warmup": warmup, **dataclasses.asdict(algorithm.outputs)}
    unusual |= {name: value for name, value in others.items() if value}
    return {**what, "parameters": record_data(dict(algorithm.parameters)), "value": algorithm.reading.text, **unusual}


@dataclass(frozen=True, slots=True)
class Change:
    """A field with different recorded and planned values."""

    what: str
    field: str
    recorded: Any
    planned: Any

    def __str__(self) -> str:
        recorded, planned = _display(self.recorded), _display(self.planned)
        return f"{self.field} of {self.what} is recorded as {recorded}, planned as {planned}"


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
                if field == "seeds":
                    return Change("the study", field, before.get(field, "own"), now.get(field, "own"))
                return Change(f"algorithm {name!r}", field, before.get(field), now.get(field))
    for name in (name for name in planned.instances if name in recorded.instances):
        if recorded.instances[name] != planned.instances[name]:
            return Change(f"instance {name!r}", "content", recorded.instances[name], planned.instances[name])
    return None


def record(plan: Plan) -> PlanRecord:
    """Return the plan as the results file keeps it."""
    plan = resolved(plan)
    family = len(plan.algorithms), plan.question.reference is not None
    rules = (plan.rule, *([] if plan.study_rule is None else [plan.study_rule]))
    described, *over_instances = (_with_stored_word(with_all_fields(described_rule(rule), *family)) for rule in rules)
    decisive = [_with_stored_word(as_first_written(rule, *family)) for rule in rules]
    deterministic = tuple(algorithm.name for algorithm in plan.algorithms if algorithm.deterministic)
    names, question = [algorithm.name for algorithm in plan.algorithms], plan.question
    unusual = [
        {name: value for name in ("floor", "shift") if (value := getattr(question, name)) is not None},
        {} if question.formula == FIRST_FORMULA else {"formula": question.formula},
        {} if question.cluster is None else {"cluster": question.cluster, "mean_over": question.mean_over},
    ]
    decisions = [names, list(deterministic), decisive[0], policy_data(plan.policy), *decisive[1:]]
    everything, ours = plan.all_instances or plan.instances, {instance.name for instance in plan.instances}
    same = ("name", "question", "limits", "policy", "retries", "needed", "power", "warnings", "part", "use", "analysis")
    return PlanRecord(
        **{name: getattr(plan, name) for name in same},
        fingerprint=fingerprint(plan),
        untouched=tuple(instance.name for instance in plan.untouched),
        features={instance.name: dict(instance.features) for instance in everything if instance.features},
        rule=described,
        deterministic=deterministic,
        timed=tuple(algorithm.name for algorithm in plan.algorithms if algorithm.reading.is_time),
        decisions=digest([*decisions, *filter(None, unusual)]),
        elsewhere=tuple(instance.name for instance in everything if instance.name not in ours),
        study_rule=over_instances[0] if over_instances else {},
        own_limits={algorithm.name: algorithm.limits for algorithm in plan.algorithms if algorithm.limits != Limits()},
        open=plan.open or {},
    )


def to_json(plan_record: PlanRecord) -> str:
    """Write a record as JSON; what most studies do not have is left out, so that records of earlier days are equal."""
    data = dataclasses.asdict(plan_record)
    question = _with_stored_word(data["question"])
    usual: dict[str, Any] = {"floor": None, "shift": None, "measures": None, "cluster": None}
    usual |= {"formula": FIRST_FORMULA, "inference": "instances like these"}
    usual |= {"mean_over": question["mean_over"]} if question["cluster"] is None else {}
    data["question"] = {name: value for name, value in question.items() if name not in usual or value != usual[name]}
    for name in ("study_rule", "own_limits", "use"):
        if not data[name]:
            del data[name]
    for limits in (data["limits"], *data.get("own_limits", {}).values()):
        if limits["cpu_timeout"] is None:  # added later
            del limits["cpu_timeout"]
    data["policy"] = policy_data(plan_record.policy)
    return canonical(data)


def undated(plan_record: PlanRecord) -> str:
    """Return a canonical text of a record, without its date, its warnings and the open settings.

    The power is worked out whenever a plan is made: another release of a library may round its last digit otherwise.
    """
    power = None if plan_record.power is None else round(plan_record.power, POWER_DIGITS)
    same = replace(plan_record, created="", power=power, warnings=(), use=None, open={})
    return canonical(json.loads(to_json(same)), sort_keys=True)


def from_json(text: str) -> PlanRecord:
    """Read a record from JSON; the inverse of `to_json`."""
    data = with_defaults(json.loads(text))
    values = {
        "question": Question(**data["question"]),
        "fingerprint": Fingerprint(**data["fingerprint"]),
        "limits": Limits(**data["limits"]),
        "policy": policy_from(data["policy"]),
        "own_limits": {name: Limits(**limits) for name, limits in data.get("own_limits", {}).items()},
    }
    lists = ("untouched", "deterministic", "timed", "warnings", "elsewhere")
    tuples = {name: tuple(data[name]) for name in lists if name in data}
    return PlanRecord(**{**data, **values, **tuples})


def _with_stored_word(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data with the kind of difference as results files have it."""
    if "difference" not in data:
        return data
    return data | {"difference": STORED_DIFFERENCE.get(data["difference"], data["difference"])}


def _display(value: Any) -> str:
    if isinstance(value, list):
        return repr(" ".join(map(str, value)))
    if isinstance(value, str):
        return repr(value if len(value) < 64 else f"{value[:12]}…") if value else "nothing"
    return "nothing" if value is None else canonical(value)


Described = Mapping[str, Any]
# of a described rule, the number of algorithms, whether there is a reference
Old = Callable[[Described, int, bool], Any]

RULES: dict[str, Any] = {rule.__name__: rule for rule in (Accuracy, Fixed, Detect, Looking)}
# of an analysis, and not of a Question
ANALYSIS = ("estimate", "weights", "guard", "guard_edition", "signed_ranks", "equivalence_level")

# Settings that results files of versions 0.1 and 0.2 omit or store as null. These values never change.
FIRST_FORMULA: Formula = "delta"
OLD_ANALYSIS = {"estimate": "corrected", "weights": "equal", "guard": "pairs", "guard_edition": 2}
OLD_OPEN: Mapping[str, Mapping[str, Old]] = {
    "Accuracy": {
        "budget": lambda rule, algorithms, reference: 50 * algorithms,
        "costs": lambda rule, algorithms, reference: {},
    },
    "Detect": {
        "least": lambda rule, algorithms, reference: min(max(25 - rule["pilot"], 5), 10),
        "slack": lambda rule, algorithms, reference: 0.0 if rule["instance_cost"] else 0.1,
        "caution": lambda rule, algorithms, reference: 0.6 if reference or algorithms == 2 else 0.55,
        "early": lambda rule, algorithms, reference: (
            rule["pilot"] // 2 if rule["pilot"] // 2 >= 8 and not rule["instance_cost"] else 0
        ),
    },
}
NEWEST_FORMULA: Formula = "corrected"
OLD_LOOKS = {2: (0.5, 1.0), 3: (1 / 3, 2 / 3, 1.0)}


def left_open(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the names of the settings that have their defaults, by the part of the plan that they belong to."""
    parts = {"question": plan.question, "rule": plan.rule, "study_rule": plan.study_rule}
    return {part: tuple(_open_in(value)) for part, value in parts.items() if is_dataclass(value)}


def resolved(plan: Plan) -> Plan:
    """Return a plan in which no setting is left open, with the names of those that were."""
    opened = left_open(plan) if plan.open is None else plan.open
    own = plan.rule.formula if isinstance(plan.rule, Accuracy) else None
    question = replace(plan.question, formula=plan.question.formula or own or NEWEST_FORMULA)
    plan = replace(plan, open=opened, analysis=dict(plan.analysis) or analysis_defaults(), question=question)
    rule = plan.rule.resolved(plan) if isinstance(plan.rule, Accuracy) else plan.rule
    study_rule = plan.study_rule.resolved(plan) if isinstance(plan.study_rule, Detect) else plan.study_rule
    return replace(plan, rule=rule, study_rule=study_rule)


def as_begun(plan: Plan, before: PlanRecord | None = None) -> Plan:
    """Return a plan with its open settings filled in by the recorded ones, otherwise by today's defaults.

    So is the number of instances: it is worked out again only when something that it follows from was changed.
    InvalidPlan where a new study asks for what only earlier versions did.
    """
    penalises = isinstance(plan.policy, Penalty | Par) and plan.question.statistic == "mean"
    is_new = before is None or isinstance(before.policy, StopStudy | Drop)
    if is_new and penalises and isinstance(plan.study_rule, Detect):
        raise InvalidPlan(
            "detect cannot plan for failed runs with a penalty, because a small pilot does not show rare"
            " failures; run every algorithm equally often on all instances (use = 'all', [rule] allocation = 'fixed',"
            " runs = 30; FixedSize(runs=30) in Python), or drop failed runs (on-failure = 'drop')"
        )
    return resolved(plan if before is None else _with_size(_with_settings(plan, before), before))


def analysis_defaults() -> dict[str, Any]:
    """Return today's settings of an analysis that no study can choose."""
    defaults = {field.name: field.default for field in fields(Settings)}
    return {name: defaults[name] for name in ANALYSIS}


def with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a recorded plan, with missing settings filled in by the defaults of its version."""
    algorithms, reference = len(data["fingerprint"]["algorithms"]), data["question"].get("reference") is not None
    parts = {part: dict(data.get(part) or {}) for part in ("rule", "study_rule")}
    described = {"question": {"rule": "Question", **data["question"]}, **parts}
    opened = data.get("open") or {part: _open_then(value) for part, value in described.items() if value}
    complete = {part: with_all_fields(value, algorithms, reference) for part, value in parts.items()}
    ranks = "normal" if data["question"].get("test") == "wilcoxon" else "exact"  # irrelevant for other studies
    level = "own" if data["question"].get("margin") is None else "shared"
    later = {
        "question": {"formula": FIRST_FORMULA, **data["question"]},
        "analysis": {**OLD_ANALYSIS, "signed_ranks": ranks, "equivalence_level": level, **(data.get("analysis") or {})},
        "open": {part: tuple(names) for part, names in opened.items()},
    }
    return data | complete | later


def with_all_fields(rule: Described, algorithms: int, reference: bool) -> dict[str, Any]:
    """Return a described rule with a value for each of its fields."""
    name, values = rule.get("rule", ""), dict(rule)
    if name not in RULES:
        return values
    if name == "Accuracy" and values.get("budget") is None:
        values.setdefault("budget_each", 50)
    for field in fields(RULES[name]):
        if DEFAULT_BEFORE_FIELD in field.metadata:
            values.setdefault(field.name, field.metadata[DEFAULT_BEFORE_FIELD])
    old = {field: value(values, algorithms, reference) for field, value in OLD_OPEN.get(name, {}).items()}
    return values | {field: value for field, value in old.items() if values.get(field) is None}


def as_first_written(rule: Any, algorithms: int, reference: bool) -> dict[str, Any]:
    """Return a rule as versions 0.1 and 0.2 described it, so that digests of equal decisions are equal."""
    described = described_rule(rule)
    if described.get("budget_each") == 50 and described["budget"] == 50 * algorithms:
        described |= {"budget": None}
        del described["budget_each"]
    old = {name: value(described, algorithms, reference) for name, value in OLD_OPEN.get(described["rule"], {}).items()}
    same = {name for name, value in old.items() if name != "budget" and described.get(name) == value}
    return {**described, **dict.fromkeys(same)}


def _open_in(chosen: Any) -> list[str]:
    """The fields that have their default, and those whose None is worked out."""
    defaults = {field.name: field.default for field in fields(chosen) if field.init}
    if isinstance(chosen, Question):  # None is a value of its own: no reference, effect, margin or floor
        defaults = {name: default for name, default in defaults.items() if default is not None}
    if isinstance(chosen, Looking) and chosen.looks == Looking(looks=len(chosen.shares)).looks:
        defaults["looks"] = chosen.looks
    return [name for name in defaults if defaults[name] is not MISSING and getattr(chosen, name) == defaults[name]]


def _open_then(described: Described) -> tuple[str, ...]:
    """The settings that a file of versions 0.1 and 0.2 has at their defaults."""
    name = described["rule"]
    usual = [field for field, value in _old_defaults().get(name, {}).items() if described.get(field) == value]
    unsaid = [field for field in OLD_OPEN.get(name, {}) if described.get(field) is None]
    if name == "Accuracy":
        unsaid += ["guard_edition", *(["budget_each"] if described.get("budget") is None else [])]
    looks = described.get("looks")
    if name == "Looking" and looks is not None:
        number = len(looks)
        rising = [round(0.4 + 0.6 * look / (number - 1), 12) for look in range(number)]
        usual += ["looks"] if list(looks) == list(OLD_LOOKS.get(number, rising)) else []
    return (*usual, *unsaid)


@cache
def _old_defaults() -> dict[str, dict[str, Any]]:
    import tomllib

    return tomllib.loads((files("ampler.study") / "old_defaults.toml").read_text(encoding="utf-8"))


# a plan and the record of the one before ----------------------------------------------------------------------------


def _with_settings(plan: Plan, before: PlanRecord) -> Plan:
    """The plan with the recorded values of settings that were left open then and are now."""
    opened = left_open(plan) if plan.open is None else plan.open

    def recorded(part: str, values: Mapping[str, Any]) -> dict[str, Any]:
        then = before.open.get(part, ())
        return {name: values[name] for name in opened.get(part, ()) if name in then and name in values}

    before_question = {field.name: getattr(before.question, field.name) for field in fields(Question)}
    question = replace(plan.question, **recorded("question", before_question))
    question = replace(question, formula=question.formula or before.question.formula)
    rule = _begun_rule(plan.rule, before.rule, recorded("rule", before.rule))
    study_rule = plan.study_rule
    if isinstance(study_rule, Detect | Looking):
        study_rule = _begun_rule(study_rule, before.study_rule, recorded("study_rule", before.study_rule))
    if isinstance(study_rule, Detect):
        same = all(getattr(study_rule, name) == before.study_rule.get(name) for name in ("pilot", "instance_cost"))
        families = {(len(each.algorithms), each.question.reference is None) for each in (plan, before)}
        if not same or len(families) > 1:  # inputs of the defaults
            study_rule = replace(study_rule, **{name: getattr(plan.study_rule, name) for name in OLD_OPEN["Detect"]})
        rule = Fixed(runs=study_rule.start) if isinstance(rule, Fixed) else rule
    plan = replace(plan, question=question, rule=rule, study_rule=study_rule, open=opened)
    return replace(plan, analysis=dict(before.analysis))


def _begun_rule(chosen: Any, described: Described, values: dict[str, Any]) -> Any:
    if not is_dataclass(chosen) or isinstance(chosen, type) or described.get("rule") != type(chosen).__name__:
        return chosen
    if isinstance(chosen, Accuracy):
        values.pop("budget", None)  # follows from that of each algorithm
        decisive = ("guard_edition", "formula")  # whether specified or not
        values |= {name: described[name] for name in decisive if getattr(chosen, name) is None}
        if chosen.budget is not None:
            values.pop("budget_each", None)
    if isinstance(chosen, Detect) and chosen.final_test is None:
        values |= {"final_test": described["final_test"]}
    return replace(chosen, **values)


def _with_size(plan: Plan, before: PlanRecord) -> Plan:
    """The plan with the recorded number of instances, and their power, if they follow from the same settings."""
    whole = plan.all_instances or plan.instances
    available = {instance.name: instance for instance in (*whole, *plan.untouched)}
    recorded = before.fingerprint.instances
    if set(available) != {*recorded, *before.untouched} or plan.question != before.question:
        return plan
    if len(plan.algorithms) != len(before.algorithms) or _looks(plan.study_rule) != _looks(before.study_rule):
        return plan
    needed = before.needed is not None and len(recorded) == min(before.needed, len(available))
    if plan.use != (before.use or ("needed" if needed and plan.use == "needed" else plan.use)):
        return plan
    plan = replace(plan, needed=before.needed, power=before.power)
    if plan.use != "needed" or not needed or len(whole) == len(recorded):
        return plan
    from ampler.study.plan import part_of

    used = tuple(available[name] for name in recorded)
    rest = tuple(available[name] for name in before.untouched)
    sized = replace(plan, instances=used, untouched=rest, part="", all_instances=())
    return part_of(sized, *map(int, plan.part.split("/"))) if plan.part else sized


def _looks(study_rule: Any) -> Any:
    """The looks of a study rule or of its record, which affect the number of instances."""
    if isinstance(study_rule, Mapping):
        return study_rule.get("looks"), study_rule.get("spending")
    if isinstance(study_rule, Looking):
        return record_data(list(study_rule.shares)), study_rule.spending
    return None, None


RULED = ("se", "guard", "guard_edition", "formula", "budget")  # the settings of an analysis that a rule has


def rule_of(plan: PlanRecord) -> Accuracy | None:
    """Return the adaptive rule; None without one, or if its comparison is unknown."""
    if plan.rule.get("rule") != Accuracy.__name__:
        return None
    try:
        options = {name: value for name, value in plan.rule.items() if name != "rule"}
        return Accuracy(**options)
    except InvalidRule:
        return None
    except TypeError as problem:
        raise StoreUnusable(f"the rule of the recorded plan cannot be read ({problem}); restore a backup") from None


def settings_of(plan: PlanRecord) -> dict[str, Any]:
    """Return the analysis settings in the question and the rule of a plan, by name."""
    ruled = {name: plan.rule[name] for name in RULED if plan.rule.get(name) is not None}
    settings = {**plan.analysis, **question_settings(plan.question), **ruled}
    if not isinstance(plan.policy, StopStudy):
        settings["failures"] = plan.policy
    if plan.seeds == "shared":
        settings["paired"] = "seed"
    rule = rule_of(plan)
    return settings | ({} if rule is None else {"start": rule.start})
