"""p-values that stay valid over looks. Pure.

The repeated p-value of a look is the level at which its result would just have stopped the comparison there; the
sequential p-value is the smallest so far. Holm's procedure on sequential p-values gives the decisions of `decide`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ampler.core.arrays import Floats
from ampler.stats.sequential.schedule import Schedule

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline


SMALLEST = 1e-12  # smaller p-values are not told apart
POINTS = 20  # levels computed, equidistant in the square root of their normal quantile: p-values are good to 4e-5


def repeated_p_values(schedule: Schedule, p_values: ArrayLike) -> Floats:
    """Return the repeated p-value of each look (first axis) for the ordinary p-values found there.

    Fewer rows than looks are the first looks. NaN, where a look had nothing to test, counts as 1.

    >>> from ampler.stats.sequential.schedule import student_schedule
    >>> from ampler.stats.sequential.spending import named_spending
    >>> schedule = student_schedule(named_spending("OF"), (24, 35, 47, 58))
    >>> repeated_p_values(schedule, [0.03, 0.004]).round(4).tolist()
    [0.2353, 0.0337]
    """
    found = np.asarray(p_values, dtype=float)
    return np.array([_repeated(schedule, look, row) for look, row in enumerate(found)])


def sequential_p_values(schedule: Schedule, p_values: ArrayLike) -> Floats:
    """Return the smallest repeated p-value up to each look."""
    return np.minimum.accumulate(repeated_p_values(schedule, p_values), axis=0)


def _repeated(schedule: Schedule, look: int, p_values: Floats) -> Floats:
    from scipy.special import ndtr, ndtri

    curve = _curves(schedule)[look]
    lowest, highest = curve.x[[0, -1]]
    found = -ndtri(np.nan_to_num(p_values, nan=1.0) / schedule.sides)
    level = schedule.sides * ndtr(-curve(np.clip(found, lowest, highest)))
    return np.asarray(np.where(found < lowest, 1.0, np.clip(level, SMALLEST, 1.0)))


@lru_cache(maxsize=256)
def _curves(schedule: Schedule) -> tuple[CubicSpline, ...]:
    """For each look a smooth curve through levels computed exactly: nominal level to level, both as normal quantiles.

    On that scale it is nearly straight. A level so small that a look never stops at it is left out.
    """
    from scipy.interpolate import CubicSpline
    from scipy.special import ndtr, ndtri

    smallest = -1.01 * float(ndtri(SMALLEST / 2))
    quantiles = smallest * np.linspace(0, 1, POINTS) ** 2
    nominal = np.array([schedule.nominal_levels(float(level)) for level in schedule.sides * ndtr(-quantiles)])
    limits = -ndtri(nominal.T / schedule.sides)
    return tuple(CubicSpline(own[np.isfinite(own)], quantiles[np.isfinite(own)]) for own in limits)
