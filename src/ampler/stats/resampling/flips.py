"""The sign-flip test of the largest statistic: exact where differences are symmetric about their centre. Pure.

If the differences of an instance are as likely as their negatives, all of them together, then every way of flipping
the signs of whole instances was as likely as the one seen. No normality is needed, and a shared reference makes the
test sharper than Holm's correction. Skewed differences are not symmetric: there it errs as the t-test does. The
statistics are bounded, so far values of one comparison raise no bar for the others, and no balance is needed.
"""

from __future__ import annotations

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Alternative
from ampler.stats.resampling.family import Family, StandardColumns, columns_of, opened
from ampler.stats.resampling.steps import (
    RESAMPLES,
    SEED,
    Side,
    Steps,
    both_sides,
    one_side,
    resampled_step_down,
)

MOST_INSTANCES = 40  # whose flips could be counted in whole numbers; nobody takes them all


def sign_flip(
    differences: Floats,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Family:
    """Test whether each column is symmetric about zero, family-wise error at most alpha, and give intervals.

    All flips are taken where there are no more than `resamples`. The joint intervals flip the deviations from the
    means, which is right for many instances, not exact for few.

    >>> differences = np.random.default_rng(1).normal(size=(30, 2)) + [0.0, 0.9]
    >>> sign_flip(differences).steps.rejected.tolist()
    [False, True]
    """
    columns = columns_of(differences)
    flips = sign_flips(len(differences), resamples, np.random.default_rng(seed))
    about_zero, about_means = (
        _side(columns, columns.about(centres), flips, alternative) for centres in (0.0 * columns.means, None)
    )
    steps = resampled_step_down([about_zero], one_side, alpha=alpha, tail=alpha)
    alone = differences.shape[1] == 1  # then there is one step, and nothing to hold together
    joint = steps.bars if alone else resampled_step_down([about_means], one_side, alpha=alpha, tail=alpha).joint_bars
    intervals, joints = (_interval(columns, bars[0], alternative) for bars in (steps.bars, joint))
    return Family(steps, intervals, joints)


def sign_flip_equivalence(
    differences: Floats, *, margin: float, alpha: float = 0.05, resamples: int = RESAMPLES, seed: int = SEED
) -> Steps:
    """Test whether each column's centre lies within ±margin: two one-sided tests, as a family of their own.

    The nearer bound and the farther one each have their bar, as in `bootstrap_t_equivalence`.

    >>> sign_flip_equivalence(np.random.default_rng(1).normal(size=(30, 2)), margin=0.9).rejected.tolist()
    [True, True]
    """
    columns = columns_of(differences)
    flips = sign_flips(len(differences), resamples, np.random.default_rng(seed))
    leaning = columns.leaning
    near, far = (
        _side(columns, -towards * columns.about(towards * margin), flips, "greater") for towards in (leaning, -leaning)
    )
    return resampled_step_down([near, far], both_sides, alpha=alpha, tail=alpha)


def sign_flips(instances: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Return rows of signs, one for each instance: all but the one seen if they are few, else some at random.

    >>> sign_flips(2, 99, np.random.default_rng(1)).tolist()
    [[-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    if instances < MOST_INSTANCES and 2**instances - 1 <= resamples:
        every = np.arange(1, 2**instances)[:, None] >> np.arange(instances)
        return np.asarray(1.0 - 2.0 * (every & 1), dtype=float)
    return np.asarray(1.0 - 2.0 * rng.integers(0, 2, (resamples, instances)), dtype=float)


def _side(columns: StandardColumns, values: Floats, flips: Floats, alternative: Alternative) -> Side:
    """The sums of the values over the root of the sum of squares, as they are and with signs flipped.

    They are monotone in the t statistics, and finite where those are not.
    """
    roots = np.sqrt((values * values).sum(axis=0))
    share = values / np.where(roots > 0, roots, 1.0)
    observed, flipped = share.sum(axis=0), flips @ share
    if alternative == "two-sided":
        observed, flipped = np.abs(observed), np.abs(flipped)
    elif alternative == "less":
        observed, flipped = -observed, -flipped
    return Side(observed, flipped, columns.deviations > 0)


def _interval(columns: StandardColumns, bar: Floats, alternative: Alternative) -> Floats:
    """Mean plus and minus so many standard errors; `bar` is a critical value of the sums, turned into one of t."""
    room = columns.counts - bar * bar
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(room > 0, bar * np.sqrt((columns.counts - 1.0) / room), np.inf)
    return opened(columns.interval(t, t), alternative)
