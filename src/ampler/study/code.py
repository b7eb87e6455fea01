"""Code versions: SHA-256 digests of the files behind an algorithm, and their changes since the recorded runs.

Of a Python function: its module, and what that imports from its own folder. Of a command: the executable, the files
among its arguments, and what Python files among them import from their folder. Files have the names a user gave them,
or their paths in the folder, so a study may be moved. Of functions of the program that was started, or of a notebook,
it is the definitions. Of an instance that is a Python object it is the content. Nothing is executed but what describes
an instance for copying.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import linecache
import os
import re
import shutil
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ampler.core.errors import PlanMismatch
from ampler.core.plan import Algorithm, Command, Function, Instance
from ampler.core.runs import Code
from ampler.core.serialization import origin
from ampler.core.text import listed, parameter
from ampler.study.run_inputs import as_text, commands_around, filled, places

Files = dict[str, str]  # SHA-256 by name; the first is the main file
Paths = dict[str, Path]

PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?", re.IGNORECASE)
PACKAGE = "ampler"  # the tool itself is not part of a study
CONSTANTS = (str, bytes, int, float, complex, bool, types.NoneType)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SIMPLE = {types.NoneType, bool, int, float, complex, str, bytes, range}
CLASSES = (type, FunctionType, types.BuiltinFunctionType, ModuleType)
FILES_SHOWN = 3
OBJECT = "instance:"  # before the name of an instance that is a Python object
USED = "used:"  # before the name of a file: its text without the functions that an algorithm does not use
LOOK_UPS = {"globals", "locals", "vars", "eval", "exec", "__import__", "import_module"}  # prefix of internal names
HIDDEN = "?"  # prefix of the digest of an object whose content is partly hidden


def codes_of(algorithms: Iterable[Algorithm]) -> dict[str, Files]:
    """Return the files of each algorithm; none where they cannot be known."""
    return {algorithm.name: code_of(algorithm) for algorithm in algorithms}


def code_of(algorithm: Algorithm) -> Files:
    """Return the files of an algorithm, and of the commands around its runs, with their digests."""
    paths = paths_of(algorithm)
    files = _digests(paths)
    if isinstance(algorithm, Function):
        call = _bare(algorithm.call)
        is_script = getattr(call, "__module__", type(call).__module__) == "__main__"
        return definitions(call) | files if is_script else files | _used_by(algorithm.call, paths)
    return files


def paths_of(algorithm: Algorithm) -> Paths:
    """Return the paths of the files of an algorithm, by name; some may not exist."""
    paths = _of_command(algorithm) if isinstance(algorithm, Command) else _of_function(algorithm)
    for command in commands_around(algorithm).values():
        paths |= _of_command(command)
    return paths


def objects_of(instances: Iterable[Instance]) -> Files:
    """Return the digests of instances that are Python objects, and of the files of their classes."""
    objects = {instance.name: _fingerprint(instance.data) for instance in instances if instance.data is not None}
    files: Files = {}
    for definition in {definition: None for _, used in objects.values() for definition in used}:
        module = sys.modules.get(getattr(definition, "__module__", None) or "")
        if module is not None and module.__name__ == "__main__":
            files |= definitions(definition)
        elif module is not None and getattr(module, "__file__", None) and not _is_installed(_file_of(module)):
            files |= _digests(_of_module(module))
    return files | {f"{OBJECT}{name}": digest for name, (digest, _) in objects.items()}


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file; None when there is no such file, or it cannot be read."""
    with suppress(OSError, ValueError):  # not a path: too long, or with a zero byte
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    return None


def _digests(paths: Paths) -> Files:
    digests = {name: digest_of(path) for name, path in paths.items()}
    return {name: digest for name, digest in digests.items() if digest is not None}


