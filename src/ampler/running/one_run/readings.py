"""Reading the value from the output of a command or the result of a function. Pure.

A number is a word by itself: "cost 17.5", "cost=17.5", "(17.5)". A word that could be read in more than one way (3,14
and 1,234 and 12.5s and 2024-01-05) is ambiguous and refused: never a wrong number. Words that begin with a letter
(run2.sol, v1.2.3) are no numbers.
"""

from __future__ import annotations

import json
import math
import os
import re
import reprlib
import signal
import threading
from collections import deque
from collections.abc import Mapping
from types import FrameType
from typing import Any, Literal, NamedTuple

from ampler.core.plan import Function, Outputs, Reading
from ampler.core.settings import Status
from ampler.core.text import composed

MATCHING = 10.0  # timeout of a pattern, in seconds
KEPT = 256 * 1024  # characters at the end of an output that are searched for the value
MOST_TOO_DEEP = 50  # maximum number of deeply nested JSON objects, which are slow to parse
EXCERPT = 160  # characters of output that fit into a message
REPR_WIDTH = 60  # characters of a returned value that fit into a message
LONGEST = 1100  # characters: the smallest number written out without an exponent has 1076

Kind = Literal["number", "ambiguous", "other"]

NUMBER = re.compile(
    r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|(?:\d+\.\d*|\.\d+)d[-+]?\d+|nan|inf(?:inity)?)",
    re.IGNORECASE | re.ASCII,
)
CURSOR_MOVES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[A-Hdfsu`]")  # start of the match only
ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and the rest of the line
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles and links
    r"|\x1b[()*+][0-9A-Za-z]|\x1b[ -/]*[0-~]"  # character sets and the rest
)
ANY_NUMBER = re.compile(r"\d|nan|inf|∞", re.IGNORECASE)
WORD = re.compile(r"[^ \t\r\n\f\v]+")  # other kinds of blanks occur within numbers: "1\u00a0234" is one word
SEPARATOR = re.compile(r"(?<!\d)[,;]+|[,;]+(?!\d)")
OPENING, CLOSING = "([{<|\"'`", ")]}>|\"'`.!?:,;"
NAME = re.compile(r"^[^\W\d][\w.\-/\[\]]*[\"'`]?(?:=|:)+[\"'`(\[{]*(?=[^=:]+$)")
ASSIGNED = re.compile(r"[=:>≈~][\"']?[-+−]?\.?\d")  # a number at the end of a word that is not read as name=number
NOT_FINITE = re.compile(r"[-+]?(nan|inf)(?![^\W_])", re.IGNORECASE)
INFINITE = re.compile(r"[-+−]?∞")
LEADING_DIGITS, THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}"), re.compile(r"\d{3}(?:\.\d*)?")  # of 1 234.5
SIGNS = ("±", "+/-", "+-", "∓", "-", "−", "–", "—")  # a word before a number that makes it ambiguous
NO_REAL_NUMBERS = "cUSMmV"  # kinds of numpy that convert to float but are no numbers: complex, text, dates, raw bytes


class NoValue(Exception):
    """A run has no value; the message is the reason."""


class Result(NamedTuple):
    """Value of a run with its measures, and the line it was read from."""

    value: float
    measures: Mapping[str, float] | None = None
    line: str = ""
    answer: str | None = None


class Printed(NamedTuple):
    """Further output of a command: whether it solved its instance, its answer, and measures."""

    solved: bool = True
    answer: str | None = None
    measures: Mapping[str, float] | None = None


class Outcome(NamedTuple):
    """Outcome of a run: a value exactly if `status` is "ok", otherwise a message with the reason.

    `cause` says the same as the message, for programs. `line` is what was printed that the value was read from, for
    people to check; it is not recorded.
    """

    value: float | None
    seconds: float
    status: Status = "ok"
    message: str = ""
    measures: Mapping[str, float] | None = None
    cpu: float | None = None
    started: float | None = None
    line: str = ""
    cause: str = ""
    exit_code: int | None = None
    answer: str | None = None
    memory: int | None = None


