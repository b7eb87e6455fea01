"""Python instances that are others than those of the recorded runs are asked about as changed code is."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np
import pytest

import ampler as am
from ampler.core.errors import PlanMismatch
from ampler.core.plan import Instance
from ampler.study.code import OBJECT, objects_of
from ampler.study.store import read_store
from ampler.testing import SerialExecutor


def instance_digests(instances):
    return {name.removeprefix(OBJECT): digest for name, digest in objects_of(instances).items() if OBJECT in name}


@dataclass
class Problem:
    """A problem with a budget."""

    budget: float
    weights: object = None


class Plain:
    """The same without help of dataclasses."""

    def __init__(self, budget, lock=None):
        self.budget, self.lock = budget, lock


def closed_over(budget):
    return lambda: budget


def with_attribute(budget):
    def problem():
        return problem.budget

    problem.budget = budget
    return problem


def budget_of(instance):
    if callable(instance):
        return instance()
    for name in ("budget", "b"):
        instance = getattr(instance, name, instance)
    instance = instance["budget"] if isinstance(instance, dict) else instance
    return float(np.sum(instance))


def search(instance, seed):
    return budget_of(instance) + seed % 7


def better(instance, seed):
    return budget_of(instance) + seed % 5


KINDS = {
    "number": float,
    "dictionary": lambda budget: {"budget": budget, "tags": {"a", "b"}},
    "array": lambda budget: np.full(3, budget),
    "mask": lambda budget: np.ma.masked_array([1.0, 2.0, 4.0, 8.0], mask=[budget > 10, False, False, True]),
    "dataclass": Problem,
    "object": Plain,
    "closure": closed_over,
    "attribute": with_attribute,
    "hidden beside": lambda budget: Plain(budget, threading.Lock()),
}


def study(make, budget, instances=3):
    return am.Study(
        algorithms={"one": search, "two": better},
        instances={f"i{number}": make(budget + number) for number in range(instances)},
        difference="simple",
        design=am.FixedSize(runs=2),
        better="lower",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_changed_instances_are_asked_about_and_equal_ones_are_not(kind, tmp_path):
    path, how = tmp_path / "study.db", {"executor": SerialExecutor(), "progress": False}
    study(KINDS[kind], 10.0).run(path, **how)
    study(KINDS[kind], 10.0).run(path, **how)
    with pytest.raises(PlanMismatch, match=r"instances of algorithm 'one' have changed .*'i0'.*=.keep.*=.rerun"):
        study(KINDS[kind], 1000.0).run(path, **how)

    kept = study(KINDS[kind], 1000.0).run(path, on_code_change="keep", **how)

    assert any("instance 'i0'" in warning.sentence for warning in kept.warnings)
    study(KINDS[kind], 1000.0).run(path, on_code_change="rerun", **how)
    with read_store(path) as store:
        assert all(seen.value < 1000 for seen in store.observations()) or kind != "number"


def test_runs_are_made_again_with_the_changed_instances(tmp_path):
    path, how = tmp_path / "study.db", {"executor": SerialExecutor(), "progress": False}
    study(float, 10.0).run(path, **how)
    study(float, 1000.0).run(path, on_code_change="rerun", **how)

    with read_store(path) as store:
        assert min(seen.value for seen in store.observations()) >= 1000


def test_further_instances_are_no_change_and_each_later_one_is_noticed(tmp_path):
    path, how = tmp_path / "study.db", {"executor": SerialExecutor(), "progress": False}
    study(float, 10.0).run(path, **how)
    study(float, 10.0, instances=5).run(path, **how)
    larger = study(float, 10.0, instances=5)
    changed = replace(larger, instances={**larger.instances, "i4": 99.0})

    with pytest.raises(PlanMismatch, match="'i4'"):
        changed.run(path, **how)


def test_what_cannot_be_seen_is_said_when_it_may_have_changed(tmp_path):
    path, how = tmp_path / "study.db", {"executor": SerialExecutor(), "progress": False}
    first = study(KINDS["hidden beside"], 10.0).run(path, **how)
    second = study(KINDS["hidden beside"], 10.0).run(path, **how)

    hidden = "Whether these instances changed between sessions cannot be seen"
    told = [[each for each in analysis.warnings if hidden in each.sentence] for analysis in (first, second)]
    assert [[each.kind for each in cautions] for cautions in told] == [[], ["code"]]


def test_digests_tell_types_apart_and_say_when_they_do_not_know():
    given = [1, 1.0, True, "1", (1,), [1], {1}, {1: 1}, np.array([1]), np.array([1.0]), b"1", None.__class__]
    digests = instance_digests(Instance(str(place), data=value) for place, value in enumerate(given))

    assert len(set(digests.values())) == len(given)
    assert instance_digests([Instance("x", data=iter([1]))])["x"].startswith("?")
    cycle: list[object] = [1]
    cycle.append(cycle)
    assert len(instance_digests([Instance("x", data=cycle)])["x"]) == 64
