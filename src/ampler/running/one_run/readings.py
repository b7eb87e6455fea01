"""The value in what a command printed. Pure: text comes in pieces, a number goes out."""

from __future__ import annotations

import codecs
import json
import math
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ampler.core.values import Reading
from ampler.running.one_run.deadline import within
from ampler.running.one_run.numerals import (
    LONGEST,
    NUMBER,
    Kind,
    bare_of,
    last_candidate,
    number_of,
    without_escapes,
)

MATCHING = 10.0  # seconds that a pattern may take in a run
KEPT = 64 * 1024  # characters of output that are remembered; what matters comes last
MOST_TOO_DEEP = 50  # objects of an output that may be too deep to be read
EXCERPT = 160  # characters of output that fit into a message


class NoValue(Exception):
    """A run gave nothing that counts as its value; the message is the reason."""


class Result(NamedTuple):
    """The value a run gave, its measures when it reported several, and the line it was read from."""

    value: float
    measures: Mapping[str, float] | None = None
    line: str = ""


class Reader(Protocol):
    """Takes what a command prints piece by piece, and knows the value at the end."""

    def feed(self, text: str) -> None:
        """Take the next piece of output."""

    def result(self) -> Result:
        """Return the value; NoValue when there is none."""


def reader_of(reading: Reading, protocol: str = "arguments", *, timeout: float | None = None) -> Reader:
    """Return a reader for what a command prints; readings that are times take no notice of it.

    A pattern has no more time than the run itself, and `MATCHING` seconds at most.

    >>> reader = reader_of(Reading())
    >>> reader.feed("seed 1: best 17.5, then 1")
    >>> reader.feed("6.25 (done)")
    >>> reader.result().value
    16.25
    """
    if reading.kind == "pattern":
        seconds = MATCHING if timeout is None else min(timeout, MATCHING)
        return LastMatch(re.compile(reading.what, re.MULTILINE), f"no match of {reading.what!r}", seconds=seconds)
    if reading.kind == "json":
        return JsonField(reading.what)
    if protocol == "irace":
        return CostAndTime()
    return LastNumber()


class LastMatch:
    """The last match of a pattern in text of any length, of which only the end is kept.

    Patterns that go back again and again can take for ever. All matching of a run together has `seconds`; then there
    is no value, and the reason says so.
    """

    def __init__(self, pattern: re.Pattern[str], missing: str, *, seconds: float = MATCHING) -> None:
        self._pattern = pattern
        self._missing = missing
        self._text = ""
        self._offset = 0  # of the kept text in all that was printed
        self._start = self._end = -1  # of the last match, in all that was printed
        self._found: str | None = None
        self._line = ""
        self._given, self._left = seconds, seconds

    def feed(self, text: str) -> None:
        """Take the next piece of output."""
        if self._left <= 0:
            return
        self._text += text
        if len(self._text) > 2 * KEPT:
            self._search()
            cut = len(self._text) - KEPT
            self._text = self._text[cut:]
            self._offset += cut

    def result(self) -> Result:
        """Return the value; NoValue when nothing matched or the match is no finite number."""
        self._search()
        if self._left <= 0:
            raise NoValue(
                f"the pattern {self._pattern.pattern!r} must be matched within {self._given:g} s, and was not;"
                " it goes back again and again: write a plainer one, such as 'cost: (\\S+)'"
            )
        if self._found is None:
            raise NoValue(f"{self._missing} in its output{_quoted(self._text)}")
        return Result(_finite(self._found), line=self._line)

    def _search(self) -> None:
        """Find the last match in the kept text, while there is time."""
        if self._left <= 0:
            return
        began = time.perf_counter()
        if within(self._left, self._look):
            self._left -= time.perf_counter() - began
        else:
            self._left = 0.0

    def _look(self) -> None:
        """Look for matches in the kept text.

        Windows overlap, so that a match across a border is whole in the next one. What begins inside the match
        already found is a remnant of it, cut by the border.
        """
        first = 1 if self._offset else 0  # one character is left as context for ^ and look-behind
        for match in self._pattern.finditer(self._text, first):
            start, end = match.start() + self._offset, match.end() + self._offset
            if start == self._start or start >= self._end:
                self._start, self._end = start, end
                self._found = match[1] if self._pattern.groups else match[0]
                self._line = excerpt(_line_at(self._text, match.start()))


