"""Every public parameter has a text: numpydoc sections of whatever the root and the packages' front pages offer."""

from __future__ import annotations

import inspect
import re

import pytest

import ampler

RESULTS = {"Analysis", "Results"}  # made by functions; their fields are explained where they are declared
CALLABLES = {
    **{name: getattr(ampler, name) for name in ampler.__all__ if callable(getattr(ampler, name))},
    "Study.run": ampler.Study.run,
    "Study.check": ampler.Study.check,
}


def parameters(call) -> list[str]:
    return [name for name in inspect.signature(call).parameters if name not in ("self", "args")]


def section(call, title: str) -> str:
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", inspect.getdoc(call) or "", re.M | re.S)
    return "" if match is None else match[1]


@pytest.mark.parametrize("name", [name for name in CALLABLES if name not in RESULTS])
def test_every_parameter_has_a_type_and_a_text(name):
    call = CALLABLES[name]
    if isinstance(call, type) and issubclass(call, Exception):
        return
    entries = re.findall(r"^(\w[\w, ]*?) ?: (.+)\n((?:    .+\n?)+)", section(call, "Parameters") + "\n", re.M)
    documented = {each for names, _, _ in entries for each in re.split(", ?", names)}

    assert [each for each in parameters(call) if each not in documented] == []


@pytest.mark.parametrize("name", [name for name, call in CALLABLES.items() if inspect.isfunction(call)])
def test_every_function_says_what_it_returns(name):
    assert section(CALLABLES[name], "Returns")
