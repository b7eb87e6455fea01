"""The values that cross layers, and nothing else. They know no files and no threads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Difference = Literal["simple", "percent", "log-ratio"]
Alternative = Literal["two-sided", "less", "greater"]
Test = Literal["t", "wilcoxon", "sign"]
Status = Literal["ok", "failed", "timeout", "lost"]


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """The name of a run: which algorithm, on which instance, and the how-manieth (from 0)."""

    instance: str
    algorithm: str
    index: int


@dataclass(frozen=True, slots=True)
class Observation:
    """What one run gave. `value` is None when the run gave none; `message` then says why."""

    key: RunKey
    value: float | None
    seconds: float = 0.0
    status: Status = "ok"
    message: str = ""
    seed: int = 0
    attempt: int = 0
    round: int = 0
    measures: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """A rule's wish: run each of these algorithms so many more times."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """The number of runs asked for."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule's verdict that the instance is done, and why."""

    reason: StopReason


StopReason = Literal["accuracy reached", "budget spent", "all constant", "runs done"]
Decision = Sample | Stop
