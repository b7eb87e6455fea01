"""One algorithm alone: its mean, rate or quantile with an interval."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ampler as am
from ampler.analysis.one_algorithm import quantile_interval, rate_interval
from ampler.core.errors import InvalidData


def frame(values, runs=1):
    names = [f"p{k // runs}" for k in range(len(values))]
    return pd.DataFrame({"solver": "a", "problem": names, "result": values})


def test_a_mean_has_students_interval():
    values = [3.0, 4.5, 2.0, 6.0, 5.5]
    description = am.describe(frame(values))
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    assert description.estimate == pytest.approx(np.mean(values))
    assert description.interval == pytest.approx(tuple(expected))
    assert (description.statistic, description.unit, description.units) == ("mean", "instance", 5)


def test_values_of_0_and_1_are_a_rate_with_wilsons_interval():
    description = am.describe(frame([1] * 40 + [0] * 10))
    expected = stats.binomtest(40, 50).proportion_ci(method="wilson")
    assert description.interval == pytest.approx((expected.low, expected.high))
    assert description.statistic == "rate"
    assert am.describe(frame([1] * 10)).interval == pytest.approx((1 / (1 + 1.959964**2 / 10), 1.0), rel=1e-6)


def test_a_median_has_an_exact_interval():
    values = np.arange(1.0, 11.0)
    description = am.describe(frame(values), statistic="median")
    assert (description.estimate, description.interval) == (5.5, (2.0, 9.0))


def test_the_runs_of_an_instance_are_averaged_and_those_of_one_alone_are_the_observations():
    description = am.describe(frame([1.0, 3.0, 5.0, 7.0, 2.0, 4.0], runs=2))
    assert (description.units, description.instances, description.runs) == (3, 3, 6)
    assert description.interval == pytest.approx(tuple(stats.ttest_1samp([2.0, 6.0, 3.0], 0).confidence_interval()))
    single = am.describe(frame([1.0, 3.0, 5.0], runs=3))
    assert (single.unit, single.units) == ("run", 3)


def test_clusters_are_the_independent_values():
    table = frame([1.0, 1.5, 2.0, 2.5, 4.0, 4.5]).assign(passage=list("xxyyzz"))
    description = am.describe(am.read_results(table, cluster="passage"))
    assert (description.unit, description.units) == ("cluster", 3)
    assert description.interval == pytest.approx(tuple(stats.ttest_1samp([1.25, 2.25, 4.25], 0).confidence_interval()))


@pytest.mark.parametrize(("q", "n"), [(0.5, 8), (0.9, 50), (0.25, 20)])
def test_the_interval_of_a_quantile_misses_on_each_side_as_seldom_as_promised(q, n):
    rng = np.random.default_rng(1)
    ends = np.array([quantile_interval(rng.random(n), q, 0.1) for _ in range(4000)])
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
    assert (ends[:, 0] > q).mean() <= limit
    assert (ends[:, 1] < q).mean() <= limit


@pytest.mark.parametrize(("instances", "runs", "spread"), [(20, 1, 0), (20, 5, 0), (20, 5, 3), (40, 10, 3)])
def test_the_interval_of_a_rate_covers_it(instances, runs, spread):
    rng, covered = np.random.default_rng(2), 0
    for _ in range(2000):
        chances = rng.beta(0.7 * spread, 0.3 * spread, instances) if spread else np.full(instances, 0.7)
        lower, upper = rate_interval(rng.binomial(runs, chances) / runs, 0.05)
        covered += lower <= 0.7 <= upper
    assert covered / 2000 >= 0.94 - 3 * np.sqrt(0.05 * 0.95 / 2000)


def test_failed_runs_count_as_the_user_says_and_are_named():
    table = frame([1.0, 2.0, np.nan, 4.0])
    with pytest.raises(InvalidData, match="choose their treatment"):
        am.describe(table)
    description = am.describe(am.read_results(table, on_failure="drop"))
    assert (description.failed, description.runs) == (1, 3)
    assert "1 failed run was left out" in str(description)


def test_what_cannot_be_described_is_refused():
    two = pd.DataFrame({"solver": ["a", "b"], "problem": ["p", "p"], "result": [1.0, 2.0]})
    with pytest.raises(InvalidData, match="one algorithm is described, got 2"):
        am.describe(am.read_results(two), settings=am.Settings(difference="simple", better="lower"))
    with pytest.raises(InvalidData, match="a rate needs values of 1"):
        am.describe(frame([1.0, 2.0]), statistic="rate")
    with pytest.raises(InvalidData, match="a median or a quantile, got statistic 'geometric-mean'"):
        am.describe(frame([1.0, 2.0]), statistic="geometric-mean")
    with pytest.raises(InvalidData, match=r"at least two algorithms.*ampler\.describe"):
        am.analyse(frame([1.0, 2.0]), difference="simple", better="lower")


def test_the_command_describes_one_algorithm(tmp_path, capsys, monkeypatch):
    from ampler.app.cli import main

    frame([1] * 8 + [0] * 2).to_csv(tmp_path / "runs.csv", index=False)
    for options in ([], ["--json"]):
        monkeypatch.setattr("sys.argv", ["ampler", "analyse", str(tmp_path / "runs.csv"), *options])
        with contextlib.suppress(SystemExit):  # with 0
            main()
    out = capsys.readouterr().out
    assert out.startswith("a: rate of result 0.800 (95 % CI 0.490 to 0.943; 10 instances, 10 runs).")
    assert json.loads(out[out.index("{") :])["units"] == 10
