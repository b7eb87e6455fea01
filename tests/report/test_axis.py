"""The axis that a page draws itself: every value where it belongs, and none dwarfed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.report.axis import axis_of, marks_between, told

sizes = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 6))
rows = st.lists(st.tuples(sizes, sizes, sizes).map(lambda row: tuple(sorted(row))), min_size=1, max_size=30)


def test_what_dwarfs_the_others_gets_a_panel_of_its_own():
    axis = axis_of([(-1.05, -0.76, -0.46), (-0.03, -0.016, 0.0), (0.0, 0.01, 0.02)], "percent", always=[0.0])

    far, near = axis.panels
    assert far.low < -1.05
    assert far.high < near.low
    assert near.low < -0.03 < 0.02 < near.high
    assert near.right - near.left > far.right - far.left


def test_far_values_on_both_sides_get_a_panel_each():
    axis = axis_of(
        [(-9, -8, -7), (-0.1, 0.0, 0.1), (-0.2, 0.1, 0.2), (-0.1, 0.05, 0.1), (7, 8, 9)], "simple", always=[0.0]
    )

    assert len(axis.panels) == 3


@pytest.mark.parametrize("largest", [0.05, 0.09])
def test_values_within_ten_times_the_median_share_one_scale(largest):
    axis = axis_of([(0, largest, 0.1), (-0.01, 0.01, 0.02), (-0.02, -0.01, 0.0)], "percent", always=[0.0])

    assert not axis.is_split


def test_intervals_as_wide_as_the_far_value_need_no_second_scale():
    axis = axis_of([(-2, 1.0, 4), (-3, 0.01, 3), (-3, 0.02, 3)], "simple", always=[0.0])

    assert not axis.is_split


@given(rows)
def test_larger_values_never_stand_further_left(some):
    axis = axis_of(some, "simple", always=[0.0])
    values = sorted(value for row in some for value in row)
    places = [axis.place(value) for value in values]

    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)


@given(rows)
def test_marks_stand_inside_their_panels_and_in_order(some):
    axis = axis_of(some, "simple", always=[0.0])
    places = [mark.at for panel in axis.panels for mark in panel.marks]

    assert places == sorted(set(places))


@pytest.mark.parametrize("ends", [(-0.02, 0.3), (-1.0, 1.0), (-5.0, 5.0), (0.0, 40.0)])
def test_marks_of_factors_are_round_factors(ends):
    marks = marks_between(*ends, "ratio", 5)

    assert 1 <= len(marks) <= 7
    assert all(float(f"{math.exp(mark):.3g}") == pytest.approx(math.exp(mark), rel=1e-6) for mark in marks)


def test_open_and_unknown_ends_have_their_words():
    assert told(math.inf, "percent") == "∞ %"
    assert told(-math.inf, "ratio") == "×0"
    assert told(math.nan, "simple") == "–"
