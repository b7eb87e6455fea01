"""What can be read of a damaged study file becomes a new, sound one. Pages are read one by one; SQLite is not asked."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.core.files import replaced
from ampler.core.typed import checked, fits
from ampler.core.values import Code, Fingerprint, Finished, Observation, PlanRecord, RunKey
from ampler.study.record import from_json
from ampler.study.seeds import run_seed
from ampler.study.stopping import from_data, recorded
from ampler.study.store.checks import believed
from ampler.study.store.columns import Row, row_of
from ampler.study.store.damage import SURPRISES
from ampler.study.store.lock import StudyLock
from ampler.study.store.pages import Pages, Record
from ampler.study.store.places import check_folder, study_place
from ampler.study.store.sqlite import NumberedSession, PlanDecision, SqliteStore, draft_store
from ampler.study.store.structure import column_names

Cells = tuple[Any, ...]
Read = TypeVar("Read")
SHA256 = re.compile(r"(?:[0-9a-f]{64})?")
MOST_RUNS = 10**9  # of one algorithm on one instance
UNKNOWN = '{"ampler":"unknown: this session could not be rescued"}'


@dataclass(frozen=True, slots=True)
class Rescued:
    """What came of a rescue: the number of runs saved, of those known to be lost, and what else is lost, in words."""

    runs: int
    missing: int
    lost: tuple[str, ...]
    plans: int


def rescue_store(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> Rescued:
    """Save every run that can be read in a damaged study file into a new one, `target`, which must not be there yet.

    The damaged file is left as it is. A run whose seed is not the one of its place is taken for damaged and left out.
    """
    source, goal = study_place(path), study_place(target)
    if not source.exists():
        raise StoreUnusable(f"there is no study file {source} to rescue; say where it lies")
    if goal.exists():
        raise StoreUnusable(f"a rescue writes a new file, and {goal} is there; choose another name with -o")
    check_folder(goal)
    with _at_rest(source):
        found = _found(source)
    saved = _saved(found)
    if not saved.runs and not saved.plans:
        raise StoreUnusable(f"nothing of a study can be read in {source.name}; take it from a backup")
    with replaced(goal) as path_, draft_store(path_, goal) as draft:
        _write(draft, saved)
    return Rescued(len(saved.runs), saved.missing, saved.lost(found), len(saved.plans))


@contextmanager
def _at_rest(source: Path) -> Iterator[None]:
    """While the file is read nobody writes it; where nothing can be written nobody does."""
    try:
        lock = StudyLock(source)
    except StoreBusy:
        raise
    except StoreUnusable:
        lock = None
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


# What lies in the file


@dataclass(slots=True)
class _Found:
    """Rows by what they look like; later ones stand for earlier ones of the same number."""

    seeds: list[int] = field(default_factory=list)
    algorithms: dict[int, tuple[str, Any]] = field(default_factory=dict)
    instances: dict[int, tuple[str, str]] = field(default_factory=dict)
    plans: dict[int, PlanRecord] = field(default_factory=dict)
    sessions: dict[int, Cells] = field(default_factory=dict)
    decisions: dict[int, Cells] = field(default_factory=dict)
    finished: list[Cells] = field(default_factory=list)
    runs: list[Cells] = field(default_factory=list)
    codes: list[Cells] = field(default_factory=list)
    made_with: list[Cells] = field(default_factory=list)
    unreadable: int = 0


def _found(source: Path) -> _Found:
    found = _Found()
    with closing(Pages(source)) as pages:
        for record in pages.records():
            found.unreadable += not _sorted_in(found, record)
        found.unreadable += pages.unreadable
        found.runs += [record.cells for record in pages.old_records() if _is_run(record.cells)]
    return found


def _sorted_in(found: _Found, record: Record) -> bool:
    """Put a record where it belongs; False when it looks like a row of ours and is damaged."""
    number, cells = record.number, record.cells
    if number is None:
        return _keyed(found, cells)
    match cells:
        case (None, int(seed), str()):
            found.seeds.append(seed)
        case (None, str(name), str(text), *_) if len(cells) <= 4:
            return _named(found, number, name, text)
        case (None, int(), str(), str(text)) if _data(text) is not None:
            found.sessions[number] = cells
        case (None, int(), int(), str(text), str(), str(), int()) if _data(text) is not None:
            found.decisions[number] = cells
    return True


def _keyed(found: _Found, cells: Cells) -> bool:
    if _is_run(cells):
        found.runs.append(cells)
    elif len(cells) == len(column_names("finished")) and isinstance(cells[-1], str) and _data(cells[-1]) is not None:
        found.finished.append(cells)
    else:
        return _code(found, cells) or len(cells) <= 2  # an index of names
    return True


def _code(found: _Found, cells: Cells) -> bool:
    """Put a record about code where it belongs; False when it is none."""
    match cells:
        case (int(), str(), None | str(), 0 | 1):
            found.codes.append(cells)
        case (int(), int(), str()):
            found.made_with.append(cells)
        case _:
            return False
    return True


def _named(found: _Found, number: int, name: str, text: str) -> bool:
    """Algorithms, instances and plans are told apart by what they say."""
    data = _data(text)
    if SHA256.fullmatch(text):
        found.instances[number] = (name, text)
    elif data is not None and "fingerprint" in data:
        plan = _tried(lambda: checked(replace(from_json(text), created=name)))
        if plan is None:
            return False
        found.plans[number] = plan
    elif data is not None:
        found.algorithms[number] = (name, data)
    return data is not None or number in found.instances


def _is_run(cells: Cells) -> bool:
    """A row of this or an earlier version: columns that came later are at the end."""
    return len(column_names("run", version=1)) <= len(cells) <= len(column_names("run")) and _has_status(cells)


def _has_status(cells: Cells) -> bool:
    return cells[column_names("run").index("status")] in ("ok", "failed", "timeout", "lost")


def _data(text: str) -> dict[str, Any] | None:
    """The object that a text is, in JSON; None when it is none."""
    data = _tried(lambda: json.loads(text))
    return data if isinstance(data, dict) else None


def _tried(read: Callable[[], Read]) -> Read | None:
    try:
        return read()
    except SURPRISES:
        return None


# What can be saved of it


@dataclass(slots=True)
class _Saved:
    """A study as it will be written: names, plans in their order, sessions, runs, and what follows from them."""

    meaning: Fingerprint
    plans: list[PlanRecord]
    sessions: list[NumberedSession]
    runs: dict[tuple[RunKey, int], tuple[Observation, int]]
    finished: list[Finished]
    decisions: list[PlanDecision]
    codes: list[Code]
    made_with: list[Row]
    missing: int
    dropped: int
    nameless: int

    def lost(self, found: _Found) -> tuple[str, ...]:
        """Say in words what is not in the new file."""
        gaps = (
            (self.missing, "run{s} that the file tells of"),
            (self.dropped, "record{s} that looked like runs and cannot be"),
            (self.nameless, "run{s} whose instance or algorithm has no name left"),
            (found.unreadable, "page{s} or records that make no sense"),
            (max(found.plans, default=0) - len(self.plans), "earlier plan{s}"),
            (not self.plans, "plan: run the study once more with its study.toml, and the runs are taken up"),
            (not (found.seeds or self.plans), "seed: 0 stands for it"),
            (sum(each.environment == UNKNOWN for each in self.sessions), "session{s}: when and where runs were made"),
        )
        return tuple(f"{int(n)} {what.format(s='' if n == 1 else 's')}" for n, what in gaps if n > 0)


def _saved(found: _Found) -> _Saved:
    plans = [found.plans[number] for number in sorted(found.plans)]
    instances, algorithms = _names(found, plans)
    seed = found.seeds[-1] if found.seeds else plans[-1].fingerprint.seed if plans else 0
    meaning = Fingerprint(seed, dict(algorithms.values()), dict(instances.values()))
    runs, dropped, nameless = _runs(found.runs, seed, _first(instances), _first(algorithms))
    places = {number: place for place, number in enumerate(sorted(found.plans))}
    finished = _finished(found.finished, _first(instances))
    complete, missing = _complete(finished, runs)
    sessions = _sessions(found, places, {session for _, session in runs.values()})
    decisions = _decisions(found, places, {each.number for each in sessions})
    codes, made_with = _codes(found, _first(algorithms), {each.number for each in sessions})
    return _Saved(meaning, plans, sessions, runs, complete, decisions, codes, made_with, missing, dropped, nameless)


def _first(named: Mapping[int, tuple[str, Any]]) -> dict[int, str]:
    return {number: name for number, (name, _) in named.items()}


def _names(found: _Found, plans: Iterable[PlanRecord]) -> tuple[dict[int, Any], dict[int, Any]]:
    """Names with their numbers and meaning; those that are lost come from the plans, which gave them their numbers."""
    instances: dict[int, tuple[str, Any]] = dict(found.instances)
    algorithms: dict[int, tuple[str, Any]] = dict(found.algorithms)
    for known, meanings in (
        (instances, [plan.fingerprint.instances for plan in plans]),
        (algorithms, [plan.fingerprint.algorithms for plan in plans]),
    ):
        in_order = list(dict.fromkeys(name for meaning in meanings for name in meaning))
        if all(in_order[number - 1 : number] == [name] for number, (name, _) in known.items()):
            latest = {name: what for meaning in meanings for name, what in meaning.items()}
            for number, name in enumerate(in_order, 1):
                known.setdefault(number, (name, latest[name]))
    return dict(sorted(instances.items())), dict(sorted(algorithms.items()))


def _runs(
    rows: Iterable[Cells], seed: int, instances: Mapping[int, str], algorithms: Mapping[int, str]
) -> tuple[dict[tuple[RunKey, int], tuple[Observation, int]], int, int]:
    """The runs by key and attempt with their session; how many were no runs; how many have lost a name."""
    kept: dict[tuple[RunKey, int], tuple[Observation, int]] = {}
    nameless, wrong = set(), 0
    for cells in rows:
        if cells[0] not in instances or cells[1] not in algorithms:
            nameless.add(cells[:4])
            continue
        read = _tried(lambda cells=cells: _observation(cells, instances, algorithms))  # type: ignore[misc]
        if read is None:
            wrong += 1
            continue
        place = (read[0].key, read[0].attempt)
        if place not in kept or _has_its_seed(read[0], seed):
            kept[place] = read
    strange = {place for place, (seen, _) in kept.items() if not _has_its_seed(seen, seed)}
    if 2 * len(strange) < len(kept):  # the study's own seeds; whoever records runs in Python may have others
        wrong += len(strange)
        kept = {place: read for place, read in kept.items() if place not in strange}
    return dict(sorted(kept.items())), wrong, len(nameless)


def _observation(cells: Cells, instances: Mapping[int, str], algorithms: Mapping[int, str]) -> tuple[Observation, int]:
    given = dict(zip(column_names("run"), cells, strict=False))
    session = given.pop("session")
    key = RunKey(instances[given.pop("instance")], algorithms[given.pop("algorithm")], given.pop("index"))
    measures = None if given["measures"] is None else json.loads(given["measures"])
    numbers = {name: float(given[name]) for name in ("value", "seconds") if type(given[name]) is int}
    if not fits(session, int):
        raise ValueError("no number of a session")
    return believed(Observation(key, **given | numbers | {"measures": measures})), session


def _has_its_seed(seen: Observation, seed: int) -> bool:
    return seen.seed == run_seed(seed, seen.key.instance, seen.key.algorithm, seen.key.index)


def _finished(rows: Iterable[Cells], instances: Mapping[int, str]) -> list[Finished]:
    done = {}
    for number, digest, reason, rounds, error, counts in rows:
        if number in instances:
            row = (instances[number], digest, reason, _data(counts), rounds, error)
            read = _tried(lambda row=row: checked(Finished(*row)))  # type: ignore[misc]
            if read is not None:
                done[read.instance, read.decisions] = read
    return list(done.values())


def _complete(finished: Iterable[Finished], runs: Iterable[tuple[RunKey, int]]) -> tuple[list[Finished], int]:
    """The finished instances all of whose runs are there, and the number of runs that must have been and are not."""
    present: dict[tuple[str, str], set[int]] = {}
    for key, _ in runs:
        present.setdefault((key.instance, key.algorithm), set()).add(key.index)
    asked = Counter({cell: max(indexes) + 1 for cell, indexes in present.items()})
    complete = []
    for done in finished:
        wanted = {(done.instance, name): min(number, MOST_RUNS) for name, number in done.counts.items()}
        asked |= Counter(wanted)
        have = [sum(index < number for index in present.get(cell, ())) for cell, number in wanted.items()]
        if have == list(wanted.values()):
            complete.append(done)
    return complete, asked.total() - sum(map(len, present.values()))


def _sessions(found: _Found, places: Mapping[int, int], used: Iterable[int]) -> list[NumberedSession]:
    """The sessions, and one that says that it is unknown for each that runs name and nothing tells of."""
    last = max(len(places) - 1, 0)
    told = {
        number: NumberedSession(number, places.get(plan, last), started, environment)
        for number, (_, plan, started, environment) in found.sessions.items()
    }
    unknown = {number: NumberedSession(number, last, "", UNKNOWN) for number in used if number not in told}
    return [each for _, each in sorted((told | unknown).items())]


def _decisions(found: _Found, places: Mapping[int, int], sessions: set[int]) -> list[PlanDecision]:
    kept = []
    for _, (_, plan, number, text, _, taken, session) in sorted(found.decisions.items()):
        decision = _tried(lambda text=text: checked(from_data(json.loads(text))))  # type: ignore[misc]
        if decision is not None and plan in places and session in sessions:
            kept.append(PlanDecision(places[plan], session, recorded(number, decision, taken)))
    return kept


def _codes(found: _Found, algorithms: Mapping[int, str], sessions: set[int]) -> tuple[list[Code], list[Row]]:
    """Which code counts, and with which the runs of each session were made: what is superseded stays so."""
    kept: dict[tuple[str, str], Code] = {}
    for number, _, files, counts in found.codes:
        given = None if files is None else _data(files)
        if number in algorithms and (files is None or given is not None):
            read = _tried(lambda row=(algorithms[number], given, bool(counts)): checked(Code(*row)))  # type: ignore[misc]
            kept |= {} if read is None else {(read.algorithm, read.digest): read}
    made = {
        (session, number): (session, digest, algorithms[number])
        for session, number, digest in found.made_with
        if number in algorithms and session in sessions
    }
    return list(kept.values()), list(made.values())


def _write(draft: SqliteStore, saved: _Saved) -> None:
    draft.fill(
        saved.plans,
        saved.sessions,
        runs=(_named_row(seen, session) for seen, session in saved.runs.values()),
        finished=saved.finished,
        decisions=saved.decisions,
        codes=saved.codes,
        made_with=saved.made_with,
        meaning=saved.meaning,
    )


def _named_row(seen: Observation, session: int) -> Row:
    _, _, *rest = row_of(seen, 0, 0, session)
    return (seen.key.instance, seen.key.algorithm, *rest)
