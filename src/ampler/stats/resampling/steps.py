"""Stepping down through a family by the largest of its statistics (Romano & Wolf 2005). Pure.

A comparison is rejected when its statistic exceeds what the largest statistic of all comparisons still in play would
reach by chance; those rejected leave, and the bar for the others falls. Unlike Holm's correction this takes account of
how the comparisons depend on each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats

RESAMPLES = 9999  # a p-value near 0.05 is then known to within 0.002
SEED = 2005  # the same data give the same numbers, today and tomorrow
ROUNDING = 1e-9  # statistics this close, relatively, are equal: sums in another order differ in the last digits
MOST_ENDLESS = 0.005  # share of resamples without spread that a family bears: a tenth of the usual level


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side to which statistics may deviate: the observed ones, and their resamples in rows. Larger is stronger.

    A comparison that is not `usable` cannot be rejected, and does not raise the bar for the others.
    """

    observed: Floats
    resampled: Floats
    usable: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The verdict of a step-down, in the order of the comparisons."""

    p_values: Floats  # of each comparison alone
    adjusted: Floats  # the smallest family-wise level at which it would be rejected
    ranks: Codes  # from 1, in the order of the steps
    rejected: Bools
    bars: Floats  # one row per side: the critical value when this comparison was decided
    levels: Floats  # how often chance alone takes each comparison, by itself, beyond its bars


Combination = Callable[[Floats], Floats]  # p-values of the sides, in rows, to the p-value of the comparison


def one_side(p_values: Floats) -> Floats:
    """Return the p-value of the only side."""
    return np.asarray(p_values[0], dtype=float)


def either_side(p_values: Floats) -> Floats:
    """Return twice the smaller of the p-values: half of the level for each of two sides."""
    return np.asarray(np.minimum(1.0, 2 * p_values.min(axis=0)), dtype=float)


def both_sides(p_values: Floats) -> Floats:
    """Return the larger of the p-values: the comparison must pass on both sides."""
    return np.asarray(p_values.max(axis=0), dtype=float)


def resampled_step_down(sides: Sequence[Side], combine: Combination, *, alpha: float, tail: float) -> Steps:
    """Reject the comparison with the smallest p-value among those left, until none is below alpha.

    p-values are (1 + count)/(1 + resamples), so that the data count as one of their resamples. `tail` is the level of
    one side, for the critical values. When a comparison leaves, the p-values of the others can only fall, so those
    already below the largest so far leave with it.

    >>> wild = np.array([[0.5, 1.0], [-1.0, 0.2], [1.5, -0.3]])
    >>> upper = Side(np.array([3.0, 0.4]), wild, np.ones(2, dtype=bool))
    >>> resampled_step_down([upper], one_side, alpha=0.25, tail=0.25).adjusted.tolist()
    [0.25, 0.5]
    """
    left = np.ones(len(sides[0].observed), dtype=bool)
    tops = [_Top(one, left) for one in sides]
    adjusted, bars = np.ones(len(left)), np.empty((len(sides), len(left)))
    reached = 0.0
    while left.any():
        p = combine(np.array([top.p_values() for top in tops]))
        if reached <= alpha:  # the last step that is taken sets the bar for those not rejected
            bars[:, left] = np.array([top.bars(tail) for top in tops])[:, left]
        reached = max(reached, float(p[left].min()))
        leaving = left & (p <= reached)
        adjusted[leaving] = reached
        left = left & ~leaving & (reached < 1.0)
        for top in tops:
            top.keep(left)
    alone = combine(np.array([p_values_alone(one) for one in sides]))
    beyond = [_share_beyond(one, bar) for one, bar in zip(sides, bars, strict=True)]
    levels = np.minimum(np.sum(beyond, axis=0), alpha)
    return Steps(alone, adjusted, _ranks(adjusted, alone), adjusted <= alpha, bars, levels)


def _share_beyond(side: Side, bars: Floats) -> Floats:
    """The share of resamples in which each comparison by itself is beyond its bar; the data count as one of them."""
    return np.asarray((1.0 + (side.resampled >= bars).sum(axis=0)) / (1.0 + len(side.resampled)), dtype=float)


def single_step_bars(sides: Sequence[Side], tail: float) -> Floats:
    """Return the critical values that hold for all comparisons at once, one row per side."""
    everyone = np.ones(len(sides[0].observed), dtype=bool)
    return np.array([_Top(one, everyone).bars(tail) for one in sides])


def p_values_alone(side: Side) -> Floats:
    """Return the p-value of each comparison as if it were the only one."""
    counts = (side.resampled >= _moved(side.observed, -ROUNDING)).sum(axis=0)
    return np.where(side.usable, (1.0 + counts) / (1.0 + len(side.resampled)), 1.0)


def usable(endless: Bools) -> Bools:
    """Return which comparisons can be judged, given the resamples (rows) in which each of them has no spread.

    Where nearly all differences are equal, many resamples have no spread at all and the others little: they do not
    show what such data can do by chance. A resample without spread counts as infinitely far, so a few such
    comparisons would stand in the way of all others. Those with most of these resamples are left out until the
    rest have few; they are never rejected, and their intervals have no end.

    >>> usable(np.array([[False, False], [True, False]])).tolist()
    [False, True]
    """
    judged = np.ones(endless.shape[1], dtype=bool)
    for k in np.argsort(-endless.mean(axis=0), kind="stable"):
        if endless[:, judged].any(axis=1).mean() <= MOST_ENDLESS:
            break
        judged[k] = False
    return judged


class _Top:
    """The largest statistic of each resample among the comparisons left."""

    def __init__(self, side: Side, left: Bools) -> None:
        self.side = side
        self.which = np.full(len(side.resampled), -1)
        self.values = np.full(len(side.resampled), -np.inf)
        self.keep(left)

    def keep(self, left: Bools) -> None:
        """Let the others go: only resamples whose largest has left are searched anew."""
        members = np.flatnonzero(left & self.side.usable)
        lost = np.flatnonzero((self.which < 0) | ~np.isin(self.which, members))
        if len(members) == 0:
            self.values[:] = -np.inf
            return
        resampled = self.side.resampled[np.ix_(lost, members)]
        places = resampled.argmax(axis=1)
        self.which[lost] = members[places]
        self.values[lost] = resampled[np.arange(len(lost)), places]

    def p_values(self) -> Floats:
        """Return the share of resamples, the data among them, whose largest reaches each observed statistic."""
        ordered = np.sort(self.values)
        counts = len(ordered) - np.searchsorted(ordered, _moved(self.side.observed, -ROUNDING), side="left")
        return np.where(self.side.usable, (1.0 + counts) / (1.0 + len(ordered)), 1.0)

    def bars(self, tail: float) -> Floats:
        """Return what an observed statistic must exceed for a p-value of at most `tail`."""
        beyond = int(np.floor(tail * (1 + len(self.values)) + ROUNDING)) - 1  # resamples that may reach it
        bar = np.asarray(np.inf if beyond < 0 else np.sort(self.values)[len(self.values) - 1 - beyond])
        return np.where(self.side.usable, _moved(bar, ROUNDING), np.inf)


def _moved(values: Floats, by: float) -> Floats:
    """The values moved by a share of their size; what is infinite stays."""
    return np.asarray(values + by * np.where(np.isfinite(values), np.abs(values), 0.0), dtype=float)


def _ranks(adjusted: Floats, alone: Floats) -> Codes:
    order = np.lexsort((alone, adjusted))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks
