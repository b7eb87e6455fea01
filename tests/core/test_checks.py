"""One check for each kind of number and word, whatever the door."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.checks import choice, finite, integer, positive, share
from ampler.core.errors import InvalidData, InvalidDesign, InvalidPlan, InvalidRule

NO_NUMBERS = ["1", True, np.True_, None, [1], np.array([1.0]), math.nan, 1j, b"1"]


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("check", [finite, positive, share, integer])
def test_what_is_no_number_fits_nowhere(check, value):
    with pytest.raises(InvalidDesign, match=r"^n must .*, got "):
        check("n", value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, 10**400])
@pytest.mark.parametrize("check", [finite, positive, share])
def test_a_number_must_be_finite(check, value):
    with pytest.raises(InvalidDesign):
        check("n", value)


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float32(3), Decimal(3), Fraction(3)])
def test_every_kind_of_number_is_one(value):
    for check in (finite, positive):
        assert (check("n", value), type(check("n", value))) == (3.0, float)
    assert (integer("n", value), type(integer("n", value))) == (3, int)


@given(st.floats(allow_nan=False))
def test_a_share_lies_strictly_between_0_and_1(value):
    if 0 < value < 1:
        assert share("alpha", value) == value
    else:
        with pytest.raises(InvalidDesign, match="alpha must lie strictly between 0 and 1"):
            share("alpha", value)


@given(st.integers())
def test_a_whole_number_keeps_all_its_digits(value):
    assert integer("seed", value) == value


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "must be a whole number, got 1.5"),
        ({"least": 2}, "must be a whole number of 2 or more, got 1.5"),
        ({"least": 2, "most": 1000}, "must be a whole number from 2 to 1,000, got 1.5"),
    ],
)
def test_the_limits_of_a_whole_number_are_told(limits, words):
    with pytest.raises(InvalidDesign, match=f"^runs {words}$"):
        integer("runs", 1.5, **limits)


@pytest.mark.parametrize("value", [1, 11])
def test_a_whole_number_lies_within_its_limits(value):
    assert integer("runs", 10, 2, 10) == 10
    assert integer("runs", 2, 2, 10) == 2
    with pytest.raises(InvalidDesign):
        integer("runs", value, 2, 10)


def test_a_positive_number_may_have_an_upper_limit():
    assert positive("seconds", 5, most=5) == 5.0
    with pytest.raises(InvalidDesign, match=r"seconds must be a positive number of at most 5, got 6: wait$"):
        positive("seconds", 6, "wait", most=5)


def test_a_choice_says_what_there_is_and_what_may_be_meant():
    assert choice("test", "sign", ("t", "sign")) == "sign"
    with pytest.raises(InvalidDesign, match=r"one of 't', 'sign', got 'sing' \(did you mean 'sign'\?\): w$"):
        choice("test", "sing", ("t", "sign"), "w")
    with pytest.raises(InvalidDesign, match=r"got 5$"):
        choice("test", 5, ("t", "sign"))


@pytest.mark.parametrize("error", [InvalidPlan, InvalidRule, InvalidData])
def test_the_error_is_that_of_the_door(error):
    for check in (finite, positive, share, integer):
        with pytest.raises(error):
            check("n", "x", error=error)
    with pytest.raises(error):
        choice("n", "x", ("y",), error=error)


def test_a_long_value_is_cut_short():
    with pytest.raises(InvalidDesign) as problem:
        finite("effect", "x" * 10_000)
    assert len(str(problem.value)) < 100