class LastNumber:
    """The last number in text of any length. What only looks like a number is refused, not guessed at."""

    def __init__(self) -> None:
        self._text = ""
        self._cut = False  # whether the kept text begins in the middle of what was printed
        self._found: tuple[str, Kind, str] | None = None  # a word, what it is, and its line

    def feed(self, text: str) -> None:
        """Take the next piece of output."""
        self._text += text
        if len(self._text) > 2 * KEPT:
            kept = self._text[-KEPT:]
            if not _has_number_inside(kept):  # else what is given up now cannot be the last
                self._search()
            self._text, self._cut = kept, True

    def result(self) -> Result:
        """Return the value; NoValue when there is no number, or when the last one may be read in several ways."""
        self._search()
        if self._found is None:
            raise NoValue(f"no number in its output{_quoted(self._text)}")
        word, kind, line = self._found
        if kind == "doubtful":
            raise NoValue(_in_doubt(word, line))
        return Result(_finite(bare_of(word)), line=line)

    def _search(self) -> None:
        text = without_escapes(self._text)
        found = last_candidate(text)
        if found is None:
            return
        begins_cut = self._cut and not text[: found.start].strip()
        if begins_cut and self._found is not None:
            return  # the rest of a word that was seen whole, or was too long for a number
        self._found = found.word, "doubtful" if begins_cut else found.kind, excerpt(_line_at(text, found.start))


def _has_number_inside(text: str) -> bool:
    """Whether a text has a number, or what looks like one, that does not begin it."""
    plain = without_escapes(text)
    found = last_candidate(plain)
    return found is not None and bool(plain[: found.start].strip())


