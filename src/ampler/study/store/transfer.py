"""Runs move into a new file: those of several parts, where nothing contradicts another; those of a damaged file."""

from __future__ import annotations

import heapq
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

from ampler.core.errors import InvalidData, PlanMismatch, StoreBusy, StoreError, StoreUnusable
from ampler.core.failures import StopStudy
from ampler.core.plan import Fingerprint, PlanRecord
from ampler.core.runs import Code, Finished, RunKey
from ampler.core.serialization import replace_file
from ampler.study.code import counting, joined_codes
from ampler.study.record import FIRST_FORMULA, changed, undated
from ampler.study.run_inputs import run_seed
from ampler.study.store import access
from ampler.study.store.access import StudyLock, check_folder, study_path
from ampler.study.store.rows import DEFAULTS, KEY, NAMED, Row, checked_rows, take, with_attempt
from ampler.study.store.store import NumberedSession, PlanDecision, SqliteStore, open_store, read_store

CAUSES = {"fingerprint", "question", "rule", "limits", "policy", "retries"}  # from which the rest of a plan follows
RunFilter = Callable[[int, str], bool]  # whether the runs of a session and an algorithm count
key_of = take(*KEY)
outcome_of = take("status", "value")
session_of = take("session")
made_by = take("session", "algorithm")


@dataclass(frozen=True, slots=True)
class Merged:
    """Result of a merge: the plan of the whole, the number of runs, and the missing parts."""

    plan: PlanRecord
    runs: int
    missing: tuple[str, ...]


def merge_stores(
    paths: Iterable[str | os.PathLike[str]], target: str | os.PathLike[str], *, same: bool = False
) -> Merged:
    """Put results files of one plan together into `target`, which is replaced only when the new file is complete.

    A target that exists is one more part: nothing in it is lost, and merging twice changes nothing. PlanMismatch when
    the files do not have the same plan, when two of them have different values for the same run, or when their runs
    were made with different code that is not said to be the `same`.
    """
    goal = study_path(target)
    files = list(dict.fromkeys(path for path in map(study_path, paths) if path != goal))
    if not files:
        raise InvalidData("there is nothing to merge: name the results files of the parts")
    access.check_sqlite()
    check_folder(goal)
    with ExitStack() as stack:
        stack.callback(StudyLock(goal).release)
        before: list[_Source] = []
        if goal.exists():
            with access.translated_errors(goal):
                connection = access.connection_to_write(goal)
            before = [_source(stack.enter_context(SqliteStore(connection, goal, None)))]
        parts = [_source(stack.enter_context(read_store(path))) for path in files]
        sources, plans = [*before, *parts], _history(before, parts)
        codes = joined_codes({source.name: source.store.codes() for source in sources}, same=same)
        with replace_file(goal) as path:
            with _draft_store(path, goal) as draft:
                number = _written(draft, sources, plans, codes)
            for source in before:
                source.store.retire()
        given = [source.part for source in sources]
        cuts = {part.partition("/")[2] for part in given}
        all_parts = range(1, int(cuts.pop()) + 1) if "" not in given and len(cuts) == 1 else ()  # a whole lacks nothing
        missing = [part for place in all_parts if (part := f"{place}/{len(all_parts)}") not in given]
        return Merged(plans[-1], number, tuple(missing))


@dataclass(eq=False)
class _Source:
    """A results file to merge: its plans, oldest first, as plans of the whole, and the definitions of its names."""

    store: SqliteStore
    name: str
    plans: tuple[PlanRecord, ...]
    last: str  # plan, without its date
    part: str
    meaning: Fingerprint
    made_with: Mapping[tuple[int, str], str]
    counts: RunFilter  # which of its runs count in it by itself …
    joint: RunFilter  # … and in the whole
    numbers: dict[int, int] = field(default_factory=dict)  # of its sessions in the whole
    stale: set[str] = field(default_factory=set)  # instances whose runs gave way: how they ended is no longer true


Attempts = list[tuple[_Source, Row]]  # of one run, each with the file it comes from


def _source(store: SqliteStore) -> _Source:
    """A results file as it is at this moment; one that is being run may grow meanwhile."""
    store.snapshot()
    plans, meaning, made_with = store.plans(), store.meaning(), store.made_with()
    if not plans or meaning is None:
        raise StoreUnusable(f"{store.path.name} holds no plan yet; run this part first, or omit it")
    whole = tuple(replace(plan, part="", elsewhere=()) for plan in plans)
    own = counting(store.codes(), made_with)
    return _Source(store, store.path.name, whole, undated(whole[-1]), plans[-1].part, meaning, made_with, own, own)


