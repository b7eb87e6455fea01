"""Cells: numbers as people write them, and the line of what is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidData
from ampler.data.tables import cells, read_table
from ampler.data.tables.cells import MISSING, RowLocation, holds_numbers, same, to_numbers

LOCATION = RowLocation("runs.csv")


@pytest.mark.parametrize(
    ("column", "answer"),
    [
        (["1", "2.5", "1e3"], True),
        (["1", "oops"], True),  # half of them: the word is a mistake
        (["1", "two", "three"], False),
        (["?", "NA", "7"], True),  # cells without a value do not vote
        (["?", ""], False),
        ([True, False], False),
        ([1, 2], True),
    ],
)
def test_most_cells_say_whether_a_column_holds_numbers(column, answer):
    assert holds_numbers(pd.Series(column)) is answer


def test_cells_that_mean_no_value_are_nan():
    found = to_numbers(pd.Series([*sorted(MISSING), "7"], name="value"), LOCATION)

    assert np.isnan(found[:-1]).all()
    assert found[-1] == 7


def test_a_word_among_numbers_is_told_with_its_line_and_how_many_more():
    column = pd.Series(["1", "x", "2", "y"], index=[2, 3, 4, 5], name="value")

    with pytest.raises(
        InvalidData, match=r"line 3 of runs.csv must hold a number in column 'value', got 'x' \(and 1 more"
    ):
        to_numbers(column, LOCATION)


def test_a_column_is_read_with_the_decimal_mark_it_has():
    column = pd.Series(["0,5", "1,25e1"], name="value")
    with pytest.raises(InvalidData, match="got '0,5'"):
        to_numbers(column, LOCATION)

    assert to_numbers(column, LOCATION, ",").tolist() == [0.5, 12.5]
    assert holds_numbers(column)


@pytest.mark.parametrize(
    ("one", "other"), [("30", "30.0"), ("1e3", "1000"), (" Accuracy", "accuracy "), ("STRASSE", "straße")]
)
def test_cells_are_the_same_as_numbers_or_without_regard_to_case(one, other):
    assert same(one, other)
    assert same(other, one)
    assert not same(one, other + "x")


def test_two_words_for_yes_and_no_are_numbers_and_one_alone_is_a_mistake():
    outcomes = pd.Series(["yes", "No", "", "YES"])
    assert to_numbers(outcomes, RowLocation("runs.csv")).tolist() == pytest.approx([1, 0, np.nan, 1], nan_ok=True)
    assert to_numbers(pd.Series([True, False]), RowLocation("runs.csv")).tolist() == [1, 0]
    for strange in (["yes", "yes"], ["yes", "false"], ["true", "false", "1"]):
        with pytest.raises(InvalidData, match="must hold a number"):
            to_numbers(pd.Series(strange), RowLocation("runs.csv"))


@pytest.mark.parametrize(
    ("value", "message"), [(1 + 2j, r"got '\(1\+2j\)'"), ([1], r"got '\[1\]'"), ({"x": 1}, "got"), ("two", "got 'two'")]
)
def test_what_is_no_number_in_a_data_frame_is_refused_and_never_cut_down(value, message):
    for rest in ([1.0, 2.0, 3.0, 4.0], [5, 6, 7, 8]):
        frame = pd.DataFrame({"algorithm": list("ababa"), "instance": list("iijjk"), "value": [value, *rest]})
        with pytest.raises(InvalidData, match=message):
            read_table(frame)


@pytest.mark.parametrize("exact", [True, False])
@given(numbers=st.lists(st.floats(allow_nan=False), min_size=1, max_size=5))
def test_all_digits_are_read_also_where_pandas_misses_the_last(exact, numbers):
    column = pd.Series([repr(number) for number in numbers] + ["n/a"], name="value")
    with pytest.MonkeyPatch.context() as patch:
        if not exact:
            patch.setattr(cells, "_parses_exactly", lambda: False)
        assert to_numbers(column, LOCATION).tolist()[:-1] == numbers
