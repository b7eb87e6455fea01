"""The keys a study definition knows, what their values must be, and what is said when they are not. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
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
Reader = Callable[[str, Any], T]  # of a key and the value written there: the value that is meant, or InvalidInput

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
                of = f"of {self.kind}" if self.kind else "of a study definition"
                raise self.error(key, f"{key!r} is no key {of}{_suggestion(key, self.kind)}")

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


def one_of(*choices: str) -> Reader[Any]:
    """One of some words."""
    return partial(choice, choices=choices)


def required(must: str) -> Callable[[Reader[T]], Reader[T]]:
    """Return a decorator of a reader, whatever of whose errors is said as what the value must be."""

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
    """The power that must be reached: a word, or in how many comparisons."""
    return choice(key, value, TARGETS) if isinstance(value, str) else integer(key, value, 1)


@required("must be 'needed', 'all' or a whole number of 2 or more")
def use(key: str, value: Any) -> Any:
    """How many instances are used."""
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
    """What a failed run means; the cutoff of PAR is the time limit, unless it is said.

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


def _suggestion(key: str, kind: str) -> str:
    near = get_close_matches(key.lower().replace("_", "-"), TABLES[kind], 1, 0.6)
    elsewhere = [other for other, keys in TABLES.items() if key in keys]
    if elsewhere and (not near or near[0] != key):
        return f"; it belongs {' or '.join(f'under {other}' if other else 'at the top' for other in elsewhere)}"
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(TABLES[kind])}"


KeyPath = tuple[str | int, ...]

PART = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
KEY = re.compile(rf"{PART}(?:[ \t]*\.[ \t]*{PART})*")
BLANK = re.compile(r"(?:\s|#[^\n]*)+")
# One piece of a value: a string of any of the four kinds, a comment, or a character. Inside brackets a value continues
# over the end of the line.
PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'" r"|\#[^\n]*|.", re.DOTALL
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line (from 1) of every key and table of a valid TOML text; tables in arrays are numbered from 0.

    Keys inside inline tables are not listed: they stand where their table does.

    >>> key_lines('seed = 1\\n\\n[[algorithm]]\\nname = "full"')
    {('seed',): 1, ('algorithm', 0): 3, ('algorithm', 0, 'name'): 4}
    """
    lines: dict[KeyPath, int] = {}
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for position, opening, key in _statements(text):
        if opening == "[[":
            name = _numbered((), key, arrays, last=False)
            arrays[name] = arrays.get(name, -1) + 1
        path = table = _numbered((), key, arrays) if opening else table
        if not opening:
            path = (*table, *key)
        lines.setdefault(path, text.count("\n", 0, position) + 1)
    return lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of a key, or else of the nearest table around it; of an array of tables, that of the first."""
    while path and path not in lines and (*path, 0) not in lines:
        path = path[:-1]
    return lines.get(path, lines.get((*path, 0)))


def _statements(text: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Every statement: where it begins, its opening bracket if it is a header, and its key."""
    position = 0
    while True:
        blank = BLANK.match(text, position)
        position = blank.end() if blank else position
        if position >= len(text):
            return
        opening = "[[" if text.startswith("[[", position) else "[" if text[position] == "[" else ""
        inner = BLANK.match(text, position + len(opening))
        match = KEY.match(text, inner.end() if inner else position + len(opening))
        if match is None:
            return  # not TOML; tomllib has said so
        yield position, opening, tuple(_unquoted(part) for part in re.findall(PART, match[0]))
        end_of_line = text.find("\n", match.end())
        end_of_header = len(text) if end_of_line < 0 else end_of_line
        position = end_of_header if opening else _end_of_value(text, match.end())


def _unquoted(part: str) -> str:
    return str(tomllib.loads(f"key = {part}")["key"]) if part[0] in "\"'" else part


def _end_of_value(text: str, position: int) -> int:
    depth = 0
    for piece in PIECE.finditer(text, position):
        depth += (piece[0] in ("[", "{")) - (piece[0] in ("]", "}"))
        if piece[0] == "\n" and depth == 0:
            return piece.start()
    return len(text)


def _numbered(path: KeyPath, key: tuple[str, ...], arrays: dict[KeyPath, int], *, last: bool = True) -> KeyPath:
    """The path of a header: after the name of an array of tables comes the number of its last table."""
    for depth, part in enumerate(key, start=1):
        path = (*path, part)
        if path in arrays and (last or depth < len(key)):
            path = (*path, arrays[path])
    return path
