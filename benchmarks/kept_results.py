"""What simulations that take minutes share: results kept in a CSV, so that a stopped one goes on, and options."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, TypeVar

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"
KINDS = {"str": str, "int": int, "float": float}

Row = TypeVar("Row")


def asked(about: str | None) -> argparse.Namespace:
    """Return what the shell asks for: nothing, `--write` or `--page`."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group()
    for option in ("--write", "--page"):
        how.add_argument(option, action="store_true")
    return parser.parse_args()


def read(path: Path, kind: type[Row]) -> list[Row]:
    """Return the rows that are there, as values of a dataclass."""
    if not path.exists():
        return []
    kinds = {field.name: KINDS[str(field.type)] for field in fields(kind)}  # type: ignore[arg-type]
    with path.open(newline="", encoding="utf-8") as file:
        return [kind(*(kinds[name](value) for name, value in row.items())) for row in csv.DictReader(file)]


def append(path: Path, rows: Iterable[Any]) -> None:
    """Add rows, and the header to a new file."""
    rows = list(rows)
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow([field.name for field in fields(rows[0])])
        writer.writerows([[round(x, 4) if isinstance(x, float) else x for x in astuple(row)] for row in rows])
