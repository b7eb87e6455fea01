"""Fakes that work, and the contracts that plug-ins are tested with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import numpy as np

from ampler.core.contracts import Store
from ampler.core.errors import InvalidData, PlanMismatch, StoreError
from ampler.core.failures import Drop, FailurePolicy, StopStudy
from ampler.core.runs import STATUSES, Runs
from ampler.core.values import (
    Algorithm,
    Command,
    Fingerprint,
    Finished,
    Instance,
    Observation,
    PlanRecord,
    Question,
    RunKey,
    Session,
    Stop,
    Tally,
)
from ampler.study.plan import make_plan
from ampler.study.record import changed, record
from ampler.study.store.checks import refuse_mismatch, storable
from ampler.testing.dummies import DummyAlgorithm as DummyAlgorithm
from ampler.testing.dummies import DummyInstance as DummyInstance
from ampler.testing.dummies import dummy_algorithms as dummy_algorithms
from ampler.testing.dummies import dummy_draw as dummy_draw
from ampler.testing.dummies import dummy_instances as dummy_instances


class SerialExecutor:
    """An executor that makes each call at once, in the thread that asks for it."""

    _max_workers = 1  # where the executors of concurrent.futures keep it

    def submit(self, call: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Make a call; return the future of what it gave."""
        future: Future[Any] = Future()
        try:
            future.set_result(call(*arguments))
        except Exception as problem:
            future.set_exception(problem)
        return future


