"""The study file in SQLite: durable, one writer, any number of readers, nothing in it that could run."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from ampler.core.arrays import Codes
from ampler.core.choices import Better
from ampler.core.errors import StoreBusy, StoreError, StoreUnusable
from ampler.core.failures import StopStudy
from ampler.core.plain import canonical
from ampler.core.runs import STATUSES, Runs
from ampler.core.typed import checked
from ampler.core.values import (
    Code,
    DecisionRecord,
    Fingerprint,
    Finished,
    Observation,
    PlanRecord,
    Progress,
    Session,
    StudyDecision,
    Tally,
)
from ampler.study.record import changed, from_json, to_json, undated
from ampler.study.stopping import from_data, holding, joined, recorded, to_data
from ampler.study.store.batches import all_storable, believed_rows, believed_runs
from ampler.study.store.beside import abandon
from ampler.study.store.checks import check_columns, numbered_names, refuse_mismatch
from ampler.study.store.columns import (
    ADD_NAMED,
    KEY,
    Row,
    adding,
    columns_to_write,
    counted_attempts,
    counted_runs,
    every_attempt,
    failed_last,
    last_attempts,
    named_attempts,
)
from ampler.study.store.connections import connection_to_read, connection_to_write, translated_errors
from ampler.study.store.counting import RunCounts
from ampler.study.store.damage import damaged, told_as_damage
from ampler.study.store.lock import StudyLock
from ampler.study.store.loss import Insurance, saved_beside
from ampler.study.store.patience import Patience
from ampler.study.store.places import check_folder, study_place
from ampler.study.store.schema import SUPERSEDED, check_sqlite

ORPHANS = """
    SELECT 1 FROM run WHERE instance NOT IN (SELECT id FROM instance) OR algorithm NOT IN (SELECT id FROM algorithm)
    OR session NOT IN (SELECT id FROM session) LIMIT 1