class Tail:
    """Buffer that keeps the end of a stream of text."""

    def __init__(self, size: int = KEPT) -> None:
        self._pieces: deque[str] = deque()
        self._limit, self._length = size, 0
        self.is_cut = False  # whether there was more

    def feed(self, text: str) -> None:
        """Process the next piece of output."""
        self._pieces.append(text)
        self._length += len(text)
        while self._length - len(self._pieces[0]) >= self._limit:
            self._length -= len(self._pieces.popleft())
            self.is_cut = True

    @property
    def text(self) -> str:
        """The last characters, as many as are kept."""
        text = "".join(self._pieces)
        self.is_cut = self.is_cut or len(text) > self._limit
        return text[-self._limit :]


def value_in(tail: Tail, reading: Reading, protocol: str = "arguments", *, timeout: float | None = None) -> Result:
    """Return the value in the output of a command; NoValue if there is none.

    A pattern has no more time than the run itself, and `MATCHING` seconds at most. A word that was cut off at its
    beginning counts for nothing.

    >>> tail = Tail()
    >>> tail.feed("seed 1: best 17.5, then 1")
    >>> tail.feed("6.25 (done)")
    >>> value_in(tail, Reading()).value
    16.25
    """
    text = tail.text
    start = next(re.finditer(r"\s|$", text)).start() if tail.is_cut else 0
    if reading.kind == "pattern":
        found = _matched(reading.what, text, start, timeout)
        line = text[text.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0]
        return Result(_number_in_word(found[1] if found.re.groups else found[0]), line=excerpt(line))
    if reading.kind == "json":
        return _json_field(reading.what, text)
    return (_cost_and_time if protocol == "irace" else _last_number)(text, start)


def printed(text: str, outputs: Outputs, *, timeout: float | None = None) -> Printed:
    """Return what a command printed next to its value; of each pattern the last match counts.

    >>> printed("c 12 conflicts\\ns SATISFIABLE", Outputs("^s (UN)?SAT", "^s (.*)", {"conflicts": r"(\\d+) conf"}))
    Printed(solved=True, answer='SATISFIABLE', measures={'conflicts': 12.0})
    """

    def last(pattern: str) -> str | None:
        try:
            match = _matched(pattern, text, 0, timeout)
        except NoValue:
            return None
        return (match[1] if match.re.groups else match[0]) or ""

    words = {name: (last(pattern) or "").strip() for name, pattern in outputs.measures.items()}
    numbers = {name: number_of(word) for name, word in words.items() if _is_number(word)}
    finite = {name: number for name, number in numbers.items() if math.isfinite(number)}
    answer = last(outputs.answer) if outputs.answer else None
    return Printed(not outputs.solved or last(outputs.solved) is not None, answer, finite or None)


def answer_in(document: Mapping[Any, Any], outputs: Outputs) -> str | None:
    """Return the answer of a function or a worker; NoValue if it did not solve its instance."""
    if outputs.solved and document.get(outputs.solved) not in (True, 1):
        raise NoValue(f"{outputs.solved!r} is not true in its output, so the instance is not solved")
    if not outputs.answer:
        return None
    if document.get(outputs.answer) is None:
        raise NoValue(f"it gave no answer {outputs.answer!r}")
    return excerpt(str(document[outputs.answer]))


# Ways to read an output


def _matched(pattern: str, text: str, start: int, timeout: float | None) -> re.Match[str]:
    """The last match; a pattern that backtracks again and again is given up after some seconds."""
    seconds, in_main = min(timeout or MATCHING, MATCHING), threading.current_thread() is threading.main_thread()

    def stop(number: int, frame: FrameType | None) -> None:  # also while an expression is matched
        raise NoValue(
            f"the pattern {pattern!r} was not matched within {seconds:g} s;"
            " it backtracks too often: use a simpler one, such as 'cost: (\\S+)'"
        )

    if in_main:  # only the main thread receives signals
        handler, (before, _) = signal.signal(signal.SIGALRM, stop), signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        matches = deque(re.compile(pattern, re.MULTILINE).finditer(text, start), maxlen=1)
    finally:
        if in_main:
            signal.setitimer(signal.ITIMER_REAL, before)
            signal.signal(signal.SIGALRM, handler)
    if not matches:
        raise NoValue(f"no match of {pattern!r} in its output{quoted(text)}")
    return matches[0]


