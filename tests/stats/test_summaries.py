"""Statistics other than the mean, and how exactly they are known."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ampler.core.errors import InvalidRule
from ampler.stats.summaries import (
    Mean,
    Quantile,
    TrimmedMean,
    resampled,
    resampled_spread,
    shuffles,
    summary_of,
    widening,
)

STATISTICS = [
    "mean",
    "median",
    "trimmed-mean",
    "geometric-mean",
    "quantile:0.9",
    "trimmed-mean:0.1",
    np.median,
    lambda x: x.max(),
]


def all_resamples(values):
    n = len(values)
    return np.array(values)[np.array(list(itertools.product(range(n), repeat=n)))]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("q", [0.5, 0.9, 0.25, 0.1, 1 / 3])
def test_the_spread_of_a_quantile_is_that_of_all_resamples_there_are(n, q):
    values = np.random.default_rng(n).lognormal(0, 1, n)
    wanted = n * np.quantile(all_resamples(values), q, axis=1).var()
    assert Quantile(q).spread(values) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("q", [0.5, 0.8])
@pytest.mark.parametrize("n", [40, 41, 200])
def test_the_spread_of_a_quantile_is_the_limit_of_resampling(n, q):
    values = np.random.default_rng(n).normal(1e6, 3, n)
    plain = resampled_spread(Quantile(q), values, 30_000) / widening(n)
    assert plain == pytest.approx(Quantile(q).spread(values), rel=0.03)


def test_the_spread_of_a_quantile_stays_sound_for_many_values():
    values = np.random.default_rng(2).normal(0, 1, 30_000)
    assert Quantile(0.5).spread(values) == pytest.approx(np.pi / 2, rel=0.25)


@pytest.mark.parametrize(("name", "draw"), [("normal", "standard_normal"), ("exponential", "standard_exponential")])
@pytest.mark.parametrize("n", [10, 20])
def test_the_spread_of_a_trimmed_mean_is_right_on_average(name, draw, n):
    data = getattr(np.random.default_rng(5), draw)((12_000, n))
    true = n * TrimmedMean()(data).var()
    claimed = np.mean([TrimmedMean().spread(row) for row in data[:4000]])
    assert claimed == pytest.approx(true, rel=0.08), name


CLAIMS = {  # mean of the spread over the truth, n = 10 and n = 50, as docs/standard-errors.md says
    ("median", "standard_normal"): (1.2, 1.1),
    ("median", "standard_exponential"): (1.4, 1.2),
    ("median", "lognormal"): (1.8, 1.2),
    ("quantile:0.9", "standard_normal"): (1.1, 1.2),
    ("quantile:0.9", "standard_exponential"): (1.1, 1.3),
    ("trimmed-mean", "standard_normal"): (1.0, 1.0),
    ("trimmed-mean", "standard_exponential"): (1.0, 1.0),
    ("trimmed-mean", "lognormal"): (1.1, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize(("statistic", "distribution"), CLAIMS)
@pytest.mark.parametrize("n", [10, 50])
def test_the_documentation_tells_the_truth_about_spreads(statistic, distribution, n):
    summary = summary_of(statistic)
    data = getattr(np.random.default_rng(77), distribution)(size=(30_000, n))
    true = n * summary(data).var()
    ratio = np.mean([summary.spread(row) for row in data[:10_000]]) / true
    assert ratio == pytest.approx(CLAIMS[statistic, distribution][n == 50], abs=0.09)


HELD = {  # share of samples whose bound at level 0.05 holds: the least over n = 10 to 160, less two standard errors
    ("median", "standard_normal"): 0.978,
    ("median", "standard_exponential"): 0.968,
    ("median", "lognormal"): 0.965,
    ("quantile:0.9", "standard_normal"): 0.98,
    ("quantile:0.9", "standard_exponential"): 0.972,
    ("quantile:0.9", "lognormal"): 0.917,
    ("trimmed-mean", "standard_normal"): 0.975,
    ("trimmed-mean", "standard_exponential"): 0.926,
    ("trimmed-mean", "lognormal"): 0.88,
}


def held(statistic, distribution, n, samples, *, seed):
    """How often spread·ν/χ²(0.05, ν), with the degrees of freedom the statistic claims, is above the truth."""
    summary = summary_of(statistic)
    data = getattr(np.random.default_rng([seed, n]), distribution)(size=(samples, n))
    true = n * summary(getattr(np.random.default_rng([seed, n, 1]), distribution)(size=(200_000 // n * 10, n))).var()
    degrees = max(1.0, float(summary.degrees(np.float64(n))))
    bounds = np.array([summary.spread(row) for row in data]) * degrees / stats.chi2.ppf(0.05, degrees)
    return np.mean(bounds >= true)


@pytest.mark.parametrize(("statistic", "distribution"), HELD)
def test_bounds_of_quantiles_and_trimmed_means_hold_with_their_degrees_of_freedom(statistic, distribution):
    assert held(statistic, distribution, 20, 500, seed=1505) >= HELD[statistic, distribution] - 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("statistic", "distribution"), HELD)
@pytest.mark.parametrize("n", [10, 20, 40, 80, 160])
def test_bounds_of_quantiles_and_trimmed_means_hold_whatever_the_number_of_runs(statistic, distribution, n):
    """Nominally 95 %: quantiles have more, as their spread is too large; trimmed means less where tails are heavy."""
    assert held(statistic, distribution, n, 5000, seed=1506) >= HELD[statistic, distribution]


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.5, 0.75, 0.9])
def test_the_spread_of_a_quantile_varies_as_its_degrees_of_freedom_say(q):
    """Hall & Martin (1988), in the limit: the squared relative error is 2/ν; 400 normal values are near it."""
    data = np.random.default_rng(1507).standard_normal((4000, 400))
    spreads = np.array([Quantile(q).spread(row) for row in data])
    degrees = 2 * spreads.mean() ** 2 / spreads.var()
    assert degrees == pytest.approx(Quantile(q).degrees(np.float64(400)), rel=0.2)


def test_degrees_of_freedom_grow_with_the_runs_and_never_pass_those_of_a_variance():
    runs = np.arange(2.0, 2000.0)
    for statistic in ("median", "quantile:0.1", "quantile:0.9", "quantile:0.99", "trimmed-mean"):
        degrees = summary_of(statistic).degrees(runs)
        assert (degrees <= runs - 1).all()
        assert (degrees[5::5] >= degrees[:-5:5]).all()  # a trimmed mean of 5 more values keeps 3 more
    np.testing.assert_allclose(Quantile(0.1).degrees(runs), Quantile(0.9).degrees(runs))
    assert summary_of("mean").degrees(runs) is summary_of(np.ptp).degrees(runs) is None


@pytest.mark.parametrize("statistic", STATISTICS)
@given(
    values=st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=3, max_size=12), exponent=st.integers(-8, 8)
)
def test_scaling_by_a_power_of_two_scales_statistic_and_spread_exactly(statistic, values, exponent):
    summary, x, scale = summary_of(statistic), np.array(values), 2.0**exponent
    x = np.abs(x) if statistic == "geometric-mean" else x
    assert summary(x * scale) == summary(x) * scale
    assert summary.spread(x * scale) == pytest.approx(summary.spread(x) * scale**2, rel=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_equal_values_have_spread_zero(statistic):
    assert summary_of(statistic).spread(np.full(10, 0.1)) == 0.0


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_statistic_works_along_the_last_axis(statistic):
    rows = np.random.default_rng(1).normal(size=(4, 9))
    summary = summary_of(statistic)
    np.testing.assert_array_equal(summary(rows), [summary(row) for row in rows])


@pytest.mark.parametrize("n", [4, 5, 7, 9, 10])
def test_the_trimmed_mean_is_scipys(n):
    values = np.random.default_rng(n).normal(size=n) ** 3
    assert summary_of("trimmed-mean")(values) == pytest.approx(stats.trim_mean(values, 0.2), rel=1e-14)


def test_resampling_the_mean_agrees_with_its_closed_form():
    values = np.random.default_rng(8).normal(size=25)
    assert resampled_spread(Mean(), values, 100_000) == pytest.approx(values.var(ddof=1), rel=0.02)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_the_spread_of_a_callable_is_right_on_average_however_few_the_values(n):
    values = np.random.default_rng(n).normal(size=n)  # the sample variance is: its mean is the true one
    assert resampled_spread(summary_of(np.mean), values, 50_000) == pytest.approx(values.var(ddof=1), rel=0.03)


def test_resampling_is_the_same_every_time_and_everywhere():
    values = np.arange(5.0)
    first = resampled(Mean(), values, 6)
    np.testing.assert_array_equal(first, resampled(Mean(), values, 6))
    # Written down once: a change here changes every decision taken with a bootstrapped statistic.
    np.testing.assert_allclose(first, [1.4, 2.4, 2.0, 2.0, 1.8, 1.4], rtol=1e-15)


def test_each_value_is_drawn_equally_often():
    draws = resampled(summary_of(lambda x: x[0]), np.arange(7.0), 70_000).astype(int)
    counts = np.bincount(draws, minlength=7)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 22.5  # chi-square, 6 degrees of freedom: exceeded once in 1000


def test_shuffles_are_permutations_that_differ():
    orders = shuffles(3, 50)
    assert (np.sort(orders, axis=1) == np.arange(50)).all()
    assert not (orders[0] == orders[1]).all()


def test_a_callable_with_an_axis_is_called_once_for_all_resamples():
    shapes = []

    def middle(values, axis=-1):
        shapes.append(values.shape)
        return np.median(values, axis=axis)

    resampled(summary_of(middle), np.arange(6.0), 99)
    assert shapes == [(99, 6)]


@pytest.mark.parametrize(
    "bad", ["mode", "quantile", "quantile:x", "quantile:1", "quantile:0", "trimmed-mean:0.5", 0.5, None]
)
def test_an_unknown_statistic_is_refused(bad):
    with pytest.raises(InvalidRule, match=r"statistic must be|must lie strictly between|must cut between"):
        summary_of(bad)


def test_the_geometric_mean_is_the_mean_of_logarithms_and_its_relative_error_theirs():
    values = np.random.default_rng(3).lognormal(0, 1, 17)
    geometric = summary_of("geometric-mean")
    assert geometric(values) == pytest.approx(stats.gmean(values), rel=1e-13)
    assert geometric.spread(values) / geometric(values) ** 2 == pytest.approx(np.log(values).var(ddof=1), rel=1e-12)


def test_the_geometric_mean_of_what_is_not_positive_is_zero_or_none():
    geometric = summary_of("geometric-mean")
    assert (geometric(np.array([0.0, 2.0])), geometric.spread(np.array([0.0, 2.0]))) == (0.0, 0.0)
    assert np.isnan(geometric(np.array([-1.0, 2.0])))
