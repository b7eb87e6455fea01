"""Doctests, those of README.md included, work in a folder of their own: an example may write files."""

import pytest


@pytest.fixture(autouse=True)
def _own_folder(request: pytest.FixtureRequest) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
