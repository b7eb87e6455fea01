"""docs/json.md names every field that a command prints, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAGE = Path(__file__).parents[3] / "docs" / "json.md"
STUDY = """difference = "simple"
better = "lower"
seed = 3
[rule]
allocation = "fixed"
runs = 2
[[algorithm]]
name = "a"
command = "echo {instance} {seed}"
[[algorithm]]
name = "b"
command = "echo {instance} 2{seed}"
[instances]
names = ["x", "y", "z"]
use = "all"
"""
DIFFERENCE = ("--difference", "simple", "--better", "lower")
CALLS = {
    "ampler analyse": ("analyse", "runs.csv", *DIFFERENCE),
    "One algorithm alone": ("analyse", "runs.csv", "--algorithms", "a"),
    "ampler advise": ("advise", "runs.csv", *DIFFERENCE, "--detect", "0.5"),
    "ampler design": ("design", "--algorithms", "4", "--vs-one", "--effect", "0.5", "--power", "0.8"),
    "ampler check": ("check", "study.toml"),
    "ampler status": ("status", "study.db"),
    "ampler next": ("next", "study.toml"),
    "ampler record": ("record", "study.toml", "runs.jsonl"),
    "ampler gate": ("gate", "runs.csv", *DIFFERENCE, "--reference", "a"),
}


@pytest.mark.parametrize("section", CALLS)
def test_the_page_names_every_field_of_a_command(section, shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [(a, f"i{i}", rng.normal()) for a in "ab" for i in range(12) for _ in range(3)]
    pd.DataFrame(rows, columns=["algorithm", "instance", "value"]).to_csv("runs.csv", index=False)
    Path("study.toml").write_text(STUDY)
    Path("runs.jsonl").write_text("")
    if section == "ampler status":
        shell("run", "study.toml", "--workers", "1")
    answer = shell(*CALLS[section], "--json")
    assert answer.code in (0, 4), answer.err
    document = answer.json

    first, *others = _tables(section)
    assert document.keys() - {"schema_version"} == first
    assert document["schema_version"] == 1
    if others:
        assert document["comparisons"][0].keys() == others[0]


def _tables(section):
    """The names in the first column of each table of a section; `factor` is of ratios alone."""
    text = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (body,) = (part for part in text if part.startswith(f"{section}\n"))
    tables = re.findall(r"(?:^\|.*\n)+", body, flags=re.MULTILINE)
    return [set(re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines()))) for table in tables]
