"""What an experiment costs: runs, CPU time, and time until it is done. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ampler.core.checks import integer, positive
from ampler.core.errors import InvalidInput
from ampler.core.wording import duration

MOST = 10**12  # runs, workers, seconds: nobody has more


@dataclass(frozen=True, slots=True)
class Cost:
    """So many runs of each algorithm on each instance, each of so many seconds, by so many workers at once.

    >>> print(Cost(instances=57, algorithms=22, runs=30, seconds=60))
    57 instances × 22 algorithms × 30 runs = 627 hours of CPU
    """

    instances: int
    algorithms: int
    runs: int
    seconds: float | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        for name in ("instances", "algorithms", "runs", "workers"):
            if getattr(self, name) is not None:
                integer(name, getattr(self, name), 1, MOST, error=InvalidInput)
        if self.seconds is not None:
            positive("seconds", self.seconds, "it is the time of one run", most=MOST, error=InvalidInput)

    @property
    def total_runs(self) -> int:
        """All runs together."""
        return self.instances * self.algorithms * self.runs

    @property
    def cpu_seconds(self) -> float | None:
        """The time of all runs together, when the time of one is known."""
        return None if self.seconds is None else self.total_runs * self.seconds

    @property
    def wall_seconds(self) -> float | None:
        """The time until the last run ends, when the workers are always busy."""
        if self.seconds is None or self.workers is None:
            return None
        return ceil(self.total_runs / self.workers) * self.seconds

    def as_dict(self) -> dict[str, int | float | None]:
        """Return the fields and the sums as JSON has them."""
        names = ("instances", "algorithms", "runs", "seconds", "workers", "total_runs", "cpu_seconds", "wall_seconds")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        product = f"{self.instances:,} instances × {self.algorithms:,} algorithms × {self.runs:,} runs"
        if self.cpu_seconds is None:
            return f"{product} = {self.total_runs:,} runs"
        wall = "" if self.wall_seconds is None else f", {duration(self.wall_seconds)} on {self.workers:,} workers"
        return f"{product} = {duration(self.cpu_seconds)} of CPU{wall}"
