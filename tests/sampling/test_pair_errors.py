"""The errors of all pairs: three shapes, one truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.sampling.allocation import next_runs, pairs_of
from ampler.stats.contrasts import contrasts_among

CASES = [
    (difference, reference, formula)
    for difference in ("simple", "percent", "ratio")
    for reference in (None, 0, 2)
    for formula in ("corrected", "delta", "paper")
    if formula != "paper" or (difference == "percent" and reference is None)
]


def drawn(seed, shape):
    rng = np.random.default_rng(seed)
    means, variances = rng.uniform(1, 20, shape), rng.uniform(0.01, 4, shape)
    return means, variances, rng.integers(2, 40, shape).astype(float)


@pytest.mark.parametrize(("difference", "reference", "formula"), CASES)
@given(seed=st.integers(0, 10_000), algorithms=st.integers(3, 9), batch=st.sampled_from([(), (4,), (2, 3)]))
def test_the_largest_error_is_the_one_found_by_looking_at_every_pair(
    difference, reference, formula, seed, algorithms, batch
):
    contrasts = contrasts_among(algorithms, difference=difference, reference=reference, formula=formula)
    means, variances, counts = drawn(seed, (*batch, algorithms))
    pairs = pairs_of(contrasts, variances, means)
    for place in np.ndindex(*batch):
        errors = np.sqrt(contrasts.squared_errors(means[place], variances[place] / counts[place]))
        assert pairs.largest_error(counts)[place] == pytest.approx(errors.max(), rel=1e-12)


@pytest.mark.parametrize("reference", [None, 0])
def test_among_equals_the_first_algorithm_of_the_first_pair_is_run_next(reference):
    contrasts = contrasts_among(4, difference="simple", reference=reference)
    runs = next_runs(contrasts, np.full(4, 5.0), np.ones(4), np.zeros(4), se=0.1, allocation="greedy")
    assert runs.tolist() == [1, 0, 0, 0]


def test_an_algorithm_without_noise_is_never_run_next():
    contrasts = contrasts_among(2, difference="simple")
    for variances in ([0.0, 1.0], [1.0, 0.0]):
        how = {"se": 0.1, "allocation": "greedy"}
        runs = next_runs(contrasts, np.array([3.0, 3.0]), np.array(variances), np.zeros(2), **how)
        assert runs.tolist() == variances


def test_extreme_ratios_of_two_means_give_no_negative_square():
    contrasts = contrasts_among(2, difference="percent")
    error = pairs_of(contrasts, np.array([1.0, 1e-40]), np.array([1.0, 1e-18])).largest_error(np.full(2, 2.0))
    assert error >= 0
