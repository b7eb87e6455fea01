"""Where a study file can be."""

import os

import pytest

from ampler.core.errors import StoreUnusable
from ampler.study.store.access import check_folder, study_path


def test_a_place_is_the_one_behind_all_links(tmp_path):
    (tmp_path / "real.db").touch()
    (tmp_path / "link.db").symlink_to("real.db")

    assert study_path(tmp_path / "link.db") == tmp_path / "real.db"
    assert study_path(tmp_path / "not yet.db") == tmp_path / "not yet.db"


@pytest.mark.parametrize("path", [None, 3, b"study.db", "a\0b", ["study.db"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(StoreUnusable, match="must be named by a path"):
        study_path(path)


def test_what_is_no_plain_file_is_refused_before_anything_is_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.db")
    (tmp_path / "loop.db").symlink_to("loop.db")
    for name, reason in {
        "pipe.db": "plain file",
        "loop.db": "levels of symbolic links",
        "": "is a folder",
        "x" * 300: "too long",
    }.items():
        with pytest.raises(StoreUnusable, match=reason):
            study_path(tmp_path / name)
    with pytest.raises(StoreUnusable, match="device"):
        study_path("/dev/zero")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreUnusable, match=r"folder .*gone does not exist"):
        check_folder(tmp_path / "gone" / "study.db")
    check_folder(tmp_path / "study.db")
