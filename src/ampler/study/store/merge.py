"""Study files made in parts become one: every run of every part, and nothing that contradicts another part."""

from __future__ import annotations

import heapq
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

from ampler.core.errors import InvalidData, PlanMismatch, StoreUnusable
from ampler.core.failures import StopStudy
from ampler.core.files import replaced
from ampler.core.values import Code, Fingerprint, PlanRecord, RunKey
from ampler.study.code.joining import counting, joined_codes
from ampler.study.defaults import FIRST_FORMULA
from ampler.study.record import changed, uncut, undated
from ampler.study.store.columns import KEY, Row, cells, with_attempt, with_session
from ampler.study.store.connections import connection_to_write, translated_errors
from ampler.study.store.lock import StudyLock
from ampler.study.store.places import check_folder, study_place
from ampler.study.store.schema import check_sqlite
from ampler.study.store.sqlite import (
    NumberedSession,
    PlanDecision,
    SqliteStore,
    draft_store,
    read_store,
)

CAUSES = {"fingerprint", "question", "rule", "limits", "policy", "retries"}  # from which the rest of a plan follows
Attempts = list[tuple[int, Row]]  # of one run, each with the place of the file it comes from

key_of = cells(*KEY)
outcome_of = cells("status", "value")
session_of = cells("session")
made_by = cells("session", "algorithm")


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of a merge: the plan of the whole, the number of runs, and the parts of it that were not given."""

    plan: PlanRecord
    runs: int
    missing: tuple[str, ...]


def merge_stores(
    paths: Iterable[str | os.PathLike[str]], target: str | os.PathLike[str], *, same: bool = False
) -> Merged:
    """Put study files of one plan together into `target`, which is replaced only when the new file is complete.

    A target that exists is one more part: nothing in it is lost, and merging twice changes nothing. PlanMismatch when
    the files do not have the same plan, when two of them have different values for the same run, or when their runs
    were made with different code that is not said to be the `same`.
    """
    goal = study_place(target)
    given = list(dict.fromkeys(path for path in map(study_place, paths) if path != goal))
    if not given:
        raise InvalidData("there is nothing to merge: name the study files of the parts")
    with ExitStack() as stack:
        stack.callback(_locked(goal).release)
        before = [stack.enter_context(_present(goal))] if goal.exists() else []
        parts = [stack.enter_context(_source(path)) for path in given]
        sources, plans = [*before, *parts], _history(before, parts)
        codes = joined_codes({source.name: source.store.codes() for source in sources}, same=same)
        with replaced(goal) as path:
            with draft_store(path, goal) as draft:
                number = _written(draft, sources, plans, codes)
            for source in before:
                source.store.retire()
        _make_durable(goal.parent)
        return Merged(plans[-1], number, _missing(sources))


def _locked(goal: Path) -> StudyLock:
    """The right to write the target, whether it exists or not."""
    check_sqlite()
    check_folder(goal)
    return StudyLock(goal)


@dataclass(frozen=True, slots=True)
class _Source:
    """A study file to be merged: its plans, oldest first, as plans of the whole, and what its names mean."""

    store: SqliteStore
    plans: tuple[PlanRecord, ...]
    part: str
    meaning: Fingerprint

    @property
    def name(self) -> str:
        return self.store.path.name

    @property
    def last(self) -> PlanRecord:
        return self.plans[-1]


@contextmanager
def _source(path: Path) -> Iterator[_Source]:
    """Open a study file as it is at this moment; one that is being run may grow meanwhile."""
    with read_store(path) as store:
        yield _read(store)


@contextmanager
def _present(goal: Path) -> Iterator[_Source]:
    """Open the target that is there, which is already locked."""
    with translated_errors(goal):
        connection = connection_to_write(goal)
    with SqliteStore(connection, goal, None) as store:
        yield _read(store)


def _read(store: SqliteStore) -> _Source:
    store.snapshot()
    plans, meaning = store.plans(), store.meaning()
    if not plans or meaning is None:
        raise StoreUnusable(f"{store.path.name} holds no plan yet; run this part first, or leave it out")
    return _Source(store, tuple(replace(uncut(plan), created=plan.created) for plan in plans), plans[-1].part, meaning)


def _make_durable(folder: Path) -> None:
    """The new name in a folder outlives a loss of power, as its content does."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


# Do the plans agree?


def _history(before: Sequence[_Source], parts: Sequence[_Source]) -> list[PlanRecord]:
    """The plans of the whole, oldest first, with the dates they were first made; the last one is in force."""
    first = parts[0]
    for other in (*before, *parts[1:]):
        change = changed(first.meaning, other.meaning)
        if change is not None:
            raise PlanMismatch(
                f"{other.name} is no part of the study in {first.name}: {change}; merge parts of one study only"
            )
    for other in parts[1:]:
        if undated(other.last) != undated(first.last):
            raise PlanMismatch(_difference(first, other))
    known = {undated(plan) for part in parts for plan in part.plans}
    for target in before:
        if undated(target.last) not in known:
            raise PlanMismatch(
                f"{target.name} was run under a plan that the parts do not have; merge them into another file, or run"
                " the parts with the same study.toml first"
            )
    return _joined(max((part.plans for part in parts), key=len), [source.plans for source in (*before, *parts)])


