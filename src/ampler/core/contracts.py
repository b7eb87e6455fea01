"""The contracts a plug-in can fill, on one page."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from ampler.core.arrays import Floats, Runs, Samples
from ampler.core.plan import Continue, Decision, DecisionRecord, Plan, PlanRecord, StudyDecision
from ampler.core.runs import Code, Finished, Observation, Progress, Session, Tally


class Rule(Protocol):
    """Rule for the next runs on one instance. A pure function: the same samples give the same decision.

    It asks for runs until it stops, and never again for what it has been given. `Accuracy` and `Fixed` are rules.
    """

    def __call__(self, samples: Samples, /) -> Decision:
        """Return how many more runs each algorithm needs now, or that the instance is done and why."""


# Optional methods of a rule. The driver calls them through the functions below; None means that the rule has none.


@runtime_checkable
class ForeseeingRule(Protocol):
    """A rule that foresees its remaining runs, from which the remaining time is estimated."""

    def predict(self, samples: Samples, /) -> Mapping[str, int]:
        """Return the expected number of remaining runs of each algorithm."""


@runtime_checkable
class MeasuringRule(Protocol):
    """A rule that reports the precision of the differences of interest."""

    def errors(self, samples: Samples, /) -> PairErrors:
        """Return the standard error of every pair of interest; NaN where it is unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class PairErrors:
    """The standard error of each pair's difference: plain, and with conservative variance bounds."""

    pairs: tuple[tuple[str, str], ...]
    plain: Floats
    guarded: Floats  # from upper confidence bounds of the variances


@runtime_checkable
class AccuracyRule(Protocol):
    """A rule with a target standard error, displayed next to the one reached."""

    @property
    def se(self) -> float:
        """The target standard error."""


@runtime_checkable
class CheckingRule(Protocol):
    """A rule that checks its settings against the algorithms before the first run."""

    def check(self, algorithms: Sequence[str], /, *, deterministic: Collection[str]) -> object:
        """Raise InvalidRule if the settings do not fit."""


@runtime_checkable
class NarrowingRule(Protocol):
    """A rule whose settings name algorithms, and that also works for a part of them."""

    def among(self, algorithms: Sequence[str], /) -> Rule:
        """Return the rule for these algorithms alone."""


def predicted_runs(rule: object, samples: Samples) -> Mapping[str, int] | None:
    """Return the expected number of remaining runs of each algorithm, if the rule foresees it."""
    return rule.predict(samples) if isinstance(rule, ForeseeingRule) else None


def current_error(rule: object, samples: Samples) -> float | None:
    """Return the largest conservative standard error of the pairs of interest, if it is known."""
    if not isinstance(rule, MeasuringRule) or samples.counts.min() < 1:
        return None
    largest = float(rule.errors(samples).guarded.max())
    return largest if math.isfinite(largest) else None


def target_error(rule: object) -> float | None:
    """Return the target standard error of a rule, if it has one."""
    return rule.se if isinstance(rule, AccuracyRule) else None


def check_rule(rule: object, algorithms: Sequence[str], *, deterministic: Collection[str]) -> None:
    """Raise InvalidRule if a rule says that its settings do not fit the algorithms."""
    if isinstance(rule, CheckingRule):
        rule.check(algorithms, deterministic=deterministic)


def narrowed(rule: Rule, algorithms: Sequence[str]) -> Rule:
    """Return the rule for some of its algorithms; a rule that names none stays the same."""
    return rule.among(algorithms) if isinstance(rule, NarrowingRule) else rule


# The second level of decisions: over instances.


@dataclass(frozen=True)
class FinishedGroup:
    """Finished group of instances: the request, the end of each instance, and the requested runs.

    Runs are read when a rule looks at them: of each algorithm on each instance in the order of their index.
    """

    asked: Continue
    done: tuple[Finished, ...]
    read: Callable[[], Runs] = field(repr=False, compare=False)

    @cached_property
    def runs(self) -> Runs:
        """The runs that were requested, as columns."""
        return self.read()


