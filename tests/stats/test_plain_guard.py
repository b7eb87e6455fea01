"""The guard of one instance in plain numbers: the same bounds as among many."""

from __future__ import annotations

import numpy as np
import pytest

from ampler.stats.guard import guarded_variances
from ampler.stats.plain_guard import plain_bounds


def bounds(counts, variances, kurtosis):
    levels = np.full(len(counts), 0.05)
    return plain_bounds(counts, variances, kurtosis, levels=levels, caution=0.1, least=1.0, most=50.0)


@pytest.mark.parametrize("size", [2, 5, 22])
@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0])
def test_one_instance_has_the_bounds_that_it_has_among_many(size, spread):
    """Variances that are alike, differ a little, and differ so much that there is next to no prior."""
    rng = np.random.default_rng([size, int(10 * spread)])
    counts = rng.integers(2, 60, (40, size)).astype(float)
    variances, kurtosis = np.exp(rng.normal(0, spread, (40, size))), rng.uniform(1, 12, (40, size))
    many = guarded_variances(counts, variances, kurtosis)
    for row in range(len(counts)):
        np.testing.assert_allclose(bounds(counts[row], variances[row], kurtosis[row]), many[row], rtol=1e-8)


@pytest.mark.parametrize(
    ("counts", "variances"), [([1.0, 9.0], [1.0, 1.0]), ([9.0, 9.0], [0.0, 1.0]), ([9.0, 9.0], [1.0, np.inf])]
)
def test_what_is_unusual_is_left_to_arrays(counts, variances):
    assert bounds(np.array(counts), np.array(variances), np.full(2, 3.0)) is None
