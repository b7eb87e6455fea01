"""What a study with an internal pilot may claim at its end, for tables of differences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.settings import Alternative
from ampler.stats.holm import step_down
from ampler.stats.internal_pilot import GrowthTest, clear_after_pilot, growth_test, resized_t_test


class Conclusions(NamedTuple):
    """What a family of comparisons may claim at the end."""

    end: GrowthTest  # NaN where a comparison was clear after the pilot and got no more instances
    clear: Bools  # decided by the pilot
    adjusted: Floats  # Holm's p-values
    intervals: Floats  # one row each, covering all true means together with probability 1 − alpha


def adjusted_p_values(pilot: Floats, end: Floats, *, share: float, alpha: float) -> Floats:
    """Return Holm's adjusted p-values from the stronger half of each comparison."""
    early, late = pilot / share, end / (1 - share)
    both = np.where(clear_after_pilot(pilot, alpha=alpha, share=share), early, np.fmin(early, late))
    return step_down(np.minimum(1.0, both), alpha).adjusted


def conclusions(
    differences: Floats,
    pilot: GrowthTest | None,
    *,
    since: int,
    alpha: float,
    share: float,
    alternative: Alternative,
    available: int | None = None,
) -> Conclusions:
    """Return what all differences say, after a pilot that chose their number; without one, by ordinary t-tests.

    With `available` instances the final test is the t-test of all; else the growth test.
    """
    if pilot is None:
        end = growth_test(differences, 1, alternative=alternative)
        family = step_down(end.p_values, alpha)
        return Conclusions(
            end, np.zeros(len(family.ranks), np.bool_), family.adjusted, end.intervals(alpha / len(family.ranks))
        )
    if available is None:
        end = growth_test(differences, since, alternative=alternative)
    else:
        end = resized_t_test(differences, pilot.freedom.astype(int) + 1, available, alternative=alternative)
    clear = clear_after_pilot(pilot.p_values, alpha=alpha, share=share)
    level = alpha / len(clear)
    intervals = np.where(clear[:, None], pilot.intervals(share * level), end.intervals((1 - share) * level))
    adjusted = adjusted_p_values(pilot.p_values, end.p_values, share=share, alpha=alpha)
    return Conclusions(end, clear, adjusted, intervals)
