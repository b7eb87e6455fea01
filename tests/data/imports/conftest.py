"""What tests of other tools' results share: copies of their files, and the values of a cell."""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"


@pytest.fixture
def copied(tmp_path):
    """`copied("coco")`: the files of a tool in a folder of their own."""
    return lambda name: Path(shutil.copytree(FILES / name, tmp_path / name))


@pytest.fixture
def optuna_file(tmp_path):
    path = tmp_path / "optuna.db"
    path.write_bytes(lzma.decompress((FILES / "optuna.db.xz").read_bytes()))
    return path


@pytest.fixture(scope="session")
def values_of():
    """`values_of(table, algorithm, instance)`: the values of a cell."""

    def values(table, algorithm, instance):
        runs = table.runs
        own = runs.algorithm == runs.algorithms.index(algorithm)
        return runs.value[own & (runs.instance == runs.instances.index(instance))].tolist()

    return values
