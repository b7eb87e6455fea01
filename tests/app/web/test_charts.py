from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.app.web.charts import Scale, box, chart, dot, frame, label, ticks


@given(st.floats(-1e6, 1e6), st.floats(1e-2, 1e9), st.integers(2, 12))
def test_ticks_lie_between_the_ends_and_are_few(low, span, most):
    found = ticks(low, low + span, most)

    assert len(found) <= most + 1
    assert all(low - span * 1e-6 <= at <= low + span * (1 + 1e-6) for at in found)


def test_a_span_of_nothing_has_one_tick():
    assert ticks(3, 3) == [3]
    assert ticks(0, math.inf) == [0]


@pytest.mark.parametrize("value", [-1e300, 5, 1e300])
def test_what_lies_beyond_the_ends_is_put_there(value):
    assert 0 <= Scale(0, 10, 0, 100)(value) <= 100


def test_names_in_a_chart_are_escaped():
    parts = [label((0, 0), "<b>&"), dot((1, 1), words='"<i>'), box((0, 0), (1, 1), "bar", words="<u>")]
    picture = str(chart(10, 10, parts, words='a "chart" <of>'))

    assert ElementTree.fromstring(picture).attrib["aria-label"] == 'a "chart" <of>'
    assert "<b>" not in picture


def test_a_frame_names_its_axes():
    plane = frame(400, 300, (0, 10), (0, 1))

    parts = plane.axes("effect", "power", x_ticks=[0, 5], y_ticks=[0, 1])

    assert sum("effect" in part or "power" in part for part in parts) == 2
    assert (
        plane.path([(0, 0), (10, 1)], "curve")
        == f'<path class="curve" d="M{plane.x(0)} {plane.y(0)} L{plane.x(10)} {plane.y(1)}"/>'
    )
