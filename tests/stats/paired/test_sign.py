"""The sign test: signs and nothing else, down to samples that leave no sign."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.paired import paired_test, sign

any_numbers = st.lists(st.integers(-5, 5), min_size=3, max_size=60).map(lambda numbers: np.array(numbers, float))


@given(any_numbers)
def test_the_sign_test_sees_signs_alone(x):
    assert paired_test("sign").p_value(x**3 * 7, "greater") == paired_test("sign").p_value(x, "greater")


def test_zeros_are_no_observations():
    assert sign.p_value(np.array([0.0, 1.0, 2.0, 0.0, 3.0]), "two-sided") == 0.25  # 2·2⁻³
    assert sign.interval(np.array([0.0, 1.0]), "two-sided", 0.1) == sign.interval(np.array([1.0]), "two-sided", 0.1)
    assert math.isnan(sign.estimate(np.zeros(3)))
    assert sign.interval(np.zeros(3), "two-sided", 0.05)[:2] == (0.0, 1.0)


def test_a_one_sided_interval_is_open_on_the_other_side():
    x = np.array([1.0, 1.0, 1.0, -1.0])
    lower, upper = sign.interval(x, "greater", 0.05), sign.interval(x, "less", 0.05)
    assert (lower.upper, upper.lower) == (1.0, 0.0)
    assert lower.lower == pytest.approx(sign.interval(x, "two-sided", 0.1).lower)
    assert upper.upper == pytest.approx(sign.interval(x, "two-sided", 0.1).upper)
