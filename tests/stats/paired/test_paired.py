"""Paired tests against R, against scipy, one sample against many, and the laws they must obey."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from ampler.stats.paired import TESTS, paired_test

GOLD = json.loads((Path(__file__).parents[2] / "gold" / "analysis.json").read_text())
NAMES = {"t": "t.test", "wilcoxon": "wilcoxon", "sign": "binomial"}
ALTERNATIVES = ("two-sided", "less", "greater")
MIRROR = {"two-sided": "two-sided", "less": "greater", "greater": "less"}


def gold_cases(test):
    """Every comparison of every data set: the differences, the alternative, and R's answers by name."""
    for data in GOLD:
        answers = data["tests"][NAMES[test]]
        for k in range(data["K"]):
            row = {key: value[k] for key, value in answers.items() if isinstance(value, list)}
            yield np.array(data["Phi"], float)[:, k], data["alternative"].replace(".", "-"), row


def number(value):
    return {"Inf": math.inf, "-Inf": -math.inf}.get(value, value)


@pytest.mark.parametrize("test", TESTS)
def test_every_row_answers_all_questions(test):
    row, differences = paired_test(test), np.array([1.1, -0.4, 2.0, 3.2, 0.7])

    assert 0 < row.p_value(differences, "two-sided") <= 1
    assert row.many(differences[None], "two-sided").p_values.shape == (1,)
    lower, upper, _ = row.interval(differences, "two-sided", 0.2)
    assert lower <= row.estimate(differences) <= upper
    assert row.leaning(differences) > 0 > row.leaning(-differences)


# R takes the normal approximation where differences tie, which is exact here; studies of version 0.2 keep R's.
AS_R = {"wilcoxon": "wilcoxon-normal"}

# against R --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_p_values_are_those_of_r(test):
    ours, theirs = [], []
    for differences, alternative, row in gold_cases(test):
        ours.append(paired_test(AS_R.get(test, test)).p_value(differences, alternative))
        theirs.append(row["p"])
    assert len(ours) == 135
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_t_estimates_and_intervals_are_those_of_r():
    for differences, alternative, row in gold_cases("t"):
        bounds = paired_test("t").interval(differences, alternative, row["alpha_r"])
        np.testing.assert_allclose(paired_test("t").estimate(differences), row["estimate"], rtol=1e-9)
        np.testing.assert_allclose(bounds[:2], [number(row["ci_lower"]), number(row["ci_upper"])], rtol=1e-9)
        assert bounds.level == 1 - row["alpha_r"]


def test_sign_estimates_and_intervals_are_those_of_r():
    for differences, alternative, row in gold_cases("sign"):
        bounds = paired_test("sign").interval(differences, alternative, row["alpha_r"])
        assert paired_test("sign").estimate(differences) == pytest.approx(row["estimate"], abs=1e-12)
        np.testing.assert_allclose(bounds[:2], [row["ci_lower"], row["ci_upper"]], atol=1e-9)


def test_wilcoxon_intervals_are_those_of_r():
    for differences, alternative, row in gold_cases("wilcoxon"):
        bounds = paired_test("wilcoxon-normal").interval(differences, alternative, row["alpha_r"])
        theirs = [number(row["ci_lower_tight"]), number(row["ci_upper_tight"])]
        if "exact" in row["method"]:
            np.testing.assert_allclose(bounds[:2], theirs, rtol=1e-12)
        else:
            np.testing.assert_allclose(bounds[:2], theirs, rtol=0, atol=1e-7 * np.abs(differences).max())


def test_the_pseudomedian_is_that_of_r_or_the_middle_of_the_piece_on_which_r_stopped():
    for differences, _, row in gold_cases("wilcoxon"):
        kept = differences[differences != 0]
        scale = 1e-7 * np.abs(differences).max()
        means = np.sort([(x + y) / 2 for x, y in itertools.combinations_with_replacement(kept, 2)])
        ours = paired_test("wilcoxon").estimate(differences)
        assert ours == pytest.approx(np.median(means), abs=1e-12)
        if "exact" in row["method"] or len(means) % 2:
            assert ours == pytest.approx(row["estimate_tight"], abs=scale)
        else:
            assert means[len(means) // 2 - 1] - scale <= row["estimate_tight"] <= means[len(means) // 2] + scale


# against scipy ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [2, 7, 49, 50, 300])
def test_continuous_differences_give_scipys_p_values_and_intervals(n, alternative):
    x = np.random.default_rng(n).normal(0.2, 1, n)
    t = stats.ttest_1samp(x, 0, alternative=alternative)
    w = stats.wilcoxon(x, alternative=alternative, method="exact" if n < 50 else "asymptotic", correction=n >= 50)
    b = stats.binomtest(int((x > 0).sum()), n, alternative=alternative)
    assert paired_test("t").p_value(x, alternative) == pytest.approx(t.pvalue, rel=1e-10)
    assert paired_test("wilcoxon").p_value(x, alternative) == pytest.approx(w.pvalue, rel=1e-10)
    assert paired_test("sign").p_value(x, alternative) == pytest.approx(b.pvalue, rel=1e-10)
    ours = paired_test("t").interval(x, alternative, 0.02)[:2]
    np.testing.assert_allclose(ours, t.confidence_interval(0.98), rtol=1e-10)
    ours = paired_test("sign").interval(x, alternative, 0.02)[:2]
    np.testing.assert_allclose(ours, b.proportion_ci(0.98, method="exact"), rtol=1e-10)


# one sample against many ------------------------------------------------------------------------------------------

# whole numbers make ties and zeros, fractions do not
samples = st.integers(2, 60).flatmap(
    lambda n: st.one_of(
        st.lists(st.lists(st.integers(-6, 9).map(float), min_size=n, max_size=n), min_size=1, max_size=4),
        st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).normal(0.3, 1.0, (4, n)).tolist()),
    )
)


