"""Numbers that differ by rounding alone are the same number."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ampler as am
from ampler.stats.descriptive import ROUNDING, settled, settled_rows
from ampler.stats.omnibus import friedman, ranks

numbers = arrays(float, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.floats(-1e6, 1e6))


def slowly(column, noise):
    """Groups of neighbours in size, one value at a time; zero is a neighbour too."""
    order = sorted((abs(value), noise[i], i) for i, value in enumerate(column))
    result, size, before = [0.0] * len(column), 0.0, (0.0, 0.0)
    for this, its_noise, i in order:
        if this - before[0] > its_noise + before[1]:
            size = this
        result[i] = size if column[i] > 0 else -size if size else 0.0
        before = (this, its_noise)
    return result


@given(numbers, st.sampled_from([0.0, 1e-12, 1.0, 1e5]))
def test_settling_is_what_a_slow_search_for_neighbours_gives(values, size):
    noise = np.full(values.shape, size)

    found = settled(values, noise)

    for k in range(values.shape[1]):
        assert found[:, k].tolist() == slowly(values[:, k].tolist(), noise[:, k].tolist())


@given(numbers)
def test_values_that_are_far_apart_stay_as_they_are(values):
    apart = np.round(values, 3)
    np.testing.assert_array_equal(settled(apart, np.full(apart.shape, 1e-12)), apart)


@given(arrays(float, (6, 4), elements=st.integers(1, 5).map(float)), st.integers(0, 10))
def test_ranks_do_not_see_rounding(values, seed):
    noise = 1 + 0.1 * ROUNDING * np.random.default_rng(seed).uniform(-1, 1, values.shape)

    np.testing.assert_array_equal(ranks(values * noise), ranks(values))
    assert friedman(values * noise).corrected.statistic == friedman(values).corrected.statistic


def test_rows_are_settled_each_by_itself():
    assert settled_rows(np.array([[0.1 + 0.2, 0.3, 5.0], [1.0, 0.3, 2.0]])).tolist() == [
        [0.3, 0.3, 5.0],
        [1.0, 0.3, 2.0],
    ]


def test_the_same_results_in_long_and_in_wide_form_give_the_same_tests():
    rng = np.random.default_rng(7)
    runs = rng.integers(1, 6, (15, 2, 3)) / 10  # means of tenths: many ties, all of them blurred by rounding
    long = {
        "instance": [f"i{i}" for i in range(15) for _ in range(6)],
        "algorithm": ["a", "b"] * 45,
        "value": runs.transpose(0, 2, 1).ravel(),
    }
    wide = pd.DataFrame(
        {"instance": [f"i{i}" for i in range(15)], "a": runs[:, 0].sum(1) / 3, "b": runs[:, 1].sum(1) / 3}
    )
    for test in ("sign", "wilcoxon"):
        first, second = (
            am.analyse(frame, difference="simple", better="lower", test=test) for frame in (pd.DataFrame(long), wide)
        )
        assert first.comparisons[0].p_value == second.comparisons[0].p_value
        assert first.omnibus.friedman.corrected.statistic == second.omnibus.friedman.corrected.statistic


def test_the_sign_test_counts_differences_of_rounding_as_zeros():
    old = np.array([0.3, 0.3, 0.3, 0.5, 0.5, 0.7])
    new = np.array([0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2, 0.4, 0.4, 0.6])
    frame = pd.DataFrame({"instance": list("abcdef"), "old": old, "new": new})
    found = am.analyse(frame, difference="simple", better="lower", test="sign").comparisons[0]

    assert found.p_value == 2 * 0.5**3


@given(numbers, st.sampled_from([1e-12, 1e5]), st.integers(0, 10))
def test_what_is_missing_stays_missing_and_the_others_settle_as_if_it_were_not_there(values, size, seed):
    missing = np.random.default_rng(seed).random(values.shape) < 0.3

    found = settled(np.where(missing, np.nan, values), np.full(values.shape, size))

    assert np.isnan(found).tolist() == missing.tolist()
    for k, there in enumerate(~missing.T):
        alone = settled(values[there, k], np.full(there.sum(), size)) if there.any() else np.array([])
        assert found[there, k].tolist() == alone.tolist()
