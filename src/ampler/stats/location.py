"""Mean and spread of differences, sound at any offset and magnitude."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ampler.core.arrays import Floats

ROUNDING = 10 * np.finfo(float).eps  # R's t.test: a spread below this share of the values is rounding, not spread


class Location(NamedTuple):
    """Mean and standard deviation in units of 2^exponent, so that no magnitude overflows on the way."""

    mean: float
    sd: float
    exponent: int


def location(values: Floats) -> Location:
    """Return mean and standard deviation (n − 1), sound for any magnitude and offset.

    >>> mean, sd, exponent = location(np.array([1.5e300, 2.5e300]))
    >>> sd / mean  # the variance itself would be infinite
    0.353...
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    scaled = np.ldexp(values, -exponent)
    shifted = scaled - scaled[0]  # large offsets cancel exactly here
    spread = int(np.frexp(np.abs(shifted).max())[1])
    small = np.ldexp(shifted, -spread)
    centre = float(np.mean(small))
    rest = small - centre
    sd = math.sqrt(float(np.sum(rest * rest)) / (len(values) - 1)) if len(values) > 1 else math.nan
    return Location(float(scaled[0]) + math.ldexp(centre, spread), math.ldexp(sd, spread), exponent)


def is_constant(differences: Floats) -> bool:
    """Say whether the differences are all the same but for rounding."""
    mean, sd, _ = location(differences)
    return bool(sd <= ROUNDING * abs(mean))
