"""Objects that a study file names as "module:name"; its folder comes first on the import path."""

from __future__ import annotations

import importlib
import sys
from difflib import get_close_matches
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from ampler.study.toml import keys
from ampler.study.toml.keys import Table

# Modules of ours that lie elsewhere now. Study files of earlier days name them; what they name stays what it was.
MOVED = {"ampler.demo": "ampler.study.starters.demo", "ampler.dummies": "ampler.testing.dummies"}


def imported(table: Table, key: str, folder: Path) -> tuple[str, Any]:
    """Return the name, as it is written, and the object that a key of a table names."""
    where = table.require(key, _module_and_name, "")
    module_name, _, path = where.partition(":")
    try:
        found: Any = _module(MOVED.get(module_name, module_name), folder)
    except ModuleNotFoundError as problem:
        raise table.error(key, f"there is no module {problem.name!r} in {folder} or installed, got {where!r}") from None
    except Exception as problem:
        raise table.error(key, f"module {module_name!r} cannot be imported ({_said(problem)})") from problem
    for name in path.split("."):
        if not hasattr(found, name):
            near = get_close_matches(name, dir(found), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise table.error(key, f"module {module_name!r} has no {name!r}{hint}")
        found = getattr(found, name)
    return where, found


def _module_and_name(key: str, value: Any) -> str:
    written = keys.text(key, value)
    module, _, name = written.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise keys.unfit(key, 'must be "module:name"', value)
    return written


def _module(name: str, folder: Path) -> ModuleType:
    """Import a module, the folder's own before any other of that name.

    A process that reads several study files may know a module of this name from another folder already.
    """
    if sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    top = name.partition(".")[0]
    here = PathFinder.find_spec(top, [str(folder)])
    known = sys.modules.get(top)
    if here is not None and known is not None and getattr(known.__spec__, "origin", None) != here.origin:
        for loaded in [each for each in sys.modules if each == top or each.startswith(f"{top}.")]:
            del sys.modules[loaded]
    return importlib.import_module(name)


def _said(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}".splitlines()[0]
