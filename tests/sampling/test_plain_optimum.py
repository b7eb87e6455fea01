"""One instance in plain numbers: the same counts as among many, whatever the number of algorithms."""

from __future__ import annotations

import numpy as np
import pytest

from ampler.sampling.optimum import optimal_counts
from ampler.sampling.pair_errors import AllPairs, pairs_of
from ampler.sampling.plain_optimum import FEW, plain_counts
from ampler.stats.contrasts import contrasts_among


@pytest.mark.parametrize("size", [2, 3, 5, FEW, FEW + 1, 30])
@pytest.mark.parametrize(("difference", "formula"), [("simple", "delta"), ("percent", "delta"), ("percent", "paper")])
def test_one_instance_gets_the_counts_that_it_gets_among_many(size, difference, formula):
    rng = np.random.default_rng([size, len(difference), len(formula)])
    shape = (30, size)
    means, variances = rng.uniform(60, 140, shape), np.exp(rng.normal(0, 1.5, shape))
    lower, costs = rng.integers(2, 60, shape).astype(float), rng.uniform(0.1, 10, size)
    variances[rng.random(shape) < 0.1] = 0.0
    variances[10:, 1:] = variances[10:, :1]  # all alike
    contrasts = contrasts_among(size, difference=difference, formula=formula)
    se = float(np.median(pairs_of(contrasts, variances, means).largest_error(lower))) / 2
    many = optimal_counts(pairs_of(contrasts, variances, means), se, lower, costs)
    for row in range(len(means)):
        alone = plain_counts(pairs_of(contrasts, variances[row], means[row]), se * se, lower[row], costs)
        np.testing.assert_allclose(alone, many[row], rtol=1e-9)


def test_without_noise_the_runs_made_are_enough():
    assert plain_counts(AllPairs(np.zeros(3), np.zeros(3)), 0.01, np.full(3, 7.0), np.ones(3)).tolist() == [7.0] * 3


@pytest.mark.parametrize(("noise", "lower"), [([1.0, np.inf], [2.0, 2.0]), ([1.0, 1.0], [0.0, 2.0])])
def test_endless_noise_and_no_runs_at_all_are_left_to_arrays(noise, lower):
    pairs = AllPairs(np.array(noise), np.array(noise))
    assert plain_counts(pairs, 0.01, np.array(lower), np.ones(2)) is None
    assert optimal_counts(pairs, 0.1, np.array(lower)).shape == (2,)


def test_many_instances_are_left_to_arrays():
    pairs = AllPairs(np.ones((4, 2)), np.ones((4, 2)))
    assert plain_counts(pairs, 0.01, np.ones((4, 2)), np.ones(2)) is None
