"""What the hostile tests share: the shell in this process, and a sound study file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_files import Answer

from ampler.app.shell import main
from ampler.study.store import open_store

OLD = Path(__file__).parents[1] / "study" / "old" / "python"


@pytest.fixture
def shell(monkeypatch, capsys) -> Callable[..., Answer]:
    """`shell("design", "--power", 0.8)`: the whole command line, in this process."""

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["ampler", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            main()
        captured = capsys.readouterr()
        return Answer(int(leaving.value.code or 0), captured.out, captured.err)

    return run


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
