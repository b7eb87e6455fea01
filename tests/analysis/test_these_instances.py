"""Conclusions about these instances alone: run-to-run variation decides, instances are no sample."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import ampler as am
from ampler.analysis import analyse_runs
from ampler.analysis.fixed_instances import improvement, interquartile_mean
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData, InvalidInput
from ampler.core.settings import Settings


def runs_of(first, second):
    """Runs of two algorithms from arrays with a row for each instance."""
    names = [f"i{row}" for row, values in enumerate(first) for _ in values]
    algorithms = ["a"] * len(names) + ["b"] * len(names)
    return Runs.from_columns(names * 2, algorithms, np.concatenate([np.ravel(first), np.ravel(second)]))


def analysed(runs, **settings):
    return analyse_runs(runs, Settings(**{"difference": "simple", "inference": "these instances", **settings}))


def test_on_one_stratum_it_is_a_t_test_with_the_smaller_sample():
    rng = np.random.default_rng(1)
    first, second = rng.normal(0, 1, (1, 8)), rng.normal(1, 1, (1, 8))
    twice = analysed(runs_of(np.repeat(first, 2, axis=0), np.repeat(second, 2, axis=0))).comparisons[0]
    error = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 8 / 2)
    estimate = first.mean() - second.mean()

    assert twice.estimate == pytest.approx(estimate)
    assert twice.p_value == pytest.approx(2 * stats.t.sf(abs(estimate) / error, 14))


def test_differences_between_instances_do_not_matter_and_the_words_say_which_question_was_answered():
    rng = np.random.default_rng(2)
    shift = rng.normal(0.3, 3, (12, 1))  # it differs from instance to instance
    runs = runs_of(rng.normal(0, 0.1, (12, 6)), rng.normal(0, 0.1, (12, 6)) + shift)
    like, these = analysed(runs, inference="instances like these"), analysed(runs)

    assert not like.comparisons[0].rejected
    assert these.comparisons[0].claimed
    assert "on these instances" in these.comparisons[0].verdict
    assert "over these instances alone" in " ".join(str(these).split())
    assert "these instances" not in str(like)


def test_one_run_in_a_cell_is_refused():
    with pytest.raises(InvalidData, match="need two runs of each algorithm"):
        analysed(runs_of(np.arange(5.0)[:, None], np.arange(5.0)[:, None] ** 2))


@pytest.mark.parametrize("settings", [{"test": "wilcoxon"}, {"difference": "percent"}])
def test_what_it_cannot_answer_is_refused_in_one_sentence(settings):
    with pytest.raises(InvalidInput, match="conclusions about these instances alone need"):
        Settings(**{"difference": "simple", "inference": "these instances", **settings})


def test_a_report_says_whom_it_is_about(tmp_path):
    rng = np.random.default_rng(3)
    analysis = analysed(runs_of(rng.normal(2, 1, (9, 5)), rng.normal(3, 1, (9, 5))), difference="ratio", shift=10.0)
    analysis = replace(analysis, settings=replace(analysis.settings, better="lower"))
    for name in ("report.md", "report.html"):
        report = am.write_report(analysis, tmp_path / name).read_text()
        assert "interquartile mean" in report
        assert "conclusions hold for these instances only" in report


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["normal", "exponential"])
@pytest.mark.parametrize(("instances", "runs"), [(5, 5), (5, 30), (20, 5), (20, 10), (20, 30)])
def test_intervals_cover_the_difference_on_these_instances(noise, instances, runs):
    rng, studies, covered = np.random.default_rng(4), 1000, 0
    for _ in range(studies):
        scale = np.exp(rng.normal(0, 1, (instances, 1)))
        draw = rng.standard_normal if noise == "normal" else lambda size: rng.exponential(size=size) - 1
        first, second = (draw((instances, runs)) * scale for _ in range(2))
        low, high = analysed(runs_of(first, second)).comparisons[0].joint_interval
        covered += low <= 0 <= high

    assert covered / studies >= 0.94 - 3 * (0.94 * 0.06 / studies) ** 0.5


def test_the_interquartile_mean_and_the_improvement_are_those_of_a_direct_computation():
    rng = np.random.default_rng(5)
    first, second = rng.normal(2, 1, (6, 8)), rng.normal(2.5, 1, (6, 8))
    document = analysed(runs_of(first, second), better="lower").as_dict()

    for row, values in zip(document["interquartile_means"], (first, second), strict=True):
        assert row["estimate"] == pytest.approx(stats.trim_mean(values.ravel(), 0.25))
    wins = [stats.mannwhitneyu(b, a).statistic / 64 for a, b in zip(first, second, strict=True)]  # lower is better
    assert document["improvements"][0]["estimate"] == pytest.approx(np.mean(wins))


@pytest.mark.parametrize("studies", [150, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("noise", ["normal", "exponential"])
@pytest.mark.parametrize("runs", [5, 20])
def test_both_intervals_cover_the_truth_over_the_runs(noise, runs, studies):
    rng, covered = np.random.default_rng(6), np.zeros(2)
    draw = rng.normal if noise == "normal" else lambda loc, scale, size: loc + rng.exponential(scale, size) - scale
    means = np.linspace(0, 3, 10)[:, None]
    truth = interquartile_mean(list(draw(means, 1, (10, 100_000))), 0.05)[0]
    for _ in range(studies):
        first, second = (list(draw(means, 1, (10, runs))) for _ in range(2))
        for k, (low, high), true in (
            (0, interquartile_mean(first, 0.05)[1], truth),
            (1, improvement(first, second, "lower", 0.05)[1], 0.5),
        ):
            covered[k] += low <= true <= high
    assert (covered / studies >= 0.94 - 3 * (0.94 * 0.06 / studies) ** 0.5).all()


def test_an_improvement_without_exception_is_not_certain():
    estimate, (low, high) = improvement([np.arange(3.0)] * 4, [np.arange(3.0) + 9] * 4, "lower", 0.05)
    assert (estimate, high) == (1.0, 1.0)
    assert low == pytest.approx(0.025 ** (1 / 12))
