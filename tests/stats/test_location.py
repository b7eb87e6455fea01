"""Mean and spread of differences against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.stats.descriptive import location


@given(
    st.lists(st.integers(-1000, 1000), min_size=2, max_size=20),
    st.sampled_from([0, 10**9, 10**15]),
    st.integers(-1000, 900),
)
def test_mean_and_spread_are_sound_at_any_offset_and_magnitude(numbers, offset, power):
    exact = [Fraction(number + offset) for number in numbers]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / (len(exact) - 1)
    found = location(np.ldexp(np.array([float(x) for x in exact]), power))
    unit = Fraction(2) ** (found.exponent - power)
    assert float(Fraction(found.mean) * unit) == pytest.approx(float(mean), rel=1e-14, abs=1e-12)
    assert float(Fraction(found.sd) ** 2 * unit**2) == pytest.approx(float(variance), rel=1e-12)
