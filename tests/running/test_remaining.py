"""What is still to be made is what running the study makes, and a change of the plan is told whoever looks first."""

import random

import pytest

from ampler.core.values import Function, Question
from ampler.running import run_plan
from ampler.running.check import inspect_plan
from ampler.running.remaining import last_carried_out, run_seconds, still_to_make
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.testing import MemoryStore, SerialExecutor

SERIAL = SerialExecutor()
SECONDS = {"a": 1.0, "b": 2.0, "c": 3.0}


def noisy(mean):
    return lambda instance, seed: mean + random.Random(seed).gauss(0, 1)


def a_plan(rule=None, instances=4, names="ab"):
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms=[Function(name, noisy(place), f"m:{name}") for place, name in enumerate(names)],
        instances=[f"i{number}" for number in range(instances)],
        rule=rule or Fixed(runs=5),
        seed=3,
        count="all",
    )


def accuracy(se, budget=40):
    return Accuracy(se=se, difference="simple", start=3, budget=budget)


def run(plan, store, **listeners):
    return run_plan(plan, store, executor=SERIAL, **listeners)


def test_a_finished_study_has_nothing_left():
    store = MemoryStore()
    run(a_plan(), store)

    told = still_to_make(a_plan(), store, SECONDS, workers=2)

    assert (told.instances, told.least_runs, told.most_runs, told.recorded) == (0, 0, 0, 40)


@pytest.mark.parametrize(
    ("grown", "more"),
    [
        (a_plan(instances=6), 2 * 2 * 5),
        (a_plan(names="abc"), 4 * 5),
        (a_plan(Fixed(runs=7)), 4 * 2 * 2),
        (a_plan(Fixed(runs=3)), 0),
    ],
    ids=["more instances", "another algorithm", "more runs", "fewer runs"],
)
def test_a_study_that_grows_takes_what_it_lacks_and_no_more(grown, more):
    store = MemoryStore()
    run(a_plan(), store)
    told = still_to_make(grown, store, SECONDS, workers=1)
    progress = run(grown, store)

    assert told.least_runs == told.most_runs == progress.new == more


def test_a_smaller_accuracy_takes_between_what_is_missing_now_and_the_rest_of_the_budget():
    store = MemoryStore()
    before = run(a_plan(accuracy(1.0)), store).runs
    told = still_to_make(a_plan(accuracy(0.4)), store, SECONDS, workers=1)
    progress = run(a_plan(accuracy(0.4)), store)

    assert told.recorded == before
    assert told.least_runs <= progress.new <= told.most_runs
    assert told.most_runs <= 4 * 40 - before
    assert told.least_runs > 0


def test_the_time_is_that_of_the_runs_that_are_missing():
    store = MemoryStore()
    run(a_plan(), store)

    told = still_to_make(a_plan(instances=6, names="abc"), store, SECONDS, workers=2)

    assert told.least_seconds == 2 * 5 * (1 + 2) + 6 * 5 * 3
    assert told.least_wall == told.least_seconds / 2


def test_a_study_that_was_only_looked_at_is_told_as_a_whole():
    store = MemoryStore()
    inspect_plan(a_plan(), store)

    told = still_to_make(a_plan(), store, SECONDS, workers=1)

    assert (told.least_runs, told.recorded) == (40, 0)


def test_the_driver_tells_what_is_to_come_before_it_starts():
    store, told = MemoryStore(), []
    run(a_plan(), store)
    progress = run(a_plan(instances=6), store, expect=told.append)

    (forecast,) = told
    assert forecast.least_runs == progress.new == 20


def test_a_change_of_plan_is_told_by_the_look_and_again_by_the_run():
    store, looked, ran, later = MemoryStore(), [], [], []
    run(a_plan(), store)
    for _ in range(2):
        inspect_plan(a_plan(instances=6), store, announce=looked.append)
    run(a_plan(instances=6), store, announce=ran.append)
    run(a_plan(instances=6), store, announce=later.append)

    assert [str(change) for change in looked + ran] == ["4 → 6 instances: 2 new instances for all."] * 3
    assert later == []


def test_nothing_is_told_of_a_change_while_no_run_is_recorded():
    store, told = MemoryStore(), []
    store.begin(record(a_plan()), {})
    run(a_plan(instances=6), store, announce=told.append)

    assert told == []


def test_the_last_plan_that_was_run_is_that_before_the_looks():
    store = MemoryStore()
    assert last_carried_out(store) == ()
    inspect_plan(a_plan(), store)
    first = last_carried_out(store)[0]
    run(a_plan(instances=5), store)
    inspect_plan(a_plan(instances=6), store)

    assert len(first.instances) == 4, "there was nothing but a look"
    assert len(last_carried_out(store)[0].instances) == 5


def test_runs_take_as_long_as_they_took():
    store = MemoryStore()
    run(a_plan(), store)

    assert run_seconds(store).keys() == {"a", "b"}
    assert all(seconds >= 0 for seconds in run_seconds(store).values())
