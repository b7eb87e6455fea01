"""The plan: which instances, in which order, and when two plans may share a study file."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidDesign, InvalidPlan, InvalidRule
from ampler.core.failures import Par, Penalty
from ampler.core.plan import Command, Function, Instance, Limits, Question, Reading
from ampler.design import achieved_power, required_instances
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import as_algorithm, begun_first, make_plan, part_of
from ampler.study.record import record


def a_plan(**changes):
    given = {
        "question": Question("simple", effect=0.8, better="lower"),
        "algorithms": {"a": first, "b": second, "c": second},
        "instances": [f"i{n}" for n in range(60)],
        "rule": Fixed(runs=3),
        "seed": 7,
    }
    return make_plan(**given | changes)


def first(instance, seed):
    return 1.0


def second(instance, seed, *, cooling=0.9):
    return 2.0


def names_of(instances):
    return [instance.name for instance in instances]


# Which instances


def test_as_many_instances_are_used_as_the_power_needs_and_the_rest_is_kept():
    plan = a_plan()
    needed = required_instances(comparisons=3, effect=0.8, power=0.8)
    assert plan.needed == len(plan.instances) == needed.instances
    assert plan.power == needed.mean_power >= 0.8
    assert sorted(names_of(plan.instances) + names_of(plan.untouched)) == sorted(f"i{n}" for n in range(60))
    assert plan.warnings == ()


@pytest.mark.parametrize(("count", "used"), [("all", 60), (12, 12), (60, 60), (500, 60)])
def test_all_or_a_number_of_instances_on_request(count, used):
    plan = a_plan(count=count)
    assert len(plan.instances) == used
    assert plan.power == pytest.approx(achieved_power(instances=used, comparisons=3, effect=0.8).mean_power)
    assert bool(plan.warnings) == (used < plan.needed)


def test_too_few_instances_are_a_warning_with_the_power_they_leave():
    plan = a_plan(instances=["i1", "i2", "i3", "i4", "i5"])
    power = achieved_power(instances=5, comparisons=3, effect=0.8).mean_power
    assert len(plan.instances) == 5
    assert plan.warnings == (
        f"{plan.needed} instances are needed for power 0.8 at effect 0.8; 5 are used: mean power {power:.2f};"
        " add instances, or plan for a larger effect",
    )


def test_so_few_instances_that_a_sign_test_has_no_power_are_a_warning_too():
    plan = a_plan(instances=["i1", "i2"], question=Question("simple", effect=0.8, test="sign", better="lower"))
    assert plan.power is None
    assert "2 are used: too few for any" in plan.warnings[0]


def test_without_an_effect_the_number_of_instances_must_be_said():
    plan = a_plan(question=Question("simple", better="lower"), count="all")
    assert (plan.needed, plan.power, plan.warnings) == (None, None, ())
    with pytest.raises(InvalidPlan, match="effect must be given"):
        a_plan(question=Question("simple", better="lower"))


def test_a_reference_makes_fewer_comparisons_and_so_needs_fewer_instances():
    with_reference = a_plan(question=Question("simple", "b", effect=0.8, better="lower"))
    assert with_reference.needed < a_plan().needed


def test_other_seeds_give_other_orders():
    assert names_of(a_plan(seed=8).instances) != names_of(a_plan(seed=7).instances)


@given(st.integers(5, 40), st.integers(2, 40), st.randoms())
def test_a_study_that_grows_keeps_the_instances_it_has_begun(available, count, random):
    before = a_plan(instances=[f"i{n}" for n in range(available)], count=count)
    begun = [instance.name for instance in before.instances if random.random() < 0.7]
    larger = a_plan(instances=[f"i{n}" for n in range(available + 30)], count=count + 10)
    after = begun_first(larger, begun)
    assert set(begun) <= set(names_of(after.instances))
    assert len(after.instances) == len(larger.instances)
    assert sorted(names_of(after.instances) + names_of(after.untouched)) == sorted(
        f"i{n}" for n in range(available + 30)
    )
    assert begun_first(larger, []) == larger
    assert begun_first(after, begun) == after


def test_a_larger_number_only_adds_instances():
    assert names_of(a_plan(count=20).instances) == names_of(a_plan(count=30).instances)[:20]


@given(st.integers(1, 9), st.integers(2, 30))
def test_parts_share_the_instances_out_evenly_and_without_rest(parts, count):
    plan = a_plan(count=count)
    shares = [names_of(part_of(plan, part, parts).instances) for part in range(1, parts + 1)]
    assert sorted(name for share in shares for name in share) == sorted(names_of(plan.instances))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert all(record(part_of(plan, part, parts)).decisions == record(plan).decisions for part in (1, parts))


@pytest.mark.parametrize("part", [(0, 2), (3, 2), (1, 0)])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(InvalidPlan, match="I/N"):
        part_of(a_plan(), *part)


# Names


def test_names_are_stripped_and_of_one_spelling():
    plan = a_plan(algorithms={" a ": first, "b": second}, instances=["  x", "e\N{COMBINING ACUTE ACCENT}"], count="all")
    assert names_of(plan.algorithms) == ["a", "b"]
    assert sorted(names_of(plan.instances)) == ["x", "é"]


@pytest.mark.parametrize("twins", [["x", "x"], ["x", " x"], ["Maß", "MASS"], ["full", "Full"]])
def test_names_that_differ_by_case_or_blanks_only_are_refused(twins):
    with pytest.raises(InvalidPlan, match="instance names must differ by more than case"):
        a_plan(instances=twins)
    with pytest.raises(InvalidPlan, match="algorithm names must differ by more than case"):
        a_plan(algorithms=[Function(name, first, "m:f") for name in twins])


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00", "\udc80", "x" * 1001, 5])
def test_names_that_no_table_can_show_are_refused(name):
    with pytest.raises(InvalidPlan, match="name of an instance must be"):
        a_plan(instances=[Instance(name), Instance("other")])


@pytest.mark.parametrize(("changes", "message"), [
    ({"instances": []}, "at least two instances, got 0, or one whose runs are compared"),
    ({"algorithms": {"a": first}}, "at least two algorithms, got 1"),
    ({"algorithms": {"a": first, "b": 3}}, "algorithm 'b' must be a function"),
    ({"algorithms": {"a": first, "b": functools.partial(second, 1)}}, "'b' must bind its parameters by keyword"),
    ({"question": Question("simple", "d", effect=1.0)}, "reference must be one of .* 'a', 'b', 'c', got 'd'"),
    ({"question": Question("simple", effect=1.0, alternative="less")}, "'less' needs a reference"),
    ({"question": Question("simple", effect=-1.0)}, "effect must be a positive number"),
    ({"question": Question("simple", effect=float("nan"))}, "effect must be a positive number"),
    ({"question": Question("simple", effect=1.0, margin=0.0)}, "margin must be a positive number"),
    ({"question": Question("simple", effect=1.0, alpha=1.0)}, "alpha must lie strictly between 0 and 1"),
    ({"question": Question("simple", effect=1.0, power=5)}, "power must lie strictly between 0 and 1"),
    ({"count": 1}, "'needed', 'all' or a whole number of 2 or more, got 1"),
    ({"count": True}, "got True"),
    ({"count": "some"}, "got 'some'"),
    ({"seed": 1.5}, "seed must be a whole number"),
    ({"seed": 2**63}, "seed must be a whole number of at most 64 bits"),
    ({"retries": -1}, "retries must be a whole number of 0 or more, got -1"),
    ({"limits": Limits(timeout=0)}, "timeout must be a positive number, got 0"),
    ({"limits": Limits(memory=-5)}, "memory must be a positive number, got -5"),
    ({"policy": Par(10)}, "par = 10 multiplies the time limit, so a timeout must be set"),
    ({"policy": Par(0.5), "limits": Limits(timeout=1)}, "must be 1 or more"),
    ({"policy": Par(10, 5), "question": Question("simple", better="higher", effect=1.0)}, "higher values are better"),
    ({"question": Question("percent", effect=1.0, inference="these instances")}, "conclusions about these instances"),
    ({"policy": Penalty(float("inf"))}, "must be a finite number"),
    ({"policy": Penalty(0), "question": Question("percent", effect=1.0)}, "must be positive for percent"),
    ({"algorithms": [Function("a", first, "m:a", cost=0), Function("b", first, "m:b")]}, "cost of algorithm 'a'"),
    ({"algorithms": {"a": Function("a", first, "m:a", reading=Reading("pattern", "x")), "b": first}}, "is a function"),
    ({"rule": Accuracy(se=1.0, difference="percent")}, "the study's difference, 'simple', got 'percent'"),
])  # fmt: skip
def test_what_does_not_fit_is_one_sentence(changes, message):
    with pytest.raises(InvalidPlan, match=message) as problem:
        a_plan(**changes)
    assert "\n" not in str(problem.value)


def test_a_rule_that_does_not_fit_the_algorithms_is_told_now_not_later():
    with pytest.raises(InvalidRule, match="budget"):
        a_plan(rule=Accuracy(se=1.0, difference="simple", budget=5))
    with pytest.raises(InvalidDesign, match="target"):
        a_plan(question=Question("simple", effect=1.0, target=9, better="lower"))


# Failures


def test_par_takes_its_cutoff_from_the_time_limit():
    assert a_plan(policy=Par(10), limits=Limits(timeout=30.0)).policy == Par(10, 30.0)
    assert a_plan(policy=Par(10, 20.0), limits=Limits(timeout=30.0)).policy == Par(10, 20.0)


# Algorithms from functions


def test_keywords_bound_to_a_function_are_its_parameters():
    bound = as_algorithm("b", functools.partial(second, cooling=0.5))
    assert (bound.call, bound.parameters) == (second, {"cooling": 0.5})
    assert bound.origin.endswith(":second")


def test_what_is_no_plain_data_stays_bound():
    secret = object()
    bound = as_algorithm("b", functools.partial(second, cooling=secret))
    assert bound.parameters == {}
    assert bound.call.keywords == {"cooling": secret}


def test_an_algorithm_is_known_by_the_name_it_is_given():
    plan = a_plan(
        algorithms={"x": Command("other", ("solve", "{seed}", "{instance}")), "y": lambda instance, seed: 1.0}
    )
    assert names_of(plan.algorithms) == ["x", "y"]
    assert plan.algorithms[1].origin.endswith("<lambda>")
