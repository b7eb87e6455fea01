"""Which words of a printed text are numbers, which only look like one, and which are none. Pure.

A number is a whole word: "cost 17.5", "cost=17.5", "(17.5)". What looks like a number and could be read in more than
one way (3,14 and 1,234 and 12.5s and 2024-01-05) is doubtful: it is never guessed at. Words that begin with a letter
(run2.sol, v1.2.3) are no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import digits
from typing import Literal, NamedTuple

Kind = Literal["number", "doubtful", "other"]

NUMBER = re.compile(
    r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|(?:\d+\.\d*|\.\d+)d[-+]?\d+|nan|inf(?:inity)?)",
    re.IGNORECASE | re.ASCII,
)

MOVES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[A-Hdfsu`]")  # of the cursor: what follows stands elsewhere
ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and the rest of the line
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles and links
    r"|\x1b[()*+][0-9A-Za-z]|\x1b[ -/]*[0-~]"  # character sets and the rest
)
_BLANKS = " \t\r\n\f\v"
_BETWEEN_BLANKS = re.compile(rf"[^{_BLANKS}]+")  # not those that stand within numbers: "1\u00a0234" is one word
_SEPARATOR = re.compile(r"(?<!\d)[,;]+|[,;]+(?!\d)")
_OPENING, _CLOSING = "([{<|\"'`", ")]}>|\"'`.!?:,;"
_NAMED = re.compile(r"^[^\W\d][\w.\-/\[\]]*[\"'`]?(?:=|:)+[\"'`(\[{]*(?=[^=:]+$)")
_GIVEN = re.compile(r"[=:>≈~][\"']?[-+−]?\.?\d")  # a number at the end of a word that is not read as name=number
_DIGIT = re.compile(r"\d")
_LEADING, _THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}"), re.compile(r"\d{3}(?:\.\d*)?")  # of 1 234.5
ABOUT = ("±", "+/-", "+-", "∓", "-", "−", "–", "—")  # a word before a number that makes it doubtful
LONGEST = 1100  # characters: the smallest number written out without an exponent has 1076
PIECE = 4096  # characters that are looked at at a time


class Candidate(NamedTuple):
    """A word that is a number or looks like one, and where it begins."""

    word: str
    kind: Kind
    start: int


def kind_of(word: str) -> Kind:
    """Say whether a word is a number, looks like one but can be read in more than one way, or neither.

    >>> [kind_of(word) for word in ("17.5", "cost=1e-3", "3,14", "12.5s", "v1.2.3")]
    ['number', 'number', 'doubtful', 'doubtful', 'other']
    """
    bare = bare_of(word if len(word) <= 2 * LONGEST else word[:LONGEST] + word[-LONGEST:])  # long ones are no numbers
    if (len(bare) <= LONGEST and NUMBER.fullmatch(bare)) or bare.strip("+-") == "∞":
        return "doubtful" if word.startswith("<") and ">" not in word else "number"  # "<5" is less than five
    first = next((mark for mark in bare if mark.isalnum()), "")
    looks = first.isnumeric() or _GIVEN.search(bare) or re.match(r"[-+]?(nan|inf)(?![^\W_])", bare, re.IGNORECASE)
    return "doubtful" if looks else "other"


def bare_of(word: str) -> str:
    """Return a word without the brackets, quotes, stops and the name around it; a minus is a minus in any script.

    >>> bare_of("(cost=−5).")
    '-5'
    """
    bare = _unwrapped(word)
    named = _NAMED.match(bare)
    bare = _unwrapped(bare[named.end() :]) if named else bare
    return bare.replace("−", "-")


def number_of(word: str) -> float:
    """Return the number that a word is; Fortran's exponents (1.5D+03) are read, infinity and NaN are themselves."""
    bare = bare_of(word).lower().replace("∞", "inf")
    return float(bare if "n" in bare else bare.replace("d", "e"))


def last_candidate(text: str) -> Candidate | None:
    """Return the last word that is a number or looks like one; None without one.

    It is looked for from the end on, in pieces: mostly it stands in the last lines.
    """
    end = len(text) if _may_hold_numbers(text) else 0
    while end > 0:
        start = _last_blank(text, end - PIECE) + 1
        found = _last_in(text[start:end], before=text[max(0, start - 8) : start])
        if found is not None:
            return Candidate(found.word, found.kind, start + found.start)
        end = start
    return None


def _last_blank(text: str, end: int) -> int:
    """The place of the last blank before another one; −1 without any."""
    return max(text.rfind(blank, 0, end) for blank in _BLANKS) if end > 0 else -1


def without_escapes(text: str) -> str:
    """Return a text without the sequences that colour it, move the cursor or set titles."""
    return ESCAPES.sub("", MOVES.sub(" ", text)) if "\x1b" in text or "\x9b" in text else text


def _may_hold_numbers(text: str) -> bool:
    """A quick look, so that a gigabyte of chatter costs seconds."""
    small = text.lower()
    if "nan" in small or "inf" in small or "∞" in small:
        return True
    if text.isascii():
        return any(digit in text for digit in digits)
    return _DIGIT.search(text) is not None


def _last_in(text: str, *, before: str) -> Candidate | None:
    """The last candidate of a piece; `before` is the end of what stands before it."""
    words = list(_words(text))
    for place in range(len(words) - 1, -1, -1):
        start, word = words[place]
        kind = kind_of(word)
        previous = words[place - 1][1] if place else "".join(before.split()[-1:])
        if kind == "number" and previous in ABOUT:
            kind = "doubtful"  # 12.5 ± 0.3: which of the two is meant? And is "- 5" five below zero?
        if kind == "number" and place and _is_grouped(text, *words[place - 1], start, word):
            kind = "doubtful"  # 1 234: one number or two?
        if kind != "other":
            return Candidate(word, kind, start)
    return None


def _is_grouped(text: str, before: int, previous: str, start: int, word: str) -> bool:
    """Whether a word may be the thousands of the number before it: three digits after a single space."""
    apart = text[before + len(previous) : start] == " "
    return bool(apart and _THOUSANDS.fullmatch(bare_of(word)) and _LEADING.fullmatch(bare_of(previous)))


def _words(text: str) -> Iterator[tuple[int, str]]:
    """The words of a text and where they begin."""
    for between in _BETWEEN_BLANKS.finditer(text):
        if "," in between[0] or ";" in between[0]:
            yield from _separated(text, between.start(), between.end())
        else:
            yield between.start(), between[0]


def _separated(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The words of a part without blanks: commas and semicolons separate them, but not those between digits."""
    for separator in _SEPARATOR.finditer(text, start, end):
        if separator.start() > start:
            yield start, text[start : separator.start()]
        start = separator.end()
    if start < end:
        yield start, text[start:end]


def _unwrapped(word: str) -> str:
    return word.lstrip(_OPENING).rstrip(_CLOSING)