def _name(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name


# Commands


def _of_command(command: Command) -> Paths:
    folder = Path(command.folder or os.curdir).resolve()
    program = command.argv[0]  # a name without a folder is looked for on PATH
    file = folder / program if os.path.dirname(program) else Path(shutil.which(program) or program)
    paths = {program: file, **_in_arguments(command, folder)}
    for path in list(paths.values()):  # system programs: without their imports
        if path.suffix == ".py" and not _is_installed(path):
            home = folder if path.is_relative_to(folder) and path.parent != folder else path.parent
            paths |= {_name(file, folder): file for file in [*reached(path, path.parent), *reached(path, home)]}
    return paths


def _in_arguments(command: Command, folder: Path) -> Paths:
    """Arguments that may be files, by name; those with the instance or the seed are excluded.

    `python -m module` names a file too.
    """
    values = {name: as_text(value) for name, value in command.parameters.items()}
    fixed = [word for word in command.argv[1:] if not places([word]) & {"instance", "seed"}]
    arguments = [*(filled(word, values if command.protocol == "arguments" else {}) for word in fixed), *values.values()]
    candidates = {path: folder / path for word in arguments for path in (word, word.partition("=")[2]) if path}
    for option, module in pairwise(fixed):
        if option == "-m" and PYTHON.fullmatch(os.path.basename(command.argv[0])):
            file = file_of(f"{module}.__main__", folder) or file_of(module, folder)
            candidates |= {_name(file, folder): file} if file is not None else {}
    return candidates


# Functions


def _of_function(function: Function) -> Paths:
    call = _bare(function.call)
    names = [function.origin.partition(":")[0], getattr(call, "__module__", None) or type(call).__module__]
    modules = filter(None, map(sys.modules.get, dict.fromkeys(names)))
    return {name: path for module in modules for name, path in _of_module(module).items()}


def _bare(call: Callable[..., Any]) -> Any:
    """The function behind partial arguments and decorators."""
    while True:
        inner = call.func if isinstance(call, functools.partial) else getattr(call, "__wrapped__", None)
        if inner is None:
            return call
        call = inner


def _of_module(module: ModuleType) -> Paths:
    """The file of a module with its imports from its folder; for the main program, the imports alone."""
    if not getattr(module, "__file__", None):
        return {}
    file, is_script = _file_of(module), module.__name__ == "__main__"
    # the folder from which it was imported: above all packages it is in
    home = file.parent if is_script else file.parents[module.__name__.count(".") + hasattr(module, "__path__")]
    files = [file] if _is_installed(file) else reached(file, home)
    return {_name(path, home): path for path in files if not is_script or path != file}


def _file_of(module: ModuleType) -> Path:
    return Path(str(module.__file__)).resolve()


def _is_installed(file: Path) -> bool:
    """Whether a file belongs to Python or an installed package, and so not to the study."""
    homes = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return any(file.is_relative_to(Path(home).resolve()) for home in homes if home)


# Imports of a Python file


def reached(file: Path, home: Path) -> list[Path]:
    """Return a file with all that it imports, directly and by others, from the folder `home`; itself first.

    Imports inside functions count; those whose names are made when the program runs cannot be seen.
    """
    files = [file]
    for path in files:  # the list grows in the loop
        files += [imported for imported in dict.fromkeys(_imported(path, home)) if imported not in files]
    return files


def file_of(module: str, home: Path) -> Path | None:
    """Return the file of a module below a folder; None when it is not there."""
    path = home.joinpath(*module.split("."))
    named = (path.with_name(f"{path.name}{ending}") for ending in (".py", ".so", ".pyd"))
    candidates = (*named, path / "__init__.py", *sorted(path.parent.glob(f"{path.name}.*.so")))
    return next((file for file in candidates if file.is_file()), None)


def _imported(file: Path, home: Path) -> Iterator[Path]:
    if file.suffix != ".py":
        return
    try:
        package = file.parent.relative_to(home).parts if file.is_relative_to(home) else ()
        names = _imported_names(file.read_bytes(), package)
    except (OSError, SyntaxError, ValueError):  # reported when the file is executed
        return
    for name in names:
        parts = name.split(".")  # importing a module executes its parent packages
        if parts[0] != PACKAGE:
            yield from filter(None, (file_of(".".join(parts[:end]), home) for end in range(1, len(parts) + 1)))


@functools.lru_cache(maxsize=256)  # algorithms often share a module
def _imported_names(source: bytes, package: tuple[str, ...]) -> tuple[str, ...]:
    """The modules that a source imports, each once; `from a import b` may mean the module a.b."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            names += [module] if module else []
            names += [f"{module}.{alias.name}".lstrip(".") for alias in node.names if alias.name != "*"]
    return tuple(dict.fromkeys(names))


def _used_by(call: Any, paths: Paths) -> Files:
    """The digests of files without the parts that a function does not use; empty if the text does not show them."""
    if not isinstance(call, FunctionType) or call.__closure__ or hasattr(call, "__wrapped__"):
        return {}
    try:
        sources = {name: path.read_bytes() for name, path in paths.items() if path.suffix == ".py"}
        texts = _used_texts(tuple(sources.values()), call.__name__)
    except (OSError, SyntaxError, ValueError):
        return {}
    return {f"{USED}{name}": hashlib.sha256(text).hexdigest() for name, text in zip(sources, texts, strict=False)}


@functools.lru_cache(maxsize=256)  # cached, as it is needed whenever a file changes
def _used_texts(sources: tuple[bytes, ...], function: str) -> tuple[bytes, ...]:
    """Sources without the plain functions at their top whose names occur in nothing that is executed or called."""
    bodies = [ast.parse(source).body for source in sources]
    nodes: list[Any] = [node for body in bodies for node in body]
    plain = (ast.FunctionDef, ast.AsyncFunctionDef)
    unused = [node for node in nodes if isinstance(node, plain) and not node.decorator_list]
    names = {function}
    pending = [node for node in nodes if node not in unused or getattr(node, "name", "") == function]
    while pending:
        names.update(name for node in pending for name in _mentioned(node))
        unused = [node for node in unused if node not in pending]
        pending = [node for node in unused if node.name in names]
    if names & LOOK_UPS:
        return ()
    texts = []
    for source, body in zip(sources, bodies, strict=True):
        lines = source.splitlines(keepends=True)
        for node in reversed([node for node in body if node in unused]):
            del lines[node.lineno - 1 : node.end_lineno]
        texts.append(b"".join(lines))
    return tuple(texts)


def _mentioned(node: ast.AST) -> Iterator[str]:
    """The names in a piece of code; a text may be one, too."""
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.Constant(value=str(name)):
                yield name


# Definitions of the program that was started


def definitions(call: Callable[..., Any]) -> Files:
    """Return the definitions that a callable depends on, by name; empty if its source is unknown.

    >>> definitions(len)
    {}
    """
    texts: dict[str, str] = {}
    waiting = [call if isinstance(call, FunctionType | type) else type(call)]
    while waiting:
        subject = waiting.pop()
        name, text = f"{subject.__qualname__} in {subject.__module__}", _text(subject)
        if text is None or name in texts:
            continue
        uses = dict(_uses(subject))
        texts[name] = "\n".join([text, *(f"{key} = {value!r}" for key, value in uses.items() if _is_constant(value))])
        own = vars(subject) if isinstance(subject, type) else {}
        of_class = {f"{subject.__qualname__}.{key}": value for key, value in own.items() if not key.startswith("_")}
        for key, value in (
            uses | of_class
        ).items():  # next to the text, so that those of earlier versions stay the same
            is_new = _is_container(value) or (key in of_class and _is_constant(value))
            if is_new and not (digest := _fingerprint(value)[0]).startswith(HIDDEN):
                texts[f"{key} in {subject.__module__}"] = digest
        callables = [value for value in uses.values() if isinstance(value, FunctionType | type)]
        callables += getattr(subject, "__mro__", ())  # inherited methods count
        waiting += [value for value in callables if value.__module__ == "__main__"]
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def _text(subject: Any) -> str | None:
    """The source of a function or a class alone; lambdas on one line count together."""
    with suppress(OSError, TypeError, SyntaxError):
        if not isinstance(subject, FunctionType):
            return inspect.getsource(subject)
        source = "".join(linecache.getlines(subject.__code__.co_filename))
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINITIONS)]
        line = subject.__code__.co_firstlineno
        starts = [min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]) for node in nodes]
        at_line = [node for node, start in zip(nodes, starts, strict=True) if start == line]
        segments = [ast.get_source_segment(source, node) for node in at_line]
        return "\n".join(filter(None, segments)) or None
    return None


def _uses(subject: Any) -> Iterator[tuple[str, Any]]:
    """Global names used by a function or the methods of a class."""
    members = [subject] if isinstance(subject, FunctionType) else vars(subject).values()
    for function in (getattr(member, "__func__", member) for member in members):
        if isinstance(function, FunctionType):
            program = function.__globals__
            yield from ((name, program[name]) for name in sorted(_names(function.__code__)) if name in program)
            yield from zip(function.__code__.co_freevars, _closure(function), strict=False)


def _closure(function: FunctionType) -> Iterator[Any]:
    """Variables in the closure of a function."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            yield "empty"


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _is_container(value: Any) -> bool:
    return isinstance(value, list | dict | set) or _is_array(value)


def _is_array(value: Any) -> bool:
    """Whether all that an array holds are its numbers; one of another class, as a masked one, may hold more."""
    return type(value).__module__ == "numpy" and hasattr(value, "tobytes") and not value.dtype.hasobject


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_constant, value))
    return isinstance(value, CONSTANTS)


