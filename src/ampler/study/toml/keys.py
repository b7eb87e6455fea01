"""The keys of a study definition, the checks of their values, and the error messages. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import partial, wraps
from typing import Any, TypeVar, get_args

from ampler.core.errors import InvalidInput, InvalidPlan
from ampler.core.failures import FailurePolicy, policy_from
from ampler.core.measures import Measure
from ampler.core.plan import Question, Reading
from ampler.core.settings import TargetWord, choice, finite, integer, positive
from ampler.core.text import BYTE_UNITS, TIME_UNITS, composed, quantity

T = TypeVar("T")
U = TypeVar("U")
Reader = Callable[[str, Any], T]  # maps a key and its value in the file to the value; InvalidInput if it is invalid

LIMITS = ("timeout", "cpu-timeout", "memory")
AROUND = ("prepare", "warmup", "cleanup")
OUTPUTS = ("solved", "answer", "measures")
TABLES: dict[str, tuple[str, ...]] = {
    "": (
        *("name", *(field.name.replace("_", "-") for field in fields(Question) if field.name != "measures")),
        *("se", "seed", "seeds", "measure"),
        *("detect", "instance-cost", "available", "looks"),
        *("rule", "run", "defaults", "algorithm", "instances"),
    ),
    "[rule]": ("start", "pilot", "budget", "batch", "allocation", "runs", "guard", "guard-edition", "formula"),
    "[run]": ("workers", *LIMITS, "on-failure", "retries"),
    "[defaults]": ("value", "parameters", "success", *OUTPUTS, *LIMITS, *AROUND),
    "[[algorithm]]": (
        *("name", "command", "python", "runner", "worker", "parameters", "value", "success", "cost", "deterministic"),
        *OUTPUTS,
        *LIMITS,
        *AROUND,
    ),
    "[[measure]]": tuple(field.name for field in fields(Measure)),
    "[instances]": ("files", "names", "python", "features", "use"),
}
TARGETS: tuple[str, ...] = get_args(TargetWord)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the study definition: its values, and the lines on which they stand."""

    file: str
    kind: str
    path: KeyPath
    values: Mapping[str, Any]
    lines: dict[KeyPath, int]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def check_keys(self) -> None:
        """Raise InvalidPlan for the first key that is not known here, with the nearest one that is."""
        allowed = TABLES[self.kind]
        for key in self.values:
            if key not in allowed:
                near = get_close_matches(key.lower().replace("_", "-"), allowed, 1, 0.6)
                elsewhere = [f"under {kind}" if kind else "at the top" for kind, keys in TABLES.items() if key in keys]
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(allowed)}"
                if elsewhere and near != [key]:
                    hint = f"it belongs {' or '.join(elsewhere)}"
                raise self.error(key, f"{key!r} is no key of {self.kind or 'a study definition'}; {hint}")

    def read(self, key: str, read: Reader[T], default: U) -> T | U:
        """Return the value of a key as `read` gives it, the default when it is not there."""
        if key not in self.values:
            return default
        try:
            return read(key, self.values[key])
        except InvalidInput as problem:
            raise self.error(key, str(problem)) from None

    def options(self, readers: Mapping[str, Reader[Any]]) -> dict[str, Any]:
        """Return the values of the keys that are there, by their names in Python."""
        return {key.replace("-", "_"): self.read(key, read, None) for key, read in readers.items() if key in self}

    def require(self, key: str, read: Reader[T], why: str) -> T:
        """Return the value of a key that must be there."""
        if key not in self.values:
            raise self.error("", f"{key} must be given{' in ' + self.kind if self.kind else ''}: {why}")
        value = self.read(key, read, None)
        assert value is not None
        return value

    def error(self, key: str, sentence: str) -> InvalidPlan:
        """Return an error that points at a key of this table."""
        line = line_of(self.lines, (*self.path, key) if key else self.path)
        return InvalidPlan(f"{self.file}{f', line {line}' if line else ''}: {sentence}")


