"""Rounds of runs on many instances at once, for simulations: the package decides one instance at a time."""

from __future__ import annotations

import numpy as np

from ampler.core.arrays import Counts, Floats
from ampler.sampling.allocation import DIGITS, Allocation, optimal_counts, pairs_of
from ampler.stats.contrasts import Contrasts


def largest_error(contrasts: Contrasts, counts: Floats, variances: Floats, statistics: Floats) -> Floats:
    """Return the largest standard error of the pairs of interest."""
    return pairs_of(contrasts, variances, statistics).largest_error(counts)


def next_rounds(
    contrasts: Contrasts,
    counts: Floats,
    variances: Floats,
    statistics: Floats,
    *,
    se: float,
    allocation: Allocation = "optimal",
    size: int = 1,
) -> Counts:
    """Return what `next_runs` gives each instance (row)."""
    now = counts.astype(float)
    if allocation == "greedy":
        return _greedy(contrasts, now, variances, statistics, se, size)
    pairs = pairs_of(contrasts, variances, statistics)
    targets = np.ones_like(now) if allocation == "balanced" else optimal_counts(pairs, se, now)
    steps = [now.copy()]
    for _ in range(size):
        deficits = np.round(targets / now, DIGITS)
        among = np.where(deficits == deficits.max(axis=-1, keepdims=True), targets, -1.0)
        now[np.arange(len(now)), among.argmax(axis=-1)] += 1
        steps.append(now.copy())
    known = np.array([pairs.largest_error(step) <= se for step in steps])  # errors only fall along the steps
    enough = np.where(known.any(axis=0), known.argmax(axis=0), size)
    return (np.array(steps)[enough, np.arange(len(now))] - counts).astype(np.int64)


def _greedy(contrasts: Contrasts, now: Floats, variances: Floats, statistics: Floats, se: float, size: int) -> Counts:
    before, rows, ratios = now.copy(), np.arange(len(now)), contrasts.best_ratios(statistics, variances)
    for _ in range(size):
        squared = contrasts.squared_errors(statistics, variances / now)
        worst = squared.argmax(axis=-1)
        first, second = contrasts.first[worst], contrasts.second[worst]
        short = now[rows, first] / now[rows, second] <= ratios[rows, worst]
        now[rows, np.where(short, first, second)] += np.sqrt(squared[rows, worst]) > se
    return (now - before).astype(np.int64)