# Instances that are Python objects


def _fingerprint(value: Any) -> tuple[str, Iterable[Any]]:
    """The digest of an object, and the classes and functions that it consists of."""
    walk = _Walk()
    try:
        walk.through(value)
    except RecursionError:
        walk.hidden = True
    return f"{HIDDEN if walk.hidden else ''}{walk.hash.hexdigest()}", walk.definitions


class _Walk:
    """Computes the digest of an object and everything in it."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.hidden = False  # whether some content has no reproducible digest
        self.definitions: dict[Any, None] = {}
        self._depths: dict[int, int] = {}  # how deep the objects lie that the present one is in

    def through(self, value: Any) -> None:
        """Add an object: its type, and its content."""
        kind = type(value)
        if kind in SIMPLE:
            self._write(kind.__name__, repr(value))
        elif id(value) in self._depths:
            self._write("around", str(self._depths[id(value)]))
        else:
            self._depths[id(value)] = len(self._depths)
            self._write(origin(kind))
            parts = self._parts(value)
            self.hidden |= parts is None
            for part in parts or ():
                self.through(part)
            self._write("end", str(len(parts or ())))
            del self._depths[id(value)]

    def _parts(self, value: Any) -> Sequence[Any] | None:
        """Content of an object; None if it is not reproducible in the next session."""
        kind = type(value)
        if kind in (list, tuple):
            return [repr(value)] if {*map(type, value)} <= SIMPLE else list(value)  # fast path for the usual case
        if kind is dict:
            return [part for item in value.items() for part in item]
        if kind in (set, frozenset):
            digests = sorted(_fingerprint(item)[0] for item in value)
            self.hidden |= any(digest.startswith(HIDDEN) for digest in digests)
            return digests
        if isinstance(value, CLASSES):
            self.definitions[value] = None
            name = getattr(value, "__module__", None), getattr(value, "__qualname__", value.__name__)
            if isinstance(value, FunctionType):
                own = {key: item for key, item in vars(value).items() if key != "__wrapped__"}
                return [*name, value.__defaults__, value.__kwdefaults__, *_closure(value), *filter(None, [own])]
            return name
        if _is_array(value):
            return [str(value.dtype), str(value.shape), value.tobytes()]
        if isinstance(value, types.MethodType):
            return [value.__self__, value.__func__]
        if hasattr(value, "__next__"):  # it changes with each use
            return None
        if not isinstance(value, functools.partial):
            self.definitions[kind] = None
        try:
            reduced = value.__reduce_ex__(4)  # its description for copying
        except Exception:  # reading an object may raise any error
            return None
        return [list(part) if hasattr(part, "__next__") else part for part in reduced if part is not None]

    def _write(self, *texts: str) -> None:
        for text in texts:
            self.hash.update(f"{len(text)}:{text}".encode(errors="surrogatepass"))


# The code of recorded runs against the present one


@dataclass(frozen=True, slots=True)
class CodeChange:
    """Algorithm with changed code: the changed files, and the number of its recorded runs."""

    algorithm: str
    files: tuple[str, ...]
    runs: int

    def __str__(self) -> str:
        recorded = "its recorded run was" if self.runs == 1 else f"its {self.runs} recorded runs were"
        what = "the instances" if all(name.startswith(OBJECT) for name in self.files) else "the code"
        has = "have" if what.endswith("s") else "has"
        return f"{what} of algorithm {self.algorithm!r} {has} changed since {recorded} made ({file_list(self.files)})"


def file_list(files: Sequence[str]) -> str:
    """Return the first few of some files and instances, for people."""
    names = [f"instance {name[len(OBJECT) :]!r}" if name.startswith(OBJECT) else name for name in files]
    return listed(names, FILES_SHOWN)


def code_changes(
    recorded: Iterable[Code], now: Mapping[str, Mapping[str, str]], runs: Mapping[str, int]
) -> tuple[CodeChange, ...]:
    """Return the algorithms with recorded `runs` and changed code; unknown code does not count as changed.

    >>> known = [Code("mine", {"solvers.py": "e3b0"}), Code("other", {"./solve": "a5f1"})]
    >>> changes = code_changes(known, {"mine": {"solvers.py": "9c1d"}, "other": {"./solve": "a5f1"}}, {"mine": 120})
    >>> print(*changes)
    the code of algorithm 'mine' has changed since its 120 recorded runs were made (solvers.py)
    """
    counting = [code for code in recorded if code.counts]
    changes = []
    for name, files in now.items():
        before = [code.files or {} for code in counting if code.algorithm == name]
        if not (runs.get(name) and before and files):
            continue
        changed = _changed_objects(before, files)
        present = _code_alone(files)
        differences = [differing(old, present) for old in map(_code_alone, before)]
        changed = (*min(differences, key=len), *changed)
        if changed:
            changes.append(CodeChange(name, changed, runs[name]))
    return tuple(changes)


def unseen(files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the instances whose content cannot be seen."""
    hidden = [name for name, digest in files.items() if digest.startswith(HIDDEN)]
    return tuple(name[len(OBJECT) :] for name in hidden if name.startswith(OBJECT))


