"""A store without a file, which cannot be told apart from one that has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ampler.core.errors import StoreError
from ampler.core.failures import StopStudy
from ampler.core.runs import STATUSES, Runs
from ampler.core.values import Fingerprint, Session, Tally
from ampler.study.record import changed
from ampler.study.stopping import holding, joined, recorded
from ampler.study.store.checks import refuse_mismatch, storable

if TYPE_CHECKING:
    from ampler.core.values import (
        Code,
        DecisionRecord,
        Finished,
        Observation,
        PlanRecord,
        Progress,
        RunKey,
        StudyDecision,
    )


class MemoryStore:
    """A store that is gone when it is closed: for tests, and for studies that need no file."""

    def __init__(self) -> None:
        self._attempts: dict[tuple[RunKey, int], Observation] = {}
        self._finished: dict[tuple[str, str], Finished] = {}
        self._plans: list[PlanRecord] = []
        self._sessions: list[Session] = []
        self._decisions: list[DecisionRecord] = []
        self._marked: Progress | None = None
        self._progress: Progress | None = None
        self._known: Fingerprint = Fingerprint(0, {}, {})
        self._codes: dict[tuple[str, str], Code] = {}
        self._made_with: dict[tuple[int, str], str] = {}  # the code of an algorithm in a session
        self._session_of: dict[tuple[RunKey, int], int] = {}

    def begin(self, plan: PlanRecord, environment: Mapping[str, str]) -> None:
        """Keep the plan with its date, if new, and note the session; PlanMismatch when it does not fit the runs."""
        planned = plan.fingerprint
        refuse_mismatch(self._binding(plan), planned, "the store")
        if changed(self._known, planned):
            self._finished.clear()
        self._known = Fingerprint(
            planned.seed,
            {**self._known.algorithms, **planned.algorithms},
            {**self._known.instances, **planned.instances},
        )
        now = plan.created or _now()
        if not self._plans or replace(self._plans[-1], created="") != replace(plan, created=""):
            self._plans.append(replace(plan, created=now))
            self._decisions = []
        self._sessions.append(Session(now, dict(environment)))

    def add(self, observations: Iterable[Observation], finished: Iterable[Finished] = ()) -> None:
        """Record runs and finished instances, all or none."""
        if not self._sessions:
            raise StoreError("a plan must be begun before runs are added")
        new: dict[tuple[RunKey, int], Observation] = {}
        for each in map(storable, observations):
            place = (each.key, each.attempt)
            if place in self._attempts or place in new:
                raise StoreError(f"a run must not be recorded twice, got {each.key}, attempt {each.attempt}")
            self._check_known(each.key.instance, each.key.algorithm)
            new[place] = each
        done = list(finished)
        for each_done in done:
            self._check_known(each_done.instance, *each_done.counts)
        self._attempts |= new
        self._session_of |= dict.fromkeys(new, len(self._sessions))
        reopened = {key.instance for key, attempt in new if attempt}
        self._finished = {place: each for place, each in self._finished.items() if place[0] not in reopened}
        self._finished |= {(each.instance, each.decisions): each for each in done}
        self._write_mark()

    def observations(self, instance: str | None = None, *, superseded: bool = False) -> Iterator[Observation]:
        """Yield the last attempt of each run (`superseded`: every attempt), of one instance or of all."""
        wanted = [each for each in self._attempts.values() if instance in (None, each.key.instance)]
        wanted.sort(key=self._place())
        if superseded:
            yield from wanted
        else:
            counting = filter(self._counts, wanted)
            yield from (list(attempts)[-1] for _, attempts in groupby(counting, key=lambda each: each.key))

    def failures(self) -> tuple[Observation, ...]:
        """Return the runs whose last attempt gave no value."""
        return tuple(each for each in self.observations() if each.status != "ok")

    def begun(self) -> frozenset[str]:
        """Return the names of the instances with at least one recorded run."""
        return frozenset(each.key.instance for each in self._attempts.values() if self._counts(each))

    def finished(self, *decisions: str) -> dict[str, Finished]:
        """Return the instances that are done under these decisions, by name; later ones add to earlier ones."""
        return joined(
            {instance: done for (instance, digest), done in self._finished.items() if digest == wanted}
            for wanted in decisions
        )

    def tally(self) -> tuple[Tally, ...]:
        """Count the recorded runs of each algorithm on each instance."""
        cells = groupby(self.observations(), key=lambda each: (each.key.instance, each.key.algorithm))
        return tuple(_tally(*cell, list(runs)) for cell, runs in cells)

    def runs(self, *decisions: str) -> Runs:
        """Return the runs as columns; with `decisions`, those asked for on the instances that are done under them."""
        asked = self.finished(*decisions)
        planned = set(self._plans[-1].instances) if self._plans else set()
        asked = {name: done for name, done in asked.items() if name in planned}
        seen = [
            each
            for each in self.observations()
            if not decisions
            or (
                each.key.instance in asked
                and each.key.index < asked[each.key.instance].counts.get(each.key.algorithm, 0)
            )
        ]
        instances = _in_order(self._plans[-1].instances, [each.key.instance for each in seen])
        algorithms = _in_order(self._plans[-1].algorithms, [each.key.algorithm for each in seen])
        return Runs(
            instances,
            algorithms,
            np.array([instances.index(each.key.instance) for each in seen], np.intp),
            np.array([algorithms.index(each.key.algorithm) for each in seen], np.intp),
            np.array([np.nan if each.value is None else each.value for each in seen]),
            np.array([STATUSES.index(each.status) for each in seen], np.uint8),
        )

    def decide(self, number: int, decision: StudyDecision) -> None:
        """Record how the study goes on after `number` finished groups, under the plan that was begun."""
        if not self._sessions:
            raise StoreError("a plan must be begun before anything is recorded")
        self._decisions = [*holding([*self._decisions, recorded(number, decision, _now())])]
        self._write_mark()

    def decisions(self) -> tuple[DecisionRecord, ...]:
        """Return the decisions over instances that hold under the last plan, in their order."""
        return tuple(self._decisions)

    def mark(self, progress: Progress) -> None:
        """Keep where the study stands; it is written together with what is recorded next."""
        self._marked = progress

    def progress(self) -> Progress | None:
        """Return where the study stood when it was last written; None when it never was."""
        return self._progress

    def plans(self) -> tuple[PlanRecord, ...]:
        """Return every plan the study had, oldest first."""
        return tuple(self._plans)

    def sessions(self) -> tuple[Session, ...]:
        """Return every session, oldest first."""
        return tuple(self._sessions)

    def keep_code(self, codes: Iterable[Code], present: Mapping[str, Code]) -> None:
        """Keep which code counts, and with which code each algorithm is run in this session."""
        for code in codes:
            before = self._codes.get((code.algorithm, code.digest))
            if code.counts != (before is None or before.counts):
                self._finished.clear()
            self._codes[code.algorithm, code.digest] = code
        self._made_with |= {(len(self._sessions), name): code.digest for name, code in present.items()}

    def codes(self) -> tuple[Code, ...]:
        """Return all code that runs were made with, algorithm by algorithm."""
        places = {name: place for place, name in enumerate(self._known.algorithms)}
        return tuple(sorted(self._codes.values(), key=lambda code: (places[code.algorithm], code.digest)))

    def superseded(self) -> Iterator[Observation]:
        """Yield the attempts at runs that were made with code that counts no longer."""
        return (each for each in self.observations(superseded=True) if not self._counts(each))

    def close(self) -> None:
        """Do nothing: what is in memory is gone when nobody holds it."""

    def _counts(self, seen: Observation) -> bool:
        algorithm, session = seen.key.algorithm, self._session_of[seen.key, seen.attempt]
        code = self._codes.get((algorithm, self._made_with.get((session, algorithm), "")))
        return code is None or code.counts

    def _write_mark(self) -> None:
        if self._marked is not None:
            self._progress = replace(self._marked, written=_now("milliseconds"))
            self._marked = None

    def _binding(self, plan: PlanRecord) -> Fingerprint | None:
        """What the recorded runs hold fast; runs that failed and will be tried again bind nothing."""
        runs = [each for each in self._attempts.values() if plan.policy != StopStudy() or each.status == "ok"]
        if not runs:
            return None
        return Fingerprint(
            self._known.seed,
            {each.key.algorithm: self._known.algorithms[each.key.algorithm] for each in runs},
            {each.key.instance: self._known.instances[each.key.instance] for each in runs},
        )

    def _place(self) -> Callable[[Observation], tuple[int, int, int, int]]:
        """Return the key of the order in which observations are read."""
        instances = {name: place for place, name in enumerate(self._known.instances)}
        algorithms = {name: place for place, name in enumerate(self._known.algorithms)}
        return lambda each: (
            instances[each.key.instance],
            algorithms[each.key.algorithm],
            each.key.index,
            each.attempt,
        )

    def _check_known(self, instance: str, *algorithms: str) -> None:
        if instance not in self._known.instances or not set(algorithms) <= self._known.algorithms.keys():
            raise StoreError(f"a run must be of a planned instance and algorithm, got {instance!r}, {algorithms!r}")


def _now(timespec: str = "seconds") -> str:
    return datetime.now(UTC).isoformat(timespec=timespec)


def _in_order(first: Iterable[str], occurring: list[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys([*first, *occurring]) if name in set(occurring))


def _tally(instance: str, algorithm: str, runs: list[Observation]) -> Tally:
    ok = sum(each.status == "ok" for each in runs)
    return Tally(instance, algorithm, len(runs), ok, sum(each.seconds for each in runs))
