"""The bootstrap-t and the sign-flip test as rows of the table: all comparisons at once, one alone, many families. Pure.

It adapts `stats.resampling` to the contract of a paired test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.settings import Alternative
from ampler.stats import resampling
from ampler.stats.holm import StepDown
from ampler.stats.paired import student
from ampler.stats.paired.contract import Bounds, FamilyVerdict, Many, TestedFamily
from ampler.stats.resampling import Family, Steps

FEW_RESAMPLES = 499  # resamples for each of many simulated families

Judge = Callable[..., Family]  # bootstrap_t or sign_flip
Within = Callable[..., Steps]  # their tests of equivalence


@dataclass(frozen=True)
class Resampled:
    """Functions of a resampling test; the names are those of every paired test."""

    judge: Judge
    within: Within

    def p_value(self, x: Floats, alternative: Alternative) -> float:
        """Return the p-value of one comparison."""
        return float(self.judge(x[:, None], alternative=alternative).steps.p_values[0])

    def interval(self, x: Floats, alternative: Alternative, alpha: float) -> Bounds:
        """Return the interval of the mean of one comparison."""
        low, high = self.judge(x[:, None], alternative=alternative, alpha=alpha).joint_intervals[0]
        return Bounds(float(low), float(high), 1 - alpha)

    def many(self, differences: Floats, alternative: Alternative) -> Many:
        """Return the p-values of many comparisons, each by itself; the differences lie on the last axis."""
        p = np.apply_along_axis(self.p_value, -1, differences, alternative)
        return Many(p, differences.mean(axis=-1) > 0)

    def families(self, differences: Floats, alternative: Alternative) -> Many:
        """Return the adjusted p-values of many families, with axes for families, comparisons and instances."""
        quick = partial(self.judge, alternative=alternative, resamples=FEW_RESAMPLES)
        p = np.array([quick(family.T, seed=seed).steps.adjusted for seed, family in enumerate(differences)])
        return Many(p, differences.mean(axis=-1) > 0)

    def family(self, differences: Floats, alternative: Alternative, alpha: float) -> FamilyVerdict:
        """Test all comparisons together; `levels` are those of the single comparisons."""
        family = self.judge(differences, alternative=alternative, alpha=alpha)
        steps = as_step_down(family.steps)

        def intervals_at(joint: bool) -> tuple[Bounds, ...]:
            ends, levels = (family.joint_intervals, np.array(alpha)) if joint else (family.intervals, steps.levels)
            rows = np.column_stack([ends, np.broadcast_to(1 - levels, len(ends))])
            return tuple(Bounds(*map(float, row)) for row in rows)

        return TestedFamily(family.steps.p_values, steps, intervals_at)

    def equivalence(self, differences: Floats, margin: float, alpha: float) -> tuple[Floats, StepDown]:
        """Return the p-value of each comparison alone, and the results of the family of equivalence tests."""
        steps = self.within(differences, margin=margin, alpha=alpha)
        return steps.p_values, as_step_down(steps)

    estimate = staticmethod(student.estimate)
    leaning = staticmethod(student.leaning)


def as_step_down(steps: Steps) -> StepDown:
    """Return the steps in the form of Holm's."""
    return StepDown(steps.ranks, steps.levels, steps.adjusted, steps.rejected)


BOOTSTRAP_T = Resampled(resampling.bootstrap_t, resampling.bootstrap_t_equivalence)
SIGN_FLIP = Resampled(resampling.sign_flip, resampling.sign_flip_equivalence)
