"""Tables in any width: what fits, what is narrowed, what is left out, and that no number is ever broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.layout import Column, TextTable, broken_lines, cells_taken, table_of

NUMBERS = st.floats(-1e9, 1e9).map("{:.4g}".format) | st.sampled_from(["[-105, -46.2]", "3.3e-06", "–", "1,234,567"])
NAMES = st.text("abcdefghij-_./× ", min_size=1, max_size=60).map(str.strip).filter(bool)


@st.composite
def tables(draw):
    """Tables of a name, numbers that may leave, words, and hostile names now and then."""
    rows = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, min_size=rows, max_size=rows, unique=True))
    numbers = draw(st.lists(st.lists(NUMBERS, min_size=rows, max_size=rows), min_size=1, max_size=12))
    columns = [Column("instance", tuple(names), "name")]
    for place, cells in enumerate(numbers):
        columns.append(Column(f"head-{place} of it", tuple(cells), leaves=place))
    columns.append(Column("state", tuple(draw(NAMES) for _ in range(rows)), "words", leaves=1))
    return TextTable(tuple(columns))


@pytest.mark.costly
@given(tables(), st.integers(40, 200))
def test_every_number_stands_whole_in_its_row_or_its_column_is_named_as_left_out(table, width):
    fitted = table.fitted(width)

    text = "\n".join(fitted.lines)
    for column in table.columns[1:-1]:
        assert column.head in fitted.left_out or all(cell in text for cell in column.cells)
    assert max(map(cells_taken, fitted.lines)) <= max(width, 60)
    heads = {column.head for column in table.columns}
    assert set(fitted.left_out) <= heads - {"instance", "head-0 of it"}


@pytest.mark.costly
@given(tables(), st.integers(40, 199))
def test_a_wider_terminal_never_shows_less(table, width):
    assert len(table.fitted(width + 1).left_out) <= len(table.fitted(width).left_out)


def test_columns_line_up():
    assert table_of(["name", "n"], [["long name", "5"], ["x", "500"]]).fitted().lines == (
        "name         n",
        "long name    5",
        "x          500",
    )


def test_what_may_leave_leaves_in_its_order_and_is_named():
    table = table_of(["name", "kept", "first", "second"], [["x", "1" * 20, "2" * 20, "3" * 20]], leaves={2: 2, 3: 1})

    assert table.fitted(80).left_out == ()
    assert table.fitted(60).left_out == ("first",)
    assert table.fitted(40).left_out == ("first", "second")


def test_where_not_even_the_needed_columns_fit_each_row_becomes_a_card_with_all_of_it():
    table = table_of(["name", "a", "b", "c"], [["first", "1" * 20, "2" * 20, "3" * 20], ["second", "4", "5", "6"]])

    fitted = table.fitted(40)
    assert fitted.left_out == ()
    assert fitted.body[:3] == ("first", f"  a: {'1' * 20}", f"  b: {'2' * 20}")
    assert "second" in fitted.body


def test_names_are_cut_so_that_they_can_be_told_apart():
    names = [f"instances/of/one/very/long/collection/number-{k}-of-it.txt" for k in range(12)]
    lines = table_of(["instance", "runs"], [[name, "30"] for name in names]).fitted(40).body

    assert len({line.split()[0] for line in lines}) == 12


def test_a_narrow_form_stands_in_before_anything_is_left_out():
    wide = Column("comparison", ("full × a", "full × b"), "name", narrow=Column("full ×", ("a", "b"), "name"))
    table = TextTable((wide, Column("x", ("1" * 15, "2"), leaves=1)))

    assert table.fitted(30).head[0].startswith("comparison")
    assert table.fitted(24).head[0].startswith("full ×")
    assert table.fitted(24).left_out == ()


def test_a_line_before_a_row_stands_there():
    table = TextTable((Column("a", ("1", "2")),), breaks={1: "-- here --"})

    assert table.fitted().body == ("1", "-- here --", "2")


def test_a_name_that_would_move_the_cursor_stays_on_its_line():
    lines = table_of(["name", "n"], [["a\nb\x1b[2Jc", "5"]]).fitted().lines

    assert len(lines) == 2
    assert "\x1b" not in "".join(lines)


def test_letters_that_take_two_columns_are_counted_as_two():
    lines = table_of(["name", "n"], [["算法一", "5"], ["plain", "6"]]).fitted().lines

    assert len({cells_taken(line) for line in lines[1:]}) == 1


def test_words_fold_between_words_and_numbers_stay_with_their_unit():
    assert broken_lines("the interval is 97.5 % wide", 21) == ["the interval is", "97.5 % wide"]
    assert broken_lines("a power of d ≥ 0.96 is", 14) == ["a power of", "d ≥ 0.96 is"]
    assert broken_lines("", 10) == [""]