class StudyRule(Protocol):
    """Rule for the instances and algorithms of a study. Pure: the same runs give the same decisions.

    It declares groups of instances before anything is run. It is asked before the first group and whenever one is
    finished, never in between, so its decisions do not depend on which run ended first; resuming asks it again from the
    beginning. After as many groups as it has declared it ends the study. `AllInstances` is the simplest one."""

    def groups(self, plan: Plan, /) -> Sequence[Sequence[str]]:
        """Return the names of the instances after each group of which a decision is taken, at most; in their order."""

    def __call__(self, plan: Plan, finished: Sequence[FinishedGroup], /) -> StudyDecision:
        """Return what is run next, given the groups that are finished, or that the study is done and why.

        What is requested after n groups are instances of the first n + 1 groups declared. Algorithms that are left out
        stay out."""


@runtime_checkable
class CheckingStudyRule(Protocol):
    """A study rule that checks a plan before the first run."""

    def check(self, plan: Plan, /) -> None:
        """Raise InvalidPlan if the plan does not fit."""


class Statistic(Protocol):
    """Statistic of the values of an algorithm, such as `numpy.median`.

    One that takes `axis` as well is called once for all resamples of the bootstrap instead of once for each.
    """

    def __call__(self, values: Floats, /) -> Any:
        """Return the statistic of a one-dimensional array."""


class Executor(Protocol):
    """Executor of calls, as in `concurrent.futures`: threads, processes, Dask, MPI."""

    def submit(self, call: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Submit a call; return its future."""


class Store(Protocol):
    """Store of runs. Nothing is ever changed or removed: a repeated run is a further attempt.

    The last attempt of a run is the one that counts. Contract tests ship in `ampler.testing`.
    """

    def begin(self, plan: PlanRecord, environment: Mapping[str, str]) -> None:
        """Keep the plan with its date, if new, and note the session; PlanMismatch when it does not fit the runs."""

    def add(self, observations: Iterable[Observation], finished: Iterable[Finished] = ()) -> None:
        """Record runs and finished instances, all or none; they are durable when this returns.

        A finished instance replaces what was recorded of it under the same decisions.
        """

    def observations(self, instance: str | None = None, *, superseded: bool = False) -> Iterator[Observation]:
        """Yield the last attempt of each run (`superseded`: every attempt), of one instance or of all.

        The order is instances and algorithms as first planned, then index, then attempt.
        """

    def failures(self) -> tuple[Observation, ...]:
        """Return the runs whose last attempt gave no value."""

    def begun(self) -> frozenset[str]:
        """Return the names of the instances with at least one recorded run."""

    def finished(self, *decisions: str) -> dict[str, Finished]:
        """Return the instances that are done under these decisions, by name.

        Of several decisions later ones add to earlier ones: an instance done under both has the runs of both.
        """

    def tally(self) -> tuple[Tally, ...]:
        """Count the recorded runs of each algorithm on each instance."""

    def runs(self, *decisions: str, measure: str | None = None, plan: int = -1) -> Runs:
        """Return the runs as columns; with `decisions`, those asked for on the instances that are done under them.

        A `measure` stands in the place of the value; runs without it have failed.
        Instances and algorithms are named in the order of a plan, the last one by default; with `decisions` the others
        are left out.
        """

    def decide(self, number: int, decision: StudyDecision) -> None:
        """Record the decision after `number` finished groups under the current plan.

        Decisions on record with this number or a later one no longer hold.
        """

    def decisions(self, plan: int = -1) -> tuple[DecisionRecord, ...]:
        """Return the decisions over instances that hold under a plan, the last one by default, in their order."""

    def mark(self, progress: Progress) -> None:
        """Keep the progress of the study; it is written with the next record."""

    def progress(self) -> Progress | None:
        """Return the last recorded progress of the study; None if there is none."""

    def plans(self) -> tuple[PlanRecord, ...]:
        """Return every plan the study had, oldest first."""

    def sessions(self) -> tuple[Session, ...]:
        """Return every session, oldest first."""

    def keep_code(self, codes: Iterable[Code], present: Mapping[str, Code]) -> None:
        """Keep which code counts, and with which code each algorithm is run in this session.

        Runs of code that does not count are superseded: they stay, and only `observations(superseded=True)` and
        `superseded` give them. When code begins or ceases to count, no instance is finished any more.
        """

    def codes(self) -> tuple[Code, ...]:
        """Return the code versions of all runs, by algorithm."""

    def superseded(self) -> Iterator[Observation]:
        """Yield the attempts made with superseded code."""

    def close(self) -> None:
        """Close the store; closing it twice is harmless."""
