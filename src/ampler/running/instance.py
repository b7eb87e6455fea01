"""One instance on its way: rounds of decisions, the runs they ask for, and the end. Pure.

Resuming is replaying: decisions are taken again from the first round on, recorded runs are used wherever a decision
asks for them, and only what is missing becomes a task. Values are added in the order of the round, never in the order
in which runs happened to end, so the decisions are the same with any number of workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ampler.core.contracts import error_seen_by, predicted_by
from ampler.core.errors import InvalidInput, InvalidSamples, RunFailed
from ampler.core.failures import StopStudy, value_of
from ampler.core.samples import Samples
from ampler.core.settings import RATE
from ampler.core.values import Continue, Decision, Finished, Observation, Plan, RunKey, Sample, Stop
from ampler.running.one_run.execution import TRIES
from ampler.running.ruling import followed, heard
from ampler.running.work import Task
from ampler.stats.rates import NUMBERS, neither_yes_nor_no
from ampler.study.seeds import run_seed
from ampler.study.stopping import instance_rule

Attempt = tuple[RunKey, int]
Place = tuple[str, int]  # a run of one instance: its algorithm and index, of which dictionaries are faster than of keys


class InstanceRun:
    """An instance on its way: `begin` and `take` return the runs that are wanted, `done` says when there are no more.

    `recorded` are all attempts at runs of the instance. With `again`, runs that failed in earlier sessions are tried
    again, all but those `made` in this one; under the policy to stop they always are. Attempts that are `superseded`
    count for nothing. `asked` is the decision over instances that wants this one; without it all algorithms are run, as
    the plan's rule says.
    """

    def __init__(
        self,
        plan: Plan,
        instance: str,
        decisions: str,
        recorded: Iterable[Observation] = (),
        *,
        asked: Continue | None = None,
        again: bool = False,
        made: Container[RunKey] = (),
        superseded: Collection[Attempt] = (),
    ) -> None:
        names = [algorithm.name for algorithm in plan.algorithms if asked is None or algorithm.name in asked.algorithms]
        deterministic = [algorithm.name for algorithm in plan.algorithms if algorithm.deterministic]
        self.name = instance
        self.samples = Samples(names, deterministic=[name for name in deterministic if name in names])
        self._rule = plan.rule if asked is None else instance_rule(plan, asked)
        self.done: Finished | None = None
        self._plan, self._decisions = plan, decisions
        stops = isinstance(plan.policy, StopStudy)
        self._known = _known_from(recorded, plan, superseded, again=lambda key: stops or (again and key not in made))
        self.asked = dict.fromkeys(names, 0)
        self._round: dict[Place, Trial | Settled] = {}
        self._floor = plan.question.floor
        self.rounds = 0
        self._open = 0

    def begin(self) -> list[Task]:
        """Take decisions until runs are missing, and return those."""
        while not self._open and self.done is None:
            self._follow(self._decision())
        return [self._task(place, trial) for place, trial in self._round.items() if isinstance(trial, Trial)]

    def take(self, observation: Observation) -> list[Task]:
        """Note what a run gave; return the runs that are wanted now: itself again, those of the next round, or none.

        RunFailed when it failed for good and the policy is to stop.
        """
        place = _place(observation.key)
        trial = self._round[place]
        assert isinstance(trial, Trial), f"{observation.key} was not asked for"
        if observation.status == "ok":  # the usual case, found out quickly
            self._round[place] = Settled(observation.value)
        else:
            verdict = self._round[place] = trial.verdict(observation, self._plan)
            if isinstance(verdict, Trial):
                return [self._task(place, verdict)]
            if verdict.value is None and isinstance(self._plan.policy, StopStudy):
                raise RunFailed(_failure(observation))
        self._open -= 1
        return [] if self._open else self.begin()

    def lost(self, task: Task, how: str) -> Observation:
        """Return what is recorded of a run whose worker died: lost, or, when that was its last try, failed."""
        trial, key = self._round[_place(task.key)], task.key
        assert isinstance(trial, Trial)
        last = trial.losses + 1 >= TRIES
        return Observation(
            key=key,
            value=None,
            status="failed" if last else "lost",
            message=f"the worker was lost while making this run{f' {TRIES} times' if last else ''}: {how}",
            seed=run_seed(self._plan.seed, key.instance, key.algorithm, key.index),
            attempt=task.attempt,
            round=task.round,
            cause="worker",
        )

    def expected(self) -> Mapping[str, int]:
        """Return the runs of each algorithm that are still to come, as far as the rule can say."""
        waiting = Counter(algorithm for (algorithm, _), trial in self._round.items() if isinstance(trial, Trial))
        predicted = heard(lambda: predicted_by(self._rule, self.samples))
        return waiting if predicted is None else {name: max(runs, waiting[name]) for name, runs in predicted.items()}

    def error(self) -> float | None:
        """Return the largest standard error of interest, as the rule's guard sees it; None when it is not known."""
        return heard(lambda: error_seen_by(self._rule, self.samples))

    def _decision(self) -> Decision:
        """Add what a complete round gave, in the order in which it was asked for, and ask the rule again."""
        try:
            self._add_round()
            return followed(heard(lambda: self._rule(self.samples)), self.asked)
        except InvalidInput as problem:
            raise type(problem)(f"on instance {self.name!r}: {problem.message}") from problem

    def _add_round(self) -> None:
        for algorithm, settled in self._settled().items():
            values = [each for each in settled if each is not None]
            for _ in range(len(settled) - len(values)):
                self.samples.drop(algorithm)
            self.samples.extend(algorithm, self._checked(values, algorithm))
        self._round = {}

    def _settled(self) -> dict[str, list[float | None]]:
        """What the runs of a complete round count as, by algorithm, in the order in which they were asked for."""
        by_algorithm: dict[str, list[float | None]] = {}
        for (algorithm, _), settled in self._round.items():
            assert isinstance(settled, Settled)
            by_algorithm.setdefault(algorithm, []).append(settled.value)
        return by_algorithm

    def _checked(self, values: list[float], algorithm: str) -> list[float]:
        """Values that the statistic of the study can take."""
        strange = [each for each in values if each not in (0.0, 1.0)] if self._plan.question.statistic == RATE else []
        if strange:
            raise InvalidSamples(f"{neither_yes_nor_no(strange[0])} from algorithm {algorithm!r}; {NUMBERS}")
        return values if self._floor is None else [max(each, self._floor) for each in values]

    def _follow(self, decision: Decision) -> None:
        if isinstance(decision, Stop):
            counts = dict(self.asked)
            self.done = Finished(self.name, self._decisions, decision.reason, counts, self.rounds, error=self.error())
        else:
            self._ask(decision)
            self.rounds += 1

    def _ask(self, sample: Sample) -> None:
        """Name the runs a decision wants, and look up which of them are known."""
        for algorithm, count in sample.counts.items():
            first = self.asked[algorithm]
            self.asked[algorithm] += count
            for place in [(algorithm, index) for index in range(first, first + count)]:
                self._round[place] = self._known.pop(place, _FRESH) if self._known else _FRESH
        self._open = sum([isinstance(each, Trial) for each in self._round.values()])

    def _task(self, place: Place, trial: Trial) -> Task:
        return Task(RunKey(self.name, *place), trial.attempt, self.rounds - 1, alone=trial.losses > 0)


