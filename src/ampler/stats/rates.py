"""Yes or no: the share of runs that gave a yes, and how exactly it is known, from ten of ten as well. Pure.

The variance of one run follows from the rate itself, p(1 − p). Taken from the share that was seen it is 0 for ten of
ten, which is no certainty; taken from Jeffreys' posterior, (x + ½)/(n + 1), it is right for few runs too. How large it
may be follows from bounds of the rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ampler.core.arrays import Bools, Floats

# Of a yes and of a no, added to what was seen: Jeffreys' prior. With it the root mean square of the standard error is
# 0.93 to 1.19 times the true one for rates of 0.1 to 0.9 and five runs or more, and 1.7 times for 0.02 and ten runs,
# where Laplace's 1 gives 2.1; ± 1.96 of it cover 93 to 99 % where the sample variance covers 87 to 95 %.
PRIOR = 0.5
SURER = 8  # 98 instead of 90 % of the pairs with even odds are within se, at the cost of 0.1 % more runs
TINY = 1e-9  # in the place of a parameter that is 0, where the bound is known without it
NUMBERS = 'for numbers use statistic "mean"'  # the way out where values are neither yes nor no


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of runs that gave a yes: 1, against 0 for a no."""

    unbiased: ClassVar[bool] = True

    def __call__(self, values: Floats) -> Any:
        """Return the share along the last axis."""
        return values.mean(axis=-1)

    def spread(self, values: Floats) -> float:
        """Return the variance of one run, of which ten equal values are no proof that it is 0."""
        return float(rate_variances(np.array(float(len(values))), values.mean()))

    def degrees(self, counts: Floats) -> None:
        """Return None: the rate itself tells its variance (see `rate_variance_bounds`)."""


def neither_yes_nor_no(value: float) -> str:
    """Say what the values of a rate must be, and what came; whose it is follows."""
    return f"a rate needs values of 1 (yes) or 0 (no), got {value:g}"


def is_yes_or_no(values: Floats) -> Bools:
    """Return which values are 0 or 1."""
    return np.asarray((values == 0.0) | (values == 1.0))


def rate_variances(counts: Floats, rates: Floats) -> Floats:
    """Return p(1 − p) with p as Jeffreys' prior and the runs have it.

    >>> rate_variances(np.array([10.0, 10.0]), np.array([0.5, 1.0])).round(3).tolist()
    [0.25, 0.043]
    """
    p = (counts * rates + PRIOR) / (counts + 2 * PRIOR)
    return np.asarray(p * (1 - p))


def rate_variance_bounds(counts: Floats, rates: Floats, levels: Floats) -> Floats:
    """Return what p(1 − p) exceeds with the chance `levels` at most: where one-sided exact bounds come nearest to ½.

    The bounds of Clopper & Pearson (1934) hold for every rate, Jeffreys' on average only. With as many runs in all,
    99 % of the pairs of five algorithms come within the accuracy wanted instead of 93 to 96 % in the hardest cases.
    Even odds themselves look uneven on both sides by chance, and are given up with an eighth of that chance only: it
    costs a run or two, where the variance hardly changes.

    >>> rate_variance_bounds(np.array([10.0, 40.0]), np.array([1.0, 0.5]), np.array([0.05, 0.05])).round(3).tolist()
    [0.192, 0.25]
    """
    wide = _nearest_to_even(counts, rates, levels / SURER)
    nearest = np.where(wide == 0.5, 0.5, _nearest_to_even(counts, rates, levels))
    return np.asarray(nearest * (1 - nearest))


def _nearest_to_even(counts: Floats, rates: Floats, levels: Floats) -> Floats:
    """The rate nearest to even odds between the exact bounds, each of which is missed with the chance `levels`."""
    from scipy.special import betaincinv

    yes, no = counts * rates, counts * (1 - rates)
    low = np.where(yes > 0, betaincinv(np.maximum(yes, TINY), no + 1, levels), 0.0)
    high = np.where(no > 0, betaincinv(yes + 1, np.maximum(no, TINY), 1 - levels), 1.0)
    return np.asarray(np.clip(0.5, low, high))
