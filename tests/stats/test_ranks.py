import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import stats

from ampler.stats.descriptive import mean_ranks_of, tied_with

SHAPES = st.one_of(st.tuples(*[st.integers(1, 5)] * dimensions) for dimensions in (1, 2, 3))
TIED = arrays(float, SHAPES, elements=st.sampled_from([-1.0, -0.0, 0.0, 1.0, 2.5, np.inf]))


@given(TIED)
def test_they_are_those_of_scipy(values):
    assert_array_equal(mean_ranks_of(values), stats.rankdata(values, axis=-1))


@given(TIED)
def test_each_value_is_tied_with_all_that_equal_it(values):
    assert_array_equal(tied_with(values), (values[..., :, None] == values[..., None, :]).sum(-1))


def test_a_row_in_which_something_is_missing_has_none():
    found = mean_ranks_of(np.array([[3.0, np.nan, 1.0], [3.0, 2.0, 1.0]]))

    assert_array_equal(found, [[np.nan] * 3, [3.0, 2.0, 1.0]])
    assert np.isnan(mean_ranks_of(np.array([1.0, np.nan]))).all()


def test_no_values_have_no_ranks():
    assert mean_ranks_of(np.zeros((2, 0))).shape == tied_with(np.zeros((2, 0))).shape == (2, 0)
