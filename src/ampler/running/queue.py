"""The runs that are wanted and not yet made, in the order in which they are made. Pure."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import count

from ampler.running.pace import CHUNK, MOST, Pace
from ampler.running.work import Task

AHEAD = 2  # chunks for each worker: one under way, one waiting behind it


class Agenda:
    """Wanted runs; those of earlier instances come first, so that instances are finished one after the other.

    Runs of several instances share a chunk: an instance alone seldom has enough of them.
    """

    def __init__(self, instances: Sequence[str], workers: int) -> None:
        self._places = {instance: place for place, instance in enumerate(instances)}
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
                heapq.heappush(self._heap, (self._places[task.key.instance], next(self._serial), task))
                self._runs[task.key.algorithm] += 1

    def is_short(self, pace: Pace) -> bool:
        """Say whether the workers could run out of work before more is decided."""
        wanted = AHEAD * self.workers
        return len(self._heap) < wanted * MOST and pace.total(self._runs) < wanted * CHUNK

    def chunk(self, pace: Pace) -> list[Task]:
        """Take out what is to be sent next: a chunk of runs, or one alone; nothing when nothing is wanted."""
        if self._alone:
            return [self._alone.popleft()]
        share = min(CHUNK, pace.total(self._runs) / (AHEAD * self.workers))
        tasks: list[Task] = []
        seconds = 0.0
        while self._heap and len(tasks) < MOST:
            algorithm = self._heap[0][2].key.algorithm
            seconds += pace.seconds(algorithm)
            known = pace.knows(algorithm)
            if tasks and (seconds > share or not known):
                break
            tasks.append(heapq.heappop(self._heap)[2])
            self._runs[algorithm] -= 1
            if not known:
                break  # nobody knows how long it takes: one is tried by itself
        return tasks
