"""The results of the sampling benchmark: a CSV that grows cell by cell, and what is promised of it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from itertools import product
from pathlib import Path
from statistics import fmean

from sampling_simulation import DISTRIBUTIONS, PAPER, PATTERNS, START, Cell, Outcome, Rule, Streams, simulate

ALGORITHMS = (2, 5, 10, 22, 50)
LOADS = (1.5, 5.0, 20.0)
RULES = (
    PAPER,
    Rule("optimal", "pairs"),
    Rule("greedy", "pairs"),
    Rule("optimal", "all"),
    Rule("greedy", "all"),
    Rule(runs=30),
    Rule(runs=50),
)
SMALLER_BATCH, LARGER_BATCH = Rule(batch=1), Rule(batch=64)


@dataclass(frozen=True)
class Row:
    """One rule in one cell."""

    difference: str
    pairs: str
    algorithms: int
    pattern: str
    distribution: str
    load: float
    rule: str
    replications: int
    runs: float
    error: float
    within: float
    within_se: float
    all: float
    all_se: float
    price: float

    @classmethod
    def of(cls, outcome: Outcome) -> Row:
        numbers = {name: round(float(value), 4) for name, value in outcome.summary().items()}
        return cls(*_key(outcome.cell), outcome.rule.name, len(outcome.counts), **numbers)

    @property
    def key(self) -> tuple[object, ...]:
        return astuple(self)[:7]

    @property
    def cell(self) -> str:
        kind = f"{self.difference}, {self.pairs}, A = {self.algorithms}"
        return f"{kind}, {self.pattern}, {self.distribution}, {self.load:g}×"


def every_cell() -> Iterator[Cell]:
    """The grid: three full factorials, which the page names; a noisy reference exists only where there is one."""
    for algorithms, distribution in product(ALGORITHMS, DISTRIBUTIONS):
        for difference, reference in product(("simple", "percent", "ratio"), (True, False)):
            for pattern, load in product(PATTERNS, LOADS):
                cell = Cell(difference, reference, algorithms, pattern, distribution, load)
                if (reference or pattern != "noisy reference") and in_grid(cell):
                    yield cell


def in_grid(cell: Cell) -> bool:
    """Say whether a cell is one of the kinds, of the loads, or of the many algorithms."""
    if cell.load == 5.0 and cell.algorithms < 50:
        return True
    if cell.difference == "ratio":  # the simple case with other noises: the same code decides
        return False
    if cell.difference == "percent" and not cell.reference:  # the grand mean ties all algorithms together: slow
        return False
    return cell.distribution == "normal" if cell.load == 5.0 else _loaded(cell)


def _loaded(cell: Cell) -> bool:
    return cell.algorithms == 5 or (cell.algorithms < 50 and cell.distribution == "normal")


def promised(cell: Cell) -> bool:
    """Say whether the numbers promised for normal data speak of this cell."""
    return cell.distribution == "normal" and cell.load == 5.0 and cell.difference != "ratio"


def urgency(cell: Cell) -> tuple[object, ...]:
    """Cells in the order in which they are run: what is promised first, the longest last."""
    slow = cell.algorithms == 50 and cell.difference == "percent" and not cell.reference
    many = cell.algorithms if cell.load == 20.0 else 0
    return many, slow, not promised(cell), -cell.load, cell.algorithms, cell.distribution


def batch_cell(cell: Cell) -> bool:
    """The cells in which rounds of 1, 16 and 64 runs are compared."""
    return promised(cell) and cell.difference == "simple" and cell.algorithms in (5, 22)


def rules_for(cell: Cell) -> tuple[Rule, ...]:
    return (*RULES, SMALLER_BATCH, LARGER_BATCH) if batch_cell(cell) else RULES


def measure(cells: Iterable[Cell], replications: int, path: Path | None, say: Callable[[str], None]) -> list[Row]:
    """Simulate what the file does not hold yet, cell by cell, and add it there."""
    rows = read(path) if path else []
    known = {row.key for row in rows}
    streams: tuple[tuple[int, str], Streams] | None = None
    for cell in sorted(cells, key=urgency):
        missing = [rule for rule in rules_for(cell) if (*_key(cell), rule.name) not in known]
        if not missing:
            continue
        kind = (cell.algorithms, cell.distribution)
        if streams is None or streams[0] != kind:
            streams = (kind, Streams(cell.distribution, cell.algorithms, replications))
        fresh = [Row.of(simulate(cell, rule, streams[1])) for rule in missing]
        rows += fresh
        if path:
            _append(path, fresh)
        say(fresh[0].cell)
    return rows


def read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        types = {field.name: {"int": int, "float": float}.get(str(field.type), str) for field in fields(Row)}
        return [Row(**{name: types[name](text) for name, text in row.items()}) for row in csv.DictReader(file)]


def _append(path: Path, rows: list[Row]) -> None:
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(field.name for field in fields(Row))
        writer.writerows(astuple(row) for row in rows)


def _key(cell: Cell) -> tuple[str, str, int, str, str, float]:
    pairs = "reference" if cell.reference else "all pairs"
    return cell.difference, pairs, cell.algorithms, cell.pattern, cell.distribution, cell.load


# --- what is promised -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A promise and what was measured."""

    what: str
    wanted: str
    measured: str
    kept: bool


