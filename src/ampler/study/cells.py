"""The statistic of each algorithm on each instance, and the variance of one run, from the runs of a group. Pure."""

from __future__ import annotations

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.errors import InvalidData
from ampler.core.failures import lifted, values_under
from ampler.core.runs import Runs, floored
from ampler.core.values import Plan
from ampler.stats.contrasts import Contrasts
from ampler.stats.rates import Rate
from ampler.stats.summaries import Mean, summary_of


def cell_statistics(
    runs: Runs, plan: Plan, contrasts: Contrasts | None = None, *, unit: float = 1.0
) -> tuple[Floats, Floats]:
    """Return statistics and variances, instances in rows as the runs name them, algorithms in the plan's order.

    They are those of the values in `unit`, corrected for run noise where the contrasts are ratios; NaN where an
    algorithm has too few of them: two, or one if it is deterministic.
    """
    cells, shape = _cells(runs, plan), (len(runs.instances), len(plan.algorithms))
    theta, variances = (each.reshape(shape) for each in _summarised(cells, plan, unit))
    if plan.question.difference != "simple":
        _refuse(theta <= 0, theta, runs, plan)
    if contrasts is None or not contrasts.corrects(unbiased=summary_of(plan.question.statistic).unbiased):
        return theta, variances
    counts = np.array([len(values) for values in cells]).reshape(shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        theta, factors = contrasts.corrected(theta, variances / counts)
    return theta, variances * factors


def _summarised(cells: list[Floats], plan: Plan, unit: float) -> tuple[Floats, Floats]:
    """The statistic and the variance of one run of each cell; means of equally many runs all at once."""
    summary, certain = summary_of(plan.question.statistic), [each.deterministic for each in plan.algorithms]
    if isinstance(summary, Mean) and not any(certain) and {len(values) for values in cells} == {max(2, len(cells[0]))}:
        whole = np.array(cells) / unit
        return whole.mean(axis=1), whole.var(axis=1, ddof=1)
    own, later = (1.0, unit) if isinstance(summary, Rate) else (unit, 1.0)  # a yes is 1, whatever the unit
    theta, variances = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    for place, values in enumerate(cells):
        sure = certain[place % len(certain)]
        if len(values) >= (1 if sure else 2):
            theta[place] = summary(values / own) / later
            variances[place] = 0.0 if sure else summary.spread(values / own) / later**2
    return theta, variances


def _cells(runs: Runs, plan: Plan) -> list[Floats]:
    """The values that count, cell by cell, in the order of the runs."""
    floor = plan.question.floor
    value, counted = values_under(floored(runs, floor), lifted(plan.policy, floor))
    names = {algorithm.name: place for place, algorithm in enumerate(plan.algorithms)}
    places = np.array([names[name] for name in runs.algorithms])
    cell = (runs.instance * len(names) + places[runs.algorithm])[counted]
    order = np.argsort(cell, kind="stable")
    ends = np.searchsorted(cell[order], np.arange(1, len(runs.instances) * len(names)))
    return np.split(value[counted][order], ends)


def _refuse(wrong: Bools, theta: Floats, runs: Runs, plan: Plan) -> None:
    for i, k in np.argwhere(wrong)[:1]:
        raise InvalidData(
            f"{plan.question.difference} differences need positive values: the statistic of algorithm"
            f" {plan.algorithms[k].name!r} on instance {runs.instances[i]!r} is {theta[i, k]:g}; use difference"
            " 'simple', or a floor, such as 1e-8, as which smaller values count"
        )
