"""The search for a whole number against looking at all of them, and how seldom it asks."""

from math import erf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.design.powers import smallest


class Curve:
    """A rising curve that counts how often it is asked."""

    def __init__(self, heights):
        self.heights, self.calls = heights, 0

    def __call__(self, n):
        self.calls += 1
        return self.heights(n)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=300), st.floats(0.001, 0.999), st.integers(-5, 400), st.data())
def test_it_finds_what_looking_at_every_number_finds(steps, wanted, guess, data):
    heights = sorted(steps)
    least = data.draw(st.integers(1, len(heights)))
    by_looking = next((n for n in range(least, len(heights) + 1) if heights[n - 1] >= wanted), None)

    found = smallest(lambda n: heights[n - 1], wanted, guess=guess, least=least, most=len(heights))

    assert found == by_looking


@pytest.mark.parametrize("effect", [0.5, 0.05, 0.001])
def test_near_a_good_guess_it_asks_a_dozen_times_at_most(effect):
    curve = Curve(lambda n: (1 + erf((effect * sqrt(n) - 3.0) / sqrt(2))) / 2)
    exact = smallest(curve, 0.8, guess=10)
    curve.calls = 0

    assert smallest(curve, 0.8, guess=round(1.02 * exact)) == exact
    assert curve.calls <= 12


def test_from_a_bad_guess_it_asks_logarithmically_often():
    curve = Curve(lambda n: float(n >= 123_456_789))

    assert smallest(curve, 0.8, guess=2) == 123_456_789
    assert curve.calls < 100


def test_what_is_never_reached_is_none():
    assert smallest(lambda n: 0.1, 0.8, guess=50, most=1000) is None
