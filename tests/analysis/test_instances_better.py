"""Lower bounds for the number of instances on which an algorithm is better. Fixed seeds."""

import numpy as np
import pandas as pd
import pytest
from tests.helpers.simulated_claims import limit

import ampler as am
from ampler.core.errors import InvalidData
from ampler.stats.holm import least_number


def repeated(gains, seed, runs=5):
    rng = np.random.default_rng(seed)
    rows = [
        (f"i{i}", name, 10 * i - gain * (name == "new") + rng.normal())
        for i, gain in enumerate(gains)
        for name in ("old", "new")
        for _ in range(runs)
    ]
    return pd.DataFrame(rows, columns=["instance", "algorithm", "value"])


def bounds(gains, seed, **settings):
    return am.analyse(repeated(gains, seed), difference="simple", better="lower", **settings).instances_better


def test_clear_gains_are_counted_and_losses_are_not():
    found = bounds([9.0] * 7 + [-9.0] * 3, seed=[44, 13])
    assert found["new", "old"] == 7
    assert 1 <= found["old", "new"] <= 3  # Fisher's combination weighs the seven others as well


def test_runs_that_their_values_ended_are_refused():
    with pytest.raises(InvalidData, match="same number of runs everywhere"):
        bounds([1.0] * 4, seed=1, settings=am.Settings(se=0.1, start=3))


@pytest.mark.parametrize("studies", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("true", [0, 5])
def test_the_bound_exceeds_the_true_number_in_at_most_alpha_of_studies(true, studies):
    gains = [2.0] * true + [0.0] * (12 - true)
    too_many = sum(bounds(gains, [44, 14, k])["new", "old"] > true for k in range(studies)) / studies
    assert too_many <= limit(0.05, studies)


def test_more_evidence_never_lowers_the_bound():
    rng = np.random.default_rng(44)
    for _ in range(50):
        p = rng.random(8) ** 3
        assert least_number(p, 0.05) <= least_number(p * rng.random(8), 0.05)
