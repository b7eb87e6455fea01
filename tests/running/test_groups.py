"""Decisions over instances, carried out: the same runs and decisions with any workers, after kills, on any engine."""

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from ampler.core.errors import RunFailed
from ampler.core.failures import Drop
from ampler.core.plan import Continue, EndStudy, Question
from ampler.running import run_plan
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.evidence import evidence_of_study
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.status import status_of
from ampler.study.stopping import digests_in_force
from ampler.study.store import merge_stores, open_store, read_store
from ampler.testing import MemoryStore, SerialExecutor


@dataclass(frozen=True)
class DropsTheWorst:
    """Two groups of instances; after the first the algorithm with the largest mean leaves."""

    first: int = 3

    def groups(self, plan, /):
        names = [instance.name for instance in plan.instances]
        return names[: self.first], names[self.first :]

    def __call__(self, plan, finished, /):
        groups, algorithms = self.groups(plan), tuple(algorithm.name for algorithm in plan.algorithms)
        if not finished:
            return Continue(algorithms, tuple(groups[0]))
        if len(finished) == 2:
            return EndStudy("both groups are finished")
        means = means_of(finished[0].runs)
        worst = max(means, key=means.get)
        return Continue(
            tuple(name for name in algorithms if name != worst),
            tuple(groups[1]),
            reason=f"{worst} has the largest mean and gets no more runs",
            details={"means": means},
        )


@dataclass(frozen=True)
class TopsUp:
    """A pilot with few runs; then more instances, all with as many runs as the pilot says."""

    pilot: int = 2

    def groups(self, plan, /):
        names = [instance.name for instance in plan.instances]
        return names[: self.pilot], names[self.pilot :]

    def __call__(self, plan, finished, /):
        pilot, rest = self.groups(plan)
        if not finished:
            return Continue(("a", "b", "c"), tuple(pilot), {"a": 3, "b": 3, "c": 3})
        if len(finished) == 2:
            return EndStudy("enough")
        spread = float(np.nanstd(finished[0].runs.value))
        more = 4 + round(spread) % 3
        return Continue(("a", "b"), (*pilot, *rest[:2]), {"a": more, "b": more + 2}, details={"spread": spread})


def means_of(runs):
    means = [float(np.mean(runs.value[runs.algorithm == place])) for place in range(len(runs.algorithms))]
    return dict(zip(runs.algorithms, means, strict=True))


def noisy(mean, sd):
    return lambda instance, seed: mean + sd * random.Random(seed).gauss(0, 1)


def make(study_rule, **fields):
    given = {
        "algorithms": {"a": noisy(10, 1), "b": noisy(11, 2), "c": noisy(14, 0.5)},
        "rule": Accuracy(se=0.5, difference="simple", start=3, budget=60, batch=5, costs={"a": 1, "b": 1, "c": 2}),
        "question": Question("simple", better="lower"),
        "seed": 7,
        "count": "all",
        **fields,
    }
    return make_plan(instances=[f"i{number}" for number in range(7)], study_rule=study_rule, **given)


def kept(store):
    return {(seen.key, seen.seed, seen.value) for seen in store.observations()}


def taken(store):
    return [(each.number, each.decision, each.digest) for each in store.decisions()]


class Interrupting:
    """A store that is cut off like a driver that dies: after some writes everything raises."""

    def __init__(self, store, writes):
        self._store, self._writes = store, writes

    def __getattr__(self, name):
        return getattr(self._store, name)

    def add(self, observations, finished=()):
        self._count()
        self._store.add(list(observations), finished)

    def decide(self, number, decision):
        self._count()
        self._store.decide(number, decision)

    def _count(self):
        if self._writes == 0:
            raise KeyboardInterrupt
        self._writes -= 1


@pytest.fixture(params=[DropsTheWorst(), TopsUp()], ids=lambda rule: type(rule).__name__)
def plan(request):
    return make(request.param)


def test_an_algorithm_that_leaves_is_run_on_the_first_group_only():
    plan, store = make(DropsTheWorst()), MemoryStore()

    progress = run_plan(plan, store, executor=SerialExecutor())

    names = [instance.name for instance in plan.instances]
    where = {seen.key.instance for seen in store.observations() if seen.key.algorithm == "c"}
    assert where == set(names[:3])
    assert {seen.key.instance for seen in store.observations()} == set(names)
    first, second, end = store.decisions()
    assert (first.decision.algorithms, first.decision.instances) == (("a", "b", "c"), tuple(names[:3]))
    assert (second.decision.algorithms, second.decision.instances) == (("a", "b"), tuple(names[3:]))
    assert second.decision.reason == "c has the largest mean and gets no more runs"
    assert end.decision == EndStudy("both groups are finished")
    assert (progress.finished, progress.instances, progress.left) == (7, 7, 0.0)


