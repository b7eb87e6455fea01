from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.report.figures.steps import APART, Staircase, draw_steps
from ampler.report.figures.style import canvas


@given(st.lists(st.floats(0, 10), max_size=30), st.integers(0, 5), st.booleans())
def test_a_curve_rises_by_a_step_at_each_value_and_never_for_what_has_none(values, missing, counted):
    steps = Staircase("a", np.array(sorted(values) + [np.inf] * missing), counted=counted)
    whole = len(values) + missing

    expected = [k if counted else k / whole for k in range(1, len(values) + 1)]
    assert steps.heights().tolist() == expected


@pytest.mark.costly
@given(st.lists(st.integers(0, 40), min_size=1, max_size=10))
def test_names_at_the_ends_of_curves_never_touch(counts):
    with canvas(None) as ax:
        ax.set_xlim(0, 50)
        draw_steps(ax, [Staircase(f"a{k}", np.arange(float(n)), counted=True) for k, n in enumerate(counts)], end=50.0)
    places = sorted(text.xy[1] / max([*counts, 1]) for text in ax.texts)

    assert len(places) == len(counts)
    assert all(upper - lower > 0.99 * APART for lower, upper in itertools.pairwise(places))


def test_lines_differ_in_colour_and_style():
    with canvas(None) as ax:
        ax.set_xlim(0, 3)
        draw_steps(ax, [Staircase(f"a{k}", np.array([1.0])) for k in range(12)], end=3.0)

    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in ax.lines}
    assert len(looks) == 12
