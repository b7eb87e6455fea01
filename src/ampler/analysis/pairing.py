"""Runs of different algorithms that share something, such as a fold or a seed: compared run by run. Pure.

What two runs share makes them high or low together, and their difference does not see it: its standard error comes
from the differences of the runs that belong together, not from the spread of each algorithm by itself.
"""

from __future__ import annotations

import numpy as np

from ampler.analysis.blocks import Blocks, Cells
from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.choices import Guard, GuardEdition
from ampler.core.errors import InvalidData
from ampler.core.failures import FailurePolicy, WorstSeen, values_under
from ampler.core.runs import Runs, at_rows
from ampler.core.spoken import parameter
from ampler.stats.contrasts import Contrasts
from ampler.stats.guard import guarded_variances


def matched(runs: Runs, failures: FailurePolicy | WorstSeen | None) -> Runs:
    """Return the runs that have a partner of every algorithm on their instance, in the order of what they share.

    Runs that share nothing are returned as they are. A label that lacks the value of some algorithm is left out.
    """
    if runs.shared is None:
        return runs
    _, counted = values_under(runs, failures)
    group = runs.instance * (int(runs.shared.max()) + 1) + runs.shared
    _refuse_twins(runs, group)
    partners = np.bincount(group[counted], minlength=int(group.max()) + 1)
    kept: Bools = counted & (partners[group] == _present(runs)[runs.instance])
    rows = np.flatnonzero(kept)
    if not len(rows):
        raise InvalidData(
            "no runs of all algorithms on an instance share anything; check the column that pairs them, or leave it out"
        )
    return at_rows(runs, rows[np.argsort(runs.shared[rows], kind="stable")])


def paired_errors(cells: Cells, blocks: Blocks, contrasts: Contrasts) -> Floats:
    """Return the standard error of each pair's difference on each instance, from runs that belong together."""
    return np.asarray(np.sqrt(_paired_variances(cells, blocks, contrasts) / _runs_of(cells)))


def guarded_paired_errors(
    cells: Cells, blocks: Blocks, contrasts: Contrasts, guard: Guard, edition: GuardEdition
) -> Floats:
    """Return the same as a cautious reader takes them: the difference of a pair is guarded like one algorithm."""
    variances = _paired_variances(cells, blocks, contrasts)
    runs = np.broadcast_to(_runs_of(cells), variances.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = ~np.isnan(variances)
        bounds = guarded_variances(
            np.where(known, runs, 0.0), np.where(known, variances, 0.0), guard=guard, edition=edition
        )
        return np.where(known, np.sqrt(bounds / runs), np.nan)


def _refuse_twins(runs: Runs, group: Codes) -> None:
    keys = group * len(runs.algorithms) + runs.algorithm
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(twice):
        row = int(order[twice[0] + 1])
        raise InvalidData(
            f"runs are paired one by one, but {runs.algorithms[runs.algorithm[row]]!r} has two on"
            f" {runs.instances[runs.instance[row]]!r} that share the same; name further columns that tell them apart,"
            f" as in {parameter('paired', ['repeat', 'fold'])}"
        )


def _present(runs: Runs) -> Codes:
    """How many algorithms there are on each instance."""
    there = np.zeros((len(runs.instances), len(runs.algorithms)), dtype=np.intp)
    there[runs.instance, runs.algorithm] = 1
    return np.asarray(there.sum(axis=1))


def _runs_of(cells: Cells) -> Floats:
    """The runs of each algorithm on each instance, which are equally many for all that are there."""
    return np.asarray(np.maximum(cells.counts.max(axis=1, keepdims=True), 1), dtype=float)


def _paired_variances(cells: Cells, blocks: Blocks, contrasts: Contrasts) -> Floats:
    """The variance of one run's part in each difference; NaN where a pair lacks the instance, or has one run alone.

    To first order φ is linear in the runs, with the gradient of φ at the means as weights.
    """
    found = np.full((len(cells.instances), len(contrasts.first)), np.nan)
    for i, (there, theta) in enumerate(zip(blocks.present, blocks.statistics, strict=True)):
        runs = int(cells.counts[i].max())
        if runs > 1 and there.sum() > 1:
            values = np.column_stack([cells.of(i, int(k)) for k in np.flatnonzero(there)])
            weights = contrasts.among(there).gradient(theta[there])
            with np.errstate(over="ignore", invalid="ignore"):
                found[i, contrasts.both(there)] = ((values - values.mean(axis=0)) @ weights).var(axis=0, ddof=1)
    return found
