"""The results file in SQLite: durable, one writer, many readers, data only."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from ampler.core.arrays import STATUSES, Codes, Runs
from ampler.core.errors import StoreBusy, StoreError, StoreUnusable
from ampler.core.failures import KINDS, StopStudy
from ampler.core.plan import DecisionRecord, Fingerprint, PlanRecord, StudyDecision
from ampler.core.runs import Code, Finished, Observation, Progress, Session, Tally
from ampler.core.serialization import canonical, validated
from ampler.core.settings import Better
from ampler.study.record import changed, from_json, to_json, undated
from ampler.study.stopping import from_data, holding, joined, recorded, to_data
from ampler.study.store import access
from ampler.study.store import rows as run_rows
from ampler.study.store.access import StudyLock, check_folder, check_sqlite, study_path
from ampler.study.store.rows import Row, check_table, refuse_mismatch, storable

Value = TypeVar("Value")
ORPHANS = """
    SELECT 1 FROM run WHERE instance NOT IN (SELECT id FROM instance) OR algorithm NOT IN (SELECT id FROM algorithm)
    OR session NOT IN (SELECT id FROM session) LIMIT 1
"""
BATCH = 1000  # rows that are read at once
BACKUP_INTERVAL = 600.0  # seconds of a session between two backups
FINISH = " INTO finished (instance, decisions, reason, rounds, error, counts) VALUES (?, ?, ?, ?, ?, ?)"
KEEP_CODE = "INSERT OR REPLACE INTO code (algorithm, digest, files, counts) VALUES (?, ?, ?, ?)"
MADE_WITH_NAMED = "INSERT OR IGNORE INTO made_with SELECT ?, id, ? FROM algorithm WHERE name = ?"
SUPERSEDED = """SELECT session.id, code.algorithm FROM code JOIN session LEFT JOIN made_with
    ON made_with.session = session.id AND made_with.algorithm = code.algorithm
    WHERE code.counts = 0 AND code.digest = coalesce(made_with.digest, '')"""
# what an instance was finished with in other families, without the algorithm, stays
REOPEN = "DELETE FROM finished WHERE instance = ? AND ? IN (SELECT key FROM json_each(counts))"
DECIDE = "INSERT INTO decision (plan, number, decision, digest, taken, session) VALUES (?, ?, ?, ?, ?, ?)"

# A run as a row of numbers; infinity stands for no value, as no value is infinite.
NO_VALUE = "9e999"
RUN_ROW = np.dtype(
    [(name, "i8") for name in ("instance", "algorithm", "index")]
    + [("value", "f8"), ("status", "u1"), ("kind", "u1"), ("attempt", "i8")]
)


def open_store(path: str | os.PathLike[str]) -> SqliteStore:
    """Open a results file for writing, or begin one. Only one process can: the others get StoreBusy.

    Use it in a `with` statement, or close it.
    """
    check_sqlite()
    file = study_path(path)
    check_folder(file)
    lock = StudyLock(file)
    is_new = not file.exists()
    try:
        with access.translated_errors(file), access.kept_open(access.connection_to_write(file)) as connection:
            return SqliteStore(connection, file, lock)
    except BaseException:
        for ending in ("", *access.JOURNALS) if is_new else ():  # a failed start leaves no file
            file.with_name(file.name + ending).unlink(missing_ok=True)
        lock.release()
        raise


def read_store(path: str | os.PathLike[str]) -> SqliteStore:
    """Open a results file for reading only; a study that is being run can be read at any time."""
    check_sqlite()
    file = study_path(path)
    if not file.exists():
        raise StoreUnusable(f"there is no results file {file}; `ampler run` creates it")
    with access.translated_errors(file), access.kept_open(access.connection_to_read(file)) as connection:
        return SqliteStore(connection, file, None)


def recorded_better(path: str | os.PathLike[str]) -> Better | None:
    """Return which values a results file has recorded as better; None if there is no such file yet."""
    if not os.path.isfile(path):
        return None
    try:
        with read_store(path) as store:
            plans = store.plans()
    except StoreUnusable:  # reported when it is opened for writing
        return None
    return plans[-1].question.better if plans else None


@dataclass(frozen=True, slots=True)
class NumberedSession:
    """Session in exchange between files: its number, the place of its plan, and its content."""

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
    """A results file, open. It fills the Store contract; made by open_store and read_store.

    It may be handed from thread to thread, and is used by one at a time.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, lock: StudyLock | None) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = connection
        self._locks = [] if lock is None else [lock]
        self._read_only = lock is None
        self._status = None if lock is None else os.stat(path)
        self._loss: StoreUnusable | None = None
        self._pid = os.getpid()
        self._session: int | None = None
        self._plan: int | None = None
        self._marked: Progress | None = None
        self._backup_due = float("inf")  # by time.monotonic(); never, unless something is recorded
        self._read_names()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, plan: PlanRecord, environment: Mapping[str, str]) -> None:
        """Record the plan with its date, if new, and the session; PlanMismatch when it does not fit the runs."""
        text = to_json(replace(plan, created=""))
        with self._transaction() as connection:
            refuse_mismatch(self._binding(plan), plan.fingerprint, self.path.name)
            self._register(connection, plan.fingerprint)
            last = connection.execute("SELECT id, record FROM plan ORDER BY id DESC LIMIT 1").fetchone()
            if last is not None and (last[1] == text or undated(from_json(last[1])) == undated(plan)):
                self._plan = last[0]
            else:
                row = (plan.created or _now(), text)
                self._plan = connection.execute("INSERT INTO plan (created, record) VALUES (?, ?)", row).lastrowid
            started = (self._plan, plan.created or _now(), canonical(dict(environment)))
            cursor = connection.execute("INSERT INTO session (plan, started, environment) VALUES (?, ?, ?)", started)
            self._session = cursor.lastrowid
        self._read_names()

    def add(self, observations: Iterable[Observation], finished: Iterable[Finished] = ()) -> None:
        """Record runs and finished instances, all or none; they are durable when this returns.

        StoreUnusable when another file has taken the place of the open one; all is then recorded in another, see
        `make_sure`.
        """
        self._begun_session()
        runs, done = list(map(storable, observations)), list(finished)
        try:
            self._record(runs, done)
        except StoreUnusable:
            if self._loss is not None:
                self._record(runs, done)
            raise
        now = time.monotonic()
        if now > self._backup_due:
            access.back_up(self._open_connection(), self.path)
        if self._locks and not now <= self._backup_due < float("inf"):
            self._backup_due = time.monotonic() + BACKUP_INTERVAL

    def _record(self, runs: Sequence[Observation], finished: Iterable[Finished]) -> None:
        insert = "INSERT" if self._loss is None else "INSERT OR IGNORE"  # a saved run may arrive twice
        with self._transaction() as connection:
            session = self._begun_session()
            instances = [self._number(self._instances, "instance", run.key.instance) for run in runs]
            algorithms = [self._number(self._algorithms, "algorithm", run.key.algorithm) for run in runs]
            try:
                if runs:
                    statement, rows = run_rows.insertion(runs, instances, algorithms, session)
                    connection.executemany(f"{insert} {statement}", rows)
            except sqlite3.IntegrityError as problem:
                raise StoreError(
                    f"a run must not be recorded twice in {self.path.name}; a run tried again is a further attempt"
                    f" ({problem})"
                ) from None
            reopened = {(self._instances[run.key.instance], run.key.algorithm) for run in runs if run.attempt}
            connection.executemany(REOPEN, reopened)
            connection.executemany(f"INSERT OR REPLACE{FINISH}", map(self._finished_row, finished))
            self._write_mark(connection, session)

    def observations(self, instance: str | None = None, *, superseded: bool = False) -> Iterator[Observation]:
        """Yield the last attempt of each run (`superseded`: every attempt), of one instance or of all."""
        select, which = (run_rows.every_attempt, "1") if superseded else (run_rows.last_attempts, self._counting())
        if instance is not None:
            which = f"instance = {self._instances.get(instance, -1):d} AND {which}"
        return self._observed(select(f"WHERE {which}"))

    def failures(self) -> tuple[Observation, ...]:
        """Return the runs whose last attempt gave no value."""
        return tuple(self._observed(run_rows.failed_last(self._counting(), self._counting("later"))))

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
        indexes, begun = self._plan_indexes(), dict[int, set[str]]()
        for plan, name in self._rows(query):
            begun.setdefault(indexes[plan], set()).add(name)
        return {index: frozenset(names) for index, names in begun.items()}

    def finished(self, *decisions: str) -> dict[str, Finished]:
        """Return the finished instances under these decisions, by name; later ones add to earlier ones."""
        return joined(map(self._finished_under, decisions))

    def _finished_under(self, decisions: str) -> dict[str, Finished]:
        query = (
            "SELECT name, decisions, reason, counts, rounds, error FROM finished JOIN instance ON id = instance"
            " WHERE decisions = ? ORDER BY id"
        )

        def read(name: str, digest: str, reason: str, counts: str, *others: Any) -> Finished:
            done = Finished(name, digest, reason, json.loads(counts), *others)
            if not self._algorithms.keys() >= done.counts.keys():
                raise ValueError("it counts runs of an algorithm that is not there")
            return done

        return {done.instance: done for done in self._read("the finished instances", query, read, decisions)}

    def tally(self) -> tuple[Tally, ...]:
        """Count the recorded runs of each algorithm on each instance."""
        # grouping all runs to find the last attempt of each would take three times as long
        counting, tally = self._counting(), []
        query = f"{run_rows.COUNTS}, max(attempt) FROM run WHERE {counting} GROUP BY instance, algorithm"
        of_cell = f"""{run_rows.COUNTS} FROM (SELECT instance, algorithm, status, seconds, max(attempt) FROM run
            WHERE instance = ? AND algorithm = ? AND {counting} GROUP BY "index")"""
        with access.surprises_as_damage(self.path, "its runs"):
            for *cell, highest in self._rows(query):
                instance, algorithm, *counts = next(self._rows(of_cell, tuple(cell[:2]))) if highest else cell
                tally.append(Tally(self._instance_names[instance], self._algorithm_names[algorithm], *counts))
            return tuple(map(validated, tally))

    def latest(self, most: int, *, failed: bool = False) -> list[Observation]:
        """Return the attempts that began last, newest first; with `failed` those that gave no value."""
        which = f"{self._counting()}{' AND value IS NULL' if failed else ''}"
        return list(self._observed(run_rows.latest_runs(which), most))

    def runs(self, *decisions: str, measure: str | None = None, plan: int = -1) -> Runs:
        """Return the runs as columns; with `decisions`, those asked for on the instances that are done under them.

        A `measure` stands in the place of the value; runs without it have failed.
        Instances and algorithms are named in the order of a plan, the last one by default; with `decisions` the others
        are left out.
        """
        code = "CASE status " + " ".join(f"WHEN '{status}' THEN {n}" for n, status in enumerate(STATUSES)) + " END"
        number = f"CASE typeof(value) WHEN 'real' THEN value WHEN 'null' THEN {NO_VALUE} END"
        kind = run_rows.kind_number()
        if measure is not None:
            own = run_rows.measure_value(measure)
            missing = f"value IS NOT NULL AND {own} IS NULL"
            number = f"CASE WHEN value IS NULL OR {own} IS NULL THEN {NO_VALUE} ELSE {own} END"
            code = f"CASE WHEN {missing} THEN {STATUSES.index('failed')} ELSE {code} END"
            kind = f"CASE WHEN {missing} THEN {KINDS.index('unknown')} ELSE {kind} END"
        query = (
            f'SELECT instance, algorithm, "index", {number}, {code}, {kind}, max(attempt) FROM run'
            f' WHERE {self._counting()} GROUP BY instance, algorithm, "index"'
        )
        plans = self.plans()
        names = (plans[plan].instances, plans[plan].algorithms) if plans else ((), ())
        with access.surprises_as_damage(self.path, "its runs"):
            table = np.fromiter(self._rows(query), dtype=RUN_ROW)
            check_table(table, len(self._instances), len(self._algorithms))
            if decisions:  # how many runs were requested, by the numbers of instance and algorithm
                requested = np.zeros((len(self._instances) + 1, len(self._algorithms) + 1), np.intp)
                finished = self.finished(*decisions)
                for name in (name for name in names[0] if name in finished):
                    for program, most in finished[name].counts.items():
                        requested[self._instances[name], self._algorithms[program]] = most
                table = table[table["index"] < requested[table["instance"], table["algorithm"]]]
        value = np.where(np.isinf(table["value"]), np.nan, table["value"])
        with access.surprises_as_damage(self.path, "the names of its plan"):
            instances, instance = _in_order(names[0], self._instances, table["instance"])
            algorithms, algorithm = _in_order(names[1], self._algorithms, table["algorithm"])
        status = table["status"].copy()
        return Runs(instances, algorithms, instance, algorithm, value, status, kind=table["kind"].copy())

    def decide(self, number: int, decision: StudyDecision) -> None:
        """Record how the study continues after `number` finished groups, under the plan that was begun."""
        session, record = self._begun_session(), recorded(number, decision, _now())
        with self._transaction() as connection:
            connection.execute(DECIDE, (self._plan, *_decision_row(record), session))
            self._write_mark(connection, session)

    def decisions(self, plan: int = -1) -> tuple[DecisionRecord, ...]:
        """Return the decisions over instances that hold under a plan, the last one by default, in their order."""
        index = range(len(self._plan_indexes()))[plan] if self._plan_indexes() else 0
        return holding(item.decision for item in self.all_decisions() if item.plan == index)

    def mark(self, progress: Progress) -> None:
        """Keep the progress of the study; it is written with the next record."""
        self._marked = progress

    def progress(self) -> Progress | None:
        """Return the last recorded progress of the study; None if there is none."""
        query = "SELECT progress, written FROM progress"
        read = self._read("its progress", query, lambda text, date: Progress(**{**json.loads(text), "written": date}))
        return next(read, None)

    def plans(self) -> tuple[PlanRecord, ...]:
        """Return every plan the study had, oldest first."""
        query = "SELECT record, created FROM plan ORDER BY id"
        return tuple(self._read("its plan", query, lambda text, date: replace(from_json(text), created=date)))

    def sessions(self) -> tuple[Session, ...]:
        """Return every session, oldest first."""
        query = "SELECT started, environment FROM session ORDER BY id"
        return tuple(self._read("a session", query, lambda started, text: Session(started, json.loads(text))))

    def keep_code(self, codes: Iterable[Code], present: Mapping[str, Code]) -> None:
        """Record which code counts, and with which code each algorithm is run in this session."""
        session, new = self._begun_session(), list(codes)
        counted = {(code.algorithm, code.digest): code.counts for code in self.codes()}
        with self._transaction() as connection:
            if any(counted.get((code.algorithm, code.digest), True) != code.counts for code in new):
                connection.execute("DELETE FROM finished")
            connection.executemany(KEEP_CODE, map(self._code_row, new))
            made_with = [(session, self._algorithms[name], code.digest) for name, code in present.items()]
            connection.executemany("INSERT OR REPLACE INTO made_with VALUES (?, ?, ?)", made_with)

    def codes(self) -> tuple[Code, ...]:
        """Return the code versions of all runs, by algorithm."""
        query = "SELECT name, files, counts FROM code JOIN algorithm ON id = algorithm ORDER BY id, digest"

        def read(name: str, files: str | None, counts: int) -> Code:
            return Code(name, None if files is None else json.loads(files), bool(counts))

        return tuple(self._read("its code", query, read))

    def superseded(self) -> Iterator[Observation]:
        """Yield the attempts made with superseded code."""
        return self._observed(run_rows.every_attempt(f"WHERE NOT {self._counting()}"))

    # For merging: a results file read as it is, and a new one written at once

    def snapshot(self) -> None:
        """Read a snapshot of the file from now on, even while it grows."""
        list(self._rows("BEGIN"))

    def meaning(self, where: str = "") -> Fingerprint | None:
        """Return the seed, and what every name means, or those of a condition; None when no plan was begun."""
        seeds = list(self._rows("SELECT seed FROM study"))
        if not seeds:
            return None
        algorithms = self._rows(f"SELECT name, identity FROM algorithm {where.format(table='algorithm')}")
        instances = self._rows(f"SELECT name, sha256 FROM instance {where.format(table='instance')}")
        with access.surprises_as_damage(self.path, "the meaning of its names"):
            meaning = {name: json.loads(text) for name, text in algorithms}
            return validated(Fingerprint(seeds[0][0], meaning, dict(instances)))

    def attempts(self) -> Iterator[Row]:
        """Yield every attempt at every run, in the order of the names; columns as in NAMED."""
        if list(self._rows(ORPHANS)):
            raise access.damaged(self.path, "it has runs of an instance, an algorithm or a session that is not there")
        with access.surprises_as_damage(self.path, "a run"):
            for rows in self._batches(run_rows.named_attempts()):
                yield from run_rows.checked_rows(rows)

    def all_finished(self) -> Iterator[Finished]:
        """Yield the finished instances under all decisions."""
        for (decisions,) in list(self._rows("SELECT DISTINCT decisions FROM finished ORDER BY decisions")):
            yield from self._finished_under(decisions).values()

    def numbered_sessions(self) -> Iterator[NumberedSession]:
        """Yield every session, oldest first, with its number and the place of its plan among the plans."""
        indexes, query = self._plan_indexes(), "SELECT id, plan, started, environment FROM session ORDER BY id"

        def read(number: int, plan: int, started: str, environment: str) -> NumberedSession:
            validated(Session(started, json.loads(environment)))
            return NumberedSession(number, indexes[plan], started, environment)

        return self._read("a session", query, read)

    def made_with(self) -> dict[tuple[int, str], str]:
        """Return the digest of the code by the number of the session and the name of the algorithm."""
        rows = self._rows("SELECT session, name, digest FROM made_with JOIN algorithm ON id = algorithm")
        return {(session, name): digest for session, name, digest in rows}

    def all_decisions(self) -> Iterator[PlanDecision]:
        """Yield the decisions over instances of every plan, in the order in which they were recorded."""
        indexes, query = self._plan_indexes(), "SELECT plan, session, number, decision, digest, taken FROM decision"

        def read(plan: int, session: int, number: int, text: str, *others: str) -> PlanDecision:
            decision = DecisionRecord(number, from_data(json.loads(text)), *others)
            return PlanDecision(indexes[plan], session, decision)

        return self._read("a decision", f"{query} ORDER BY id", read)

    def fill(
        self,
        plans: Sequence[PlanRecord],
        sessions: Sequence[NumberedSession],
        runs: Iterable[Row],
        finished: Iterable[Finished],
        decisions: Iterable[PlanDecision],
        codes: Iterable[Code] = (),
        made_with: Iterable[Row] = (),
    ) -> int:
        """Write a study into this file, which is new, all at once; return the number of its runs.

        Plans have their dates. `finished` is read when all runs are written. `made_with` are the sessions, digests and
        algorithms of the code.
        """
        with self._transaction() as connection:
            for number, plan in enumerate(plans, 1):
                self._register(connection, plan.fingerprint)
                row = (number, plan.created, to_json(replace(plan, created="")))
                connection.execute("INSERT INTO plan VALUES (?, ?, ?)", row)
            connection.execute("UPDATE study SET created = ?", (min(plan.created for plan in plans),))
            self._read_names()
            numbered = [(item.number, item.plan + 1, item.started, item.environment) for item in sessions]
            connection.executemany("INSERT INTO session VALUES (?, ?, ?, ?)", numbered)
            connection.executemany(KEEP_CODE, map(self._code_row, codes))
            connection.executemany(MADE_WITH_NAMED, made_with)
            connection.executemany(run_rows.ADD_NAMED, runs)
            connection.executemany(f"INSERT OR IGNORE{FINISH}", map(self._finished_row, finished))
            rows = [(item.plan + 1, *_decision_row(item.decision), item.session) for item in decisions]
            connection.executemany(DECIDE, rows)
            (number,) = connection.execute("SELECT count(*) FROM last_run").fetchone()
        return int(number)

    def retire(self) -> None:
        """Close the file such that another can take its name: no journal is left that would be taken for the other's.

        StoreBusy while somebody reads it.
        """
        list(self._rows("COMMIT"))
        if any(is_blocked for is_blocked, *_ in self._rows("PRAGMA wal_checkpoint(TRUNCATE)")):
            raise StoreBusy(f"{self.path.name} is being read by another program; try again when it is done")
        self.close()
        for ending in access.JOURNALS:
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file and release its lock; closing twice, or in a forked worker, is harmless."""
        if self._connection is None or self._pid != os.getpid():
            return
        if self._backup_due < float("inf"):
            access.back_up(self._connection, self.path)
        self._connection.close()
        self._connection = None
        for lock in self._locks:
            lock.release()

    def make_sure(self) -> None:
        """Raise StoreUnusable when the file was removed or replaced while it was open.

        What it held is then saved in another file, and so is what is recorded from now on.
        """
        if self._status is not None and self._loss is None:
            try:
                what = "" if os.path.samestat(os.stat(self.path), self._status) else "was replaced by another file"
            except OSError:
                what = "was removed or renamed"
            if what:
                self._loss = StoreUnusable(f"{self.path.name} {what} while the study ran; {self._save_elsewhere()}")
        if self._loss is not None:
            raise self._loss

    def _save_elsewhere(self) -> str:
        """Continue in a copy of the open file; return its path."""
        lost = self.path
        names = (lost.with_stem(f"{lost.stem}-saved{'' if number == 1 else f'-{number}'}") for number in count(1))
        copy = next(file for file in names if not os.path.lexists(file))
        try:
            with closing(sqlite3.connect(copy)) as saved:
                self._open_connection().backup(saved)
        except sqlite3.Error:
            return "nothing can be written next to it, so its runs are lost"
        with suppress(sqlite3.Error):
            self._open_connection().close()
        self._locks.append(StudyLock(copy))
        self._connection, self.path = access.connection_to_write(copy), copy
        runs = sum(tally.runs for tally in self.tally())
        remedy = f"add them to a copy of {lost.name} with ampler merge, or rename {copy.name}"
        return f"its {runs} runs are saved in {copy.name}; {remedy}"

    def _begun_session(self) -> int:
        if self._session is None:
            raise StoreError(f"a plan must be begun before anything is recorded in {self.path.name}")
        return self._session

    def _counting(self, run: str = "run") -> str:
        """The SQL condition for a run that counts; simple in most cases, for speed.

        The view that says the same is not asked: in a stranger's file it may be anything.
        """
        if list(self._rows("SELECT 1 FROM code WHERE counts = 0 LIMIT 1")):
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

    def _plan_indexes(self) -> dict[int, int]:
        return {number: index for index, (number,) in enumerate(self._rows("SELECT id FROM plan ORDER BY id"))}

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path.name} is closed; open it again")
        return self._connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Transaction that is durable when it ends."""
        connection = self._open_connection()
        if self._read_only:
            raise StoreUnusable(f"{self.path.name} is open for reading only; open it with open_store to write")
        if self._loss is None:
            self.make_sure()
        with access.translated_errors(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # already ended by a full disk
                    connection.execute("ROLLBACK")
                raise

    def _read(self, what: str, query: str, make: Callable[..., Value], *values: Any) -> Iterator[Value]:
        """Yield `make` of each checked row; errors are reported as damage to `what`."""
        with access.surprises_as_damage(self.path, what):
            for row in self._rows(query, values):
                yield validated(make(*row))

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        return chain.from_iterable(self._batches(query, values))

    def _batches(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[list[Row]]:
        """Rows in blocks, as fetching single rows is slow."""
        connection = self._open_connection()
        with access.translated_errors(self.path):
            cursor = connection.execute(query, values)
            while rows := cursor.fetchmany(BATCH):
                yield rows

    def _observed(self, query: str, *values: Any) -> Iterator[Observation]:
        with access.surprises_as_damage(self.path, "a run"):
            for rows in self._batches(query, values):
                yield from run_rows.observations_of(rows, self._instance_names, self._algorithm_names)

    def _read_names(self) -> None:
        with access.surprises_as_damage(self.path, "the names of instances and algorithms"):
            self._instances = run_rows.numbered_names(self._rows("SELECT name, id FROM instance"))
            self._algorithms = run_rows.numbered_names(self._rows("SELECT name, id FROM algorithm"))
        self._instance_names, self._algorithm_names = (
            {number: name for name, number in numbers.items()} for numbers in (self._instances, self._algorithms)
        )

    def _binding(self, plan: PlanRecord) -> Fingerprint | None:
        """What the recorded runs hold fast. Runs that failed and will be tried again bind nothing: a command that
        never gave a value may be fixed under its name."""
        which = "AND status = 'ok'" if plan.policy == StopStudy() else ""
        recorded = self.meaning(f"WHERE EXISTS (SELECT 1 FROM run WHERE {{table}} = {{table}}.id {which})")
        return recorded if recorded is not None and recorded.algorithms else None

    def _register(self, connection: sqlite3.Connection, planned: Fingerprint) -> None:
        """Record names and their definitions. Unused names may have changed: their instances are open again."""
        registered = self.meaning()
        if registered is not None and changed(registered, planned):
            connection.execute("DELETE FROM finished")
        statement = "INSERT INTO study VALUES (1, ?, ?) ON CONFLICT DO UPDATE SET seed = excluded.seed"
        connection.execute(statement, (planned.seed, _now()))
        identities = {name: canonical(identity) for name, identity in planned.algorithms.items()}
        for table, column, named in ("algorithm", "identity", identities), ("instance", "sha256", planned.instances):
            insert = f"INSERT INTO {table} (name, {column}) VALUES (?, ?)"
            update = f"ON CONFLICT (name) DO UPDATE SET {column} = excluded.{column}"
            connection.executemany(f"{insert} {update}", named.items())

    def _finished_row(self, done: Finished) -> tuple[Any, ...]:
        number = self._number(self._instances, "instance", done.instance)
        return (number, done.decisions, done.reason, done.rounds, done.error, canonical(dict(done.counts)))

    def _number(self, numbers: Mapping[str, int], what: str, name: str) -> int:
        if name not in numbers:
            raise StoreError(f"a run must be of a planned {what}, got {name!r}; begin the plan with it")
        return numbers[name]


def _decision_row(record: DecisionRecord) -> Row:
    return (record.number, canonical(to_data(record.decision)), record.digest, record.taken)


def _in_order(first: Iterable[str], numbers: Mapping[str, int], column: Codes) -> tuple[tuple[str, ...], Codes]:
    """The names that occur, in the order of the plan first, and the index of each row's name."""
    occurring = set(np.unique(column).tolist())
    names = [name for name in dict.fromkeys([*first, *numbers]) if numbers[name] in occurring]
    places = np.zeros(max(numbers.values(), default=0) + 1, np.intp)
    places[[numbers[name] for name in names]] = range(len(names))
    return tuple(names), places[column]


def _now(timespec: str = "seconds") -> str:
    return datetime.now(UTC).isoformat(timespec=timespec)
