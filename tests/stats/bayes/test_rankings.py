"""Plackett-Luce: exact small cases, every order of a tie written out, a Gibbs sampler, and its laws."""

import json
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ampler.core.errors import InvalidData
from ampler.stats.bayes.rankings import _model, rank_posterior

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "bayes.json").read_text())["plackett_luce"]


def near(found, expected, effective):
    p = np.asarray(expected)
    return (np.abs(np.asarray(found) - p) <= 4 * np.sqrt(p * (1 - p) * (1 / effective + 1e-6)) + 1e-6).all()


def test_two_algorithms_have_a_beta_distribution():
    row = GOLD["A2"]
    found = rank_posterior(np.array(row["values"]), better=row["better"], draws=100_000)
    assert near(found.win, [row["win0_mean"], 1 - row["win0_mean"]], found.effective)
    assert near(found.better[0, 1], row["better01"], found.effective)
    assert found.pair[0, 1] == pytest.approx(found.win[0], rel=1e-9)


def test_three_algorithms_agree_with_quadrature():
    row = GOLD["A3"]
    found = rank_posterior(np.array(row["values"]), better=row["better"], draws=100_000)
    assert near(found.win, row["win"], found.effective)
    for pair, expected in row["better_pairs"].items():
        i, j = map(int, pair.split(">"))
        assert near(found.better[i, j], expected, found.effective)


def test_published_rankings_have_their_reference_posterior(public_data):
    import pandas as pd

    row = GOLD["gh2008"]
    if not (public_data / row["file"]).exists():
        pytest.skip("this table is not among the public data")
    table = pd.read_csv(public_data / row["file"])[row["algorithms"]].to_numpy()
    found = rank_posterior(table, better=row["better_is"], draws=100_000, prior=row["prior"])
    np.testing.assert_allclose(found.log_mode, row["log_mode"], atol=1e-6)
    for name in ("win", "best", "better", "pair"):
        assert near(getattr(found, name), row[name], found.effective)


def log_likelihood(theta, values):
    """The mean over all orders of the tied, every order and every place written out."""
    total = 0.0
    for row in values:
        seen = [k for k in range(len(row)) if not np.isnan(row[k])]
        orders = [order for order in permutations(seen) if all(row[a] <= row[b] for a, b in pairwise(order))]
        for order in orders:
            for place in range(len(order)):
                total += (theta[order[place]] - np.log(np.exp(theta[list(order[place:])]).sum())) / len(orders)
    return total


def model_likelihood(model, theta, prior):
    return (model.gains - prior) @ theta - model.counts @ np.log(model.sets @ np.exp(theta))


tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.one_of(st.integers(0, 2).map(float), st.just(float("nan"))), min_size=k, max_size=k),
        min_size=1,
        max_size=5,
    )
)


@given(tables, st.integers(0, 1000))
def test_pooled_sets_have_the_likelihood_of_all_orders_written_out(rows, seed):
    values = np.array(rows)
    theta = np.random.default_rng(seed).normal(size=values.shape[1])
    model = _model(values, 1.0, 0)
    assert model_likelihood(model, theta, 1.0) == pytest.approx(log_likelihood(theta, values), abs=1e-9)