def targets(rows: list[Row]) -> list[Target]:
    """Compare the promises for normal data, optimum = 5·start·A, with the results."""
    normal = [row for row in rows if row.distribution == "normal" and row.load == 5 and row.difference != "ratio"]
    found: list[Target] = []
    for name, few, runs, share in (("A = 2", True, 1.33, 0.93), ("A ≥ 5", False, 1.26, 0.95)):
        pairs = [row for row in normal if row.rule == "optimal/pairs" and (row.algorithms == 2) == few]
        found += [
            _at_most(f"{name}, optimal/pairs: runs/optimum", runs, _mean(pairs, "runs")),
            _at_least(f"{name}, optimal/pairs: pairs within se", share, pairs, "within"),
        ]
    every = [row for row in normal if row.rule == "optimal/all"]
    found += [
        _at_most("optimal/all: runs/optimum", 1.45, _mean(every, "runs")),
        _at_least("optimal/all: instances with all pairs within se", 0.95, every, "all"),
    ]
    return [*found, *_savings(normal), _price_target(rows), *_batch_targets(rows)]


def worse_than_greedy(rows: list[Row], limit: float = 1.03) -> tuple[list[tuple[Row, Row]], int]:
    """Return the (optimal, greedy) under the same guard whose price is above the limit, and how many were compared."""
    by_key = {row.key: row for row in rows}
    both = [
        (row, by_key[(*row.key[:6], row.rule.replace("optimal", "greedy"))])
        for row in rows
        if row.rule in ("optimal/pairs", "optimal/all")
    ]
    return [(one, other) for one, other in both if one.price > limit * other.price], len(both)


def _savings(normal: list[Row]) -> list[Target]:
    here = {row.rule: row for row in normal if row.key[:4] == ("simple", "reference", 22, "equal")}
    return [
        _at_most(
            f"A = 22, reference, equal sds, guard {guard}: runs over greedy's",
            0.80,
            here[f"optimal/{guard}"].runs / here[f"greedy/{guard}"].runs,
        )
        for guard in ("pairs", "all")
        if f"greedy/{guard}" in here
    ]


def _price_target(rows: list[Row]) -> Target:
    worse, total = worse_than_greedy(rows)
    return _at_most("cells with a price more than 3 % above greedy's under the same guard", 0.05, len(worse) / total)


def _batch_targets(rows: list[Row]) -> list[Target]:
    by_rule = {name: [row for row in rows if row.rule == name] for name in (SMALLER_BATCH.name, LARGER_BATCH.name)}
    cells = {row.key[:6] for row in by_rule[SMALLER_BATCH.name]}
    if not cells:
        return []
    default = [row for row in rows if row.rule == "optimal/pairs" and row.key[:6] in cells]
    single = _mean(by_rule[SMALLER_BATCH.name], "runs")
    larger = _mean(by_rule[LARGER_BATCH.name], "runs")
    return [
        _at_most("rounds of 16 against 1: runs", 1.03, _mean(default, "runs") / single),
        _at_most("rounds of 64 against 1: runs (no promise)", float("inf"), larger / single),
    ]


def _mean(rows: list[Row], name: str) -> float:
    return fmean(getattr(row, name) for row in rows)


def _at_most(what: str, limit: float, value: float) -> Target:
    return Target(what, "–" if limit == float("inf") else f"≤ {limit:.2f}", f"{value:.3f}", value <= limit)


def _at_least(what: str, limit: float, rows: list[Row], name: str) -> Target:
    value, noise = _mean(rows, name), _mean(rows, f"{name}_se")
    return Target(what, f"≥ {limit:.0%} less 2 s.e.", f"{value:.1%} (s.e. {noise:.1%})", value >= limit - 2 * noise)


__all__ = ["START", "Row", "Target", "every_cell", "measure", "promised", "read", "targets"]
