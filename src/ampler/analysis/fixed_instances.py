"""Interquartile means and probabilities of improvement on these instances, with intervals over their runs. Pure.

Agarwal et al. (2021) propose both for benchmarks of reinforcement learning. The interquartile mean is the mean of the
middle half of all runs on all instances. The probability of improvement is that of a run of one algorithm being better
than a run of the other one on the same instance, on average over the instances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ampler.analysis.results import Analysis
from ampler.core.arrays import Floats
from ampler.core.failures import values_under
from ampler.core.text import digits
from ampler.stats.dependence import MeanEstimate

CUT = 0.25


@dataclass(frozen=True, slots=True)
class FixedEstimate:
    """An estimate about these instances with its simultaneous interval; `name` is an algorithm or a pair."""

    name: str
    estimate: float
    interval: tuple[float, float]


def interquartile_mean(strata: Sequence[Floats], alpha: float) -> tuple[float, tuple[float, float]]:
    """Return the mean of the middle half of all runs; the variance is that of winsorised runs within the instances.

    >>> interquartile_mean([np.array([1.0, 2.0, 3.0, 4.0])], 0.05)[0]
    2.5
    """
    everything = np.sort(np.concatenate(strata))
    out = int(CUT * len(everything))
    kept = everything[out : len(everything) - out]
    parts = [np.clip(runs, kept[0], kept[-1]).var(ddof=1) * len(runs) / len(kept) ** 2 for runs in strata]
    return float(kept.mean()), _interval(float(kept.mean()), parts, [len(runs) - 1 for runs in strata], alpha)


def improvement(
    first: Sequence[Floats], second: Sequence[Floats], better: str, alpha: float
) -> tuple[float, tuple[float, float]]:
    """Return how probably a run of the first is better; the variance is that of DeLong et al. (1988) by instance.

    >>> improvement([np.array([3.0, 4.0])], [np.array([1.0, 3.5])], "higher", 0.05)[0]
    0.75
    """
    means, parts, degrees = [], [], []
    for a, b in zip(first, second, strict=True):
        wins = (np.sign(a[:, None] - b) * (1 if better == "higher" else -1) + 1) / 2
        means.append(float(wins.mean()))
        spread = wins.mean(axis=1).var(ddof=1) / len(a) + wins.mean(axis=0).var(ddof=1) / len(b)
        parts.append(spread / len(first) ** 2)
        degrees.append(min(len(a), len(b)) - 1)
    estimate = float(np.mean(means))
    if not any(parts):  # every run was better: the exact bound for as many independent wins
        bound = 1 - (alpha / 2) ** (1 / sum(free + 1 for free in degrees))
        return estimate, (max(0.0, estimate - bound), min(1.0, estimate + bound))
    low, high = _interval(estimate, parts, degrees, alpha)
    return estimate, (max(0.0, low), min(1.0, high))


def _interval(estimate: float, parts: Sequence[float], degrees: Sequence[int], alpha: float) -> tuple[float, float]:
    """The t interval with Satterthwaite's degrees of freedom, from the parts of the variance."""
    total = math.fsum(parts)
    if total == 0:
        return estimate, estimate
    df = total**2 / math.fsum(part**2 / free for part, free in zip(parts, degrees, strict=True))
    low, high, _ = MeanEstimate(estimate, math.sqrt(total), df).interval("two-sided", alpha)
    return low, high


def fixed_estimates(analysis: Analysis) -> tuple[tuple[FixedEstimate, ...], tuple[FixedEstimate, ...]]:
    """Return the interquartile means and the probabilities of improvement.

    Both are empty unless the question is about these instances and all algorithms have the same number of runs
    everywhere.
    """
    runs, settings = analysis.recorded, analysis.settings
    if not settings.is_fixed or runs is None or analysis.single is not None or settings.better is None:
        return (), ()
    value, counted = values_under(runs, settings.failures)
    cell = (runs.algorithm * len(runs.instances) + runs.instance)[counted]
    sizes = np.bincount(cell, minlength=len(runs.algorithms) * len(runs.instances))
    if len(set(sizes)) > 1:
        return (), ()
    table = value[counted][np.argsort(cell, kind="stable")].reshape(len(runs.algorithms), len(runs.instances), -1)
    means = [interquartile_mean(list(rows), settings.alpha / len(table)) for rows in table]
    at = {name: k for k, name in enumerate(runs.algorithms)}
    chances = [
        improvement(table[at[a]], table[at[b]], settings.better, settings.alpha / len(analysis.pairs))
        for a, b in analysis.pairs
    ]
    return (
        tuple(FixedEstimate(name, *mean) for name, mean in zip(runs.algorithms, means, strict=True)),
        tuple(FixedEstimate(f"{a} − {b}", *one) for (a, b), one in zip(analysis.pairs, chances, strict=True)),
    )


def fixed_cells(analysis: Analysis) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """Return both as one table; None where there are none."""
    means, chances = fixed_estimates(analysis)
    rows: list[tuple[str, ...]] = [
        (what, item.name, digits(item.estimate), " to ".join(map(digits, item.interval)))
        for what, items in (("interquartile mean", means), ("probability of improvement", chances))
        for item in items
    ]
    level = f"simultaneous {100 * (1 - analysis.settings.alpha):g} % CI"
    return (("statistic", "of", "estimate", level), rows) if rows else None
