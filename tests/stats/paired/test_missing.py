"""Differences that a pair lacks: every column is tested as if it stood alone, and too few are never a claim."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ampler.analysis.compare import compare, equivalence
from ampler.stats.paired import (
    TESTS,
    family_verdict,
    paired_test,
    present,
    present_columns,
    sample_estimate,
    sample_interval,
    sample_p_value,
)
from ampler.stats.power import effect_intervals

NAN = math.nan
BY_HOLM = [name for name, row in TESTS.items() if row.family is None]
TOGETHER = [name for name, row in TESTS.items() if row.family is not None]
CHANCE = 0.02  # other resamples, another p-value: four standard errors of 9 999 near one half


def gappy(seed, shape=(14, 3), share=0.3):
    """Differences of which some are missing, but two or more are left in each column."""
    rng = np.random.default_rng(seed)
    differences = rng.normal(rng.normal(size=shape[1]), 1.0, shape).round(3)
    missing = rng.random(shape) < share
    missing[:2] = False
    return np.where(missing, NAN, differences)


def test_what_is_missing_is_left_out_and_the_rest_keeps_its_order():
    assert present(np.array([3.0, NAN, -1.0, NAN, 2.0])).tolist() == [3.0, -1.0, 2.0]
    assert [column.tolist() for column in present_columns(np.array([[1.0, NAN], [2.0, 5.0]]))] == [[1.0, 2.0], [5.0]]


@given(st.integers(0, 10**6), st.sampled_from(BY_HOLM))
def test_each_column_is_tested_as_if_the_instances_it_lacks_had_never_been(seed, test):
    differences = gappy(seed)
    row, pairs = paired_test(test), [("a", "b"), ("a", "c"), ("a", "d")]
    for result, column in zip(compare(differences, pairs, test=test), differences.T, strict=True):
        alone = column[~np.isnan(column)]
        assert result.instances == len(alone)
        assert result.p_value == row.p_value(alone, "two-sided")
        assert result.estimate == row.estimate(alone)
        assert result.interval == row.interval(alone, "two-sided", result.alpha)[:2]
        assert result.effect_interval == pytest.approx(effect_intervals(alone[:, None])[0], rel=1e-9, nan_ok=True)


@given(st.integers(0, 10**6), st.sampled_from(BY_HOLM))
def test_equivalence_too_is_tested_on_the_instances_of_each_pair(seed, test):
    differences = gappy(seed)
    together = equivalence(differences, margin=1.0, test=test)
    for result, column in zip(together, differences.T, strict=True):
        alone = equivalence(column[~np.isnan(column)][:, None], margin=1.0, test=test)[0]
        assert result.p_value == alone.p_value


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("there", [0, 1])
def test_a_pair_with_fewer_than_two_instances_is_never_rejected_and_knows_nothing(test, there):
    differences = np.column_stack([np.linspace(1.0, 2.0, 12), np.full(12, NAN)])
    differences[:there, 1] = 9.0
    known, unknown = compare(differences, [("a", "b"), ("a", "c")], test=test, alpha=0.1)
    assert known.rejected
    assert not unknown.rejected
    assert (unknown.p_value, unknown.p_holm, unknown.instances) == (1.0, 1.0, there)
    assert unknown.interval == unknown.joint_interval == (-math.inf, math.inf)
    assert all(map(math.isnan, (unknown.estimate, unknown.effect_size, *unknown.effect_interval)))
    assert not equivalence(differences, margin=100.0, test=test)[1].established


def test_two_differences_have_the_interval_of_students_t():
    interval = sample_interval(paired_test("t"), np.array([1.0, 2.0]), "two-sided", 0.05)

    assert interval[:2] == pytest.approx(stats.t.interval(0.95, 1, loc=1.5, scale=0.5), rel=1e-9)


@pytest.mark.parametrize("test", TESTS)
def test_questions_to_a_single_difference_have_an_answer_that_claims_nothing(test):
    row, one = paired_test(test), np.array([5.0])
    assert sample_p_value(row, one, "greater") == 1.0
    assert sample_interval(row, one, "two-sided", 0.05) == (-math.inf, math.inf, 1.0)
    assert math.isnan(sample_estimate(row, one))


@pytest.mark.parametrize("test", BY_HOLM)
def test_instances_that_a_column_lacks_change_nothing_for_the_others(test):
    full = gappy(3, share=0.0)
    holes = full.copy()
    holes[4:9, 2] = NAN
    there, here = (family_verdict(each, test=test, alternative="two-sided", alpha=0.05) for each in (full, holes))
    assert there.p_values[:2].tolist() == here.p_values[:2].tolist()
    assert there.joint_intervals[:2] == here.joint_intervals[:2]


@pytest.mark.parametrize("test", TOGETHER)
def test_what_is_judged_together_uses_the_instances_of_each_pair(test):
    differences = gappy(5)
    row, pairs = paired_test(test), [("a", "b"), ("a", "c"), ("a", "d")]
    within = equivalence(differences, margin=1.0, test=test)
    for k, result in enumerate(compare(differences, pairs, test=test)):
        alone = present(differences[:, k])
        assert result.instances == len(alone)
        assert result.estimate == row.estimate(alone)
        assert result.p_value == pytest.approx(row.p_value(alone, "two-sided"), abs=2 * CHANCE)
        assert within[k].p_value == pytest.approx(
            equivalence(alone[:, None], margin=1.0, test=test)[0].p_value, abs=2 * CHANCE
        )


@pytest.mark.parametrize("test", TOGETHER)
def test_instances_that_a_column_lacks_change_the_others_by_resampling_alone(test):
    full = gappy(3, share=0.0)
    holes = full.copy()
    holes[4:9, 2] = NAN
    there, here = (family_verdict(each, test=test, alternative="two-sided", alpha=0.05) for each in (full, holes))
    assert here.p_values[:2] == pytest.approx(there.p_values[:2], abs=CHANCE)
