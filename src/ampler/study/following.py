"""A study followed while it grows: each look reads what is new, so that a large study costs no more than a small one.

What is counted once is not counted again: the runs of finished instances, and in the others those before the first
that is missing or failed. The standard errors of instances under way are those of the study's own rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from heapq import nlargest

from ampler.core.contracts import error_seen_by
from ampler.core.errors import AmplerError
from ampler.core.failures import value_of
from ampler.core.samples import Samples
from ampler.core.values import DecisionRecord, EndStudy, Finished, Observation, PlanRecord, Progress, RunKey, Tally
from ampler.sampling.rules import Accuracy
from ampler.study.asked import rule_of
from ampler.study.failing import reason_of
from ampler.study.status import StudyStatus, counted_status, planned_last
from ampler.study.stopping import digests_in_force, instances_in_force
from ampler.study.store.counting import Cell, CellCount, RunCounts
from ampler.study.store.sqlite import SqliteStore

LONG = 2000  # runs at the end of a cell that are counted again at each look, at the most
LAG = 500  # … and how many are left when there are more: retries come soon after what failed
VALUES = 8_000  # that a look reads to work out standard errors; the rest comes with the next
RECENT = 12  # runs that are shown
FAILED_CELLS, FAILED_EACH = 40, 10  # that are looked into for reasons


@dataclass(frozen=True, slots=True)
class FailureReason:
    """Why runs of an algorithm gave no value: the message of one of them, how many of those looked at, and where."""

    algorithm: str
    status: str
    message: str
    times: int
    instance: str


@dataclass(frozen=True, slots=True)
class StudyLook:
    """What a look at a study shows.

    `errors` are the largest standard errors of interest on instances, finished or under way, as far as they are known,
    and `target` the one that is wanted. `times` are runs and seconds of each algorithm.
    """

    status: StudyStatus
    plan: PlanRecord
    progress: Progress | None
    errors: Mapping[str, float]
    target: float | None
    recent: tuple[Observation, ...]
    reasons: tuple[FailureReason, ...]
    times: Mapping[str, tuple[int, float]]
    ended: bool  # nothing is left to be made


@dataclass(slots=True)
class _Counted:
    """The runs of a cell: those before `mark`, which are settled, and those from it on."""

    mark: int = 0
    settled: CellCount = field(default_factory=CellCount)
    rest: CellCount = field(default_factory=CellCount)

    total: CellCount = field(default_factory=CellCount)


class StudyFollower:
    """Looks at a study again and again; each look needs the store, opened to be read."""

    def __init__(self) -> None:
        self._epoch: tuple[object, ...] = ()
        self._cells: dict[Cell, _Counted] = {}
        self._tally: dict[Cell, Tally] = {}
        self._waiting: list[str] = []  # instances without a run
        self._marks: dict[Cell, int] = {}  # of the cells that may grow
        self._newest: list[Cell] = []
        self._closed: frozenset[str] = frozenset()
        self._done: Mapping[str, Finished] = {}
        self._watched: dict[str, _Watched] = {}
        self._reasons: tuple[int, tuple[FailureReason, ...]] = (0, ())

    def look(self, store: SqliteStore) -> StudyLook:
        """Return where the study stands now."""
        plan, decisions = planned_last(store), store.decisions()
        done = store.finished(*digests_in_force(plan, decisions))
        sessions, counts = store.sessions(), store.counts()
        self._begin_anew_if((plan, len(sessions), tuple(store.codes())))
        self._count(counts, done)
        tally = list(self._tally.values())
        status = replace(counted_status(plan, tally, decisions, done), sessions=len(sessions))
        errors = self._errors(counts, plan, decisions, done)
        self._done = done
        return StudyLook(
            status=status,
            plan=plan,
            progress=store.progress(),
            errors=errors,
            target=plan.rule.get("se"),
            recent=self._recent(counts),
            reasons=self._why(counts, status.failures),
            times=_times(tally),
            ended=_has_ended(plan, status, decisions),
        )

    def _begin_anew_if(self, epoch: tuple[object, ...]) -> None:
        """A new session may try runs again, and a new plan asks for others: then everything is counted afresh."""
        if epoch != self._epoch:
            self.__init__()  # type: ignore[misc]
            self._epoch = epoch

    # counting -----------------------------------------------------------------------------------------------------

    def _count(self, counts: RunCounts, done: Mapping[str, Finished]) -> None:
        """Count what is new; cells without news cost nothing but to ask for them."""
        closed = frozenset(name for name, each in done.items() if self._done.get(name) == each)
        if not self._cells:
            self._cells = {cell: _Counted(rest=found) for cell, found in counts.everywhere().items()}
            changed, begun = list(self._cells), {instance for instance, _ in self._cells}
            self._waiting = [instance for instance in self._plan.instances if instance not in begun]
        else:
            changed = self._grown(counts, closed)
        for cell in changed:
            total = _settled(counts, cell, self._cells[cell])
            self._tally[cell] = Tally(*cell, total.runs, total.ok, total.seconds)
            if cell in self._marks:
                self._marks[cell] = self._cells[cell].mark
        known = dict.fromkeys((*self._newest, *changed))
        self._newest = nlargest(RECENT, known, key=lambda cell: self._cells[cell].total.ended)

    def _grown(self, counts: RunCounts, closed: frozenset[str]) -> list[Cell]:
        """The cells that have runs after their mark, with these counted; instances that wait are asked for as such."""
        begun = counts.begun(self._waiting)
        if begun or not self._marks or closed != self._closed:
            self._waiting = [instance for instance in self._waiting if instance not in begun]
            self._marks, self._closed = self._open_cells(closed), closed
        found = counts.since(self._marks)
        changed = [cell for cell in self._marks if cell in found or self._cells[cell].rest.runs]
        for cell in changed:
            self._cells[cell].rest = found.get(cell, CellCount())
        return changed

    def _open_cells(self, closed: frozenset[str]) -> dict[Cell, int]:
        """The cells of the plan that may grow, with their marks; those that have no run yet get their place."""
        others = closed.union(self._waiting)
        return {
            cell: self._cells.setdefault(cell, _Counted()).mark
            for instance in self._plan.instances
            if instance not in others
            for cell in ((instance, algorithm) for algorithm in self._plan.algorithms)
        }

    @property
    def _plan(self) -> PlanRecord:
        plan = self._epoch[0]
        assert isinstance(plan, PlanRecord)
        return plan

    # standard errors ----------------------------------------------------------------------------------------------

    def _errors(
        self,
        counts: RunCounts,
        plan: PlanRecord,
        decisions: tuple[DecisionRecord, ...],
        done: Mapping[str, Finished],
    ) -> dict[str, float]:
        """Those of finished instances as they were recorded, those of instances under way from their values."""
        rule, left = rule_of(plan), VALUES
        under_way = [name for name in instances_in_force(plan, decisions) if name not in done]
        self._watched = {name: each for name, each in self._watched.items() if name not in done}
        for name in under_way if rule is not None else ():
            if any((cell := self._cells.get((name, algorithm))) and cell.total.runs for algorithm in plan.algorithms):
                left -= self._watched.setdefault(name, _Watched(plan, name)).read(counts, left)
        errors = {name: each.error for name, each in done.items() if each.error is not None}
        seen = {name: each.error(rule) for name, each in self._watched.items() if rule is not None}
        return errors | {name: error for name, error in seen.items() if error is not None}

    # what is shown of single runs ---------------------------------------------------------------------------------

    def _recent(self, counts: RunCounts) -> tuple[Observation, ...]:
        runs = counts.newest((cell for cell in self._newest if self._cells[cell].total.runs), RECENT)
        return tuple(sorted(runs, key=_ended, reverse=True)[:RECENT])

    def _why(self, counts: RunCounts, failures: int) -> tuple[FailureReason, ...]:
        """The reasons of failures; looked up when there are more or fewer than before."""
        if failures != self._reasons[0]:
            failing = [cell for cell, each in self._cells.items() if each.total.ok < each.total.runs]
            last = sorted(failing, key=lambda cell: self._cells[cell].total.ended, reverse=True)[:FAILED_CELLS]
            self._reasons = failures, reasons_of(counts.without_value(last, FAILED_EACH))
        return self._reasons[1]


class _Watched:
    """The values of an instance under way, read in the order of their numbers."""

    def __init__(self, plan: PlanRecord, instance: str) -> None:
        self._plan, self._instance = plan, instance
        self._samples = Samples(plan.algorithms, deterministic=plan.deterministic)
        self._next = dict.fromkeys(plan.algorithms, 0)
        self._known: tuple[int, float | None] = (0, None)

    def read(self, counts: RunCounts, most: int) -> int:
        """Read what is new, at most so many values; return how many were read."""
        taken = 0
        for algorithm in self._plan.algorithms:
            if taken >= most:
                break
            for index, *given in counts.values((self._instance, algorithm), self._next[algorithm], most - taken):
                if index != self._next[algorithm]:
                    break  # the one before is still being made
                self._take(algorithm, index, *given)
                taken += 1
        return taken

    def error(self, rule: Accuracy) -> float | None:
        """Return the largest standard error of interest so far, as the rule sees it; None when it is not known."""
        number = sum(self._next.values())
        if number != self._known[0]:
            try:
                self._known = number, error_seen_by(rule, self._samples)
            except AmplerError:  # values that the study's statistic cannot take; its own run says so
                self._known = number, None
        return self._known[1]

    def _take(self, algorithm: str, index: int, value: float | None, status: str, seconds: float) -> None:
        self._next[algorithm] = index + 1
        seen = Observation(RunKey(self._instance, algorithm, index), value, seconds, status=status)  # type: ignore[arg-type]
        counted = value_of(seen, self._plan.policy)
        floor = self._plan.question.floor
        if counted is None:
            self._samples.drop(algorithm)
        else:
            self._samples.add(algorithm, counted if floor is None else max(counted, floor))


def reasons_of(failures: Iterable[Observation]) -> tuple[FailureReason, ...]:
    """Return why runs failed, the commonest reason first.

    >>> seen = [Observation(RunKey("i1", "a", n), None, status="failed", message="it broke") for n in range(3)]
    >>> [(reason.algorithm, reason.message, reason.times) for reason in reasons_of(seen)]
    [('a', 'it broke', 3)]
    """
    runs = list(failures)
    times = Counter(map(_kind, runs))
    first = {_kind(seen): seen for seen in reversed(runs)}
    return tuple(
        FailureReason(which[0], which[1], first[which].message, number, first[which].key.instance)
        for which, number in times.most_common()
    )


def _kind(seen: Observation) -> tuple[str, str, str]:
    """What failures of one reason have in common: their instances may be named in it."""
    return seen.key.algorithm, seen.status, reason_of(seen.message).replace(seen.key.instance, "…")


def _settled(counts: RunCounts, cell: Cell, counted: _Counted) -> CellCount:
    """Move the mark past what will not change any more; return the count of all."""
    rest = counted.rest
    if not rest.exact:
        rest = counted.rest = counts.tried_again(cell, counted.mark, rest)
    if rest.exact and rest.ok == rest.runs == rest.last - counted.mark + 1:
        counted.mark, counted.settled, counted.rest = rest.last + 1, counted.settled + rest, CellCount()
    elif rest.last - counted.mark >= LONG:
        mark = rest.last + 1 - LAG
        tail = counts.tried_again(cell, mark, rest)
        counted.mark, counted.settled, counted.rest = mark, counted.settled + (rest - tail), tail
    counted.total = counted.settled + counted.rest
    return counted.total


def _has_ended(plan: PlanRecord, status: StudyStatus, decisions: tuple[DecisionRecord, ...]) -> bool:
    """Whether all is finished; where values decide over instances, they must have decided that, too."""
    decided = not plan.study_rule or any(isinstance(each.decision, EndStudy) for each in decisions)
    return decided and status.finished == len(status.instances)


def _times(tally: Iterable[Tally]) -> dict[str, tuple[int, float]]:
    """Runs and seconds of each algorithm."""
    found: dict[str, tuple[int, float]] = {}
    for each in tally:
        runs, seconds = found.get(each.algorithm, (0, 0.0))
        found[each.algorithm] = runs + each.runs, seconds + each.seconds
    return found


def _ended(seen: Observation) -> float:
    return 0.0 if seen.started is None else seen.started + seen.seconds
