"""Means, standard deviations and ranks, sound at any magnitude and insensitive to rounding. Pure.

0.1 + 0.2 and 0.3 are equal results that a computer writes differently; ranks and signs must not see a difference.
Ranks are those of `scipy.stats.rankdata`, which is slow to load.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ampler.core.arrays import Floats

ROUNDING = 10 * np.finfo(float).eps  # R's t.test: a standard deviation below this share of the values is rounding


class Location(NamedTuple):
    """Mean and standard deviation in units of 2^exponent, so that no magnitude overflows on the way."""

    mean: float
    sd: float
    exponent: int

    @property
    def is_constant(self) -> bool:
        """Whether the values are equal up to rounding."""
        return bool(self.sd <= ROUNDING * abs(self.mean))


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
    """Return whether the differences are equal up to rounding."""
    return location(differences).is_constant


def mean_ranks_of(values: Floats) -> Floats:
    """Return the ranks within each row, ties sharing their mean; rows in which something is missing have none.

    >>> mean_ranks_of(np.array([[2.0, 1.0, 2.0, 5.0]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    first, last = _groups(values)
    return np.where(np.isnan(values).any(axis=-1, keepdims=True), np.nan, (first + last) / 2 + 1)


def rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's correlation of two samples; NaN if either is constant."""
    a, b = (mean_ranks_of(values) - (len(values) + 1) / 2 for values in (first, second))
    size = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0 else math.nan


def tied_with(values: Floats) -> Floats:
    """Return how many values in its row each value is equal to, itself included.

    >>> tied_with(np.array([2.0, 1.0, 2.0, 5.0])).tolist()
    [2.0, 1.0, 2.0, 1.0]
    """
    first, last = _groups(values)
    return last - first + 1.0


def _groups(values: Floats) -> tuple[Floats, Floats]:
    """For each value the first and the last place of those with the same value in the order of its row."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    begins, ends = np.ones(values.shape, bool), np.ones(values.shape, bool)
    begins[..., 1:] = ends[..., :-1] = ordered[..., 1:] != ordered[..., :-1]
    size = values.shape[-1]
    places = np.arange(size)
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, places, size)[..., ::-1], axis=-1)[..., ::-1]
    result = np.empty((2, *values.shape))
    np.put_along_axis(result, np.broadcast_to(order, result.shape), np.stack([first, last]), axis=-1)
    return result[0], result[1]


ROUNDING_ERROR = 1e-12  # relative to the size of the operands
FAR = np.finfo(float).max  # a missing value is equal to itself only


def settled(values: Floats, noise: Floats) -> Floats:
    """Return values, column by column, in which those within rounding of each other are the same.

    What counts is the size, as ranks of differences go by size: neighbours in size closer than the sum of their `noise`
    get one size, the smallest of them, and keep their signs; those within it of 0 become 0, and NaN stays NaN.

    >>> settled(np.array([0.1 + 0.2, 0.3, -0.3, 5.0, 1e-17]), np.full(5, 1e-12)).tolist()
    [0.3, 0.3, -0.3, 5.0, 0.0]
    """
    missing = np.isnan(values)
    if missing.any():
        return np.where(missing, np.nan, settled(np.where(missing, FAR, values), np.where(missing, 0.0, noise)))
    table, noises = (each.reshape(len(values), -1) for each in (values, np.broadcast_to(noise, values.shape)))
    zeros = np.zeros((1, table.shape[1]))
    sizes, allowed = np.concatenate([zeros, np.abs(table)]), np.concatenate([zeros, noises])
    order = np.argsort(sizes, axis=0, kind="stable")
    sizes, allowed = np.take_along_axis(sizes, order, 0), np.take_along_axis(allowed, order, 0)
    new = np.diff(sizes, axis=0) > allowed[1:] + allowed[:-1]
    if new.all():
        return values
    starts = np.maximum.accumulate(np.where(new, np.arange(1, len(sizes))[:, None], 0), axis=0)
    settled_sizes = np.empty_like(table)
    np.put_along_axis(settled_sizes, order[1:] - 1, np.take_along_axis(sizes, starts, 0), 0)
    return np.where(settled_sizes > 0, np.copysign(settled_sizes, table), 0.0).reshape(values.shape)


def settled_rows(values: Floats) -> Floats:
    """Return the values with differences by rounding within a row removed; for ranks within rows."""
    return settled(values.T, ROUNDING_ERROR * np.abs(values.T)).T
