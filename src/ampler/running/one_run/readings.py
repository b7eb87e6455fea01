"""The value in what a command printed. Pure: text comes in pieces, a number goes out."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ampler.core.values import Reading
from ampler.running.one_run.numerals import NUMBER, Kind, bare_of, last_candidate, number_of, without_escapes

KEPT = 64 * 1024  # characters of output that are remembered; what matters comes last
EXCERPT = 160  # characters of output that fit into a message


class NoValue(Exception):
    """A run gave nothing that counts as its value; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Result:
    """The value a run gave, and its measures when it reported several."""

    value: float
    measures: Mapping[str, float] | None = None


class Reader(Protocol):
    """Takes what a command prints piece by piece, and knows the value at the end."""

    def feed(self, text: str) -> None:
        """Take the next piece of output."""

    def result(self) -> Result:
        """Return the value; NoValue when there is none."""


def reader_of(reading: Reading, protocol: str = "arguments") -> Reader:
    """Return a reader for what a command prints; readings that are times take no notice of it.

    >>> reader = reader_of(Reading())
    >>> reader.feed("seed 1: best 17.5, then 1")
    >>> reader.feed("6.25 (done)")
    >>> reader.result().value
    16.25
    """
    if reading.kind == "pattern":
        return LastMatch(re.compile(reading.what, re.MULTILINE), f"no match of {reading.what!r}")
    if reading.kind == "json":
        return JsonField(reading.what)
    if protocol == "irace":
        return CostAndTime()
    return LastNumber()


class LastMatch:
    """The last match of a pattern in text of any length, of which only the end is kept."""

    def __init__(self, pattern: re.Pattern[str], missing: str) -> None:
        self._pattern = pattern
        self._missing = missing
        self._text = ""
        self._offset = 0  # of the kept text in all that was printed
        self._start = self._end = -1  # of the last match, in all that was printed
        self._found: str | None = None

    def feed(self, text: str) -> None:
        """Take the next piece of output."""
        self._text += text
        if len(self._text) > 2 * KEPT:
            self._search()
            cut = len(self._text) - KEPT
            self._text = self._text[cut:]
            self._offset += cut

    def result(self) -> Result:
        """Return the value; NoValue when nothing matched or the match is no finite number."""
        self._search()
        if self._found is None:
            raise NoValue(f"{self._missing} in its output{_quoted(self._text)}")
        return Result(_finite(self._found))

    def _search(self) -> None:
        """Find the last match in the kept text.

        Windows overlap, so that a match across a border is whole in the next one. What begins inside the match
        already found is a remnant of it, cut by the border.
        """
        first = 1 if self._offset else 0  # one character is left as context for ^ and look-behind
        for match in self._pattern.finditer(self._text, first):
            start, end = match.start() + self._offset, match.end() + self._offset
            if start == self._start or start >= self._end:
                self._start, self._end = start, end
                self._found = match[1] if self._pattern.groups else match[0]


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
            self._search()
            self._text, self._cut = self._text[-KEPT:], True

    def result(self) -> Result:
        """Return the value; NoValue when there is no number, or when the last one may be read in several ways."""
        self._search()
        if self._found is None:
            raise NoValue(f"no number in its output{_quoted(self._text)}")
        word, kind, line = self._found
        if kind == "doubtful":
            raise NoValue(_in_doubt(word, line))
        return Result(_finite(bare_of(word)))

    @property
    def line(self) -> str:
        """The line the value came from, for people to check."""
        self._search()
        return "" if self._found is None else self._found[2]

    def _search(self) -> None:
        text = without_escapes(self._text)
        found = last_candidate(text)
        if found is None:
            return
        begins_cut = self._cut and not text[: found.start].strip()
        if begins_cut and self._found is not None:
            return  # the rest of a word that was seen whole, or was too long for a number
        self._found = found.word, "doubtful" if begins_cut else found.kind, excerpt(_line_at(text, found.start))


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
        last: dict[str, Any] = next(
            (each for each in reversed(documents) if _descend(each, self._field) is not _MISSING), {}
        )
        found = number_in(last, self._field)
        if found is None:
            raise NoValue(f"no JSON object with the field {self._field!r} in its output{_quoted(self._tail.text)}")
        return found


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
        words = next(
            (words for words in candidates if 1 <= len(words) <= 2 and all(map(NUMBER.fullmatch, words))), None
        )
        if words is None:
            raise NoValue(
                f"no line that begins with a cost in its output{_quoted(text)};"
                " a target runner prints the cost, or the cost and the time, and nothing else"
            )
        return Result(_finite(words[0]), measures_of(dict(zip(("cost", "time"), map(float, words), strict=False))))


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
    return Result(_finite(str(number)), measures_of(document))


def measures_of(numbers: Mapping[str, Any]) -> Mapping[str, float] | None:
    """Return the finite numbers of a mapping by name, or None when there are fewer than two."""
    measures = {
        str(name): float(number)
        for name, number in numbers.items()
        if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    }
    return measures if len(measures) > 1 else None


def excerpt(text: str, *, width: int = EXCERPT) -> str:
    """Return the end of a text as one short printable line."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text[-4 * width :]).split())
    return line if len(line) <= width else "…" + line[1 - width :]


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
    if not NUMBER.fullmatch(text.strip()):
        raise NoValue(f"the value must be a number, got {excerpt(text)!r}")
    number = number_of(text)
    if not math.isfinite(number):
        raise NoValue(f"the value must be a finite number, got {excerpt(text)}")
    return number


def _json_objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that begin a line, in their order."""
    decode = json.JSONDecoder().raw_decode
    objects = []
    place = _object_from(text.lstrip(), 0)
    text = text.lstrip()
    while place >= 0:
        try:
            found, end = decode(text, place)
            objects.append(found)
        except (json.JSONDecodeError, RecursionError):
            end = place + 1
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
    """The field of a document, or what a path of fields with dots leads to."""
    if isinstance(document, dict) and field in document:
        return document[field]
    head, dot, rest = field.partition(".")
    if dot and isinstance(document, dict) and head in document:
        return _descend(document[head], rest)
    return _MISSING
