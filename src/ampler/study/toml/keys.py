"""The keys a study file knows, what their values must be, and what is said when they are not. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from ampler.core.errors import InvalidInput, InvalidPlan
from ampler.core.failures import FailurePolicy, policy_from
from ampler.core.values import Reading
from ampler.study.toml.lines import KeyPath, line_of

T = TypeVar("T")
U = TypeVar("U")

TABLES: dict[str, tuple[str, ...]] = {
    "": (
        *("name", "reference", "difference", "effect", "power", "se", "seed", "alpha", "target", "test"),
        *("alternative", "better", "statistic", "margin", "rule", "run", "algorithm", "instances"),
    ),
    "[rule]": ("start", "budget", "batch", "allocation", "runs", "guard", "formula"),
    "[run]": ("workers", "timeout", "memory", "on-failure", "retries"),
    "[[algorithm]]": (
        *("name", "command", "python", "runner", "worker", "parameters", "value", "cost", "deterministic"),
    ),
    "[instances]": ("files", "names", "python", "features", "use"),
}
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    f"{prefix}iB": 2 ** (10 * power) for power, prefix in enumerate("KMGT", start=1)
}


class Unfit(Exception):
    """A value that a key cannot have; the message completes "key …"."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the study file: its values, and the lines on which they stand."""

    file: str
    kind: str
    path: KeyPath
    values: Mapping[str, Any]
    lines: dict[KeyPath, int]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def check_keys(self) -> None:
        """Raise InvalidPlan for the first key that is not known here, with the nearest one that is."""
        known = TABLES[self.kind]
        for key in self.values:
            if key not in known:
                raise self.error(key, f"{key!r} is no key {_of(self.kind)}{_suggestion(key, self.kind)}")

    def read(self, key: str, read: Callable[[Any], T], default: U) -> T | U:
        """Return the value of a key as `read` gives it, the default when it is not there."""
        if key not in self.values:
            return default
        try:
            return read(self.values[key])
        except Unfit as problem:
            raise self.error(key, f"{key} {problem}, got {self.values[key]!r}") from None

    def require(self, key: str, read: Callable[[Any], T], why: str) -> T:
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


def text(value: Any) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise Unfit("must be a text in quotes")
    return value.strip()


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Unfit("must be true or false")
    return value


