"""A reader of another package is found by its entry point: the example of docs/readers.md, installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import ampler as am
from ampler.core.errors import AmplerError
from ampler.data import imports

PAGE = Path(__file__).parents[3] / "docs" / "readers.md"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """`installed(module, code)`: a package with an entry point, as pip leaves it."""

    def install(code, entry="my_reader:MyTool"):
        site = tmp_path / "site"
        information = site / "my_reader-1.0.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my_reader\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[ampler.readers]\nmytool = {entry}\n")
        (site / "my_reader.py").write_text(code)
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, "my_reader", raising=False)
        imports.readers.cache_clear()

    yield install
    imports.readers.cache_clear()


def test_the_example_of_the_page_reads_its_files_and_is_short(installed, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code.splitlines()) <= 32
    installed(code)
    folder = tmp_path / "results"
    folder.mkdir()
    for number, (solver, problem) in enumerate([("tabu", "p1"), ("tabu", "p2"), ("ants", "p1"), ("ants", "p2")]):
        text = f"solver: {solver}\nproblem: {problem}\nseconds: {number + 1.25}\n"
        (folder / f"run{number}.mytool").write_text(text)
    analysis = am.analyse(folder, difference="ratio")
    assert (analysis.instances, analysis.runs) == (2, 4)
    (folder / "run0.mytool").write_text("solver: tabu\nproblem: p1\n")
    with pytest.raises(AmplerError, match=r"run0\.mytool is not a valid mytool file: 'seconds' is missing"):
        am.read_results(folder)


def test_a_reader_that_cannot_be_loaded_is_named(installed, tmp_path):
    installed("", entry="my_reader:Nothing")
    (tmp_path / "x.csv").write_text("solver,problem,time\na,p,1\nb,p,2\n")
    with pytest.raises(AmplerError, match=r"the reader 'mytool'.*cannot be loaded"):
        am.read_results(tmp_path / "x.csv")
