"""Files of a stranger are read without harm."""

from __future__ import annotations

import gzip

import pytest

from ampler.core.errors import InvalidData
from ampler.data.imports import reader
from ampler.data.imports.reader import ResultFile, files_below, parse_json


def test_links_are_not_followed_and_folders_end_somewhere(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.info").write_text("x")
    (tmp_path / "b.info").symlink_to(tmp_path / "deep" / "a.info")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [file.name for file in files_below(tmp_path)] == ["a.info"]


def test_a_folder_of_very_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MAX_FILES", 3)
    for k in range(5):
        (tmp_path / f"{k}.txt").touch()
    with pytest.raises(InvalidData, match="holds more than 3 files"):
        files_below(tmp_path)


def test_only_files_inside_the_folder_are_named(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.dat").touch()
    (tmp_path / "b.dat").touch()
    file = ResultFile(tmp_path / "own" / "x.info")
    assert file.sibling("a.dat") is not None
    for name in ("../b.dat", str(tmp_path / "b.dat"), "missing.dat", "", "\0"):
        assert file.sibling(name) is None


def test_an_allowance_ends(tmp_path):
    (tmp_path / "a").write_text("x" * 60)
    allowance = [100]
    assert ResultFile(tmp_path / "a", allowance=allowance).text() == "x" * 60
    with pytest.raises(InvalidData, match="a has 60 bytes, more than the 40 bytes"):
        ResultFile(tmp_path / "a", allowance=allowance).text()


def test_what_unpacks_to_more_than_is_allowed_is_refused(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"x\n" * 10_000))
    with pytest.raises(InvalidData, match="unpacks to more than"):
        ResultFile(path).text(1000)


@pytest.mark.parametrize(
    ("text", "message"), [("[" * 100_000, "nests too deeply"), ("{", "is not JSON"), ("[1", "is not JSON")]
)
def test_json_that_cannot_be_is_refused(text, message):
    with pytest.raises(InvalidData, match=message):
        parse_json(text, "x")
