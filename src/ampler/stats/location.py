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
    exponent = _exponent(values)
    scaled = np.ldexp(values, -exponent)
    shifted = scaled - scaled[0]  # large offsets cancel exactly here
    spread = _exponent(shifted)
    small = np.ldexp(shifted, -spread)
    centre = float(np.add.reduce(small)) / len(values)
    rest = small - centre
    sd = math.sqrt(float(np.add.reduce(rest * rest)) / (len(values) - 1)) if len(values) > 1 else math.nan
    return Location(float(scaled[0]) + math.ldexp(centre, spread), math.ldexp(sd, spread), exponent)


def _exponent(values: Floats) -> int:
    """The power of two above the largest; as `np.abs(values).max()`, which takes twice as long on few values."""
    return math.frexp(np.maximum.reduce(np.abs(values)))[1]


def is_constant(differences: Floats) -> bool:
    """Say whether the differences are all the same but for rounding."""
    mean, sd, _ = location(differences)
    return bool(sd <= ROUNDING * abs(mean))
