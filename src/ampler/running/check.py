"""Check of a study before its execution: each algorithm is run on one instance, and its results are checked.

The runs are the first of the study, and recorded as such: nothing is wasted, and nothing changes for the study.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Literal

import numpy as np

from ampler.core.contracts import Store
from ampler.core.errors import PlanMismatch, RunFailed
from ampler.core.failures import StopStudy
from ampler.core.measures import OF_EVERY_RUN
from ampler.core.plan import Algorithm, Plan
from ampler.core.runs import Observation, RunKey
from ampler.core.settings import RATE
from ampler.core.text import TextTable, listed, table_of
from ampler.running.driver import Interrupts, code_status, last_carried_out
from ampler.running.engines import Done, Engine, LocalPool, Lost, Returned
from ampler.running.one_run.execution import check_supported
from ampler.running.work import Task, Work
from ampler.stats.dependence import shared_covariances
from ampler.stats.summaries import NUMBERS, neither_yes_nor_no
from ampler.study.changes import PlanChange, plan_change
from ampler.study.code import CodeChange
from ampler.study.families import AddedAlgorithms, plan_in_force
from ampler.study.forecast import Forecast, first_runs
from ampler.study.record import record
from ampler.study.run_inputs import planned_seed
from ampler.study.store import environment
from ampler.study.text import expected, first_decision, plan_warnings, planned

CHEAP = 5.0  # maximum seconds of a run that is repeated as a check
SHARED_RUNS = 10  # maximum runs of each algorithm to estimate the correlation by shared seeds
HELPFUL = 0.2  # a correlation: below it five algorithms with a reference save nothing
LEAST = 1e-4  # minimum seconds of a run: its overhead

Kind = Literal["no value", "time", "deterministic", "not deterministic", "reproducible", "constant", "not reproducible"]


@dataclass(frozen=True, slots=True)
class FirstRun:
    """Check of an algorithm: its first run, the same run repeated, and the second run, as far as they were made.

    `seconds` is the mean time of its runs, and `recorded` says that its first run is kept in the results file; with
    `earlier` it was there already, and was not made now. `changed` says that its code is not that of recorded runs.
    `line` is what a command printed that its value was read from; empty where nothing was printed for it."""

    algorithm: Algorithm
    first: Observation
    again: Observation | None = None
    second: Observation | None = None
    recorded: bool = False
    earlier: bool = False
    changed: CodeChange | None = None
    two_values: bool = False  # binary outcomes: two of them are often equal
    line: str = ""
    further: tuple[Observation, ...] = ()  # where algorithms share seeds: the runs after the second

    @property
    def runs(self) -> tuple[Observation, ...]:
        """The runs with different seeds."""
        return tuple(run for run in (self.first, self.second, *self.further) if run is not None)

    @property
    def seconds(self) -> float:
        """The mean time of the runs that gave a value."""
        runs = [run for run in (self.first, self.again, self.second) if run is not None and run.value is not None]
        return max(LEAST, sum(run.seconds for run in runs) / len(runs)) if runs else self.first.seconds

    @property
    def kind(self) -> Kind | None:
        """Return a remark on its values; None if it was not run again."""
        value, is_same = self.first.value, self.second is not None and self.second.value == self.first.value
        if value is None:
            return "no value"
        if self.algorithm.reading.is_time:
            return "time"
        if (self.second if self.algorithm.deterministic else self.again) is None:
            return None
        if self.algorithm.deterministic:
            return "deterministic" if is_same else "not deterministic"
        if self.again is not None and self.again.value != value:
            return "not reproducible"
        return "constant" if is_same and not self.two_values else "reproducible"

    @property
    def remark(self) -> str:
        """Short remark on the algorithm."""
        other = self.again if self.kind == "not reproducible" else self.second
        shown = ["no value" if run.value is None else repr(run.value) for run in (self.first, other) if run is not None]
        remark = {
            "no value": self.first.message,
            "time": "a time: no seed reproduces it",
            "deterministic": "deterministic, as declared",
            "not deterministic": f"declared deterministic, but two seeds gave {', then '.join(shown)}",
            "reproducible": "the seed reproduces it",
            "constant": "the same with two seeds: if it always is, deterministic = true saves runs",
            "not reproducible": f"one seed gave {', then '.join(shown)}: no seed, or earlier runs, decide its value",
            None: f"not tried twice: a run takes {self.first.seconds:.3g} s",
        }[self.kind]
        return f"{'from the record: ' if self.earlier else ''}{remark}"


@dataclass(frozen=True, slots=True)
class Inspection:
    """The first runs on one instance, algorithm by algorithm."""

    instance: str
    findings: tuple[FirstRun, ...]
    recorded_below: tuple[Observation, ...] = ()  # recorded runs with values that no ratio can divide by

    @property
    def runs(self) -> Iterator[Observation]:
        """The first runs of every algorithm, and the second ones where there are any."""
        return chain.from_iterable(finding.runs for finding in self.findings)

    @property
    def correlation(self) -> float | None:
        """The mean correlation of two algorithms over the runs with one index; None where it is not known."""
        table = np.full((SHARED_RUNS, len(self.findings)), np.nan)
        for k, finding in enumerate(self.findings):
            for run in finding.runs:
                table[run.key.index, k] = np.nan if run.value is None else run.value
        covariances, common = shared_covariances(table)
        deviations = np.sqrt(np.diag(covariances))
        first, second = np.triu_indices(len(deviations), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            correlations = covariances[first, second] / (deviations[first] * deviations[second])
        known = correlations[(common[first, second] > 2) & np.isfinite(correlations)]
        return float(known.mean()) if len(known) else None

    @property
    def seconds(self) -> Mapping[str, float]:
        """The mean time of a run of each algorithm that gave a value."""
        return {run.algorithm.name: run.seconds for run in self.findings if run.first.value is not None}


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """Expected cost of a study, and the check of each algorithm."""

    plan: Plan
    inspection: Inspection
    forecast: Forecast

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings before the study is run."""
        plan, findings, problem = self.plan, self.inspection.findings, not_positive(self.plan, self.inspection)
        loose = [run.algorithm.name for run in findings if run.kind == "not reproducible" and plan.seeds == "shared"]
        unshared = f"{listed(loose, 3)}: two runs with one seed gave different values, so shared seeds have no effect"
        return (
            *plan_warnings(plan),
            *([] if problem is None else [problem]),
            *(line for run in findings for line in missing_measures(run, plan)),
            *([unshared] if loose else []),
            *(f"{run.changed}; ampler run will ask for --same or --again" for run in findings if run.changed),
        )

    @property
    def shared_seeds(self) -> str | None:
        """Effect of shared seeds on the first runs; None if no seeds are shared, or it is unknown."""
        first, correlation = self.inspection, self.inspection.correlation if self.plan.seeds == "shared" else None
        if correlation is None:
            return None
        runs = max(2 + len(finding.further) for finding in first.findings)
        by = f"correlation {correlation:.2f} over the first {runs} runs on {first.instance}"
        if correlation <= HELPFUL:
            return f'Shared seeds hardly help: {by}. They do no harm; seeds = "own" is as good.'
        return f"Shared seeds help: {by}, so pairs need about {max(1.0, 100 * (1 - correlation)):.0f} % of the runs."

    def __repr__(self) -> str:
        runs = self.inspection.findings
        lines = [f"{self.plan.name}: {planned(self.plan)}.", *(f"Note: {warning}." for warning in self.warnings)]
        lines += [f"Each algorithm on {self.inspection.instance}:", *first_run_columns(self.inspection).fitted().lines]
        lines += [*(read_from(run) for run in runs if run.line), *(measures(run) for run in runs if run.first.measures)]
        lines += filter(None, (first_decision(self.plan), self.shared_seeds, expected(self.forecast)))
        return "\n".join(lines)


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
    of it, as nobody has said yet what that means. `report` receives the name of each algorithm before its run, and
    `announce` how the plan differs from the one under which runs were made."""
    for algorithm in plan.algorithms:
        check_supported(algorithm, plan.limits_of(algorithm))
    plan = plan_in_force(plan, store)  # recording another plan here would bypass later checks
    code, earlier = code_status(plan, store), last_carried_out(store)
    try:
        store.begin(record(plan), {**environment(), "check": str(len(store.plans()))})
    except PlanMismatch as problem:  # perhaps nothing but a check would be lost with the file
        tally, most = store.tally(), 2 if plan.seeds == "own" else SHARED_RUNS
        if len({cell.instance for cell in tally}) != 1 or any(cell.runs > most for cell in tally):
            raise
        raise PlanMismatch(f"{problem.message}, or remove it: it holds only the runs of an earlier check") from None
    is_added = isinstance(plan.study_rule, AddedAlgorithms)
    if not is_added and earlier and store.begun() and (change := plan_change(earlier[0], record(plan))) is not None:
        announce(change)
    code.keep(store, without_changed=True)
    trials = TrialRuns(plan, store, code.changes)
    with Interrupts() as interrupts:
        pool = LocalPool(Work.of(plan, showing=True), 1)
        try:
            findings = []
            for algorithm in plan.algorithms:
                report(algorithm.name)
                findings.append(trials.of(algorithm, pool))
                interrupts.repeat()
            pool.close(at_once=False)
            pool = LocalPool(Work.of(plan, showing=True), 1)
            findings = [trials.repeated(finding, pool) for finding in reversed(findings)][::-1]
        except BaseException:
            pool.close(at_once=True)
            raise
        pool.close(at_once=False)
    return Inspection(trials.instance, tuple(findings), tuple(islice(_not_positive(plan, store.observations()), 1)))


def refuse_what_does_not_run(plan: Plan, inspection: Inspection) -> None:
    """Raise RunFailed where the study would stop later; that a run takes too long may be part of the study."""
    for _, problem in problems(plan, inspection):
        raise RunFailed(problem)


def problems(plan: Plan, inspection: Inspection) -> Iterator[tuple[str, str]]:
    """Yield the algorithms that would stop the study, each with its problem."""
    for finding in inspection.findings:
        late = finding.first.status == "timeout" and not isinstance(plan.policy, StopStudy)
        if finding.first.value is None and not late:
            name = finding.algorithm.name
            yield name, f"algorithm {name!r} gave no value on {inspection.instance!r}: {finding.remark}"
        elif plan.question.measures and (lacking := next(missing_measures(finding, plan), None)):
            yield finding.algorithm.name, f"{lacking} (on {inspection.instance!r})"
    for run in inspection.runs if plan.question.statistic == RATE else ():
        if run.value is not None and run.value not in (0.0, 1.0):
            name, where = run.key.algorithm, run.key.instance
            yield name, f"{neither_yes_nor_no(run.value)} from algorithm {name!r} on {where!r}; {NUMBERS}"
    for finding in inspection.findings:
        if finding.kind == "not deterministic":  # a single value would count as its only one
            name = finding.algorithm.name
            yield name, f"algorithm {name!r} is {finding.remark} on {inspection.instance!r}; remove deterministic"


def not_positive(plan: Plan, inspection: Inspection) -> str | None:
    """State which algorithm gave a value that the plan's differences cannot divide by; None when all is well."""
    for run in _not_positive(plan, (*inspection.runs, *inspection.recorded_below)):
        shift, gave = plan.question.shift, f"{run.key.algorithm} gave {run.value:g} on {run.key.instance}"
        if shift is not None:
            return f"{gave}, and shift = {shift:g} needs values above {-shift:g}; set a larger shift"
        return (
            f"{gave}, but {plan.question.difference} differences need positive values; specify floor = 1e-8, to"
            " which smaller values are raised, or difference = 'simple'"
        )
    return None


