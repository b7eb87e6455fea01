"""Folders of IOHexperimenter. Each file was written by the tool itself (versions in docs/other-tools.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ampler.core.errors import InvalidData
from ampler.data.tables import read_table

FILES = Path(__file__).parent / "files"


def test_ioh_has_functions_and_dimensions_as_instances(values_of):
    table = read_table(FILES / "ioh")
    assert table.runs.algorithms == ("LS", "RS")
    assert values_of(table, "RS", "f1 Sphere, dimension=2")[0] == 0.15696200291200813
    assert len(table.runs) == 2 * 3 * 2 * 6
    assert table.direction.better == "lower"


def test_ioh_says_when_functions_are_maximised(copied):
    folder = copied("ioh")
    for path in folder.rglob("*.json"):
        path.write_text(path.read_text().replace('"maximization": false', '"maximization": true'))
    assert read_table(folder).direction.better == "higher"
    path.write_text(path.read_text().replace('"maximization": true', '"maximization": false'))
    with pytest.raises(InvalidData, match="read them separately"):
        read_table(folder)
