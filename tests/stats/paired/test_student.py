"""The t-test on one sample and on many."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ampler.stats.descriptive import is_constant
from ampler.stats.paired import paired_test
from ampler.stats.paired.student import t_statistic

ALTERNATIVES = ("two-sided", "less", "greater")


def test_constant_differences_claim_nothing_and_rounding_does_not_hide_them():
    constant = np.array([0.3, 0.1 + 0.2, 0.3])
    assert is_constant(constant)
    assert not is_constant(np.array([0.3, 0.31, 0.3]))
    for same in (constant, np.zeros(3)):
        assert math.isnan(t_statistic(same))
        assert paired_test("t").p_value(same, "two-sided") == 1.0
        assert paired_test("t").interval(same, "two-sided", 0.05)[:2] == (-math.inf, math.inf)
        assert paired_test("t").many(same[None], "two-sided").p_values.tolist() == [1.0]


@given(st.integers(2, 80), st.integers(0, 2**32 - 1))
def test_the_p_values_of_many_t_tests_are_scipys(n, seed):
    data = np.random.default_rng(seed).normal(0.2, 1.0, (5, n))
    for alternative in ALTERNATIVES:
        theirs = stats.ttest_1samp(data, 0.0, axis=1, alternative=alternative)
        ours = paired_test("t").many(data, alternative)
        assert ours.p_values.tolist() == pytest.approx(theirs.pvalue.tolist(), rel=1e-9)
        assert ours.upward.tolist() == (theirs.statistic > 0).tolist()
