"""What a Python file imports from its own folder, found by reading: nothing is executed."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator
from functools import lru_cache
from pathlib import Path

OURS = "ampler"  # the tool is no part of a study
ENDINGS = (".py", ".so", ".pyd", ".abi3.so")


def reached(file: Path, home: Path) -> list[Path]:
    """Return a file with all that it imports, directly and by others, from the folder `home`; itself first.

    Imports inside functions count; those whose names are made when the program runs cannot be seen.
    """
    found: dict[Path, None] = {file: None}
    waiting, beside = [file], _beginnings(home)
    while waiting:
        for each in _imported(waiting.pop(), home, beside):
            if each not in found:
                found[each] = None
                waiting.append(each)
    return list(found)


def file_of(module: str, home: Path) -> Path | None:
    """Return the file of a module below a folder; None when it is not there."""
    place = home.joinpath(*module.split("."))
    for ending in ENDINGS:
        if (candidate := place.with_name(place.name + ending)).is_file():
            return candidate
    if (package := place / "__init__.py").is_file():
        return package
    return next(iter(sorted(place.parent.glob(f"{place.name}.*.so"))), None)


def _beginnings(home: Path) -> frozenset[str]:
    """What the names of modules in a folder begin with, up to their first point; most imports are from elsewhere."""
    try:
        return frozenset(name.partition(".")[0] for name in os.listdir(home)) - {OURS}
    except OSError:
        return frozenset()


def _imported(file: Path, home: Path, beside: Collection[str]) -> Iterator[Path]:
    if file.suffix != ".py":
        return
    try:
        names = _names(file.read_bytes(), _package(file, home))
    except (OSError, SyntaxError, ValueError):  # who executes it will say so
        return
    for name in names:
        if name.partition(".")[0] in beside:
            yield from filter(None, (file_of(module, home) for module in _with_parents(name)))


@lru_cache(maxsize=256)  # of studies that are run again by the same process
def _names(source: bytes, package: tuple[str, ...]) -> tuple[str, ...]:
    """The modules that a source imports, each once; `from a import b` may mean the module a.b."""
    return tuple(dict.fromkeys(_all_names(ast.parse(source), package)))


def _all_names(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ([module] if module else [])
            yield from (f"{module}.{alias.name}".lstrip(".") for alias in node.names if alias.name != "*")


def _package(file: Path, home: Path) -> tuple[str, ...]:
    """The package a file is in, as its names below `home`."""
    return file.parent.relative_to(home).parts if file.is_relative_to(home) else ()


def _with_parents(name: str) -> Iterator[str]:
    """A module and the packages it is in: all of them are executed.

    >>> list(_with_parents("a.b.c"))
    ['a', 'a.b', 'a.b.c']
    """
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts) + 1))
