from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from ampler.report.axis import axis_of
from ampler.report.figures.canvas import (
    UNITS,
    canvas,
    compact,
    labels,
    literal,
    pair_labels,
    write_axis,
    write_in_unit,
)


@given(st.lists(st.text(), unique=True), st.integers(12, 40))
def test_a_label_is_never_wider_than_asked_for(names, widest):
    assert all(len(label.replace(r"\$", "$")) <= widest for label in labels(names, widest))


@given(st.lists(st.text("ab ", min_size=1, max_size=60), unique_by=lambda name: " ".join(name.split())))
def test_different_names_have_different_labels(names):
    assert len(set(labels(names, 12))) == len(names)


def test_the_same_name_has_the_same_label_wherever_it_stands():
    long = ["p" * 40 + end + "q" * 40 for end in "12"]

    first, second, again = labels([*long, long[0]], 20)

    assert first == again != second


def test_nasty_names_of_ordinary_length_stay_whole(nasty_names):
    short = [name for name in nasty_names if len(name) < 29]

    assert [label.replace(r"\$", "$") for label in labels(short)] == short


def test_line_breaks_and_characters_that_turn_text_around_are_left_out():
    assert labels(["one\ntwo\u202ethree\x00"]) == ("one two three",)


@pytest.mark.parametrize("text", [r"$\frac{$", "$a$", r"\$5", "$$", r"\\$x$"])
def test_matplotlib_draws_a_literal_text_as_it_stands(text):
    from matplotlib.text import Text

    shown, is_mathematics = Text(text=literal(text))._preprocess_math(literal(text))

    assert (shown, is_mathematics) == (text, False)


def test_with_a_reference_the_rival_alone_is_the_label(study_of):
    analysis = study_of(["full", "one", "two"], reference="full")

    assert pair_labels(analysis, analysis.pairs) == ("one", "two")


def test_without_a_reference_both_are(study_of):
    analysis = study_of(["one", "two"])

    assert pair_labels(analysis, analysis.pairs) == ("one − two",)


def test_a_pair_of_long_names_has_two_lines_and_keeps_them_whole(study_of):
    analysis = study_of(["astar-symmulgt-transmul", "idastar-symmullt-transmul"])

    assert pair_labels(analysis, analysis.pairs) == ("astar-symmulgt-transmul −\nidastar-symmullt-transmul",)


# Differences stand on axes in their unit.


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((-0.1, 0.12), ["×0.95", "×1", "×1.05", "×1.1"]),
        ((-1.0, 3.0), ["×0.5", "×1", "×2", "×5", "×10", "×20"]),
        ((-20.0, 20.0), None),
        ((-1e5, 1e5), None),
    ],
)
def test_log_ratios_are_written_as_round_factors(ends, expected):
    with canvas(None) as ax:
        ax.set_xlim(*ends)
        write_in_unit(ax.xaxis, "ratio")
        ax.figure.draw_without_rendering()
        low, high = ax.get_xlim()
        marks = [
            label.get_text()
            for place, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
            if low <= place <= high
        ]

    assert expected is None or marks == expected
    assert 2 <= len(marks) <= 9


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (-0.5, "−0.5"), (1e9, "1e9"), (1234.5, "1234.5")])
def test_numbers_at_marks_are_short(value, text):
    assert compact(value) == text


# An axis that is split shows every mark at its place, and says so.


TOGETHER = [(-0.02, -0.01, 0.0), (0.0, 0.01, 0.02), (-0.01, 0.005, 0.02)]
DWARFED = [(-1.1, -0.8, -0.5), *TOGETHER]


def test_the_small_differences_of_a_split_axis_get_most_of_its_width():
    ax = Figure().subplots()

    write_axis(ax, axis_of(DWARFED, "percent", always=(0.0,)), "percent")
    left, right = ax.transData.transform([(-0.02, 0), (0.02, 0)])[:, 0]

    whole = np.ptp(ax.get_window_extent().get_points()[:, 0])
    assert (right - left) / whole > 0.5
    assert UNITS.get(ax.xaxis) == "percent"


def test_a_reader_is_told_of_two_scales_and_of_one_nothing():
    ax = Figure().subplots()
    assert "two scales" in write_axis(ax, axis_of(DWARFED, "percent", always=(0.0,)), "percent")
    assert write_axis(ax, axis_of(TOGETHER, "percent", always=(0.0,)), "percent") == ""
