"""One instance on its way: rounds of decisions, the runs they ask for, and the end; the queue of these runs. Pure.

Resuming is replaying: decisions are taken again from the first round on, recorded runs are used wherever a decision
asks for them, and only what is missing becomes a task. Values are added in the order of the round, never in the order
in which runs happened to end, so the decisions are the same with any number of workers.
"""

from __future__ import annotations

import heapq
import operator
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from ampler.core.arrays import Samples
from ampler.core.contracts import current_error, predicted_runs
from ampler.core.errors import AmplerError, InvalidInput, InvalidRule, InvalidSamples, RunFailed
from ampler.core.failures import StopStudy, value_of
from ampler.core.plan import Continue, Decision, Plan, Sample, Stop
from ampler.core.runs import Finished, Observation, RunKey, Tally
from ampler.core.settings import RATE, Status
from ampler.running.one_run.execution import TRIES
from ampler.running.one_run.readings import described, raised
from ampler.running.work import Task
from ampler.stats.summaries import NUMBERS, neither_yes_nor_no
from ampler.study.run_inputs import planned_seed
from ampler.study.stopping import instance_rule

Attempt = tuple[RunKey, int]
RunId = tuple[str, int]  # a run of one instance: algorithm and index, a faster dictionary key than RunKey
T = TypeVar("T")

MAX_REQUEST = 1_000_000  # runs that a rule may ask for at once


