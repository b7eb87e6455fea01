"""The Bayesian signed-rank test: reference probabilities, the exact mean, pairs counted one by one, and its speed."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.bayes.signed_rank import _below, _limits, signed_rank
from ampler.stats.bayes.signed_rank import signed_rank as public

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "bayes.json").read_text())["signed_rank"]
PUBLISHED = [name for name in GOLD if not name.startswith("_")]


def parts(areas):
    return np.array([areas.less, areas.equivalent, areas.more])


@pytest.fixture(scope="module")
def accuracies(public_data):
    import pandas as pd

    return pd.read_csv(public_data / "benavoli2017_accuracies_mean.csv", index_col=0)


def published(accuracies, name):
    first, second = name.split("/")
    return (accuracies[second] - accuracies[first]).to_numpy()


def within_monte_carlo_error(found, expected, draws):
    p = np.asarray(expected)
    return (np.abs(found - p) <= 4 * np.sqrt(p * (1 - p) * (1 / draws + 1e-6)) + 1e-9).all()


@pytest.mark.parametrize("draws", [40_000, pytest.param(200_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_comparisons_have_their_reference_probabilities(accuracies, name, draws):
    row, z = GOLD[name], published(accuracies, name)
    found = signed_rank(z, margin=row["rope"], draws=draws, prior=row["prior"])
    np.testing.assert_allclose(parts(found.mean_areas), row["mean_theta"], atol=1e-12)
    assert within_monte_carlo_error(parts(found.areas), row["probs"], draws)
    plain = signed_rank(z, margin=0.0, draws=draws)
    np.testing.assert_allclose(parts(plain.mean_areas), row["mean_theta_rope0"], atol=1e-12)
    p = np.array(row["rope0_probs_200k"])
    error = np.sqrt(p * (1 - p) * (1 / draws + 1 / 200_000))
    assert (np.abs(parts(plain.areas) - p) <= 4 * error + 1e-9).all()


def test_without_a_margin_the_side_with_more_of_the_differences_is_probable():
    areas = signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -0.5]), margin=0.0, draws=1000).areas

    assert areas.more > 0.95
    assert areas.less == pytest.approx(1 - areas.more)


def test_the_example_by_hand_has_its_exact_mean():
    row = GOLD["_hand"]
    found = signed_rank(np.array(row["d"]), margin=row["rope"], draws=1000)
    np.testing.assert_allclose(parts(found.mean_areas), row["mean_theta"], atol=1e-12)


def counted(z, weights, margin):
    """The three probabilities of one draw, pair by pair."""
    result = np.zeros(3)
    for i, a in enumerate(z):
        for j, b in enumerate(z):
            for side, more in ((0, -2 * margin - (a + b)), (2, (a + b) - 2 * margin)):
                result[side] += weights[i] * weights[j] * (1.0 if more > 0 else 0.5 if more == 0 else 0.0)
    result[1] = weights.sum() ** 2 - result[0] - result[2]
    return result / weights.sum() ** 2


whole = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=9)


@given(whole, st.sampled_from([0.0, 0.5, 1.0, 1.5]), st.integers(0, 100))
def test_sums_over_sorted_differences_count_every_pair(z, margin, seed):
    values = np.sort(np.append(0.0, z))
    weights = np.random.default_rng(seed).exponential(size=len(values))
    column = weights[:, None]
    sums = np.append(0.0, np.cumsum(weights))[:, None]
    less, not_more = (_below(column, sums, _limits(values, end))[0] for end in (-margin, margin))
    expected = counted(values, weights, margin) * weights.sum() ** 2
    assert [less, not_more - less] == pytest.approx(expected[:2], abs=1e-9)


@given(whole, st.sampled_from([0.0, 0.5, 1.0]))
def test_the_mean_point_of_the_draws_is_the_exact_one(z, margin):
    found = signed_rank(np.array(z), margin=margin, draws=20_000)
    np.testing.assert_allclose(found.points.mean(axis=0), parts(found.mean_areas), atol=0.012)
    assert sum(parts(found.mean_areas)) == pytest.approx(1.0)


@given(whole, st.floats(0.01, 1000), st.sampled_from([0.5, 1.0]))
def test_the_other_sign_swaps_the_mean_point_and_the_unit_changes_nothing(z, unit, margin):
    plain = signed_rank(np.array(z), margin=margin, draws=1000)
    turned = signed_rank(-np.array(z), margin=margin, draws=1000)
    np.testing.assert_allclose(parts(turned.mean_areas), parts(plain.mean_areas)[::-1], atol=1e-12)
    doubled = signed_rank(4 * np.array(z), margin=4 * margin, draws=1000)
    np.testing.assert_array_equal(doubled.points, plain.points)


def test_the_same_seed_gives_the_same_points_and_fewer_draws_the_first_of_them():
    z = np.random.default_rng(1).normal(0.3, 1, 20)
    one, again, other = (signed_rank(z, margin=0.1, draws=3000, seed=seed).points for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(signed_rank(z, margin=0.1, draws=700, seed=5).points, one[:700])


def test_more_draws_scatter_less():
    z = np.random.default_rng(2).normal(0.3, 1, 30)
    found = [public(z, margin=0.1, draws=4000, seed=seed).areas.more for seed in range(12)]
    p = np.mean(found)
    assert np.std(found) < 2.5 * math.sqrt(p * (1 - p) / 4000)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_baycomp_agrees(accuracies, name):
    baycomp = pytest.importorskip("baycomp")
    first, second = (accuracies[algorithm].to_numpy() for algorithm in name.split("/"))
    ours = signed_rank(second - first, margin=1.0, draws=50_000)
    theirs = baycomp.SignedRankTest.probs(first, second, rope=1, nsamples=50_000, random_state=42)
    p = np.clip(theirs, 1e-4, 1 - 1e-4)
    assert (np.abs(parts(ours.areas) - theirs) <= 4 * np.sqrt(2 * p * (1 - p) / 50_000)).all()
