"""How often pairs of rates are truly known to within se when the rule stops: outcomes drawn with known rates.

`python benchmarks/rates_simulation.py` prints the table of the documentation (some minutes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

import ampler as am

SEED = 20261115  # fixed before the first look
START = 10
NO_END = 10**6  # a budget: what is measured is the promise, not what a lack of runs does to it


@dataclass(frozen=True, slots=True)
class Kept:
    """How the promise was kept: shares of pairs, of those that need more than the first runs, and of whole instances.

    `errors` are the standard errors of the first two; `runs` are in all, over those of one who knows the rates.
    """

    pairs: float
    hard: float
    all_pairs: float
    runs: float
    errors: tuple[float, float]


def kept(
    rates: Sequence[float],
    se: float,
    replications: int,
    *,
    guard: Literal["none", "pairs", "all"] = "pairs",
    statistic: str = "rate",
) -> Kept:
    """Sample instances on which the algorithms have these rates, and compare each pair's true error with se."""
    rng = np.random.default_rng([SEED, len(rates), round(1e4 * se), *(round(1e4 * rate) for rate in rates)])
    rule = am.Accuracy(se=se, difference="simple", statistic=statistic, start=START, guard=guard, budget=NO_END)
    variances = np.array([rate * (1 - rate) for rate in rates])
    first, second = np.array(list(combinations(range(len(rates)), 2))).T
    counts = np.array([_counts(rule, rates, rng) for _ in range(replications)])
    within = np.sqrt((variances / counts)[:, first] + (variances / counts)[:, second]) <= se * (1 + 1e-9)
    hard = (variances[first] + variances[second]) / START > se**2
    of_hard = within[:, hard].mean(axis=1) if hard.any() else np.ones(replications)
    return Kept(
        pairs=within.mean(),
        hard=of_hard.mean(),
        all_pairs=within.all(axis=1).mean(),
        runs=counts.sum(axis=1).mean() / _optimum(variances, se),
        errors=(_error(within.mean(axis=1)), _error(of_hard)),
    )


def _counts(rule: am.Accuracy, rates: Sequence[float], rng: np.random.Generator) -> list[int]:
    names = [f"a{place}" for place in range(len(rates))]
    chance = dict(zip(names, rates, strict=True))
    drawn = am.sample(rule, lambda name, _: float(rng.random() < chance[name]), names)
    return drawn.samples.counts.tolist()


def _optimum(variances: np.ndarray, se: float) -> float:
    """The runs of one who knows the rates, and has the first runs as well."""
    from ampler.sampling.optimum import optimal_counts
    from ampler.sampling.pair_errors import pairs_of
    from ampler.stats.contrasts import contrasts_among

    pairs = pairs_of(contrasts_among(len(variances), difference="simple"), variances, np.zeros(len(variances)))
    return float(optimal_counts(pairs, se, np.full(len(variances), float(START))).sum())


def _error(shares: np.ndarray) -> float:
    return float(shares.std() / np.sqrt(len(shares)))


SPREAD = {2: (0.02, 0.5), 5: (0.02, 0.1, 0.5, 0.9, 0.98)}  # rates as different as can be
RATES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
ACCURACIES = (0.1, 0.05, 0.03)


def main() -> None:
    """Print the table."""
    print("| algorithms | rate | " + " | ".join(f"se = {se:g}" for se in ACCURACIES) + " |")
    print("|---|---|" + "---|" * len(ACCURACIES))
    for algorithms, replications in ((2, 300), (5, 100)):
        for rate in (*RATES, None):
            rates = SPREAD[algorithms] if rate is None else (rate,) * algorithms
            cells = [_cell(kept(rates, se, replications)) for se in ACCURACIES]
            print(f"| {algorithms} | {rate or ' '.join(map(str, rates))} | {' | '.join(cells)} |", flush=True)


def _cell(found: Kept) -> str:
    return f"{100 * found.pairs:.1f} ± {100 * found.errors[0]:.1f} % ({found.runs:.2f})"


if __name__ == "__main__":
    main()