class InstanceRun:
    """State of an instance: `begin` and `take` return the runs to make, `done` is set at the end.

    `recorded` are all attempts at runs of the instance. With `again`, runs that failed in earlier sessions are tried
    again, all but those that `failed_now`, in this one; under the policy to stop they always are. Attempts that are
    `superseded` count for nothing. `request` is the decision over instances that names this one; without it all
    algorithms are run, as the plan's rule says.
    """

    def __init__(
        self,
        plan: Plan,
        instance: str,
        decisions: str,
        recorded: Iterable[Observation] = (),
        *,
        request: Continue | None = None,
        again: bool = False,
        failed_now: Container[RunKey] = (),
        superseded: Collection[Attempt] = (),
    ) -> None:
        algorithms = [item for item in plan.algorithms if request is None or item.name in request.algorithms]
        names = [algorithm.name for algorithm in algorithms]
        deterministic = [algorithm.name for algorithm in algorithms if algorithm.deterministic]
        self.name = instance
        self.samples = Samples(names, deterministic=deterministic)
        self._rule = plan.rule if request is None else instance_rule(plan, request)
        self.done: Finished | None = None
        self._plan, self._decisions = plan, decisions
        stops = isinstance(plan.policy, StopStudy)
        self._earlier = _results_of(recorded, plan, superseded, lambda key: stops or (again and key not in failed_now))
        self.requested = dict.fromkeys(names, 0)
        self._round: dict[RunId, Result] = {}
        self.rounds = 0
        self._open = 0

    def begin(self) -> list[Task]:
        """Take decisions until runs are missing, and return those."""
        while not self._open and self.done is None:
            decision = self._decision()
            if isinstance(decision, Stop):
                counts, error = dict(self.requested), self.error()
                self.done = Finished(self.name, self._decisions, decision.reason, counts, self.rounds, error)
                break
            for algorithm, number in decision.counts.items():
                first = self.requested[algorithm]
                self.requested[algorithm] += number
                for index in range(first, first + number):
                    self._round[algorithm, index] = self._earlier.pop((algorithm, index), _FRESH)
            self._open = sum([isinstance(result, Trial) for result in self._round.values()])
            self.rounds += 1
        return [self._task(run, trial) for run, trial in self._round.items() if isinstance(trial, Trial)]

    def take(self, observation: Observation) -> list[Task]:
        """Add the result of a run; return the runs to make now: a repetition, the next round, or none.

        RunFailed when it failed for good and the policy is to stop.
        """
        run = (observation.key.algorithm, observation.key.index)
        trial = self._round[run]
        assert isinstance(trial, Trial), f"{observation.key} was not requested"
        result = self._round[run] = trial.result(observation, self._plan)
        if isinstance(result, Trial):
            return [self._task(run, result)]
        if result is None and isinstance(self._plan.policy, StopStudy):
            key = observation.key
            raise RunFailed(
                f"run {key.index} of {key.algorithm!r} on {key.instance!r} (seed {observation.seed}) failed: "
                f"{observation.message}; fix it and run again, or choose the treatment of failed runs (on-failure)"
            )
        self._open -= 1
        return [] if self._open else self.begin()

    def lost(self, task: Task, how: str) -> Observation:
        """Return the record of a run whose worker died: lost, or failed after its last try."""
        key = task.key
        trial = self._round[key.algorithm, key.index]
        assert isinstance(trial, Trial)
        last, seed = trial.losses + 1 >= TRIES, planned_seed(self._plan, key)
        status: Status = "failed" if last else "lost"
        message = f"the worker was lost while making this run{f' {TRIES} times' if last else ''}: {how}"
        return Observation(key, None, 0.0, status, message, seed, task.attempt, task.round, cause="worker")

    def expected(self) -> Mapping[str, int]:
        """Return the expected number of remaining runs of each algorithm."""
        waiting = Counter(algorithm for (algorithm, _), trial in self._round.items() if isinstance(trial, Trial))
        predicted = call_rule(lambda: predicted_runs(self._rule, self.samples))
        return waiting if predicted is None else {name: max(runs, waiting[name]) for name, runs in predicted.items()}

    def error(self) -> float | None:
        """Return the largest conservative standard error of interest; None if unknown."""
        return call_rule(lambda: current_error(self._rule, self.samples))

    def _decision(self) -> Decision:
        """Add the results of a complete round, in the order of its request, and call the rule again."""
        try:
            by_algorithm: dict[str, list[float | None]] = {}
            for (algorithm, _), result in self._round.items():
                assert not isinstance(result, Trial)
                by_algorithm.setdefault(algorithm, []).append(result)
            for algorithm, results in by_algorithm.items():
                first = int(self.samples.spent[self.samples.position(algorithm)])
                for index, value in enumerate(results, start=first):
                    if value is None:
                        self.samples.drop(algorithm, index)
                values = [value for value in results if value is not None]
                if self._plan.question.statistic == RATE and (strange := set(values) - {0.0, 1.0}):
                    raise InvalidSamples(f"{neither_yes_nor_no(min(strange))} from algorithm {algorithm!r}; {NUMBERS}")
                self.samples.extend(algorithm, map(self._plan.question.adjusted, values))
            self._round = {}
            return validated_decision(call_rule(lambda: self._rule(self.samples)), self.requested)
        except InvalidInput as problem:
            raise type(problem)(f"on instance {self.name!r}: {problem.message}") from problem

    def _task(self, run: RunId, trial: Trial) -> Task:
        return Task(RunKey(self.name, *run), trial.attempt, self.rounds - 1, alone=trial.losses > 0)


@dataclass(frozen=True, slots=True)
class Trial:
    """State of an unfinished run: its next attempt, and its consecutive failures and losses."""

    attempt: int = 0
    failures: int = 0
    losses: int = 0

    def result(self, observation: Observation, plan: Plan) -> Result:
        """Return what an attempt means: the run counts, or it is tried again."""
        if observation.status == "ok":
            return observation.value
        if observation.status == "lost":
            return Trial(observation.attempt + 1, self.failures, self.losses + 1)
        if self.failures < plan.retries:
            return Trial(observation.attempt + 1, self.failures + 1)
        return value_of(observation, plan.policy)


_FRESH = Trial()
Result = Trial | float | None  # of a run: where it stands, or its final value, which may be none


def _results_of(
    recorded: Iterable[Observation], plan: Plan, superseded: Collection[Attempt], again: Callable[[RunKey], bool]
) -> dict[RunId, Result]:
    """The results of runs from earlier sessions, each from its attempts in their order.

    What is tried next is a further attempt even where none of those before counts.
    """
    results: dict[RunId, Result] = {}
    for observation in recorded:
        run = (observation.key.algorithm, observation.key.index)
        before = results.get(run, _FRESH)
        trial = before if isinstance(before, Trial) else _FRESH
        if superseded and (observation.key, observation.attempt) in superseded:
            results[run] = Trial(observation.attempt + 1) if trial is before else before
        elif observation.status != "ok" and again(observation.key):
            results[run] = Trial(observation.attempt + 1)
        else:
            results[run] = trial.result(observation, plan)
    return results


