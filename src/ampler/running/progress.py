"""Where a study stands while it runs, as values; showing them is somebody else's business."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping

from ampler.core.contracts import error_wanted_by
from ampler.core.values import Finished, Observation, Plan, Progress, RunKey, Tally
from ampler.running.instance import InstanceRun
from ampler.running.queue import RunTimes

WINDOW = 20.0  # seconds over which the rate is measured
WARM = 5.0  # seconds after which it is worth something

Coming = tuple[tuple[Counter[str], float], ...]  # runs by algorithm, and how many times over they are expected


class ProgressMeter:
    """Counts what is recorded and finished, and tells how far the study is."""

    def __init__(
        self, plan: Plan, tally: Iterable[Tally], failed: Iterable[RunKey], superseded: Iterable[RunKey] = ()
    ) -> None:
        self._instances = len(plan.instances)
        self._target = error_wanted_by(plan.rule)
        self._runs = sum(each.runs for each in tally)
        self._failed = set(failed)
        self._superseded = set(superseded)  # runs that are there and do not count
        self._new = 0
        self._counts: dict[str, Mapping[str, int]] = {}  # runs of each algorithm on each finished instance
        self._spent: Counter[str] = Counter()  # … and on all of them together
        self._expected: dict[str, tuple[int, Counter[str], float | None]] = {}
        self._rate = RunRate()
        self._began = time.monotonic()

    def add(self, durable: Iterable[Observation]) -> None:
        """Count runs that are recorded."""
        for observation in durable:
            self._new += 1
            if not (observation.attempt or self._superseded or self._failed) and observation.status == "ok":
                self._runs += 1  # the usual case, found out quickly
                continue
            self._runs += observation.attempt == 0 or observation.key in self._superseded
            self._superseded.discard(observation.key)
            if observation.status == "ok":
                self._failed.discard(observation.key)
            else:
                self._failed.add(observation.key)

    def finish(self, done: Finished) -> None:
        """Count an instance that is finished."""
        self.reopen([done.instance])
        self._counts[done.instance] = done.counts
        self._spent.update(done.counts)
        self._expected.pop(done.instance, None)

    def reopen(self, instances: Iterable[str]) -> None:
        """Count instances no longer as finished: more is asked for on them."""
        for name in instances:
            self._spent.subtract(self._counts.pop(name, {}))

    def wanted(self, instances: Collection[str]) -> None:
        """Note which instances were asked for so far."""
        self._instances = len(instances)

    def reading(self, under_way: Collection[InstanceRun], waiting: int, times: RunTimes, workers: int) -> Progress:
        """Return where the study stands; what the rule says of an instance is asked once for each of its rounds."""
        seconds = time.monotonic() - self._began
        looks = [self._look(instance) for instance in under_way]
        errors = [error for _, _, error in looks if error is not None]
        coming = self._coming([expected for _, expected, _ in looks], under_way, waiting)
        return Progress(
            instances=self._instances,
            finished=len(self._counts),
            runs=self._runs,
            new=self._new,
            failures=len(self._failed),
            seconds=seconds,
            rate=self._rate.at(seconds, self._new),
            error=max(errors, default=None),
            target=self._target,
            left=None if coming is None else self._left(coming, times, workers),
            planned=None if coming is None else self._runs + round(sum(runs.total() * often for runs, often in coming)),
        )

    def _look(self, instance: InstanceRun) -> tuple[int, Counter[str], float | None]:
        look = self._expected.get(instance.name)
        if look is None or look[0] != instance.rounds:
            look = self._expected[instance.name] = (instance.rounds, Counter(instance.expected()), instance.error())
        return look

    def _coming(self, expected: list[Counter[str]], under_way: Collection[InstanceRun], waiting: int) -> Coming | None:
        """The runs to come: the rest of the instances under way, and so many times over what an instance takes.

        The latter is for those that wait; None when none has been seen yet.
        """
        seen = len(self._counts) + len(under_way)
        if waiting and not seen:
            return None
        rest: Counter[str] = sum(expected, Counter())
        whole = self._spent + rest + sum((Counter(instance.asked) for instance in under_way), Counter())
        return (rest, 1.0), (whole, waiting / seen if waiting else 0.0)

    def _left(self, coming: Coming, times: RunTimes, workers: int) -> float:
        """The seconds to go. Runs so short that the driver is the slower part are told by their rate of arrival."""
        by_pace = sum(times.total(runs) * often for runs, often in coming) / workers
        by_rate = sum(runs.total() * often for runs, often in coming) / self._rate.last if self._rate.last else 0.0
        return max(by_pace, by_rate)


class RunRate:
    """Runs per second over the last seconds; `last` is 0 until it means something."""

    def __init__(self) -> None:
        self.last = 0.0
        self._marks: deque[tuple[float, int]] = deque([(0.0, 0)])

    def at(self, seconds: float, runs: int) -> float:
        """Note how many runs there are after so many seconds; return the rate."""
        self._marks.append((seconds, runs))
        while len(self._marks) > 2 and self._marks[0][0] < seconds - WINDOW:
            self._marks.popleft()
        begun, before = self._marks[0]
        rate = (runs - before) / (seconds - begun) if seconds > begun else 0.0
        self.last = rate if seconds > WARM else 0.0
        return rate


def share_done(progress: Progress) -> float:
    """Return the part of the work that is done, by time where the rest can be told, else by instances."""
    if progress.left is not None and progress.new and progress.runs == progress.new:
        return progress.seconds / (progress.seconds + progress.left) if progress.seconds + progress.left else 1.0
    return progress.finished / progress.instances if progress.instances else 1.0
