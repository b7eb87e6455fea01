"""Effect sizes and their intervals against R, against the noncentral t distribution, and at the edges."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ampler.stats.power import effect_intervals, effect_size

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "analysis.json").read_text())


@pytest.mark.parametrize("data", GOLD, ids=lambda data: data["name"])
def test_effect_sizes_and_their_intervals_are_those_of_r(data):
    differences = np.array(data["Phi"], float)
    np.testing.assert_allclose([effect_size(column) for column in differences.T], data["cohen_d"], rtol=1e-9)
    np.testing.assert_allclose(effect_intervals(differences), data["cohen_d_ci95"], rtol=0, atol=1e-7)


@pytest.mark.parametrize("n", [2, 3, 10, 57, 400])
@pytest.mark.parametrize("effect", [-3.0, -0.2, 0.0, 0.6, 20.0])
def test_the_interval_of_d_leaves_a_fortieth_on_either_side(n, effect):
    x = np.random.default_rng(n).normal(size=n)
    x = (x - x.mean()) / x.std(ddof=1) + effect
    ((low, high),) = effect_intervals(x[:, None])
    t = math.sqrt(n) * effect
    assert low < effect < high
    assert stats.nct.sf(t, n - 1, low * math.sqrt(n)) == pytest.approx(0.025, abs=1e-8)
    assert stats.nct.sf(-t, n - 1, -high * math.sqrt(n)) == pytest.approx(0.025, abs=1e-8)


@pytest.mark.parametrize(("n", "rel"), [(2, 2e-4), (6, 1e-5), (57, 5e-6), (10_000, 5e-6)])
def test_enormous_effects_have_an_interval_that_joins_the_exact_one(n, rel):
    x = np.random.default_rng(n).normal(size=n)
    x = (x - x.mean()) / x.std(ddof=1)
    below, beyond = (
        np.array(effect_intervals((x + factor / math.sqrt(n))[:, None])[0]) / factor for factor in (990.0, 1010.0)
    )
    np.testing.assert_allclose(below, beyond, rtol=rel + 2e-2 * (n > 1000))
    assert all(map(math.isfinite, effect_intervals((x + 1e9)[:, None])[0]))


def test_the_effect_of_differences_without_spread_is_not_known():
    constant, zero = np.full((5, 1), 2.0), np.zeros((5, 1))
    for same in (constant, -constant, zero):
        assert math.isnan(effect_size(same[:, 0]))
        assert all(map(math.isnan, effect_intervals(same)[0]))
