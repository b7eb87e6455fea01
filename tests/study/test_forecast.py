"""The range of what a study takes, against the rule itself driven to its ends."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ampler.core.plan import Function, Question
from ampler.sampling.rules import Accuracy, Fixed, sample
from ampler.study.forecast import first_runs, forecast, relative_costs
from ampler.study.plan import make_plan


def a_plan(rule, *, deterministic=(), instances=7):
    algorithms = [Function(name, min, "m:f", deterministic=name in deterministic) for name in "abc"]
    names = [f"i{number}" for number in range(instances)]
    return make_plan(
        question=Question("simple", better="lower"), algorithms=algorithms, instances=names, rule=rule, count="all"
    )


SECONDS = {"a": 1.0, "b": 2.0, "c": 5.0}
ACCURACY = Accuracy(se=0.001, difference="simple", start=4, budget=50)


@pytest.mark.parametrize(("rule", "deterministic"), [(ACCURACY, ()), (ACCURACY, ("c",)), (Fixed(runs=6), ("a",))])
def test_the_range_is_that_of_the_rule_with_values_that_never_and_always_vary(rule, deterministic):
    plan, rng = a_plan(rule, deterministic=deterministic), random.Random(1)
    told = forecast(plan, SECONDS, workers=1)
    least, most = (
        sample(rule, draw, "abc", deterministic=deterministic).samples.counts
        for draw in (lambda name, index: 5.0, lambda name, index: rng.gauss(0, 100))
    )

    assert told.least_runs == 7 * least.sum()
    assert told.most_runs == 7 * most.sum()
    assert told.least_seconds == 7 * sum(SECONDS[name] * count for name, count in zip("abc", least, strict=True))
    assert told.most_seconds >= 7 * sum(SECONDS[name] * count for name, count in zip("abc", most, strict=True))


def test_beyond_the_first_runs_the_slowest_algorithm_that_varies_is_counted():
    told = forecast(a_plan(ACCURACY, deterministic=("c",)), SECONDS, workers=4)

    assert (told.least_runs, told.most_runs) == (7 * 9, 7 * 50)
    assert told.most_seconds == 7 * (4 * 1 + 4 * 2 + 1 * 5 + 41 * 2)
    assert told.most_wall == told.most_seconds / 4


def test_without_a_budget_it_is_fifty_runs_of_each():
    assert forecast(a_plan(replace(ACCURACY, budget=None)), SECONDS, workers=1).most_runs == 7 * 150


def test_all_deterministic_is_one_run_of_each():
    told = forecast(a_plan(ACCURACY, deterministic="abc"), SECONDS, workers=1)

    assert (told.least_runs, told.most_runs, told.most_seconds) == (21, 21, 7 * 8.0)


def test_what_is_not_known_is_none():
    missing = forecast(a_plan(ACCURACY), {"a": 1.0}, workers=2)
    foreign = forecast(a_plan(Fixed(runs=3).__call__), SECONDS, workers=2)

    assert (missing.most_runs, missing.least_seconds, missing.most_wall) == (350, None, None)
    assert (foreign.least_runs, foreign.most_runs, foreign.most_seconds) == (63, None, None)


def test_the_first_runs_are_those_of_the_first_round():
    assert first_runs(a_plan(ACCURACY, deterministic=("b",))) == {"a": 4, "b": 1, "c": 4}


def test_costs_are_relative_to_the_fastest():
    assert relative_costs({"a": 0.02, "b": 0.0333, "c": 12.0}) == {"a": 1.0, "b": 1.7, "c": 600.0}
