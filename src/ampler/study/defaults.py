"""Settings that nobody chose: what they are in a plan, and what they were when its study was begun. Pure.

A study keeps the method it was begun with. So its file holds a value for every setting, and the names of those that
were left open; when it is resumed, these keep their recorded values, whatever the defaults are by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

from ampler.core.choices import Formula
from ampler.core.errors import InvalidPlan
from ampler.core.failures import Drop, Par, Penalty, StopStudy
from ampler.core.plain import UNSAID, described_rule, plain
from ampler.core.settings import AnalysisSettings
from ampler.core.values import Plan, PlanRecord, Question
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.detect_rule import Detect
from ampler.study.looks_rule import Looking

Described = Mapping[str, Any]
Old = Callable[
    [Described, int, bool], Any
]  # of a described rule, the number of algorithms, whether there is a reference

RULES: dict[str, Any] = {rule.__name__: rule for rule in (Accuracy, Fixed, Detect, Looking)}
ANALYSIS = ("estimate", "weights", "guard", "guard_edition", "signed_ranks")  # of an analysis, and not of a Question

# What study files of versions 0.1 and 0.2 leave out or have as null. These values are never changed.
FIRST_FORMULA: Formula = "delta"
OLD_ANALYSIS = {
    "estimate": "corrected",
    "weights": "equal",
    "guard": "pairs",
    "guard_edition": 2,
}
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
OLD_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "Question": {
        "power": 0.8,
        "alpha": 0.05,
        "target": "mean",
        "test": "t",
        "alternative": "two-sided",
        "better": "lower",
        "statistic": "mean",
    },
    "Accuracy": {
        "statistic": "mean",
        "start": 10,
        "allocation": "optimal",
        "guard": "pairs",
        "batch": 16,
    },
    "Fixed": {"runs": 30},
    "Detect": {
        "pilot": 20,
        "start": 5,
        "instance_cost": 0.0,
        "share": 0.1,
        "floor": 0.15,
        "plausible": 0.9,
        "stretch": 0.0,
    },
    "Looking": {"spending": "OF", "equivalence": 0.05},
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
    """Return a plan whose open settings are those that its study was begun with, and today's defaults otherwise.

    So is the number of instances: it is worked out again only when something that it follows from was changed.
    InvalidPlan where a new study asks for what only earlier versions did.
    """
    if before is None or isinstance(before.policy, StopStudy | Drop):
        _check_penalties(plan)
    return resolved(plan if before is None else _with_size(_with_settings(plan, before), before))


def _check_penalties(plan: Plan) -> None:
    """A pilot does not show rare and large values, so that no size can be found from it."""
    if not isinstance(plan.study_rule, Detect):
        return
    if isinstance(plan.policy, Penalty | Par) and plan.question.statistic == "mean":
        raise InvalidPlan(
            "detect cannot plan for failed runs that count as a value, because a pilot of a few runs does not show rare"
            " failures; run every algorithm equally often on all instances (use = 'all', [rule] allocation = 'fixed',"
            " runs = 30; Fixed(runs=30) in Python), or drop failed runs (on-failure = 'drop')"
        )


def analysis_defaults() -> dict[str, Any]:
    """Return today's settings of an analysis that no study can choose."""
    defaults = {field.name: field.default for field in fields(AnalysisSettings)}
    return {name: defaults[name] for name in ANALYSIS}


