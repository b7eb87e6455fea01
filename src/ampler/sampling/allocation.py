"""How many runs each algorithm should get next: greedy, optimal, balanced. Pure.

Every function takes arrays with the algorithms on their last axis; leading axes are independent instances.
`variances` are those of one run, guarded or not (see `guard`); `statistics` are the means, or whatever is compared.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

import numpy as np

from ampler.core.arrays import Bools, Codes, Counts, Floats
from ampler.sampling.optimum import optimal_counts
from ampler.sampling.pair_errors import Pairs, pairs_of
from ampler.stats.contrasts import Contrasts

Allocation = Literal["optimal", "greedy", "balanced"]

DIGITS = 11  # behind the point, to which two needs are equal: what is equal in truth seldom is to the last bit


def largest_error(contrasts: Contrasts, counts: Floats, variances: Floats, statistics: Floats) -> Floats:
    """Return the largest standard error among the compared pairs; a rule stops when it is at most `se`."""
    return pairs_of(contrasts, variances, statistics).largest_error(np.asarray(counts, dtype=float))


def next_runs(
    contrasts: Contrasts,
    counts: Floats,
    variances: Floats,
    statistics: Floats,
    *,
    se: float,
    allocation: Allocation = "optimal",
    size: int = 1,
    costs: Floats | None = None,
) -> Counts:
    """Return how many more runs each algorithm gets in a round of at most `size`.

    The round ends early when, by the variances given, every pair is then known to within `se`.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> contrasts = contrasts_among(3, difference="simple", reference=0)
    >>> next_runs(contrasts, np.full(3, 10.0), np.array([9.0, 1.0, 1.0]), np.zeros(3), se=0.9, size=16).tolist()
    [3, 0, 0]
    """
    counts = np.asarray(counts, dtype=float)
    pairs = pairs_of(contrasts, variances, statistics)
    if allocation == "greedy":
        return _greedy_runs(pairs, counts, se, size)
    targets = _targets(pairs, counts, se, allocation, costs)
    return _towards(pairs, counts, targets, se, size)


def predicted_runs(
    contrasts: Contrasts,
    counts: Floats,
    variances: Floats,
    statistics: Floats,
    *,
    se: float,
    allocation: Allocation = "optimal",
    costs: Floats | None = None,
    most: int = 1_000_000,
) -> Counts:
    """Return how many more runs each algorithm needs, if the variances are right: whole numbers.

    A need beyond `most` is given as a number beyond `most` in all, not as the need itself.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> contrasts = contrasts_among(3, difference="simple", reference=0)
    >>> predicted_runs(contrasts, np.full(3, 10.0), np.array([9.0, 1.0, 1.0]), np.zeros(3), se=0.5).tolist()
    [42, 3, 3]
    """
    counts = np.asarray(counts, dtype=float)
    pairs = pairs_of(contrasts, variances, statistics)
    if pairs.largest_error(counts) <= se:
        return np.zeros(counts.shape, dtype=np.int64)
    if allocation == "greedy":
        return _greedy_runs(pairs, counts, se, most)
    if allocation == "balanced":
        targets = np.maximum(counts, pairs.largest_error(np.ones_like(counts)) ** 2 / se**2)
    else:
        targets = optimal_counts(pairs, se, counts, costs)
    return _rounded(pairs, counts, np.minimum(targets, counts + most), se)


def aims(
    contrasts: Contrasts,
    variances: Floats,
    statistics: Floats,
    *,
    se: float,
    start: int,
    allocation: Allocation = "optimal",
) -> Floats:
    """Return the real numbers of runs, from the first on, at which every pair would be known to `se`.

    Greedy rounds end near the optimum of each pair, for which that of all pairs stands here.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> pair = contrasts_among(2, difference="simple")
    >>> aims(pair, np.array([9.0, 1.0]), np.zeros(2), se=0.5, start=10).tolist()
    [48.0, 16.0]
    """
    pairs = pairs_of(contrasts, variances, statistics)
    lower = np.full(np.shape(variances), float(start))
    if allocation == "balanced":
        needed = np.asarray(pairs.largest_error(np.ones_like(lower)) / se) ** 2
        return np.asarray(np.maximum(lower, needed[..., None]))
    return optimal_counts(pairs, se, lower)


def _targets(pairs: Pairs, counts: Floats, se: float, allocation: Allocation, costs: Floats | None) -> Floats:
    """Where the counts should go; what has been run is paid for, so the optimum starts from there."""
    if allocation == "balanced":
        return np.ones_like(counts)
    return optimal_counts(pairs, se, counts, costs)


def _greedy_runs(pairs: Pairs, counts: Floats, se: float, size: int) -> Counts:
    """Campelo & Wanner (2019), Algorithm 1: one more run for the worst pair, as long as it is not known to `se`."""
    runs = np.zeros(counts.shape, dtype=np.int64)
    for step in range(size):
        worst = pairs.worst(counts + runs if step else counts)
        wanting = worst.error > se
        if not (wanting if counts.ndim == 1 else wanting.any()):
            break
        _add(runs, worst.choice, wanting)
    return runs


def _towards(pairs: Pairs, counts: Floats, targets: Floats, se: float, size: int) -> Counts:
    """Give each run to the largest relative deficit, target/count; cut where every pair is known to `se`.

    The absolute deficit would starve the small ones when the budget ends early. Among equals the largest target comes
    first, whatever the order of the algorithms; and many are equal, as an optimum often scales all counts alike.
    """
    if counts.ndim == 1:
        return _one_towards(pairs, counts, targets, se, size)
    steps = np.empty((size + 1, *counts.shape))
    steps[0] = counts
    for step in range(size):
        steps[step + 1] = steps[step]
        deficits = np.round(targets / steps[step], DIGITS)
        among = np.where(deficits == deficits.max(axis=-1, keepdims=True), targets, -1.0)
        _add(steps[step + 1], among.argmax(axis=-1))
    few, enough = np.zeros(counts.shape[:-1], dtype=np.intp), np.full(counts.shape[:-1], size)
    if (pairs.largest_error(steps[size]) <= se).any():
        for _ in range(size.bit_length()):  # errors only fall along the steps: halve
            middle = (few + enough) // 2
            reached = pairs.largest_error(_at_step(steps, middle)) <= se
            few, enough = np.where(reached, few, np.minimum(middle + 1, enough)), np.where(reached, middle, enough)
    return (_at_step(steps, enough) - counts).astype(np.int64)


def _one_towards(pairs: Pairs, counts: Floats, targets: Floats, se: float, size: int) -> Counts:
    """The same for one instance, in plain numbers, remembering who got each run instead of the counts after it."""
    now, aim, order = counts.tolist(), targets.tolist(), []
    deficits = [(round(wanted / have, DIGITS), wanted) for wanted, have in zip(aim, now, strict=True)]
    for _ in range(size):
        place = deficits.index(max(deficits))
        now[place] += 1.0
        deficits[place] = round(aim[place] / now[place], DIGITS), aim[place]
        order.append(place)

    def runs(steps: int) -> Counts:
        return np.bincount(order[:steps], minlength=len(now))

    def reached(steps: int) -> bool:
        return bool(pairs.largest_error(counts + runs(steps)) <= se)

    whole = np.array(now)
    if not pairs.largest_error(whole) <= se:
        return (whole - counts).astype(np.int64)
    return runs(bisect_left(range(size), True, key=reached))


def _rounded(pairs: Pairs, counts: Floats, targets: Floats, se: float) -> Counts:
    """Whole numbers: down, then up one by one, largest relative deficit first, until every pair is known to `se`."""
    down = np.maximum(counts, np.floor(targets))
    return _towards(pairs, down, np.maximum(targets, down), se, counts.shape[-1]) + (down - counts).astype(np.int64)


def _add(counts: Floats | Counts, algorithm: Codes, amount: Bools | int = 1) -> None:
    """Add a run to one algorithm of each instance, in place."""
    if counts.ndim == 1:
        counts[algorithm] += amount
        return
    flat = counts.reshape(-1, counts.shape[-1])
    flat[np.arange(len(flat)), np.ravel(algorithm)] += np.ravel(amount)


def _at_step(steps: Floats, step: Codes) -> Floats:
    if steps.ndim == 2:
        return np.asarray(steps[step])
    return np.asarray(np.take_along_axis(steps, step[None, ..., None], axis=0)[0])
