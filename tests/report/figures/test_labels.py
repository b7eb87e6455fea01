from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.report.figures.labels import labels, literal, pair_labels


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
