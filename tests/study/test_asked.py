"""What the plan of a study says of its analysis."""

from dataclasses import replace

import pytest

from ampler.core.errors import StoreUnusable
from ampler.core.failures import Drop
from ampler.core.plan import Function, Question
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import make_plan
from ampler.study.record import record, rule_of, settings_of


def kept(rule, **more):
    plan = make_plan(
        question=Question("simple", reference="a", alpha=0.1, better="lower"),
        algorithms=[Function(name, min, "builtins:min") for name in "abc"],
        instances=["i", "j"],
        rule=rule,
        count="all",
        **more,
    )
    return record(plan)


def test_the_question_and_the_rule_are_said_once_for_all():
    said = settings_of(kept(Accuracy(se=0.5, difference="simple", reference="a", start=4), policy=Drop()))
    assert said["alpha"] == 0.1
    assert (said["se"], said["start"], said["budget"]) == (0.5, 4, 150)
    assert said["failures"] == Drop()


def test_a_rule_that_looks_at_no_values_has_no_start():
    plan = kept(Fixed(runs=3))
    assert rule_of(plan) is None
    assert "start" not in settings_of(plan)


def test_a_rule_that_cannot_be_read_is_one_sentence():
    plan = kept(Accuracy(se=0.5, difference="simple", reference="a"))
    with pytest.raises(StoreUnusable, match="cannot be read"):
        rule_of(replace(plan, rule={**plan.rule, "stranger": 1}))
