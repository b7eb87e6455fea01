"""Decisions over instances: declared groups, decisions that keep to them, and how they are written down."""

import json
from dataclasses import dataclass, replace

import pytest

from ampler.core.arrays import Samples
from ampler.core.contracts import FinishedGroup
from ampler.core.errors import InvalidPlan, InvalidRule
from ampler.core.plan import Continue, EndStudy, Function, Question, Sample, Stop
from ampler.core.runs import Finished
from ampler.core.serialization import canonical
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import make_plan, part_of
from ampler.study.record import from_json, record, to_json
from ampler.study.stopping import (
    AllInstances,
    Exactly,
    decided,
    digests_in_force,
    from_data,
    instance_digest,
    instance_rule,
    instances_in_force,
    joined,
    recorded,
    to_data,
)

RULE = Accuracy(se=0.5, difference="simple", start=3, budget=60, costs={"a": 1.0, "b": 2.0, "c": 3.0})


@dataclass(frozen=True)
class Says:
    """A study rule that declares groups of two instances, and says what it is told to."""

    decisions: tuple

    def groups(self, plan, /):
        names = [instance.name for instance in plan.instances]
        return [names[place : place + 2] for place in range(0, len(names), 2)]

    def __call__(self, plan, finished, /):
        return self.decisions[len(finished)]


def make(study_rule=None, rule=RULE):
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms=[Function(name, print, f"x:{name}", deterministic=name == "c") for name in "abc"],
        instances=[f"i{number}" for number in range(6)],
        rule=rule,
        seed=3,
        count="all",
        study_rule=study_rule,
    )


PLAN = make()
NAMES = tuple(instance.name for instance in PLAN.instances)
EVERYTHING = Continue(("a", "b", "c"), NAMES)


def group(asked):
    return FinishedGroup(asked, tuple(Finished(name, "d", "runs done", {}, 1) for name in asked.instances), list)


def test_the_simplest_rule_asks_for_everything_once():
    assert AllInstances().groups(PLAN) == (NAMES,)
    assert decided(PLAN, []) == EVERYTHING
    assert decided(PLAN, [group(EVERYTHING)]) == EndStudy("all instances are finished")


def test_saying_the_simplest_rule_is_saying_nothing():
    assert make(AllInstances()) == PLAN
    assert "study_rule" not in json.loads(to_json(record(PLAN)))


def test_names_come_in_the_order_of_the_plan():
    turned = Continue(("c", "a"), NAMES[1::-1])

    assert decided(make(Says((turned,))), []) == Continue(("a", "c"), NAMES[:2])


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        ([Continue(("a",), NAMES[:3])], "instances of the first 1 of its groups"),
        ([Continue(("a",), ())], "instances of the first 1 of its groups"),
        ([Continue(("a", "z"), NAMES[:2])], "algorithms that are still there, 'a', 'b', 'c'"),
        ([Continue((), NAMES[:2])], "algorithms that are still there"),
        ([Continue(("a",), NAMES[:2]), Continue(("a", "b"), NAMES[2:4])], "algorithms that are still there, 'a', got"),
        ([Continue(("a", "b"), NAMES[:2], {"a": 3})], "for each algorithm, at least one run"),
        ([Continue(("a", "b"), NAMES[:2], {"a": 3, "b": 0})], "for each algorithm, at least one run"),
        ([Continue(("a",), NAMES[:2])] * 4, "must end the study after its 3 groups"),
    ],
)
def test_a_decision_that_was_not_declared_is_refused(decisions, message):
    finished = [group(decision) for decision in decisions[:-1]]

    with pytest.raises(InvalidRule, match=message):
        decided(make(Says(tuple(decisions))), finished)


@pytest.mark.parametrize("groups", [[["i1"], ["i1", "i2"]], [["i9"]], [[]], []])
def test_groups_are_instances_of_the_plan_each_in_one(groups):
    class Declares(Says):
        def groups(self, plan, /):
            return groups

    with pytest.raises(InvalidRule, match="must declare groups of the plan's instances"):
        make(Declares(()))


def test_a_study_with_groups_cannot_be_cut_into_parts():
    assert part_of(PLAN, 1, 2).part == "1/2"
    with pytest.raises(InvalidPlan, match="cannot be cut into parts"):
        part_of(make(Says(())), 1, 2)


