"""What is still to be made is what running the study makes, and a change of the plan is told whoever looks first."""

import math
import random
import sys
import time
from contextlib import suppress

import pytest

from ampler.core.plan import Function, Question
from ampler.core.runs import Observation, RunKey
from ampler.running import run_plan
from ampler.running.check import inspect_plan
from ampler.running.driver import last_carried_out, still_to_make
from ampler.running.instance import mean_seconds
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.store import open_store
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

    assert mean_seconds(store.tally()).keys() == {"a", "b"}
    assert all(seconds >= 0 for seconds in mean_seconds(store.tally()).values())


class Interrupted(Exception):
    pass


class NoExecutor:
    """An executor that takes no work: the study ends at its first run."""

    def submit(self, *_):
        raise Interrupted


@pytest.mark.parametrize("recorded", [0, 1], ids=["new", "resumed"])
@pytest.mark.parametrize("rule", [Fixed(runs=2), accuracy(0.1)], ids=["fixed", "adaptive"])
def test_ten_thousand_instances_start_within_three_seconds_of_processor_time(rule, recorded, tmp_path):
    plan = a_plan(rule, instances=10_000)
    with open_store(tmp_path / "study.db") as store:
        store.begin(record(plan), {})
        store.add(
            Observation(RunKey(instance.name, name, index), 1.0 + index, seconds=1.0)
            for instance in plan.instances
            for name in "ab"
            for index in range(recorded)
        )

    began = time.process_time()
    with open_store(tmp_path / "study.db") as store, pytest.raises(Interrupted):
        run_plan(plan, store, executor=NoExecutor(), expect=lambda _: None)

    assert time.process_time() - began < 3


def calls_of(action):
    """The calls of functions that something takes: the same on any machine, however busy."""
    number = 0

    def count(frame, event, argument):
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return number


@pytest.mark.parametrize("recorded", [0, 1], ids=["new", "resumed"])
def test_the_work_before_the_first_run_grows_with_the_number_of_instances_and_no_faster(recorded, tmp_path):
    def start(instances):
        plan = a_plan(accuracy(0.1), instances=instances)
        with open_store(tmp_path / f"{instances}.db") as store, suppress(Interrupted):
            if recorded:
                store.begin(record(plan), {})
                store.add(Observation(RunKey(item.name, "a", 0), 1.0, seconds=1.0) for item in plan.instances)
            run_plan(plan, store, executor=NoExecutor(), expect=lambda _: None)

    start(10)  # what is imported or remembered once
    small, middle, large = (calls_of(lambda number=number: start(number)) for number in (100, 1000, 4000))
    slope = math.log((large - small) / (middle - small)) / math.log((4000 - 100) / (1000 - 100))
    assert 0.9 < slope < 1.1
