"""What tests of other tools' results share: copies of their files, and the values of a cell."""

import shutil
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"


@pytest.fixture
def copied(tmp_path):
    """`copied("coco")`: the files of a tool in a folder of their own."""
    return lambda name: Path(shutil.copytree(FILES / name, tmp_path / name))


@pytest.fixture(scope="session")
def values_of():
    """`values_of(table, algorithm, instance)`: the values of a cell."""

    def values(table, algorithm, instance):
        runs = table.runs
        own = runs.algorithm == runs.algorithms.index(algorithm)
        return runs.value[own & (runs.instance == runs.instances.index(instance))].tolist()

    return values
