"""Failed runs: their most frequent message, and algorithms whose runs always fail. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from ampler.core.failures import kind_of
from ampler.core.runs import Observation, Tally
from ampler.core.text import parameter

ENOUGH = 10  # number of failed runs without a success that is no accident
PLACES = 2  # instances with failures: a single one may be too hard
LAST_WORDS = "; its error output ends with "  # parts of messages that differ between runs
OUT_OF_MEMORY = re.compile(r"it used .* of memory, more than ")  # for results files without causes


class CommonFailure(NamedTuple):
    """Most frequent reason of failed runs: an example message, and the number of runs with it."""

    message: str
    times: int
    failures: int

    def __str__(self) -> str:
        often = "every time" if self.times == self.failures else f"most often ({self.times} times)"
        return f"{often}: {self.message}"


def commonest(failures: Iterable[Observation]) -> CommonFailure | None:
    """Return the most frequent reason of failed runs; None if there are none.

    >>> from ampler.core.runs import RunKey
    >>> seen = [Observation(RunKey("i1", "a", n), None, status="failed", message=f"it broke{LAST_WORDS}'{n}'")
    ...         for n in range(3)]
    >>> commonest(seen).times
    3
    """
    reasons = [(reason_of(run), run.message) for run in failures]
    if not reasons:
        return None
    reason, times = Counter(reason for reason, _ in reasons).most_common(1)[0]
    return CommonFailure(next(message for of, message in reasons if of == reason), times, len(reasons))


def reason_of(run: Observation) -> str:
    """Return the key of a failure, equal for failures with the same reason."""
    is_cause_enough = run.cause and kind_of(run.status, run.cause) in ("timeout", "memout", "crash")
    return run.cause if is_cause_enough else run.message.partition(LAST_WORDS)[0]


class AlwaysFailing:
    """Detects an algorithm that always fails for one reason, which indicates a mistake in the study.

    Runs that a limit ended say nothing either way: a solver may reach it on hard instances and, by mistake, fail on all
    that it solves. Nor do lost ones, which are tried again.
    """

    def __init__(self, tally: Iterable[Tally] = (), failures: Iterable[Observation] = (), *, instances: int) -> None:
        self._cleared = {cell.algorithm for cell in tally if cell.ok}
        self._places = min(PLACES, instances)
        self._failed: defaultdict[str, list[Observation]] = defaultdict(list)
        self._limited: Counter[str] = Counter()
        self.note(failures)

    def note(self, observations: Iterable[Observation]) -> None:
        """Take more runs in."""
        for run in observations:
            name = run.key.algorithm
            if name in self._cleared or run.status == "lost":
                continue
            if run.status == "timeout" or _kind(run) in ("memory", "wrong"):
                self._limited[name] += 1
            elif run.status == "ok" or any(_kind(run) != _kind(failed) for failed in self._failed[name][:1]):
                self._cleared.add(name)
                self._failed.pop(name, None)
            else:
                self._failed[name].append(run)

    def found(self) -> str | None:
        """Return the reason why an algorithm always fails so far, if one does."""
        return next(filter(None, map(self._verdict, self._failed)), None)

    def _verdict(self, name: str) -> str | None:
        failed = self._failed[name]
        if len(failed) < ENOUGH or len({run.key.instance for run in failed}) < self._places:
            return None
        besides = f" ({self._limited[name]} more reached a limit)" if self._limited[name] else ""
        return (
            f"all {len(failed)} runs of {name!r} so far failed{besides}: {failed[0].message}; fix it and start a new"
            " results file; if the study was right, repeat them"
            f" ({parameter('retry_failed', True)}), or continue with {parameter('despite_failures', True)}"
        )


def _kind(run: Observation) -> str:
    """The kind of a cause: all exit codes are one kind, each signal and exception is its own."""
    if run.cause:
        return "exit" if run.cause.startswith("exit:") else run.cause
    # files of versions 0.1 and 0.2 have no causes: use the first clause, without numbers
    if OUT_OF_MEMORY.match(run.message):
        return "memory"
    return re.sub(r"'[^']*'|\d+", "…", re.split(r"[;:]", run.message.partition(LAST_WORDS)[0])[0])
