"""Runs counted where a study file is watched: cell by cell, from a run on, so that what is counted is not read again.

A cell is the runs of one algorithm on one instance. Its runs are numbered from 0, and the file is ordered by them: what
is new in a cell stands at its end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ampler.core.values import Observation, RunKey

Row = tuple[Any, ...]
Cell = tuple[str, str]  # instance and algorithm
Rows = Callable[[str, tuple[Any, ...]], Iterator[Row]]

COUNTED = 'count(*), count(run.value), total(run.seconds), max(run."index"), total(run.attempt > 0)'


@dataclass(frozen=True, slots=True)
class CellCount:
    """Runs of a cell from some run on: how many, how many of them gave a value, their time, and the last number.

    `exact` when no run among them was tried again.
    """

    runs: int = 0
    ok: int = 0
    seconds: float = 0.0
    last: int = -1
    ended: float = 0.0  # when the last of them ended, in seconds since 1970; 0 when it is not known
    exact: bool = True

    def __add__(self, more: CellCount) -> CellCount:
        return CellCount(
            self.runs + more.runs,
            self.ok + more.ok,
            self.seconds + more.seconds,
            max(self.last, more.last),
            max(self.ended, more.ended),
            self.exact and more.exact,
        )

    def __sub__(self, part: CellCount) -> CellCount:
        """Return what is left without a part at the end."""
        return replace(self, runs=self.runs - part.runs, ok=self.ok - part.ok, seconds=self.seconds - part.seconds)


class RunCounts:
    """Counts the runs of a study file that is open; names stand for the numbers that the file has for them.

    `counting` is the condition for a run that counts, and `timed` whether runs have their start.
    """

    def __init__(
        self, rows: Rows, instances: Mapping[str, int], algorithms: Mapping[str, int], counting: str, *, timed: bool
    ) -> None:
        self._rows, self._counting = rows, counting
        self._numbers = instances, algorithms
        self._instances = {number: name for name, number in instances.items()}
        self._algorithms = {number: name for name, number in algorithms.items()}
        self._started = "started" if timed else "NULL"

    def everywhere(self) -> dict[Cell, CellCount]:
        """Count the runs of all cells, in one pass."""
        return self._counted(f"SELECT instance, algorithm, {self._what} FROM run WHERE {self._counting}", ())

    def since(self, marks: Mapping[Cell, int]) -> dict[Cell, CellCount]:
        """Count the runs of some cells, each from a number on; a cell without any is left out."""
        return self._counted(
            f"SELECT run.instance, run.algorithm, {self._what} FROM json_each(?) AS mark CROSS JOIN run"
            " ON run.instance = json_extract(mark.value, '$[0]') AND run.algorithm = json_extract(mark.value, '$[1]')"
            f" AND run.\"index\" >= json_extract(mark.value, '$[2]') WHERE {self._counting}",
            (self._listed(marks),),
        )

    def begun(self, instances: Iterable[str]) -> frozenset[str]:
        """Return which of some instances have a run."""
        numbers = self._numbers[0]
        asked = json.dumps([numbers[name] for name in instances if name in numbers])
        query = (
            "SELECT mark.value FROM json_each(?) AS mark WHERE EXISTS (SELECT 1 FROM run WHERE instance = mark.value)"
        )
        return frozenset(self._instances[number] for (number,) in self._rows(query, (asked,)))

    def tried_again(self, cell: Cell, first: int, counted: CellCount) -> CellCount:
        """Count the runs of a cell in which runs were tried again: the last attempt is the run."""
        query = (
            "SELECT count(*), count(value), total(seconds) FROM (SELECT value, seconds, max(attempt) FROM run"
            f' WHERE instance = ? AND algorithm = ? AND "index" >= ? AND {self._counting} GROUP BY "index")'
        )
        ((runs, ok, seconds),) = self._rows(query, (*self._place(cell), first))
        return CellCount(runs, ok, seconds, counted.last, counted.ended, exact=False)

    def newest(self, cells: Iterable[Cell], each: int) -> list[Observation]:
        """Return the last runs of some cells, at most so many of each."""
        order = 'ORDER BY "index" DESC, attempt DESC LIMIT ?'
        return [seen for cell in cells for seen in self._observed(cell, f"AND {self._counting} {order}", each)]

    def without_value(self, cells: Iterable[Cell], each: int) -> list[Observation]:
        """Return runs of some cells that gave no value, the last ones first, at most so many of each."""
        order = f'AND value IS NULL AND {self._counting} ORDER BY "index" DESC, attempt DESC LIMIT ?'
        return [seen for cell in cells for seen in self._observed(cell, order, each)]

    def values(self, cell: Cell, first: int, most: int) -> list[Row]:
        """Return number, value, status and seconds of the runs of a cell from a number on, last attempts only."""
        query = (
            'SELECT "index", value, status, seconds, max(attempt) FROM run WHERE instance = ? AND algorithm = ?'
            f' AND "index" >= ? AND {self._counting} GROUP BY "index" ORDER BY "index" LIMIT ?'
        )
        return [row[:4] for row in self._rows(query, (*self._place(cell), first, most))]

    @property
    def _what(self) -> str:
        return f"{COUNTED}, max({self._started} + run.seconds)"

    def _counted(self, query: str, values: tuple[Any, ...]) -> dict[Cell, CellCount]:
        found = {}
        for instance, algorithm, runs, ok, seconds, last, again, ended in self._rows(
            f"{query} GROUP BY run.instance, run.algorithm", values
        ):
            found[self._instances[instance], self._algorithms[algorithm]] = CellCount(
                runs, ok, seconds, last, ended or 0.0, exact=not again
            )
        return found

    def _observed(self, cell: Cell, which: str, most: int) -> Iterator[Observation]:
        query = (
            f'SELECT "index", value, seconds, status, message, attempt, {self._started} FROM run'
            f" WHERE instance = ? AND algorithm = ? {which}"
        )
        for index, value, seconds, status, message, attempt, started in self._rows(query, (*self._place(cell), most)):
            key = RunKey(*cell, index)
            yield Observation(key, value, seconds, status=status, message=message, attempt=attempt, started=started)

    def _listed(self, marks: Mapping[Cell, int]) -> str:
        places: Sequence[tuple[int, int, int]] = [(*self._place(cell), first) for cell, first in marks.items()]
        return json.dumps(sorted(places))

    def _place(self, cell: Cell) -> tuple[int, int]:
        instances, algorithms = self._numbers
        return instances.get(cell[0], -1), algorithms.get(cell[1], -1)
