"""Studies with looks on simulated differences: how often they err, what they find, what they take beside a fixed size.

The decisions are those of the product: the replay of looks that the study rule of `Study(looks=4)` and the analysis
share. `by_the_rule` asks that rule look by look, and `whole_studies` makes the runs, too, by the default rule of
sampling. Run it to write the table of docs/looks.md.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ampler import Study, analyse
from ampler.analysis.looked import Replay
from ampler.core.contracts import FinishedGroup
from ampler.core.runs import Runs
from ampler.core.values import Continue, EndStudy, Plan
from ampler.running import run_plan
from ampler.sampling.rules import Fixed
from ampler.stats.contrasts import contrasts_of
from ampler.study.looks_rule import Looking
from ampler.study.stopping import decided
from ampler.testing import MemoryStore, SerialExecutor

Floats = NDArray[np.float64]

SEED = 20261116  # fixed before the first look
EFFECT = 0.5
WORDS = {
    "half": "all at half the effect",
    "all": "all at the effect",
    "double": "all at twice the effect",
    "half null": "half nothing, half at the effect",
    "one null": "one nothing, the others at twice the effect",
    "thirds": "a third each: nothing, the effect, twice the effect",
    "one off": "one algorithm off by the effect",
    "one far off": "one algorithm off by twice the effect",
    "ladder": "a ladder in steps of the effect",
}
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


# values alone


@cache
def plan_of(algorithms: int, *, reference: bool) -> Plan:
    """The plan of a study of one deterministic value in each cell."""
    names = [f"a{k}" for k in range(algorithms)]
    study = Study(
        algorithms=dict.fromkeys(names, lambda instance, seed: 0.0),
        instances=[f"i{n}" for n in range(100)],
        difference="simple",
        reference=names[0] if reference else None,
        effect=EFFECT,
        rule=Fixed(runs=1),
        looks=4,
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
    groups = rule.groups(plan)
    course = rule.course(plan.question, len(plan.instances), groups, [names] * len(groups))
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


# whole studies


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
        effect=EFFECT,
        se=0.5,
        start=4,
        looks=4,
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


# the table of the page


def table(studies: int) -> Iterator[str]:
    """Yield the table of the documentation."""
    yield "| compared | what is there | error | power | instances, of those of a fixed size | runs |"
    yield "|---|---|---|---|---|---|"
    families = [(f"{k} with one", against_one(k), k) for k in (1, 7, 21)] + [("7, all with all", all_with_all(), 22)]
    for compared, cases, key in families:
        for place, case in enumerate(cases.values()):
            number = studies * {1: 5, 7: 2}.get(key, 1)
            yield _row(compared, simulate(case, number, 100 * key + place))


def _row(compared: str, tally: Tally) -> str:
    error = (
        "" if all(tally.case.shifts[1:]) and tally.case.reference else f"{tally.error[0]:.3f} ± {tally.error[1]:.3f}"
    )
    power = "" if np.isnan(tally.power).all() else f"{np.nanmean(tally.power):.2f}"
    sizes = [f"{mean:.2f} ± {spread:.2f}" for mean, spread in (tally.mean("instances"), tally.mean("runs"))]
    return (
        f"| {compared} | {WORDS.get(tally.case.name, tally.case.name)} | {error} | {power} | {sizes[0]} | {sizes[1]} |"
    )


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 500):
        print(line, flush=True)