def _last_number(text: str, start: int) -> Result:
    """Read the last number. What only looks like a number is refused, not guessed at."""
    found = last_candidate(without_escapes(text[start:]))
    if found is None and (cut_off := last_candidate(without_escapes(text[:start]))):
        found = cut_off[0], "ambiguous", cut_off[2]
    if found is None:
        raise NoValue(f"no number in its output{quoted(text)}")
    word, kind, line = found
    if kind == "ambiguous":
        raise NoValue(
            f"the last number of its output must be a separate word, such as 1234.5, got {excerpt(word, width=40)!r}"
            f" in the line {line!r}; print it separately, or set `value` to a pattern such as"
            ' \'cost: (\\S+)\', to "json:FIELD", "seconds" or "cpu-seconds"'
        )
    return Result(_number_in_word(bare_of(word)), line=line)


def _json_field(field: str, text: str) -> Result:
    """Read a field of the last JSON object that begins a line and has it; its other numbers become measures."""
    decode, too_deep, end = json.JSONDecoder().raw_decode, 0, 0
    found: tuple[dict[str, Any], str] = {}, ""
    text = text.lstrip()
    for begin in (match.start() for match in re.finditer(r"^\{", text, re.MULTILINE)):
        if begin < end:
            continue
        try:
            document, end = decode(text, begin)
        except ValueError:  # invalid JSON, or a number with too many digits
            continue
        except RecursionError:
            too_deep += 1
            if too_deep > MOST_TOO_DEEP:  # later objects must not be skipped
                raise NoValue("its output must hold JSON that ends; it begins again and again, and too deep") from None
            continue
        if _descend(document, field) is not _MISSING:
            found = document, text[begin:end]
    result = number_in(found[0], field)
    if result is None:
        raise NoValue(f"no JSON object with the field {field!r} in its output{quoted(text)}")
    return result._replace(line=beginning(found[1]))


def _cost_and_time(text: str, start: int) -> Result:
    """Read the output of an irace target runner: the cost, or the cost and the time.

    irace refuses any other output. We take the last line that is such an answer, so that a log does no harm.
    """
    candidates = (part.split() for part in (text[start:], *reversed(text[start:].splitlines())))
    words = next((words for words in candidates if 1 <= len(words) <= 2 and all(map(_is_number, words))), None)
    if words is None:
        raise NoValue(
            f"no line that begins with a cost in its output{quoted(text)};"
            " a target runner prints the cost, or the cost and the time, and nothing else"
        )
    numbers = dict(zip(("cost", "time"), map(number_of, words), strict=False))
    return Result(_number_in_word(words[0]), measures_of(numbers), " ".join(words))


# Which words are numbers


def last_candidate(text: str) -> tuple[str, Kind, str] | None:
    """Return the last word that is or resembles a number, its kind, and its line; None without one."""
    if not ANY_NUMBER.search(text):
        return None
    lines = text.split("\n")
    for number in reversed(range(len(lines))):
        plain = SEPARATOR.sub("\t", lines[number])
        words = list(WORD.finditer(plain))
        for index in reversed(range(len(words))):
            word, kind = words[index][0], kind_of(words[index][0])
            if kind == "other":
                continue
            if kind == "number":
                above = lines[number - 1].split() if number else []
                previous = words[index - 1][0] if index else next(reversed(above), "")
                blank = plain[words[index - 1].end() : words[index].start()] if index else ""
                # 12.5 ± 0.3: which of the two is meant? And is "- 5" five below zero?
                # 1 234: one number or two?
                thousands = THOUSANDS.fullmatch(bare_of(word)) and LEADING_DIGITS.fullmatch(bare_of(previous))
                if previous in SIGNS or (blank == " " and thousands):
                    kind = "ambiguous"
            return word, kind, excerpt(lines[number])
    return None


def kind_of(word: str) -> Kind:
    """Classify a word as a number, an ambiguous number, or another word.

    >>> [kind_of(word) for word in ("17.5", "cost=1e-3", "3,14", "12.5s", "v1.2.3")]
    ['number', 'number', 'ambiguous', 'ambiguous', 'other']
    """
    bare = bare_of(word if len(word) <= 2 * LONGEST else word[:LONGEST] + word[-LONGEST:])  # long ones are no numbers
    if _is_number(bare) or INFINITE.fullmatch(bare):
        return "ambiguous" if word.startswith("<") and ">" not in word else "number"  # "<5" is less than five
    first = next((mark for mark in bare if mark.isalnum()), "")
    looks_like_one = "∞" in bare or first.isnumeric() or ASSIGNED.search(bare) or NOT_FINITE.match(bare)
    return "ambiguous" if looks_like_one else "other"


def bare_of(word: str) -> str:
    """Return a word without the brackets, quotes, stops and the name around it; a minus is a minus in any script.

    >>> bare_of("(cost=−5).")
    '-5'
    """
    bare = word.lstrip(OPENING).rstrip(CLOSING)
    if name := NAME.match(bare):
        bare = bare[name.end() :].lstrip(OPENING).rstrip(CLOSING)
    return bare.replace("−", "-")


def number_of(word: str) -> float:
    """Return the number that a word is; Fortran's exponents (1.5D+03) are read, infinity and NaN are themselves."""
    bare = bare_of(word).lower().replace("∞", "inf")
    return float(bare if "n" in bare else bare.replace("d", "e"))


def without_escapes(text: str) -> str:
    """Return a text without the sequences that colour it, move the cursor or set titles."""
    return ESCAPES.sub("", CURSOR_MOVES.sub(" ", text)) if "\x1b" in text or "\x9b" in text else text


def _is_number(word: str) -> bool:
    return len(word) <= LONGEST and NUMBER.fullmatch(word) is not None


def _number_in_word(word: str) -> float:
    if not _is_number(word.strip()) and not INFINITE.fullmatch(word.strip()):
        raise NoValue(f"the value must be a number, got {excerpt(word)!r}")
    return _finite(number_of(word), excerpt(word))


def _finite(number: float, shown: str = "") -> float:
    if not math.isfinite(number):
        raise NoValue(f"the value must be a finite number, got {shown or number}")
    return number


# Numbers of JSON


def number_in(document: Mapping[str, Any], field: str) -> Result | None:
    """Return the number in a field of a JSON object, and its other numbers as measures; None without the field."""
    number = _descend(document, composed(field))
    if number is _MISSING:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise NoValue(f"the JSON field {field!r} must hold a number, got {excerpt(json.dumps(number))}")
    return Result(_finite(_as_float(number)), measures_of(document))


def measures_of(numbers: Mapping[str, Any]) -> Mapping[str, float] | None:
    """Return the finite numbers of a mapping by name, or None when there are fewer than two."""
    measures = {as_key(name): number for name, value in numbers.items() if math.isfinite(number := _as_float(value))}
    return measures if len(measures) > 1 else None


def as_key(name: Any) -> str:
    """Return the name of a measure as it is recorded: in one spelling, without lone surrogates."""
    return composed(str(name)).encode("utf-8", "replace").decode()


