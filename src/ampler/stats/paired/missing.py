"""Differences that a pair lacks on some instances: NaN in the matrix, and each column tested by what it has. Pure."""

from __future__ import annotations

import math

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative
from ampler.stats.paired.bounds import Bounds
from ampler.stats.paired.contract import PairedTest

FEWEST = 2  # differences that a test needs: one alone shows nothing of how they vary
EVERYTHING = Bounds(-math.inf, math.inf, 1.0)  # what an interval says that knows nothing


def present(column: Floats) -> Floats:
    """Return the differences there are, in their order.

    >>> present(np.array([1.5, np.nan, 2.0])).tolist()
    [1.5, 2.0]
    """
    missing = np.isnan(column)
    return column[~missing] if missing.any() else column


def present_columns(differences: Floats) -> tuple[Floats, ...]:
    """Return the differences of each pair, without those it lacks."""
    return tuple(present(column) for column in np.ascontiguousarray(differences.T))


def sample_p_value(test: PairedTest, sample: Floats, alternative: Alternative) -> float:
    """Return the p-value; 1 where there are too few differences to test."""
    return test.p_value(sample, alternative) if len(sample) >= FEWEST else 1.0


def sample_interval(test: PairedTest, sample: Floats, alternative: Alternative, alpha: float) -> Bounds:
    """Return the interval; the whole line where there are too few differences to test."""
    return test.interval(sample, alternative, alpha) if len(sample) >= FEWEST else EVERYTHING


def sample_estimate(test: PairedTest, sample: Floats) -> float:
    """Return the estimate; NaN where there are too few differences to test."""
    return test.estimate(sample) if len(sample) >= FEWEST else math.nan