def gibbs(values, draws, seed):
    """Caron & Doucet (2012): exponential waiting times make every conditional a gamma distribution."""
    rng = np.random.default_rng(seed)
    model = _model(values, 1.0, 0)
    chains, size = 20, values.shape[1]
    w, kept = np.ones((chains, size)), []
    for step in range(draws // chains + 500):
        waits = rng.gamma(model.counts, size=(chains, len(model.counts))) / (w @ model.sets.T)
        w = rng.gamma(model.gains, size=(chains, size)) / (1 + waits @ model.sets)
        w *= (rng.gamma(size, size=chains) / w.sum(axis=1))[:, None]
        if step >= 500:
            kept.append(w / w.sum(axis=1, keepdims=True))
    return np.concatenate(kept)


def test_importance_sampling_agrees_with_a_gibbs_sampler():
    rng = np.random.default_rng(1)
    values = np.round(rng.normal([0.0, 0.3, 0.6, 1.2], 1.0, (25, 4)), 1)
    values[rng.random(values.shape) < 0.1] = np.nan
    found = rank_posterior(values, better="lower", draws=50_000)
    other = gibbs(values, 20_000, seed=2)
    np.testing.assert_allclose(found.win, other.mean(axis=0), atol=0.012)
    np.testing.assert_allclose(found.best, np.bincount(other.argmax(axis=1), minlength=4) / len(other), atol=0.04)
    np.testing.assert_allclose(found.better[0, 3], (other[:, 0] > other[:, 3]).mean(), atol=0.02)


MANY = 40_000  # draws: where two instances say little, a single far one may outweigh nine in ten of 10 000


@settings(max_examples=settings().max_examples // 5)
@given(tables, st.integers(0, 100))
@example([[0.0] * 5, [1.0, np.nan, 0.0, np.nan, np.nan]], 1)
def test_other_names_permute_the_answer(rows, seed):
    values = np.array(rows)
    values[0] = np.arange(values.shape[1])  # everybody runs somewhere
    order = np.random.default_rng(seed).permutation(values.shape[1])
    plain, moved = (rank_posterior(x, better="lower", draws=MANY) for x in (values, values[:, order]))
    np.testing.assert_allclose(moved.log_mode, plain.log_mode[order], atol=1e-8)
    assert near(moved.win, plain.win[order], min(plain.effective, moved.effective) / 4)


@settings(max_examples=settings().max_examples // 5)
@given(tables)
def test_probabilities_fit_together(rows):
    values = np.array(rows)
    values[0] = 0.0
    found = rank_posterior(values, better="higher", draws=MANY)
    k = values.shape[1]
    assert found.win.sum() == pytest.approx(1.0)
    assert found.best.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(found.better + found.better.T, 1 - np.eye(k), atol=1e-9)
    np.testing.assert_allclose(found.pair + found.pair.T, 1.0, atol=1e-9)


def test_higher_is_better_turns_the_values_round():
    values = np.random.default_rng(3).normal(size=(20, 4))
    one, other = rank_posterior(values, better="higher"), rank_posterior(-values, better="lower")
    np.testing.assert_array_equal(one.win, other.win)


@pytest.mark.parametrize("size", [2, 5, 8])
def test_when_all_are_tied_nobody_is_ahead(size):
    found = rank_posterior(np.zeros((10, size)), better="lower")
    np.testing.assert_allclose(found.log_mode, 0.0, atol=1e-9)
    assert near(found.win, np.full(size, 1 / size), found.effective)


def test_a_large_tie_is_nearly_even_by_random_orders():
    found = rank_posterior(np.zeros((10, 12)), better="lower")
    np.testing.assert_allclose(found.log_mode, 0.0, atol=0.05)


def test_the_size_of_the_differences_does_not_matter():
    values = np.random.default_rng(4).normal(size=(20, 4))
    np.testing.assert_array_equal(
        rank_posterior(values, better="lower").best, rank_posterior(np.exp(3 * values), better="lower").best
    )


def test_one_that_is_always_first_is_best_and_one_always_last_never():
    values = np.random.default_rng(5).normal(size=(20, 5))
    values[:, 0], values[:, 4] = -10.0, 10.0
    found = rank_posterior(values, better="lower")
    assert found.best[0] > 0.999
    assert found.win[4] < 0.01


def test_the_ranking_of_22_algorithms_rests_on_many_draws():
    values = np.random.default_rng(6).normal(size=(57, 22)) + np.linspace(0, 2, 22)
    assert rank_posterior(values, better="lower").effective > 10_000


def test_too_small_an_effective_sample_is_refused():
    values = np.random.default_rng(7).normal(size=(30, 20))
    values[:, 0] = -10.0
    with pytest.raises(InvalidData, match=r"an effective sample of 1000 draws or more, got \d+: take more than 1200"):
        rank_posterior(values, better="lower", draws=1200)
