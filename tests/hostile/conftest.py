"""What the hostile tests share: a sound study file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ampler.study.store import open_store

OLD = Path(__file__).parents[1] / "study" / "old" / "python"


@pytest.fixture(scope="session")
def sound(tmp_path_factory) -> Path:
    """A finished study file of today, with its study.toml, solvers and instances beside it; not to be changed."""
    folder = tmp_path_factory.mktemp("sound") / "study"
    shutil.copytree(OLD, folder)
    open_store(folder / "study.db").close()  # brought up to date
    return folder


@pytest.fixture
def study(sound, tmp_path, monkeypatch) -> Path:
    """A copy of the sound study file to be damaged; we are in its folder."""
    shutil.copytree(sound, tmp_path / "study", copy_function=shutil.copyfile)
    monkeypatch.chdir(tmp_path / "study")
    return tmp_path / "study" / "study.db"
