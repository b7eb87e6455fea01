"""What a rule says, heard with care: a decision that can be followed, or one sentence. Rules are a stranger's code."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from ampler.core.errors import AmplerError, InvalidRule
from ampler.core.values import Decision, Sample, Stop
from ampler.running.one_run.returned import described, raised

MOST = 1_000_000  # runs that a rule may ask for at once
T = TypeVar("T")


def heard(ask: Callable[[], T]) -> T:
    """Return what a rule answers; InvalidRule when it raises what is none of ours."""
    try:
        return ask()
    except AmplerError:
        raise
    except Exception as problem:
        raise InvalidRule(f"a rule must return a decision, and {raised(problem)}; mend it and run again") from problem


def followed(decision: Any, asked: Mapping[str, int]) -> Decision:
    """Return a decision as it is followed; InvalidRule when it cannot be, for algorithms of which so many were asked.

    >>> followed(Sample({"a": 2, "b": 0}), {"a": 3, "b": 3})
    Sample(counts={'a': 2})
    """
    if isinstance(decision, Stop):
        return decision if isinstance(decision.reason, str) else _refuse(decision, asked)
    counts = heard(lambda: dict(decision.counts)) if isinstance(decision, Sample) else {}
    wanted = {name: _whole(count) for name, count in counts.items()}
    if not counts.keys() <= asked.keys() or not _sum_of_runs(wanted.values()):
        _refuse(decision, asked)
    return Sample({name: count for name, count in wanted.items() if count})


def _refuse(decision: Any, asked: Mapping[str, int]) -> NoReturn:
    raise InvalidRule(
        f"a rule must ask for runs of {', '.join(asked)}, or stop, got {_shown(decision)};"
        f" counts are whole numbers from 0 on, {MOST} runs at once at most, and the reason of a Stop is a text"
    )


def _whole(count: Any) -> int | None:
    try:
        return None if isinstance(count, bool) else operator.index(count)
    except TypeError:
        return None


def _sum_of_runs(counts: Any) -> bool:
    """Whether these are numbers of runs that can be made: none negative, together at least one and not beyond all."""
    return all(count is not None and count >= 0 for count in counts) and 1 <= sum(counts) <= MOST


def _shown(decision: Any) -> str:
    return "None" if decision is None else described(decision).partition(" ")[2] or type(decision).__name__
