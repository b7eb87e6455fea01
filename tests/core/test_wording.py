"""Numbers, lists, times and sizes as sentences have them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.wording import (
    as_meant,
    count,
    digits,
    duration,
    harmless,
    in_bytes,
    listed,
    printable,
    quoted,
    rounded_up,
    short_duration,
)


@given(st.floats(-1e300, 1e300))
def test_numbers_in_words_keep_three_digits(value):
    assert float(digits(value)) == pytest.approx(value, rel=5.1e-3, abs=1e-320)


@pytest.mark.parametrize(
    ("value", "text"), [(math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "unknown"), (0.0, "0"), (-2.0, "-2")]
)
def test_numbers_that_are_none(value, text):
    assert digits(value) == text


@given(st.floats(1e-6, 1e6), st.integers(2, 4))
def test_rounding_up_never_rounds_down_and_stays_close(value, significant):
    rounded = float(rounded_up(value, significant))

    assert value * (1 - 1e-9) <= rounded <= value * (1 + 1.01 * 10 ** (1 - significant))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.5, "0.5 seconds"),
        (1, "1 second"),
        (0.0125, "0.013 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (90 * 60, "90 minutes"),
        (9.96 * 3600, "10 hours"),
        (2.5 * 3600, "2.5 hours"),
        (2_257_200, "627 hours"),
        (3600 * 12_345, "12,345 hours"),
        (3 * 365.25 * 86400, "3 years"),
    ],
)
def test_durations_are_told_in_the_unit_a_person_would_use(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (99, "99 s"), (100, "2 min"), (3599, "1 h 0 min"), (90000, "1 d 1 h")]
)
def test_time_spans_read_as_people_say_them(seconds, text):
    assert short_duration(seconds) == text


@pytest.mark.parametrize(("number", "text"), [(1, "1 bytes"), (2500, "2.5 kB"), (10**8, "100 MB"), (2**30, "1.07 GB")])
def test_bytes_are_written_in_the_unit_people_use(number, text):
    assert in_bytes(number) == text


@pytest.mark.parametrize(
    ("value", "significant", "text"),
    [
        (0.0, 3, "0"),
        (1230.0, 3, "1230"),
        (100.0, 2, "100"),
        (0.10, 3, "0.1"),
        (999_999.0, 3, "1e+06"),
        (1e-5, 3, "1e-05"),
    ],
)
def test_digits_are_written_plainly_where_that_reads_well(value, significant, text):
    assert digits(value, significant) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 5))
def test_zeros_kept_or_not_the_number_is_the_same(value, significant):
    kept, left_out = digits(value, significant, zeros=True), digits(value, significant)
    assert float(kept) == float(left_out)


@given(st.floats(1e-4, 9.9e5), st.integers(2, 5))
def test_numbers_with_zeros_show_as_many_digits_as_asked(value, significant):
    shown = digits(value, significant, zeros=True).replace(".", "").lstrip("0")
    assert len(shown) == max(significant, 1 + math.floor(math.log10(float(digits(value, significant)))))


@pytest.mark.parametrize(("number", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (12_345, "12,345 runs")])
def test_one_thing_has_no_plural(number, text):
    assert count(number, "run") == text


def test_a_long_list_says_how_many_more_there_are():
    names = [f"a{n}" for n in range(5)]
    assert listed(names, 5) == "a0, a1, a2, a3, a4"
    assert listed(iter(names), 2) == "a0, a1 and 3 more"
    assert listed([], 2) == ""


def test_names_in_quotes_may_be_anything():
    assert quoted([1, "it's"], 10) == "'1', \"it's\""
    assert quoted(range(30)).endswith("'19' and 10 more")


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@x", "\t=1", "\r=1", "'=1"])
def test_formulas_are_made_harmless_and_read_back_as_they_were_meant(text):
    assert harmless(text) == f"'{text}"
    assert as_meant(harmless(text)) == text


@given(st.text(max_size=12))
def test_whatever_is_made_harmless_can_be_read_back(text):
    assert as_meant(harmless(text)) == text or text.startswith("'")


@given(st.text())
def test_what_is_printed_moves_nothing_on_a_terminal(text):
    shown = printable(text)

    assert all(mark in "\n\t" or mark.isprintable() for mark in shown)
    assert shown == text or not text.isprintable()
