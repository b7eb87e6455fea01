"""What every test ends with: p-values from the two tails, and intervals that say what level they really have."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative


class Bounds(NamedTuple):
    """An interval and the level it really has: R narrows it when so few differences cannot reach the level."""

    lower: float
    upper: float
    level: float


def one_sided(lower: float, upper: float, alternative: Alternative, level: float) -> Bounds:
    """Return the bounds, open on the side on which a one-sided alternative says nothing."""
    return Bounds(
        -math.inf if alternative == "less" else lower,
        math.inf if alternative == "greater" else upper,
        level,
    )


def p_of_tails(at_least: Floats, at_most: Floats, alternative: Alternative) -> Floats:
    """Return p-values from the chances of a statistic at least, and at most, as large as the one that came.

    >>> p_of_tails(np.array([0.01]), np.array([0.995]), "two-sided").tolist()
    [0.02]
    """
    if alternative == "two-sided":
        return np.asarray(np.minimum(1.0, 2 * np.minimum(at_least, at_most)))
    return at_least if alternative == "greater" else at_most
