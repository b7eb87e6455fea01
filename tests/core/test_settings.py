"""The settings of an analysis: declared once, checked when made."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidData, InvalidDesign, InvalidInput, InvalidPlan, InvalidRule
from ampler.core.failures import Penalty
from ampler.core.plan import Question
from ampler.core.settings import (
    Settings,
    canonical_difference,
    choice,
    declared,
    finite,
    integer,
    positive,
    share,
    types,
)
from ampler.sampling.rules import Accuracy


def test_a_margin_leaves_the_level_of_the_differences_except_in_studies_of_earlier_versions():
    asked = {"difference": "simple", "alpha": 0.1, "margin": 1.0}
    now, then = Settings(**asked), Settings(**asked, equivalence_level="shared")
    assert (now.family_alpha, now.equivalence_alpha) == (0.1, 0.1)
    assert (then.family_alpha, then.equivalence_alpha) == (0.05, 0.05)
    assert Settings(difference="simple", alpha=0.1, equivalence_level="shared").family_alpha == 0.1


def test_every_setting_is_declared_with_its_type():
    said = {name for name in Settings.__dataclass_fields__ if name != "family_alpha"}
    assert set(declared()) == set(types()) == said
    assert types()["budget"] == int | None


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"test": "z"}, "test must be one of 't', 'wilcoxon', 'sign', 'bootstrap-t', 'sign-flip', got 'z'"),
        ({"alternative": "up"}, "alternative must be"),
        ({"better": "best"}, "better must be one of 'lower', 'higher'"),
        ({"guard": "some"}, "guard must be"),
        ({"weights": "some"}, "weights must be one of 'equal', 'precision', got 'some': equal is the default"),
        ({"margin": 0.0}, "margin must be a positive number, got 0.0"),
        ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1"),
        ({"alpha": "much"}, "alpha must lie strictly between 0 and 1, got 'much'"),
        ({"power": 0.0}, "power must lie strictly between 0 and 1"),
        ({"se": 0.0}, "se must be a positive number, got 0.0: omit it if it is unknown"),
        ({"margin": -1.0}, "margin must be a positive number"),
        ({"effect": float("nan")}, "effect must be a positive number"),
        ({"budget": 0}, "budget must be a whole number"),
        ({"alternative": "less"}, "alternative 'less' needs a reference"),
    ],
)
def test_a_setting_that_does_not_fit_is_named_with_what_came(asked, sentence):
    with pytest.raises(InvalidInput) as told:
        Settings(**({"difference": "simple"} | asked))
    assert str(told.value).startswith(sentence)


def test_a_statistic_has_a_name_even_if_it_is_a_function():
    assert Settings(difference="simple", statistic="median").statistic_name == "median"
    assert Settings(difference="simple", statistic=np.ptp).statistic_name == "ptp"


def test_a_penalty_below_the_floor_counts_as_the_floor():
    assert Settings(difference="percent", floor=1e-8, failures=Penalty(1e-12)).failures == Penalty(1e-8)
    assert Settings(difference="percent", floor=1e-8, failures=Penalty(5.0)).failures == Penalty(5.0)
    assert Settings(difference="percent", failures=Penalty(1e-12)).failures == Penalty(1e-12)


def test_a_function_that_is_called_as_one_of_ours_is_marked_as_a_function():
    assert Settings(difference="simple", statistic=np.median).statistic_name == "median()"


def test_a_kind_of_difference_may_be_called_by_its_other_name():
    assert [canonical_difference(word) for word in ("log-ratio", "absolute", "percent", "other")] == [
        "ratio", "simple", "percent", "other"
    ]  # fmt: skip


def test_every_place_that_keeps_a_difference_keeps_its_first_name():
    kept = (
        Settings(difference="log-ratio"),
        Accuracy(se=0.1, difference="log-ratio"),
        Question("log-ratio", better="lower"),
    )

    assert [each.difference for each in kept] == ["ratio", "ratio", "ratio"]


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