@contextmanager
def _draft_store(path: Path, goal: Path) -> Iterator[SqliteStore]:
    """Open a new results file that is to take another's place: nothing lies next to it when it is closed.

    What goes wrong is said of the file that was requested."""
    try:
        with open_store(path) as store:
            yield store
    except StoreError as problem:
        raise type(problem)(str(problem).replace(str(path), str(goal)).replace(path.name, goal.name)) from None
    finally:
        for ending in (*access.JOURNALS, ".lock"):
            path.with_name(path.name + ending).unlink(missing_ok=True)


# Comparison of the plans


def _history(before: Sequence[_Source], parts: Sequence[_Source]) -> list[PlanRecord]:
    """The plans of the whole, oldest first, with the dates they were first made; the last one is in force."""
    first = parts[0]
    for other in (*before, *parts[1:]):
        change = changed(first.meaning, other.meaning)
        if change is not None:
            raise PlanMismatch(f"{other.name} is no part of the study in {first.name}: {change}; omit this file")
    for other in parts[1:]:
        if other.last != first.last:
            raise PlanMismatch(_difference(first, other))
    plans_of_parts = {undated(plan) for part in parts for plan in part.plans}
    for target in before:
        if target.last not in plans_of_parts:
            raise PlanMismatch(
                f"{target.name} was run with another plan than the parts; merge them into another file, or run"
                " the parts with the same study.toml first"
            )
    # the longest history, and before its last plan those that only others had; a plan has its earliest date
    earliest: dict[str, PlanRecord] = {}
    for plan in sorted((plan for source in (*before, *parts) for plan in source.plans), key=lambda plan: plan.created):
        earliest.setdefault(undated(plan), plan)
    longest = max((part.plans for part in parts), key=len)
    history = [earliest.pop(text, next(same)) for text, same in groupby(longest, key=undated)]  # parts may be cut again
    *early, last = history
    return [*sorted([*early, *earliest.values()], key=lambda plan: plan.created), last]


def _difference(first: _Source, other: _Source) -> str:
    """Name the difference between two plans."""
    what, one, two = _field_of("plan", *(json.loads(source.last) for source in (first, other)))
    way_out = "run all parts with the same study.toml, then merge them"
    if what == "guard_edition":  # the same study.toml, but one part was begun with an earlier calibration version
        what, one, two = "guard-edition", one or 1, two or 1
        way_out = f"set guard-edition = {min(one, two)} in [rule] of study.toml and run the other part again"
    if what == "formula":  # likewise
        one, two = one or FIRST_FORMULA, two or FIRST_FORMULA
        way_out = f'say formula = "{FIRST_FORMULA}" in study.toml and run the other part again'
    shown = [f"{len(value)} of them" if isinstance(value, dict | list) else repr(value) for value in (one, two)]
    return f"the plans differ: {what} is {shown[0]} in {first.name} and {shown[1]} in {other.name}; {way_out}"


def _field_of(field: str, one: Any, two: Any) -> tuple[str, Any, Any]:
    """The innermost different field with its two values; causes come before derived fields."""
    if isinstance(one, dict) and isinstance(two, dict) and field not in ("algorithms", "instances"):
        differing = [name for name in {**one, **two} if one.get(name) != two.get(name)]
        inner = min(differing, key=lambda name: name not in CAUSES)
        return _field_of(inner, one.get(inner), two.get(inner))
    return field, one, two


# Writing


