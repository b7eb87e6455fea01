"""Comparisons tested one by one and held together by Holm: the family of tests that bring none of their own. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative
from ampler.stats.holm import StepDown, step_down
from ampler.stats.paired.bounds import Bounds
from ampler.stats.paired.contract import PairedTest
from ampler.stats.paired.missing import EVERYTHING, present_columns, sample_interval, sample_p_value


@dataclass(frozen=True, eq=False)
class HolmFamily:
    """The columns of differences, each tested by itself; Holm steps down, and Bonferroni makes intervals joint.

    A column with fewer than two differences cannot be rejected; it keeps its place in the family.
    """

    test: PairedTest
    differences: Floats
    alternative: Alternative
    alpha: float

    @cached_property
    def p_values(self) -> Floats:
        """The p-value of each comparison by itself."""
        return np.array([sample_p_value(self.test, column, self.alternative) for column in self._columns])

    @cached_property
    def steps(self) -> StepDown:
        """What Holm's procedure rejects."""
        return step_down(self.p_values, self.alpha)

    @property
    def intervals(self) -> tuple[Bounds, ...]:
        """The interval of each comparison at Holm's level of its rank."""
        levels = zip(self._columns, self.steps.levels, strict=True)
        return tuple(sample_interval(self.test, column, self.alternative, float(level)) for column, level in levels)

    @property
    def joint_intervals(self) -> tuple[Bounds, ...]:
        """Intervals at level 1 − alpha/K, so that all K hold together with probability 1 − alpha."""
        alpha = self.alpha / len(self._columns)
        return tuple(
            _honest(sample_interval(self.test, column, self.alternative, alpha), 1 - alpha) for column in self._columns
        )

    @cached_property
    def _columns(self) -> tuple[Floats, ...]:
        return present_columns(self.differences)


def _honest(bounds: Bounds, level: float) -> Bounds:
    """An interval that promises a level it cannot reach must be the whole line."""
    return bounds if bounds.level >= level else EVERYTHING
