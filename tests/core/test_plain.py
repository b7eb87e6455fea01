"""Plain data: documents for programs, rows for data frames, records and their digests."""

import json
import math
import string
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.plain import UNSAID, canonical, described_rule, digest, flat, jsonable, origin, plain


@dataclass(frozen=True)
class Thing:
    name: str
    interval: tuple[float, float]
    array: object = None


@dataclass(frozen=True)
class Part:
    name: str
    power: float


def test_what_is_infinite_or_unknown_is_none_at_any_depth():
    value = {"a": [math.inf, {"b": (math.nan, 1.5)}], "c": np.array([1.0, -np.inf]), "d": np.float64("nan")}
    assert jsonable(value) == {"a": [None, {"b": [None, 1.5]}], "c": [1.0, None], "d": None}


def test_frozen_values_become_dicts_and_numpy_becomes_python():
    document = jsonable(Thing("x", (np.float64(1.0), np.float64(2.0)), np.bool_(True)))
    assert json.loads(json.dumps(document)) == {"name": "x", "interval": [1.0, 2.0], "array": True}


def test_an_interval_becomes_two_columns():
    assert flat(Thing("x", (1.0, 2.0))) == {"name": "x", "interval_lower": 1.0, "interval_upper": 2.0, "array": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (np.float64("inf"), None),
        (np.float64(0.5), 0.5),
        (np.int64(57), 57),
        (np.bool_(True), True),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        (Part("no-TSK", float("inf")), {"name": "no-TSK", "power": None}),
        ({1: (2, {"a": None})}, {"1": [2, {"a": None}]}),
        (Path("runs.csv"), "runs.csv"),
    ],
)
def test_values_become_what_json_knows(value, expected):
    assert jsonable(value) == expected


@pytest.mark.costly
@given(
    st.recursive(st.floats() | st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.tuples(inner))
)
def test_whatever_is_written_is_strict_json(value):
    text = json.dumps(jsonable(value), allow_nan=False)

    assert json.loads(text) == jsonable(value)


@pytest.mark.costly
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(string.printable),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.frozensets(st.integers()),
))  # fmt: skip
def test_whatever_is_plain_data_can_be_written_as_json_and_stays_plain(value):
    written = plain(value)
    assert plain(written) == written
    assert json.loads(json.dumps(written, allow_nan=False)) == written


def test_a_record_keeps_what_json_cannot_hold_as_text():
    assert plain({"a": math.inf, "b": math.sqrt, "c": np.int64(3), "d": Part("x", math.nan)}) == {
        "a": "inf", "b": "math:sqrt", "c": 3, "d": {"rule": "Part", "name": "x", "power": "nan"}
    }  # fmt: skip


def test_the_order_of_keys_changes_the_text_but_not_the_digest():
    one, two = {"a": 1, "b": [2, 3]}, {"b": [2, 3], "a": 1}
    assert canonical(one) == '{"a":1,"b":[2,3]}' != canonical(two)
    assert digest(one) == digest(two) != digest({"a": 1, "b": [3, 2]})


def test_a_digest_stays_what_it_was():
    """Study files keep digests: one computed by coreutils, `printf '{"a":1,"ä":[]}' | b2sum -l 128`."""
    assert digest({"ä": [], "a": 1}) == "647dca9313a7343cf7faacf402d3386a"


def test_a_callable_object_comes_from_its_type():
    assert origin(Part("x", 1.0)).endswith(":Part")


@dataclass(frozen=True)
class Grown:
    """A rule that got a field after records had been kept of it."""

    runs: int = 3
    edition: int = field(default=2, metadata={UNSAID: 1})


def test_a_later_field_is_left_out_of_a_record_where_it_says_what_was_so_before():
    assert described_rule(Grown(edition=1)) == {"rule": "Grown", "runs": 3}
    assert described_rule(Grown()) == {"rule": "Grown", "runs": 3, "edition": 2}