def number(value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unfit("must be a finite number")
    return float(value)


def positive(value: Any) -> float:
    """A positive number."""
    try:
        if number(value) > 0:
            return float(value)
    except Unfit:
        pass
    raise Unfit("must be a positive number")


def share(value: Any) -> float:
    """A number strictly between 0 and 1."""
    try:
        if 0 < number(value) < 1:
            return float(value)
    except Unfit:
        pass
    raise Unfit("must be a number between 0 and 1")


def whole(least: int | None = None) -> Callable[[Any], int]:
    """A whole number, not below `least`."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
            raise Unfit("must be a whole number" + ("" if least is None else f" of {least} or more"))
        return value

    return read


def choice(*choices: str) -> Callable[[Any], Any]:
    """One of some words."""

    def read(value: Any) -> str:
        if value not in choices or not isinstance(value, str):
            near = get_close_matches(str(value), choices, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise Unfit(f"must be one of {', '.join(map(repr, choices))}{hint}")
        return value

    return read


def texts(value: Any) -> list[str]:
    """A text, or a list of texts."""
    try:
        return [text(each) for each in (value if isinstance(value, list) else [value])]
    except Unfit:
        raise Unfit("must be a text or a list of texts") from None


def table(value: Any) -> dict[str, Any]:
    """A table of parameters; dates are no parameters."""
    if not isinstance(value, dict):
        raise Unfit("must be a table such as { cooling = 0.96 }")
    for name, each in value.items():
        if not isinstance(each, str | int | float | list | dict):
            raise Unfit(f"must hold texts, numbers, true/false, lists or tables; {name!r} is none of these")
    return value


def target(value: Any) -> Any:
    """The power that must be reached: a word, or in how many comparisons."""
    try:
        return value if isinstance(value, int) and whole(1)(value) else choice("worst", "mean", "median", "best")(value)
    except Unfit:
        raise Unfit("must be 'worst', 'mean', 'median', 'best' or a number of comparisons") from None


def use(value: Any) -> Any:
    """How many instances are used."""
    if value in ("needed", "all") or (isinstance(value, int) and not isinstance(value, bool) and value >= 2):
        return value
    raise Unfit("must be 'needed', 'all' or a whole number of 2 or more")


def duration(value: Any) -> float:
    """Seconds, from a number or from a text such as "90s", "2m", "1h30m".

    >>> duration("1h30m"), duration("250ms"), duration(60)
    (5400.0, 0.25, 60.0)
    """
    if not isinstance(value, str):
        with_unit = Unfit('must be a positive duration such as "60s", "2m" or "1h30m"')
        try:
            return positive(value)
        except Unfit:
            raise with_unit from None
    return _quantity(value, UNITS, 'must be a positive duration such as "60s", "2m" or "1h30m"')


def memory(value: Any) -> int:
    """Bytes, from a text such as "2GB" (10^9 bytes each) or "512MiB" (2^20 each).

    >>> memory("2GB"), memory("1.5 KiB")
    (2000000000, 1536)
    """
    sentence = 'must be a positive size such as "500MB", "2GB" or "2GiB"'
    if not isinstance(value, str):
        raise Unfit(sentence)
    return max(1, round(_quantity(value, SIZES, sentence)))


def on_failure(value: Any) -> FailurePolicy:
    """What a failed run means; the cutoff of PAR is the time limit."""
    try:
        match value:
            case {"penalty": _}:
                return policy_from({name: number(each) for name, each in value.items()})
            case {"par": _} if len(value) == 1:
                return policy_from({name: positive(each) for name, each in value.items()})
            case str():
                return policy_from(value)
    except (Unfit, InvalidInput):
        pass
    raise Unfit('must be "stop", "drop", { penalty = number } or { par = factor }')


def reading(value: Any) -> Reading:
    """Where the value of a run is found.

    >>> reading("json:cost"), reading("seconds").is_time
    (Reading(kind='json', what='cost'), True)
    """
    written = text(value)
    if written == "seconds":
        return Reading("seconds")
    if written == "cpu-seconds":
        return Reading("cpu-seconds")
    if written.startswith("json:"):
        return Reading("json", text(written.removeprefix("json:")))
    try:
        re.compile(value, re.MULTILINE)
    except re.error as problem:
        raise Unfit(
            f"must be a regular expression, 'json:field', 'seconds' or 'cpu-seconds' ({problem.msg} at {problem.pos})"
        ) from None
    return Reading("pattern", value)


def _quantity(written: str, units: Mapping[str, float], sentence: str) -> float:
    """The sum of one or more numbers with units; case matters only where it would be ambiguous."""
    folded = {unit.lower(): size for unit, size in units.items()}
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", written)
    rebuilt = re.fullmatch(r"\s*(?:\d+(?:\.\d+)?\s*[A-Za-z]+\s*)+", written)
    if not rebuilt or any(unit.lower() not in folded for _, unit in parts):
        raise Unfit(sentence)
    total = sum(float(amount) * folded[unit.lower()] for amount, unit in parts)
    if not 0 < total < math.inf:
        raise Unfit(sentence)
    return total


def _of(kind: str) -> str:
    return f"of {kind}" if kind else "of a study file"


def _suggestion(key: str, kind: str) -> str:
    near = get_close_matches(key.lower().replace("_", "-"), TABLES[kind], 1, 0.6)
    elsewhere = [other for other, keys in TABLES.items() if key in keys]
    if elsewhere and (not near or near[0] != key):
        return f"; it belongs {' or '.join(f'under {other}' if other else 'at the top' for other in elsewhere)}"
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(TABLES[kind])}"
