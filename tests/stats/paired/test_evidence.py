"""The tests on many samples at once against the same tests on one sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ampler.stats.paired import paired_test
from ampler.stats.paired.evidence import EVIDENCE

# whole numbers make ties and zeros, fractions do not
samples = st.integers(2, 60).flatmap(
    lambda n: st.one_of(
        st.lists(st.lists(st.integers(-6, 9).map(float), min_size=n, max_size=n), min_size=1, max_size=4),
        st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).normal(0.3, 1.0, (4, n)).tolist()),
    )
)


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
@given(samples)
@settings(deadline=None)
def test_evidence_is_minus_the_p_value_of_the_single_test(test, rows):
    data = np.array(rows)
    for two_sided, alternative in ((True, "two-sided"), (False, "greater")):
        evidence, _ = EVIDENCE[test](data, two_sided)

        expected = [paired_test(test).p_value(row, alternative) for row in data]

        assert (-evidence).tolist() == pytest.approx(expected, rel=1e-12)


@given(st.integers(2, 80), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_evidence_of_t_is_its_statistic(n, seed):
    data = np.random.default_rng(seed).normal(0.2, 1.0, (5, n))
    t = stats.ttest_1samp(data, 0.0, axis=1).statistic

    evidence, upward = EVIDENCE["t"](data, True)
    one_sided, _ = EVIDENCE["t"](data, False)

    assert evidence.tolist() == pytest.approx(np.abs(t).tolist(), rel=1e-9)
    assert one_sided.tolist() == pytest.approx(t.tolist(), rel=1e-9)
    assert upward.tolist() == (t > 0).tolist()


@pytest.mark.parametrize("test", sorted(EVIDENCE))
def test_differences_that_are_all_zero_are_no_evidence_at_all(test):
    evidence, upward = EVIDENCE[test](np.zeros((1, 12)), True)

    assert evidence.tolist() == [0.0 if test == "t" else -1.0]
    assert upward.tolist() == [False]


@pytest.mark.parametrize("test", sorted(EVIDENCE))
def test_evidence_points_to_the_side_where_the_differences_are(test):
    data = np.random.default_rng(1).normal(1.0, 1.0, (1, 30))

    assert EVIDENCE[test](data, True)[1].tolist() == [True]
    assert EVIDENCE[test](-data, True)[1].tolist() == [False]