def _joined(longest: Sequence[PlanRecord], all_plans: Sequence[Sequence[PlanRecord]]) -> list[PlanRecord]:
    """The longest history, and before its last plan those that only others had; a plan has its earliest date."""
    earliest: dict[str, PlanRecord] = {}
    for plan in sorted((plan for plans in all_plans for plan in plans), key=lambda plan: plan.created):
        earliest.setdefault(undated(plan), plan)
    more = dict(earliest)
    history = []
    for text, same in groupby(longest, key=undated):  # equal neighbours: parts that were cut anew
        history.append(more.pop(text, next(same)))
    *early, last = history
    return [*sorted([*early, *more.values()], key=lambda plan: plan.created), last]


def _difference(first: _Source, other: _Source) -> str:
    """Name what two plans differ in."""
    what, one, two = _field_of("plan", *(json.loads(undated(source.last)) for source in (first, other)))
    way_out = "run all parts with the same study.toml, then merge them"
    if what == "guard_edition":  # the same study.toml, but one part was begun before there was the other edition
        what, one, two = "guard-edition", one or 1, two or 1
        way_out = f"say guard-edition = {min(one, two)} in [rule] of study.toml and run the other part again"
    if what == "formula":  # likewise
        one, two = one or FIRST_FORMULA, two or FIRST_FORMULA
        way_out = f'say formula = "{FIRST_FORMULA}" in study.toml and run the other part again'
    return (
        f"the plans do not agree: {what} is {_shown(one)} in {first.name} and {_shown(two)} in {other.name}; {way_out}"
    )


def _field_of(field: str, one: Any, two: Any) -> tuple[str, Any, Any]:
    """The innermost field that differs, and its two values; those from which others follow come first."""
    if isinstance(one, dict) and isinstance(two, dict) and field not in ("algorithms", "instances"):
        differing = [name for name in {**one, **two} if one.get(name) != two.get(name)]
        inner = min(differing, key=lambda name: name not in CAUSES)
        return _field_of(inner, one.get(inner), two.get(inner))
    return field, one, two


def _shown(value: Any) -> str:
    return f"{len(value)} of them" if isinstance(value, dict | list) else repr(value)


def _missing(sources: Sequence[_Source]) -> tuple[str, ...]:
    """The parts that are not there, as far as the others say how many there are; a whole lacks nothing."""
    parts = [source.part for source in sources]
    cuts = {part.partition("/")[2] for part in parts}
    if "" in parts or len(cuts) != 1:
        return ()
    cut = cuts.pop()
    return tuple(part for number in range(int(cut)) if (part := f"{number + 1}/{cut}") not in parts)


# Writing


def _written(store: SqliteStore, sources: Sequence[_Source], plans: Sequence[PlanRecord], codes: Sequence[Code]) -> int:
    """Fill an empty study file; return the number of runs."""
    places = {undated(plan): place for place, plan in enumerate(plans)}
    sessions, numbers = _sessions(sources, places)
    stale: list[set[str]] = [set() for _ in sources]
    made_with = [source.store.made_with() for source in sources]
    told = _Told(
        sources, [counting(source.store.codes(), made) for source, made in zip(sources, made_with, strict=True)]
    )
    whole = _Told(sources, [counting(codes, made) for made in made_with])
    chosen = _chosen(told, whole, numbers, stale, pending=isinstance(plans[-1].policy, StopStudy))
    return store.fill(
        plans,
        sessions,
        runs=(with_session(row, numbers[place, session_of(row)]) for attempts in chosen for place, row in attempts),
        finished=(
            done
            for place, source in enumerate(sources)
            for done in source.store.all_finished()
            if done.instance not in stale[place]
        ),
        decisions=_decisions(sources, places, numbers),
        codes=codes,
        made_with=[
            (numbers[place, session], digest, algorithm)
            for place, made in enumerate(made_with)
            for (session, algorithm), digest in made.items()
        ],
    )


def _sessions(
    sources: Sequence[_Source], places: Mapping[str, int]
) -> tuple[list[NumberedSession], dict[tuple[int, int], int]]:
    """The sessions of all files by their date, numbered anew; and the new numbers by file and old number.

    A session that several files tell of, because some were merged before, is there once.
    """
    told: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for place, source in enumerate(sources):
        same: Counter[tuple[Any, ...]] = Counter()
        for each in source.store.numbered_sessions():
            session = (each.started, places[undated(source.plans[each.plan])], each.environment)
            same[session] += 1
            told.setdefault((*session, same[session]), []).append((place, each.number))
    sessions, numbers = [], {}
    for number, ((started, plan, environment, _), olds) in enumerate(sorted(told.items()), 1):
        sessions.append(NumberedSession(number, plan, started, environment))
        numbers.update(dict.fromkeys(olds, number))
    return sessions, numbers


