"""Whole studies that find their own size: algorithms are run, a study file is written, read and analysed.

Slower than `detect_simulation`, and nothing in it is taken from anywhere but the public door. What each study decided
and claimed is held against the pure decision on the very values it recorded.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import ampler as am
from ampler.analysis import Analysis
from ampler.core.runs import Runs
from ampler.design.detect import DetectGoal
from ampler.study.detect import DetectOutcome, next_step
from ampler.study.store import read_store
from ampler.testing import SerialExecutor
from detect_simulation import PILOT, SEED, Outcome, Tally, Truth, cost_of, goal_of, oracle
from normal_runs import normal_runs

ROOM = 4  # so many times the instances that are needed are there
WHOLE = 1_000_000  # so far are the keys of whole studies from those of the others


class Difference(AssertionError):
    """A whole study did something else than the pure decision on its values."""


def simulate(truth: Truth, studies: int, *, key: int, instance_cost: float = 0.0) -> Tally:
    """Carry out so many whole studies; the same key gives the same ones."""
    return Tally(truth, [numbered(truth, key, number, instance_cost=instance_cost) for number in range(studies)])


def numbered(truth: Truth, key: int, number: int, *, instance_cost: float = 0.0) -> Outcome:
    """Carry out the study of this number."""
    seed = int(np.random.default_rng([SEED, WHOLE + key, number]).integers(2**31))
    return study(truth, seed, available=_available(truth, instance_cost), instance_cost=instance_cost)


@lru_cache(maxsize=128)
def _available(truth: Truth, instance_cost: float) -> int:
    return ROOM * (PILOT + oracle(truth, goal_of(truth, instance_cost=instance_cost)).instances)


def study(truth: Truth, seed: int, *, available: int, instance_cost: float = 0.0) -> Outcome:
    """Carry out one study with the default settings, and look whether the pure decision agrees."""
    effects = truth.effects(np.random.default_rng(seed), available)
    names = tuple(f"a{place}" for place in range(len(truth.means)))
    asked = am.Study(
        algorithms={name: normal_runs(effects[:, k].tolist(), truth.noise[k]) for k, name in enumerate(names)},
        instances={f"i{place}": place for place in range(available)},
        difference="simple",
        reference=None if truth.reference is None else names[truth.reference],
        detect=1.0,
        instance_cost=instance_cost,
        seed=seed,
        better="lower",
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        analysis = asked.run(path, executor=SerialExecutor())
        order = [instance.name for instance in asked.plan.instances]
        with read_store(path) as store:
            values = _values(store.runs(), order, names)
    goal = goal_of(truth, available=available, instance_cost=instance_cost)
    outcome = _outcome(analysis, values, goal)
    _compare(analysis, outcome, next_step(values, truth.contrasts, goal), goal.alpha)
    return outcome


def _values(runs: Runs, order: list[str], names: tuple[str, ...]) -> list[list[list[float]]]:
    """The recorded runs of each algorithm on each instance, as far as the study got."""
    places = {name: place for place, name in enumerate(order)}
    table: list[list[list[float]]] = [[[] for _ in names] for _ in range(len(runs.instances))]
    row, column = (
        [where[name] for name in of]
        for where, of in ((places, runs.instances), ({name: k for k, name in enumerate(names)}, runs.algorithms))
    )
    for instance, algorithm, value in zip(runs.instance, runs.algorithm, runs.value, strict=True):
        table[row[instance]][column[algorithm]].append(float(value))
    return table


def _outcome(analysis: Analysis, values: list[list[list[float]]], goal: DetectGoal) -> Outcome:
    course = analysis.course
    assert course is not None
    rejected = {(each.first, each.second): each.rejected for each in analysis.comparisons}
    found = np.array([rejected[pair] for pair in analysis.pairs])
    runs = np.array([[len(cell) for cell in row] for row in values], dtype=float).sum(axis=0)
    cost = cost_of(goal, course.planned, runs)
    return Outcome(found, course.planned, int(runs.sum()), sum(course.clear), cost)


def _compare(analysis: Analysis, outcome: Outcome, pure: object, alpha: float) -> None:
    """Complain unless the pure decision is the same, in instances, runs, what was clear and what is claimed."""
    course = analysis.course
    assert course is not None
    if not isinstance(pure, DetectOutcome):
        raise Difference(f"the study ended and the pure decision asks for {pure}")
    plan = pure.decision.plan
    p_holm = {(each.first, each.second): each.p_holm for each in analysis.comparisons}
    adjusted = np.array([p_holm[pair] for pair in analysis.pairs])
    same = (
        tuple(course.clear) == tuple(pure.decision.clear.tolist())
        and (plan is None or (course.planned, tuple(course.runs.values())) == (plan.instances, plan.runs))
        and np.allclose(adjusted, pure.conclusions.adjusted, rtol=1e-9)
        and (outcome.rejected == (pure.conclusions.adjusted <= alpha)).all()
    )
    if not same:
        raise Difference(f"{replace(outcome, runs=0)} was found, and {pure} by the pure decision")