def _code_alone(files: Mapping[str, str]) -> dict[str, str]:
    return {name: digest for name, digest in files.items() if not name.startswith(OBJECT)}


def with_objects(files: Mapping[str, str], objects: Mapping[str, str]) -> Files:
    """Return the code of a function with that of the instances, which may hold any function of their files."""
    return {name: digest for name, digest in files.items() if name[len(USED) :] not in objects} | dict(objects)


def _changed_objects(before: Sequence[Mapping[str, str]], now: Mapping[str, str]) -> tuple[str, ...]:
    """Instances changed since all recorded sessions; instances added later do not count."""
    changed = []
    for name, digest in now.items():
        digests = {files[name] for files in before if name.startswith(OBJECT) and files.get(name)}
        if digests and digest not in digests:
            changed.append(name)
    return tuple(changed)


def differing(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the changed files. A file added or removed implies a change in another file.

    A code that is not known may be any.

    >>> differing({"a.py": "1", "b.py": "2"}, {"a.py": "1", "b.py": "3", "c.py": "4"})
    ('b.py',)
    """
    if not before or not now:
        return ()
    unused = {name[len(USED) :] for name in before if name.startswith(USED) and before[name] == now.get(name)}
    files = {name: digest for name, digest in now.items() if name not in unused and not name.startswith(USED)}
    changed = [name for name, digest in files.items() if before.get(name, digest) != digest]
    gone = [name for name in list(before)[:1] if name not in now]
    return (*changed, *gone)


def question(changes: Sequence[CodeChange]) -> str:
    """Return the error that asks for the treatment of runs made with other code."""
    these = "these runs" if sum(change.runs for change in changes) > 1 else "this run"
    return (
        f"{'; '.join(map(str, changes))}; choose {parameter('same', True)} if the change does not matter,"
        f" {parameter('again', True)} to repeat {these} (the old runs are kept as superseded), or start a new results"
        f" file; for one algorithm, {parameter('keep', changes[0].algorithm)} or"
        f" {parameter('rerun', changes[0].algorithm)}"
    )


def declared_same(codes: Iterable[Code], algorithm: str) -> tuple[str, ...]:
    """Return the files of an algorithm that differ between codes that all count."""
    counting = [code.files for code in codes if code.algorithm == algorithm and code.counts and code.files]
    return tuple(dict.fromkeys(name for one, two in combinations(counting, 2) for name in differing(one, two)))


def codes_in_force(
    recorded: Sequence[Code], now: Mapping[str, Mapping[str, str]], rerun: Iterable[str] = ()
) -> tuple[Code, ...]:
    """Return the code versions that count from now on; the present one always counts.

    The earlier code of algorithms whose runs are made again counts no longer.
    """
    void = dict.fromkeys(rerun)
    old = [replace(code, counts=code.counts and code.algorithm not in void) for code in recorded]
    unknown = [Code(name, None, counts=False) for name in void]
    present = [Code(name, dict(files)) for name, files in now.items()]
    return tuple({(code.algorithm, code.digest): code for code in [*old, *unknown, *present]}.values())


# Several results files


def joined_codes(files: Mapping[str, Sequence[Code]], *, same: bool = False) -> tuple[Code, ...]:
    """Return the code of all files, by their names; code superseded in one file is superseded in the whole.

    PlanMismatch when runs of an algorithm that count were made with different code, unless it is declared the `same`.
    """
    everything = [code for codes in files.values() for code in codes]
    void = {_key(code) for code in everything if not code.counts}
    for name in dict.fromkeys(code.algorithm for code in everything):
        counting = [(file, code) for file, codes in files.items() for code in codes if code.counts]
        own = [(file, code) for file, code in counting if code.algorithm == name]
        _check_agreement(name, [(file, code) for file, code in own if _key(code) not in void], bool(own), same=same)
    return tuple({_key(code): Code(code.algorithm, code.files, _key(code) not in void) for code in everything}.values())


def counting(codes: Iterable[Code], digests: Mapping[tuple[int, str], str]) -> Callable[[int, str], bool]:
    """Return the function that tells whether the runs of a session and an algorithm count.

    >>> counts = counting([Code("a", None, counts=False)], {(2, "a"): "e3b0"})
    >>> counts(1, "a"), counts(2, "a"), counts(1, "b")
    (False, True, True)
    """
    void = {_key(code) for code in codes if not code.counts}
    return lambda session, algorithm: (algorithm, digests.get((session, algorithm), "")) not in void


def _key(code: Code) -> tuple[str, str]:
    return code.algorithm, code.digest


def _check_agreement(algorithm: str, valid: Sequence[tuple[str, Code]], counted: bool, *, same: bool) -> None:
    """Check the code of an algorithm that counts in all files, with the file that has it; `counted` somewhere."""
    if counted and not valid:
        raise PlanMismatch(
            f"the files contradict each other: runs of algorithm {algorithm!r} are superseded in one and in force"
            f" in the other; run the parts with the same code and {parameter('again', True)}, then merge them"
        )
    linked: list[Code] = []
    for file in () if same else dict.fromkeys(file for file, _ in valid):
        codes = [code for other, code in valid if other == file]
        if linked and all(differing(one.files or {}, two.files or {}) for one in codes for two in linked):
            which = file_list(differing(linked[0].files or {}, codes[0].files or {}))
            raise PlanMismatch(
                f"the runs of algorithm {algorithm!r} in {valid[0][0]} and {file} were made with different code"
                f" ({which}); merge them with {parameter('same', True)} if it does not matter, or repeat the part with"
                f" the old code with {parameter('again', True)}"
            )
        linked += codes
