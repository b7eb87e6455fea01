"""The table of solvers: solved, wrong, timed out, PAR-k, shifted geometric mean, virtual best solver. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ampler.analysis.results import Analysis
from ampler.core.arrays import Bools, Codes, Floats, Runs
from ampler.core.failures import KINDS, Kind, Par, values_under
from ampler.core.text import TextTable, digits
from ampler.core.text import table_of as text_table

USUAL_FACTOR = 10.0  # PAR10, unless a policy has another factor
SHIFT = 10.0  # seconds, as is usual for MIP solvers
SINGLE_BEST, VIRTUAL_BEST = "single best", "virtual best"
COUNTED: Sequence[Kind] = KINDS[1:]
ALWAYS: Sequence[Kind] = ("wrong", "timeout", "memout")


@dataclass(frozen=True, slots=True)
class SolverRow:
    """Outcome of a solver's runs; NaN if unknown, because there is no time limit.

    `par` is the mean over instances of the mean over runs, `shifted_mean` the shifted geometric mean in which an
    unsolved run counts as the cutoff. `contribution` is what PAR-k of the virtual best solver would lose without it.
    """

    solver: str
    runs: int
    solved: int
    failures: Mapping[Kind, int]
    par: float
    shifted_mean: float
    mean_rank: float
    contribution: float


@dataclass(frozen=True, slots=True)
class SolverTable:
    """The solvers, the best first; then the best of them, and a virtual one with the best solver of each instance."""

    rows: tuple[SolverRow, ...]
    factor: float
    cutoff: float | None
    shift: float


def solver_table(analysis: Analysis) -> SolverTable | None:
    """Return the table of solvers; None where no run failed and none was limited."""
    runs, failures = analysis.recorded, analysis.settings.failures
    policy = failures if isinstance(failures, Par) else None
    if runs is None or (runs.ok.all() and policy is None):
        return None
    runs, ranks = replace(runs, shift=0.0), {row.algorithm: row.mean_rank for row in analysis.algorithms}
    par = _scores(runs, policy, lambda value: value)
    logs = _scores(runs, policy and replace(policy, factor=1.0), lambda value: np.log(np.maximum(value, 0.0) + SHIFT))
    best = np.asarray(np.argmin(np.where(np.isnan(par), np.inf, par), axis=1))  # the first of several

    def row(name: str, rows: Bools, columns: Codes) -> SolverRow:
        kinds = dict(zip(KINDS, np.bincount(runs.kinds[rows], minlength=len(KINDS)).tolist(), strict=True))
        solved, at, known = kinds.pop("ok"), (np.arange(len(par)), columns), policy is not None
        return SolverRow(
            name,
            int(rows.sum()),
            solved,
            {kind: number for kind, number in kinds.items() if number},
            _mean(par[at]) if known else math.nan,
            math.exp(np.nanmean(logs[at])) - SHIFT if known else math.nan,
            ranks.get(name, math.nan),
            math.nan,
        )

    virtual = row(VIRTUAL_BEST, runs.algorithm == best[runs.instance], best)
    solvers = []
    for k, name in enumerate(runs.algorithms):
        solver, others = row(name, runs.algorithm == k, np.full(len(par), k)), np.delete(par, k, axis=1)
        without = _mean(others.min(axis=1, where=~np.isnan(others), initial=np.inf))
        solvers.append(replace(solver, contribution=without - virtual.par))
    solvers.sort(key=lambda item: (item.par if policy else 0.0, -item.solved / item.runs, item.mean_rank))
    single = replace(solvers[0], solver=f"{SINGLE_BEST} ({solvers[0].solver})", contribution=math.nan)
    cutoff = None if policy is None else policy.cutoff
    return SolverTable((*solvers, single, virtual), USUAL_FACTOR if policy is None else policy.factor, cutoff, SHIFT)


def _mean(scores: Floats) -> float:
    """The mean of the scores that are known; infinite where their sum leaves the doubles."""
    with np.errstate(over="ignore"):
        return float(np.nanmean(scores))


def _scores(runs: Runs, policy: Par | None, scale: Callable[[Floats], Floats]) -> Floats:
    """The mean over the runs of each solver (column) on each instance (row); NaN without a run.

    Without a policy the score is the share of failed runs, which serves only to find the best solver.
    """
    values = (~runs.ok).astype(float) if policy is None else scale(values_under(runs, policy)[0])
    shape = len(runs.instances), len(runs.algorithms)
    cells = runs.instance * shape[1] + runs.algorithm
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, values, shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        return np.asarray((sums / counts).reshape(shape))


def solver_cells(table: SolverTable) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the heads and the rows of the table as texts; kinds of failures that nowhere occurred are left out."""
    kinds = [kind for kind in COUNTED if kind in ALWAYS or any(kind in row.failures for row in table.rows)]

    def text(value: float) -> str:
        return "–" if math.isnan(value) else digits(value)

    head = ("solver", "solved", *kinds, f"PAR{table.factor:g}", "SGM", "rank", "VBS loss")
    rows = [
        (
            SINGLE_BEST if row.solver.startswith(f"{SINGLE_BEST} (") else row.solver,
            f"{row.solved:,}/{row.runs:,}",
            *(f"{row.failures.get(kind, 0):,}" for kind in kinds),
            *map(text, (row.par, row.shifted_mean, row.mean_rank, row.contribution)),
        )
        for row in table.rows
    ]
    shown = [k for k in range(len(head)) if k <= len(kinds) + 1 or any(row[k] != "–" for row in rows)]
    return tuple(head[k] for k in shown), [tuple(row[k] for k in shown) for row in rows]


def solver_columns(table: SolverTable) -> TextTable:
    """Return the table for a terminal."""
    head, rows = solver_cells(table)
    kinds = {k: 3 for k, name in enumerate(head) if name in COUNTED and name not in ALWAYS}
    return text_table(head, rows, leaves=kinds | {k: 2 for k, name in enumerate(head) if name in ("rank", "VBS loss")})


def about_solvers(table: SolverTable) -> str:
    """Explain the columns of the table.

    >>> about_solvers(SolverTable((), 10.0, 60.0, 10.0)).partition(". ")[0]
    'PAR10: mean over instances; a failed run counts as 10 times the cutoff of 60'
    """
    best = "The virtual best solver has the best solver of each instance"
    if table.cutoff is None:
        return f"{best}. PAR10 is shown where failed runs count with par=10."
    return (
        f"PAR{table.factor:g}: mean over instances; a failed run counts as {table.factor:g} times the cutoff of"
        f" {digits(table.cutoff)}. SGM: geometric mean shifted by {table.shift:g}; a failed run counts as the cutoff."
        f" {best}; VBS loss: increase of its PAR{table.factor:g} without this solver."
    )
