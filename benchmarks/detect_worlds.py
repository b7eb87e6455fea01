"""Studies that find their own size where differences are not normal, and on public tables taken as populations.

The page of `detect_page` shows the counts. Nothing differs in one half of the studies of a world, all in the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple, get_args

import numpy as np

import detect_studies
from ampler.design.detect import needed_instances
from ampler.design.detect_words import carried_sentence
from ampler.stats.contrasts import contrasts_among
from ampler.stats.shape import largest_shares
from ampler.study.detect import conclude, decide_after_pilot
from bench_populations import Population, population
from detect_simulation import SEED, Floats, Tally, Truth, World, equal, goal_of, simulate

AVAILABLE, SPREAD, NOISE = 40, 1.5, 0.3
STUDIES = {1: 2000, 5: 1000}
WHOLE = 100
ENDS = (("t", "t", "t"), ("growth", "growth", "t"), ("bootstrap-t", "t", "bootstrap-t"))  # name, plan and test, end
NAMED = (  # tables, the kind of difference
    ("CEC'17, 30 dimensions", "simple"),
    ("CEC'17, 30 dimensions", "ratio"),
    ("CEC'17, all dimensions", "simple"),
    ("CEC'17, all dimensions", "ratio"),
    ("IOH, discrete", "simple"),
    ("CSP-2010, PAR10", "simple"),
    ("CPMP-2015, PAR10", "ratio"),
    ("paper, experiment 1", "ratio"),
    ("Benavoli 2017, accuracy", "simple"),
)
FACTORS = (5.0,)  # σ/δ
PAIRS, OF_A_TABLE = 6, 120
MOST = 20_000  # instances


class Counted(NamedTuple):
    """The studies of one world with one final test."""

    name: str
    spread: float  # τ/δ
    noise: float
    null: Tally
    real: Tally


def truth_of(world: World, rivals: int, shift: float) -> Truth:
    """A quiet reference, and rivals that differ from it by `shift`."""
    size = rivals + 1
    return Truth((0.0, *(shift,) * rivals), (0.0, *(SPREAD,) * rivals), (NOISE * SPREAD,) * size, 0, world)


def counted(key: int) -> Iterator[Counted]:
    """Simulate every world with every final test, the same studies for each; then whole studies."""
    for place, world in enumerate(get_args(World)):
        for rivals, studies in STUDIES.items():
            for name, test, end in ENDS:
                number = studies if end == "t" else studies // 3
                null, real = (
                    simulate(
                        truth, number // (1 + shift), key=key + 20 * place + 2 * rivals + shift,
                        goal=goal_of(truth, available=AVAILABLE, final_test=test), end=end,
                    )
                    for shift in (0, 1)
                    for truth in (truth_of(world, rivals, float(shift)),)
                )  # fmt: skip
                yield Counted(f"{rivals}, {world}, {name}", SPREAD, NOISE, null, real)
        yield Counted(f"1, {world}, whole", SPREAD, NOISE, *(_whole(world, shift) for shift in (0, 1)))


def _whole(world: World, shift: int) -> Tally:
    """Whole studies through the public door."""
    truth = truth_of(world, 1, float(shift))
    seeds = np.random.default_rng([SEED, shift, len(world)]).integers(2**31, size=WHOLE)
    return Tally(truth, [detect_studies.study(truth, int(seed), available=AVAILABLE) for seed in seeds])


# tables -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableRow:
    """Studies of the pairs of one table."""

    name: str
    spread: float  # σ/δ
    studies: int
    power: float
    power_error: float
    instances: float
    best_instances: int
    warned: float


def of_tables() -> Iterator[TableRow]:
    """Plan and test studies of pairs of each table."""
    for table, kind in NAMED:
        for factor in FACTORS:
            for name, test in (("t", "t"), ("growth", "growth")):
                yield _of_table(table, kind, factor, name, test)


def _of_table(table: str, kind: str, factor: float, name: str, test: str) -> TableRow:
    source = population(table)
    rng = np.random.default_rng([SEED, *f"{table}/{kind}/{factor}".encode()])
    pairs = [(i, j) for j in range(source.means.shape[1]) for i in range(j)]
    chosen = [pairs[k] for k in rng.permutation(len(pairs))[:PAIRS]]
    done = [
        each
        for pair in chosen
        for number in range(OF_A_TABLE // len(chosen))
        if (each := _study(source, pair, kind, factor, test, np.random.default_rng([SEED, *pair, number]))) is not None
    ]
    found, sizes, best, warned = np.array(done).T
    error = sqrt(max(found.mean() * (1 - found.mean()), 0.01) / len(found))
    return TableRow(
        f"{table}, {kind}, {name}",
        factor,
        len(found),
        found.mean(),
        error,
        sizes.mean(),
        round(best.mean()),
        warned.mean(),
    )


def _study(
    source: Population, pair: tuple[int, int], kind: str, factor: float, test: str, rng: np.random.Generator
) -> tuple[float, ...] | None:
    """Whether a difference of δ is found, with how many instances, and how many one who knows σ plans."""
    means = source.means[:, list(pair)]
    values = np.log(means) if kind == "ratio" else means
    spread = float((values[:, 0] - values[:, 1]).std())
    if not spread > 0:
        return None
    delta = spread / factor
    move = float((values[:, 0] - values[:, 1]).mean()) - delta  # of the second, so that the first is δ larger
    contrasts = contrasts_among(2, difference=kind, reference=0)  # type: ignore[arg-type]
    goal = goal_of(equal(1, 1.0, 1.0), detect=delta, available=MOST, final_test=test)
    places = rng.integers(len(means), size=MOST)

    def cells(rows: Floats, runs: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Means and variances of runs that are drawn from those recorded."""
        drawn = [[rng.choice(source.runs[i][k], number) for k, number in zip(pair, runs, strict=True)] for i in rows]
        theta = np.array([[each.mean() for each in row] for row in drawn])
        variances = np.array([[each.var(ddof=1) for each in row] for row in drawn])
        factors = np.array([1.0, np.exp(move)]) if kind == "ratio" else np.ones(2)
        return theta * factors + (np.array([0.0, move]) if kind == "simple" else 0.0), variances * factors**2

    theta, variances = cells(places[: goal.pilot], (goal.start,) * 2)
    decision = decide_after_pilot(theta, variances, contrasts, goal)
    phi = contrasts.differences(theta)
    warned = carried_sentence([("a", "b")], largest_shares(phi).tolist(), [goal.pilot], "ratio") is not None
    best = needed_instances(goal_of(equal(1, 1.0, 1.0), detect=delta, fresh=True), np.array([spread**2]))
    if decision.plan is None:
        return 1.0, float(goal.pilot), float(best), float(warned)
    runs, size = decision.plan.runs, decision.plan.instances
    rest = cells(places[goal.pilot : size], runs)[0] if size > goal.pilot else theta[:0]
    again = theta if runs == (goal.start,) * 2 else cells(places[: goal.pilot], runs)[0]
    found = conclude(np.vstack([again, rest]), decision, contrasts, goal).adjusted[0] <= goal.alpha
    return float(found), float(size), float(best), float(warned)
