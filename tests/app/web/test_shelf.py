from __future__ import annotations

from pathlib import Path

import pytest

from ampler.app.web.pages import NotThere
from ampler.app.web.shelf import check_shown, shelf_of
from ampler.core.errors import StoreUnusable


def test_a_file_is_shown_once_under_a_name_that_fits_an_address(tmp_path):
    shelf = shelf_of([tmp_path / "my study?.db", tmp_path / "my study?.db", tmp_path / "..db"])

    assert [study.name for study in shelf] == ["my-study", "study"]


def test_only_what_was_named_is_found(tmp_path):
    shelf = shelf_of([tmp_path / "study.db"])

    assert shelf.find("study").path == tmp_path / "study.db"
    for name in ("other", "../study", str(tmp_path / "study.db"), ""):
        with pytest.raises(NotThere, match="ampler serve"):
            shelf.find(name)


def test_a_file_that_is_not_there_is_told_before_the_server_begins(tmp_path):
    with pytest.raises(StoreUnusable, match=r"there is no study file .*gone\.db"):
        check_shown(shelf_of([tmp_path / "gone.db"]))


def test_a_file_on_a_network_is_refused_in_a_sentence(tmp_path, monkeypatch):
    study = tmp_path / "study.db"
    study.touch()
    monkeypatch.setattr("ampler.study.store.filesystem.on_network", lambda path: Path(path) == study)

    with pytest.raises(StoreUnusable, match="copy the file to this machine"):
        check_shown(shelf_of([study]))