@pytest.mark.parametrize("test", [name for name, row in TESTS.items() if row.family is None])
@given(samples)
@example([[0.0, 1.0, -2.0, 3.0, 5.0]])  # a zero is a tie with itself
def test_the_p_values_of_many_samples_are_those_of_each(test, rows):
    data, row = np.array(rows), paired_test(test)
    for alternative in ALTERNATIVES:
        expected = [row.p_value(sample, alternative) for sample in data]
        assert row.many(data, alternative).p_values.tolist() == pytest.approx(
            expected, rel=1e-9 if test == "t" else 1e-12, abs=1e-300
        )


@pytest.mark.parametrize("test", [name for name, row in TESTS.items() if row.family is not None])
def test_resampled_p_values_of_many_samples_are_those_of_each(test):
    data, row = np.random.default_rng(8).normal(0.3, 1.0, (2, 3, 12)), paired_test(test)
    for alternative in ALTERNATIVES:
        expected = [[row.p_value(sample, alternative) for sample in block] for block in data]
        assert row.many(data, alternative).p_values.tolist() == expected


@pytest.mark.parametrize("test", TESTS)
def test_many_samples_of_zeros_show_nothing(test):
    for alternative in ALTERNATIVES:
        p, upward = paired_test(test).many(np.zeros((1, 12)), alternative)
        assert (p.tolist(), upward.tolist()) == ([1.0], [False])


@pytest.mark.parametrize("test", TESTS)
def test_many_samples_point_to_the_side_where_their_differences_are(test):
    data = np.random.default_rng(1).normal(1.0, 1.0, (1, 30))
    assert paired_test(test).many(data, "two-sided").upward.tolist() == [True]
    assert paired_test(test).many(-data, "two-sided").upward.tolist() == [False]


# laws -------------------------------------------------------------------------------------------------------------

different = st.lists(st.integers(-(10**6), 10**6).filter(bool), min_size=5, max_size=60, unique_by=abs).map(
    lambda numbers: np.array(numbers) + np.linspace(0, 0.3, len(numbers))
)
any_numbers = st.lists(st.integers(-5, 5), min_size=3, max_size=60).map(lambda numbers: np.array(numbers, float))
tests = st.sampled_from(["t", "wilcoxon", "sign"])
alternatives = st.sampled_from(ALTERNATIVES)


@given(any_numbers, tests, alternatives)
def test_swapping_the_pair_mirrors_everything(x, test, alternative):
    method = paired_test(test)
    there, back = method.interval(x, alternative, 0.05), method.interval(-x, MIRROR[alternative], 0.05)
    centre = 1.0 if test == "sign" else 0.0
    assert method.p_value(x, alternative) == pytest.approx(method.p_value(-x, MIRROR[alternative]), rel=1e-12)
    assert there[:2] == pytest.approx((centre - back.upper, centre - back.lower), abs=1e-9)
    assert there.level == back.level
    if np.any(x != 0):
        assert method.estimate(x) == pytest.approx(centre - method.estimate(-x), abs=1e-12)
    assert method.leaning(x) == -method.leaning(-x)


@given(different, tests, st.sampled_from([0.2, 0.05, 0.01]), alternatives)
def test_p_is_at_most_the_level_exactly_when_the_interval_excludes_no_difference(x, test, alpha, alternative):
    method = paired_test(test)
    bounds = method.interval(x, alternative, alpha)
    assume(bounds.level == 1 - alpha)
    p = method.p_value(x, alternative)
    assume(abs(p - alpha) > 1e-9)
    null = 0.5 if test == "sign" else 0.0
    assert (p <= alpha) == (not bounds.lower <= null <= bounds.upper)


@given(any_numbers, tests, st.floats(1e-3, 1e3))
def test_the_unit_of_measurement_does_not_matter(x, test, unit):
    method = paired_test(test)
    assert method.p_value(x * unit, "two-sided") == pytest.approx(method.p_value(x, "two-sided"), rel=1e-6)


@given(any_numbers, tests)
def test_the_sides_of_a_two_sided_test_are_the_one_sided_tests(x, test):
    method = paired_test(test)
    two, less, greater = (method.p_value(x, alternative) for alternative in ALTERNATIVES)
    assert two == pytest.approx(min(1.0, 2 * min(less, greater)), rel=1e-9)


# the edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_differences_that_are_all_zero_show_nothing(test):
    method, zeros = paired_test(test), np.zeros(6)
    assert [method.p_value(zeros, alternative) for alternative in ALTERNATIVES] == [1.0, 1.0, 1.0]
    lower, upper, _ = method.interval(zeros, "two-sided", 0.05)
    null = 0.5 if test == "sign" else 0.0
    assert lower <= null <= upper


@pytest.mark.parametrize("magnitude", [1e-300, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("test", TESTS)
def test_extreme_magnitudes_change_no_p_value(test, magnitude):
    x = np.array([1.0, -0.5, 2.0, 0.75, 3.0, 1.25])
    method = paired_test(test)
    assert method.p_value(x * magnitude, "two-sided") == pytest.approx(method.p_value(x, "two-sided"), rel=1e-12)
    expected = method.estimate(x) if test == "sign" else method.estimate(x) * magnitude
    assert method.estimate(x * magnitude) == pytest.approx(expected, rel=1e-12)
