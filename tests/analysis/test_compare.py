"""Families of comparisons: Holm, intervals, effect sizes, equivalence; against R, scipy, simulation and laws."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from ampler.analysis import analyse_runs
from ampler.analysis.compare import compare, equivalence, p_values
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData
from ampler.core.settings import Settings
from ampler.stats.holm import step_down
from ampler.stats.paired import paired_test

GOLD = json.loads((Path(__file__).parents[1] / "gold" / "analysis.json").read_text())
NAMES = {"t": "t.test", "wilcoxon": "wilcoxon", "sign": "binomial"}
DATA = pytest.mark.parametrize("data", GOLD, ids=lambda data: data["name"])
TEST = pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])

families = st.tuples(st.integers(4, 20), st.integers(1, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(-100, 100).map(lambda x: round(x, 3)))
)


def pairs_of(differences):
    """A name for each pair, that is for each column."""
    return [("a", f"b{k}") for k in range(np.shape(differences)[1])]


def compared(data, test):
    alternative, differences = data["alternative"].replace(".", "-"), np.array(data["Phi"], float)
    test = {"wilcoxon": "wilcoxon-normal"}.get(test, test)  # as R, where differences tie
    return compare(differences, pairs_of(differences), test=test, alternative=alternative, alpha=data["alpha"])


# against R --------------------------------------------------------------------------------------------------------


@DATA
@TEST
def test_holms_ranks_levels_and_decisions_are_those_of_r(data, test):
    gold, results = data["tests"][NAMES[test]], compared(data, test)
    assert [result.rank for result in results] == gold["holm_rank"]
    assert [result.rejected for result in results] == gold["reject_step_down"]
    np.testing.assert_allclose([result.alpha for result in results], gold["alpha_r"], rtol=1e-12)
    np.testing.assert_allclose([result.p_value for result in results], gold["p"], rtol=1e-9)
    np.testing.assert_allclose([result.p_holm for result in results], gold["p_holm"], rtol=1e-9)


def test_holm_steps_down_and_not_up():
    gap = next(data for data in GOLD if data["name"] == "holm_gap_1")
    assert not any(result.rejected for result in compared(gap, "t"))
    assert all(gap["tests"]["t.test"]["reject_paper_text"])  # a step-up rule would reject both


# laws -------------------------------------------------------------------------------------------------------------


@given(families, st.sampled_from(["t", "wilcoxon", "sign"]))
def test_swapping_every_pair_turns_every_sign_and_nothing_else(differences, test):
    pairs = pairs_of(differences)
    for there, back in zip(
        compare(differences, pairs, test=test), compare(-differences, pairs, test=test), strict=True
    ):
        assert (there.rank, there.rejected, there.alpha) == (back.rank, back.rejected, back.alpha)
        assert there.effect_size == pytest.approx(-back.effect_size, nan_ok=True)
        assert there.effect_interval == pytest.approx((-back.effect_interval[1], -back.effect_interval[0]), nan_ok=True)
        if test != "sign":
            assert there.interval == pytest.approx((-back.interval[1], -back.interval[0]), abs=1e-9)


@given(families, st.sampled_from(["t", "wilcoxon", "sign"]))
def test_adjusted_p_values_joint_intervals_and_levels_fit_together(differences, test):
    results = compare(differences, pairs_of(differences), test=test, alpha=0.1)
    size = len(results)
    assert [(result.first, result.second) for result in results] == pairs_of(differences)
    assert sorted(result.rank for result in results) == list(range(1, size + 1))
    for result, column in zip(results, differences.T, strict=True):
        assert result.rejected == (result.p_holm <= 0.1)
        assert result.alpha == pytest.approx(0.1 / (size - result.rank + 1))
        assert result.p_holm >= result.p_value
        lower, upper, level = paired_test(test).interval(column, "two-sided", 0.1 / size)
        assert result.joint_interval == ((lower, upper) if level >= 1 - 0.1 / size else (-math.inf, math.inf))
        assert result.joint_interval[0] <= result.interval[0] + 1e-9
        assert result.joint_interval[1] >= result.interval[1] - 1e-9


@given(families, st.floats(0.5, 200))
def test_equivalence_is_a_shorter_interval_within_the_margin(differences, margin):
    """The two one-sided t-tests at level a say what the interval at level 1 − 2a says."""
    for result, column in zip(equivalence(differences, margin=margin), differences.T, strict=True):
        lower, upper, _ = paired_test("t").interval(column, "two-sided", 2 * result.alpha)
        if abs(result.p_value - result.alpha) > 1e-9:
            assert (result.p_value <= result.alpha) == (-margin < lower and upper < margin)


@given(families, st.sampled_from(["t", "wilcoxon", "sign"]))
def test_a_wider_margin_is_never_harder_to_establish(differences, test):
    narrow, wide = (equivalence(differences, margin=margin, test=test) for margin in (1.0, 50.0))
    assert all(w.p_value <= n.p_value + 1e-9 for n, w in zip(narrow, wide, strict=True))
    assert all(w.established for n, w in zip(narrow, wide, strict=True) if n.established)


def test_a_joint_interval_that_cannot_reach_its_level_is_the_whole_line():
    five = np.array([[1.0, 2.0], [2.0, 3.0], [3.5, 1.0], [4.0, 5.0], [5.5, 2.5]])
    for result in compare(five, pairs_of(five), test="wilcoxon"):
        assert result.joint_interval == (-math.inf, math.inf)
        assert result.level <= 0.95


# simulation -------------------------------------------------------------------------------------------------------


def family_errors(rng, families, test, *, n=20, size=4, alpha=0.1):
    """How often a family of true nulls has a rejection, and how often joint intervals all cover."""
    wrong = covered = 0
    method = paired_test(test)
    for _ in range(families):
        x = rng.normal(size=(n, size)) + rng.normal(size=(n, 1))
        p = p_values(x, test=test)
        wrong += bool((p <= alpha / size).any())  # Holm's first step decides whether anything is rejected
        bounds = [method.interval(column, "two-sided", alpha / size) for column in x.T]
        null = 0.5 if test == "sign" else 0.0
        covered += all(lower <= null <= upper for lower, upper, _ in bounds)
    return wrong, covered


@TEST
def test_true_nulls_are_rejected_in_at_most_alpha_of_the_families_and_joint_intervals_cover(test):
    wrong, covered = family_errors(np.random.default_rng(11), 300, test)
    assert stats.binomtest(wrong, 300, 0.1, alternative="greater").pvalue > 1e-4
    assert stats.binomtest(covered, 300, 0.9, alternative="less").pvalue > 1e-4


@pytest.mark.slow
@TEST
def test_true_nulls_and_joint_intervals_in_a_long_simulation(test):
    wrong, covered = family_errors(np.random.default_rng(12), 10_000, test)
    assert stats.binomtest(wrong, 10_000, 0.1, alternative="greater").pvalue > 1e-4
    assert stats.binomtest(covered, 10_000, 0.9, alternative="less").pvalue > 1e-4


def both_claims_err(rng, families):
    """How often differences at a/2 and equivalence at a/2 make any false claim; truth: 0 or exactly the margin."""
    wrong = 0
    for _ in range(families):
        x = rng.normal(size=(30, 2)) + np.array([0.0, 1.0])
        different = step_down(p_values(x, test="t"), 0.05).rejected[0]
        wrong += bool(different or equivalence(x[:, 1:], margin=1.0, alpha=0.05)[0].established)
    return wrong


def test_claiming_differences_and_equivalence_at_half_of_alpha_each_errs_in_at_most_alpha():
    wrong = both_claims_err(np.random.default_rng(13), 400)
    assert stats.binomtest(wrong, 400, 0.1, alternative="greater").pvalue > 1e-4


def test_more_comparisons_than_anyone_reads_are_refused_before_they_are_made():
    runs = Runs.from_columns(["i", "j"] * 1500, [f"a{k}" for k in range(1500) for _ in "ij"], np.arange(3000.0) % 17)
    with pytest.raises(InvalidData, match=r"1,500 algorithms .* 1,124,250 comparisons.*name a reference"):
        analyse_runs(runs, Settings(difference="simple"))
    assert len(analyse_runs(runs, Settings(difference="simple", reference="a7")).comparisons) == 1499
