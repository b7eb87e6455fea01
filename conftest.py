"""What holds for every test, the doctests of src and README.md included: a folder, and collecting that is quick."""

import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

gc.disable()  # all that is made while tests are collected stays: looking through it again and again frees nothing

# `python3` in the studies of tests is this Python, as it is for users in their environment, and no launcher's script
os.environ["PATH"] = os.pathsep.join(
    [os.path.dirname(sys.executable), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
)


def pytest_collection_finish() -> None:
    """From here on there is garbage again; what was collected is none, and no longer looked through.

    Looked for as often as Python does by itself, it takes a twentieth of the time of tests.
    """
    gc.freeze()
    gc.set_threshold(50_000, 50, 1000)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests where users read: tests have none, and there are many of them."""
    found = yield
    if "tests" not in file_path.relative_to(parent.config.rootpath).parts:
        return found
    return [each for each in found if type(each).__name__ != "DoctestModule"]


@pytest.fixture(autouse=True)
def _own_folder(request: pytest.FixtureRequest) -> None:
    """Doctests work in a folder of their own: an example may write files."""
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
