"""The contract of a store, one without a file that follows it, and the simplest executor.

Each check takes a function that makes an empty store, and fails where a promise is broken.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from ampler.core.contracts import Store
from ampler.core.errors import InvalidData, PlanMismatch, StoreError
from ampler.core.failures import Drop, FailurePolicy, StopStudy
from ampler.core.plan import Algorithm, Command, Continue, EndStudy, Instance, PlanRecord, Question, Stop
from ampler.core.runs import Finished, Observation, Progress, RunKey, Tally
from ampler.study.plan import make_plan
from ampler.study.record import record
from ampler.study.store import SqliteStore
from ampler.study.store.access import migrate


class MemoryStore(SqliteStore):
    """In-memory store, for tests and for studies without a file."""

    def __init__(self) -> None:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrate(connection, "the store")
        super().__init__(connection, Path("the store"), None)
        self._read_only = False

    def close(self) -> None:
        """Do nothing: memory needs no closing."""


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


StoreMaker = Callable[[], Store]  # makes an empty store


def contract_plan(
    *,
    seed: int = 1,
    algorithms: Mapping[str, Algorithm] | None = None,
    instances: Iterable[str | Instance] = ("i1", "i2", "i3"),
    question: Question = Question("simple", better="lower"),  # noqa: B008 - frozen
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
    """Every field of an observation is stored unchanged."""
    runs = [
        Observation(RunKey("i1", "a", 0), -1.5e-300, 0.25, seed=2**31 - 1, round=3, measures={"gap": 0.1, "ß": -2.0}),
        Observation(RunKey("i1", "a", 1), 1.7976931348623157e308),
        Observation(RunKey("i2", "a", 0), None, 1.0, "timeout", "over 1 s; it’s 'late'\n\x00"),
        Observation(RunKey("i2", "b", 0), None, 1.0, "failed", "", measures={}),
    ]
    store = _begun(make)
    store.add(runs)
    assert sorted(store.observations(), key=lambda run: run.key) == runs
    assert sorted(store.observations("i2"), key=lambda run: run.key) == runs[2:]
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
    runs = [Observation(key, float(value)) for value, key in enumerate(keys)]
    store = _begun(make)
    store.add(runs[::-1])
    assert list(store.observations()) == runs
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
    for run in nonsense:
        assert _refused(InvalidData, store.add, [run]), run
    assert list(store.observations(superseded=True)) == []


def check_store_needs_a_plan_first(make: StoreMaker) -> None:
    """Runs belong to a plan and a session."""
    store = make()
    assert not any((store.plans(), store.sessions(), store.tally()))
    assert _refused(StoreError, store.add, [Observation(RunKey("i1", "a", 0), 1.0)])


def check_store_keeps_finished_instances_by_decisions(make: StoreMaker) -> None:
    """Instances finished under some decisions are not finished under others; the latest record counts."""
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
    """An instance counts as finished with its recorded runs only; a changed run reopens it."""
    failed = Observation(RunKey("i1", "a", 0), None, status="failed")
    done = [Finished(name, digest, "budget spent", {"a": 1, "b": 1}, 1) for name in ("i1", "i2") for digest in "de"]
    store = _begun(make)
    store.add([failed], done)
    store.add([Observation(RunKey("i1", "a", 0), 1.0, attempt=1)])
    assert store.finished("d").keys() == store.finished("e").keys() == {"i2"}
    store.add([Observation(RunKey("i1", "a", 0), 1.0, attempt=2)], done[:1])
    assert store.finished("d").keys() == {"i1", "i2"}


def check_store_gives_runs_as_columns(make: StoreMaker) -> None:
    """Runs are returned as columns: all, or the requested ones on finished instances."""
    store = _begun(make)
    i1, i2 = contract_plan().instances[:2]
    store.add([Observation(RunKey(i1, "a", index), float(index)) for index in range(4)])
    store.add([Observation(RunKey(i1, "b", 0), None, status="timeout"), Observation(RunKey(i2, "a", 0), 9.0)])
    store.add([], [Finished(i1, "d", "runs done", {"a": 2, "b": 1}, 1)])
    everything, done = store.runs(), store.runs("d")
    assert (everything.instances, everything.algorithms) == ((i1, i2), ("a", "b"))
    assert everything.instance.tolist() == [0] * 5 + [1]
    assert everything.algorithm.tolist() == [0] * 4 + [1, 0]
    assert everything.value[everything.ok].tolist() == [0.0, 1.0, 2.0, 3.0, 9.0]
    assert everything.status.tolist() == [0, 0, 0, 0, 2, 0]
    assert (done.instances, done.algorithms, done.value[done.ok].tolist()) == ((i1,), ("a", "b"), [0.0, 1.0])
    assert len(done) == 3
    commands = {name: Command(name, ("solve", name, "{seed}", "{instance}")) for name in ("b", "a")}
    store.begin(contract_plan(algorithms=commands), {})
    swapped = store.runs("d")
    assert (swapped.algorithms, swapped.algorithm.tolist()) == (("b", "a"), [1, 1, 0]), "the last plan's order"
    store.add([], [Finished(i2, "d", "runs done", {"a": 1, "b": 0}, 1)])
    store.begin(contract_plan(instances=[name for name in contract_plan().instances if name != i1]), {})
    assert (store.runs("d").instances, len(store.runs())) == ((i2,), 6), "the last plan no longer asks for the first"


def check_store_keeps_every_plan(make: StoreMaker) -> None:
    """A changed plan is added to the earlier ones; an unchanged one is not repeated; sessions are counted."""
    plan = contract_plan()
    question = Question("percent", "a", effect=0.5, better="lower")
    larger = contract_plan(instances=["i1", "i2", "i3", "i4"], question=question)
    store = make()
    for next_plan in (plan, plan, larger, plan):
        store.begin(next_plan, {"python": "3"})
    assert [replace(begun, created="") for begun in store.plans()] == [plan, larger, plan]
    assert all(begun.created for begun in store.plans())
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
    """New names can be added, and names without runs may change; recorded runs stay."""
    store = _begun(make)
    run = Observation(RunKey("i1", "a", 0), 1.0)
    store.add([run])
    commands = {name: Command(name, ("solve", name, "{seed}", "{instance}")) for name in ("c", "a")}
    changed_b = Command("b", ("new", "{seed}", "{instance}"))
    store.begin(contract_plan(algorithms={**commands, "b": changed_b}, instances=["i0", "i1"]), {})
    new = Observation(RunKey("i0", "c", 0), 2.0)
    store.add([new])
    assert list(store.observations()) == [run, new]


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


def check_store_keeps_decisions_over_instances(make: StoreMaker) -> None:
    """Decisions are returned unchanged; a repeated one voids later ones, a new plan all of them."""
    everything = Continue(("a", "b"), ("i1", "i2"))
    fewer = Continue(("a",), ("i2", "i3"), {"a": 7}, "b is clear", {"verdicts": {"b": "different"}, "level": 0.025})
    end = EndStudy("nothing continues", {"looks": [1, 2]})
    store = make()
    assert _refused(StoreError, store.decide, 0, everything)
    store.begin(contract_plan(), {})
    assert store.decisions() == ()
    store.decide(0, everything)
    store.decide(1, fewer)
    store.decide(2, end)
    held = store.decisions()
    assert [(entry.number, entry.decision) for entry in held] == [(0, everything), (1, fewer), (2, end)]
    assert len({entry.digest for entry in held}) == 3
    assert all(entry.taken for entry in held)
    store.begin(contract_plan(), {})
    assert store.decisions() == held, "the same plan is begun again"
    store.decide(1, end)
    assert [(entry.number, entry.decision) for entry in store.decisions()] == [(0, everything), (1, end)]
    store.begin(contract_plan(instances=["i1", "i2", "i3", "i4"]), {})
    assert store.decisions() == (), "another plan"


def check_store_joins_the_runs_of_several_decisions(make: StoreMaker) -> None:
    """An instance that was requested twice has the runs of both; algorithms that left keep what they had."""
    store = _begun(make)
    i1, i2 = contract_plan().instances[:2]
    store.add([Observation(RunKey(name, a, index), 1.0) for name in (i1, i2) for a in "ab" for index in range(5)])
    store.add([], [Finished(i1, "d", "runs done", {"a": 2, "b": 2}, 1)])
    store.add([], [Finished(name, "e", "runs done", {"a": 4}, 1) for name in (i1, i2)])
    assert {name: done.counts for name, done in store.finished("d", "e").items()} == {
        i1: {"a": 4, "b": 2},
        i2: {"a": 4},
    }
    runs = store.runs("d", "e")
    assert [(runs.instance == index).sum() for index in (0, 1)] == [6, 4]


def check_store_keeps_progress(make: StoreMaker) -> None:
    """Progress of the study is written with the next runs or the next decision; the last entry counts."""
    store = _begun(make)
    assert store.progress() is None
    first = Progress(3, 0, runs=1, rate=0.5, left=12.5, planned=40)
    store.mark(Progress(3, 0))
    store.mark(first)
    assert store.progress() is None
    store.add([Observation(RunKey("i1", "a", 0), 1.0)])
    written = store.progress()
    assert written is not None
    assert written == replace(first, written=written.written)
    assert written.written
    store.add([Observation(RunKey("i1", "a", 1), 1.0)])
    assert store.progress() == written, "nothing new was reported"
    store.mark(Progress(3, 3, error=0.25, target=0.5))
    store.decide(0, EndStudy("all instances are finished"))
    last = store.progress()
    assert last is not None
    assert replace(last, written="") == Progress(3, 3, error=0.25, target=0.5)


def check_store_closes_twice(make: StoreMaker) -> None:
    """Closing twice is harmless."""
    store = _begun(make)
    store.close()
    store.close()
    assert store.close() is None  # type: ignore[func-returns-value]


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


STORE_CONTRACT: tuple[Callable[[StoreMaker], None], ...] = tuple(
    check for name, check in list(globals().items()) if name.startswith("check_store_")
)
