"""The working folder is not searched for modules, and its settings are not read."""

import os
import sys

import pytest

from ampler.app import forget_empty_entries, forget_working_folder, load_matplotlib


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return str(tmp_path)


def test_the_folder_that_python_puts_first_is_taken_off(monkeypatch, here):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for first in ("", here):
        monkeypatch.setattr(sys, "path", [first, "/installed"])
        forget_working_folder()
        assert sys.path == ["/installed"]
    forget_working_folder()
    assert sys.path == ["/installed"]


def test_an_empty_entry_is_taken_off_and_one_that_is_named_stays(monkeypatch, here):
    monkeypatch.setenv("PYTHONPATH", "/mine" + os.pathsep)
    monkeypatch.setattr(sys, "path", ["/mine", here, "/installed"])
    forget_empty_entries()
    assert sys.path == ["/mine", "/installed"]

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", here]))
    monkeypatch.setattr(sys, "path", [here, "/installed"])
    forget_empty_entries()
    assert sys.path == [here, "/installed"]


def test_loading_matplotlib_leaves_us_where_we_are(here):
    load_matplotlib()
    assert os.getcwd() == here
