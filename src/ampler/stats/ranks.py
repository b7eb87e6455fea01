"""Ranks within rows, and how many values are tied: as `scipy.stats.rankdata`, which is slow to load. Pure."""

from __future__ import annotations

import numpy as np

from ampler.core.arrays import Codes, Floats


def mean_ranks_of(values: Floats) -> Floats:
    """Return the ranks within each row, ties sharing their mean; rows in which something is missing have none.

    >>> mean_ranks_of(np.array([[2.0, 1.0, 2.0, 5.0]])).tolist()
    [[2.5, 1.0, 2.5, 4.0]]
    """
    order, first, last = _groups(values)
    result = np.empty(values.shape)
    np.put_along_axis(result, order, (first + last) / 2 + 1, axis=-1)
    result[np.isnan(values).any(axis=-1)] = np.nan
    return result


def tied_with(values: Floats) -> Floats:
    """Return how many values in its row each value is equal to, itself included.

    >>> tied_with(np.array([2.0, 1.0, 2.0, 5.0])).tolist()
    [2.0, 1.0, 2.0, 1.0]
    """
    order, first, last = _groups(values)
    result = np.empty(values.shape)
    np.put_along_axis(result, order, last - first + 1.0, axis=-1)
    return result


def _groups(values: Floats) -> tuple[Codes, Codes, Codes]:
    """The order within each row, and for each place in it the first and last of those with the same value."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    begins = np.ones(values.shape, bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones(values.shape, bool)
    ends[..., :-1] = begins[..., 1:]
    size = values.shape[-1]
    places = np.arange(size)
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, places, size)[..., ::-1], axis=-1)[..., ::-1]
    return order, first, last
