"""What can be read of a damaged results file and of its backup becomes a new, sound one."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ampler.core.errors import StoreBusy, StoreError, StoreUnusable
from ampler.core.runs import Finished
from ampler.core.serialization import replace_file
from ampler.study.run_inputs import run_seed
from ampler.study.store.lock import StudyLock, check_folder, study_path
from ampler.study.store.rows import NAMED, Row, checked_rows, every_attempt
from ampler.study.store.session import BACKUP, SURPRISES, connection_to_rescue
from ampler.study.store.store import NumberedSession, SqliteStore, draft_store

MAX_GAP = 1000  # indexes in a row without a readable run, after which no more is expected
MAX_RUNS = 10**9  # of one algorithm on one instance
UNKNOWN = '{"ampler":"unknown: this session could not be rescued"}'
SEED, ATTEMPT = NAMED.index("seed"), NAMED.index("attempt")


@dataclass(frozen=True, slots=True)
class Rescued:
    """What came of a rescue: the number of runs saved, of those known to be lost, and what else is lost, in words."""

    runs: int
    missing: int
    lost: tuple[str, ...]
    plans: int


def rescue_store(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> Rescued:
    """Save every run that can be read in a damaged results file, and in its backup, into a new file, `target`.

    Plans and sessions come from the first of the two in which they can be read. The damaged file is left as it is. A
    run whose seed is not the one of its key is taken for damaged and left out.
    """
    source, goal = study_path(path), study_path(target)
    if not source.exists():
        raise StoreUnusable(f"there is no results file {source} to rescue")
    if goal.exists():
        raise StoreUnusable(f"a rescue writes a new file, and {goal} is there; choose another with -o")
    check_folder(goal)
    with ExitStack() as stack:
        try:  # while the file is read nobody writes it; where nothing can be written nobody does
            stack.callback(StudyLock(source).release)
        except StoreBusy:
            raise
        except StoreUnusable:
            pass
        connections = list(_connections(source, stack))
        stores = [store for connection in connections if (store := _store(connection, source)) is not None]
        if not stores:
            raise StoreUnusable(f"nothing of a study can be read in {source.name}; take it from a backup")
        with replace_file(goal) as draft, draft_store(draft, goal) as new:
            return _write(new, stores[0], connections)


def _connections(source: Path, stack: ExitStack) -> Iterator[sqlite3.Connection]:
    """Connections to the damaged file and to its backup, if that is of the same study."""
    studies = set()
    for file in (source, Path(f"{source}{BACKUP}")):
        with suppress(sqlite3.Error):
            if file.is_file():
                connection = connection_to_rescue(file)
                stack.callback(connection.close)
                with suppress(sqlite3.Error):
                    studies.add(connection.execute("SELECT seed, created FROM study").fetchone())
                if len(studies) < 2:
                    yield connection


def _store(connection: sqlite3.Connection, source: Path) -> SqliteStore | None:
    """A file in which all that runs depend on can be read: names, plans and sessions."""
    with suppress(StoreError, sqlite3.Error):
        store = SqliteStore(connection, source, None)
        if store.meaning() is not None and store.plans():
            list(store.numbered_sessions())
            return store
    return None


def _write(new: SqliteStore, base: SqliteStore, connections: Sequence[sqlite3.Connection]) -> Rescued:
    """Write the plans and sessions of a file, and what can be read of all, into a new file."""
    meaning = base.meaning()
    assert meaning is not None
    runs: dict[Row, Row] = {}
    problems = 0
    for connection in connections:
        for instance in enumerate(meaning.instances, 1):
            for algorithm in enumerate(meaning.algorithms, 1):
                rows, is_damaged = _rows(connection, instance, algorithm)
                problems += is_damaged
                for row in rows:
                    runs.setdefault(row[:3] + row[ATTEMPT : ATTEMPT + 1], row)
    foreign = [key for key, row in runs.items() if row[SEED] != run_seed(meaning.seed, *key[:3])]
    foreign = foreign if 2 * len(foreign) < len(runs) else []  # who records runs in Python may have other seeds
    for key in foreign:
        del runs[key]
    plans, sessions = base.plans(), list(base.numbered_sessions())
    unknown = {row[-1] for row in runs.values()} - {session.number for session in sessions}
    sessions += [NumberedSession(number, len(plans) - 1, "", UNKNOWN) for number in sorted(unknown)]
    derived: tuple[Sequence[Any], ...] = ((), (), (), ())  # what follows from runs and plans, as far as it can be read
    with suppress(StoreError):
        made_with = [(session, digest, algorithm) for (session, algorithm), digest in base.made_with().items()]
        derived = list(base.all_finished()), list(base.all_decisions()), base.codes(), made_with
    finished, missing = _complete(derived[0], runs)
    new.fill(plans, sessions, [runs[key] for key in sorted(runs)], finished, *derived[1:])
    gaps = (
        (missing, "recorded run{s}"),
        (len(foreign), "unreadable record{s}"),
        (problems, "page{s} or records that make no sense"),
        (len(unknown), "session{s}: when and where runs were made"),
    )
    lost = tuple(f"{number} {what.format(s='' if number == 1 else 's')}" for number, what in gaps if number > 0)
    return Rescued(len(runs), missing, lost, len(plans))


def _rows(
    connection: sqlite3.Connection, instance: tuple[int, str], algorithm: tuple[int, str]
) -> tuple[list[Row], bool]:
    """The runs of an algorithm on an instance, read one by one where a query for all fails; and whether it failed."""

    def read(condition: str = "", *values: int) -> list[Row]:
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(run)")]
        query = every_attempt(columns, f"WHERE instance = ? AND algorithm = ? {condition}", "session")
        selected = connection.execute(query, (instance[0], algorithm[0], *values))
        rows = [(instance[1], algorithm[1], *row[2:]) for row in selected]
        return list(checked_rows(rows)) if rows else []

    try:
        return read(), False
    except (sqlite3.Error, *SURPRISES):
        rows: list[Row] = []
    last = 0
    for index in range(MAX_RUNS):
        with suppress(sqlite3.Error, *SURPRISES):
            if new := read('AND "index" = ?', index):
                rows, last = rows + new, index
        if index > last + MAX_GAP:
            break
    return rows, True


def _complete(finished: Iterable[Finished], runs: Iterable[Row]) -> tuple[list[Finished], int]:
    """The finished instances all of whose runs are there, and the number of runs that must have been and are not."""
    present: dict[Row, set[int]] = {}
    for instance, algorithm, index, _ in runs:
        present.setdefault((instance, algorithm), set()).add(index)
    expected = Counter({cell: max(indexes) + 1 for cell, indexes in present.items()})
    complete = []
    for done in finished:
        counts = {(done.instance, name): min(number, MAX_RUNS) for name, number in done.counts.items()}
        expected |= Counter(counts)
        if all(sum(index < number for index in present.get(cell, ())) == number for cell, number in counts.items()):
            complete.append(done)
    return complete, expected.total() - sum(map(len, present.values()))