def _written(store: SqliteStore, sources: Sequence[_Source], plans: Sequence[PlanRecord], codes: Sequence[Code]) -> int:
    """Fill an empty results file; return the number of runs."""
    indexes = {undated(plan): index for index, plan in enumerate(plans)}
    for source in sources:
        source.joint = counting(codes, source.made_with)
    sessions, pending = _numbered_sessions(sources, indexes), isinstance(plans[-1].policy, StopStudy)
    held: dict[int, list[PlanDecision]] = {}  # by plan; decisions of a part speak of that part alone
    for source in sources:
        for item in [] if source.part else source.store.all_decisions():
            plan, number = indexes[undated(source.plans[item.plan])], item.decision.number
            in_force = held.setdefault(plan, [])
            if [old.decision.digest for old in in_force[number : number + 1]] != [item.decision.digest]:
                in_force[number:] = [PlanDecision(plan, source.numbers[item.session], item.decision)]
    chosen = (attempt for attempts in _chosen(sources, pending=pending) for attempt in attempts)
    ended = ((done, source) for source in sources for done in source.store.all_finished())
    runs = ((*row[:-1], source.numbers[session_of(row)]) for source, row in chosen)
    finished = (done for done, source in ended if done.instance not in source.stale)
    decisions = [item for in_force in held.values() for item in in_force]
    digests = ((source, *item) for source in sources for item in source.made_with.items())
    made_with = [(source.numbers[session], digest, name) for source, (session, name), digest in digests]
    return store.fill(plans, sessions, runs, finished, decisions, codes, made_with)


def _numbered_sessions(sources: Sequence[_Source], indexes: Mapping[str, int]) -> list[NumberedSession]:
    """The sessions of all files by their date, numbered again; each file notes the new numbers of its own.

    A session in several files, because some were merged before, appears once.
    """
    occurrences: dict[tuple[Any, ...], list[tuple[_Source, int]]] = {}
    for source in sources:
        same: Counter[tuple[Any, ...]] = Counter()
        for numbered in source.store.numbered_sessions():
            session = (numbered.started, indexes[undated(source.plans[numbered.plan])], numbered.environment)
            same[session] += 1
            occurrences.setdefault((*session, same[session]), []).append((source, numbered.number))
    sessions = []
    for number, (which, olds) in enumerate(sorted(occurrences.items(), key=itemgetter(0)), 1):
        started, plan, environment, _ = which
        sessions.append(NumberedSession(number, plan, started, environment))
        for source, old in olds:
            source.numbers[old] = number
    return sessions


def _chosen(sources: Sequence[_Source], *, pending: bool) -> Iterator[Attempts]:
    """All attempts at each run, with the file each comes from. Which attempts count is said of each file by itself, and
    in the whole."""
    streams = [zip(repeat(source), source.store.attempts(), strict=False) for source in sources]
    merged = heapq.merge(*streams, key=lambda item: key_of(item[1]))
    for key, group in groupby(merged, key=lambda item: key_of(item[1])):
        accounts = [list(rows) for _, rows in groupby(group, key=itemgetter(0))]
        best = accounts[0]
        for other in accounts[1:]:
            best = _better(RunKey(*key), best, other, pending)
        for attempts in accounts:
            own = [outcome_of(row) for source, row in attempts if source.counts(*made_by(row))]
            if own[-1:] != _story(best)[-1:]:
                attempts[0][0].stale.add(key[0])
        yield _with_superseded(best, accounts)


def _story(attempts: Attempts) -> list[Any]:
    """What the attempts at a run that count in the whole came to: status and value of each."""
    return [outcome_of(row) for source, row in attempts if source.joint(*made_by(row))]


def _better(key: RunKey, best: Attempts, other: Attempts, pending: bool) -> Attempts:
    """Choose between two files' attempts at a run: the longer history, or the one with a value."""
    first, second = _story(best), _story(other)
    shorter = min(len(first), len(second))
    if first[:shorter] == second[:shorter]:
        return other if len(second) > len(first) else best
    ended = [first[-1], second[-1]]
    if ended[0] == ended[1]:
        return best
    certainty = [0 if status == "lost" else 1 if pending and status != "ok" else 2 for status, _ in ended]
    if min(certainty) < 2:  # a failed attempt would have been repeated
        return other if certainty[1] > certainty[0] else best
    values = [value if status == "ok" else status for status, value in ended]
    raise PlanMismatch(
        f"run {key.index} of {key.algorithm!r} on {key.instance!r} is {values[0]} in {best[0][0].name} and {values[1]}"
        f" in {other[0][0].name}, with the same seed; omit one of the files, or find how the machines differ"
    )


def _with_superseded(best: Attempts, accounts: Sequence[Attempts]) -> Attempts:
    """The chosen attempts, preceded by superseded attempts of other files, so that nothing is lost."""
    sessions = {source.numbers[session_of(row)] for source, row in best}
    lost: dict[tuple[int, Any], tuple[_Source, Row]] = {}
    for source, row in (attempt for attempts in accounts if attempts is not best for attempt in attempts):
        session = source.numbers[session_of(row)]
        if session not in sessions and not source.joint(*made_by(row)):
            lost.setdefault((session, outcome_of(row)), (source, row))
    if not lost:
        return best
    return [(source, with_attempt(row, number)) for number, (source, row) in enumerate([*lost.values(), *best])]


