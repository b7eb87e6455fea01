"""The axis that a page draws itself: every value where it belongs, and none dwarfed."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.analysis.units import quantity_text
from ampler.report.axis import axis_of, marks_between

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
    places = [axis.position(value) for value in values]

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


def test_marks_at_the_end_of_an_axis_leave_room_for_their_texts():
    """The text of a mark near the end stands inside, so its neighbour needs twice the room."""
    rows = [(-2.16, -0.96, 0.24), (-1.85, -0.63, 0.6), (-0.44, 0.98, 2.39), (0.06, 1.65, 3.24), (30.0, 75.9, 155.0)]
    marks = axis_of(rows, "simple", always=[0.0]).panels[-1].marks

    assert marks[-1].at > 96
    assert marks[-1].at - marks[-2].at > 1.5 * 2 * len(marks[-1].text)


def test_open_and_unknown_ends_have_their_words():
    assert quantity_text(math.inf, "percent") == "∞ %"
    assert quantity_text(-math.inf, "ratio") == "×0"
    assert quantity_text(math.nan, "simple") == "–"


EXTREMES = [0.0, 1e-300, -1e-300, 1.0, 745.0, 9.6e7, 1e16, 1e16 + 2, 1e300, -1e300, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("unit", ["ratio", "percent", "simple", "points", "share"])
def test_marks_of_any_values_are_few(unit):
    for row in itertools.product(EXTREMES, repeat=3):
        for rows in ([row], [row, (0.0, 1.0, 2.0), (0.0, 1.0, 2.0), row[::-1]]):
            assert len(axis_of(rows, unit, always=[0.0]).marks) <= 15, rows
