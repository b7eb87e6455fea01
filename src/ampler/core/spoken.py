"""Parameters in messages: named as Python has them to who calls from Python, as options to who types in a shell. Pure.

A message holds a mark where a parameter is named; the doors read it out, each in its own way.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ampler.core.enumerated import enumerated

OPEN, SHUT = "\x0e", "\x0f"  # shift out and in: no name that a table or a study can have holds them
MARKED = re.compile(f"{OPEN}([^{OPEN}{SHUT}]*){SHUT}")
OPTIONS = {"path": "store", "costs": "cost"}  # of parameters whose option is called otherwise

Value = str | bool | float | Sequence[str] | Mapping[str, object] | None


def parameter(name: str, value: Value = None) -> str:
    """Return the mark of a parameter in a message, with the value it should have, if one is proposed.

    >>> text = f"choose one with {parameter('where', {'budget': 100})}"
    >>> print(in_python(text), "|", in_shell(text))
    choose one with where={"budget": 100} | choose one with --where budget=100
    """
    return f"{OPEN}{json.dumps([name, value], ensure_ascii=True, default=str)}{SHUT}"


def in_python(text: str) -> str:
    """Return a message with its parameters as Python has them."""
    return MARKED.sub(lambda mark: _as_argument(*json.loads(mark[1])), text)


def in_shell(text: str) -> str:
    """Return a message with its parameters as options of a shell."""
    return MARKED.sub(lambda mark: _as_option(*json.loads(mark[1])), text)


def _as_argument(name: str, value: Any) -> str:
    if value is None:
        return name
    one_name = isinstance(value, list) and len(value) == 1
    return f"{name}={'True' if value is True else json.dumps(value[0] if one_name else value, ensure_ascii=False)}"


def _as_option(name: str, value: Any) -> str:
    option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
    if value is None or value is True:
        return option
    if isinstance(value, dict):
        value = [f"{key}={level}" for key, level in value.items()]
    text = enumerated(value) if isinstance(value, list) else str(value)
    return f"{option} {text if _is_plain(text) else shlex.quote(text)}"


def _is_plain(text: str) -> bool:
    """Whether a shell takes it as one word."""
    return shlex.quote(text) == text or re.fullmatch(r"[\w@%+=:,./…-]+", text) is not None
