"""Instances far out: the reference posteriors, a plain grid with another convolution, and what robustness is for."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from ampler.stats.bayes.posterior import posterior, robust_posterior

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "bayes.json").read_text())["hierarchical"]
ROBUST = [name for name in GOLD if "robust_nu4" in GOLD[name]]


@pytest.mark.parametrize("name", ROBUST)
def test_robust_posteriors_are_the_reference_ones(name):
    row = GOLD[name]
    expected = row["robust_nu4"]
    found = robust_posterior(np.array(row["y"]), np.array(row["se"]))
    areas, new = found.areas(row["rope"]), found.areas(row["rope"], new=True)
    assert [areas.less, areas.equivalent, areas.more] == pytest.approx(expected["mu"], abs=5e-4)
    assert [new.less, new.equivalent, new.more] == pytest.approx(expected["new"], abs=5e-4)
    assert found.interval(0.95) == pytest.approx(tuple(expected["interval"]), abs=2e-3 * expected["sd"])
    assert found.mean == pytest.approx(expected["mean"], abs=2e-3 * expected["sd"])
    deviation = np.sqrt(found.weights.sum(axis=1) @ (found.centres - found.mean) ** 2)
    assert deviation == pytest.approx(expected["sd"], rel=2e-3)
    assert found.tau_mean == pytest.approx(expected["tau_mean"], rel=2e-3)


def by_plain_grid(y, se, limit):
    """P(μ < limit): Student's t blurred by normal errors through Gauss-Hermite nodes, on a wide and fine grid."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    mu, logs = np.linspace(y.min() - 1, y.max() + 1, 201), []
    taus = np.geomspace(0.02, 8, 50)
    for tau in taus:
        blurred = (y[:, None] - se[:, None] * nodes)[:, :, None] - mu
        wide = 1 + (blurred / tau) ** 2 / 4
        density = np.einsum("lzm,z->lm", 3 / 8 / (wide * wide * np.sqrt(wide)) / tau, weights)  # t with 4 degrees
        prior = 0.5 * math.log(np.sum((tau / (se**2 + tau**2)) ** 2)) + math.log(tau)
        logs.append(np.log(density).sum(axis=0) + prior)
    p = np.exp(np.array(logs) - np.max(logs)).sum(axis=0)
    below = np.append(0.0, np.cumsum(p[1:] + p[:-1]))
    return np.interp(limit, mu, below / below[-1])


@pytest.mark.parametrize("seed", [1, 2])
def test_probabilities_are_those_of_a_plain_grid(seed):
    rng = np.random.default_rng(seed)
    se = np.full(12, 0.3)
    y = rng.standard_t(4, 12) + se * rng.normal(size=12)
    limit = float(np.median(y)) - 0.2
    found = robust_posterior(y - limit, se).areas(0.0)
    assert found.less == pytest.approx(by_plain_grid(y, se, limit), abs=2e-3)


def test_two_gross_outliers_widen_the_normal_interval_and_hardly_the_robust_one():
    rng = np.random.default_rng(3)
    y = np.append(rng.normal(0.1, 0.2, 18), [3.0, 4.0])
    clean, normal, robust = (
        posterior(x, np.full(len(x), 0.05), margin=0.1, model=model).interval
        for x, model in ((y[:18], "normal"), (y, "normal"), (y, "robust"))
    )
    assert robust[1] - robust[0] < 0.5 * (normal[1] - normal[0])
    assert robust[1] - robust[0] < 2 * (clean[1] - clean[0])


def test_with_normal_instances_it_is_about_as_wide_as_students_t():
    rng = np.random.default_rng(4)
    ratios = []
    for _ in range(40):
        y, se = rng.normal(0.3, 1.0, 20), np.full(20, 0.1)
        plain, robust = (posterior(y, se, margin=0.1, model=model).interval for model in ("normal", "robust"))
        ratios.append((robust[1] - robust[0]) / (plain[1] - plain[0]))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_the_unit_does_not_matter(unit):
    rng = np.random.default_rng(5)
    y, se = rng.normal(0.3, 1.0, 15), np.full(15, 0.2)
    plain, scaled = robust_posterior(y, se), robust_posterior(y * unit, se * unit)
    assert scaled.areas(0.2 * unit).more == pytest.approx(plain.areas(0.2).more, abs=1e-8)
    assert scaled.interval(0.9, new=True)[0] / unit == pytest.approx(plain.interval(0.9, new=True)[0], rel=1e-6)


@pytest.mark.parametrize("n", [3, 300])
def test_few_and_many_instances_are_found_on_the_grid(n):
    rng = np.random.default_rng(6)
    y, se = rng.normal(0.3, 1.0, n), np.full(n, 0.2)
    low, high = robust_posterior(y, se).interval(0.95)
    assert low < np.median(y) < high
    assert (high - low) * math.sqrt(n) < 40