def _not_positive(plan: Plan, runs: Iterable[Observation]) -> Iterator[Observation]:
    """Yield the runs of a plan with a value that its differences cannot divide by."""
    names = {algorithm.name for algorithm in plan.algorithms}
    for run in () if plan.question.difference == "simple" or plan.question.floor is not None else runs:
        if run.key.algorithm in names and run.value is not None and plan.question.adjusted(run.value) <= 0:
            yield run


class TrialRuns:
    """Makes the runs on the first instance of a plan, and records those that the rule will ask for."""

    def __init__(self, plan: Plan, store: Store, changes: Iterable[CodeChange] = ()) -> None:
        self.instance = plan.instances[0].name
        self._plan, self._store = plan, store
        self._needed = first_runs(plan)
        self._changed = {change.algorithm: change for change in changes}
        recorded = [run for run in store.observations(self.instance) if run.key.algorithm not in self._changed]
        self._recorded = {run.key: run for run in recorded}
        self._lines: dict[RunKey, str] = {}
        self._earlier = frozenset(self._recorded)
        self._attempts = Counter(run.key for run in store.observations(self.instance, superseded=True))

    def of(self, algorithm: Algorithm, pool: Engine) -> FirstRun:
        """Return the check of an algorithm."""
        first, second = self._run(algorithm, 0, pool), None
        if first.value is not None and not algorithm.reading.is_time and first.seconds <= CHEAP:
            second = self._run(algorithm, 1, pool)
        recorded, once = self._recorded.get(first.key) is first, second is None or algorithm.deterministic
        wanted = 0 if once or self._plan.seeds == "own" else self._needed.get(algorithm.name, 0)
        most = min(wanted, SHARED_RUNS, int(2 * CHEAP / max(first.seconds, LEAST)))
        further = tuple(self._run(algorithm, index, pool) for index in range(2, most))
        changed, line = self._changed.get(algorithm.name), self._lines.get(first.key, "")
        earlier, rates = recorded and first.key in self._earlier, self._plan.question.statistic == RATE
        return FirstRun(algorithm, first, None, second, recorded, earlier, changed, rates, line, further)

    def repeated(self, finding: FirstRun, pool: Engine) -> FirstRun:
        """Return a finding with its first run made again.

        That is its second run in a process in which the algorithms after it were run and those before it were not: so
        it differs where an algorithm changes a variable that runs share."""
        if finding.second is None or finding.algorithm.deterministic:
            return finding
        self._made(Task(finding.first.key), pool)
        again = self._made(Task(finding.first.key), pool)
        return replace(finding, again=again, line=self._lines.get(again.key, ""))

    def _run(self, algorithm: Algorithm, index: int, pool: Engine) -> Observation:
        """A run from the record, or made now and recorded if it has a value and the rule will ask for it.

        A failure is not recorded: it is mostly a mistake that is about to be fixed."""
        key = RunKey(self.instance, algorithm.name, index)
        recorded = self._recorded.get(key)
        if recorded is not None and recorded.status == "ok":
            return recorded
        new = self._made(Task(key, attempt=self._attempts[key]), pool)
        open_ = recorded is None or isinstance(self._plan.policy, StopStudy)  # otherwise its failure is final
        open_ = open_ and algorithm.name not in self._changed
        if new.status == "ok" and open_ and index < self._needed.get(algorithm.name, 0):
            self._store.add([new])
            self._recorded[key] = new
            self._earlier -= {key}
        return new

    def _made(self, task: Task, pool: Engine) -> Observation:
        """A run as it is recorded; the line that its value was read from is noted."""
        key = task.key
        pool.submit([task])
        while True:
            for fate in pool.collect(None):
                match fate:
                    case Done([run]) if run.status == "ok":
                        self._lines[key] = run.message
                        return replace(run, message="")
                    case Done([run]):
                        return run
                    case Lost(_, how):
                        seed = planned_seed(self._plan, key)
                        message = f"it took its worker with it: {how}"
                        return Observation(key, None, status="lost", message=message, seed=seed)
                    case Returned(tasks):
                        pool.submit(tasks)