"""
BATCH = 1000  # rows that are read at once
BESIDE = ("-wal", "-shm")  # the files SQLite keeps beside a study file that is open
FINISH = " INTO finished (instance, decisions, reason, rounds, error, counts) VALUES (?, ?, ?, ?, ?, ?)"
KEEP_CODE = "INSERT OR REPLACE INTO code (algorithm, digest, files, counts) VALUES (?, ?, ?, ?)"
MADE_WITH_NAMED = "INSERT OR IGNORE INTO made_with SELECT ?, id, ? FROM algorithm WHERE name = ?"
DECIDE = "INSERT INTO decision (plan, number, decision, digest, taken, session) VALUES (?, ?, ?, ?, ?, ?)"

# A run as a row of numbers; infinity stands for no value, as no value is infinite.
NO_VALUE = "9e999"
RUN_ROW = np.dtype(
    [("instance", "i8"), ("algorithm", "i8"), ("index", "i8"), ("value", "f8"), ("status", "u1"), ("attempt", "i8")]
)


def open_store(path: str | os.PathLike[str]) -> SqliteStore:
    """Open a study file for writing, or begin one. Only one process can: the others get StoreBusy.

    Use it in a `with` statement, or close it.
    """
    check_sqlite()
    file = study_place(path)
    check_folder(file)
    lock = StudyLock(file)
    is_new = not file.exists()
    try:
        with translated_errors(file):
            store = _store(connection_to_write(file), file, lock)
        lock.hold_the_file()
        return store
    except BaseException:
        for ending in ("", *BESIDE) if is_new else ():  # a study that could not be begun leaves no file
            file.with_name(file.name + ending).unlink(missing_ok=True)
        lock.release()
        raise


@contextmanager
def draft_store(path: Path, goal: Path) -> Iterator[SqliteStore]:
    """Open a new study file that is to take another's place: nothing lies beside it when it is closed.

    What goes wrong is said of the file that was asked for.
    """
    try:
        with open_store(path) as store:
            yield store
    except StoreError as problem:
        raise type(problem)(str(problem).replace(str(path), str(goal)).replace(path.name, goal.name)) from None
    finally:
        for ending in (*BESIDE, ".lock"):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def read_store(path: str | os.PathLike[str]) -> SqliteStore:
    """Open a study file for reading only; a study that is being run can be read at any time."""
    check_sqlite()
    file = study_place(path)
    if not file.exists():
        raise StoreUnusable(f"there is no study file {file}; `ampler run` makes it")
    with translated_errors(file):
        return _store(connection_to_read(file), file, None)


def recorded_better(path: str | os.PathLike[str]) -> Better | None:
    """Return which values a results file has recorded as better; None if there is no such file yet."""
    if not os.path.isfile(path):
        return None
    try:
        with read_store(path) as store:
            plans = store.plans()
    except StoreUnusable:  # said where it is opened for writing
        return None
    return plans[-1].question.better if plans else None


@dataclass(frozen=True, slots=True)
class NumberedSession:
    """A session as files tell of it to each other: its number, the place of its plan, and what it says."""

    number: int
    plan: int
    started: str
    environment: str


@dataclass(frozen=True, slots=True)
class PlanDecision:
    """A decision over instances with the place of its plan and the number of its session."""

    plan: int
    session: int
    decision: DecisionRecord


class SqliteStore:
    """A study file, open. It fills the Store contract; made by open_store and read_store.

    It may be handed from thread to thread, and is used by one at a time.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, lock: StudyLock | None) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = connection
        self._lock = lock
        self._pid = os.getpid()
        self._session: int | None = None
        self._plan: int | None = None
        self._marked: Progress | None = None
        self._insurance = None if lock is None else Insurance(path)
        self._other_lock: StudyLock | None = None
        self._instances: dict[str, int] = {}
        self._algorithms: dict[str, int] = {}
        self._patience = None if lock is not None else Patience(connection, path)
        self._columns = frozenset(name for _, name, *_ in self._rows("PRAGMA table_info(run)"))
        self._read_names()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, plan: PlanRecord, environment: Mapping[str, str]) -> None:
        """Keep the plan with its date, if new, and note the session; PlanMismatch when it does not fit the runs."""
        with self._transaction() as connection:
            refuse_mismatch(self._binding(plan), plan.fingerprint, self.path.name)
            self._register(connection, plan.fingerprint)
            self._plan = _kept_plan(connection, plan)
            row = (self._plan, plan.created or _now(), canonical(dict(environment)))
            cursor = connection.execute("INSERT INTO session (plan, started, environment) VALUES (?, ?, ?)", row)
            self._session = cursor.lastrowid
        if self._insurance is not None:
            self._insurance.begun = (plan, environment)
        self._read_names()

    def add(self, observations: Iterable[Observation], finished: Iterable[Finished] = ()) -> None:
        """Record runs and finished instances, all or none; they are durable when this returns.

        StoreUnusable when the file is found lost; what it held and what was given is then in another one, beside it.
        """
        self._begun_session()
        kept, done = all_storable(observations), list(finished)
        try:
            self._record(kept, done)
        except StoreUnusable:
            if self._is_lost:
                self._record(kept, done)
            raise

    def _record(self, kept: Sequence[Observation], finished: Iterable[Finished]) -> None:
        add = "INSERT OR IGNORE" if self._is_lost else "INSERT"  # it may be given once more
        with self._transaction() as connection:
            session = self._begun_session()
            try:
                connection.executemany(*adding(self._run_columns(kept, session), add))
            except sqlite3.IntegrityError as problem:
                raise StoreError(
                    f"a run must not be recorded twice in {self.path.name}; a run tried again is a further attempt"
                    f" ({problem})"
                ) from None
            reopened = {(self._instances[each.key.instance],) for each in kept if each.attempt}
            connection.executemany("DELETE FROM finished WHERE instance = ?", reopened)
            connection.executemany(f"INSERT OR REPLACE{FINISH}", [self._finished_row(each) for each in finished])
            self._write_mark(connection, session)
        if self._insurance is not None:
            self._insurance.made.extend(kept)

    def observations(self, instance: str | None = None, *, superseded: bool = False) -> Iterator[Observation]:
        """Yield the last attempt of each run (`superseded`: every attempt), of one instance or of all."""
        select, which = (every_attempt, "1") if superseded else (last_attempts, self._counting())
        if instance is None:
            return self._observed(select(self._columns, f"WHERE {which}"))
        wanted = f"WHERE instance = ? AND {which}"
        return self._observed(select(self._columns, wanted), self._instances.get(instance, -1))

    def failures(self) -> tuple[Observation, ...]:
        """Return the runs whose last attempt gave no value."""
        return tuple(self._observed(failed_last(self._columns, self._counting(), self._counting("later"))))

    def begun(self) -> frozenset[str]:
        """Return the names of the instances with at least one recorded run."""
        any_run = f"SELECT 1 FROM run WHERE run.instance = instance.id AND {self._counting()}"
        return frozenset(name for (name,) in self._rows(f"SELECT name FROM instance WHERE EXISTS ({any_run})"))

    def begun_under(self) -> dict[int, frozenset[str]]:
        """Return the names of the instances with runs that were made under a plan, by the place of the plan."""
        query = (
            "SELECT DISTINCT plan, name FROM run JOIN session ON session.id = run.session"
            f" JOIN instance ON instance.id = run.instance WHERE {self._counting()}"
        )
        places, begun = self._plan_places(), dict[int, set[str]]()
        for plan, name in self._rows(query):
            begun.setdefault(places[plan], set()).add(name)
        return {place: frozenset(names) for place, names in begun.items()}

    def finished(self, *decisions: str) -> dict[str, Finished]:
        """Return the instances that are done under these decisions, by name; later ones add to earlier ones."""
        return joined(map(self._finished_under, decisions))

    def _finished_under(self, decisions: str) -> dict[str, Finished]:
        query = (
            "SELECT name, decisions, reason, counts, rounds, error FROM finished JOIN instance ON id = instance"
            " WHERE decisions = ? ORDER BY id"
        )
        with self._damage("what is finished"):
            return {
                name: _finished(self._algorithms, name, digest, reason, json.loads(counts), rounds, error)
                for name, digest, reason, counts, rounds, error in self._rows(query, (decisions,))
            }

    def tally(self) -> tuple[Tally, ...]:
        """Count the recorded runs of each algorithm on each instance."""
        instances, algorithms = _by_number(self._instances), _by_number(self._algorithms)
        with self._damage("its runs"):
            return tuple(
                checked(Tally(instances[instance], algorithms[algorithm], *counts))
                for instance, algorithm, *counts in self._counted()
            )

    def _counted(self) -> Iterator[Row]:
        """Instance, algorithm, runs, those with a value, seconds; only cells with runs tried again need a closer look.

        Grouping all runs to find the last attempt of each would take three times as long.
        """
        counting = self._counting()
        for *cell, highest in self._rows(counted_attempts(counting)):
            yield from self._rows(counted_runs(counting), tuple(cell[:2])) if highest else [tuple(cell)]

    def counts(self) -> RunCounts:
        """Return what counts the recorded runs for those who watch the study."""
        timed = "started" in self._columns
        return RunCounts(self._rows, self._instances, self._algorithms, self._counting(), timed=timed)

    def runs(self, *decisions: str) -> Runs:
        """Return the runs as columns; with `decisions`, those asked for on the instances that are done under them.

        Instances and algorithms are named in the order of the last plan; with `decisions` the others are left out.
        """
        code = "CASE status " + " ".join(f"WHEN '{status}' THEN {n}" for n, status in enumerate(STATUSES)) + " END"
        number = f"CASE typeof(value) WHEN 'real' THEN value WHEN 'null' THEN {NO_VALUE} END"
        query = (
            f'SELECT instance, algorithm, "index", {number}, {code}, max(attempt) FROM run'
            f' WHERE {self._counting()} GROUP BY instance, algorithm, "index"'
        )
        with self._damage("its runs"):
            table = np.fromiter(self._rows(query), dtype=RUN_ROW)
            check_columns(table, len(self._instances), len(self._algorithms))
            if decisions:
                table = table[table["index"] < self._asked(*decisions)[table["instance"], table["algorithm"]]]
        value = np.where(np.isinf(table["value"]), np.nan, table["value"])
        plan = self.plans()[-1:]
        with self._damage("the names of its plan"):
            instances, instance = _in_order(plan[0].instances if plan else (), self._instances, table["instance"])
            algorithms, algorithm = _in_order(plan[0].algorithms if plan else (), self._algorithms, table["algorithm"])
        return Runs(instances, algorithms, instance, algorithm, value, table["status"].copy())

    def decide(self, number: int, decision: StudyDecision) -> None:
        """Record how the study goes on after `number` finished groups, under the plan that was begun."""
        session, kept = self._begun_session(), recorded(number, decision, _now())
        with self._transaction() as connection:
            connection.execute(DECIDE, (self._plan, *_decision_row(kept), session))
            self._write_mark(connection, session)

    def decisions(self) -> tuple[DecisionRecord, ...]:
        """Return the decisions over instances that hold under the last plan, in their order."""
        last = len(self._plan_places()) - 1
        return holding(each.decision for each in self.all_decisions() if each.plan == last)

    def mark(self, progress: Progress) -> None:
        """Keep where the study stands; it is written together with what is recorded next."""
        self._marked = progress

    def progress(self) -> Progress | None:
        """Return where the study stood when it was last written; None when it never was."""
        if not self._has("progress"):
            return None
        rows = list(self._rows("SELECT progress, written FROM progress"))
        with self._damage("its progress"):
            return checked(Progress(**{**json.loads(rows[0][0]), "written": rows[0][1]})) if rows else None

    def plans(self) -> tuple[PlanRecord, ...]:
        """Return every plan the study had, oldest first."""
        rows = self._rows("SELECT record, created FROM plan ORDER BY id")
        with self._damage("its plan"):
            return tuple(checked(replace(from_json(record), created=created)) for record, created in rows)

    def sessions(self) -> tuple[Session, ...]:
        """Return every session, oldest first."""
        rows = self._rows("SELECT started, environment FROM session ORDER BY id")
        with self._damage("a session"):
            return tuple(checked(Session(started, json.loads(environment))) for started, environment in rows)

    def keep_code(self, codes: Iterable[Code], present: Mapping[str, Code]) -> None:
        """Keep which code counts, and with which code each algorithm is run in this session."""
        session, kept = self._begun_session(), list(codes)
        counted = {(each.algorithm, each.digest): each.counts for each in self.codes()}
        with self._transaction() as connection:
            if any(counted.get((each.algorithm, each.digest), True) != each.counts for each in kept):
                connection.execute("DELETE FROM finished")
            connection.executemany(KEEP_CODE, map(self._code_row, kept))
            made = [(session, self._algorithms[name], code.digest) for name, code in present.items()]
            connection.executemany("INSERT OR REPLACE INTO made_with VALUES (?, ?, ?)", made)
        if self._insurance is not None:
            self._insurance.code = (kept, present)

    def codes(self) -> tuple[Code, ...]:
        """Return all code that runs were made with, algorithm by algorithm."""
        if not self._has("code"):
            return ()
        rows = self._rows("SELECT name, files, counts FROM code JOIN algorithm ON id = algorithm ORDER BY id, digest")
        with self._damage("its code"):
            return tuple(checked(Code(name, files and json.loads(files), bool(counts))) for name, files, counts in rows)

    def superseded(self) -> Iterator[Observation]:
        """Yield the attempts at runs that were made with code that counts no longer."""
        return self._observed(every_attempt(self._columns, f"WHERE NOT {self._counting()}"))

    # For merging: a study file read as it is, and a new one written at once

    def snapshot(self) -> None:
        """Read from here on what the file holds at this moment, however it may grow."""
        list(self._rows("BEGIN"))

    def meaning(self) -> Fingerprint | None:
        """Return the seed, and what every name means; None when no plan was begun."""
        return self._fingerprint("")

    def attempts(self) -> Iterator[Row]:
        """Yield every attempt at every run, in the order of the names; columns as in NAMED."""
        if list(self._rows(ORPHANS)):
            raise damaged(self.path, "it has runs of an instance, an algorithm or a session that is not there")
        with self._damage("a run"):
            for rows in self._batches(named_attempts(self._columns)):
                yield from believed_rows(rows)

    def all_finished(self) -> Iterator[Finished]:
        """Yield what is finished, under whatever decisions."""
        for (decisions,) in list(self._rows("SELECT DISTINCT decisions FROM finished ORDER BY decisions")):
            yield from self._finished_under(decisions).values()

    def numbered_sessions(self) -> Iterator[NumberedSession]:
        """Yield every session, oldest first, with its number and the place of its plan among the plans."""
        places, query = self._plan_places(), "SELECT id, plan, started, environment FROM session ORDER BY id"
        with self._damage("a session"):
            for number, plan, started, environment in self._rows(query):
                checked(Session(started, json.loads(environment)))
                yield checked(NumberedSession(number, places[plan], started, environment))

    def made_with(self) -> dict[tuple[int, str], str]:
        """Return the digest of the code by the number of the session and the name of the algorithm."""
        if not self._has("made_with"):
            return {}
        rows = self._rows("SELECT session, name, digest FROM made_with JOIN algorithm ON id = algorithm")
        return {(session, name): digest for session, name, digest in rows}

    def all_decisions(self) -> Iterator[PlanDecision]:
        """Yield the decisions over instances of every plan, in the order in which they were recorded."""
        if self._has("decision"):
            places = self._plan_places()
            query = "SELECT plan, session, number, decision, digest, taken FROM decision ORDER BY id"
            with self._damage("a decision"):
                for plan, session, *kept in self._rows(query):
                    yield checked(PlanDecision(places[plan], session, _decision(*kept)))

    def fill(
        self,
        plans: Sequence[PlanRecord],
        sessions: Sequence[NumberedSession],
        runs: Iterable[Row],
        finished: Iterable[Finished],
        decisions: Iterable[PlanDecision],
        codes: Iterable[Code] = (),
        made_with: Iterable[Row] = (),
        meaning: Fingerprint | None = None,
    ) -> int:
        """Write a study into this file, which is new, all at once; return the number of its runs.

        Plans have their dates. `finished` is asked for when all runs are written. `made_with` are the sessions, digests
        and algorithms of the code. `meaning` is that of names which no plan may have.
        """
        with self._transaction() as connection:
            if meaning is not None:
                self._register(connection, meaning)
            for number, plan in enumerate(plans, 1):
                self._register(connection, plan.fingerprint)
                row = (number, plan.created, to_json(replace(plan, created="")))
                connection.execute("INSERT INTO plan VALUES (?, ?, ?)", row)
            if plans:
                connection.execute("UPDATE study SET created = ?", (min(plan.created for plan in plans),))
            self._read_names()
            connection.executemany(
                "INSERT INTO session VALUES (?, ?, ?, ?)",
                [(each.number, each.plan + 1, each.started, each.environment) for each in sessions],
            )
            connection.executemany(KEEP_CODE, map(self._code_row, codes))
            connection.executemany(MADE_WITH_NAMED, made_with)
            connection.executemany(ADD_NAMED, runs)
            connection.executemany(f"INSERT OR IGNORE{FINISH}", map(self._finished_row, finished))
            connection.executemany(
                DECIDE, [(each.plan + 1, *_decision_row(each.decision), each.session) for each in decisions]
            )
            (number,) = connection.execute("SELECT count(*) FROM last_run").fetchone()
        return int(number)

    def retire(self) -> None:
        """Close the file such that another can take its name: no journal is left that would be taken for the other's.

        StoreBusy while somebody reads it.
        """
        list(self._rows("COMMIT"))
        rows = list(self._rows("PRAGMA wal_checkpoint(TRUNCATE)"))
        if rows and rows[0][0]:
            raise StoreBusy(f"{self.path.name} is being read by another program; try again when it is done")
        self.close()
        for ending in BESIDE:
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file and let the next writer in; closing twice, or in a forked worker, does no harm."""
        if self._connection is None or self._pid != os.getpid():
            return
        self._connection.close()
        self._connection = None
        for lock in (self._lock, self._other_lock):
            if lock is not None:
                lock.release()

    # When the file is lost while it is open

    def make_sure(self) -> None:
        """Raise StoreUnusable when the file was removed, replaced, cut off or overwritten while it was open."""
        self._notice_loss()
        if self._insurance is not None and self._insurance.loss is not None:
            raise self._insurance.loss

    def _notice_loss(self) -> None:
        """Find out, before each write, whether the file is still ours; if not, go on in another one and say so."""
        insurance = self._insurance
        if insurance is None or insurance.loss is not None:
            return
        what = insurance.became(self._last_key)
        if what is not None:
            insurance.lose(what, "nothing could be saved beside it")
            raise insurance.lose(what, self._move_on(insurance))

    @property
    def _is_lost(self) -> bool:
        return self._insurance is not None and self._insurance.loss is not None

    def _last_key(self) -> Row | None:
        made = self._insurance.made if self._insurance is not None else ()
        if not made:
            return None
        columns = self._run_columns([made[-1]], 0)
        return next(zip(*(columns[name] for name in KEY), strict=True))

    def _move_on(self, insurance: Insurance) -> str:
        """Move to a new file with all that can still be read, else with the runs of this session; say which."""
        lost, saved = self.path, saved_beside(self._open_connection(), self.path, self._last_key())
        if saved is None:
            return "nothing can be written beside it, so its runs are lost"
        other = open_store(saved.place)
        old = self._open_connection()
        self._connection, self._other_lock, self.path = other._connection, other._lock, other.path
        abandon(old)
        if not saved.whole and insurance.begun is not None:
            made = list(insurance.made)
            self.begin(*insurance.begun)
            if insurance.code is not None:
                self.keep_code(*insurance.code)
            self._record(made, [])
        return saved.words(lost, sum(tally.runs for tally in self.tally()))

    def _begun_session(self) -> int:
        if self._session is None:
            raise StoreError(f"a plan must be begun before anything is recorded in {self.path.name}")
        return self._session

    def _counting(self, run: str = "run") -> str:
        """The condition for a run that counts. It is seldom more than a word: looking it up for each run takes time.

        The view that says the same is not asked: in a stranger's file it may be anything.
        """
        if self._has("code") and list(self._rows("SELECT 1 FROM code WHERE counts = 0 LIMIT 1")):
            return f"(({run}.session, {run}.algorithm) NOT IN ({SUPERSEDED}))"
        return "1"

    def _code_row(self, code: Code) -> Row:
        files = None if code.files is None else canonical(dict(code.files))
        return (self._number(self._algorithms, "algorithm", code.algorithm), code.digest, files, int(code.counts))

    def _write_mark(self, connection: sqlite3.Connection, session: int) -> None:
        if self._marked is not None:
            row = (_now("milliseconds"), session, canonical(asdict(self._marked)))
            connection.execute("INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?)", row)
            self._marked = None

    def _plan_places(self) -> dict[int, int]:
        return {number: place for place, (number,) in enumerate(self._rows("SELECT id FROM plan ORDER BY id"))}

    def _has(self, table: str) -> bool:
        """Whether the file has a table: one of an earlier version may lack it when it is only read."""
        return bool(list(self._rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,))))

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path.name} is closed; open it again")
        return self._connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, on the disk when it ends."""
        self._open_connection()
        if self._lock is None:
            raise StoreUnusable(f"{self.path.name} is open for reading only; open it with open_store to write")
        self._notice_loss()
        with translated_errors(self.path):
            connection = self._open_connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk has ended it already
                    connection.execute("ROLLBACK")
                raise
        if self._insurance is not None:
            self._insurance.mark()

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        return chain.from_iterable(self._batches(query, values))

    def _batches(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[list[Row]]:
        """Rows as they come: asking for each by itself would take longer than to read it."""
        connection = self._open_connection()
        if self._patience is not None:
            self._patience.renew()
        with translated_errors(self.path):
            cursor = connection.execute(query, values)
            while rows := cursor.fetchmany(BATCH):
                yield rows

    def _damage(self, what: str) -> AbstractContextManager[None]:
        return told_as_damage(self.path, what)

    def _observed(self, query: str, *values: Any) -> Iterator[Observation]:
        instances, algorithms = _by_number(self._instances), _by_number(self._algorithms)
        with self._damage("a run"):
            for rows in self._batches(query, values):
                yield from believed_runs(rows, instances, algorithms)

    def _read_names(self) -> None:
        with self._damage("the names of instances and algorithms"):
            self._instances = numbered_names(self._rows("SELECT name, id FROM instance"))
            self._algorithms = numbered_names(self._rows("SELECT name, id FROM algorithm"))

    def _binding(self, plan: PlanRecord) -> Fingerprint | None:
        """What the recorded runs hold fast. Runs that failed and will be tried again bind nothing: a command that
        never gave a value may be mended under its name."""
        which = "AND status = 'ok'" if plan.policy == StopStudy() else ""
        known = self._fingerprint(f"WHERE EXISTS (SELECT 1 FROM run WHERE {{table}} = {{table}}.id {which})")
        return known if known is not None and known.algorithms else None

    def _fingerprint(self, where: str) -> Fingerprint | None:
        """The seed, and the meaning of the names, as they are written down."""
        seeds = list(self._rows("SELECT seed FROM study"))
        if not seeds:
            return None
        algorithms = self._rows(f"SELECT name, identity FROM algorithm {where.format(table='algorithm')}")
        instances = self._rows(f"SELECT name, sha256 FROM instance {where.format(table='instance')}")
        with self._damage("what its names mean"):
            meaning = {name: json.loads(text) for name, text in algorithms}
            return checked(Fingerprint(seeds[0][0], meaning, dict(instances)))

    def _register(self, connection: sqlite3.Connection, planned: Fingerprint) -> None:
        """Write down names and what they mean. Those that nothing binds may have changed: what was finished is open."""
        known = self._fingerprint("")
        if known is not None and changed(known, planned):
            connection.execute("DELETE FROM finished")
        connection.execute(
            "INSERT INTO study VALUES (1, ?, ?) ON CONFLICT DO UPDATE SET seed = excluded.seed", (planned.seed, _now())
        )
        connection.executemany(
            "INSERT INTO algorithm (name, identity) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET identity = excluded.identity",
            [(name, canonical(identity)) for name, identity in planned.algorithms.items()],
        )
        connection.executemany(
            "INSERT INTO instance (name, sha256) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256",
            planned.instances.items(),
        )

    def _run_columns(self, seen: Sequence[Observation], session: int) -> dict[str, Iterable[Any]]:
        instances = [self._number(self._instances, "instance", each.key.instance) for each in seen]
        algorithms = [self._number(self._algorithms, "algorithm", each.key.algorithm) for each in seen]
        return columns_to_write(seen, instances, algorithms, session)

    def _finished_row(self, done: Finished) -> tuple[Any, ...]:
        number = self._number(self._instances, "instance", done.instance)
        return (number, done.decisions, done.reason, done.rounds, done.error, canonical(dict(done.counts)))

    def _number(self, numbers: Mapping[str, int], what: str, name: str) -> int:
        if name not in numbers:
            raise StoreError(f"a run must be of a planned {what}, got {name!r}; begin the plan that has it")
        return numbers[name]

    def _asked(self, *decisions: str) -> Codes:
        """How many runs were asked for, by the numbers of instance and algorithm; on those of the last plan."""
        asked = np.zeros((len(self._instances) + 1, len(self._algorithms) + 1), np.intp)
        planned = {name for plan in self.plans()[-1:] for name in plan.instances}
        for done in self.finished(*decisions).values():
            if done.instance not in planned:
                continue
            for algorithm, count in done.counts.items():
                asked[self._instances[done.instance], self._algorithms[algorithm]] = count
        return asked


def _decision_row(kept: DecisionRecord) -> Row:
    return (kept.number, canonical(to_data(kept.decision)), kept.digest, kept.taken)


def _finished(known: Mapping[str, int], *row: Any) -> Finished:
    done = checked(Finished(*row))
    if not known.keys() >= done.counts.keys():
        raise ValueError("it counts runs of an algorithm that is not there")
    return done


def _decision(number: int, text: str, digest: str, taken: str) -> DecisionRecord:
    return DecisionRecord(number, from_data(json.loads(text)), digest, taken)


def _store(connection: sqlite3.Connection, path: Path, lock: StudyLock | None) -> SqliteStore:
    try:
        return SqliteStore(connection, path, lock)
    except BaseException:
        connection.close()
        raise


def _kept_plan(connection: sqlite3.Connection, plan: PlanRecord) -> int:
    """The number of the plan; a plan that is not the last one's equal gets a new one."""
    text = to_json(replace(plan, created=""))
    last = connection.execute("SELECT id, record FROM plan ORDER BY id DESC LIMIT 1").fetchone()
    if last is not None and (last[1] == text or undated(from_json(last[1])) == undated(plan)):
        return int(last[0])
    row = (plan.created or _now(), text)
    return int(connection.execute("INSERT INTO plan (created, record) VALUES (?, ?)", row).lastrowid or 0)


def _by_number(numbers: Mapping[str, int]) -> dict[int, str]:
    return {number: name for name, number in numbers.items()}


def _in_order(first: Iterable[str], numbers: Mapping[str, int], column: Codes) -> tuple[tuple[str, ...], Codes]:
    """The names that occur, those of the plan first and in its order, and each row's place among them."""
    occurring = set(np.unique(column).tolist())
    names = [name for name in dict.fromkeys([*first, *numbers]) if numbers[name] in occurring]
    places = np.zeros(max(numbers.values(), default=0) + 1, np.intp)
    places[[numbers[name] for name in names]] = range(len(names))
    return tuple(names), places[column]


def _now(timespec: str = "seconds") -> str:
    return datetime.now(UTC).isoformat(timespec=timespec)