# What can be read of a damaged results file and of its backup

Numbered = tuple[int, str]  # a name with its number in a file
MAX_GAP = 1000  # consecutive unreadable runs after which reading stops
MAX_RUNS = 10**9  # of one algorithm on one instance
UNKNOWN = '{"ampler":"unknown: this session could not be rescued"}'
SEED, ATTEMPT = NAMED.index("seed"), NAMED.index("attempt")


@dataclass(frozen=True, slots=True)
class Rescued:
    """Result of a rescue: the number of saved runs, of lost runs, and a description of other losses."""

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
        try:  # hold the lock while reading; without write access there is no writer
            stack.callback(StudyLock(source).release)
        except StoreBusy:
            raise
        except StoreUnusable:
            pass
        connections = list(_connections(source, stack))
        stores = [store for connection in connections if (store := _store(connection, source)) is not None]
        if not stores:
            raise StoreUnusable(f"nothing of a study can be read in {source.name}; take it from a backup")
        with replace_file(goal) as draft, _draft_store(draft, goal) as new:
            return _write(new, stores[0], connections)


def _connections(source: Path, stack: ExitStack) -> Iterator[sqlite3.Connection]:
    """Connections to the damaged file and to its backup, if that is of the same study."""
    studies = set()
    for file in (source, Path(f"{source}{access.BACKUP}")):
        with suppress(sqlite3.Error):
            if file.is_file():
                connection = access.connection_to_rescue(file)
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
    foreign = foreign if 2 * len(foreign) < len(runs) else []  # runs recorded from Python may have other seeds
    for key in foreign:
        del runs[key]
    plans, sessions = base.plans(), list(base.numbered_sessions())
    unknown = {row[-1] for row in runs.values()} - {session.number for session in sessions}
    sessions += [NumberedSession(number, len(plans) - 1, "", UNKNOWN) for number in sorted(unknown)]
    derived: tuple[Sequence[Any], ...] = ((), (), ())  # derived data, as far as readable
    with suppress(StoreError):
        made_with = [(session, digest, algorithm) for (session, algorithm), digest in base.made_with().items()]
        derived = list(base.all_decisions()), base.codes(), made_with
    ended: list[Finished] = []
    with suppress(StoreError):
        ended += base.all_finished()
    finished, missing = _complete(ended, runs)
    new.fill(plans, sessions, [runs[key] for key in sorted(runs)], finished, *derived)
    gaps = (
        (missing, "recorded run{s}"),
        (len(foreign), "unreadable record{s}"),
        (problems, "page{s} or records that make no sense"),
        (len(unknown), "session{s}: when and where runs were made"),
    )
    lost = tuple(f"{number} {what.format(s='' if number == 1 else 's')}" for number, what in gaps if number > 0)
    return Rescued(len(runs), missing, lost, len(plans))


def _rows(connection: sqlite3.Connection, instance: Numbered, algorithm: Numbered) -> tuple[list[Row], bool]:
    """The runs of an algorithm on an instance, read singly if a query fails; and whether it failed."""

    def read(condition: str = "", *values: int) -> list[Row]:
        query = f'SELECT * FROM run WHERE instance = ? AND algorithm = ? {condition} ORDER BY "index", attempt'
        selected = connection.execute(query, (instance[0], algorithm[0], *values))
        names = [name for name, *_ in selected.description]  # a file of an earlier version lacks columns
        runs = (DEFAULTS | dict(zip(names, row, strict=True)) for row in selected)
        rows = [(instance[1], algorithm[1], *(run[name] for name in NAMED[2:])) for run in runs]
        return list(checked_rows(rows)) if rows else []

    try:
        return read(), False
    except (sqlite3.Error, *access.SURPRISES):
        rows: list[Row] = []
    last = 0
    for index in range(MAX_RUNS):
        with suppress(sqlite3.Error, *access.SURPRISES):
            if new := read('AND "index" = ?', index):
                rows, last = rows + new, index
        if index > last + MAX_GAP:
            break
    return rows, True


def _complete(finished: Iterable[Finished], runs: Iterable[Row]) -> tuple[list[Finished], int]:
    """The finished instances with all their runs, and the number of missing runs."""
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
