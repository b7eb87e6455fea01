"""Flat dataclasses as CSV files, a row each, and back."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

Row = TypeVar("Row")
READ: dict[type, Callable[[str], Any]] = {str: str, int: int, float: float, bool: lambda text: text == "True"}


def write_sheet(rows: Sequence[Any], path: Path) -> None:
    """Write dataclasses of one kind, their fields in columns."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def read_sheet(kind: type[Row], path: Path) -> list[Row]:
    """Read dataclasses of a kind from the file that `write_sheet` wrote."""
    types = get_type_hints(kind)
    with path.open(encoding="utf-8", newline="") as file:
        return [kind(**{name: READ[types[name]](text) for name, text in row.items()}) for row in csv.DictReader(file)]
