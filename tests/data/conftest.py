"""What the tests of tables share: files to read, and the values of each cell."""

from __future__ import annotations

import pytest


@pytest.fixture
def write(tmp_path):
    """Write a text (or bytes) to a file and return its path."""

    def written(content, name="runs.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return written


@pytest.fixture(scope="session")
def cells():
    """`cells(table)`: the values of each (instance, algorithm)."""

    def values(table):
        runs, cells = table.runs, {}
        for i, a, value in zip(runs.instance, runs.algorithm, runs.value, strict=True):
            cells.setdefault((runs.instances[i], runs.algorithms[a]), []).append(float(value))
        return cells

    return values
