"""A file is replaced when its draft is complete, and only then."""

import os
import stat
from pathlib import Path

import pytest

from ampler.core.errors import InvalidInput
from ampler.core.files import check_not_input, replaced


def test_the_draft_takes_the_place_of_the_file(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with replaced(target) as draft:
        draft.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def write_half_of(target):
    with replaced(target) as draft:
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
    with replaced(tmp_path / "report.html") as draft:
        assert draft.parent == tmp_path
        assert draft.name.startswith(".report.html.")
        assert draft.read_bytes() == b""


def test_two_writers_of_one_file_never_meet(tmp_path):
    target = tmp_path / "report.html"
    with replaced(target) as first, replaced(target) as second:
        assert first != second
        first.write_text("1")
        second.write_text("2")
    assert target.read_text() == "1"  # the one that ended last
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_mode_is_that_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        with replaced(tmp_path / "new"):
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
    with pytest.raises(FileExistsError), replaced(tmp_path / "new") as draft:
        draft.write_text("overwritten")
    assert bait.read_text() == victim.read_text() == "mine"


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as problem, replaced(tmp_path / "no-folder" / "x.csv"):
        pass
    assert Path(problem.value.filename) == tmp_path / "no-folder" / "x.csv"


def test_a_long_name_has_room_for_its_draft(tmp_path):
    target = tmp_path / ("ä" * 125 + ".csv")  # 254 bytes, of 255 that file systems allow
    with replaced(target) as draft:
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