def test_runs_of_a_pilot_are_topped_up_and_instances_that_are_not_needed_are_left_out():
    plan, store = make(TopsUp()), MemoryStore()

    progress = run_plan(plan, store, executor=SerialExecutor())

    names = [instance.name for instance in plan.instances]
    wanted = store.decisions()[1].decision
    runs = {(each.instance, each.algorithm): each.runs for each in store.tally()}
    assert runs == {
        **{(name, "c"): 3 for name in names[:2]},
        **{(name, algorithm): wanted.runs[algorithm] for name in names[:4] for algorithm in ("a", "b")},
    }
    assert (progress.finished, progress.instances) == (4, 4)
    assert progress.new == sum(runs.values())


def test_workers_and_engines_change_nothing(plan):
    expected = MemoryStore()
    run_plan(plan, expected, executor=SerialExecutor())

    with ThreadPoolExecutor(3) as threads:
        for engine in ({"workers": 1}, {"workers": 3}, {"executor": threads}):
            store = MemoryStore()
            run_plan(plan, store, **engine)
            assert kept(store) == kept(expected)
            assert taken(store) == taken(expected)
            digests = digests_in_force(record(plan), store.decisions())
            assert store.finished(*digests) == expected.finished(*digests)


def test_interruptions_at_any_write_change_nothing(plan):
    expected = MemoryStore()
    run_plan(plan, expected, executor=SerialExecutor())

    for writes in range(6):
        broken = MemoryStore()
        for _ in range(40 if writes else 2):  # without a write the second is in the state of the first
            with suppress(KeyboardInterrupt):
                run_plan(plan, Interrupting(broken, writes), executor=SerialExecutor())
                break
            assert kept(broken) <= kept(expected)
            assert taken(broken) == taken(expected)[: len(taken(broken))]
        run_plan(plan, broken, executor=SerialExecutor())
        assert kept(broken) == kept(expected)
        assert taken(broken) == taken(expected)


def test_a_finished_study_takes_its_decisions_again_and_records_and_runs_nothing(plan):
    store, told = MemoryStore(), []
    first = run_plan(plan, store, executor=SerialExecutor(), decided=told.append)
    before = store.decisions()

    class Unwanted:
        def submit(self, *arguments):
            pytest.fail("nothing must be run")

    again = run_plan(plan, store, executor=Unwanted(), decided=lambda decision: pytest.fail("nothing is new"))

    assert [each.decision for each in before] == told
    assert store.decisions() == before
    assert (again.new, again.runs, again.finished) == (0, first.runs, first.finished)


def test_no_run_of_a_group_is_made_before_the_one_before_is_finished():
    plan, store = make(DropsTheWorst()), MemoryStore()
    early = {instance.name for instance in plan.instances[:3]}
    seen = []

    class Watched:
        def __getattr__(self, name):
            return getattr(store, name)

        def add(self, observations, finished=()):
            observations = list(observations)
            seen.extend(observation.key.instance in early for observation in observations)
            store.add(observations, finished)

    run_plan(plan, Watched(), workers=3)

    assert seen == sorted(seen, reverse=True)


def test_status_and_analysis_see_the_runs_of_all_groups():
    plan, store = make(TopsUp()), MemoryStore()
    run_plan(plan, store, executor=SerialExecutor())

    status, evidence = status_of(store), evidence_of_study(store)

    assert (status.finished, len(status.instances), status.unused, status.untouched) == (4, 4, 0, 3)
    assert len(evidence.runs) == len(kept(store))
    assert evidence.notes == ()


def test_a_study_stopped_by_a_failure_in_a_later_group_goes_on_there():
    plan = make(DropsTheWorst())
    last = plan.instances[-1].name
    broken = True

    def fails(instance, seed):
        if instance == last and broken:
            raise ValueError("no")
        return random.Random(seed).random()

    plan = make(DropsTheWorst(), algorithms={"a": fails, "b": noisy(11, 2), "c": noisy(14, 0.5)}, rule=Fixed(runs=4))
    store = MemoryStore()
    with pytest.raises(RunFailed):
        run_plan(plan, store, executor=SerialExecutor())
    before = store.decisions()
    broken = False
    run_plan(plan, store, executor=SerialExecutor())

    assert len(before) == 2
    assert store.decisions()[:2] == before
    assert isinstance(store.decisions()[-1].decision, EndStudy)


def test_a_failed_run_is_tried_again_once_however_many_groups_ask_for_its_instance():
    plan = make(
        TopsUp(),
        algorithms={"a": lambda instance, seed: 1 / 0, "b": noisy(11, 2), "c": noisy(14, 0.5)},
        policy=Drop(),
    )
    store = MemoryStore()
    run_plan(plan, store, executor=SerialExecutor(), despite_failures=True)
    run_plan(plan, store, executor=SerialExecutor(), retry_failed=True, despite_failures=True)

    assert {seen.attempt for seen in store.failures()} == {1}


