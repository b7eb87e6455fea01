"""What the guard promises, on simulated instances whose truth is known: the pairs that need more than the first runs.

The batched simulation is that of the benchmarks; seeds are those of its streams, fixed by distribution and size. Limits
of what is not reached are there too: a page that says so must not become false unnoticed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from ampler.sampling.rules import Accuracy
from resampled_experiment import hard_pairs
from sampling_simulation import Cell, Rule, simulate, streams_for, tabulated_chi_square

SECOND, FIRST = Rule(edition=2), Rule(edition=1)


def hard_within(statistic, algorithms, distribution, replications, *, rule=SECOND, pattern="equal", reference=False):
    """The share of the hard pairs truly within se, its standard error, and the runs over the optimum."""
    cell = Cell("simple", reference, algorithms, pattern, distribution, 5.0, statistic)
    with tabulated_chi_square():
        outcome = simulate(cell, rule, streams_for(cell, replications))
    shares = outcome.hard_within
    return shares.mean(), shares.std() / np.sqrt(replications), outcome.runs.mean()


@pytest.mark.parametrize(("algorithms", "most"), [(2, 1.45), (5, 1.35)])
@pytest.mark.parametrize("distribution", ["normal", "discrete"])
def test_hard_pairs_of_means_are_within_se(algorithms, distribution, most):
    share, error, runs = hard_within("mean", algorithms, distribution, 200)
    assert share + 2 * error >= 0.95
    assert runs <= most


def test_the_first_edition_did_not_know_how_little_a_median_says_of_its_variance():
    first, error, _ = hard_within("median", 2, "normal", 60, rule=FIRST)
    second, _, runs = hard_within("median", 2, "normal", 60)
    assert first + 2 * error < 0.95 <= second
    assert runs <= 2.6


def test_what_is_not_reached_is_skewed():
    share, error, _ = hard_within("mean", 2, "lognormal", 200)
    assert 0.5 < share < 0.95 - 2 * error


@pytest.mark.slow
@pytest.mark.parametrize("algorithms", [2, 5, 22])
@pytest.mark.parametrize(("reference", "pattern"), [(True, "linear"), (True, "noisy reference"), (False, "one 10×")])
def test_hard_pairs_are_within_se_where_one_bound_alone_decides(algorithms, reference, pattern):
    share, error, _ = hard_within("mean", algorithms, "normal", 400, reference=reference, pattern=pattern)
    assert share + 2 * error >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "distribution", "least"),
    [
        ("mean", "exponential", 0.90),
        ("mean", "lognormal", 0.60),
        ("mean", "bernoulli", 0.60),
        ("median", "normal", 0.95),
        ("median", "exponential", 0.95),
        ("median", "lognormal", 0.94),
        ("quantile:0.9", "normal", 0.95),
        ("quantile:0.9", "exponential", 0.93),
        ("quantile:0.9", "lognormal", 0.87),
        ("trimmed-mean", "normal", 0.95),
        ("trimmed-mean", "exponential", 0.92),
        ("trimmed-mean", "lognormal", 0.88),
    ],
)
def test_two_algorithms_by_statistic_and_distribution(statistic, distribution, least):
    share, error, _ = hard_within(statistic, 2, distribution, 400)
    assert share + 2 * error >= least


@pytest.fixture(scope="module")
def published(public_data):
    """The runs of the paper's first experiment: a population to draw from."""
    import pandas as pd

    runs = pd.read_csv(public_data / "paper_experiment1_runs.csv").groupby("Instance")
    return {
        name: {algorithm: values.to_numpy(float) for algorithm, values in rows.groupby("Algorithm")["Observation"]}
        for name, rows in runs
    }


def on_published_runs(published, replications, **how):
    rule = Accuracy(se=0.05, difference="percent", reference="Full", budget=1100, **how)
    return hard_pairs(published, rule, replications=replications, seed=57)


def test_hard_pairs_of_the_papers_experiment_are_mostly_within_se(published):
    second = on_published_runs(published, 1)
    assert 0.87 <= second.share <= 0.95  # the page says that 95 % is not reached
    assert second.share > on_published_runs(published, 1, guard="none").share + 0.2


@pytest.mark.slow
def test_the_second_edition_keeps_more_of_them_for_a_few_runs_more(published):
    first, second, all_of_them = (
        on_published_runs(published, 10, **how)
        for how in ({"guard_edition": 1}, {"guard_edition": 2}, {"guard": "all"})
    )
    assert second.share > first.share + 2 * first.error
    assert second.share + 2 * second.error >= 0.90
    assert second.runs <= 1.08 * first.runs
    assert all_of_them.share >= 0.97
