"""The runs that are requested and not yet made: in which order they are made, and how many make a chunk. Pure."""

from __future__ import annotations

import heapq
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from ampler.core.runs import Observation, Tally
from ampler.running.work import Task

AHEAD = 2  # chunks for each worker: one under way, one waiting behind it
CHUNK = 0.5  # seconds of work in a chunk: long against the way to a worker, short against patience
MOST = 500  # runs in a chunk, however short they are
LEAST = 1e-4  # seconds a run costs at least, with all that is done for it
UNKNOWN = 0.1  # seconds, before any run of any algorithm has ended
MEMORY = 0.05  # weight of the newest run against all before


class TaskQueue:
    """Requested runs; those of earlier instances come first, so that instances are finished one after the other.

    Runs of several instances share a chunk: an instance alone seldom has enough of them.
    """

    def __init__(self, instances: Sequence[str], workers: int) -> None:
        self._positions = {instance: position for position, instance in enumerate(instances)}
        self.workers = workers
        self._heap: list[tuple[int, int, Task]] = []
        self._alone: deque[Task] = deque()
        self._serial = count()
        self._runs: Counter[str] = Counter()

    def add(self, tasks: Iterable[Task]) -> None:
        """Take more runs in."""
        for task in tasks:
            if task.alone:
                self._alone.append(task)
            else:
                heapq.heappush(self._heap, (self._positions[task.key.instance], next(self._serial), task))
                self._runs[task.key.algorithm] += 1

    def is_short(self, times: RunTimes) -> bool:
        """State whether the workers could run out of work before more is decided."""
        chunks = AHEAD * self.workers
        return len(self._heap) < chunks * MOST and times.total(self._runs) < chunks * CHUNK

    def chunk(self, times: RunTimes) -> list[Task]:
        """Take out what is to be sent next: a chunk of runs, or one alone; nothing when nothing is requested."""
        if self._alone:
            return [self._alone.popleft()]
        share = min(CHUNK, times.total(self._runs) / (AHEAD * self.workers))
        expected = {algorithm: times.seconds(algorithm) for algorithm in self._runs}
        tasks: list[Task] = []
        seconds = 0.0
        while self._heap and len(tasks) < MOST:
            algorithm = self._heap[0][2].key.algorithm
            seconds += expected[algorithm]
            measured = algorithm in times.mean
            if tasks and (seconds > share or not measured):
                break
            tasks.append(heapq.heappop(self._heap)[2])
            self._runs[algorithm] -= 1
            if not measured:
                break  # nobody knows how long it takes: one is tried by itself
        return tasks


def alternating(tasks: Sequence[Task], *, seed: str) -> list[Task]:
    """Return the runs of a round in the order in which they are made: those of each algorithm spread evenly.

    A machine that gets slower while a round is made is then unkind to all algorithms alike. The order is a matter of
    chance, and of the seed alone.

    >>> from ampler.core.runs import RunKey
    >>> tasks = [Task(RunKey("i1", name, index)) for name in "ab" for index in range(3)]
    >>> [f"{task.key.algorithm}{task.key.index}" for task in alternating(tasks, seed="7")]
    ['b0', 'a0', 'b1', 'a1', 'b2', 'a2']
    """
    if len(tasks) < 2:
        return list(tasks)
    draw, runs = random.Random(seed).random, Counter(task.key.algorithm for task in tasks)
    before = dict.fromkeys(runs, 0)
    when = []
    for position, task in enumerate(tasks):
        name = task.key.algorithm
        when.append(((before[name] + draw()) / runs[name], position))
        before[name] += 1
    return [tasks[position] for _, position in sorted(when)]


def mean_seconds(recorded: Iterable[Tally]) -> dict[str, float]:
    """Return how long a recorded run of each algorithm took on average."""
    runs: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    for tally in recorded:
        runs[tally.algorithm] += tally.runs
        seconds[tally.algorithm] += tally.seconds
    return {name: seconds[name] / number for name, number in runs.items() if number}


class RunTimes:
    """The seconds a run of each algorithm takes, learnt from those made so far."""

    def __init__(self, recorded: Iterable[Tally] = ()) -> None:
        self.mean = mean_seconds(recorded)
        self._overhead = 0.0

    def note(self, observations: Sequence[Observation], seconds: float) -> None:
        """Learn from a chunk: the runs, and what was spent around them of the `seconds` it took."""
        inside, mean = 0.0, self.mean
        for observation in observations:
            spent, algorithm = observation.seconds, observation.key.algorithm
            inside += spent
            before = mean.get(algorithm)
            mean[algorithm] = spent if before is None else before + MEMORY * (spent - before)
        around = max(0.0, seconds - inside) / len(observations)
        self._overhead += 0.2 * (around - self._overhead)

    def seconds(self, algorithm: str) -> float:
        """Return how long a run is expected to take."""
        mean = self.mean.get(algorithm)
        if mean is None:
            mean = sum(self.mean.values()) / len(self.mean) if self.mean else UNKNOWN
        return max(LEAST, mean + self._overhead)

    def total(self, runs: Mapping[str, int]) -> float:
        """Return how long runs of several algorithms are expected to take."""
        return sum(count * self.seconds(algorithm) for algorithm, count in runs.items())
