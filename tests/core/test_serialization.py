"""Plain data: documents for programs, rows for data frames, records and their digests."""

import json
import math
import os
import stat
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidInput
from ampler.core.plan import Fingerprint, Limits, Question
from ampler.core.runs import Tally
from ampler.core.serialization import (
    DEFAULT_BEFORE_FIELD,
    canonical,
    check_not_input,
    described_rule,
    digest,
    fits,
    flat,
    jsonable,
    origin,
    record_data,
    replace_file,
    validated,
)


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


@given(
    st.recursive(st.floats() | st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.tuples(inner))
)
def test_whatever_is_written_is_strict_json(value):
    text = json.dumps(jsonable(value), allow_nan=False)

    assert json.loads(text) == jsonable(value)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(string.printable),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.frozensets(st.integers()),
))  # fmt: skip
def test_whatever_is_plain_data_can_be_written_as_json_and_stays_plain(value):
    written = record_data(value)
    assert record_data(written) == written
    assert json.loads(json.dumps(written, allow_nan=False)) == written


def test_a_record_keeps_what_json_cannot_hold_as_text():
    assert record_data({"a": math.inf, "b": math.sqrt, "c": np.int64(3), "d": Part("x", math.nan)}) == {
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
    edition: int = field(default=2, metadata={DEFAULT_BEFORE_FIELD: 1})


def test_a_later_field_is_left_out_of_a_record_where_it_says_what_was_so_before():
    assert described_rule(Grown(edition=1)) == {"rule": "Grown", "runs": 3}
    assert described_rule(Grown()) == {"rule": "Grown", "runs": 3, "edition": 2}


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
    assert validated(Question("simple", better="lower")) == Question("simple", better="lower")
    with pytest.raises(ValueError, match="alpha of Question is 'x'"):
        validated(Question("simple", alpha="x", better="lower"))
    with pytest.raises(ValueError, match="algorithms of Fingerprint"):
        validated(Fingerprint(1, {"a": "b"}, {}))
    with pytest.raises(ValueError, match="seconds of Tally is None"):
        validated(Tally("i", "a", 1, 1, None))


def test_the_draft_takes_the_place_of_the_file(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with replace_file(target) as draft:
        draft.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def write_half_of(target):
    with replace_file(target) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt


def test_after_an_error_the_old_file_stands_and_no_draft_is_left(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_half_of(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_draft_lies_in_the_folder_of_the_file_under_a_hidden_name(tmp_path):
    with replace_file(tmp_path / "report.html") as draft:
        assert draft.parent == tmp_path
        assert draft.name.startswith(".report.html.")
        assert draft.read_bytes() == b""


def test_two_writers_of_one_file_never_meet(tmp_path):
    target = tmp_path / "report.html"
    with replace_file(target) as first, replace_file(target) as second:
        assert first != second
        first.write_text("1")
        second.write_text("2")
    assert target.read_text() == "1"  # the one that ended last
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_mode_is_that_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        with replace_file(tmp_path / "new"):
            pass
        (tmp_path / "usual").touch()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)


@pytest.mark.parametrize("there", ["file", "link"])
def test_a_draft_is_never_written_into_what_is_there(tmp_path, monkeypatch, there):
    monkeypatch.setattr("secrets.token_hex", lambda size: "known")
    bait = tmp_path / ".new.known.part"
    victim = tmp_path / "victim"
    victim.write_text("mine")
    if there == "file":
        bait.write_text("mine")
    else:
        bait.symlink_to(victim)
    with pytest.raises(FileExistsError), replace_file(tmp_path / "new") as draft:
        draft.write_text("overwritten")
    assert bait.read_text() == victim.read_text() == "mine"


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as problem, replace_file(tmp_path / "no-folder" / "x.csv"):
        pass
    assert Path(problem.value.filename) == tmp_path / "no-folder" / "x.csv"


def test_a_long_name_has_room_for_its_draft(tmp_path):
    target = tmp_path / ("ä" * 125 + ".csv")  # 254 bytes, of 255 that file systems allow
    with replace_file(target) as draft:
        draft.write_text("x")
    assert target.read_text() == "x"


def test_what_is_read_is_never_written_over(tmp_path):
    data, link, hard = tmp_path / "runs.csv", tmp_path / "link.csv", tmp_path / "hard.csv"
    data.write_text("kept")
    link.symlink_to(data)
    hard.hardlink_to(data)
    (tmp_path / "sub").mkdir()

    for name in (data, str(data), link, hard, tmp_path / "sub" / ".." / "runs.csv"):
        with pytest.raises(InvalidInput, match="must not be the one that is read"):
            check_not_input(name, None, data)
    check_not_input(tmp_path / "other.csv", data, object())
