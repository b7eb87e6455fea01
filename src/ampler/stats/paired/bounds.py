"""Intervals that say what level they really have."""

from __future__ import annotations

import math
from typing import NamedTuple

from ampler.core.values import Alternative


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
