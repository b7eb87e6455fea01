"""The signed-rank distribution and the ordered pairwise means, against enumeration."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import rankdata

import ampler as am
from ampler.stats.paired import paired_test, wilcoxon
from ampler.stats.paired.wilcoxon import signed_rank_distribution

different = st.lists(st.integers(-(10**6), 10**6).filter(bool), min_size=5, max_size=60, unique_by=abs).map(
    lambda numbers: np.array(numbers) + np.linspace(0, 0.3, len(numbers))
)


def test_a_level_that_cannot_be_reached_is_reported_as_the_lower_one_it_is():
    five = np.array([1.0, 2.0, 3.5, 4.0, 5.5])
    assert paired_test("wilcoxon").interval(five, "two-sided", 0.025) == (1.0, 5.5, 0.9375)  # 1 − 2·2⁻⁵


@pytest.mark.parametrize(("alpha", "bounds"), [(0.001, (1.0, 3.5, 0.872)), (0.01, (1.5, 3.0, 0.84))])
def test_with_ties_too_the_level_that_was_reached_is_told(alpha, bounds):
    """R 4.2: wilcox.test(c(1, 1, 2, 3, 3, 4), conf.int = TRUE, conf.level = 1 - alpha), whose search stops at 1e-4."""
    tied = np.array([1.0, 1.0, 2.0, 3.0, 3.0, 4.0])
    assert paired_test("wilcoxon-normal").interval(tied, "two-sided", alpha) == pytest.approx(bounds)


def test_a_level_that_a_sum_of_ranks_has_exactly_leaves_the_interval_that_r_gives():
    """R 4.2: wilcox.test(c(1, 2, 4, 8, 16), conf.int = TRUE, conf.level = 0.875); P(W <= 1) is 0.125/2 exactly."""
    assert paired_test("wilcoxon").interval(np.array([1.0, 2, 4, 8, 16]), "two-sided", 0.125) == (1.0, 16.0, 0.875)


@pytest.mark.parametrize("n", range(1, 11))
def test_the_signed_rank_distribution_is_what_counting_all_signs_gives(n):
    sums = [sum(subset) for size in range(n + 1) for subset in itertools.combinations(range(1, n + 1), size)]
    counted = [sum(total <= w for total in sums) / 2**n for w in range(n * (n + 1) // 2 + 1)]
    assert signed_rank_distribution(n).tolist() == counted


def test_the_largest_exact_distribution_loses_no_digit():
    steps = np.diff(signed_rank_distribution(49), prepend=0.0) * 2.0**49
    assert steps.sum() == 2.0**49
    assert np.array_equal(steps, np.round(steps))
    assert steps[:6].tolist() == [1, 1, 1, 2, 2, 3]  # partitions into distinct parts


@given(different, st.sampled_from([0.2, 0.05, 0.01]), st.floats(-1e6, 1e6))
def test_wilcoxons_interval_holds_exactly_the_shifts_its_test_does_not_reject(x, alpha, shift):
    bounds = paired_test("wilcoxon").interval(x, "two-sided", alpha)
    assume(bounds.level == 1 - alpha)
    means = (x[:, None] + x) / 2
    assume(np.abs(means - shift).min() > 1e-6)  # at a pairwise mean itself the shifted differences are tied or zero
    assume(len(np.unique(np.abs(x - shift))) == len(x))
    inside = bounds.lower <= shift <= bounds.upper
    assert inside == (paired_test("wilcoxon").p_value(x - shift, "two-sided") > alpha)


@pytest.mark.parametrize(("n", "places"), [(1501, 2), (2000, 2), (501, 15)])  # with ties, and without
def test_counting_pairwise_means_gives_what_forming_them_gives(n, places, monkeypatch):
    x = np.round(np.random.default_rng(n).normal(0.1, 1, n), places)
    counted = paired_test("wilcoxon").interval(x, "two-sided", 0.01), paired_test("wilcoxon").estimate(x)
    monkeypatch.setattr(wilcoxon, "EXPLICIT_WALSH", n)
    formed = paired_test("wilcoxon").interval(x, "two-sided", 0.01), paired_test("wilcoxon").estimate(x)
    np.testing.assert_allclose(np.hstack(counted), np.hstack(formed), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("alternative", "p"), [("two-sided", 0.051912964935018277), ("greater", 0.025956482467509139)])
def test_a_single_zero_makes_the_test_of_version_0_2_normal_for_one_sample_and_for_many(alternative, p):
    """R 4.2: wilcox.test(c(0, 1, -2, 3, 4.5, 6, 7.5, 9), alternative)."""
    x = np.array([0.0, 1.0, -2.0, 3.0, 4.5, 6.0, 7.5, 9.0])
    many = paired_test("wilcoxon-normal").many(np.array([x, x + 1]), alternative).p_values
    assert paired_test("wilcoxon-normal").p_value(x, alternative) == pytest.approx(p, rel=1e-12)
    assert many[0] == pytest.approx(p, rel=1e-12)


def test_a_statistic_at_its_mean_is_no_evidence():
    """The continuity correction may not push a statistic that is just what chance gives to one side."""
    tied = np.array([1.0, -1.0, 2.0, -2.0])
    assert paired_test("wilcoxon").p_value(tied, "two-sided") == 1.0
    assert paired_test("wilcoxon").p_value(tied, "less") == paired_test("wilcoxon").p_value(tied, "greater") > 0.5


# ties and zeros ---------------------------------------------------------------------------------------------------


def enumerated(x, alternative):
    """The p-value by counting all signs of the mean ranks of the differences that are not zero."""
    kept = x[x != 0]
    ranks = rankdata(np.abs(kept))
    sums = np.array([np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=len(kept))])
    above = float(ranks[kept > 0].sum())
    tails = float(np.mean(sums >= above - 1e-9)), float(np.mean(sums <= above + 1e-9))
    return {"greater": tails[0], "less": tails[1], "two-sided": min(1.0, 2 * min(tails))}[alternative]


small = st.lists(st.integers(-4, 5), min_size=1, max_size=12).map(lambda numbers: np.array(numbers, float))
alternatives = st.sampled_from(["two-sided", "greater", "less"])


@given(small, alternatives)
def test_with_ties_and_zeros_the_p_value_is_what_counting_all_signs_gives(x, alternative):
    expected = enumerated(x, alternative)
    assert paired_test("wilcoxon").p_value(x, alternative) == pytest.approx(expected, abs=1e-13)
    assert paired_test("wilcoxon").many(np.array([x, x]), alternative).p_values == pytest.approx(
        [expected] * 2, abs=1e-13
    )


@given(small, alternatives, st.sampled_from([0.3, 0.1, 0.05]))
def test_with_ties_and_zeros_the_interval_agrees_with_the_test(x, alternative, alpha):
    assume(np.count_nonzero(x) > 1)
    bounds = paired_test("wilcoxon").interval(x, alternative, alpha)
    assume(bounds.level == 1 - alpha)
    if paired_test("wilcoxon").p_value(x, alternative) > alpha:
        assert bounds.lower <= 0 <= bounds.upper
    else:
        assert not bounds.lower < 0 < bounds.upper
    assert bounds.lower <= bounds.upper


@given(st.lists(st.integers(-30, 30), min_size=50, max_size=60).map(lambda numbers: np.array(numbers, float)))
def test_from_fifty_differences_on_the_test_is_that_of_r(x):
    kept = x[x != 0]
    exact, normal = (paired_test(name).p_value(kept, "two-sided") for name in ("wilcoxon", "wilcoxon-normal"))
    assert len(kept) < 50 or exact == normal


def counted(x, alternative):
    """The p-value by adding the doubled ranks one by one and counting in how many ways each sum comes about."""
    kept = x[x != 0]
    ranks = [int(2 * rank) for rank in rankdata([float(f"{size:.9e}") for size in np.abs(kept)])]
    ways = Counter({0: 1})
    for rank in ranks:
        ways += Counter({total + rank: count for total, count in ways.items()})
    above = sum(rank for rank, each in zip(ranks, kept, strict=True) if each > 0)
    greater = sum(count for total, count in ways.items() if total >= above)
    less = sum(count for total, count in ways.items() if total <= above)
    tails = {"greater": greater, "less": less, "two-sided": min(2 * min(greater, less), 2 ** len(ranks))}
    return float(Fraction(tails[alternative], 2 ** len(ranks)))


PUBLIC = {
    "Demšar": ("demsar2006_table6.csv", {}),
    "Benavoli": ("benavoli2017_accuracies_mean.csv", {}),
    "diagram": ("cd_diagram_example.csv", {}),
    "IOH, values": ("ioh_dsl_large_final.csv", {"value": "finalFV", "where": {"dim": "100"}}),
    "IOH, evaluations": ("ioh_dsl_large_final.csv", {"value": "maxRT", "where": {"dim": "100"}}),
    "CEC'17": ("cec17_extended_final.csv.gz", {"value": "Result", "where": {"Dimension": "10"}}),
}


@pytest.mark.parametrize("table", PUBLIC)
def test_every_pair_of_public_tables_has_the_p_value_of_counting(table, public_data):
    name, columns = PUBLIC[table]
    file = pandas.read_csv(public_data / name).head(45) if table == "Benavoli" else public_data / name
    results = am.read_results(file, **columns)
    analysis = am.analyse(results, difference="simple", better="higher", test="wilcoxon")
    assert analysis.instances < 50
    for comparison in analysis.comparisons:
        differences = analysis.differences[:, analysis.pairs.index(comparison.pair)]
        expected = counted(differences[np.isfinite(differences)], "two-sided")
        assert comparison.p_value == pytest.approx(expected, rel=1e-12)
