"""External runs: a workflow requests the list of runs, makes them, and returns the results."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ampler.core.contracts import Store
from ampler.core.errors import AmplerError, InvalidData
from ampler.core.plan import Plan
from ampler.core.runs import Observation, RunKey
from ampler.running.driver import run_plan
from ampler.running.engines import Done, Fate
from ampler.running.work import Task
from ampler.study.run_inputs import planned_seed

FIELDS = ("instance", "algorithm", "index", "value", "status", "message", "seconds", "cpu", "measures", "seed")
STATUSES = ("ok", "failed", "timeout")
LARGEST = sys.float_info.max  # excludes infinity, integers beyond floats, and NaN
MANY = 10**6  # workers: every run that can be made now is requested


class RunsWanted(AmplerError):
    """Decisions cannot continue without further runs."""


class ExternalRuns:
    """An engine that makes no runs: it has results, and collects the runs that lack one."""

    workers = MANY

    def __init__(self, results: Iterable[Observation] = ()) -> None:
        self._results: defaultdict[RunKey, deque[Observation]] = defaultdict(deque)
        for result in results:
            self._results[result.key].append(result)
        self._new: list[Task] = []
        self.wanted: list[Task] = []
        self.recorded = 0

    @property
    def busy(self) -> int:
        """The number of runs without a result so far."""
        return len(self._new) + len(self.wanted)

    @property
    def unused(self) -> list[RunKey]:
        """The results that no decision has requested."""
        return [key for key, results in self._results.items() for _ in results]

    def submit(self, tasks: Sequence[Task]) -> None:
        """Note runs that are wanted."""
        self._new += tasks

    def collect(self, timeout: float | None) -> list[Fate]:
        """Return the results of wanted runs; RunsWanted when there are none."""
        made: list[Observation] = []
        for task in self._new:
            if results := self._results.get(task.key):
                made.append(replace(results.popleft(), attempt=task.attempt, round=task.round))
            else:
                self.wanted.append(task)
        self._new = []
        if not made:
            if timeout == 0:
                return []  # a closing study needs no runs
            raise RunsWanted("the study needs runs that are not made yet")
        self.recorded += len(made)
        return [Done(made, sum(observation.seconds for observation in made))]

    def close(self, *, at_once: bool) -> None:
        """Nothing is under way."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Result of recording a file, and the runs wanted now; empty if the study is complete."""

    recorded: int
    known: int
    unused: int
    wanted: tuple[Task, ...]


def exchange(plan: Plan, store: Store, lines: Iterable[Mapping[str, Any]] = (), **options: Any) -> Exchange:
    """Record results as far as decisions ask for them, and return the runs that are wanted now."""
    results = [observation_of(line, number, plan) for number, line in enumerate(lines, 1)]
    fresh = list(_without_known(results, store))
    engine: Any = ExternalRuns(fresh)  # takes the place of an executor
    with suppress(RunsWanted):
        run_plan(plan, store, executor=engine, **options)
    return Exchange(engine.recorded, len(results) - len(fresh), len(engine.unused), tuple(engine.wanted))


def observation_of(line: Mapping[str, Any], number: int, plan: Plan) -> Observation:
    """Return a line of results as a run; InvalidData names the line and what is wrong with it."""
    where = f"line {number} of the results"
    if not isinstance(line, Mapping):
        raise InvalidData(f"{where} must be a JSON object with {', '.join(FIELDS[:4])}, got {line!r:.80}")
    if unknown := sorted(set(line) - set(FIELDS)):
        raise InvalidData(f"{where} has an unknown field {unknown[0]!r}; the fields are {', '.join(FIELDS)}")
    for field, items in {"instance": (*plan.instances, *plan.untouched), "algorithm": plan.algorithms}.items():
        if line.get(field) not in [item.name for item in items]:
            raise InvalidData(f"{where}: the study has no {field} {line.get(field)!r}")
    index, value = line.get("index"), line.get("value")
    if type(index) is not int or index < 0:
        raise InvalidData(f"{where}: index must be a whole number from 0 on, got {index!r}")
    status = line.get("status", "ok" if value is not None else "failed")
    if status not in STATUSES:
        raise InvalidData(f"{where}: status must be one of {', '.join(STATUSES)}, got {status!r}")
    if (status == "ok") != _is_number(value):
        raise InvalidData(f"{where}: a run with status {status!r} and value {value!r:.80}; only 'ok' has a number")
    key = RunKey(line["instance"], line["algorithm"], index)
    seed = planned_seed(plan, key)
    if line.get("seed", seed) != seed:
        raise InvalidData(f"{where}: the seed of this run is {seed}, got {line['seed']!r}; was another study run?")
    measures = line.get("measures")
    if measures is not None and not (isinstance(measures, Mapping) and all(map(_is_number, measures.values()))):
        raise InvalidData(f"{where}: measures must be numbers by name, got {measures!r:.80}")
    for field in ("seconds", "cpu"):
        if line.get(field) is not None and not (_is_number(line[field]) and line[field] >= 0):
            raise InvalidData(f"{where}: {field} must be a number from 0 on, got {line[field]!r:.80}")
    return Observation(
        key=key,
        value=None if value is None else float(value),
        seconds=float(line.get("seconds") or 0.0),
        status=status,
        message=str(line.get("message", "")),
        seed=seed,
        measures=None if measures is None else {str(name): float(number) for name, number in measures.items()},
        cpu=line.get("cpu"),
        cause={"ok": "", "timeout": "timeout"}.get(status, "external"),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _without_known(results: Sequence[Observation], store: Store) -> Iterable[Observation]:
    """Yield results that are new; a run with two values is an error."""
    keys = {result.key for result in results}
    values = {run.key: run.value for run in store.observations() if run.key in keys and run.status == "ok"}
    for result in results:
        key = result.key
        if key not in values:
            if result.status == "ok":
                values[key] = result.value
            yield result
        elif result.status == "ok" and values[key] != result.value:
            raise InvalidData(
                f"run {key.index} of {key.algorithm!r} on {key.instance!r} has two values:"
                f" {values[key]!r} and {result.value!r}; keep one"
            )
