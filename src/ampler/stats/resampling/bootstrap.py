"""The step-down bootstrap-t: instances resampled, every comparison studentised in every resample. Pure.

Right where differences are skewed over the instances and the t-test errs: the resampled t statistics are as skewed as
the real ones, and each of the two sides has its own critical value (equal tails). Romano & Wolf (2005) for the steps,
Hall (1992) for the studentised bootstrap.
"""

from __future__ import annotations

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative
from ampler.stats.resampling.family import Family, StandardColumns, columns_of, opened
from ampler.stats.resampling.steps import (
    RESAMPLES,
    SEED,
    Combination,
    Side,
    Steps,
    both_sides,
    either_side,
    one_side,
    resampled_step_down,
    usable,
)

CHUNK = 2**21  # numbers handled at once
NO_SPREAD = 1e-12  # a variance below this share of the mean square is rounding


def bootstrap_t(
    differences: Floats,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Family:
    """Test whether each column's mean is zero, family-wise error at most alpha, and give intervals of the means.

    >>> differences = np.random.default_rng(1).exponential(size=(30, 2)) - [1.0, 0.3]
    >>> bootstrap_t(differences).steps.rejected.tolist()
    [False, True]
    """
    columns = columns_of(differences)
    resampled = resampled_t(columns, resamples, np.random.default_rng(seed))
    upper, lower = side_of(columns, columns.t, resampled), side_of(columns, -columns.t, -resampled)
    if alternative == "two-sided":
        return _family(columns, [upper, lower], either_side, alpha, alpha / 2)
    one = _family(columns, [upper if alternative == "greater" else lower], one_side, alpha, alpha)
    return Family(one.steps, opened(one.intervals, alternative), opened(one.joint_intervals, alternative))


def joint_coverage(
    differences: Floats, *, alternative: Alternative, alpha: float, resamples: int = RESAMPLES, seed: int = SEED
) -> float:
    """Return how often the simultaneous t intervals of resamples all hold the means: an estimate for these intervals.

    >>> differences = np.random.default_rng(1).lognormal(size=(20, 3))
    >>> joint_coverage(differences, alternative="two-sided", alpha=0.05) < 0.9
    True
    """
    from scipy.special import stdtrit

    columns = columns_of(differences)
    resampled = resampled_t(columns, resamples, np.random.default_rng(seed))
    tail = alpha / differences.shape[1] / (2 if alternative == "two-sided" else 1)
    above = resampled > -stdtrit(np.maximum(columns.counts - 1, 1), tail)
    below = -resampled > -stdtrit(np.maximum(columns.counts - 1, 1), tail)
    missed = {"two-sided": above | below, "greater": above, "less": below}[alternative]
    return 1.0 - float(missed.any(axis=1).mean())


def bootstrap_t_equivalence(
    differences: Floats, *, margin: float, alpha: float = 0.05, resamples: int = RESAMPLES, seed: int = SEED
) -> Steps:
    """Test whether each column's mean lies within ±margin: two one-sided tests, as a family of their own.

    A mean outside is nearly always outside on the side to which the estimate leans. So the deviations *away from the
    nearer bound* are held together, and those from the farther bound by themselves.

    >>> bootstrap_t_equivalence(np.random.default_rng(1).normal(size=(30, 2)), margin=0.9).rejected.tolist()
    [True, True]
    """
    columns = columns_of(differences)
    resampled = resampled_t(columns, resamples, np.random.default_rng(seed))
    leaning = columns.leaning
    near, far = (
        side_of(columns, -towards * columns.t_about(towards * margin), -towards * resampled)
        for towards in (leaning, -leaning)
    )
    return resampled_step_down([near, far], both_sides, alpha=alpha, tail=alpha, balanced=True)


def _family(columns: StandardColumns, sides: list[Side], combine: Combination, alpha: float, tail: float) -> Family:
    """The steps, and the intervals at their bars and at those that hold for all at once."""
    steps = resampled_step_down(sides, combine, alpha=alpha, tail=tail, balanced=True)
    # one bar serves both ends of an interval of which one is kept
    return Family(steps, *(columns.interval(bars[0], bars[-1]) for bars in (steps.bars, steps.joint_bars)))


def side_of(columns: StandardColumns, t: Floats, resampled: Floats) -> Side:
    """Return the side to which t points; a resample without a value, like one without spread, is infinite."""
    known = np.isfinite(resampled)
    return Side(t, np.where(known, resampled, np.inf), (columns.deviations > 0) & usable(~known))


def resampled_t(columns: StandardColumns, resamples: int, rng: np.random.Generator) -> Floats:
    """Return the t statistic of each comparison about its own mean in each resample of the instances.

    It is infinite where a resample has no spread, NaN where it has no value, and 0 in a constant column.
    """
    powers = np.hstack([columns.standard, columns.standard**2])
    complete = bool(columns.present.all())
    sums = powers if complete else np.hstack([powers, columns.present])
    size = max(1, CHUNK // (sums.shape[1] + len(sums)))
    parts = [_chunk(sums, min(size, resamples - done), rng) for done in range(0, resamples, size)]
    first, second, *counts = np.split(np.concatenate(parts), 2 if complete else 3, axis=1)
    t = _t(first, second, columns.counts if complete else counts[0])
    return np.where(columns.deviations > 0, t, 0.0)


def _chunk(sums: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """The sums over the instances of so many resamples: how often each instance is drawn, times what it has."""
    return resampling_counts(len(sums), resamples, rng) @ sums


def resampling_counts(instances: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Return how often each instance is drawn in each resample."""
    drawn = rng.integers(0, instances, (resamples, instances)) + instances * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * instances)
    return counts.reshape(resamples, instances).astype(float)


def _t(first: Floats, second: Floats, counts: Floats) -> Floats:
    """√n·mean/sd from sums of values and of squares."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = first / counts
        square = second / counts
        variance = square - mean * mean
        variance = np.where(variance > NO_SPREAD * square, variance, 0.0)
        return mean * np.sqrt((counts - 1.0) / variance)
