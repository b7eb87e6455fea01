"""Which words are numbers, which only look like one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.running.one_run.readings import bare_of, kind_of, last_candidate, number_of, without_escapes

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, st.sampled_from(["{}", "({})", "cost={}", "cost:{},", '"{}"', "[{}];", "{}.", '"cost":{}}}', "|{}|"]))
def test_every_way_python_writes_a_number_is_read_back_exactly(number, around):
    word = around.format(repr(number))

    assert kind_of(word) == "number"
    assert number_of(word) == number


@given(finite)
def test_fortran_writes_a_d_where_others_write_an_e(number):
    assert number_of(f"{number:.16E}".replace("E", "D")) == float(f"{number:.16E}")


@given(st.integers(1, 999), st.integers(0, 999), st.sampled_from(",'_:/€%"))
def test_two_groups_of_digits_with_something_between_them_are_never_a_number(first, second, between):
    assert kind_of(f"{first}{between}{second:03d}") == "ambiguous"


@given(st.text(max_size=40))
def test_any_text_has_a_last_candidate_or_none_and_a_number_can_be_read(text):
    found = last_candidate(text)

    if found is not None and found[1] == "number":
        assert isinstance(number_of(found[0]), float)
        assert found[0] in text


@pytest.mark.parametrize("word", ["run2.sol", "v1.2.3", "x2", "info", "E5", "", "-", "...", "nano"])
def test_words_that_begin_with_a_letter_are_no_numbers(word):
    assert kind_of(word) == "other"


@pytest.mark.parametrize("word", ["nan", "-NaN", "inf", "+Infinity", "∞", "-∞"])
def test_what_is_not_finite_is_a_number_so_that_it_can_be_refused(word):
    assert kind_of(word) == "number"
    assert not math.isfinite(number_of(word))


def test_names_and_brackets_are_taken_off():
    assert bare_of("(best_cost:[−5]).") == "-5"


def test_escape_sequences_disappear():
    assert without_escapes("\x1b[1;31m5\x1b[0m\x1b]8;;http://x/7\x1b\\6\x1b(B\x9b3m") == "56"


@pytest.mark.parametrize("text", ["1 234", "cost: 1 234", "cost=12 345.5", "1 234 567", "-1 000"])
def test_a_space_before_three_digits_may_stand_for_thousands_and_is_not_guessed_at(text):
    assert last_candidate(text)[1] == "ambiguous"


@pytest.mark.parametrize(
    ("text", "word"), [("12 34", "34"), ("1  234", "234"), ("1\n234", "234"), ("1234 567", "567"), ("0 234", "234"),
                       ("run 5 cost 234", "234"), ("7 0.125", "0.125")],
)  # fmt: skip
def test_numbers_that_cannot_be_one_together_are_two(text, word):
    found = last_candidate(text)

    assert found[:2] == (word, "number")
