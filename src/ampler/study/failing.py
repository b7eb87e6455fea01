"""Runs that fail: what they say most often, and an algorithm none of whose runs comes to an end of its own. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from ampler.core.spoken import parameter
from ampler.core.values import Observation, Tally

ENOUGH = 10  # failed runs of an algorithm, without any other, that are no accident
PLACES = 2  # instances on which they must have failed: one instance alone may be beyond an algorithm
LAST_WORDS = "; its error output ends with "  # differs from run to run where the reason does not
OUT_OF_MEMORY = re.compile(r"it used .* of memory, more than ")  # in files that have no causes


class CommonFailure(NamedTuple):
    """Why runs failed most often: the message of the first of them, and how many of all had the same reason."""

    message: str
    times: int
    failures: int

    def __str__(self) -> str:
        often = "every time" if self.times == self.failures else f"most often ({self.times} times)"
        return f"{often}: {self.message}"


def commonest(failures: Iterable[Observation]) -> CommonFailure | None:
    """Return the commonest reason of runs that gave no value; None when there are none.

    >>> from ampler.core.values import RunKey
    >>> seen = [Observation(RunKey("i1", "a", n), None, status="failed", message=f"it broke{LAST_WORDS}'{n}'")
    ...         for n in range(3)]
    >>> commonest(seen).times
    3
    """
    messages = [seen.message for seen in failures]
    if not messages:
        return None
    reason, times = Counter(map(reason_of, messages)).most_common(1)[0]
    return CommonFailure(next(each for each in messages if reason_of(each) == reason), times, len(messages))


def reason_of(message: str) -> str:
    """Return what the message of a failed run has in common with others of the same reason."""
    return message.partition(LAST_WORDS)[0]


class Hopeless:
    """Looks out for an algorithm that fails every time for one kind of reason, as a mistake in the study does.

    Runs that a limit ended say nothing either way: a solver may reach it on hard instances and, by mistake, fail on all
    that it solves. Nor do lost ones, which are tried again.
    """

    def __init__(self, tally: Iterable[Tally] = (), failures: Iterable[Observation] = (), *, instances: int) -> None:
        self._cleared = {each.algorithm for each in tally if each.ok}
        self._places = min(PLACES, instances)
        self._failed: defaultdict[str, list[Observation]] = defaultdict(list)
        self._limited: Counter[str] = Counter()
        self.note(failures)

    def note(self, observations: Iterable[Observation]) -> None:
        """Take more runs in."""
        for seen in observations:
            name = seen.key.algorithm
            if name in self._cleared or seen.status == "lost":
                continue
            if _reached_a_limit(seen):
                self._limited[name] += 1
            elif seen.status == "ok" or _other_kind(self._failed[name], seen):
                self._cleared.add(name)
                self._failed.pop(name, None)
            else:
                self._failed[name].append(seen)

    def found(self) -> str | None:
        """Return why an algorithm is hopeless by the runs known so far, if one is."""
        return next(filter(None, map(self._verdict, self._failed)), None)

    def _verdict(self, name: str) -> str | None:
        failed = self._failed[name]
        if len(failed) < ENOUGH or len({seen.key.instance for seen in failed}) < self._places:
            return None
        besides = f", besides {self._limited[name]} that reached a limit" if self._limited[name] else ""
        return (
            f"all {len(failed)} runs of {name!r} so far failed{besides}: {failed[0].message}; mend it and begin a new"
            " study file, or, if nothing in the study was wrong, try them again"
            f" ({parameter('retry_failed', True)}); {parameter('despite_failures', True)} goes on"
        )


def _reached_a_limit(seen: Observation) -> bool:
    return seen.status == "timeout" or _kind(seen) == "memory"


def _other_kind(failed: list[Observation], seen: Observation) -> bool:
    return bool(failed) and _kind(failed[0]) != _kind(seen)


def _kind(seen: Observation) -> str:
    """The kind of cause: of exit codes any, of signals and exceptions which one."""
    if not seen.cause:
        return _kind_of_old(seen.message)
    return "exit" if seen.cause.startswith("exit:") else seen.cause


def _kind_of_old(message: str) -> str:
    """What stands for the cause in files of versions 0.1 and 0.2: the first clause, whatever its numbers are."""
    if OUT_OF_MEMORY.match(message):
        return "memory"
    return re.sub(r"'[^']*'|\d+", "…", re.split(r"[;:]", reason_of(message))[0])
