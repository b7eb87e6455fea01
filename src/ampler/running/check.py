"""A study tried before it is carried out: each algorithm is run on one instance, and what it gives is judged.

The runs are the first of the study, and recorded as such: nothing is wasted, and nothing changes for the study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from ampler.core.contracts import Store
from ampler.core.errors import PlanMismatch, RunFailed
from ampler.core.failures import StopStudy
from ampler.core.settings import RATE
from ampler.core.values import Algorithm, Observation, Plan, RunKey
from ampler.running.code import look_at_code
from ampler.running.engines import Done, Engine, Lost
from ampler.running.engines.local import LocalPool
from ampler.running.interrupts import Interrupts
from ampler.running.one_run import check_can_run, check_limits
from ampler.running.remaining import last_carried_out
from ampler.running.work import Task, Work
from ampler.stats.rates import NUMBERS, neither_yes_nor_no
from ampler.study.changes import PlanChange, plan_change
from ampler.study.code.changes import CodeChange
from ampler.study.defaults import as_begun
from ampler.study.forecast import first_runs
from ampler.study.plan import begun_first
from ampler.study.record import record
from ampler.study.seeds import run_seed
from ampler.study.store import environment

CHEAP = 5.0  # seconds a run may take to be made again just for the sake of knowing
LEAST = 1e-4  # seconds a run counts at least: what is done around it

Kind = Literal["no value", "time", "deterministic", "not deterministic", "reproducible", "constant", "not reproducible"]


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What an algorithm gave: its first run, the same again, and the second run, where they were made.

    `seconds` is the mean time of its runs, and `recorded` says that its first run is kept in the study file; with
    `earlier` it was there already, and was not made now. `changed` says that its code is not that of recorded runs.
    `line` is what a command printed that its value was read from; empty where nothing was printed for it.
    """

    algorithm: Algorithm
    first: Observation
    again: Observation | None = None
    second: Observation | None = None
    recorded: bool = False
    earlier: bool = False
    changed: CodeChange | None = None
    two_values: bool = False  # its outcomes are yes or no: two of them are often the same
    line: str = ""

    @property
    def seconds(self) -> float:
        """The mean time of the runs that gave a value."""
        made = [each for each in (self.first, self.again, self.second) if each is not None and each.value is not None]
        return max(LEAST, sum(each.seconds for each in made) / len(made)) if made else self.first.seconds

    @property
    def kind(self) -> Kind | None:
        """What can be said of its values; None when it was not tried."""
        if self.first.value is None:
            return "no value"
        if self.algorithm.reading.is_time:
            return "time"
        alike, same = _agree(self.first, self.again), _agree(self.first, self.second)
        if self.algorithm.deterministic:
            return None if same is None else "deterministic" if same else "not deterministic"
        if alike is None:
            return None
        return "not reproducible" if not alike else "constant" if same and not self.two_values else "reproducible"

    @property
    def is_a_problem(self) -> bool:
        """Whether the study would be wrong: the one value of an algorithm would be taken for all that it can give."""
        return self.kind == "not deterministic"

    @property
    def remark(self) -> str:
        """What a user must know of it, in a few words."""
        return f"{'from the record: ' if self.earlier else ''}{self._remark}"

    @property
    def _remark(self) -> str:
        other = self.again if self.kind == "not reproducible" else self.second
        two = "" if other is None else f"{_shown(self.first)}, then {_shown(other)}"
        return {
            "no value": self.first.message,
            "time": "a time: no seed reproduces it",
            "deterministic": "deterministic, as declared",
            "not deterministic": f"declared deterministic, but two seeds gave {two}",
            "reproducible": "the seed reproduces it",
            "constant": "the same with two seeds: if it always is, deterministic = true saves runs",
            "not reproducible": f"one seed gave {two}: its runs cannot be repeated",
            None: f"not tried twice: a run takes {self.first.seconds:.3g} s",
        }[self.kind]


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found on one instance, algorithm by algorithm."""

    instance: str
    findings: tuple[FirstRun, ...]
    recorded_below: tuple[Observation, ...] = ()  # runs of earlier days whose values no ratio can divide by

    @property
    def seen(self) -> Iterator[Observation]:
        """The first runs of every algorithm, and the second ones where there are any."""
        for finding in self.findings:
            yield from (each for each in (finding.first, finding.second) if each is not None)

    @property
    def seconds(self) -> Mapping[str, float]:
        """How long a run of each algorithm takes; those without a value are not there."""
        return {each.algorithm.name: each.seconds for each in self.findings if each.first.value is not None}


def inspect_plan(
    plan: Plan,
    store: Store,
    *,
    report: Callable[[str], object] = lambda name: None,
    announce: Callable[[PlanChange], object] = lambda change: None,
) -> Inspection:
    """Run each algorithm of a plan on its first instance, and record what belongs to the study.

    A run that takes a few seconds at most is made twice with its seed, and once with another. Runs that are recorded
    already are not made again for the record, but where the code of an algorithm has changed: then nothing is recorded
    of it, as nobody has said yet what that means. `report` is told the name of each algorithm before it is run, and
    `announce` how the plan differs from the one under which runs were made.
    """
    for algorithm in plan.algorithms:
        check_can_run(algorithm)
        check_limits(plan.limits_of(algorithm))
    plan = as_begun(begun_first(plan, store.begun()), *store.plans()[-1:])
    code, earlier = look_at_code(plan, store), last_carried_out(store)
    _begin(plan, store)
    if earlier and store.begun() and (change := plan_change(earlier[0], record(plan))) is not None:
        announce(change)
    code.without_changes().keep(store)
    trials = TrialRuns(plan, store, code.changes)
    with Interrupts() as interrupts:
        pool = LocalPool(Work.of(plan, showing=True), 1)
        try:
            findings = []
            for algorithm in plan.algorithms:
                report(algorithm.name)
                findings.append(trials.of(algorithm, pool))
                interrupts.repeat()
        except BaseException:
            pool.close(at_once=True)
            raise
        pool.close(at_once=False)
    return Inspection(trials.instance, tuple(findings), _recorded_below(plan, store))


def refuse_what_does_not_run(plan: Plan, inspection: Inspection) -> None:
    """Raise RunFailed where the study would stop later; that a run takes too long may be part of the study."""
    for finding in inspection.findings:
        late = finding.first.status == "timeout" and not isinstance(plan.policy, StopStudy)
        if finding.first.value is None and not late:
            raise RunFailed(
                f"algorithm {finding.algorithm.name!r} gave no value on {inspection.instance!r}: {finding.remark}"
            )
    _refuse_what_is_no_yes_or_no(plan, inspection)
    for finding in inspection.findings:
        if finding.is_a_problem:
            raise RunFailed(
                f"algorithm {finding.algorithm.name!r} is {finding.remark} on {inspection.instance!r}; leave out"
                " deterministic"
            )


def _refuse_what_is_no_yes_or_no(plan: Plan, inspection: Inspection) -> None:
    if plan.question.statistic != RATE:
        return
    for seen in inspection.seen:
        if seen.value is not None and seen.value not in (0.0, 1.0):
            raise RunFailed(
                f"{neither_yes_nor_no(seen.value)} from algorithm {seen.key.algorithm!r} on {seen.key.instance!r};"
                f" {NUMBERS}"
            )


def not_positive(plan: Plan, inspection: Inspection) -> str | None:
    """Say which algorithm gave a value that the plan's differences cannot divide by; None when all is well."""
    if plan.question.difference == "simple" or plan.question.floor is not None:
        return None
    for seen in (*inspection.seen, *inspection.recorded_below):
        if seen.value is not None and seen.value <= 0:
            return (
                f"{seen.key.algorithm} gave {seen.value:g} on {seen.key.instance}, and"
                f" {plan.question.difference} differences need positive values: one mean that is not ends the"
                " study; say floor = 1e-8, as which smaller values count, or difference = 'simple'"
            )
    return None


