"""A prior shared by many comparisons: the reference fit, matrices written out, limits, and all pairs."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from ampler.core.errors import InvalidData
from ampler.stats.bayes.shared import covariance_of_means, fit_shared, shared_posteriors

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "bayes.json").read_text())["exchangeable"]["exp1"]


@pytest.fixture(scope="module")
def first_experiment(public_data):
    import pandas as pd

    runs = pd.read_csv(public_data / "paper_experiment1_runs.csv")
    means = runs.groupby(["Instance", "Algorithm"])["Observation"].mean().unstack()
    return np.column_stack([1 - means[name] / means["Full"] for name in GOLD["comparisons"]])


def test_the_first_experiment_of_the_paper_is_fitted_as_the_reference_says(first_experiment):
    covariance = covariance_of_means(first_experiment)
    found = shared_posteriors(first_experiment, margin=GOLD["rope"])
    np.testing.assert_allclose(first_experiment.mean(axis=0), GOLD["means"], atol=1e-12)
    np.testing.assert_allclose(np.diag(covariance), GOLD["cov_diag"], rtol=1e-7)
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert correlation == pytest.approx(GOLD["correlation01"], abs=1e-7)
    assert found.omega == pytest.approx(GOLD["omega"], abs=1e-7)
    for name in ("mean", "interval"):
        np.testing.assert_allclose([getattr(one, name) for one in found.comparisons], GOLD[name], atol=1e-7)
    for name in ("less", "more"):
        np.testing.assert_allclose([getattr(one.areas, name) for one in found.comparisons], GOLD[name], atol=1e-7)


def by_matrices(means, covariance, margin):
    """P(mean > margin) with the matrices written out for every ω of a fine grid."""
    k = len(means)
    prior = np.eye(k) + 1
    eigen = np.linalg.eigvals(np.linalg.solve(prior, covariance)).real
    logs, more = [], []
    for omega in np.geomspace(1e-6, 1e4, 1500):
        total = covariance + omega**2 * prior
        density = -0.5 * (means @ np.linalg.solve(total, means) + np.linalg.slogdet(2 * np.pi * total).logabsdet)
        logs.append(density + np.log(omega) * 2 + 0.5 * np.log(np.sum((eigen + omega**2) ** -2.0)))
        gain = omega**2 * prior @ np.linalg.inv(total)
        spread = np.sqrt(np.diag(omega**2 * prior - gain @ prior * omega**2))
        more.append(ndtr((gain @ means - margin) / spread))
    weights = np.exp(np.array(logs) - np.max(logs))
    return weights @ np.array(more) / weights.sum()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_probabilities_are_those_of_matrices_written_out(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(0.3, 1.0, (30, 4)) + rng.normal(size=(30, 1))
    found = shared_posteriors(table, margin=0.2)
    expected = by_matrices(table.mean(axis=0), covariance_of_means(table), 0.2)
    np.testing.assert_allclose([one.areas.more for one in found.comparisons], expected, atol=1e-6)


def test_exactly_known_means_are_not_moved():
    means = np.array([0.3, -0.2, 1.0])
    mixtures, _ = fit_shared(means, 1e-12 * np.eye(3))
    np.testing.assert_allclose([one.mean for one in mixtures], means, atol=1e-6)


def test_means_far_apart_are_hardly_moved():
    means = np.array([300.0, -200.0, 100.0, 50.0])
    mixtures, _ = fit_shared(means, np.eye(4))
    np.testing.assert_allclose([one.mean for one in mixtures], means, rtol=2e-3)


def test_means_that_are_all_noise_are_drawn_together():
    rng = np.random.default_rng(4)
    table = rng.normal(0.0, 1.0, (57, 21)) / np.sqrt(2) + rng.normal(0, 1.0, (57, 1)) / np.sqrt(2)
    found = shared_posteriors(table, margin=0.1)
    assert np.abs([one.mean for one in found.comparisons]).mean() < 0.5 * np.abs(table.mean(axis=0)).mean()


@given(seed=st.integers(0, 1000), unit=st.sampled_from([1e-100, 7.0, 1e100]))
def test_neither_unit_nor_sign_nor_order_matter(seed, unit):
    rng = np.random.default_rng(seed)
    table = rng.normal(0.2, 1.0, (20, 5)) + rng.normal(size=(20, 1))
    order = rng.permutation(5)
    plain = shared_posteriors(table, margin=0.2).comparisons
    other = shared_posteriors(-unit * table[:, order], margin=0.2 * unit).comparisons
    for place, k in enumerate(order):
        assert other[place].areas.more == pytest.approx(plain[k].areas.less, abs=1e-9)
        assert other[place].mean / unit == pytest.approx(-plain[k].mean, rel=1e-7, abs=1e-9)


def test_all_pairs_are_sums_of_the_differences_to_the_first():
    rng = np.random.default_rng(5)
    levels = rng.normal([0.0, 0.5, 1.0, 1.0], 1.0, (60, 4))
    to_first = levels[:, :1] - levels[:, 1:]
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    found = shared_posteriors(to_first, margin=0.2, pairs=pairs).comparisons
    plain = shared_posteriors(to_first, margin=0.2).comparisons
    np.testing.assert_allclose([one.mean for one in found[:3]], [one.mean for one in plain], rtol=1e-12)
    assert found[3].mean == pytest.approx(found[1].mean - found[0].mean, rel=1e-9)
    turned = shared_posteriors(to_first, margin=0.2, pairs=[(2, 1)]).comparisons[0]
    assert turned.areas.less == pytest.approx(found[3].areas.more, abs=1e-12)


def test_the_algorithm_that_all_pairs_are_built_on_hardly_matters():
    rng = np.random.default_rng(6)
    levels = rng.normal([0.0, 0.2, 0.4, 0.6, 0.8], 1.0, (80, 5))
    one = shared_posteriors(levels[:, :1] - levels[:, 1:], margin=0.2, pairs=[(1, 2), (3, 4)]).comparisons
    order = [4, 1, 2, 3, 0]
    moved = levels[:, order]
    other = shared_posteriors(moved[:, :1] - moved[:, 1:], margin=0.2, pairs=[(1, 2), (3, 0)]).comparisons
    for a, b in zip(one, other, strict=True):
        assert a.mean == pytest.approx(b.mean, abs=0.02)
        assert a.areas.equivalent == pytest.approx(b.areas.equivalent, abs=0.03)


def test_more_comparisons_than_instances_are_fitted_too():
    table = np.random.default_rng(7).normal(size=(8, 21))
    found = shared_posteriors(table, margin=0.2)
    assert all(np.isfinite(one.interval).all() for one in found.comparisons)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ones((3, 2)), "a shared prior needs 4 or more instances, got 3"),
    ],
)
def test_a_table_that_cannot_be_fitted_is_refused_in_a_sentence(table, sentence):
    with pytest.raises(InvalidData, match=sentence):
        shared_posteriors(table, margin=0.1)
