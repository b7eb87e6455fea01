"""The files that the runs of an algorithm hang on, each with the SHA-256 of its content.

Of a Python function: its module, and what that imports from its own folder. Of a command: the executable, the files
among its arguments, and what Python files among them import from their folder. Files have the names a user gave them,
or their paths in the folder: a study that is moved, or run on another machine, hangs on the same names.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from ampler.core.values import Algorithm, Command, Function, Instance
from ampler.study.code.instances import files_of_instances
from ampler.study.code.modules import file_of, reached
from ampler.study.code.scripts import definitions
from ampler.study.command_line import as_text, commands_around, filled, places

Files = dict[str, str]  # SHA-256 by name; the first is the one all others are reached from
OfModule = Callable[[ModuleType, Path | None], Files]

PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)


def codes_of(algorithms: Iterable[Algorithm]) -> dict[str, Files]:
    """Return the files of each algorithm; none where they cannot be known. Algorithms often share a module."""
    once = functools.cache(_of_module)
    return {algorithm.name: code_of(algorithm, once) for algorithm in algorithms}


def objects_of(instances: Iterable[Instance]) -> Files:
    """Return the instances that are Python objects, and the files of their classes, on which runs of functions hang."""
    once = functools.cache(_of_module)
    return files_of_instances(instances, lambda definition: _of_definition(definition, once))


def code_of(algorithm: Algorithm, of_module: OfModule | None = None) -> Files:
    """Return the files of an algorithm, and of the commands around its runs, with their hashes.

    `of_module` remembers the files of modules that were read already.
    """
    own = _of_command(algorithm) if isinstance(algorithm, Command) else _of_function(algorithm, of_module or _of_module)
    return own | {name: sha for each in commands_around(algorithm).values() for name, sha in _of_command(each).items()}


@contextmanager
def paths_read() -> Iterator[set[Path]]:
    """Collect the paths of the files whose digests are taken meanwhile."""
    paths: set[Path] = set()
    _collecting.append(paths)
    try:
        yield paths
    finally:
        _collecting.remove(paths)


_collecting: list[set[Path]] = []


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file; None when there is no such file, or it cannot be read."""
    try:
        if path.is_file():
            for paths in _collecting:
                paths.add(path)
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):  # a word that is no path: too long, or with a zero byte
        pass
    return None


# Commands


def _of_command(command: Command) -> Files:
    folder = Path(command.folder or os.curdir).resolve()
    named = {command.argv[0]: _executable(command.argv[0], folder), **_in_arguments(command, folder)}
    return _hashed({**named, **{name: file for path in named.values() for name, file in _imports_of(path, folder)}})


def _executable(program: str, folder: Path) -> Path:
    """The file that is started: a name without a folder is looked for on PATH."""
    return folder / program if os.path.dirname(program) else Path(shutil.which(program) or program)


def _in_arguments(command: Command, folder: Path) -> dict[str, Path]:
    """What may be a file among the arguments, by its name; a word with the instance or the seed is another each time.

    `python -m module` names a file too.
    """
    values = {name: as_text(value) for name, value in command.parameters.items()}
    fixed = [word for word in command.argv[1:] if not places([word]) & {"instance", "seed"}]
    given = values if command.protocol == "arguments" else {}
    words = [*(filled(word, given) for word in fixed), *values.values()]
    candidates = {each: folder / each for word in words for each in (word, word.partition("=")[2]) if each}
    for option, module in pairwise(fixed):
        if option == "-m" and PYTHON.fullmatch(os.path.basename(command.argv[0])):
            candidates |= {_name(file, folder): file for file in _modules(module, folder)}
    return candidates


def _modules(name: str, folder: Path) -> Iterator[Path]:
    """The file of a module that is executed: itself, or of a package its __main__."""
    for candidate in (f"{name}.__main__", name):
        if (file := file_of(candidate, folder)) is not None:
            yield file
            return


def _imports_of(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """What a Python file of the study imports, by name; programs of the system are taken as a whole."""
    if path.suffix == ".py" and not _is_installed(path):
        home = folder if path.is_relative_to(folder) and path.parent != folder else path.parent
        for each in {**dict.fromkeys(reached(path, path.parent)), **dict.fromkeys(reached(path, home))}:
            yield _name(each, folder), each


# Functions


def _of_function(function: Function, of_module: OfModule) -> Files:
    call = _bare(function.call)
    names = [function.origin.partition(":")[0], getattr(call, "__module__", None) or type(call).__module__]
    files: Files = {}
    for module in filter(None, map(sys.modules.get, dict.fromkeys(names))):
        files |= definitions(call) if module.__name__ == "__main__" else {}
        files |= of_module(module, _script_folder(module))
    return files


def _of_definition(definition: Any, of_module: OfModule) -> Files:
    """The files of a class or function of the study; none of those that are installed."""
    module = sys.modules.get(getattr(definition, "__module__", None) or "")
    if module is None or (not getattr(module, "__file__", None) and module.__name__ != "__main__"):
        return {}
    if module.__name__ == "__main__":
        return definitions(definition)
    return {} if _is_installed(Path(str(module.__file__)).resolve()) else of_module(module, None)


def _bare(call: Callable[..., Any]) -> Any:
    """The function under partial arguments and decorators that say what they wrap."""
    while True:
        inner = call.func if isinstance(call, functools.partial) else getattr(call, "__wrapped__", None)
        if inner is None:
            return call
        call = inner


def _of_module(module: ModuleType, within: Path | None) -> Files:
    """The file of a module and what it imports from its folder; of the program that was started, the imports alone."""
    written = getattr(module, "__file__", None)
    if not written:
        return {}
    file = Path(written).resolve()
    home = within or _home(file, module.__name__, is_package=hasattr(module, "__path__"))
    if _is_installed(file):
        return _hashed({_name(file, home): file})
    found = [each for each in reached(file, home) if within is None or each != file]
    return _hashed({_name(each, home): each for each in found})


def _script_folder(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve().parent if module.__name__ == "__main__" and file else None


def _home(file: Path, name: str, *, is_package: bool) -> Path:
    """The folder from which a module was imported: above all packages it is in."""
    return file.parents[name.count(".") + is_package]


def _is_installed(file: Path) -> bool:
    """Whether a file is Python's own, or of an installed package: those are no part of the study."""
    return any(file.is_relative_to(home) for home in _homes_of_installed())


@functools.cache
def _homes_of_installed() -> frozenset[Path]:
    homes = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return frozenset(Path(home).resolve() for home in homes if home)


# Both


def _hashed(files: dict[str, Path]) -> Files:
    hashes = {name: digest_of(path) for name, path in files.items()}
    return {name: digest for name, digest in hashes.items() if digest is not None}


def _name(file: Path, folder: Path) -> str:
    with suppress(ValueError):
        return file.relative_to(folder).as_posix()
    return file.name