class MemoryStore:
    """A store that is gone when it is closed: for tests, and for studies that need no file."""

    def __init__(self) -> None:
        self._attempts: dict[tuple[RunKey, int], Observation] = {}
        self._finished: dict[tuple[str, str], Finished] = {}
        self._plans: list[PlanRecord] = []
        self._sessions: list[Session] = []
        self._known: Fingerprint = Fingerprint(0, {}, {})

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
        now = plan.created or datetime.now(UTC).isoformat(timespec="seconds")
        if not self._plans or replace(self._plans[-1], created="") != replace(plan, created=""):
            self._plans.append(replace(plan, created=now))
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
        reopened = {key.instance for key, attempt in new if attempt}
        self._finished = {place: each for place, each in self._finished.items() if place[0] not in reopened}
        self._finished |= {(each.instance, each.decisions): each for each in done}

    def observations(self, instance: str | None = None, *, superseded: bool = False) -> Iterator[Observation]:
        """Yield the last attempt of each run (`superseded`: every attempt), of one instance or of all."""
        wanted = [each for each in self._attempts.values() if instance in (None, each.key.instance)]
        wanted.sort(key=self._place())
        if superseded:
            yield from wanted
        else:
            yield from (list(attempts)[-1] for _, attempts in groupby(wanted, key=lambda each: each.key))

    def failures(self) -> tuple[Observation, ...]:
        """Return the runs whose last attempt gave no value."""
        return tuple(each for each in self.observations() if each.status != "ok")

    def begun(self) -> frozenset[str]:
        """Return the names of the instances with at least one recorded run."""
        return frozenset(key.instance for key, _ in self._attempts)

    def finished(self, decisions: str) -> dict[str, Finished]:
        """Return the instances that are done under these decisions, by name."""
        return {instance: done for (instance, digest), done in self._finished.items() if digest == decisions}

    def tally(self) -> tuple[Tally, ...]:
        """Count the recorded runs of each algorithm on each instance."""
        cells = groupby(self.observations(), key=lambda each: (each.key.instance, each.key.algorithm))
        return tuple(_tally(*cell, list(runs)) for cell, runs in cells)

    def runs(self, decisions: str | None = None) -> Runs:
        """Return the runs as columns; with `decisions`, those asked for on the instances that are done under them."""
        asked = {} if decisions is None else self.finished(decisions)
        planned = set(self._plans[-1].instances) if self._plans else set()
        asked = {name: done for name, done in asked.items() if name in planned}
        seen = [
            each
            for each in self.observations()
            if decisions is None
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

    def plans(self) -> tuple[PlanRecord, ...]:
        """Return every plan the study had, oldest first."""
        return tuple(self._plans)

    def sessions(self) -> tuple[Session, ...]:
        """Return every session, oldest first."""
        return tuple(self._sessions)

    def close(self) -> None:
        """Do nothing: what is in memory is gone when nobody holds it."""

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


def _in_order(first: Iterable[str], occurring: list[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys([*first, *occurring]) if name in set(occurring))


def _tally(instance: str, algorithm: str, runs: list[Observation]) -> Tally:
    ok = sum(each.status == "ok" for each in runs)
    return Tally(instance, algorithm, len(runs), ok, sum(each.seconds for each in runs))


# The contract of a store. Each check takes a function that makes an empty store.

StoreMaker = Callable[[], Store]


def contract_plan(
    *,
    seed: int = 1,
    algorithms: Mapping[str, Algorithm] | None = None,
    instances: Iterable[str | Instance] = ("i1", "i2", "i3"),
    question: Question = Question("simple"),  # noqa: B008 - frozen
    policy: FailurePolicy = StopStudy(),  # noqa: B008 - frozen
) -> PlanRecord:
    """Return the record of a plan of three instances and the commands "a" and "b", or of what is given."""
    commands = {name: Command(name, ("solve", name, "{seed}", "{instance}")) for name in ("a", "b")}
    plan = make_plan(
        question=question,
        algorithms=commands if algorithms is None else algorithms,
        instances=instances,
        rule=_stop,
        seed=seed,
        count="all",
        policy=policy,
    )
    return record(plan)


def check_store_gives_back_what_was_added(make: StoreMaker) -> None:
    """Every field of an observation survives, whatever it holds."""
    seen = [
        Observation(RunKey("i1", "a", 0), -1.5e-300, 0.25, seed=2**31 - 1, round=3, measures={"gap": 0.1, "ß": -2.0}),
        Observation(RunKey("i1", "a", 1), 1.7976931348623157e308),
        Observation(RunKey("i2", "a", 0), None, 1.0, "timeout", "over 1 s; it’s 'late'\n\x00"),
        Observation(RunKey("i2", "b", 0), None, 1.0, "failed", "", measures={}),
    ]
    store = _begun(make)
    store.add(seen)
    assert sorted(store.observations(), key=lambda each: each.key) == seen
    assert sorted(store.observations("i2"), key=lambda each: each.key) == seen[2:]
    assert list(store.observations("i3")) == list(store.observations("unheard of")) == []
    assert store.begun() == {"i1", "i2"}


def check_store_counts_the_last_attempt(make: StoreMaker) -> None:
    """A further attempt hides the earlier ones, without removing them."""
    first = Observation(RunKey("i1", "a", 0), None, 2.0, "failed", "exit code 3")
    second, other = replace(first, status="lost", attempt=1), Observation(RunKey("i1", "a", 1), 7.0, 1.0)
    third = Observation(RunKey("i1", "a", 0), 5.0, 3.0, attempt=2)
    store = _begun(make)
    store.add([first, other])
    assert store.failures() == (first,)
    store.add([second])
    assert store.failures() == (second,)
    store.add([third])
    assert store.failures() == ()
    assert list(store.observations("i1")) == list(store.observations()) == [third, other]
    assert list(store.observations("i1", superseded=True)) == [first, second, third, other]
    assert store.tally() == (Tally("i1", "a", 2, 2, 4.0),)


def check_store_reads_in_the_order_of_the_plan(make: StoreMaker) -> None:
    """Instances and algorithms come in the plan's order, then index, then attempt, in whatever order they came."""
    plan = contract_plan()
    keys = [RunKey(i, a, index) for i in plan.instances for a in plan.algorithms for index in range(12)]
    seen = [Observation(key, float(place)) for place, key in enumerate(keys)]
    store = _begun(make)
    store.add(seen[::-1])
    assert list(store.observations()) == seen
    assert [(t.instance, t.algorithm, t.runs) for t in store.tally()] == [
        (i, a, 12) for i in plan.instances for a in plan.algorithms
    ]


def check_store_adds_all_or_nothing(make: StoreMaker) -> None:
    """A run that is recorded already, or cannot be recorded, takes its whole group with it."""
    good, other = Observation(RunKey("i1", "a", 0), 1.0), Observation(RunKey("i1", "a", 1), 2.0)
    done = Finished("i1", "d", "runs done", {"a": 1, "b": 0}, 1)
    store = _begun(make)
    store.add([good])
    for bad in [good, Observation(RunKey("i9", "a", 0), 1.0), Observation(RunKey("i1", "c", 0), 1.0)]:
        assert _refused(StoreError, store.add, [other, bad], [done])
    assert _refused(StoreError, store.add, [other, other], [done])
    assert list(store.observations()) == [good]
    assert store.finished("d") == {}
    store.add([other], [done])
    assert list(store.observations()) == [good, other]


def check_store_refuses_what_is_no_observation(make: StoreMaker) -> None:
    """A value is there exactly when a run is ok, and every number is finite."""
    key = RunKey("i1", "a", 0)
    nonsense = [
        Observation(key, None),
        Observation(key, 1.0, status="failed"),
        Observation(key, float("nan")),
        Observation(key, float("-inf")),
        Observation(key, 1.0, float("nan")),
        Observation(key, 1.0, -1.0),
        Observation(key, 1.0, measures={"gap": float("nan")}),
        Observation(RunKey("i1", "a", -1), 1.0),
        Observation(key, 1.0, attempt=-1),
        Observation(key, None, status="no status"),  # type: ignore[arg-type]
    ]
    store = _begun(make)
    for each in nonsense:
        assert _refused(InvalidData, store.add, [each]), each
    assert list(store.observations(superseded=True)) == []


def check_store_needs_a_plan_first(make: StoreMaker) -> None:
    """Runs belong to a plan and a session."""
    store = make()
    assert not any((store.plans(), store.sessions(), store.tally()))
    assert _refused(StoreError, store.add, [Observation(RunKey("i1", "a", 0), 1.0)])


def check_store_keeps_finished_instances_by_decisions(make: StoreMaker) -> None:
    """What is finished under some decisions is not under others; the latest word counts."""
    first = Finished("i1", "d", "budget spent", {"a": 3, "b": 2}, 2, 0.5)
    again = Finished("i1", "d", "accuracy reached", {"a": 4, "b": 2}, 3, None)
    other = Finished("i1", "e", "budget spent", {"a": 3, "b": 2}, 2, 0.125)
    store = _begun(make)
    store.add([], [first, other])
    assert store.finished("d") == {"i1": first}
    store.add([], [again])
    assert store.finished("d") == {"i1": again}
    assert store.finished("e") == {"i1": other}
    assert store.finished("f") == {}


def check_store_reopens_what_a_further_attempt_touches(make: StoreMaker) -> None:
    """An instance was finished on the runs it had; with another outcome of one of them it has to be looked at again."""
    failed = Observation(RunKey("i1", "a", 0), None, status="failed")
    done = [Finished(name, digest, "budget spent", {"a": 1, "b": 1}, 1) for name in ("i1", "i2") for digest in "de"]
    store = _begun(make)
    store.add([failed], done)
    store.add([Observation(RunKey("i1", "a", 0), 1.0, attempt=1)])
    assert store.finished("d").keys() == store.finished("e").keys() == {"i2"}
    store.add([Observation(RunKey("i1", "a", 0), 1.0, attempt=2)], done[:1])
    assert store.finished("d").keys() == {"i1", "i2"}


def check_store_gives_runs_as_columns(make: StoreMaker) -> None:
    """Runs come as columns: all of them, or those that were asked for on finished instances."""
    store = _begun(make)
    i1, i2 = contract_plan().instances[:2]
    store.add([Observation(RunKey(i1, "a", index), float(index)) for index in range(4)])
    store.add([Observation(RunKey(i1, "b", 0), None, status="timeout"), Observation(RunKey(i2, "a", 0), 9.0)])
    store.add([], [Finished(i1, "d", "runs done", {"a": 2, "b": 1}, 1)])
    everything, asked = store.runs(), store.runs("d")
    assert (everything.instances, everything.algorithms) == ((i1, i2), ("a", "b"))
    assert everything.instance.tolist() == [0] * 5 + [1]
    assert everything.algorithm.tolist() == [0] * 4 + [1, 0]
    assert everything.value[everything.ok].tolist() == [0.0, 1.0, 2.0, 3.0, 9.0]
    assert everything.status.tolist() == [0, 0, 0, 0, 2, 0]
    assert (asked.instances, asked.algorithms, asked.value[asked.ok].tolist()) == ((i1,), ("a", "b"), [0.0, 1.0])
    assert len(asked) == 3
    commands = {name: Command(name, ("solve", name, "{seed}", "{instance}")) for name in ("b", "a")}
    store.begin(contract_plan(algorithms=commands), {})
    swapped = store.runs("d")
    assert (swapped.algorithms, swapped.algorithm.tolist()) == (("b", "a"), [1, 1, 0]), "the last plan's order"


def check_store_keeps_every_plan(make: StoreMaker) -> None:
    """A plan that changed is kept beside the earlier ones; one that did not is not repeated; sessions are counted."""
    plan = contract_plan()
    larger = contract_plan(instances=["i1", "i2", "i3", "i4"], question=Question("percent", "a", effect=0.5))
    store = make()
    for each in (plan, plan, larger, plan):
        store.begin(each, {"python": "3"})
    assert [replace(each, created="") for each in store.plans()] == [plan, larger, plan]
    assert all(each.created for each in store.plans())
    assert [dict(session.environment) for session in store.sessions()] == [{"python": "3"}] * 4


def check_store_refuses_another_plan(make: StoreMaker) -> None:
    """What gives recorded runs their values cannot change; the error names the field, and nothing was done."""
    other_command = {name: Command(name, ("solve2", name, "{seed}", "{instance}")) for name in ("a", "b")}
    store = _begun(make)
    store.add([Observation(RunKey("i1", "a", 0), 1.0)])
    for other, field in [
        (contract_plan(seed=2), "seed"),
        (contract_plan(algorithms=other_command), "command of algorithm 'a'"),
        (contract_plan(instances=[Instance("i1", "/i1", "aa"), "i2"]), "content of instance 'i1'"),
    ]:
        message = _refused(PlanMismatch, store.begin, other, {})
        assert field in message, message
    assert len(store.plans()) == len(store.sessions()) == 1


def check_store_lets_a_study_grow(make: StoreMaker) -> None:
    """New names are welcome, and old names without runs may change; what was recorded stays."""
    store = _begun(make)
    seen = Observation(RunKey("i1", "a", 0), 1.0)
    store.add([seen])
    commands = {name: Command(name, ("solve", name, "{seed}", "{instance}")) for name in ("c", "a")}
    changed_b = Command("b", ("new", "{seed}", "{instance}"))
    store.begin(contract_plan(algorithms={**commands, "b": changed_b}, instances=["i0", "i1"]), {})
    new = Observation(RunKey("i0", "c", 0), 2.0)
    store.add([new])
    assert list(store.observations()) == [seen, new]


def check_store_lets_a_command_be_mended(make: StoreMaker) -> None:
    """An algorithm that never gave a value may change when its failures are tried again, not when they are final."""
    mended = {name: Command(name, ("mended", name, "{seed}", "{instance}")) for name in ("a", "b")}
    store = _begun(make)
    failed = Observation(RunKey("i1", "a", 0), None, status="failed", message="no such program")
    store.add([failed], [Finished("i1", "d", "budget spent", {"a": 1, "b": 0}, 1)])
    assert "command" in _refused(PlanMismatch, store.begin, contract_plan(algorithms=mended, policy=Drop()), {})
    store.begin(contract_plan(), {})
    assert store.finished("d")
    store.begin(contract_plan(algorithms=mended), {})
    assert not store.finished("d"), "finished with the broken command"
    store.add([Observation(RunKey("i1", "a", 0), 1.0, attempt=1)])
    assert "command" in _refused(PlanMismatch, store.begin, contract_plan(), {})


def check_store_closes_twice(make: StoreMaker) -> None:
    """Closing what is closed does no harm."""
    store = _begun(make)
    store.close()
    store.close()
    assert store.close() is None  # type: ignore[func-returns-value]


STORE_CONTRACT: tuple[Callable[[StoreMaker], None], ...] = (
    check_store_gives_back_what_was_added,
    check_store_counts_the_last_attempt,
    check_store_reads_in_the_order_of_the_plan,
    check_store_adds_all_or_nothing,
    check_store_refuses_what_is_no_observation,
    check_store_needs_a_plan_first,
    check_store_keeps_finished_instances_by_decisions,
    check_store_reopens_what_a_further_attempt_touches,
    check_store_gives_runs_as_columns,
    check_store_keeps_every_plan,
    check_store_refuses_another_plan,
    check_store_lets_a_study_grow,
    check_store_lets_a_command_be_mended,
    check_store_closes_twice,
)


def _stop(_: object) -> Stop:
    return Stop("runs done")


def _begun(make: StoreMaker) -> Store:
    store = make()
    store.begin(contract_plan(), {})
    return store


def _refused(error: type[Exception], call: Callable[..., object], *arguments: object) -> str:
    """The sentence with which a call is refused; empty when it is not."""
    try:
        call(*arguments)
    except error as problem:
        return str(problem)
    return ""