def _as_float(value: Any) -> float:
    """A number of JSON as a float; NaN if it is none, and infinity beyond all floats."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


_MISSING = object()


def _descend(document: Any, field: str) -> Any:
    """The field of a document, or what a path of fields with dots leads to; numbers are places in a list."""
    if isinstance(document, list):
        document = {str(index): item for index, item in enumerate(document)}
    if not isinstance(document, dict):
        return _MISSING
    document = {composed(name): item for name, item in document.items()}
    if field in document:
        return document[field]
    head, dot, rest = field.partition(".")
    return _descend(document[head], rest) if dot and head in document else _MISSING


# Results and exceptions of functions. Their repr cannot be trusted: it may raise or be endless.


def result_of(returned: Any, function: Function) -> Result:
    """Return the value in the result of a function: a number, or one of its measures."""
    reading, outputs, answer = function.reading, function.outputs, None
    if type(returned) is float and not outputs and reading.kind != "json" and math.isfinite(returned):
        return Result(returned)  # fast path for the usual case
    if outputs:
        if not isinstance(returned, Mapping):
            raise NoValue(f"a mapping with its answer or whether it solved must be returned, got {described(returned)}")
        answer = answer_in(returned, outputs)
        numbers = {name: number for name, number in returned.items() if name not in (outputs.solved, outputs.answer)}
        returned = numbers or (None if reading.is_time else numbers)
    if returned is None and reading.is_time:
        return Result(0.0, answer=answer)  # replaced by the time
    if not isinstance(returned, Mapping):
        if reading.kind == "json":
            raise NoValue(f"a mapping with {reading.what!r} must be returned, got {described(returned)}")
        return Result(_finite(_to_float(returned, "a number or a mapping of numbers must be returned")))
    numbers = {
        as_key(name): _to_float(number, f"the measure {name!r} must be a number") for name, number in returned.items()
    }
    if not numbers:
        raise NoValue("at least one measure must be returned, got an empty mapping")
    chosen = composed(reading.what) if reading.kind == "json" else next(iter(numbers))
    if chosen not in numbers:
        raise NoValue(f"the measure {chosen!r} must be one of the returned ones, got {', '.join(map(repr, numbers))}")
    finite = {name: number for name, number in numbers.items() if math.isfinite(number)}
    return Result(_finite(numbers[chosen]), finite, answer=answer)


def _to_float(value: Any, requirement: str) -> float:
    """A number of any library as a float; text, dates, complex numbers and arrays are none."""
    if isinstance(value, float):
        return float.__pos__(value)  # rejected by its kind
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    no_real_number = isinstance(value, complex | str | bytes) or (isinstance(kind, str) and kind in [*NO_REAL_NUMBERS])
    if not hasattr(type(value), "__float__") or getattr(value, "ndim", 0) != 0 or no_real_number:
        raise NoValue(f"{requirement}, got {described(value)}")
    try:
        return float.__pos__(float(value))
    except OverflowError:
        return math.inf


def raised(problem: BaseException) -> str:
    """Describe an exception and its location in one line, even if its own text fails."""
    try:
        text = excerpt(str(problem))
    except BaseException:  # the repr of the exception failed
        text = "it cannot be printed"
    place, step = "", problem.__traceback__
    while step is not None and step.tb_next is not None:  # without our own frame
        step = step.tb_next
        place = f" ({os.path.basename(step.tb_frame.f_code.co_filename)}, line {step.tb_lineno})"
    return f"it raised {type(problem).__name__}{': ' if text else ''}{text}{place}"


def described(value: Any) -> str:
    """Return the kind of a value and its beginning, in a few words."""
    if value is None:
        return "nothing"
    brief = reprlib.Repr()  # avoid the repr of large containers
    brief.maxstring = brief.maxother = brief.maxlong = REPR_WIDTH
    try:
        text = excerpt(brief.repr(value), width=REPR_WIDTH)
    except BaseException:  # user code may raise here
        text = "that cannot be shown"
    return f"{type(value).__name__} {text}"


# Excerpts for messages


def excerpt(text: str, *, width: int = EXCERPT) -> str:
    """Return the end of a text as one short printable line."""
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text[-4 * width :]).split())
    return line if len(line) <= width else "…" + line[1 - width :]


def beginning(text: str) -> str:
    """Return the beginning of a text as one short printable line."""
    line = excerpt(text[: 2 * EXCERPT], width=2 * EXCERPT)
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"


def quoted(text: str) -> str:
    """Return the end of an output as a clause that ends a message."""
    end = excerpt(text)
    return f", which ends with {end!r}" if end else ": it printed nothing"