def _recorded_below(plan: Plan, store: Store) -> tuple[Observation, ...]:
    """The first recorded value, on any instance, that the plan's differences cannot divide by, if there is one."""
    if plan.question.difference == "simple" or plan.question.floor is not None:
        return ()
    names = {algorithm.name for algorithm in plan.algorithms}
    asked = (each for each in store.observations() if each.key.algorithm in names)
    return tuple(islice((each for each in asked if each.value is not None and each.value <= 0), 1))


def _begin(plan: Plan, store: Store) -> None:
    """Record the plan; where another stands in the way, say so if nothing but a check would be lost with it."""
    try:
        store.begin(record(plan), {**environment(), "check": str(len(store.plans()))})
    except PlanMismatch as problem:
        tally = store.tally()
        if all(each.runs <= 2 for each in tally) and len({each.instance for each in tally}) == 1:
            raise PlanMismatch(f"{problem.message}, or remove it: it holds only the runs of an earlier check") from None
        raise


class TrialRuns:
    """Makes the runs on the first instance of a plan, and records those that the rule will ask for."""

    def __init__(self, plan: Plan, store: Store, changes: Iterable[CodeChange] = ()) -> None:
        self.instance = plan.instances[0].name
        self._plan, self._store = plan, store
        self._wanted = first_runs(plan)
        self._changed = {change.algorithm: change for change in changes}
        recorded = [each for each in store.observations(self.instance) if each.key.algorithm not in self._changed]
        self._known = {each.key: each for each in recorded}
        self._lines: dict[RunKey, str] = {}
        self._earlier = frozenset(self._known)
        self._attempts = Counter(each.key for each in store.observations(self.instance, superseded=True))

    def of(self, algorithm: Algorithm, pool: Engine) -> FirstRun:
        """Return what an algorithm gives."""
        first = self._run(algorithm, 0, pool)
        again = second = None
        if first.value is not None and not algorithm.reading.is_time and first.seconds <= CHEAP:
            second = self._run(algorithm, 1, pool)
            if not algorithm.deterministic:
                again = self._made(Task(first.key), pool)
        recorded = self._known.get(first.key) is first
        earlier = recorded and first.key in self._earlier
        changed, rates = self._changed.get(algorithm.name), self._plan.question.statistic == RATE
        line = self._lines.get(first.key, "")
        return FirstRun(algorithm, first, again, second, recorded, earlier, changed, two_values=rates, line=line)

    def _run(self, algorithm: Algorithm, index: int, pool: Engine) -> Observation:
        """A run from the record, or made now and recorded if it has a value and the rule will ask for it.

        A failure is not recorded: it is mostly a mistake that is about to be mended.
        """
        key = RunKey(self.instance, algorithm.name, index)
        known = self._known.get(key)
        if known is not None and known.status == "ok":
            return known
        made = self._made(Task(key, attempt=self._attempts[key]), pool)
        open_ = known is None or isinstance(self._plan.policy, StopStudy)  # else its failure is final
        open_ = open_ and algorithm.name not in self._changed
        if made.status == "ok" and open_ and index < self._wanted.get(algorithm.name, 0):
            self._store.add([made])
            self._known[key] = made
            self._earlier -= {key}
        return made

    def _made(self, task: Task, pool: Engine) -> Observation:
        pool.submit([task])
        while True:
            for fate in pool.collect(None):
                match fate:
                    case Done(observations):
                        return self._without_line(observations[0])
                    case Lost(_, how):
                        return self._lost(task.key, how)

    def _without_line(self, made: Observation) -> Observation:
        """The run as it is recorded; the line that its value was read from is noted."""
        if made.status != "ok":
            return made
        self._lines[made.key] = made.message
        return replace(made, message="")

    def _lost(self, key: RunKey, how: str) -> Observation:
        seed = run_seed(self._plan.seed, key.instance, key.algorithm, key.index)
        return Observation(key, None, status="lost", message=f"it took its worker with it: {how}", seed=seed)


def _agree(first: Observation, other: Observation | None) -> bool | None:
    """Whether two runs gave the same, to the last bit; None when there is no other."""
    return None if other is None else first.value == other.value


def _shown(observation: Observation) -> str:
    return "no value" if observation.value is None else repr(observation.value)
