"""Several measures, ranks and numbers of instances: how often is a statement false at the edge of its hypothesis?

    python benchmarks/bench_measures.py            a few studies of every cell
    python benchmarks/bench_measures.py --write    all; docs/benchmarks/measures.md

Every study goes through `am.analyse_measures`. Lower values are better, margins are 0.5, noise has variance 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import ampler as am
from ampler.analysis.measures import MeasuresAnalysis
from ampler.core.measures import Measure
from kept_results import FOLDER, asked

SEED = 20261119  # fixed before the first look
STUDIES, FEW = 250, 5
INSTANCES, MARGIN, ALPHA, POWER = 20, 0.5, 0.05, 0.8
NAMES = "abcdefghij"


@dataclass(frozen=True)
class Cell:
    """A world: the true means (algorithms in rows, measures in columns), and the noise."""

    edge: str
    truth: Sequence[Sequence[float]]
    correlation: float
    skewed: bool = False


CELLS = [
    Cell("nothing differs", [[0.0] * 2] * 2, -0.5),
    Cell("nothing differs", [[0.0] * 2] * 2, -0.5, skewed=True),
    Cell("nothing differs", [[0.0] * 3] * 5, 0.5),
    Cell("nothing differs", [[0.0] * 2] * 10, 0.9, skewed=True),
    Cell("superior, second measure at the margin", [[0.0, 0.5], [5.0, 0.0]], -0.5),
    Cell("superior, second measure at the margin", [[0.0, 0.5], [5.0, 0.0]], 0.5, skewed=True),
    Cell("superior, second measure at the margin", [[0.0, 0.5], [5.0, 0.0]], 0.9),
    Cell("equal in the primary measure, better in the others", [[0.0] * 3, [0.0, 2.0, 2.0], [0.0, 4.0, 4.0]], -0.4),
    Cell("equal in the primary measure, better in the others", [[0.0] * 4, [0.0, 2.0, 2.0, 2.0]], 0.9, skewed=True),
    Cell("four measures at the margin", [[0.0] * 4, [2.0, -0.5, 0.0, 0.0], [2.0, 0.0, -0.5, 0.0]], 0.9),
    Cell("small trade-offs", [[k / 5, -k / 10] for k in range(10)], 0.5),
]


def noise(rng: np.random.Generator, shape: tuple[int, ...], correlation: float, *, skewed: bool) -> np.ndarray:
    """Return noise of mean 0 and variance 1 with correlated measures; lognormal where it is skewed."""
    matrix = np.full((shape[-1],) * 2, correlation) + (1 - correlation) * np.eye(shape[-1])
    normal = rng.standard_normal(shape) @ np.linalg.cholesky(matrix).T
    return (np.exp(0.5 * normal) - np.exp(0.125)) / math.sqrt((np.exp(0.25) - 1) * np.exp(0.25)) if skewed else normal


def analysed(cell: Cell, seed: Sequence[int], instances: int = INSTANCES) -> MeasuresAnalysis:
    """Return the analysis of a simulated table."""
    truth = np.array(cell.truth)
    rng = np.random.default_rng(seed)
    values = truth + noise(rng, (instances, *truth.shape), cell.correlation, skewed=cell.skewed)
    names = [f"m{m}" for m in range(truth.shape[1])]
    rows = [(f"i{i}", NAMES[k], *values[i, k]) for i in range(instances) for k in range(len(truth))]
    others = [Measure(name, "lower", "simple", role="non-inferior", margin=MARGIN) for name in names[1:]]
    table = pd.DataFrame(rows, columns=["instance", "algorithm", *names])
    return am.analyse_measures(table, [Measure("m0", "lower", "simple", margin=MARGIN), *others])


def errors(cell: Cell, found: MeasuresAnalysis) -> tuple[bool, bool, bool]:
    """Return whether some claim, some standing and some rank set is false."""
    truth, everyone = np.array(cell.truth), range(len(cell.truth))

    def dominates(a: int, b: int) -> bool:
        return bool((truth[a] < truth[b]).any() and (truth[a] - truth[b] < MARGIN).all())

    claims = [(NAMES.index(item.first), NAMES.index(item.second)) for item in found.claims if item.claimed]
    held = [truth[a, 0] < truth[b, 0] and (truth[a, 1:] - truth[b, 1:] < MARGIN).all() for a, b in claims]
    standing = False
    for row in found.front:
        k = NAMES.index(row.algorithm)
        standing |= any(not dominates(NAMES.index(name), k) for name in row.dominated_by)
        standing |= row.standing == "front" and any(dominates(other, k) for other in everyone if other != k)
    primary = truth[:, 0]
    best, worst = 1 + (primary[:, None] > primary).sum(axis=1), len(primary) - (primary[:, None] < primary).sum(axis=1)
    sets = found.analyses["m0"].rank_sets
    missed = any(sets[NAMES[k]][0] > best[k] or sets[NAMES[k]][1] < worst[k] for k in everyone)
    return not all(held), standing, missed


def power_reached(correlation: float, studies: int, *, skewed: bool) -> float:
    """Return how often the claim succeeds with the instances planned from a pilot of 20."""
    cell, found = Cell("power", [[0.0, 0.0], [0.7, 0.0]], correlation, skewed), 0
    for study in range(studies):
        size = analysed(cell, [SEED, 1, study, int(10 * correlation) + 9]).plan(detect=0.7, power=POWER).instances
        found += analysed(cell, [SEED, 2, study, int(10 * correlation) + 9], size).claims[0].claimed
    return found / studies


def exceeded(better: int, studies: int) -> float:
    """Return how often the bound for the number of instances is above the true number."""
    gains, above = np.array([2.0] * better + [0.0] * (12 - better)), 0
    for study in range(studies):
        rng = np.random.default_rng([SEED, 3, study, better])
        rows = [(f"i{i}", name, rng.normal() - gain * (name == "a")) for i, gain in enumerate(gains)
                for name in "ab" for _ in range(5)]  # fmt: skip
        table = pd.DataFrame(rows, columns=["instance", "algorithm", "value"])
        above += am.analyse(table, difference="simple", better="lower").instances_better["a", "b"] > better
    return above / studies


def signed(number: float) -> str:
    """Write a number with a true minus."""
    return f"{number:g}".replace("-", "−")


def page(studies: int) -> str:
    """Return the page of all results."""
    limit = ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / studies)
    lines = [
        "# Several measures: error rates and power", "",
        f"How often is a statement false at the edge of its hypothesis? Each line has {studies} studies with"
        f" {INSTANCES} instances through `am.analyse_measures`, at α = {ALPHA:g}. The limit with three standard errors"
        f" is {limit:.3f}. Noise is normal or lognormal (skewness 1.75), and seeds were fixed beforehand.", "",
        "The columns count studies with a false claim, a false standing on the [Pareto front](../several-measures.md),"
        " or a set that misses a true rank.", "",
        "| truth | algorithms | measures | correlation | noise | claims | standings | ranks |",
        "|---|--:|--:|--:|---|--:|--:|--:|",
    ]  # fmt: skip
    for number, cell in enumerate(CELLS):
        wrong = [errors(cell, analysed(cell, [SEED, 0, number, study])) for study in range(studies)]
        shape = np.shape(cell.truth)
        cells = [cell.edge, *map(str, shape), signed(cell.correlation), "lognormal" if cell.skewed else "normal"]
        lines.append(f"| {' | '.join([*cells, *(f'{share:.3f}' for share in np.mean(wrong, axis=0))])} |")
    fewer = max(1, studies // 2)
    promise = POWER - 3 * math.sqrt(POWER * (1 - POWER) / fewer)
    lines += ["", "## Power of the planned size", "",
              f"`plan(detect=0.7)` promises power {POWER:g} from a pilot of {INSTANCES} instances. The share of {fewer}"
              f" studies whose claim succeeded; the limit is {promise:.3f}.", "",
              "| correlation | noise | power |", "|--:|---|--:|"]  # fmt: skip
    for correlation, skewed in ((-0.5, False), (0.5, True), (0.9, False)):
        reached = power_reached(correlation, fewer, skewed=skewed)
        lines.append(f"| {signed(correlation)} | {'lognormal' if skewed else 'normal'} | {reached:.3f} |")
    lines += ["", "## On how many instances", "",
              "The share of studies whose lower bound exceeds the true number of 12 instances with 5 runs each.", "",
              "| truly better on | bound too large |", "|--:|--:|"]  # fmt: skip
    lines += [f"| {better} | {exceeded(better, studies):.3f} |" for better in (0, 5)]
    return "\n".join([*lines, "", "Repeat with `python benchmarks/bench_measures.py --write`.", ""])


if __name__ == "__main__":
    options = asked(__doc__)
    text = page(STUDIES if options.write else FEW)
    if options.write:
        (FOLDER / "measures.md").write_text(text, encoding="utf-8")
    print(text)
