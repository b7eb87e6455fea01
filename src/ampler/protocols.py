"""The contracts a plug-in can fill, on one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from ampler.model import Finished, Observation, PlanRecord, Session, Tally


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

    def plans(self) -> tuple[PlanRecord, ...]:
        """Return every plan the study had, oldest first."""

    def sessions(self) -> tuple[Session, ...]:
        """Return every session, oldest first."""

    def close(self) -> None:
        """Let go of the store; closing twice does no harm."""
