"""What the default guard promises of rates: pairs truly within se, in small; the whole table is slow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import pytest

import ampler as am
from ampler.core.plan import Stop
from ampler.sampling.rules import sample

# How often pairs of rates are truly known to within se when the rule stops: outcomes drawn with known rates.
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
    drawn = sample(rule, lambda name, _: float(rng.random() < chance[name]), names)
    return drawn.samples.counts.tolist()


def _optimum(variances: np.ndarray, se: float) -> float:
    """The runs of one who knows the rates, and has the first runs as well."""
    from ampler.sampling.allocation import optimal_counts, pairs_of
    from ampler.stats.contrasts import contrasts_among

    pairs = pairs_of(contrasts_among(len(variances), difference="simple"), variances, np.zeros(len(variances)))
    return float(optimal_counts(pairs, se, np.full(len(variances), float(START))).sum())


def _error(shares: np.ndarray) -> float:
    return float(shares.std() / np.sqrt(len(shares)))


SPREAD = {2: (0.02, 0.5), 5: (0.02, 0.1, 0.5, 0.9, 0.98)}  # rates as different as can be
RATES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
ACCURACIES = (0.1, 0.05, 0.03)


@pytest.mark.parametrize(("algorithms", "rate", "se"), [(2, 0.02, 0.05), (2, 0.1, 0.08), (2, 0.8, 0.1), (5, 0.5, 0.1)])
def test_pairs_of_rates_are_within_se(algorithms, rate, se):
    found = kept((rate,) * algorithms, se, 60)
    assert found.pairs + 2 * found.errors[0] >= 0.95
    assert found.runs < (2.0 if 0.1 <= rate <= 0.9 else 4.0)


def test_plain_means_of_rare_outcomes_are_not():
    found = kept((0.1, 0.1), 0.08, 60, statistic="mean")
    assert found.pairs + 2 * found.errors[0] < 0.95


def test_ten_equal_outcomes_do_not_end_an_instance_that_must_be_known_well():
    rule = am.Accuracy(se=0.05, difference="simple", statistic="rate")
    ten = {"a": [1.0] * 10, "b": [1.0] * 10}
    assert rule(ten).total > 0
    assert am.Accuracy(se=0.05, difference="simple")(ten) == Stop("all constant")
    assert sum(rule.predict(ten).values()) > 0
    assert rule({"a": [1.0] * 200, "b": [1.0] * 200}) == Stop("accuracy reached")


@pytest.mark.slow
@pytest.mark.parametrize("algorithms", [2, 5])
@pytest.mark.parametrize("se", ACCURACIES)
@pytest.mark.parametrize("rate", [*RATES, None])
def test_pairs_of_all_rates_are_within_se(algorithms, se, rate):
    rates = SPREAD[algorithms] if rate is None else (rate,) * algorithms
    found = kept(rates, se, 150 if algorithms == 2 else 40)
    assert found.pairs + 2 * found.errors[0] >= 0.95
    assert found.hard + 2 * found.errors[1] >= 0.95
