"""The comparisons of a study with looks, as a family of tests: sequential p-values, repeated intervals. Pure.

They answer as every family of tests does, so that all that comes after need not know.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ampler.analysis.looked import Replay
from ampler.core.arrays import Bools, Floats
from ampler.stats.holm import StepDown
from ampler.stats.paired import Bounds, paired_test, present, sample_interval
from ampler.stats.sequential import Standing


@dataclass(frozen=True, eq=False)
class LookedFamily:
    """What the looks rejected; the level of a comparison is that of its rank, or what is left for those not rejected.

    One that stopped without a relevant difference may be rejected all the same: the difference is real, and small.
    """

    replay: Replay

    @cached_property
    def p_values(self) -> Floats:
        """The sequential p-value of each comparison: the smallest level at which some look would have stopped it."""
        return np.array([each.p_sequential for each in self._standings])

    @cached_property
    def steps(self) -> StepDown:
        """What was rejected, adjusted p-values, and ranks: the rejected ones first, by their p-values."""
        order = np.lexsort((self.p_values, ~self._rejected))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(1, len(order) + 1)
        levels = np.array([each.level for each in self._standings])
        return StepDown(ranks, levels, self._adjusted, self._rejected)

    @property
    def intervals(self) -> tuple[Bounds, ...]:
        """The repeated confidence interval of each comparison at its level."""
        return tuple(self._interval(k, each.nominal, each.level) for k, each in enumerate(self._standings))

    @property
    def joint_intervals(self) -> tuple[Bounds, ...]:
        """Repeated intervals at alpha over all comparisons, so that all hold together with probability 1 − alpha."""
        level = self.replay.course.alpha / len(self._standings)
        return tuple(self._interval(k, each.joint, level) for k, each in enumerate(self._standings))

    @property
    def _standings(self) -> tuple[Standing, ...]:
        return self.replay.standings

    @cached_property
    def _adjusted(self) -> Floats:
        """Holm's adjusted p-values, on the side of alpha on which the comparison was decided.

        Who goes on, or ended undecided, is held against all that are not found different: the level that a comparison
        without a relevant difference could free is not used, as the looks did not use it.
        """
        alpha, p = self.replay.course.alpha, self.p_values
        adjusted = np.array([each.p_adjusted for each in self._standings])
        different = np.array([each.verdict == "different" for each in self._standings])
        opened = np.array([each.verdict in ("continue", "undecided") for each in self._standings])
        held = np.minimum(1.0, np.maximum(adjusted, (len(p) - different.sum()) * p))
        held = np.where(held <= alpha, np.nextafter(alpha, 1.0), held)
        return np.where(opened, held, np.where(different, np.minimum(adjusted, alpha), adjusted))

    @cached_property
    def _rejected(self) -> Bools:
        return np.asarray(self._adjusted <= self.replay.course.alpha)

    def _interval(self, k: int, nominal: float, level: float) -> Bounds:
        """The ordinary interval at the nominal level of the look; the whole line where that cannot be had."""
        course, nowhere = self.replay.course, Bounds(-math.inf, math.inf, 1 - level)
        if not nominal > 0:
            return nowhere
        sample = present(self.replay.differences[:, k])
        found = sample_interval(paired_test(course.test), sample, course.alternative, nominal)
        return Bounds(found.lower, found.upper, 1 - level) if found.level >= 1 - nominal else nowhere