def _decisions(
    sources: Sequence[_Source], places: Mapping[str, int], numbers: Mapping[tuple[int, int], int]
) -> list[PlanDecision]:
    """The decisions over instances that hold, plan by plan; those of a part speak of that part alone."""
    held: dict[int, list[PlanDecision]] = {}
    for place, source in enumerate(sources):
        for each in [] if source.part else source.store.all_decisions():
            plan, number = places[undated(source.plans[each.plan])], each.decision.number
            known = held.setdefault(plan, [])
            if [old.decision.digest for old in known[number : number + 1]] != [each.decision.digest]:
                known[number:] = [PlanDecision(plan, numbers[place, each.session], each.decision)]
    return [each for decisions in held.values() for each in decisions]


@dataclass(frozen=True, slots=True)
class _Told:
    """What files tell of runs, and which attempts count: in each file by itself, or in the whole."""

    sources: Sequence[_Source]
    counts: Sequence[Callable[[int, str], bool]]

    def story(self, attempts: Attempts) -> list[Any]:
        """What the attempts at a run that count came to."""
        return [outcome_of(row) for place, row in attempts if self.holds(place, row)]

    def outcome(self, attempts: Attempts) -> Any:
        """What a run came to in the end: its status and value; None when no attempt counts."""
        return (self.story(attempts) or [None])[-1]

    def holds(self, place: int, row: Row) -> bool:
        """Say whether an attempt counts."""
        return self.counts[place](*made_by(row))


def _chosen(
    told: _Told, whole: _Told, numbers: Mapping[tuple[int, int], int], stale: Sequence[set[str]], *, pending: bool
) -> Iterator[Attempts]:
    """All attempts at each run, with the file each comes from. Instances whose runs in a file gave way to those of
    another are noted in `stale`: what that file says of their end is no longer true."""
    streams = [zip(repeat(place), source.store.attempts(), strict=False) for place, source in enumerate(told.sources)]
    merged = heapq.merge(*streams, key=lambda each: key_of(each[1]))
    for (instance, algorithm, index), group in groupby(merged, key=lambda each: key_of(each[1])):
        accounts = [list(rows) for _, rows in groupby(group, key=itemgetter(0))]
        best = accounts[0]
        for other in accounts[1:]:
            best = _better(RunKey(instance, algorithm, index), best, other, whole, pending)
        for attempts in accounts:
            if told.outcome(attempts) != whole.outcome(best):
                stale[attempts[0][0]].add(instance)
        yield _with_superseded(best, accounts, whole, numbers)


def _better(key: RunKey, one: Attempts, two: Attempts, whole: _Told, pending: bool) -> Attempts:
    """Which of two files' accounts of a run holds: the longer one of the same story, or the one with a value."""
    stories = [whole.story(attempts) for attempts in (one, two)]
    shorter = min(map(len, stories))
    if stories[0][:shorter] == stories[1][:shorter]:
        return one if len(stories[0]) >= len(stories[1]) else two
    ended = [story[-1] for story in stories]
    if ended[0] == ended[1]:
        return one
    certainty = [0 if status == "lost" else 1 if pending and status != "ok" else 2 for status, _ in ended]
    if min(certainty) < 2:  # it would have been tried again
        return two if certainty[1] > certainty[0] else one
    names = [whole.sources[attempts[0][0]].name for attempts in (one, two)]
    values = [value if status == "ok" else status for status, value in ended]
    raise PlanMismatch(
        f"run {key.index} of {key.algorithm!r} on {key.instance!r} is {values[0]} in {names[0]} and {values[1]} in"
        f" {names[1]}: the same seed must give the same value; leave one of the files out, or find out what differs"
        " between the machines"
    )


def _with_superseded(
    best: Attempts, accounts: Sequence[Attempts], whole: _Told, numbers: Mapping[tuple[int, int], int]
) -> Attempts:
    """The account that holds, and before it the superseded attempts that only others have: nothing is lost."""
    known = {numbers[place, session_of(row)] for place, row in best}
    lost: dict[tuple[int, Any], tuple[int, Row]] = {}
    for place, row in (each for attempts in accounts if attempts is not best for each in attempts):
        session = numbers[place, session_of(row)]
        if session not in known and not whole.holds(place, row):
            lost.setdefault((session, outcome_of(row)), (place, row))
    if not lost:
        return best
    rows = [*lost.values(), *best]
    return [(place, with_attempt(row, number)) for number, (place, row) in enumerate(rows)]
