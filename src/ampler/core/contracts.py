"""The contracts a plug-in can fill, on one page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any, Protocol

from ampler.core.arrays import Floats
from ampler.core.runs import Runs
from ampler.core.samples import Samples
from ampler.core.values import Decision, Finished, Observation, PlanRecord, Session, Tally


class Rule(Protocol):
    """What to run next on one instance. A pure function: the same samples give the same decision.

    It asks for runs until it stops, and never again for what it has been given. `Accuracy` and `Fixed` are rules.
    """

    def __call__(self, samples: Samples, /) -> Decision:
        """Return how many more runs each algorithm needs now, or that the instance is done and why."""


class Statistic(Protocol):
    """What is compared of each algorithm: one number from its values, such as `numpy.median`.

    One that takes `axis` as well is called once for all resamples of the bootstrap instead of once for each.
    """

    def __call__(self, values: Floats, /) -> Any:
        """Return the statistic of a one-dimensional array."""


class Executor(Protocol):
    """Whatever makes calls elsewhere, as `concurrent.futures` does: threads, processes, Dask, MPI."""

    def submit(self, call: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Have a call made; return the future of what it gives."""


class Store(Protocol):
    """Where runs are kept. Nothing is ever changed or removed: a run tried again is a further attempt.

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

    def finished(self, decisions: str) -> dict[str, Finished]:
        """Return the instances that are done under these decisions, by name."""

    def tally(self) -> tuple[Tally, ...]:
        """Count the recorded runs of each algorithm on each instance."""

    def runs(self, decisions: str | None = None) -> Runs:
        """Return the runs as columns; with `decisions`, those asked for on the instances that are done under them.

        Instances and algorithms are named in the order of the last plan; with `decisions` the others are left out.
        """

    def plans(self) -> tuple[PlanRecord, ...]:
        """Return every plan the study had, oldest first."""

    def sessions(self) -> tuple[Session, ...]:
        """Return every session, oldest first."""

    def close(self) -> None:
        """Let go of the store; closing twice does no harm."""
