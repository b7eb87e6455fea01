"""The power of one paired test on N instances: t, and the others by their efficiency against it. Pure."""

from __future__ import annotations

from math import ceil, floor, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative, Test
from ampler.core.errors import InvalidDesign
from ampler.stats.noncentral_t import upper_tail
from ampler.stats.paired import paired_test


def paired_power(
    instances: int,
    effect: float | Floats,
    levels: ArrayLike,
    *,
    test: Test = "t",
    alternative: Alternative = "two-sided",
) -> Floats:
    """Return the power of a paired test on so many instances at each of the levels, for one effect or one for each.

    The t statistic of N normal differences with mean d·σ and standard deviation σ is √N·(d·σ + σ·Z̄)/s, that is
    (d·√N + Z)/√(χ²/(N−1)): noncentral t with N − 1 degrees of freedom and noncentrality d·√N. The test rejects beyond
    the central quantile of 1 − a/2, or 1 − a for one side; only the tail on the effect's side counts
    (Campelo & Wanner 2019, eq. 38).

    >>> paired_power(57, 0.5, [0.05, 0.05 / 21]).round(4).tolist()
    [0.9599, 0.7194]
    """
    return _t_power(t_instances(instances, test), effect, tail_levels(levels, alternative))


def tail_levels(levels: ArrayLike, alternative: Alternative) -> Floats:
    """Return the share of each level that falls to the tail on the effect's side: half of it for a two-sided test."""
    share = 0.5 if alternative == "two-sided" else 1.0
    return share * np.asarray(levels, dtype=float)


def t_instances(instances: int, test: Test) -> int:
    """Return how many instances would give a t-test the power this test has with `instances`: ⌊(N − price)·ARE⌋.

    ARE is the efficiency in the row of the test, an exact fraction: in floating point N/0.86 rounds up wrongly at 215.

    >>> t_instances(67, "wilcoxon"), t_instances(90, "sign"), t_instances(60, "bootstrap-t")
    (57, 57, 57)
    """
    row = paired_test(test)
    equivalent = floor((instances - row.price) * row.efficiency)
    if equivalent < 2:
        raise InvalidDesign(
            f"the {test} test on {instances} instances counts as a t-test on {equivalent}, which is less than 2: "
            f"use {instances_for(2, test)} instances or more"
        )
    return equivalent


def instances_for(t_instances: int, test: Test) -> int:
    """Return how many instances this test needs for the power a t-test has with `t_instances`: ⌈N_t/ARE⌉ + price.

    >>> instances_for(57, "wilcoxon"), instances_for(57, "sign"), instances_for(215, "wilcoxon")
    (67, 90, 250)
    """
    row = paired_test(test)
    return ceil(t_instances / row.efficiency) + row.price


def _t_power(instances: int, effect: float | Floats, tails: Floats) -> Floats:
    """P(T′ > t) beyond the critical value of each tail level."""
    from scipy.special import stdtrit

    critical = -stdtrit(instances - 1, tails)  # by the lower tail: 1 − a loses the digits of a small a
    return upper_tail(critical, instances - 1, effect * sqrt(instances))
