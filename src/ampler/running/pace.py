"""How long runs take, and how many of them make a chunk worth sending. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ampler.core.values import Observation, Tally

CHUNK = 0.5  # seconds of work in a chunk: long against the way to a worker, short against patience
MOST = 500  # runs in a chunk, however short they are
LEAST = 1e-4  # seconds a run costs at least, with all that is done for it
UNKNOWN = 0.1  # seconds, before any run of any algorithm has ended
MEMORY = 0.05  # weight of the newest run against all before


class Pace:
    """The seconds a run of each algorithm takes, learnt from those made so far."""

    def __init__(self, recorded: Iterable[Tally] = ()) -> None:
        runs: defaultdict[str, int] = defaultdict(int)
        seconds: defaultdict[str, float] = defaultdict(float)
        for each in recorded:
            runs[each.algorithm] += each.runs
            seconds[each.algorithm] += each.seconds
        self._seconds: dict[str, float] = {name: seconds[name] / runs[name] for name in runs if runs[name]}
        self._overhead = 0.0

    def note(self, observations: Sequence[Observation], seconds: float) -> None:
        """Learn from a chunk: the runs, and what was spent around them of the `seconds` it took."""
        inside = 0.0
        for observation in observations:
            inside += observation.seconds
            self._learn(observation.key.algorithm, observation.seconds)
        around = max(0.0, seconds - inside) / len(observations)
        self._overhead += 0.2 * (around - self._overhead)

    def knows(self, algorithm: str) -> bool:
        """Say whether a run of the algorithm has ended."""
        return algorithm in self._seconds

    def seconds(self, algorithm: str) -> float:
        """Return how long a run is expected to take."""
        known = self._seconds.get(algorithm)
        if known is None:
            known = sum(self._seconds.values()) / len(self._seconds) if self._seconds else UNKNOWN
        return max(LEAST, known + self._overhead)

    def total(self, runs: Mapping[str, int]) -> float:
        """Return how long runs of several algorithms are expected to take."""
        return sum(count * self.seconds(algorithm) for algorithm, count in runs.items())

    def _learn(self, algorithm: str, seconds: float) -> None:
        before = self._seconds.get(algorithm)
        self._seconds[algorithm] = seconds if before is None else before + MEMORY * (seconds - before)
