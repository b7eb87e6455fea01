"""Single runs and the progress of a study, as the results file keeps them. Plain values, without numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ampler.core.serialization import digest
from ampler.core.settings import Status


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """Key of a run: algorithm, instance and index (from 0)."""

    instance: str
    algorithm: str
    index: int


@dataclass(frozen=True, slots=True)
class Observation:
    """Result of one run. `value` is None if the run failed; `message` then says why.

    A value is a finite number, and there is one exactly when the status is "ok"; measures are finite too. `seconds` are
    by the clock, `cpu` those of processor time, and `started` is when the run began, in seconds since 1970; None where
    they were not measured. `cause` is why there is no value, as a program reads it: a kind ("memory", "timeout",
    "exit", "exception", …) and, after a colon, which one; empty in results files of versions 0.1 and 0.2. None where
    they are not known: `exit_code`, the `answer` that the program gave, and its peak `memory` in bytes."""

    key: RunKey
    value: float | None
    seconds: float = 0.0
    status: Status = "ok"
    message: str = ""
    seed: int = 0
    attempt: int = 0
    round: int = 0
    measures: Mapping[str, float] | None = None
    cpu: float | None = None
    started: float | None = None
    cause: str = ""
    exit_code: int | None = None
    answer: str | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """Finished instance: the reason, the number of rounds, and the requested runs of each algorithm.

    Recorded runs with an index at or beyond `counts` are unused. `decisions` is the digest of the plan that stopped;
    `error` the largest standard error of interest at the stop, None when it is not known.
    """

    instance: str
    decisions: str
    reason: str  # as of a Stop
    counts: Mapping[str, int]
    rounds: int
    error: float | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Recorded runs of an algorithm on an instance: their number, those with a value, and their seconds."""

    instance: str
    algorithm: str
    runs: int
    ok: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a study.

    `runs` are on record, `new` of them since this session began, and `planned` are expected at the end; `failures` is
    the number of runs without a value. `error` is the largest standard error of interest on the instances under way, to
    be compared with `target`, and `left` the seconds still to go. What is not known is None. `written` is the date at
    which the results file got this, empty when it did not."""

    instances: int
    finished: int
    runs: int = 0
    new: int = 0
    failures: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    error: float | None = None
    target: float | None = None
    left: float | None = None
    planned: int | None = None
    written: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """Code version of an algorithm: the SHA-256 of each of its files, by name.

    Runs of code that does not count are superseded. `files` are empty where they could not be known, and None for runs
    from before code was recorded.
    """

    algorithm: str
    files: Mapping[str, str] | None
    counts: bool = True

    @property
    def digest(self) -> str:
        """Identifier of the code version; empty for runs made before code was recorded."""
        return "" if self.files is None else digest(dict(self.files))


@dataclass(frozen=True, slots=True)
class Session:
    """Session of a study: its start and its environment."""

    started: str
    environment: Mapping[str, str]
