"""What the tests of tables share: files to read, and the values of each cell."""

from __future__ import annotations

import pytest

from ampler.data.tables import ResultsTable


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
    return cells_of


def cells_of(table: ResultsTable) -> dict[tuple[str, str], list[float]]:
    """The values of each (instance, algorithm)."""
    runs = table.runs
    found: dict[tuple[str, str], list[float]] = {}
    for i, a, value in zip(runs.instance, runs.algorithm, runs.value, strict=True):
        found.setdefault((runs.instances[i], runs.algorithms[a]), []).append(float(value))
    return found
