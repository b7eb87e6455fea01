"""Single keys: quantities with units, and which keys there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from ampler.core.errors import InvalidPlan
from ampler.study.toml.keys import TABLES, memory, seconds

PAGE = (Path(__file__).parents[3] / "docs" / "study-files.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "amount"), [
    ("60s", 60), ("2m", 120), ("2 min", 120), ("1.5h", 5400), ("1h30m", 5400), ("250ms", 0.25), ("1d", 86400), (7, 7),
])  # fmt: skip
def test_durations(text, amount):
    assert seconds("timeout", text) == amount


@pytest.mark.parametrize("text", ["", "60", "s", "-1s", "0s", "1x", "1h30", "1 hour", True, -1, None, float("inf")])
def test_what_is_no_duration(text):
    with pytest.raises(InvalidPlan, match="timeout must be a positive duration"):
        seconds("timeout", text)


@pytest.mark.parametrize(("text", "size"), [
    ("2GB", 2 * 10**9), ("2GiB", 2**31), ("512MB", 512 * 10**6), ("1.5 kB", 1500), ("1b", 1), ("1TB", 10**12),
])  # fmt: skip
def test_sizes(text, size):
    assert memory("memory", text) == size


@pytest.mark.parametrize("text", ["", "2", "GB", "-1GB", "0GB", "2G", 5, None])
def test_what_is_no_size(text):
    with pytest.raises(InvalidPlan, match="memory must be a positive size"):
        memory("memory", text)


def test_every_known_key_stands_in_a_table_of_its_own():
    assert set(TABLES) == {"", "[rule]", "[run]", "[defaults]", "[[algorithm]]", "[[measure]]", "[instances]"}
    assert all(len(set(known)) == len(known) for known in TABLES.values())


@pytest.mark.parametrize("kind", TABLES)
def test_every_key_is_documented_and_no_other(kind):
    starts = {
        "": "At the top",
        **{table: f"`{table}`, " for table in ("[rule]", "[run]", "[defaults]", "[[algorithm]]", "[[measure]]")},
    }
    section = PAGE.split(starts.get(kind, "`[instances]`:"))[1].split("\n\n")[1]
    rows = [line.split("`")[1] for line in section.splitlines()[2:]]
    tables = {"rule", "run", "defaults", "algorithm", "measure", "instances"}
    assert rows == [key for key in TABLES[kind] if key not in tables]
