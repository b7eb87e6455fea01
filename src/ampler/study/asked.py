"""What the plan of a study says of its analysis: the settings, and the rule whose decisions biased the runs. Pure."""

from __future__ import annotations

from typing import Any

from ampler.core.errors import InvalidRule, StoreUnusable
from ampler.core.failures import StopStudy
from ampler.core.settings import asked_by
from ampler.core.values import PlanRecord
from ampler.sampling.rules import Accuracy

RULED = ("se", "guard", "guard_edition", "formula", "budget")  # the settings of an analysis that a rule has


def rule_of(plan: PlanRecord) -> Accuracy | None:
    """Return the rule that looked at the values; None if it is another one, or compared what only its program knew."""
    if plan.rule.get("rule") != Accuracy.__name__:
        return None
    try:
        words = {name: value for name, value in plan.rule.items() if name != "rule"}
        return Accuracy(**words)
    except InvalidRule:
        return None
    except TypeError as problem:
        raise StoreUnusable(
            f"the rule in the study file's plan cannot be read ({problem}); take the file from a backup"
        ) from None


def settings_of(plan: PlanRecord) -> dict[str, Any]:
    """Return what the question and the rule of a plan say of its analysis, by name."""
    ruled = {name: plan.rule[name] for name in RULED if plan.rule.get(name) is not None}
    asked = {**plan.analysis, **asked_by(plan.question), **ruled}
    if not isinstance(plan.policy, StopStudy):
        asked["failures"] = plan.policy
    rule = rule_of(plan)
    return asked | ({} if rule is None else {"start": rule.start})