def text(key: str, value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise unfit(key, "must be a text in quotes", value)
    return value.strip()


def flag(key: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise unfit(key, "must be true or false", value)
    return value


def at_least(least: int) -> Reader[int]:
    """A whole number, not below `least`."""
    return partial(integer, least=least)


def required(must: str) -> Callable[[Reader[T]], Reader[T]]:
    """Return a decorator that replaces the errors of a reader by this requirement."""

    def decorate(read: Reader[T]) -> Reader[T]:
        @wraps(read)
        def reader(key: str, value: Any) -> T:
            try:
                return read(key, value)
            except (ValueError, KeyError):
                raise unfit(key, must, value) from None

        return reader

    return decorate


@required("must be a text or a list of texts")
def texts(key: str, value: Any) -> list[str]:
    """A text, or a list of texts."""
    return [text(key, item) for item in (value if isinstance(value, list) else [value])]


def table(key: str, value: Any) -> dict[str, Any]:
    """A table of parameters; dates are no parameters."""
    if not isinstance(value, dict):
        raise unfit(key, "must be a table such as { cooling = 0.96 }", value)
    for name, item in value.items():
        if not isinstance(item, str | int | float | list | dict):
            must = f"must hold texts, numbers, true/false, lists or tables; {name!r} is none of these"
            raise unfit(key, must, value)
    return value


@required(f"must be {', '.join(map(repr, TARGETS))} or a number of comparisons")
def target(key: str, value: Any) -> Any:
    """The target of the power: a word, or a number of comparisons."""
    return choice(key, value, TARGETS) if isinstance(value, str) else integer(key, value, 1)


@required("must be 'needed', 'all' or a whole number of 2 or more")
def use(key: str, value: Any) -> Any:
    """The number of instances to use."""
    return value if value in ("needed", "all") else integer(key, value, 2)


@required('must be a positive duration such as "60s", "2m" or "1h30m"')
def seconds(key: str, value: Any) -> float:
    """Seconds, from a number or from a text such as "90s", "2m", "1h30m".

    >>> seconds("timeout", "1h30m"), seconds("timeout", "250ms"), seconds("timeout", 60)
    (5400.0, 0.25, 60.0)
    """
    return quantity(value, TIME_UNITS) if isinstance(value, str) else positive(key, value)


@required('must be a positive size such as "500MB", "2GB" or "2GiB"')
def memory(key: str, value: Any) -> int:
    """Bytes, from a text such as "2GB" (10^9 bytes each) or "512MiB" (2^20 each).

    >>> memory("memory", "2GB"), memory("memory", "1.5 KiB")
    (2000000000, 1536)
    """
    return max(1, round(quantity(text(key, value), BYTE_UNITS)))


@required('must be "stop", "drop", { penalty = number }, { par = factor } or { par = factor, cutoff = seconds }')
def on_failure(key: str, value: Any) -> FailurePolicy:
    """The treatment of failed runs; the cutoff of PAR defaults to the time limit.

    >>> on_failure("on-failure", {"par": 10, "cutoff": "1m"})
    Par(factor=10.0, cutoff=60.0)
    """
    readers: dict[str, Reader[float]] = {"penalty": finite, "par": positive, "cutoff": seconds}
    is_table = isinstance(value, dict)
    return policy_from({name: readers[name](key, item) for name, item in value.items()} if is_table else value)


def reading(key: str, value: Any) -> Reading:
    """Where the value of a run is found.

    >>> reading("value", "json:cost"), reading("value", "seconds").is_time
    (Reading(kind='json', what='cost'), True)
    """
    written = text(key, value)
    if written in ("seconds", "cpu-seconds"):
        return Reading(written)  # type: ignore[arg-type]
    if written.startswith("json:"):
        return Reading("json", text(key, written.removeprefix("json:")))
    return Reading("pattern", pattern(key, value, "a regular expression, 'json:field', 'seconds' or 'cpu-seconds'"))


def pattern(key: str, value: Any, what: str = "a regular expression") -> str:
    """A regular expression."""
    text(key, value)
    try:
        re.compile(value, re.MULTILINE)
    except re.error as problem:
        raise unfit(key, f"must be {what} ({problem.msg} at {problem.pos})", value) from None
    return str(value)


def patterns(key: str, value: Any) -> dict[str, str]:
    """Regular expressions by the names of what they measure."""
    if not isinstance(value, dict):
        raise unfit(key, "must be a table such as { conflicts = '^conflicts: (.*)' }", value)
    return {composed(name): pattern(f"{key}.{name}", item) for name, item in value.items()}


def solved(key: str, value: Any) -> tuple[str, tuple[int, ...]]:
    """The pattern that a run must match to count as solved, and the exit codes of such runs; no codes: any.

    >>> solved("solved", "^s (UN)?SATISFIABLE"), solved("solved", [10, 20])
    (('^s (UN)?SATISFIABLE', ()), ('', (10, 20)))
    """
    items = value if isinstance(value, list) else [value]
    expressions, codes = ([item for item in items if type(item) is kind] for kind in (str, int))
    if not items or len(expressions) > 1 or len(expressions) + len(codes) != len(items):
        raise unfit(key, "must be a regular expression, exit codes, or a list with one expression and codes", value)
    return pattern(key, expressions[0]) if expressions else "", exit_codes(key, codes) if codes else ()


@required("must be an exit code from 0 to 255 or a list of them, such as [0, 10, 20]")
def exit_codes(key: str, value: Any) -> tuple[int, ...]:
    """The exit codes of a run that counts: one, or a list of them.

    >>> exit_codes("success", [20, 0, 10])
    (0, 10, 20)
    """
    if value == []:
        raise ValueError("no exit code")
    return tuple(sorted({integer(key, code, 0, 255) for code in (value if isinstance(value, list) else [value])}))


def unfit(key: str, must: str, value: Any) -> InvalidPlan:
    """Return the error of a key whose value does not fit."""
    return InvalidPlan(f"{key} {must}, got {value!r}")


KeyPath = tuple[str | int, ...]

VALUE_ENDS = ("]", "}", '"""', "'''")  # one of them is in the last line of a value of several lines


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line (from 1) of every key and table of a valid TOML text; tables in arrays are numbered from 0.

    Keys inside inline tables are not listed: they stand where their table does.

    >>> key_lines('seed = 1\\n\\n[[algorithm]]\\nname = "full"')
    {('seed',): 1, ('algorithm', 0): 3, ('algorithm', 0, 'name'): 4}
    """
    lines: dict[KeyPath, int] = {}
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    statement, began = "", 1
    for number, line in enumerate(text.split("\n"), start=1):
        is_first = not statement
        statement += f"{line}\n"
        may_end = is_first or any(mark in line for mark in VALUE_ENDS)
        if not may_end or (document := _parsed(statement)) is None:
            continue  # its value goes on
        if statement.lstrip().startswith("["):
            *above, last = _keys_in(document)
            table = _numbered(above, arrays)
            if statement.lstrip().startswith("[["):
                arrays[*table, last] = arrays.get((*table, last), -1) + 1
            table = _numbered([*above, last], arrays)
            lines.setdefault(table, began)
        elif document:
            # the key is what stands before the first equals sign that is not within it
            ends = (place for place, mark in enumerate(statement) if mark == "=")
            key = next(filter(None, (_parsed(f"{statement[:end]}= 0") for end in ends)))
            lines.setdefault((*table, *_keys_in(key)), began)
        statement, began = "", number + 1
    return lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a key, or else of the nearest table around it; of an array of tables, that of the first."""
    while path and path not in lines and (*path, 0) not in lines:
        path = path[:-1]
    return lines.get(path, lines.get((*path, 0)))


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _keys_in(document: Any) -> Iterator[str]:
    """The keys of a document with one key, or one header, from the outermost on."""
    while document and isinstance(document, dict):
        ((key, document),) = document.items()
        document = document[0] if isinstance(document, list) else document
        yield key


def _numbered(keys: Iterable[str], arrays: dict[KeyPath, int]) -> KeyPath:
    """The path of a header: after the name of an array of tables comes the number of its last table."""
    path: KeyPath = ()
    for key in keys:
        path = (*path, key)
        if path in arrays:
            path = (*path, arrays[path])
    return path