def test_the_rule_for_an_instance_is_the_plans_narrowed_to_those_that_go_on():
    assert instance_rule(PLAN, EVERYTHING) == RULE
    assert instance_rule(PLAN, replace(EVERYTHING, algorithms=("a", "c"))).costs == {"a": 1.0, "c": 3.0}
    assert instance_rule(PLAN, replace(EVERYTHING, runs={"a": 4, "b": 5, "c": 6})) == Exactly({"a": 4, "b": 5, "c": 6})


def test_fixed_runs_are_asked_for_at_once_and_not_repeated_when_they_fail():
    rule, samples = Exactly({"a": 3, "b": 2, "c": 4}), Samples(["a", "b", "c"], deterministic=["c"])

    assert rule(samples) == Sample({"a": 3, "b": 2, "c": 1})
    samples.add("a", 1.0)
    samples.drop("a")
    assert rule(samples) == Sample({"a": 1, "b": 2, "c": 1})
    for name in ("a", "b", "b", "c"):
        samples.add(name, 1.0)
    assert rule(samples) == Stop("runs done")
    assert rule.predict(samples) == {"a": 0, "b": 0, "c": 0}


# As it is kept


def test_a_decision_that_adds_nothing_leaves_the_digest_of_the_plan():
    kept = record(PLAN)
    digests = [
        instance_digest(kept, asked)
        for asked in (
            EVERYTHING,
            replace(EVERYTHING, instances=NAMES[:2], reason="look 1", details={"x": 1}),
            replace(EVERYTHING, algorithms=("a", "b")),
            replace(EVERYTHING, algorithms=("a", "c")),
            replace(EVERYTHING, runs={"a": 4, "b": 5, "c": 6}),
            replace(EVERYTHING, runs={"a": 4, "b": 5, "c": 7}),
        )
    ]

    assert digests[0] == digests[1] == kept.decisions
    assert len(set(digests)) == 5


def test_a_study_rule_is_part_of_what_decisions_hang_on_and_of_the_record():
    first, second = record(make(Says((EVERYTHING,)))), record(make(Says((EVERYTHING, EndStudy("done")))))

    assert len({first.decisions, second.decisions, record(PLAN).decisions}) == 3
    assert first.study_rule["rule"] == "Says"
    assert from_json(to_json(first)) == first


@pytest.mark.parametrize(
    "decision",
    [
        EVERYTHING,
        Continue(("a",), ("i1", "ß"), {"a": 7}, "b is clear", {"verdicts": {"b": "different"}, "levels": [0.1, 0.2]}),
        EndStudy("done", {"looks": 4}),
    ],
)
def test_a_decision_survives_being_written_down(decision):
    assert from_data(json.loads(canonical(to_data(decision)))) == decision
    assert recorded(0, decision).digest == recorded(1, decision).digest
    assert recorded(0, decision).digest != recorded(0, EndStudy("another")).digest


def test_finished_instances_are_those_of_all_decisions_that_hold():
    kept = record(PLAN)
    first, second = replace(EVERYTHING, instances=NAMES[:2]), Continue(("a", "b"), NAMES[2:4])
    taken = [recorded(0, first), recorded(1, second)]

    assert digests_in_force(kept, []) == (kept.decisions,)
    assert digests_in_force(kept, taken) == (kept.decisions, instance_digest(kept, second))
    assert instances_in_force(kept, taken) == NAMES
    assert instances_in_force(kept, [*taken, recorded(2, EndStudy("clear"))]) == NAMES[:4]


def test_an_instance_asked_for_twice_has_the_runs_of_both():
    first = {"i1": Finished("i1", "d", "runs done", {"a": 2, "b": 2}, 1, 0.5)}
    second = {name: Finished(name, "e", "budget spent", {"a": 9}, 3, 0.25) for name in ("i1", "i2")}

    assert joined([first, second]) == {
        "i1": Finished("i1", "e", "budget spent", {"a": 9, "b": 2}, 3, 0.25),
        "i2": second["i2"],
    }
    assert joined([]) == {}


def test_rules_without_names_need_no_narrowing():
    assert instance_rule(make(rule=Fixed(runs=4)), Continue(("a",), NAMES)) == Fixed(runs=4)
