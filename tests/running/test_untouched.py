"""Every run gets its instance and its parameters as they were planned, whatever an algorithm does to its own."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from ampler.core.values import Function, Instance, Limits, Question
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


def numbers(instance):
    return instance.sizes if isinstance(instance, Job) else instance


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
    wrap = {"list": list, "array": np.array, "dataclass": lambda values: Job(list(values))}[kind]
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
    "three workers": lambda: {"workers": 3},
    "threads": lambda: {"executor": ThreadPoolExecutor(2)},
}


def values(plan, **engine):
    store = MemoryStore()
    run_plan(plan, store, **engine)
    return {seen.key: seen.value for seen in store.observations()}


@pytest.mark.parametrize("kind", ["list", "array", "dataclass"])
def test_an_algorithm_that_changes_its_instance_changes_it_for_itself_alone(kind):
    limited = values(plan_of(kind, limits=Limits(timeout=60.0)), workers=1)  # each run is a process of its own
    unsorted = {key: value for key, value in limited.items() if key.algorithm == "second"}

    assert min(unsorted.values()) > 0
    assert all(limited[key] == 3 + unsorted[type(key)(key.instance, "second", key.index)]
               for key in limited if key.algorithm == "first")  # fmt: skip
    for name, engine in ENGINES.items():
        assert values(plan_of(kind), **engine()) == limited, name


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


def test_what_cannot_change_is_not_copied_and_what_cannot_be_copied_is_given_as_it_is():
    constant, generator = (1, ("a", frozenset({2.0}))), (number for number in range(3))
    readonly = np.arange(4)
    readonly.flags.writeable = False

    assert all(untouched(each) is each for each in (constant, "text", generator, readonly, inversions))
    assert untouched(([1],)) == ([1],)
    assert untouched(inner := ([1],))[0] is not inner[0]
    assert Instance("i", data=[1]).data == [1]
