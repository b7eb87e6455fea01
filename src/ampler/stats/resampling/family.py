"""The differences of a family in standard units, and the family's verdict with its intervals. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Bools, Codes, Counts, Floats
from ampler.core.choices import Alternative
from ampler.stats.location import ROUNDING, location
from ampler.stats.resampling.steps import Steps

DIGITS = 9  # by which instances are put in order; beyond them rounding decides


@dataclass(frozen=True, slots=True, eq=False)
class StandardColumns:
    """Each comparison's differences in units of their own standard deviation, sound at any offset and magnitude.

    Instances are in an order of their own, so that the order in which they came does not matter. Standard units are
    (x − mean)/sd; they are 0 where an instance is missing and everywhere in a constant column.
    """

    counts: Floats
    means: Floats  # in units of 2^exponents, like the standard deviations
    deviations: Floats
    exponents: Counts
    standard: Floats
    present: Bools

    @property
    def errors(self) -> Floats:
        """The standard error of each mean, in units of 2^exponents."""
        return self.deviations / np.sqrt(self.counts)

    @property
    def t(self) -> Floats:
        """The t statistics: infinite for constant columns, 0 where all is zero or there is a single difference."""
        return self.t_about(np.zeros(len(self.means)))

    @property
    def leaning(self) -> Floats:
        """−1 where the mean is below zero, else 1."""
        return np.where(self.means < 0, -1.0, 1.0)

    def about(self, centres: Floats | None) -> Floats:
        """Return the differences less these centres, or less their means, in a unit of each column's own."""
        if centres is None:
            return self.standard
        unit = np.where(self.deviations > 0, self.deviations, 1.0)
        return np.where(self.present, self.standard + (self.means - np.ldexp(centres, -self.exponents)) / unit, 0.0)

    def t_about(self, centres: Floats) -> Floats:
        """Return the t statistics of the means against these centres, which are in plain units."""
        gaps = self.means - np.ldexp(centres, -self.exponents)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(gaps == 0.0, 0.0, gaps / self.errors)
        return np.where(self.counts > 1, t, 0.0)

    def interval(self, below: Floats, above: Floats) -> Floats:
        """Return mean − below·error and mean + above·error of each comparison, in plain units."""
        with np.errstate(invalid="ignore", over="ignore"):
            bounds = self.means + np.array([-1.0, 1.0])[:, None] * np.array([below, above]) * self.errors
            plain = np.ldexp(bounds, self.exponents).T
        return np.where((self.deviations > 0)[:, None], plain, [-np.inf, np.inf])


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """What resampling says of a family, in the order of the comparisons."""

    steps: Steps
    intervals: Floats  # at the critical values of each comparison's own step: they agree with the decisions
    joint_intervals: Floats  # all together cover the true means with probability 1 − alpha


def columns_of(differences: Floats) -> StandardColumns:
    """Return the columns in standard units.

    >>> columns_of(np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0]])).counts.tolist()
    [3.0, 2.0]
    """
    present = ~np.isnan(differences)
    rows = [_column(column[there]) for column, there in zip(differences.T, present.T, strict=True)]
    means, deviations, exponents = (np.array(part) for part in zip(*rows, strict=True))
    scaled = np.ldexp(np.where(present, differences, 0.0), -exponents)
    varies = deviations > 0
    standard = np.where(present & varies, (scaled - means) / np.where(varies, deviations, 1.0), 0.0)
    order = _own_order(standard)
    return StandardColumns(
        present.sum(axis=0).astype(float), means, deviations, exponents, standard[order], present[order]
    )


def opened(intervals: Floats, alternative: Alternative) -> Floats:
    """Return the intervals, open on the side on which a one-sided alternative says nothing."""
    keep = np.array([alternative != "less", alternative != "greater"])
    return np.where(keep, intervals, [-np.inf, np.inf])


def _column(values: Floats) -> tuple[float, float, int]:
    """Mean and standard deviation in units of 2^exponent; a deviation that is rounding is 0."""
    if len(values) < 2:
        return 0.0, 0.0, 0
    mean, sd, exponent = location(values)
    return mean, 0.0 if sd <= ROUNDING * abs(mean) else sd, exponent


def _own_order(standard: Floats) -> Codes:
    """Instances by how far from the middle they lie; scale, sign and order of the comparisons do not matter."""
    squares, cubes = (np.round((standard**power).sum(axis=1), DIGITS) for power in (2, 3))
    return np.lexsort((cubes, squares))
