"""What is said between ampler and a resident program: requests, the greeting, answers. Pure.

The protocol is described for users in docs/worker-protocol.md.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from ampler.core.values import Command, Instance, Reading
from ampler.running.one_run.readings import NoValue, Result, beginning, excerpt, measures_of, number_in

VERSION = 1  # of the protocol; a resident program greets with it
LONGEST_REQUEST = 60_000  # bytes: what surely fits into a pipe, so that sending never waits for a resident program
LONGEST_LINE = 1024 * 1024  # bytes of one line of a resident program


class OutOfStep(Exception):
    """A resident program said what is no answer to its request, so that nothing it says later can be trusted."""


def request_of(command: Command, instance: Instance, seed: int) -> bytes:
    r"""Return the line that asks a resident program for a run. The order of the fields is part of the protocol.

    >>> request_of(Command("full", ("./worker",), {"k": 3}, protocol="worker"), Instance("i1"), 42)
    b'{"seed": 42, "instance": "i1", "parameters": {"k": 3}}\n'
    """
    document = {"seed": seed, "instance": instance.text, "parameters": dict(command.parameters)}
    line = json.dumps(document, ensure_ascii=False).encode(errors="surrogateescape") + b"\n"
    if len(line) > LONGEST_REQUEST:
        raise ValueError(f"a request must have at most {LONGEST_REQUEST} bytes, this one has {len(line)}")
    return line


class Lines:
    """What a resident program prints, line by line: those that begin with a brace wait here, others are passed over."""

    def __init__(self) -> None:
        self._rest = b""
        self._waiting: deque[bytes] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def feed(self, data: bytes) -> None:
        """Take the next piece; OutOfStep when a line has no end."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._waiting.extend(line for line in map(bytes.strip, lines) if line.startswith(b"{"))
        if len(self._rest) > LONGEST_LINE:
            raise OutOfStep(f"a line of its answers must have at most {LONGEST_LINE} bytes, one has more")

    def next(self) -> dict[str, Any]:
        """Take the next line out and return the JSON object it is."""
        line = self._waiting.popleft()
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            raise OutOfStep(f"an answer must be a line of JSON, got {_shown(line)}") from None
        assert isinstance(document, dict), "it begins with a brace"
        return document


def check_greeting(document: Mapping[str, Any]) -> None:
    """Raise OutOfStep unless this is how a resident program says that it is ready."""
    if document.get("ampler") != VERSION:
        raise OutOfStep(f'it must first print {{"ampler": {VERSION}}}, got {_shown(document)}')


def check_seed(document: Mapping[str, Any], seed: int) -> None:
    """Raise OutOfStep unless an answer repeats the seed of its request: it could be the answer to another one."""
    if document.get("seed") != seed:
        raise OutOfStep(f'an answer must repeat the seed of its request, "seed": {seed}, got {_shown(document)}')


def result_in(document: Mapping[str, Any], reading: Reading) -> Result:
    """Return the value of an answer; NoValue when it has none, or says that the run failed.

    >>> result_in({"seed": 42, "value": 17.5, "steps": 300}, Reading()).measures
    {'value': 17.5, 'steps': 300.0}
    """
    if "error" in document:
        raise NoValue(f"it answered with the error {excerpt(str(document['error']))!r}")
    said = {name: value for name, value in document.items() if name != "seed"}
    if reading.is_time:
        return Result(0.0, measures_of(said))  # the time will take its place
    field = reading.what if reading.kind == "json" else "value"
    found = number_in(said, field)
    if found is None:
        raise NoValue(f"an answer must have the field {field!r}, got {_shown(document)}")
    return found._replace(line=beginning(_text_of(document)))


def _shown(what: bytes | Mapping[str, Any]) -> str:
    return repr(excerpt(what.decode(errors="replace") if isinstance(what, bytes) else _text_of(what)))


def _text_of(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False)
