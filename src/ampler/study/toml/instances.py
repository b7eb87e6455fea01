"""The instances that a study definition names: files, names, or the objects of a Python mapping; and their features."""

from __future__ import annotations

import csv
import glob
import hashlib
import importlib
import os
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from ampler.core.answers import expected_answer
from ampler.core.plan import Instance
from ampler.core.text import composed, in_bytes
from ampler.study.toml import keys
from ampler.study.toml.keys import Table

LARGEST = 64 * 10**6  # bytes of a table of features


def read_instances(table: Table, folder: Path) -> list[Instance]:
    """Return all instances that are available, with their features."""
    kinds = [key for key in ("files", "names", "python") if key in table]
    if len(kinds) != 1:
        came = " and ".join(kinds) or "none of them"
        raise table.error("", f"[instances] must have one of files, names and python, got {came}")
    if kinds == ["names"]:
        instances = [Instance(name) for name in table.read("names", keys.texts, [])]
    else:
        instances = (_files if kinds == ["files"] else _objects)(table, folder)
    return _with_features(instances, table, folder) if "features" in table else instances


def file_instance(path: Path, name: str) -> Instance:
    """Return a file as an instance; its content is part of what gives runs their values."""
    with path.open("rb") as file:
        return Instance(name, str(path), hashlib.file_digest(file, "sha256").hexdigest())


def _files(table: Table, folder: Path) -> list[Instance]:
    files_by_name: dict[str, Path] = {}
    for pattern in table.read("files", keys.texts, []):
        matches = [Path(folder, match) for match in glob.glob(pattern, root_dir=folder, recursive=True)]
        files = sorted(match for match in matches if match.is_file())
        if not files:
            raise table.error("files", f"files must match at least one file in {folder}, {pattern!r} matches none")
        files_by_name |= {Path(os.path.relpath(file, folder)).as_posix(): file for file in files}
    try:
        return [file_instance(Path(os.path.abspath(file)), name) for name, file in files_by_name.items()]
    except OSError as problem:
        raise table.error("files", f"{problem.filename} cannot be read: {problem.strerror}") from None


def _objects(table: Table, folder: Path) -> list[Instance]:
    where, instances = imported(table, "python", folder)
    if callable(instances) and not isinstance(instances, Mapping):
        try:
            instances = instances()
        except Exception as problem:
            raise table.error("python", f"{where} raised {type(problem).__name__}: {problem}") from problem
    if not isinstance(instances, Mapping):
        kind = type(instances).__name__
        raise table.error("python", f"python must name a mapping of names to instances, {where} is {kind}")
    return [Instance(str(name), data=data) for name, data in instances.items()]


def _with_features(instances: list[Instance], table: Table, folder: Path) -> list[Instance]:
    file = Path(folder, table.require("features", keys.text, ""))
    try:
        rows, names = _rows(file), [composed(instance.name) for instance in instances]
        for name in (name for name in names if name not in rows):
            near = get_close_matches(name, rows, 1)
            hint = f"; did you mean {near[0]!r} there?" if near else ""
            raise ValueError(f"{file.name} must have a row for instance {name!r}{hint}")
        for name, features in rows.items():
            try:
                expected = expected_answer(features)
            except ValueError as problem:
                raise ValueError(f"{problem} on instance {name!r} of {file.name}") from None
            if expected and name not in names:
                raise ValueError(f"{file.name} expects an answer on {name!r}, which is no instance here")
    except OSError as problem:
        raise table.error("features", f"the table of features {file} cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise table.error("features", f"the table of features {file} must be a text in UTF-8") from None
    except ValueError as problem:
        raise table.error("features", str(problem)) from None
    return [replace(instance, features=rows[composed(instance.name)]) for instance in instances]


def _rows(file: Path) -> dict[str, dict[str, str]]:
    """The rows by instance, named by the column "instance" or the first one. Errors quote nothing from the file."""
    if not file.is_file():
        raise ValueError(f"the table of features {file} must be a file, and there is none")
    if (size := file.stat().st_size) > LARGEST:
        raise ValueError(f"the table of features {file} has {in_bytes(size)}, over {in_bytes(LARGEST)}")
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    separator = max(",;\t", key=(lines or [""])[0].count)
    try:
        header, *rows = list(csv.reader(lines, delimiter=separator)) or [[]]
    except csv.Error as problem:
        raise ValueError(f"{file.name} must be a table: {problem}") from None
    columns = [composed(column.strip()) for column in header]
    folded = [column.lower() for column in columns]
    name_column = folded.index("instance") if "instance" in folded else 0
    unlike = f"{file.name} must be a table with distinct columns, but"
    if len(columns) < 2 or len(set(columns)) != len(columns):
        what = "one column alone" if len(columns) < 2 else "columns of the same name"
        raise ValueError(f"{unlike} its header has {what}")
    rows_by_name: dict[str, dict[str, str]] = {}
    for number, row in ((number, row) for number, row in enumerate(rows, start=2) if row):
        if len(row) != len(columns):
            raise ValueError(f"{unlike} row {number} has {len(row)} cells where the header has {len(columns)}")
        values = {column: composed(value.strip()) for column, value in zip(columns, row, strict=True)}
        name = values.pop(columns[name_column])
        if name in rows_by_name:
            twice = f"row {number} names one that has a row already"
            raise ValueError(f"{file.name} must have one row for each instance, but {twice}")
        rows_by_name[name] = values
    return rows_by_name


# Moved modules of ampler, which study definitions of earlier versions name.
MOVED = {"ampler.demo": "ampler.study.starters.demo", "ampler.dummies": "ampler.testing.dummies"}


def imported(table: Table, key: str, folder: Path) -> tuple[str, Any]:
    """Return the name, as it is written, and the object that a key of a table names."""
    where = table.require(key, keys.text, "")
    module_name, _, path = where.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *path.split("."))):
        raise table.error(key, f'{key} must be "module:name", got {where!r}')
    path = unicodedata.normalize("NFKC", path)  # Python normalises identifiers (NFKC)
    try:
        value: Any = _module(MOVED.get(module_name, module_name), folder)
    except ModuleNotFoundError as problem:
        raise table.error(key, f"there is no module {problem.name!r} in {folder} or installed, got {where!r}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        sentence = f"{type(problem).__name__}: {problem}".splitlines()[0]
        raise table.error(key, f"module {module_name!r} cannot be imported ({sentence})") from problem
    for name in path.split("."):
        if not hasattr(value, name):
            near = get_close_matches(name, dir(value), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise table.error(key, f"module {module_name!r} has no {name!r}{hint}")
        value = getattr(value, name)
    return f"{module_name}:{path}", value


def _module(name: str, folder: Path) -> ModuleType:
    """Import a module, the folder's own before any other of that name.

    A process that reads several study definitions may know a module of this name from another folder already."""
    if sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    top = name.partition(".")[0]
    here, loaded = PathFinder.find_spec(top, [str(folder)]), sys.modules.get(top)
    if here is not None and loaded is not None and getattr(loaded.__spec__, "origin", None) != here.origin:
        for other in [other for other in sys.modules if f"{other}.".startswith(f"{top}.")]:
            del sys.modules[other]
    leave, os._exit = os._exit, sys.exit  # type: ignore[assignment]  # the reason of a module that leaves is shown
    paths, streams = list(sys.path), (sys.stdout, sys.stderr)
    try:
        return importlib.import_module(name)
    finally:
        os._exit = leave
        sys.stdout, sys.stderr = streams
        sys.path += [path for path in paths if path not in sys.path]
