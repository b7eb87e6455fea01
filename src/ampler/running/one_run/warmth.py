"""What functions import while they run under a limit: imported once by the process that forks their children.

Every such run has a child of its own, so that nothing of it is left for the next one. What a function imports inside
would be imported by each of these children again; so a child tells what it has imported, and its parent does the same
before it forks the next one. Nothing but modules as they are after their import is shared between runs.

A module is left to the children where its import may hang on what the function did before: when the function had
changed the import path, the folder or the environment, or has left threads behind, or when the module of that name
would be another one here.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterable
from typing import Any

Imported = tuple[str, str]  # the name of a module and the file it is from

_left_alone: set[str] = set()  # modules that could not be imported here


class Arrival:
    """A child before its run. It listens for imports: `imported` says which of them found all as it was.

    Python asks it for every module that is not there yet, as it asks all finders; it knows of none.
    """

    def __init__(self) -> None:
        self._around = _surroundings()
        self._depth = _imports_under_way()
        self._asked: dict[str, None] = {}
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Note a module that the function wants; what modules want in turn comes with them."""
        if _imports_under_way() == self._depth and self._around == _surroundings():
            self._asked[name] = None

    def imported(self) -> list[Imported]:
        """Return the modules that were imported, in their order; none when threads are left, perhaps by one of them."""
        if threading.active_count() > 1:
            return []
        found = {name: _file_of(getattr(sys.modules.get(name), "__spec__", None)) for name in self._asked}
        return [(name, file) for name, file in found.items() if file]


def warm_up(modules: Iterable[Imported]) -> None:
    """Import what a child has imported, as far as it is the same here."""
    for name, file in modules:
        if name not in sys.modules and name not in _left_alone and not _could_import(name, file):
            _left_alone.add(name)


def _could_import(name: str, file: str) -> bool:
    """Import a module if it is the one from this file. What cannot be imported here, the children import as before."""
    try:
        if _file_of(importlib.util.find_spec(name)) == file:
            importlib.import_module(name)
    except (Exception, SystemExit):
        return False
    return name in sys.modules


def _surroundings() -> Any:
    """What an import may hang on besides the module itself, and the number of threads."""
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = ""
    return list(sys.path), folder, dict(os.environ), threading.active_count()


def _imports_under_way() -> int:
    """How many modules are being executed because others import them."""
    frame, number = sys._getframe(), 0
    while (caller := frame.f_back) is not None:
        frame, number = caller, number + (frame.f_code.co_name == "exec_module")
    return number


def _file_of(spec: Any) -> str:
    """Where a module is from; empty when it was made and not found."""
    return str(getattr(spec, "origin", None) or "")