class JsonField:
    """A field of the last JSON object that was printed and has it; the other numbers in it become measures."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._tail = Tail()

    def feed(self, text: str) -> None:
        """Take the next piece of output."""
        self._tail.feed(text)

    def result(self) -> Result:
        """Return the value; NoValue when there is no such object or the field holds no finite number."""
        documents = _json_objects(self._tail.text)
        with_field = (each for each in reversed(documents) if _descend(each[0], self._field) is not _MISSING)
        document, text = next(with_field, ({}, ""))
        found = number_in(document, self._field)
        if found is None:
            raise NoValue(f"no JSON object with the field {self._field!r} in its output{_quoted(self._tail.text)}")
        return found._replace(line=beginning(text))


class CostAndTime:
    """What irace takes from a target runner: its output is the cost, or the cost and the time, and nothing else.

    irace refuses any other output. We take the last line that is such an answer, so that a log does no harm.
    """

    def __init__(self) -> None:
        self._tail = Tail()

    def feed(self, text: str) -> None:
        """Take the next piece of output."""
        self._tail.feed(text)

    def result(self) -> Result:
        """Return the cost; NoValue when the output is more or less than irace allows."""
        text = self._tail.text
        candidates = (part.split() for part in (text, *reversed(text.splitlines())))
        words = next((words for words in candidates if 1 <= len(words) <= 2 and all(map(_is_number, words))), None)
        if words is None:
            raise NoValue(
                f"no line that begins with a cost in its output{_quoted(text)};"
                " a target runner prints the cost, or the cost and the time, and nothing else"
            )
        numbers = dict(zip(("cost", "time"), map(number_of, words), strict=False))
        return Result(_finite(words[0]), measures_of(numbers), " ".join(words))


class Tail:
    """The last 64 kB of a text that comes in pieces, however long it is."""

    def __init__(self) -> None:
        self._text = ""

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self._text = (self._text + text)[-2 * KEPT :] if len(self._text) + len(text) > 2 * KEPT else self._text + text

    @property
    def text(self) -> str:
        """What is kept."""
        return self._text[-KEPT:]


def decoder() -> codecs.IncrementalDecoder:
    """Return a decoder for what programs print: UTF-8, and whatever else as replacement characters."""
    return codecs.getincrementaldecoder("utf-8")(errors="replace")


def number_in(document: Mapping[str, Any], field: str) -> Result | None:
    """Return the number in a field of a JSON object, and its other numbers as measures; None without the field."""
    number = _descend(document, field)
    if number is _MISSING:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise NoValue(f"the JSON field {field!r} must hold a number, got {excerpt(json.dumps(number))}")
    value = _as_float(number)
    if not math.isfinite(value):
        raise NoValue(f"the value must be a finite number, got {value}")
    return Result(value, measures_of(document))


def measures_of(numbers: Mapping[str, Any]) -> Mapping[str, float] | None:
    """Return the finite numbers of a mapping by name, or None when there are fewer than two."""
    plain = {str(name): _as_float(number) for name, number in numbers.items()}
    measures = {name: number for name, number in plain.items() if math.isfinite(number)}
    return measures if len(measures) > 1 else None


def _as_float(value: Any) -> float:
    """A number of JSON as a float; NaN if it is none, and infinity beyond all floats."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def excerpt(text: str, *, width: int = EXCERPT) -> str:
    """Return the end of a text as one short printable line."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text[-4 * width :]).split())
    return line if len(line) <= width else "…" + line[1 - width :]


def beginning(text: str) -> str:
    """Return the beginning of a text as one short printable line."""
    line = excerpt(text[: 2 * EXCERPT], width=2 * EXCERPT)
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"


def _line_at(text: str, place: int) -> str:
    end = text.find("\n", place)
    return text[text.rfind("\n", 0, place) + 1 : len(text) if end < 0 else end]


def _in_doubt(word: str, line: str) -> str:
    return (
        f"the last number of its output must be a word by itself, such as 1234.5, got {excerpt(word, width=40)!r} in"
        f" the line {line!r}; print it plainly, or say with `value` what to read: a pattern such as"
        ' \'cost: (\\S+)\', "json:FIELD", "seconds" or "cpu-seconds"'
    )


def _quoted(text: str) -> str:
    end = excerpt(text)
    return f", which ends with {end!r}" if end else ": it printed nothing"


def _finite(text: str) -> float:
    if not _is_number(text.strip()) and text.strip("+- ") != "∞":
        raise NoValue(f"the value must be a number, got {excerpt(text)!r}")
    number = number_of(text)
    if not math.isfinite(number):
        raise NoValue(f"the value must be a finite number, got {excerpt(text)}")
    return number


def _is_number(word: str) -> bool:
    return len(word) <= LONGEST and NUMBER.fullmatch(word) is not None


def _json_objects(text: str) -> list[tuple[dict[str, Any], str]]:
    """The JSON objects that begin a line, in their order, each with its text."""
    decode = json.JSONDecoder().raw_decode
    objects, too_deep, text = [], 0, text.lstrip()
    place = _object_from(text, 0)
    while place >= 0:
        try:
            found, end = decode(text, place)
            objects.append((found, text[place:end]))
        except ValueError:  # no JSON, or a number of too many digits
            end = place + 1
        except RecursionError:
            end, too_deep = place + 1, too_deep + 1
            if too_deep > MOST_TOO_DEEP:  # each takes milliseconds, and what comes later must not be passed over
                raise NoValue("its output must hold JSON that ends; it begins again and again, and too deep") from None
        place = _object_from(text, end)
    return objects


def _object_from(text: str, place: int) -> int:
    """Where the next line that begins with a brace begins, or −1."""
    if place == 0 and text.startswith("{"):
        return 0
    found = text.find("\n{", max(place - 1, 0))
    return found + 1 if found >= 0 else -1


_MISSING = object()


def _descend(document: Any, field: str) -> Any:
    """The field of a document, or what a path of fields with dots leads to; numbers are places in a list."""
    if isinstance(document, list):
        document = {str(place): each for place, each in enumerate(document)}
    if not isinstance(document, dict):
        return _MISSING
    if field in document:
        return document[field]
    head, dot, rest = field.partition(".")
    return _descend(document[head], rest) if dot and head in document else _MISSING
