"""Instances that are Python objects: a digest of what each contains, and the files that its class comes from.

Nothing of an instance is executed but what describes it for copying (`__reduce_ex__`).
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from ampler.core.plain import origin
from ampler.core.values import Instance
from ampler.study.code.changes import HIDDEN, OBJECT

SIMPLE = {type(None), bool, int, float, complex, str, bytes, range}
CLASSES = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)


def instance_digests(instances: Iterable[Instance]) -> dict[str, str]:
    """Return the digest of each instance that is a Python object, by name; HIDDEN before it where not all can be seen.

    >>> digests = instance_digests([Instance("a", data={"size": 10}), Instance("b", data=iter("b")), Instance("c")])
    >>> {name: len(digest) for name, digest in digests.items()}
    {'a': 64, 'b': 65}
    """
    return {each.name: _digest(each.data) for each in instances if each.data is not None}


def definitions_in(value: Any) -> dict[Any, None]:
    """Return the classes and functions that an object consists of, itself and all that it contains."""
    walk = _Walk()
    with suppress(RecursionError):
        walk.through(value)
    return walk.definitions


def _digest(value: Any) -> str:
    walk = _Walk()
    try:
        walk.through(value)
    except RecursionError:
        walk.hidden = True
    return f"{HIDDEN if walk.hidden else ''}{walk.hash.hexdigest()}"


class _Walk:
    """Goes through an object and all that it contains."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.hidden = False  # whether something says nothing of its content that is the same in the next session
        self.definitions: dict[Any, None] = {}
        self._around: dict[int, int] = {}  # how deep the objects lie that the present one is in

    def through(self, value: Any) -> None:
        """Take in an object: what kind it is, and what it contains."""
        kind = type(value)
        if kind in SIMPLE:
            self._say(kind.__name__, repr(value))
        elif id(value) in self._around:
            self._say("around", str(self._around[id(value)]))
        else:
            self._around[id(value)] = len(self._around)
            self._say(origin(kind))
            self._content(value)
            del self._around[id(value)]

    def _content(self, value: Any) -> None:
        kind = type(value)
        if kind in (list, tuple):
            if {*map(type, value)} <= SIMPLE:  # the usual case, found out quickly
                self._say(repr(value))
            else:
                self._all(value)
        elif kind is dict:
            self._all(each for item in value.items() for each in item)
        elif kind in (set, frozenset):
            digests = sorted(map(_digest, value))
            self.hidden |= any(each.startswith(HIDDEN) for each in digests)
            self._say(*digests)
        elif isinstance(value, CLASSES):
            self._definition(value)
        elif getattr(getattr(value, "dtype", None), "hasobject", None) is False and hasattr(value, "tobytes"):
            self._say(str(value.dtype), str(value.shape))
            self.hash.update(value.tobytes())
        else:
            self._object(value)

    def _definition(self, value: Any) -> None:
        """A class or function by its name, and what a function took from where it was made."""
        self.definitions[value] = None
        self._say(getattr(value, "__module__", None) or "", getattr(value, "__qualname__", value.__name__))
        if isinstance(value, types.FunctionType):
            self._all([value.__defaults__, value.__kwdefaults__])
            for cell in value.__closure__ or ():
                try:
                    self.through(cell.cell_contents)
                except ValueError:  # not filled yet
                    self._say("empty")

    def _object(self, value: Any) -> None:
        """Any other object by what it says of itself to be copied."""
        if isinstance(value, types.MethodType | functools.partial):
            parts: Any = (value.__self__, value.__func__) if isinstance(value, types.MethodType) else value.__reduce__()
        elif hasattr(value, "__next__"):  # it is another one after each use
            parts = None
        else:
            self.definitions[type(value)] = None
            try:
                parts = value.__reduce_ex__(4)
            except Exception:  # what an object does when it is asked for its content is its own affair
                parts = None
        if parts is None:
            self.hidden = True
        elif isinstance(parts, str):
            self._say(parts)
        else:
            self._all(list(each) if hasattr(each, "__next__") else each for each in parts)

    def _all(self, values: Iterable[Any]) -> None:
        count = 0
        for count, each in enumerate(values, 1):  # noqa: B007
            self.through(each)
        self._say("end", str(count))

    def _say(self, *words: str) -> None:
        for word in words:
            self.hash.update(f"{len(word)}:{word}".encode(errors="surrogatepass"))


def files_of_instances(
    instances: Iterable[Instance], of_definition: Callable[[Any], Mapping[str, str]]
) -> dict[str, str]:
    """Return the digests of instances, marked as objects, and of the files that their classes come from."""
    given = [each for each in instances if each.data is not None]
    files: dict[str, str] = {}
    for definition in {one: None for each in given for one in definitions_in(each.data)}:
        files |= of_definition(definition)
    digests = instance_digests(given)
    return files | {f"{OBJECT}{name}": digest for name, digest in digests.items()}
