from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ampler import analyse
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidInput
from ampler.plots import bootstrap_data, draw_bootstrap, draw_quantiles, quantiles_data


def analysis_of(differences):
    """An analysis whose differences of a and b are these."""
    n = len(differences)
    names = [f"i{k}" for k in range(n)]
    values = [100.0 + d for d in differences] + [100.0] * n
    return analyse(Runs.from_columns(names * 2, ["a"] * n + ["b"] * n, values), difference="simple", better="lower")


def test_the_quantiles_are_those_of_scipy():
    differences = np.random.default_rng(1).normal(3, 2, 40)

    data = quantiles_data(analysis_of(differences), "a", "b")

    assert data.observed == pytest.approx(np.sort(differences))
    assert data.theoretical == pytest.approx(stats.norm.ppf((np.arange(40) + 0.5) / 40))
    assert (data.mean, data.sd) == pytest.approx((differences.mean(), differences.std(ddof=1)))


def test_the_band_holds_each_rank_of_a_normal_sample_nineteen_times_in_twenty():
    data = quantiles_data(analysis_of(np.random.default_rng(1).normal(0, 1, 30)), "a", "b")
    samples = np.sort(np.random.default_rng(2).normal(data.mean, data.sd, (20_000, 30)), axis=1)

    inside = ((samples >= data.lower) & (samples <= data.upper)).mean(axis=0)

    assert inside == pytest.approx(np.full(30, 0.95), abs=0.006)  # 4 standard errors


def test_points_outside_the_band_look_different():
    differences = np.random.default_rng(1).exponential(1, 60) ** 2

    ax = draw_quantiles(quantiles_data(analysis_of(differences), "a", "b"))

    outside = next(line for line in ax.lines if line.get_marker() == "^")
    assert len(outside.get_xdata()) > 0
    assert "skewness" in ax.figure.get_suptitle()


def test_resampled_means_have_the_mean_and_the_error_of_the_differences():
    differences = np.random.default_rng(1).normal(3, 2, 50)

    data = bootstrap_data(analysis_of(differences), "a", "b", resamples=20_000)

    error = differences.std(ddof=0) / np.sqrt(50)
    assert data.means.mean() == pytest.approx(differences.mean(), abs=4 * error / np.sqrt(20_000))
    assert data.means.std() == pytest.approx(error, rel=0.03)
    assert data.error == pytest.approx(differences.std(ddof=1) / np.sqrt(50))


def test_the_same_analysis_gives_the_same_figure_and_another_seed_another():
    analysis = analysis_of(np.random.default_rng(1).normal(3, 2, 20))

    first, again, other = (bootstrap_data(analysis, "a", "b", rng=seed).means for seed in (1, 1, 2))

    assert (first == again).all()
    assert (first != other).any()


def test_many_instances_are_resampled_in_blocks():
    data = bootstrap_data(analysis_of(np.random.default_rng(1).normal(0, 1, 1500)), "a", "b", resamples=3000)

    assert len(data.means) == 3000
    assert np.unique(data.means).size > 2900


def test_skewed_differences_leave_a_skewed_mean():
    skewed = bootstrap_data(analysis_of(np.random.default_rng(1).exponential(1, 12) ** 3), "a", "b")
    normal = bootstrap_data(analysis_of(np.random.default_rng(1).normal(0, 1, 60)), "a", "b")

    assert skewed.skewness > 0.5 > abs(normal.skewness)


def test_constant_differences_are_drawn_as_one_line():
    ax = draw_bootstrap(bootstrap_data(analysis_of([2.0, 2.0, 2.0]), "a", "b"))

    assert len(ax.patches) == 0
    assert ax.lines[0].get_xdata() == [2.0, 2.0]


def test_fewer_than_two_resamples_are_refused():
    with pytest.raises(InvalidInput, match="resamples must be two or more, got 1"):
        bootstrap_data(analysis_of([1.0, 2.0]), "a", "b", resamples=1)


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-13, 1e-9])
@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
def test_differences_that_are_nearly_constant_can_be_drawn(noise, difference):
    rng = np.random.default_rng(3)
    old = rng.normal(10, 1, 12)
    new = (old + 0.7 if difference == "simple" else old * 1.1) * (1 + noise * rng.normal(size=12))
    frame = pd.DataFrame({"instance": list("abcdefghijkl"), "old": old, "new": new})
    analysis = analyse(frame, difference=difference, better="lower")

    assert draw_bootstrap(bootstrap_data(analysis, "old", "new")).figure.get_suptitle()
    assert draw_quantiles(quantiles_data(analysis, "old", "new")).figure.get_suptitle()
