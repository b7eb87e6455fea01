"""The short scripts of the documentation run as they stand there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPTS = sorted(Path(__file__).parents[1].joinpath("docs", "scripts").glob("*.py"))


def test_there_are_ten():
    assert len(SCRIPTS) == 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_in_at_most_fifteen_lines(script, tmp_path, monkeypatch, capsys):
    lines = [line for line in script.read_text(encoding="utf-8").splitlines()[1:] if line.strip()]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")

    runpy.run_path(str(script))

    assert len(lines) <= 15
    assert capsys.readouterr().out.strip()