def test_another_outcome_of_a_run_that_is_tried_again_overturns_later_decisions():
    penalised = True

    def fails(instance, seed):
        if penalised:
            raise ValueError("no")
        return 100.0

    algorithms = {"a": noisy(10, 1), "b": noisy(11, 2), "c": fails}
    plan = make(DropsTheWorst(), algorithms=algorithms, rule=Fixed(runs=3), policy=Drop(), retries=0)
    plan = replace(plan, study_rule=DropsTheWorstThatRan())
    store = MemoryStore()
    run_plan(plan, store, executor=SerialExecutor(), despite_failures=True)
    before = [each.decision for each in store.decisions()]
    penalised = False
    run_plan(plan, store, executor=SerialExecutor(), retry_failed=True, despite_failures=True)
    after = [each.decision for each in store.decisions()]

    assert before[1].algorithms == ("a", "c")
    assert after[1].algorithms == ("a", "b")
    assert after[0] == before[0]
    assert len(after) == 3


class DropsTheWorstThatRan(DropsTheWorst):
    """The same, but failed runs have no say."""

    def __call__(self, plan, finished, /):
        if len(finished) != 1:
            return super().__call__(plan, finished)
        runs = finished[0].runs
        values = {name: runs.value[runs.ok & (runs.algorithm == k)] for k, name in enumerate(runs.algorithms)}
        worst = max((name for name in values if len(values[name])), key=lambda name: values[name].mean())
        others = tuple(algorithm.name for algorithm in plan.algorithms if algorithm.name != worst)
        return Continue(others, tuple(self.groups(plan)[1]))


# Killed, with a study file

DRIVER = """
import sys, time
sys.path.insert(0, HERE)
import test_groups
from ampler.running import run_plan
from ampler.study.store import open_store

def slow(mean, sd):
    quick = test_groups.noisy(mean, sd)
    def call(instance, seed):
        time.sleep(0.015)
        return quick(instance, seed)
    return call

algorithms = {"a": slow(10, 1), "b": slow(11, 2), "c": slow(14, 0.5)}
plan = test_groups.make(test_groups.DropsTheWorst(), algorithms=algorithms, rule=test_groups.Fixed(runs=10))
with open_store(PATH) as store:
    run_plan(plan, store, workers=WORKERS)
"""


@pytest.fixture
def driver(start):
    """`driver(path, workers)`: the study in a process of its own."""

    def run(path, workers):
        words = {"HERE": str(Path(__file__).parent), "PATH": str(path), "WORKERS": workers}
        code = DRIVER
        for word, value in words.items():
            code = code.replace(word, repr(value))
        return start("-c", code, program=(sys.executable,))

    return run


def test_a_driver_killed_in_each_group_ends_with_the_runs_and_decisions_of_one_that_was_not(driver, tmp_path):
    whole, broken = tmp_path / "whole.db", tmp_path / "broken.db"
    straight = driver(whole, 3)
    _, errors = straight.communicate()
    assert straight.returncode == 0, errors
    with read_store(whole) as store:
        expected, decisions, total = kept(store), taken(store), len(kept(store))

    decided = set()
    for share in (0.1, 0.55, 0.7):
        process = driver(broken, 2)
        while process.poll() is None and recorded_in(broken) < share * total:
            time.sleep(0.05)
        assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
        with read_store(broken) as store:
            assert kept(store) < expected
            assert taken(store) == decisions[: len(taken(store))]
            decided.add(len(store.decisions()))
    last = driver(broken, 1)
    _, errors = last.communicate()

    assert last.returncode == 0, errors
    assert decided == {1, 2}, "killed in both groups"
    with read_store(broken) as store:
        assert kept(store) == expected
        assert taken(store) == decisions


def recorded_in(path):
    if not path.exists():
        return 0
    with suppress(Exception), read_store(path) as store:
        return sum(each.runs for each in store.tally())
    return 0


def test_a_study_file_shows_its_decisions_with_their_dates(tmp_path):
    plan = make(DropsTheWorst())
    with open_store(tmp_path / "study.db") as store:
        run_plan(plan, store, executor=SerialExecutor())
    with read_store(tmp_path / "study.db") as store:
        shown = store.decisions()

    assert [each.number for each in shown] == [0, 1, 2]
    assert shown[1].decision.details["means"].keys() == {"a", "b", "c"}
    assert all(each.taken.startswith("20") and len(each.digest) == 32 for each in shown)


def test_a_merged_study_file_keeps_the_decisions(tmp_path):
    plan = make(TopsUp())
    for name in ("one.db", "two.db"):
        with open_store(tmp_path / name) as store:
            run_plan(plan, store, executor=SerialExecutor())
    merge_stores([tmp_path / "one.db", tmp_path / "two.db"], tmp_path / "merged.db")
    with read_store(tmp_path / "one.db") as one, read_store(tmp_path / "merged.db") as merged:
        assert taken(merged) == taken(one)
        assert kept(merged) == kept(one)
        digests = digests_in_force(record(plan), merged.decisions())
        assert merged.finished(*digests) == one.finished(*digests)
    with open_store(tmp_path / "merged.db") as store:
        assert run_plan(plan, store, executor=SerialExecutor()).new == 0
