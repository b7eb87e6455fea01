"""The keys a study file knows, what their values must be, and what is said when they are not. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar, get_args

from ampler.core.checks import choice, finite, integer, positive
from ampler.core.choices import TargetWord
from ampler.core.errors import InvalidInput, InvalidPlan
from ampler.core.failures import FailurePolicy, policy_from
from ampler.core.values import Question, Reading
from ampler.study.toml.lines import KeyPath, line_of

T = TypeVar("T")
U = TypeVar("U")
Reader = Callable[[str, Any], T]  # of a key and the value written there: the value that is meant, or InvalidInput

LIMITS = ("timeout", "cpu-timeout", "memory")
AROUND = ("prepare", "warmup", "cleanup")
TABLES: dict[str, tuple[str, ...]] = {
    "": (
        *("name", *(field.name for field in fields(Question)), "se", "seed"),
        *("detect", "instance-cost", "available", "looks"),
        *("rule", "run", "defaults", "algorithm", "instances"),
    ),
    "[rule]": ("start", "pilot", "budget", "batch", "allocation", "runs", "guard", "guard-edition", "formula"),
    "[run]": ("workers", *LIMITS, "on-failure", "retries"),
    "[defaults]": ("value", "parameters", "success", *LIMITS, *AROUND),
    "[[algorithm]]": (
        *("name", "command", "python", "runner", "worker", "parameters", "value", "success", "cost", "deterministic"),
        *LIMITS,
        *AROUND,
    ),
    "[instances]": ("files", "names", "python", "features", "use"),
}
TARGETS: tuple[str, ...] = get_args(TargetWord)
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    f"{prefix}iB": 2 ** (10 * power) for power, prefix in enumerate("KMGT", start=1)
}


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

    def read(self, key: str, read: Reader[T], default: U) -> T | U:
        """Return the value of a key as `read` gives it, the default when it is not there."""
        if key not in self.values:
            return default
        try:
            return read(key, self.values[key])
        except InvalidInput as problem:
            raise self.error(key, str(problem)) from None

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


def texts(key: str, value: Any) -> list[str]:
    """A text, or a list of texts."""
    try:
        return [text(key, each) for each in (value if isinstance(value, list) else [value])]
    except InvalidPlan:
        raise unfit(key, "must be a text or a list of texts", value) from None


def table(key: str, value: Any) -> dict[str, Any]:
    """A table of parameters; dates are no parameters."""
    if not isinstance(value, dict):
        raise unfit(key, "must be a table such as { cooling = 0.96 }", value)
    for name, each in value.items():
        if not isinstance(each, str | int | float | list | dict):
            must = f"must hold texts, numbers, true/false, lists or tables; {name!r} is none of these"
            raise unfit(key, must, value)
    return value


def target(key: str, value: Any) -> Any:
    """The power that must be reached: a word, or in how many comparisons."""
    try:
        return choice(key, value, TARGETS) if isinstance(value, str) else integer(key, value, 1)
    except InvalidInput:
        must = f"must be {', '.join(map(repr, TARGETS))} or a number of comparisons"
        raise unfit(key, must, value) from None


def use(key: str, value: Any) -> Any:
    """How many instances are used."""
    try:
        return value if value in ("needed", "all") else integer(key, value, 2)
    except InvalidInput:
        raise unfit(key, "must be 'needed', 'all' or a whole number of 2 or more", value) from None


def seconds(key: str, value: Any) -> float:
    """Seconds, from a number or from a text such as "90s", "2m", "1h30m".

    >>> seconds("timeout", "1h30m"), seconds("timeout", "250ms"), seconds("timeout", 60)
    (5400.0, 0.25, 60.0)
    """
    try:
        return _quantity(value, UNITS) if isinstance(value, str) else positive(key, value)
    except ValueError:
        raise unfit(key, 'must be a positive duration such as "60s", "2m" or "1h30m"', value) from None


def memory(key: str, value: Any) -> int:
    """Bytes, from a text such as "2GB" (10^9 bytes each) or "512MiB" (2^20 each).

    >>> memory("memory", "2GB"), memory("memory", "1.5 KiB")
    (2000000000, 1536)
    """
    try:
        return max(1, round(_quantity(text(key, value), SIZES)))
    except ValueError:
        raise unfit(key, 'must be a positive size such as "500MB", "2GB" or "2GiB"', value) from None


def on_failure(key: str, value: Any) -> FailurePolicy:
    """What a failed run means; the cutoff of PAR is the time limit, unless it is said.

    >>> on_failure("on-failure", {"par": 10, "cutoff": "1m"})
    Par(factor=10.0, cutoff=60.0)
    """
    try:
        match value:
            case {"penalty": number}:
                return policy_from({**value, "penalty": finite(key, number)})
            case {"par": factor, "cutoff": cutoff}:
                return policy_from({**value, "par": positive(key, factor), "cutoff": seconds(key, cutoff)})
            case {"par": factor}:
                return policy_from({**value, "par": positive(key, factor)})
            case str():
                return policy_from(value)
    except InvalidInput:
        pass
    raise unfit(
        key,
        'must be "stop", "drop", { penalty = number }, { par = factor } or { par = factor, cutoff = seconds }',
        value,
    )


def reading(key: str, value: Any) -> Reading:
    """Where the value of a run is found.

    >>> reading("value", "json:cost"), reading("value", "seconds").is_time
    (Reading(kind='json', what='cost'), True)
    """
    written = text(key, value)
    if written == "seconds":
        return Reading("seconds")
    if written == "cpu-seconds":
        return Reading("cpu-seconds")
    if written.startswith("json:"):
        return Reading("json", text(key, written.removeprefix("json:")))
    try:
        re.compile(value, re.MULTILINE)
    except re.error as problem:
        must = (
            f"must be a regular expression, 'json:field', 'seconds' or 'cpu-seconds' ({problem.msg} at {problem.pos})"
        )
        raise unfit(key, must, value) from None
    return Reading("pattern", value)


def exit_codes(key: str, value: Any) -> tuple[int, ...]:
    """The exit codes of a run that counts: one, or a list of them.

    >>> exit_codes("success", [20, 0, 10])
    (0, 10, 20)
    """
    try:
        codes = {integer(key, each, 0, 255) for each in (value if isinstance(value, list) else [value])}
    except InvalidInput:
        codes = set()
    if not codes:
        raise unfit(key, "must be an exit code from 0 to 255 or a list of them, such as [0, 10, 20]", value)
    return tuple(sorted(codes))


def unfit(key: str, must: str, value: Any) -> InvalidPlan:
    """Return the error of a key whose value does not fit."""
    return InvalidPlan(f"{key} {must}, got {value!r}")


def _quantity(written: str, units: Mapping[str, float]) -> float:
    """The sum of one or more numbers with units; case matters only where it would be ambiguous."""
    folded = {unit.lower(): size for unit, size in units.items()}
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", written)
    rebuilt = re.fullmatch(r"\s*(?:\d+(?:\.\d+)?\s*[A-Za-z]+\s*)+", written)
    if not rebuilt or any(unit.lower() not in folded for _, unit in parts):
        raise ValueError(f"{written!r} is no number with a unit")
    return positive("the sum", sum(float(amount) * folded[unit.lower()] for amount, unit in parts))


def _of(kind: str) -> str:
    return f"of {kind}" if kind else "of a study file"


def _suggestion(key: str, kind: str) -> str:
    near = get_close_matches(key.lower().replace("_", "-"), TABLES[kind], 1, 0.6)
    elsewhere = [other for other, keys in TABLES.items() if key in keys]
    if elsewhere and (not near or near[0] != key):
        return f"; it belongs {' or '.join(f'under {other}' if other else 'at the top' for other in elsewhere)}"
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(TABLES[kind])}"
