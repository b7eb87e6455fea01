"""Numbers that differ by rounding alone are the same number. Pure.

0.1 + 0.2 and 0.3 are equal results that a computer writes differently; ranks and signs must not see a difference. What
lies within 1e-12 of the size of the values that were subtracted is rounding: sums of a thousand doubles err less, and
results that are truly that close are equal for every purpose.
"""

from __future__ import annotations

import numpy as np

from ampler.core.arrays import Floats

ROUNDING = 1e-12  # of the size of what was added or subtracted
FAR = np.finfo(float).max  # where what is missing stands aside: only itself is near it


def settled(values: Floats, noise: Floats) -> Floats:
    """Return values, column by column, in which those within rounding of each other are the same.

    What counts is the size, as ranks of differences go by size: neighbours in size closer than the sum of their `noise`
    get one size, the smallest of them, and keep their signs; those within it of 0 become 0, and NaN stays NaN.

    >>> settled(np.array([0.1 + 0.2, 0.3, -0.3, 5.0, 1e-17]), np.full(5, 1e-12)).tolist()
    [0.3, 0.3, -0.3, 5.0, 0.0]
    """
    missing = np.isnan(values)
    if missing.any():
        far = settled(np.where(missing, FAR, values), np.where(missing, 0.0, noise))
        return np.where(missing, np.nan, far)
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
    """Return values in which those of a row that differ by rounding alone are the same; for ranks within rows."""
    return settled(values.T, ROUNDING * np.abs(values.T)).T