# Rules are user code: validate their decisions


def call_rule(rule: Callable[[], T]) -> T:
    """Return the decision of a rule; InvalidRule if it raises an error of its own."""
    try:
        return rule()
    except AmplerError:
        raise
    except (Exception, SystemExit) as problem:
        raise InvalidRule(f"a rule must return a decision, but {raised(problem)}; fix it and run again") from problem


def validated_decision(decision: Any, requested: Mapping[str, int]) -> Decision:
    """Return a validated decision; InvalidRule if it does not fit the algorithms and their runs.

    >>> validated_decision(Sample({"a": 2, "b": 0}), {"a": 3, "b": 3})
    Sample(counts={'a': 2})
    """
    if isinstance(decision, Stop) and isinstance(decision.reason, str):
        return decision
    if isinstance(decision, Sample):
        counts = {name: _as_count(count) for name, count in call_rule(lambda: dict(decision.counts)).items()}
        are_counts = counts.keys() <= requested.keys() and min(counts.values(), default=-1) >= 0
        if are_counts and 1 <= sum(counts.values()) <= MAX_REQUEST:
            return Sample({name: count for name, count in counts.items() if count})
    got = "None" if decision is None else described(decision).partition(" ")[2] or type(decision).__name__
    raise InvalidRule(
        f"a rule must request runs of {', '.join(requested)}, or stop, got {got};"
        f" counts are whole numbers from 0 to {MAX_REQUEST}, and the reason of a Stop is a text"
    )


def _as_count(count: Any) -> int:
    """A whole number of any library; −1 for what is none."""
    try:
        return -1 if isinstance(count, bool) else operator.index(count)
    except TypeError:
        return -1


# The runs that are requested and not yet made: in which order they are made, and how many make a chunk

AHEAD = 2  # chunks for each worker: one under way, one waiting behind it
CHUNK = 0.5  # seconds of work in a chunk: long compared with the transfer, short for users
MOST = 500  # runs in a chunk, however short they are
LEAST = 1e-4  # minimum seconds of a run, overhead included
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
        """Add runs."""
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
        """Remove and return the next chunk of runs; empty if nothing is requested."""
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
                break  # unknown duration: send a single run
        return tasks


def alternating(tasks: Sequence[Task], *, seed: str) -> list[Task]:
    """Return the runs of a round in the order in which they are made: those of each algorithm spread evenly.

    A machine that slows down during a round then affects all algorithms alike. The order is random and
    depends on the seed alone.

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
    """Estimated seconds of a run of each algorithm."""

    def __init__(self, recorded: Iterable[Tally] = ()) -> None:
        self.mean = mean_seconds(recorded)
        self._overhead = 0.0

    def note(self, observations: Sequence[Observation], seconds: float) -> None:
        """Update the estimates from a chunk: its runs, and the overhead in its `seconds`."""
        inside, mean = 0.0, self.mean
        for observation in observations:
            spent, algorithm = observation.seconds, observation.key.algorithm
            inside += spent
            before = mean.get(algorithm)
            mean[algorithm] = spent if before is None else before + MEMORY * (spent - before)
        around = max(0.0, seconds - inside) / len(observations)
        self._overhead += 0.2 * (around - self._overhead)

    def seconds(self, algorithm: str) -> float:
        """Return the expected duration of a run."""
        mean = self.mean.get(algorithm)
        if mean is None:
            mean = sum(self.mean.values()) / len(self.mean) if self.mean else UNKNOWN
        return max(LEAST, mean + self._overhead)

    def total(self, runs: Mapping[str, int]) -> float:
        """Return the expected duration of runs of several algorithms."""
        return sum(count * self.seconds(algorithm) for algorithm, count in runs.items())