def measures(finding: FirstRun) -> str:
    """State which measures an algorithm reports in addition to its value."""
    names = ", ".join(finding.first.measures or ())
    return f"{finding.algorithm.name} reports {names}: all are kept, the value decides."


def missing_measures(finding: FirstRun, plan: Plan) -> Iterator[str]:
    """State the missing measures of a run with a value."""
    patterns, given = finding.algorithm.outputs.measures, finding.first.measures or {}
    tables = [item.name for item in plan.question.measures or () if item.role != "primary"]
    for name in dict.fromkeys((*patterns, *tables)) if finding.first.value is not None else ():
        if name not in given and (name in patterns or name not in OF_EVERY_RUN):
            remedy = f"correct the pattern {patterns[name]!r} in measures" if name in patterns else "return it by name"
            yield f"{finding.algorithm.name} gave no number {name!r}: {remedy}"


def read_from(finding: FirstRun) -> str:
    """State which line a value was read from, for people to see whether it is the right one."""
    return f"{finding.algorithm.name}: {_value(finding.first.value)} was read from the line {finding.line!r}."


def first_runs_recorded(inspection: Inspection, where: str) -> str:
    """State for how many algorithms the first runs, which are one or two, are the study's own."""
    recorded, all_ = sum(finding.recorded for finding in inspection.findings), len(inspection.findings)
    all_of_them = "both" if all_ == 2 else f"all {all_}"
    whose = all_of_them if recorded == all_ else f"{recorded} of {all_}"
    return f"The first runs of {whose} algorithms were saved to {where} and count towards the study."


def first_run_columns(inspection: Inspection) -> TextTable:
    """Return a row for each algorithm: name, value, seconds, remark."""
    rows = [
        [finding.algorithm.name, _value(finding.first.value), f"{finding.seconds:.3g}", finding.remark]
        for finding in inspection.findings
    ]
    return table_of(["algorithm", "value", "seconds", "remark"], rows, words=[3])


def _value(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
