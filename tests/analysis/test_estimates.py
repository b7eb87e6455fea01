"""Estimates of runs that their values ended: all of them, corrected, the first alone."""

import numpy as np
import pytest

from ampler.analysis.blocks import gather, summarise
from ampler.analysis.differences import Estimates
from ampler.core.arrays import Runs
from ampler.sampling.rules import Accuracy, sample
from ampler.stats.contrasts import contrasts_among

NAMES = ("a", "b", "c")
RULE = Accuracy(se=0.15, difference="percent", reference="a")
PERCENT = contrasts_among(3, difference="percent", reference=0)


def sampled_runs(rule, instances, seed=11, draw=None):
    """The runs that a rule asks for on instances whose values are exponential, all with mean 1."""
    rng = np.random.default_rng(seed)
    draw = draw or (lambda algorithm, index: 1 + 0.5 * (rng.standard_exponential() - 1))
    rows = []
    for i in range(instances):
        samples = sample(rule, draw, NAMES).samples
        rows += [(f"i{i}", name, value) for name in NAMES for value in samples.values(name)]
    return Runs.from_columns(*zip(*rows, strict=True))


@pytest.fixture(scope="module")
def cells():
    return gather(sampled_runs(RULE, 12))


def estimates(cells, rule=RULE, statistic="mean"):
    return Estimates(cells, summarise(cells, statistic), statistic, rule)


def test_without_a_rule_every_estimate_is_that_of_all_runs(cells):
    plain = summarise(cells).differences(PERCENT)

    for kind in ("all-runs", "corrected", "first-runs"):
        np.testing.assert_array_equal(estimates(cells, rule=None).differences(PERCENT, kind), plain)


def test_the_first_runs_are_those_that_nobody_ended(cells):
    first = np.array([[cells.of(i, k)[:10].mean() for k in range(3)] for i in range(12)])
    spread = np.array([cells.of(i, 0)[:10].var(ddof=1) for i in range(12)])
    ratio = first[:, 1:] / first[:, :1]
    unbent = 1 - ratio * (1 - spread / 10 / first[:, 0] ** 2)[:, None]  # a ratio of noisy means is too large

    np.testing.assert_allclose(estimates(cells).differences(PERCENT, "first-runs"), unbent, rtol=1e-10)


def test_the_correction_raises_what_ended_too_low(cells):
    """Skewed rivals end early and low, so that the reference seems to exceed them: corrected, it does less so."""
    all_runs, corrected = (estimates(cells).differences(PERCENT, kind) for kind in ("all-runs", "corrected"))

    assert (cells.counts > 10).any()
    assert corrected.mean() < all_runs.mean()


def test_a_statistic_that_the_rule_did_not_look_at_is_not_corrected_for_stopping(cells):
    simple = contrasts_among(3, difference="simple", reference=0)
    median = estimates(cells, statistic="median")

    np.testing.assert_array_equal(median.differences(simple), median.differences(simple, "all-runs"))


def test_statistics_never_change_their_sign_by_correction():
    near_zero = sampled_runs(
        Accuracy(se=0.01, difference="simple", start=3, budget=9),
        4,
        draw=lambda algorithm, index: [1e-6, 1e-6, 5.0][index % 3] if algorithm == "a" else 1.0,
    )
    cells = gather(near_zero)

    differences = estimates(cells, Accuracy(se=0.01, difference="percent", start=3)).differences(PERCENT)

    assert np.isfinite(differences).all()


def test_cells_without_spread_are_left_as_they_are():
    rule = Accuracy(se=0.1, difference="simple")
    cells = gather(sampled_runs(rule, 3, draw=lambda algorithm, index: float(ord(algorithm))))
    simple = contrasts_among(3, difference="simple")

    for kind in ("corrected", "first-runs"):
        expected = estimates(cells, rule).differences(simple, "all-runs")
        np.testing.assert_array_equal(estimates(cells, rule).differences(simple, kind), expected)
