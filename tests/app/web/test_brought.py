from __future__ import annotations

import stat

import pytest

from ampler.app.web import brought
from ampler.app.web.brought import KEPT, BroughtFiles, check_brought, safe_name, too_large
from ampler.app.web.pages import NotThere
from ampler.core.errors import InvalidData


def test_a_file_is_kept_for_its_owner_alone():
    files = BroughtFiles()
    kept = files.keep("my runs.csv", b"a,b\n1,2\n")

    assert files.find(kept.key) == kept
    assert kept.path.read_bytes() == b"a,b\n1,2\n"
    assert stat.S_IMODE(kept.path.parent.stat().st_mode) == 0o700


def test_the_oldest_goes_when_there_are_too_many():
    files = BroughtFiles()
    kept = [files.keep(f"{n}.csv", b"a") for n in range(KEPT + 1)]

    assert not kept[0].path.exists()
    assert kept[1].path.exists()
    with pytest.raises(NotThere, match="bring it again"):
        files.find(kept[0].key)


def test_a_file_that_nobody_looks_at_goes_away(monkeypatch):
    files = BroughtFiles()
    kept = files.keep("a.csv", b"a")
    monkeypatch.setattr(brought, "HOURS", -1.0)

    with pytest.raises(NotThere):
        files.find(kept.key)
    assert not kept.path.exists()


def test_all_go_with_the_server():
    files = BroughtFiles()
    kept = files.keep("a.csv", b"a")
    del files

    assert not kept.path.exists()


@pytest.mark.parametrize("content", [b"", b" \n ", b"SQLite format 3\0 and more"])
def test_what_is_no_table_is_refused(content):
    with pytest.raises(InvalidData):
        check_brought(content)


def test_a_file_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr(brought, "MOST_BYTES", 3)
    with pytest.raises(InvalidData, match="larger than"):
        check_brought(b"1234")
    assert "command line" in str(too_large())


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("C:\\data\\runs.csv", "runs.csv"),
        ("a/../../b.parquet", "b.parquet"),
        ("..", "results.csv"),
        ("x\0\n<b>.json", "x-b-.json"),
        ("ü" * 300 + ".csv", "ü" * 96 + ".csv"),
    ],
)
def test_a_name_is_only_a_name(name, safe):
    assert safe_name(name) == safe
