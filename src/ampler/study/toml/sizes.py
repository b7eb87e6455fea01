"""How a study file says that values decide on its size: `detect` and what goes with it, or `looks`. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ampler.core.checks import finite, positive
from ampler.core.errors import InvalidDesign
from ampler.study.detect_rule import Detect
from ampler.study.looks_rule import Looking, looking
from ampler.study.plan import Count
from ampler.study.toml import keys
from ampler.study.toml.keys import Table

ONLY_WITH_DETECT = ("instance-cost", "available")
INSTEAD = {
    "se": "the accuracy on each instance is decided after the pilot",
    "effect": "it is the difference that matters in other units",
    "looks": "a study that finds its own size takes one decision, after its pilot",
    "use": "how many instances are used is decided after the pilot; say available = N if there are no more than N",
}


def read_detect(top: Table, rule: Table, instances: Table) -> Detect | None:
    """Return the rule over instances that a study file asks for with `detect`; None if it does not."""
    if "detect" not in top:
        _refuse(top, ONLY_WITH_DETECT, "has a meaning with detect only")
        _refuse(rule, ("pilot",), "has a meaning with detect only")
        return None
    for table in (top, instances):
        for key, why in INSTEAD.items():
            if key in table and (key == "use") == (table is instances):
                raise table.error(key, f"{key} must be left out with detect: {why}")
    _refuse(rule, (key for key in rule.values if key not in ("start", "pilot")), "has no meaning with detect")
    given: dict[str, Any] = {
        "pilot": rule.read("pilot", keys.at_least(3), None),
        "start": rule.read("start", keys.at_least(2), None),
        "instance_cost": top.read("instance-cost", _cost, None),
    }
    said = {name: value for name, value in given.items() if value is not None}
    return Detect(detect=top.require("detect", positive, ""), **said)


def read_looks(top: Table) -> Looking | None:
    """Return the rule over instances that a study file asks for with `looks`; None if it does not, or for one look."""
    return top.read("looks", lambda _, value: looking(value), None)


def instances_used(top: Table, instances: Table, detect: Detect | None) -> Count:
    """Return how many of the instances a plan may use."""
    if detect is None:
        return instances.read("use", keys.use, "needed")
    return top.read("available", keys.at_least(3), "all")


def _refuse(table: Table, names: Iterable[str], why: str) -> None:
    for key in names:
        if key in table:
            raise table.error(key, f"{key} {why}; leave it out")


def _cost(key: str, value: Any) -> float:
    cost = finite(key, value)
    if cost < 0:
        raise InvalidDesign(f"{key} must not be negative, got {value!r}: it is counted in runs")
    return cost
