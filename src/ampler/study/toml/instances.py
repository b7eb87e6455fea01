"""The instances that a study file names: files, names, or the objects of a Python mapping; and their features."""

from __future__ import annotations

import csv
import glob
import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ampler.core.names import composed
from ampler.core.values import Instance
from ampler.core.wording import in_bytes
from ampler.study.toml import keys
from ampler.study.toml.imports import imported
from ampler.study.toml.keys import Table

LARGEST = 64 * 10**6  # bytes of a table of features


def read_instances(table: Table, folder: Path) -> list[Instance]:
    """Return all instances that are available, with their features."""
    kinds = [key for key in ("files", "names", "python") if key in table]
    if len(kinds) != 1:
        came = " and ".join(kinds) or "none of them"
        raise table.error("", f"[instances] must have one of files, names and python, got {came}")
    if kinds == ["files"]:
        instances = _files(table, folder)
    elif kinds == ["names"]:
        instances = [Instance(name) for name in table.read("names", keys.texts, [])]
    else:
        instances = _objects(table, folder)
    return _with_features(instances, table, folder) if "features" in table else instances


def file_instance(path: Path, name: str) -> Instance:
    """Return a file as an instance; its content is part of what gives runs their values."""
    with path.open("rb") as file:
        return Instance(name, str(path), hashlib.file_digest(file, "sha256").hexdigest())


def _files(table: Table, folder: Path) -> list[Instance]:
    found: dict[str, Path] = {}
    for pattern in table.read("files", keys.texts, []):
        matches = [Path(folder, match) for match in glob.glob(pattern, root_dir=folder, recursive=True)]
        files = sorted(match for match in matches if match.is_file())
        if not files:
            raise table.error("files", f"files must match at least one file in {folder}, {pattern!r} matches none")
        found |= {_relative(file, folder): file for file in files}
    try:
        return [file_instance(Path(os.path.abspath(file)), name) for name, file in found.items()]
    except OSError as problem:
        raise table.error("files", f"{problem.filename} cannot be read: {problem.strerror}") from None


def _relative(file: Path, folder: Path) -> str:
    return Path(os.path.relpath(file, folder)).as_posix()


def _objects(table: Table, folder: Path) -> list[Instance]:
    where, found = imported(table, "python", folder)
    if callable(found) and not isinstance(found, Mapping):
        try:
            found = found()
        except Exception as problem:
            raise table.error("python", f"{where} raised {type(problem).__name__}: {problem}") from problem
    if not isinstance(found, Mapping):
        raise table.error(
            "python", f"python must name a mapping of names to instances, {where} is {type(found).__name__}"
        )
    return [Instance(str(name), data=data) for name, data in found.items()]


def _with_features(instances: list[Instance], table: Table, folder: Path) -> list[Instance]:
    file = Path(folder, table.require("features", keys.text, ""))
    rows = _rows(table, file)
    for instance in instances:
        if composed(instance.name) not in rows:
            near = get_close_matches(instance.name, rows, 1)
            hint = f"; did you mean {near[0]!r} there?" if near else ""
            raise table.error("features", f"{file.name} must have a row for instance {instance.name!r}{hint}")
    return [replace(instance, features=rows[composed(instance.name)]) for instance in instances]


def _rows(table: Table, file: Path) -> dict[str, dict[str, str]]:
    """The rows by instance: the column "instance", else the first one, names them. Errors show nothing of the file."""
    lines = _lines(table, file)
    separator = max(",;\t", key=(lines or [""])[0].count)
    try:
        header, *rows = list(csv.reader(lines, delimiter=separator)) or [[]]
    except csv.Error as problem:
        raise table.error("features", f"{file.name} must be a table: {problem}") from None
    columns = [composed(column.strip()) for column in header]
    folded = [column.lower() for column in columns]
    place = folded.index("instance") if "instance" in folded else 0
    if len(columns) < 2 or len(set(columns)) != len(columns):
        what = "one column alone" if len(columns) < 2 else "columns of the same name"
        raise table.error("features", f"{file.name} must be a table with distinct columns, but its header has {what}")
    found: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, start=2):
        if row and len(row) != len(columns):
            ragged = f"row {number} has {len(row)} cells where the header has {len(columns)}"
            raise table.error("features", f"{file.name} must be a table with distinct columns, but {ragged}")
        name = composed(row[place].strip()) if row else ""
        if row and name in found:
            twice = f"row {number} names one that has a row already"
            raise table.error("features", f"{file.name} must have one row for each instance, but {twice}")
        found |= {name: _features(columns, row, place)} if row else {}
    return found


def _lines(table: Table, file: Path) -> list[str]:
    try:
        size = file.stat().st_size if file.is_file() else None
        text = "" if size is None or size > LARGEST else file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise table.error("features", f"the table of features {file} cannot be read ({problem.strerror})") from None
    except ValueError:  # no text, or no name of a file
        raise table.error("features", f"the table of features {file} must be a text in UTF-8") from None
    if size is None:
        raise table.error("features", f"the table of features {file} must be a file, and there is none")
    if size > LARGEST:
        raise table.error("features", f"the table of features {file} has {in_bytes(size)}, over {in_bytes(LARGEST)}")
    return text.splitlines()


def _features(columns: list[str], row: list[Any], place: int) -> dict[str, str]:
    return {column: composed(row[n].strip()) for n, column in enumerate(columns) if n != place}