def with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a recorded plan with a value for each setting: those of its version where it says nothing."""
    algorithms, reference = len(data["fingerprint"]["algorithms"]), data["question"].get("reference") is not None
    parts = {part: dict(data.get(part) or {}) for part in ("rule", "study_rule")}
    opened = data.get("open") or {
        part: _open_then(value, algorithms, reference)
        for part, value in {"question": {"rule": "Question", **data["question"]}, **parts}.items()
        if value
    }
    given = {part: described_whole(value, algorithms, reference) for part, value in parts.items()}
    names = {part: tuple(each) for part, each in opened.items()}
    question = {"question": {"formula": FIRST_FORMULA, **data["question"]}}
    ranks = "normal" if data["question"].get("test") == "wilcoxon" else "exact"  # for others it makes no difference
    analysis = {**OLD_ANALYSIS, "signed_ranks": ranks, **(data.get("analysis") or {})}
    return data | given | question | {"analysis": analysis, "open": names}


def described_whole(rule: Described, algorithms: int, reference: bool) -> dict[str, Any]:
    """Return a described rule with a value for each of its fields."""
    name, given = rule.get("rule", ""), dict(rule)
    if name not in RULES:
        return given
    if name == "Accuracy" and given.get("budget") is None:
        given.setdefault("budget_each", 50)
    later = {field.name: field.metadata[UNSAID] for field in fields(RULES[name]) if UNSAID in field.metadata}
    given = {**given, **{field: value for field, value in later.items() if field not in given}}
    old = {field: value(given, algorithms, reference) for field, value in OLD_OPEN.get(name, {}).items()}
    return {**given, **{field: value for field, value in old.items() if given.get(field) is None}}


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
    if isinstance(chosen, Looking) and chosen.looks == Looking(looks=len(chosen.shares)).looks:
        return ["looks", *(name for name in ("spending", "equivalence") if _is_default(chosen, name))]
    return [field.name for field in fields(chosen) if field.init and _is_default(chosen, field.name)]


def _is_default(chosen: Any, name: str) -> bool:
    defaults = {field.name: field.default for field in fields(chosen)}
    if isinstance(chosen, Question) and defaults[name] is None:
        return False  # a reference, an effect, a margin or a floor: None says that there is none
    return defaults[name] is not MISSING and getattr(chosen, name) == defaults[name]


def _open_then(described: Described, algorithms: int, reference: bool) -> tuple[str, ...]:
    """The settings that a file of versions 0.1 and 0.2 has at their defaults."""
    name = described["rule"]
    usual = [field for field, value in OLD_DEFAULTS.get(name, {}).items() if described.get(field) == value]
    unsaid = [field for field in OLD_OPEN.get(name, {}) if described.get(field) is None]
    if name == "Accuracy":
        unsaid += ["guard_edition", *(["budget_each"] if described.get("budget") is None else [])]
    looks = described.get("looks")
    if name == "Looking" and looks is not None:
        number = len(looks)
        rising = [round(0.4 + 0.6 * look / (number - 1), 12) for look in range(number)]
        usual += ["looks"] if list(looks) == list(OLD_LOOKS.get(number, rising)) else []
    return (*usual, *unsaid)


# a plan and the record of the one before ----------------------------------------------------------------------------


def _with_settings(plan: Plan, before: PlanRecord) -> Plan:
    """The plan with the recorded values of settings that were left open then and are now."""
    opened = left_open(plan) if plan.open is None else plan.open
    asked = {field.name: getattr(before.question, field.name) for field in fields(Question)}
    question = replace(plan.question, **_recorded("question", asked, opened, before))
    question = replace(question, formula=question.formula or before.question.formula)
    rule = _begun_rule(plan.rule, "rule", before.rule, opened, before)
    study_rule = plan.study_rule
    if isinstance(study_rule, Detect | Looking):
        study_rule = _begun_rule(study_rule, "study_rule", before.study_rule, opened, before)
    if isinstance(study_rule, Detect):
        if not _is_derived_alike(study_rule, plan, before):
            derived = dict.fromkeys(OLD_OPEN["Detect"])
            study_rule = replace(study_rule, **{name: getattr(plan.study_rule, name) for name in derived})
        rule = Fixed(runs=study_rule.start) if isinstance(rule, Fixed) else rule
    return replace(
        plan, question=question, rule=rule, study_rule=study_rule, analysis=dict(before.analysis), open=opened
    )


def _begun_rule(
    chosen: Any, part: str, described: Described, opened: Mapping[str, tuple[str, ...]], before: PlanRecord
) -> Any:
    if not is_dataclass(chosen) or isinstance(chosen, type) or described.get("rule") != type(chosen).__name__:
        return chosen
    values = _recorded(part, described, opened, before)
    if isinstance(chosen, Accuracy):
        values.pop("budget", None)  # follows from that of each algorithm
        kept = ("guard_edition", "formula")  # whether they were left open then or not
        values |= {name: described[name] for name in kept if getattr(chosen, name) is None}
        if chosen.budget is not None:
            values.pop("budget_each", None)
    if isinstance(chosen, Detect) and chosen.final_test is None:
        values |= {"final_test": described["final_test"]}
    return replace(chosen, **values)


def _recorded(
    part: str, recorded: Described, opened: Mapping[str, tuple[str, ...]], before: PlanRecord
) -> dict[str, Any]:
    then = before.open.get(part, ())
    return {name: recorded[name] for name in opened.get(part, ()) if name in then and name in recorded}


def _is_derived_alike(study_rule: Detect, plan: Plan, before: PlanRecord) -> bool:
    """Whether all that the other defaults of a Detect follow from is as recorded."""
    family = len(plan.algorithms), plan.question.reference is None
    same = all(getattr(study_rule, name) == before.study_rule.get(name) for name in ("pilot", "instance_cost"))
    return same and family == (len(before.algorithms), before.question.reference is None)


def _with_size(plan: Plan, before: PlanRecord) -> Plan:
    """The plan with the recorded number of instances, and their power, if they follow from the same settings."""
    whole = plan.all_instances or plan.instances
    available = {each.name: each for each in (*whole, *plan.untouched)}
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
    """The looks of a rule over instances or of its record, on which the number of instances hangs."""
    if isinstance(study_rule, Mapping):
        return study_rule.get("looks"), study_rule.get("spending")
    if isinstance(study_rule, Looking):
        return plain(list(study_rule.shares)), study_rule.spending
    return None, None
