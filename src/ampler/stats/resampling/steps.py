"""Stepping down through a family by the largest of its statistics, or the smallest p-value (Romano & Wolf 2005). Pure.

A comparison is rejected when its statistic exceeds what the largest of all comparisons still in play would reach by
chance; those rejected leave, and the bar for the others falls. Unlike Holm's correction this takes account of how the
comparisons depend on each other.

Bootstrap-t families are balanced: each comparison is judged by its own resampled statistics, so that one with heavy
tails does not raise the bar for the others (Beran 1988). A sample may show lighter tails than there are. So no tail
counts as lighter than that which three quarters of all tails do not exceed (`POOLED`): a few comparisons with heavy
tails change nothing for the others, but where most have them, the others are not believed to be free of them.

Statistics are put on a common scale of −log p by broken lines that go on beyond the largest resamples. So the number of
resamples limits the p-value of the family, as for a single comparison, however many comparisons there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats

RESAMPLES = 9999  # a p-value near 0.05 is then known to within 0.002
SEED = 2005  # the same data give the same numbers, today and tomorrow
ROUNDING = 1e-9  # statistics this close, relatively, are equal: sums in another order differ in the last digits
MOST_ENDLESS = 0.005  # share of resamples without spread that a comparison bears: a tenth of the usual level
POOLED = 0.75  # share of the tails that are no heavier than the lightest one that is believed
KNOTS = 64  # of a scale, in the range of the resampled statistics
RAREST = 40.0  # −log p at which scales end


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
    joint_bars: Floats  # likewise: those that hold for all comparisons at once


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


def resampled_step_down(
    sides: Sequence[Side], combine: Combination, *, alpha: float, tail: float, balanced: bool = False
) -> Steps:
    """Reject the comparison with the smallest p-value among those left, until none is below alpha.

    Statistics are compared as they are, or `balanced`, each by how rare it is among its own resamples.

    p-values are (1 + count)/(1 + resamples), so that the data count as one of their resamples. `tail` is the level of
    one side, for the critical values. When a comparison leaves, the p-values of the others can only fall, so those
    already below the largest so far leave with it.

    >>> wild = np.array([[0.5, 1.0], [-1.0, 0.2], [1.5, -0.3]])
    >>> upper = Side(np.array([3.0, 0.4]), wild, np.ones(2, dtype=bool))
    >>> resampled_step_down([upper], one_side, alpha=0.25, tail=0.25).adjusted.tolist()
    [0.25, 0.5]
    """
    left = np.ones(len(sides[0].observed), dtype=bool)
    scales = _balanced_scales(sides) if balanced else [None] * len(sides)
    tops = [_Top(one, scale, left) for one, scale in zip(sides, scales, strict=True)]
    joint = np.array([top.bars(tail) for top in tops])
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
    return Steps(alone, adjusted, _ranks(adjusted, alone), adjusted <= alpha, bars, levels, joint)


def _share_beyond(side: Side, bars: Floats) -> Floats:
    """The share of resamples in which each comparison by itself is beyond its bar; the data count as one of them."""
    return np.asarray((1.0 + (side.resampled >= bars).sum(axis=0)) / (1.0 + len(side.resampled)), dtype=float)


def p_values_alone(side: Side) -> Floats:
    """Return the p-value of each comparison as if it were the only one."""
    counts = (side.resampled >= _moved(side.observed, -ROUNDING)).sum(axis=0)
    return np.where(side.usable, (1.0 + counts) / (1.0 + len(side.resampled)), 1.0)


def usable(endless: Bools) -> Bools:
    """Return which comparisons can be judged, given the resamples (rows) in which each of them has no spread.

    Where nearly all differences are equal, many resamples have no spread at all and the others little: they do not
    show what such data can do by chance. Such comparisons are never rejected, and their intervals have no end.

    >>> usable(np.array([[False, False], [True, False]])).tolist()
    [False, True]
    """
    return np.asarray(endless.mean(axis=0) <= MOST_ENDLESS)


def _balanced_scales(sides: Sequence[Side]) -> list[Mapping[int, _Scale]]:
    """The scale of each usable comparison, by its place, for each side."""
    places = [np.flatnonzero(side.usable).tolist() for side in sides]
    scores, quantiles = _tails(np.hstack([side.resampled[:, side.usable] for side in sides]))
    if quantiles.shape[1]:
        pooled = np.sort(quantiles, axis=1)[:, int(POOLED * (quantiles.shape[1] - 1))]
        quantiles = np.maximum(quantiles, pooled[:, None])
    columns = iter(quantiles.T)
    return [{k: _Scale.of(scores, next(columns)) for k in of_side} for of_side in places]


def _tails(resampled: Floats) -> tuple[Floats, Floats]:
    """Scores −log p (rows), and arsinh of the statistics that the resamples of each comparison exceed so rarely.

    Beyond the last knot, where few resamples are left to show how large statistics get, each goes on with the slope of
    its last part, as the tail of a t distribution nearly does. Resamples without spread are infinite.
    """
    ordered = np.arcsinh(np.sort(resampled, axis=0))
    size = len(ordered)
    last = max(2, round(math.sqrt(size) / 5))
    counts = np.unique(np.round(np.geomspace(last, size, KNOTS)).astype(int))[::-1]
    scores, quantiles = -np.log(counts / (size + 1.0)), ordered[size - counts]
    before = int(np.searchsorted(scores, scores[-1] - math.log(5.0)))
    further = np.geomspace(scores[-1], RAREST, KNOTS // 4)[1:]
    with np.errstate(invalid="ignore"):
        slopes = (quantiles[-1] - quantiles[before]) / (scores[-1] - scores[before])
        beyond = quantiles[-1] + (further - scores[-1])[:, None] * slopes
    beyond = np.where(np.isnan(beyond), np.inf, beyond)
    return np.concatenate([scores, further]), np.vstack([quantiles, beyond])


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """What turns the statistics of one comparison into −log p, and back: a monotone broken line."""

    at: Floats  # arsinh of the statistics
    scores: Floats

    @classmethod
    def of(cls, scores: Floats, quantiles: Floats) -> _Scale:
        """Leave out what is infinite; of equal statistics the largest p-value counts."""
        known = np.isfinite(quantiles)
        quantiles, scores = quantiles[known], scores[known]
        apart = np.diff(quantiles, prepend=-np.inf) > ROUNDING * np.abs(quantiles)
        return cls(quantiles[apart], scores[apart])

    def score(self, statistics: Floats) -> Floats:
        """Return −log p of each statistic; none is rarer than the resamples without spread."""
        return np.asarray(np.interp(np.arcsinh(statistics), self.at, self.scores))

    def statistic(self, score: float) -> float:
        """Return the statistic of this −log p; infinite if none is so rare."""
        return math.sinh(np.interp(score, self.scores, self.at)) if score <= self.scores[-1] else math.inf


class _Top:
    """The largest statistic of each resample among the comparisons left, as it is or on the scale of each."""

    def __init__(self, side: Side, scales: Mapping[int, _Scale] | None, left: Bools) -> None:
        self.usable, self.scales = side.usable, scales
        self.observed, self.resampled = side.observed, side.resampled
        if scales is not None:
            self.observed, self.resampled = np.zeros(len(side.observed)), np.zeros(side.resampled.shape)
            for k, scale in scales.items():
                self.observed[k] = scale.score(side.observed[k])
                self.resampled[:, k] = scale.score(side.resampled[:, k])
        self.which = np.full(len(side.resampled), -1)
        self.values = np.full(len(side.resampled), -np.inf)
        self.keep(left)

    def keep(self, left: Bools) -> None:
        """Let the others go: only resamples whose largest has left are searched again."""
        members = np.flatnonzero(left & self.usable)
        lost = np.flatnonzero((self.which < 0) | ~np.isin(self.which, members))
        if len(members) == 0:
            self.values[:] = -np.inf
            return
        resampled = self.resampled[np.ix_(lost, members)]
        places = resampled.argmax(axis=1)
        self.which[lost] = members[places]
        self.values[lost] = resampled[np.arange(len(lost)), places]

    def p_values(self) -> Floats:
        """Return the share of resamples, the data among them, whose largest reaches each observed one."""
        ordered = np.sort(self.values)
        counts = len(ordered) - np.searchsorted(ordered, _moved(self.observed, -ROUNDING), side="left")
        return np.where(self.usable, (1.0 + counts) / (1.0 + len(ordered)), 1.0)

    def bars(self, tail: float) -> Floats:
        """Return what each observed statistic must exceed for a p-value of at most `tail`."""
        beyond = int(np.floor(tail * (1 + len(self.values)) + ROUNDING)) - 1  # resamples that may reach it
        bar = math.inf if beyond < 0 else float(np.sort(self.values)[len(self.values) - 1 - beyond])
        bars = np.where(self.usable, bar, np.inf)
        for k, scale in (self.scales or {}).items():
            bars[k] = scale.statistic(bar)
        return _moved(bars, ROUNDING)


def _moved(values: Floats, by: float) -> Floats:
    """The values moved by a share of their size; what is infinite stays."""
    return np.asarray(values + by * np.where(np.isfinite(values), np.abs(values), 0.0), dtype=float)


def _ranks(adjusted: Floats, alone: Floats) -> Codes:
    order = np.lexsort((alone, adjusted))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks
