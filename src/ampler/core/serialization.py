"""Values as JSON, as records and as digests; data from a file checked against the types of our values; safe writing.

A document (`jsonable`) is read by other programs, so infinite and unknown numbers are null. A record (`record_data`) is
compared with later ones, so nothing is lost: numbers that JSON lacks are kept as text. Only this module of the
package touches files: a reader sees the old file or the new one, never half of it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import secrets
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from reprlib import repr as shown
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ampler.core.errors import InvalidInput

DEFAULT_BEFORE_FIELD = "unsaid"  # metadata of a field added later: its value in records without the field


def jsonable(value: Any) -> Any:
    """Return a value as JSON data: dataclasses and mappings as objects, arrays as lists, NaN and ∞ as null.

    >>> jsonable({"power": float("nan"), "levels": (0.025, 0.05)})
    {'power': None, 'levels': [0.025, 0.05]}
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # numpy's arrays and numbers, without importing numpy here
        return jsonable(value.tolist())
    if isinstance(value, Iterable):
        return [jsonable(item) for item in value]
    return str(value)  # paths, dates


def flat(value: Any) -> dict[str, Any]:
    """Return the fields of a frozen value as one row; an interval becomes two columns, its bounds."""
    row: dict[str, Any] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if isinstance(item, tuple) and len(item) == 2:
            row[f"{field.name}_lower"], row[f"{field.name}_upper"] = item
        else:
            row[field.name] = item
    return row


def record_data(value: Any) -> Any:
    """Return a value as record data: non-finite numbers as text, functions by module and name."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): record_data(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((record_data(item) for item in value), key=canonical)
    if isinstance(value, Collection):
        return [record_data(item) for item in value]
    if hasattr(value, "item"):  # a numpy number
        return record_data(value.item())
    if is_dataclass(value) and not isinstance(value, type):
        return described_rule(value)
    return origin(value) if callable(value) else repr(value)


def described_rule(rule: Any) -> dict[str, Any]:
    """Return a rule as plain data: its type's name and fields; of a plain function, where it is defined.

    A field that came later is left out where its value is the default before, so that earlier records are equal.
    """
    if not is_dataclass(rule) or isinstance(rule, type):
        return {"rule": origin(rule)}
    record = {"rule": type(rule).__name__}
    for field in fields(rule):
        value = getattr(rule, field.name)
        before = field.metadata.get(DEFAULT_BEFORE_FIELD, MISSING)
        if field.init and (before is MISSING or value != before):
            record[field.name] = record_data(value)
    return record


def origin(function: Any) -> str:
    """Return where a callable is defined, as "module:name".

    >>> origin(math.sqrt)
    'math:sqrt'
    """
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


# made once: making an encoder takes longer than writing a run
_ENCODERS = {
    sort_keys: json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=sort_keys).encode
    for sort_keys in (False, True)
}


def canonical(data: Any, *, sort_keys: bool = False) -> str:
    """Write plain data as JSON without blanks; the order of names is kept, as it carries meaning."""
    return _ENCODERS[sort_keys](data)


def digest(data: Any) -> str:
    """Return a short hash of plain data; the order in which a mapping names its keys does not matter."""
    return hashlib.blake2b(canonical(data, sort_keys=True).encode(), digest_size=16).hexdigest()


Value = TypeVar("Value")


def validated(value: Value) -> Value:
    """Check that all fields of a value have their declared types; ValueError names the first invalid one.

    msgspec checks no union of several dataclasses, such as that of failure policies, and no finite numbers.

    >>> from ampler.core.plan import Limits
    >>> validated(Limits(timeout="long"))
    Traceback (most recent call last):
    ...
    ValueError: timeout of Limits is 'long'
    """
    for name, test in _field_tests(type(value)):  # type: ignore[arg-type]
        if not test(getattr(value, name)):
            raise ValueError(f"{name} of {type(value).__name__} is {shown(getattr(value, name))}")
    return value


def fits(value: Any, kind: Any) -> bool:
    """Return whether a value has a declared type; numbers must be finite.

    >>> fits({"a": 3}, Mapping[str, int]), fits(True, int), fits(float("nan"), float | None)
    (True, False, False)
    """
    return _test_of(kind)(value)


@cache
def _field_tests(kind: Any) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    """The fields that a type declares, each with its test."""
    hints = get_type_hints(kind)
    return tuple((field.name, _test_of(hints[field.name])) for field in fields(kind))


@cache
def _test_of(kind: Any) -> Callable[[Any], bool]:
    """The check for values of a type; integers pass as floats, booleans do not."""
    if kind is Any:
        return lambda value: True
    if kind is float:
        return lambda value: type(value) in (int, float) and abs(value) <= sys.float_info.max
    if is_dataclass(kind):
        return lambda value: (
            isinstance(value, kind)  # type: ignore[arg-type]
            and all(test(getattr(value, name)) for name, test in _field_tests(kind))  # type: ignore[arg-type]
        )
    origin, inner = get_origin(kind), get_args(kind)
    if origin is None:
        exact = NoneType if kind is None else kind
        return lambda value: type(value) is exact
    if origin is Literal:
        return lambda value: isinstance(value, str | int) and value in inner
    tests = [_test_of(part) for part in inner if part is not Ellipsis]
    if origin in (Union, UnionType):
        return lambda value: any(test(value) for test in tests)
    if origin is tuple:
        return lambda value: isinstance(value, tuple) and all(map(tests[0], value))
    return lambda value: isinstance(value, Mapping) and all(map(tests[0], value)) and all(map(tests[1], value.values()))


MAX_PREFIX = 40  # characters of the file name kept in the name of its temporary file


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield an empty temporary file in the same folder; it replaces `path` after success.

    Nothing of it stays otherwise. Its name cannot be foreseen, so nobody can have put a file or a link there, and two
    writers never meet; its mode is that of any new file.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name[:MAX_PREFIX]}.{secrets.token_hex(8)}.part")
    with _errors_name(target, draft):
        _create(draft)
        try:
            yield draft
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)


def write_new_files(texts: Mapping[Path, str]) -> None:
    """Write texts into files that do not exist yet, all or none; no link is followed."""
    written: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with _errors_name(path, path):
                _create(path)
                written.append(path)
                path.write_text(text, encoding="utf-8")
    except OSError:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _create(path: Path) -> None:
    """Make an empty file where there is none."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)  # some systems have no links to follow
    os.close(os.open(path, flags, 0o666))


@contextmanager
def _errors_name(target: Path, draft: Path) -> Iterator[None]:
    """Name the target in errors, not the temporary file."""
    try:
        yield
    except OSError as problem:
        if problem.filename not in (None, str(draft)):
            raise
        raise type(problem)(problem.errno or errno.EIO, problem.strerror or str(problem), str(target)) from None


def is_path(path: object) -> bool:
    """Return whether a value can be a file name: a text or path without characters that no file system allows."""
    try:
        return isinstance(path, str | os.PathLike) and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def check_not_input(output: str | os.PathLike[str], *inputs: object) -> None:
    """Raise InvalidInput when the output is one of the input files, under whatever name.

    Inputs that are no paths (data frames, stores) are no files.
    """
    for file in inputs:
        if not isinstance(file, str | os.PathLike):
            continue
        try:
            same = os.path.samefile(output, file)
        except (OSError, ValueError):  # one of the files does not exist yet
            same = os.path.realpath(output) == os.path.realpath(file)
        if same:
            raise InvalidInput(
                f"the file to write must not be the one that is read, got {os.fspath(output)!r} for both;"
                " choose another name"
            )
