"""Functions of the program that was started, or of a notebook: the definitions they use, each with its hash.

The file of a script says too much, as the study itself stands there and may grow; a notebook has no file. So what
counts is the text of the function, of the functions and classes it names, and the constants it uses.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

Constant = str | bytes | int | float | complex | bool | None
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def definitions(call: Callable[..., Any]) -> dict[str, str]:
    """Return what a callable hangs on by the names of its definitions; nothing when its text is not known.

    >>> definitions(len)
    {}
    """
    texts: dict[str, str] = {}
    waiting = [call if isinstance(call, FunctionType | type) else type(call)]
    while waiting:
        subject = waiting.pop()
        name, text = _label(subject), _text(subject)
        if text is None or name in texts:
            continue
        uses = dict(_uses(subject))
        texts[name] = "\n".join([text, *(f"{key} = {value!r}" for key, value in uses.items() if _is_constant(value))])
        waiting += [each for each in uses.values() if isinstance(each, FunctionType | type) and _is_ours(each)]
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def _label(subject: Any) -> str:
    return f"{subject.__qualname__} in {subject.__module__}"


def _is_ours(subject: Any) -> bool:
    return bool(subject.__module__ == "__main__")


def _text(subject: Any) -> str | None:
    """The text that defines a function or a class, without what stands around it."""
    try:
        if isinstance(subject, FunctionType):
            return _in_its_file(subject.__code__)
        return inspect.getsource(subject)
    except (OSError, TypeError, SyntaxError):
        return None


def _in_its_file(code: CodeType) -> str | None:
    """The text of the definitions that begin on the line of the code; several lambdas on a line count together."""
    source = "".join(linecache.getlines(code.co_filename))
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINITIONS)]
    segments = [ast.get_source_segment(source, node) for node in nodes if _first_line(node) == code.co_firstlineno]
    return "\n".join(filter(None, segments)) or None


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _uses(subject: Any) -> Iterator[tuple[str, Any]]:
    """What a function, or the methods of a class, name of the program around them."""
    for function in _functions(subject):
        around: Mapping[str, Any] = function.__globals__
        yield from ((name, around[name]) for name in sorted(_names(function.__code__)) if name in around)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                yield name, cell.cell_contents
            except ValueError:  # not filled yet
                continue


def _functions(subject: Any) -> list[FunctionType]:
    if isinstance(subject, FunctionType):
        return [subject]
    members = (getattr(each, "__func__", each) for each in vars(subject).values())
    return [each for each in members if isinstance(each, FunctionType)]


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_constant, value))
    return isinstance(value, Constant)
