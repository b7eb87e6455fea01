"""Whole studies with looks, simulated: how often they err, what they find, what they take.

The simulations are those of the benchmark, whose seeds were fixed before the first look; a small part of them is tried
each time, the whole of it by `make test-slow`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from ampler import FixedSize, Precision, Study, analyse
from ampler.analysis.interim import Replay
from ampler.core.arrays import Runs
from ampler.core.contracts import FinishedGroup
from ampler.core.plan import Continue, EndStudy, Plan
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.stats.contrasts import contrasts_of
from ampler.study.interim import Looking
from ampler.study.stopping import decided
from ampler.testing import MemoryStore, SerialExecutor

# Studies with looks on simulated differences: how often they err, what they find, what they take beside a fixed size.
Floats = NDArray[np.float64]
SEED = 20261116  # fixed before the first look
EFFECT = 0.5
FIXED = {1: 34, 7: 47, 21: 57}  # instances without looks, by the number of comparisons


@dataclass(frozen=True)
class Case:
    """How far each algorithm lies from the first, in units of the effect; without a reference all are compared."""

    name: str
    shifts: tuple[float, ...]
    reference: bool = True

    @property
    def comparisons(self) -> int:
        others = len(self.shifts) - 1
        return others if self.reference else others * (others + 1) // 2


@dataclass(frozen=True)
class Tally:
    """What so many studies gave: a row each of whether they erred, their power (NaN: nothing to find), and size."""

    case: Case
    erred: Floats
    power: Floats
    instances: Floats  # over those of the fixed size
    runs: Floats  # algorithms times instances, over those of the fixed size

    def mean(self, what: str) -> tuple[float, float]:
        """Return the mean and its standard error."""
        values: Floats = getattr(self, what)
        return float(values.mean()), float(values.std(ddof=1) / sqrt(len(values)))

    @property
    def error(self) -> tuple[float, float]:
        """Return how often studies erred, with the standard error that the level would have."""
        return float(self.erred.mean()), sqrt(0.05 * 0.95 / len(self.erred))


@dataclass(frozen=True)
class Outcome:
    """One study: its verdicts, its instances, and its runs (algorithms times instances)."""

    pairs: Sequence[tuple[str, str]]
    verdicts: Sequence[str]
    instances: int
    runs: int

    @classmethod
    def of(cls, end: EndStudy, asked: Sequence[Continue]) -> Outcome:
        pairs = [(first, second) for first, second in end.details["pairs"]]
        runs = sum(len(each.instances) * len(each.algorithms) for each in asked)
        return cls(pairs, end.details["verdicts"], sum(len(each.instances) for each in asked), runs)


def rivals(name: str, *shifts: float) -> Case:
    return Case(name, (0.0, *shifts))


def against_one(comparisons: int) -> dict[str, Case]:
    """The configurations of all with one: what is there, in units of the effect."""
    k = comparisons
    thirds = [0.0, 1.0, 2.0]
    cases = [
        rivals("nothing", *[0.0] * k),
        rivals("half", *[0.5] * k),
        rivals("all", *[1.0] * k),
        rivals("double", *[2.0] * k),
    ]
    if k > 1:
        cases += [
            rivals("half null", *[0.0] * (k - k // 2), *[1.0] * (k // 2)),
            rivals("one null", 0.0, *[2.0] * (k - 1)),
            rivals("thirds", *[thirds[place % 3] for place in range(k)]),
        ]
    return {case.name: case for case in cases}


def all_with_all(algorithms: int = 7) -> dict[str, Case]:
    """The configurations of all with all."""
    a = algorithms
    cases = [
        Case("nothing", (0.0,) * a, reference=False),
        Case("one off", (*[0.0] * (a - 1), 1.0), reference=False),
        Case("one far off", (*[0.0] * (a - 1), 2.0), reference=False),
        Case("ladder", tuple(float(place) for place in range(a)), reference=False),
    ]
    return {case.name: case for case in cases}


@cache
def plan_of(algorithms: int, *, reference: bool) -> Plan:
    """The plan of a study of one deterministic value in each cell."""
    names = [f"a{k}" for k in range(algorithms)]
    study = Study(
        algorithms=dict.fromkeys(names, lambda instance, seed: 0.0),
        instances=[f"i{n}" for n in range(100)],
        difference="simple",
        reference=names[0] if reference else None,
        design=FixedSize(effect=EFFECT, runs=Fixed(runs=1), interim=4, instances="needed"),
        seed=1,
        better="lower",
    )
    plan = study.plan
    return replace(plan, algorithms=tuple(replace(each, deterministic=True) for each in plan.algorithms))


def simulate(case: Case, studies: int, key: int) -> Tally:
    """Have so many studies decided, by the replay of looks that the study rule and the analysis share."""
    plan = plan_of(len(case.shifts), reference=case.reference)
    rng = np.random.default_rng([SEED, key])
    return _tally(case, [_replayed(plan, case, rng) for _ in range(studies)])


def by_the_rule(case: Case, studies: int, key: int) -> Tally:
    """The same studies, with the study rule asked look by look, which sees only what it asked for."""
    plan = plan_of(len(case.shifts), reference=case.reference)
    rng = np.random.default_rng([SEED, key])
    return _tally(case, [_decided(plan, case, rng) for _ in range(studies)])


def _replayed(plan: Plan, case: Case, rng: np.random.Generator) -> Outcome:
    values = _values(plan, case, rng)
    names = [algorithm.name for algorithm in plan.algorithms]
    contrasts = contrasts_of(
        names, difference="simple", reference=names[0] if case.reference else None, formula="delta"
    )
    pairs = tuple((names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True))
    rule: Looking = plan.study_rule
    asked = [Continue(tuple(names), tuple(group)) for group in rule.groups(plan)]
    course = rule.interim_plan(plan.question, len(plan.instances), asked)
    differences = contrasts.differences(values)
    replay = Replay(course, pairs, tuple(differences[:count] for count in course.looks))
    ended = _ended(replay.history)
    last = {name: max(end for pair, end in zip(pairs, ended, strict=True) if name in pair) for name in names}
    runs = sum(course.looks[end] for end in last.values())
    return Outcome(pairs, replay.history[-1], course.looks[max(ended)], runs)


def _ended(history: Sequence[Sequence[str]]) -> list[int]:
    """The look, from 0, at which each comparison stopped."""
    last = len(history) - 1
    return [
        next((look for look, verdict in enumerate(each) if verdict != "continue"), last)
        for each in zip(*history, strict=True)
    ]


def _values(plan: Plan, case: Case, rng: np.random.Generator) -> Floats:
    """Differences between two algorithms have a standard deviation of 1."""
    return rng.normal(size=(len(plan.instances), len(case.shifts))) / sqrt(2) + EFFECT * np.array(case.shifts)


def _decided(plan: Plan, case: Case, rng: np.random.Generator) -> Outcome:
    values = _values(plan, case, rng)
    rows = {instance.name: place for place, instance in enumerate(plan.instances)}
    columns = {algorithm.name: place for place, algorithm in enumerate(plan.algorithms)}
    groups: list[FinishedGroup] = []
    while isinstance(asked := decided(plan, groups), Continue):
        groups.append(FinishedGroup(asked, (), _Given(asked, values, rows, columns)))
    return Outcome.of(asked, [group.asked for group in groups])


@dataclass(frozen=True)
class _Given:
    """The runs that were asked for, when they are looked at."""

    asked: Continue
    values: Floats
    rows: dict[str, int]
    columns: dict[str, int]

    def __call__(self) -> Runs:
        rows, columns = (
            [self.rows[name] for name in self.asked.instances],
            [self.columns[a] for a in self.asked.algorithms],
        )
        here = np.repeat(np.arange(len(rows)), len(columns))
        who = np.tile(np.arange(len(columns)), len(rows))
        chosen = self.values[np.ix_(rows, columns)].ravel()
        return Runs(self.asked.instances, self.asked.algorithms, here, who, chosen, np.zeros(len(here), np.uint8))


def _tally(case: Case, found: Sequence[Outcome]) -> Tally:
    places = {f"a{k}": shift for k, shift in enumerate(case.shifts)}
    fixed = FIXED[case.comparisons]
    erred, power = [], []
    for each in found:
        told = [
            (places[first] != places[second], verdict == "different")
            for (first, second), verdict in zip(each.pairs, each.verdicts, strict=True)
        ]
        erred.append(any(claimed and not real for real, claimed in told))
        real = [claimed for is_real, claimed in told if is_real]
        power.append(np.mean(real) if real else np.nan)
    return Tally(
        case,
        np.array(erred, dtype=float),
        np.array(power, dtype=float),
        np.array([each.instances for each in found]) / fixed,
        np.array([each.runs for each in found]) / (fixed * len(case.shifts)),
    )


def whole_studies(studies: int, key: int, *, comparisons: int = 1) -> Tally:
    """Carry out studies of equal algorithms, run by run, sampled by the default rule, and analyse them."""
    case = rivals("nothing", *[0.0] * comparisons)
    return _tally(case, [_carried_out(len(case.shifts), f"{SEED}/{key}/{number}") for number in range(studies)])


def _carried_out(algorithms: int, world: str) -> Outcome:
    names = [f"a{k}" for k in range(algorithms)]
    study = Study(
        algorithms={name: _Solver(name, world) for name in names},
        instances=[f"i{n}" for n in range(60)],
        difference="simple",
        reference=names[0],
        design=Precision(effect=EFFECT, se=0.5, start=4, interim=4, instances="needed"),
        better="lower",
    )
    store = MemoryStore()
    run_plan(study.plan, store, executor=SerialExecutor())
    end = store.decisions()[-1].decision
    assert isinstance(end, EndStudy)
    assert list(analyse(store).looks.history[-1]) == end.details["verdicts"]
    asked = [each.decision for each in store.decisions() if isinstance(each.decision, Continue)]
    return Outcome.of(end, asked)


@dataclass(frozen=True)
class _Solver:
    """An algorithm whose value varies from instance to instance, and from run to run."""

    name: str
    world: str

    def __call__(self, instance: str, seed: int) -> float:
        own = random.Random(f"{self.world}/{instance}/{self.name}").gauss(0, 1)
        return 10 + own + random.Random(f"{self.world}/{seed}").gauss(0, 1)


ALPHA, ASKED = 0.05, 0.8

SPECIFIED = {  # instances and runs over those of a fixed size, from a simulation of its own
    (21, "nothing"): (0.98, 0.74),
    (21, "half"): (1.01, 0.88),
    (21, "all"): (0.96, 0.88),
    (21, "double"): (0.61, 0.58),
    (21, "thirds"): (1.01, 0.75),
    (1, "nothing"): (0.90, None),
    (1, "half"): (0.93, None),
    (1, "all"): (0.84, None),
    (1, "double"): (0.56, None),
}

ROUNDING = 0.005  # of those figures

EVERY_NULL = [
    *((k, name) for k in (1, 7, 21) for name, case in against_one(k).items() if 0.0 in case.shifts[1:]),
    *(("all", name) for name in all_with_all() if name != "ladder"),
]

FEW = {(1, "nothing"): 200, (7, "half null"): 40, (21, "one null"): 20, ("all", "one far off"): 15}


def case_of(family, name):
    return (all_with_all() if family == "all" else against_one(family))[name]


def key_of(family, name):
    names = list(all_with_all() if family == "all" else against_one(family))
    return 100 * (22 if family == "all" else family) + names.index(name)


@cache
def simulated(family, name, studies):
    return simulate(case_of(family, name), studies, key_of(family, name))


def holds_its_level(tally):
    rate, error = tally.error
    return rate <= ALPHA + 3 * error


@pytest.mark.parametrize(("family", "name"), FEW)
def test_no_difference_is_claimed_that_is_not_there_more_often_than_the_level(family, name):
    assert holds_its_level(simulated(family, name, FEW[family, name]))


@pytest.mark.slow
@pytest.mark.parametrize(("family", "name"), EVERY_NULL)
def test_every_configuration_keeps_its_level(family, name):
    studies = {1: 5000, 7: 2000}.get(family, 1000)
    assert holds_its_level(simulated(family, name, studies))


@pytest.mark.parametrize("studies", [200, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "family", [1, pytest.param(7, marks=pytest.mark.slow), pytest.param(21, marks=pytest.mark.slow)]
)
def test_the_power_is_at_most_a_hundredth_below_the_plan(family, studies):
    tally = simulated(family, "all", studies // max(1, family // 3))
    power, spread = tally.mean("power")
    assert power >= ASKED - 0.01 - 3 * spread


@pytest.mark.parametrize(
    ("family", "name", "share"),
    [
        *((family, name, 0.04) for family, name in SPECIFIED if family == 1 or name in ("nothing", "thirds")),
        *(pytest.param(family, name, 1.0, marks=pytest.mark.slow) for family, name in SPECIFIED),
    ],
)
def test_instances_and_runs_are_those_of_the_specification(family, name, share):
    tally = simulated(family, name, int(share * {1: 5000}.get(family, 1000)))
    for what, expected in zip(("instances", "runs"), SPECIFIED[family, name], strict=True):
        if expected is not None:
            mean, spread = tally.mean(what)
            assert abs(mean - expected) <= ROUNDING + 3 * spread


@pytest.mark.parametrize("family", [7, "all"])
def test_the_rule_that_sees_only_what_it_asked_for_decides_the_same(family):
    case = case_of(family, "thirds" if family == 7 else "one far off")
    alone, asked = simulate(case, 4, 9), by_the_rule(case, 4, 9)
    for what in ("erred", "power", "instances", "runs"):
        np.testing.assert_array_equal(getattr(alone, what), getattr(asked, what))


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("studies", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_studies_whose_runs_are_sampled_by_the_default_rule_keep_the_level(studies):
    """Run by run, decided and analysed; each holds its decisions against its analysis."""
    tally = whole_studies(studies, key=5)
    assert len(tally.erred) == studies
    assert tally.erred.mean() <= ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / studies)
