"""A small study with noisy algorithms, made the same way in every test that carries one out."""

import random

from ampler.core.plan import Question
from ampler.running import run_plan
from ampler.sampling.rules import Accuracy
from ampler.study.plan import make_plan
from ampler.testing import MemoryStore, SerialExecutor

SERIAL = SerialExecutor()


def noisy(mean, sd):
    """An algorithm whose values are normal."""
    return lambda instance, seed: mean + sd * random.Random(seed).gauss(0, 1)


def make(algorithms=None, instances=4, **fields):
    """A plan of these fields; `instances` is their number or the instances themselves."""
    given = {
        "question": Question("simple", better="lower"),
        "rule": Accuracy(se=0.5, difference="simple", start=3, budget=60, batch=5),
        "seed": 7,
        "count": "all",
        **fields,
    }
    algorithms = algorithms or {"a": noisy(10, 1), "b": noisy(11, 2), "c": noisy(12, 0.5)}
    names = [f"i{number}" for number in range(instances)] if isinstance(instances, int) else instances
    return make_plan(algorithms=algorithms, instances=names, **given)


def kept(store):
    """What a store holds, whatever the order."""
    return {(seen.key, seen.seed, seen.value) for seen in store.observations()}


def recorded(executor):
    """What an executor records of the study."""
    store = MemoryStore()
    run_plan(make(), store, executor=executor)
    return kept(store)
