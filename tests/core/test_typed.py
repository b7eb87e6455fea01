"""Data from files are of the types our values declare, or refused by the name of the field."""

from collections.abc import Mapping
from typing import Any, Literal

import pytest

from ampler.core.typed import all_fit, checked, fits
from ampler.core.values import Fingerprint, Limits, Question, Tally


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, float),
        (None, float | None),
        (("a", "b"), tuple[str, ...]),
        ({"a": {"b": "c"}}, Mapping[str, Mapping[str, str]]),
        ("lower", Literal["lower", "higher"]),
        (object(), Any),
        (Limits(5.0), Limits),
    ],
)
def test_what_is_of_its_type_fits(value, kind):
    assert fits(value, kind)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, int),
        (3.0, int),
        ("3", float),
        (float("inf"), float),
        (10**400, float),
        (["a"], tuple[str, ...]),
        (("a", 3), tuple[str, ...]),
        ({"a": 3}, Mapping[str, str]),
        ({3: "a"}, Mapping[str, str]),
        ("equal", Literal["lower", "higher"]),
        ([], Literal["lower", "higher"]),
        (Limits("long"), Limits),
        (3, None),
    ],
)
def test_what_is_of_another_type_does_not_fit(value, kind):
    assert not fits(value, kind)


def test_a_value_with_a_field_of_another_type_is_refused_by_its_name():
    assert checked(Question("simple", better="lower")) == Question("simple", better="lower")
    with pytest.raises(ValueError, match="alpha of Question is 'x'"):
        checked(Question("simple", alpha="x", better="lower"))
    with pytest.raises(ValueError, match="algorithms of Fingerprint"):
        checked(Fingerprint(1, {"a": "b"}, {}))
    with pytest.raises(ValueError, match="seconds of Tally is None"):
        checked(Tally("i", "a", 1, 1, None))


KINDS = [float, int, str, float | None, Literal["lower", "higher"], Mapping[str, float] | None, tuple[str, ...], Any]
CELLS = [1.5, 3, True, None, "lower", "x", float("inf"), 10**400, {"a": 1.5}, {"a": "b"}, {3: 1.5}, {}, ("a",), b"x"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_fits_exactly_when_each_of_its_values_does(kind):
    for usual in (1.5, "lower", None, {"a": 1.5}):
        for cell in CELLS:
            column = [usual, cell, usual]
            assert all_fit(column, kind) == all(fits(each, kind) for each in column), column
    assert all_fit([], kind)
