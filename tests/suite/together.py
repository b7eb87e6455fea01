"""Cases that share nothing are carried out as one test where several workers carry them out.

Of a case that takes a thousandth of a second, most is what surrounds it: found by each worker, dealt out, set up,
reported. Called by hand, without workers, each case is a test of its own and can be chosen by its name.
"""

from __future__ import annotations

import inspect

import pytest
from hypothesis import is_hypothesis_test

SHARED = {"_commands_are_made_once", "_own_folder", "request"}  # what every test has


def together(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests, with one for all cases of a function that needs nothing but its parameters."""
    groups: dict[object, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and _is_alone(item):
            groups.setdefault(_function_of(item), []).append(item)
    kept: list[pytest.Item] = []
    for item in items:
        cases = groups.get(_function_of(item), [item])
        if item not in cases:
            kept.append(item)
        elif item is cases[0]:
            kept.append(item if len(cases) == 1 else _one_for(cases))
    return kept


def _function_of(item: pytest.Item) -> object:
    return item.parent, getattr(item, "originalname", item)


def _is_alone(item: pytest.Function) -> bool:
    """Whether a case has parameters and nothing else: no fixture, no mark, no law that draws its own."""
    marks = list(item.iter_markers())
    if {mark.name for mark in marks} != {"parametrize"} or is_hypothesis_test(item.obj):
        return False
    if any(mark.kwargs.get("indirect") for mark in marks):
        return False
    given = {name for mark in marks for name in _names(mark.args[0])}
    asked = set(inspect.signature(item.function).parameters)
    return set(item.callspec.params) == asked == given == set(item.fixturenames) - SHARED


def _names(given: str | list[str] | tuple[str, ...]) -> list[str]:
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)


def _one_for(cases: list[pytest.Function]) -> pytest.Function:
    def test() -> None:
        carry_out(cases)

    name = f"{cases[0].originalname}[{len(cases)} cases]"
    return pytest.Function.from_parent(cases[0].parent, name=name, callobj=test)


def carry_out(cases: list[pytest.Function]) -> None:
    """Carry out all cases, whatever becomes of each; then say which ones failed, or why some were left out."""
    problems: list[BaseException] = []
    skips: list[BaseException] = []
    for case in cases:
        try:
            case.obj(**case.callspec.params)
        except pytest.skip.Exception as skip:
            skips.append(skip)
        except (Exception, pytest.fail.Exception) as problem:
            problem.add_note(f"in the case [{case.callspec.id}]")
            problems.append(problem)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise BaseExceptionGroup(f"{len(problems)} of {len(cases)} cases", problems)
    if skips:
        raise skips[0]
