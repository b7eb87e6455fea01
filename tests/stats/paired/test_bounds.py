"""P-values from two tails, and intervals that are open on one side."""

import math

import numpy as np
import pytest

from ampler.stats.paired.contract import Bounds, one_sided, p_of_tails


@pytest.mark.parametrize(
    ("alternative", "expected"), [("two-sided", [0.02, 1.0]), ("greater", [0.01, 0.7]), ("less", [0.995, 0.6])]
)
def test_a_p_value_is_a_tail_or_twice_the_smaller_one_and_never_above_one(alternative, expected):
    p = p_of_tails(np.array([0.01, 0.7]), np.array([0.995, 0.6]), alternative)
    assert p.tolist() == pytest.approx(expected)


def test_an_interval_says_nothing_on_the_side_the_alternative_does_not_ask_about():
    assert one_sided(1.0, 2.0, "two-sided", 0.95) == Bounds(1.0, 2.0, 0.95)
    assert one_sided(1.0, 2.0, "greater", 0.95) == Bounds(1.0, math.inf, 0.95)
    assert one_sided(1.0, 2.0, "less", 0.95) == Bounds(-math.inf, 2.0, 0.95)
