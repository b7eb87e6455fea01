"""Every run gets its instance and its parameters as they were planned, whatever an algorithm does to its own."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from ampler.core.errors import EngineFailed, InvalidPlan
from ampler.core.plan import Function, Instance, Limits, Question
from ampler.running import run_plan
from ampler.running.one_run.functions import untouched
from ampler.sampling.rules import Fixed
from ampler.study.plan import make_plan
from ampler.testing import MemoryStore, SerialExecutor


@dataclass
class Job:
    """An instance with a list in it."""

    sizes: list[float]
    notes: dict[str, float] = field(default_factory=dict)


class Slotted:
    """An instance without a dict."""

    __slots__ = ("sizes",)

    def __init__(self, sizes):
        self.sizes = sizes


def numbers(instance):
    if isinstance(instance, dict | tuple):  # nested: the numbers lie in a list in it
        instance = (*instance.values(),) if isinstance(instance, dict) else instance
        return instance[-1][0]
    return instance.sizes if isinstance(instance, Job | Slotted) else instance


def inversions(instance, seed):
    """How unsorted the numbers are; a run that sees them sorted gives 0."""
    values = list(numbers(instance))
    return float(sum(one > two for one, two in pairwise(values)))


def spoil(instance, seed, *, weights):
    """Sorts its instance and its parameters in place."""
    before = inversions(instance, seed) + weights[0]
    numbers(instance).sort()
    weights.sort()
    return before


def plan_of(kind, **given):
    draws = {f"i{number}": [random.Random(number * 31 + k).random() for k in range(9)] for number in range(4)}
    wrap = {
        **{"list": list, "array": np.array, "dataclass": Job, "slots": Slotted, "locked": Locked},
        **{"dict": lambda values: {"name": "i", "numbers": [values]}, "nested": lambda values: ("i", [values, {}])},
    }[kind]
    return make_plan(
        question=Question("simple", better="lower"),
        algorithms={"first": partial(spoil, weights=[3.0, 1.0]), "second": inversions},
        instances={name: wrap(values) for name, values in draws.items()},
        rule=Fixed(runs=3),
        seed=5,
        count="all",
        **given,
    )


ENGINES = {
    "in this process": lambda: {"executor": SerialExecutor()},
    "one worker": lambda: {"workers": 1},
    "two workers": lambda: {"workers": 2},
    "three workers": lambda: {"workers": 3},
    "threads": lambda: {"executor": ThreadPoolExecutor(2)},
}


def values(plan, **engine):
    store = MemoryStore()
    run_plan(plan, store, **engine)
    return {seen.key: seen.value for seen in store.observations()}


KINDS = ["list", "array", "dataclass", "slots", "dict", "nested"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_algorithm_that_changes_its_instance_changes_it_for_itself_alone(kind):
    limited = values(plan_of(kind, limits=Limits(timeout=60.0)), workers=1)  # each run is a process of its own
    unsorted = {key: value for key, value in limited.items() if key.algorithm == "second"}

    assert min(unsorted.values()) > 0
    assert all(limited[key] == 3 + unsorted[type(key)(key.instance, "second", key.index)]
               for key in limited if key.algorithm == "first")  # fmt: skip
    for name, engine in ENGINES.items():
        assert values(plan_of(kind), **engine()) == limited, name
    assert values(plan_of(kind, limits=Limits(memory=2 * 10**9)), workers=2) == limited


class Locked(Job):
    """An instance that cannot be copied."""

    def __init__(self, sizes):
        super().__init__(sizes)
        self.lock = threading.Lock()


@pytest.mark.parametrize("workers", [1, 2])
def test_runs_on_an_instance_that_cannot_be_copied_are_processes_of_their_own(workers):
    plain = values(plan_of("dataclass"), workers=1)

    assert values(plan_of("locked"), workers=workers) == plain


def test_threads_that_would_share_an_instance_are_refused_in_words():
    with pytest.raises(EngineFailed, match="holds an object that cannot be copied"):
        values(plan_of("locked"), executor=ThreadPoolExecutor(2))


class Counting:
    """An algorithm that cannot be copied, and that counts its runs."""

    def __init__(self):
        self.lock, self.runs = threading.Lock(), 0

    def __call__(self, instance, seed):
        self.runs += 1
        return float(self.runs)


@pytest.mark.parametrize("engine", ["in this process", "one worker", "three workers"])
def test_runs_of_an_algorithm_that_cannot_be_copied_are_processes_of_their_own(engine):
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms={"a": Counting(), "b": Counting().__call__},
        instances={"i": 1, "j": 2},
        rule=Fixed(runs=3),
        count="all",
    )

    assert set(values(plan, **ENGINES[engine]()).values()) == {1.0}


@pytest.mark.parametrize("kind", ["file", "generator"])
def test_an_instance_that_only_one_run_could_read_is_refused(kind, tmp_path):
    (tmp_path / "i.txt").write_text("3 1 2")
    with (tmp_path / "i.txt").open() as file:
        instance = file if kind == "file" else (number for number in range(3))
        with pytest.raises(InvalidPlan, match="instance 'i' is an iterator or an open file"):
            make_plan(
                question=Question("simple", better="lower"),
                algorithms={"a": inversions, "b": inversions},
                instances={"i": instance, "j": [1, 2]},
                rule=Fixed(runs=3),
            )


class Remembers:
    """An algorithm with a state that its runs change."""

    def __init__(self):
        self.runs = [0.0]

    def __call__(self, instance, seed):
        self.runs.append(1.0)
        return sum(self.runs)


def test_the_state_of_an_algorithm_is_that_of_each_run():
    shared = Remembers()
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms={"object": Remembers(), "method": shared.__call__, "same object": shared},
        instances={"i": 1, "j": 2},
        rule=Fixed(runs=3),
        count="all",
    )

    assert set(values(plan, executor=SerialExecutor()).values()) == {1.0}


def test_bound_arguments_are_those_of_each_run():
    cache: list[float] = []

    def remembers(instance, seed, cache):
        cache.append(1.0)
        return float(len(cache))

    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=[Function("a", partial(remembers, cache=cache), "m:a"), Function("b", inversions, "m:b")],
        instances={"i": [2, 1], "j": [1, 2]},
        rule=Fixed(runs=3),
        count="all",
    )
    found = values(plan, executor=SerialExecutor())

    assert {value for key, value in found.items() if key.algorithm == "a"} == {1.0}
    assert cache == []


def counted():
    """A function that counts its calls in all the places that a function has."""
    log, calls = [], 0

    def objective(seen=[]):  # noqa: B006 - what is tested
        nonlocal calls
        calls += 1
        log.append(calls)
        seen.append(calls)
        objective.calls = getattr(objective, "calls", 0) + 1
        return float(len(log) + calls + len(seen) + objective.calls)

    return objective


def test_what_a_function_remembers_is_forgotten_by_the_next_run():
    objective = counted()
    plan = make_plan(
        question=Question("simple", better="lower"),
        algorithms=[
            Function("calls its instance", lambda instance, seed: (instance["f"](), instance["f"]())[-1], "m:a"),
            Function("is called", lambda instance, seed, own=counted(): own(), "m:b"),  # noqa: B008 - what is tested
            Function("closes over it", lambda instance, seed: objective(), "m:c"),
        ],
        instances={"i": {"f": counted()}, "j": {"f": counted()}},
        rule=Fixed(runs=3),
        count="all",
    )
    for engine in ({"executor": SerialExecutor()}, {"workers": 2}):
        found = values(plan, **engine)
        assert {(key.algorithm, value) for key, value in found.items()} == {
            *(("calls its instance", 8.0), ("is called", 4.0), ("closes over it", 4.0)),
        }


def test_what_cannot_change_is_not_copied_and_what_cannot_be_copied_is_given_as_it_is():
    constant, generator = (1, ("a", frozenset({2.0}))), (number for number in range(3))
    readonly = np.arange(4)
    readonly.flags.writeable = False

    assert all(untouched(each) is each for each in (constant, "text", generator, readonly, inversions))
    assert untouched(([1],)) == ([1],)
    assert untouched(inner := ([1],))[0] is not inner[0]
    assert Instance("i", data=[1]).data == [1]
