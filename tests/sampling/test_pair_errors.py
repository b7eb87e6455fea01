"""The errors of all pairs: three shapes, one truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ampler.sampling.pair_errors import pairs_of
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


@pytest.mark.costly
@pytest.mark.parametrize(("difference", "reference", "formula"), CASES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), algorithms=st.integers(3, 9), batch=st.sampled_from([(), (4,), (2, 3)]))
def test_the_worst_pair_is_the_one_found_by_looking_at_every_pair(
    difference, reference, formula, seed, algorithms, batch
):
    contrasts = contrasts_among(algorithms, difference=difference, reference=reference, formula=formula)
    means, variances, counts = drawn(seed, (*batch, algorithms))
    pairs = pairs_of(contrasts, variances, means)
    worst = pairs.worst(counts)
    for place in np.ndindex(*batch):
        errors = np.sqrt(contrasts.squared_errors(means[place], variances[place] / counts[place]))
        pair = errors.argmax()
        i, j = contrasts.first[pair], contrasts.second[pair]
        short = counts[place][i] / counts[place][j] <= contrasts.best_ratios(means[place], variances[place])[pair]
        assert pairs.largest_error(counts)[place] == pytest.approx(errors.max(), rel=1e-12)
        assert worst.error[place] == pytest.approx(errors.max(), rel=1e-12)
        assert (worst.first[place], worst.second[place]) == (i, j)
        assert worst.choice[place] == (i if short else j)


@pytest.mark.parametrize("reference", [None, 0])
def test_among_equals_the_first_pair_is_the_worst(reference):
    contrasts = contrasts_among(4, difference="simple", reference=reference)
    worst = pairs_of(contrasts, np.ones(4), np.zeros(4)).worst(np.full(4, 5.0))
    assert (worst.first, worst.second, worst.choice) == (0, 1, 0)


def test_an_algorithm_without_noise_is_never_run_next():
    contrasts = contrasts_among(2, difference="simple")
    for variances in ([0.0, 1.0], [1.0, 0.0]):
        worst = pairs_of(contrasts, np.array(variances), np.zeros(2)).worst(np.array([3.0, 3.0]))
        assert worst.choice == int(np.argmax(variances))


def test_extreme_ratios_of_two_means_give_no_negative_square():
    contrasts = contrasts_among(2, difference="percent")
    error = pairs_of(contrasts, np.array([1.0, 1e-40]), np.array([1.0, 1e-18])).largest_error(np.full(2, 2.0))
    assert error >= 0