class Settled(NamedTuple):
    """What a run counts as for good: a value, or None when it gives none."""

    value: float | None


@dataclass(frozen=True, slots=True)
class Trial:
    """Where a run stands that does not count yet: its next attempt, and how often it failed or was lost in a row."""

    attempt: int = 0
    failures: int = 0
    losses: int = 0

    def after(self, observation: Observation) -> Trial:
        """Return where the run stands after one more attempt without a value."""
        if observation.status == "lost":
            return Trial(observation.attempt + 1, self.failures, self.losses + 1)
        return Trial(observation.attempt + 1, self.failures + 1, 0)

    def verdict(self, observation: Observation, plan: Plan) -> Trial | Settled:
        """Return what an attempt means: the run counts, or it is tried again."""
        if observation.status == "ok":
            return Settled(observation.value)
        now = self.after(observation)
        if observation.status == "lost" or now.failures <= plan.retries:
            return now
        return Settled(value_of(observation, plan.policy))


_FRESH = Trial()


def _known_from(
    recorded: Iterable[Observation], plan: Plan, superseded: Collection[Attempt], *, again: Callable[[RunKey], bool]
) -> dict[Place, Trial | Settled]:
    """What is known of runs from earlier sessions, each from its attempts in their order.

    What is tried next is a further attempt even where none of those before counts.
    """
    known: dict[Place, Trial | Settled] = {}
    for observation in recorded:
        place = _place(observation.key)
        if superseded and (observation.key, observation.attempt) in superseded:
            before = known.get(place)
            known[place] = before if isinstance(before, Settled) else Trial(observation.attempt + 1)
        elif observation.status == "ok":
            known[place] = Settled(observation.value)
        else:
            known[place] = _after_failure(observation, known.get(place), plan, again)
    return known


def _after_failure(
    observation: Observation, before: Trial | Settled | None, plan: Plan, again: Callable[[RunKey], bool]
) -> Trial | Settled:
    if again(observation.key):
        return Trial(observation.attempt + 1)
    return (before if isinstance(before, Trial) else _FRESH).verdict(observation, plan)


def _place(key: RunKey) -> Place:
    return (key.algorithm, key.index)


def _failure(observation: Observation) -> str:
    key = observation.key
    return (
        f"run {key.index} of {key.algorithm!r} on {key.instance!r} (seed {observation.seed}) failed: "
        f"{observation.message}; mend it and run again, or say what failed runs mean (on-failure)"
    )
