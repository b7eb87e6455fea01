"""What an address asks for: its words as numbers and choices, or one sentence why they are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ampler.core.checks import choice, finite, integer
from ampler.core.errors import InvalidInput
from ampler.core.wording import shortened

Words = Mapping[str, str]
LONGEST = 200  # characters of one word; nobody types more into a field


def said(words: Words, name: str, longest: int = LONGEST) -> str | None:
    """Return what was said under a name; None when nothing was.

    >>> said({"effect": " 0.5 ", "power": ""}, "effect"), said({"power": ""}, "power")
    ('0.5', None)
    """
    word = words.get(name, "").strip()
    if len(word) > longest:
        raise InvalidInput(f"{name} must be shorter than {longest} characters, got {shortened(word)!r}")
    return word or None


def number(words: Words, name: str, default: float | None = None) -> float | None:
    """Return a number that was said, or the default.

    >>> number({"effect": "0,5"}, "effect")
    0.5
    """
    word = said(words, name)
    if word is None:
        return default
    try:
        return finite(name, float(word.replace(",", ".")), error=InvalidInput)
    except ValueError:
        raise InvalidInput(f"{name} must be a number, such as 0.5, got {word!r}") from None


def whole(words: Words, name: str, default: int | None = None, *, least: int, most: int) -> int | None:
    """Return a whole number within limits that was said, or the default."""
    found = number(words, name)
    return default if found is None else integer(name, found, least, most, error=InvalidInput)


def choice_of(words: Words, name: str, among: tuple[str, ...], default: Any) -> Any:
    """Return a word that was said and is among those that can be, or the default."""
    word = said(words, name)
    return default if word is None else choice(name, word, among, f"{default} is usual", error=InvalidInput)


def address(path: str, words: Mapping[str, Any]) -> str:
    """Return the address of a page with its state; what is not said is left out.

    >>> address("/design", {"effect": 0.5, "power": None})
    '/design?effect=0.5'
    """
    pairs = [(name, value) for name, value in words.items() if value not in (None, "")]
    return f"{path}?{urlencode(pairs)}" if pairs else path
