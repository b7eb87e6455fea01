"""Families of comparisons tested together by resampling the instances: bootstrap-t and sign flips. Pure.

Differences come as an array with instances in rows and comparisons in columns; NaN where a pair lacks an instance. All
comparisons see the same resampled instances, so their dependence, above all a shared reference, is in the joint
distribution. The bootstrap-t is right where differences are skewed: Romano & Wolf (2005) for the steps, Hall (1992) for
the studentised bootstrap. Sign flips are exact where differences are symmetric about their centre.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ampler.core.arrays import Bools, Codes, Counts, Floats
from ampler.core.settings import Alternative
from ampler.stats.descriptive import Location, location

RESAMPLES = 9999  # a p-value near 0.05 is then known to within 0.002
SEED = 2005  # fixed: the same data give the same numbers
ROUNDING = 1e-9  # statistics this close, relatively, are equal: sums in another order differ in the last digits
MOST_ENDLESS = 0.005  # largest share of resamples without spread: a tenth of the usual level
POOLED = 0.75  # share of the tails that are no heavier than the lightest one trusted
KNOTS = 64  # of a scale, in the range of the resampled statistics
RAREST = 40.0  # −log p at which scales end


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a test: the observed statistics, and their resamples in rows. Larger is stronger.

    A comparison that is not `usable` cannot be rejected, and does not raise the bar for the others.
    """

    observed: Floats
    resampled: Floats
    usable: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Result of a step-down, in the order of the comparisons."""

    p_values: Floats  # of each comparison alone
    adjusted: Floats  # the smallest family-wise level at which it would be rejected
    ranks: Codes  # from 1, in the order of the steps
    rejected: Bools
    bars: Floats  # one row per side: the critical value when this comparison was decided
    levels: Floats  # probability of each comparison to exceed its bars by chance
    joint_bars: Floats  # critical values that hold for all comparisons at once


Combination = Callable[[Floats], Floats]  # p-values of the sides, in rows, to the p-value of the comparison


def one_side(p_values: Floats) -> Floats:
    """Return the p-value of a one-sided test."""
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
        if reached <= alpha:  # the last step sets the critical value of the comparisons not rejected
            bars[:, left] = np.array([top.bars(tail) for top in tops])[:, left]
        reached = max(reached, float(p[left].min()))
        leaving = left & (p <= reached)
        adjusted[leaving] = reached
        left = left & ~leaving & (reached < 1.0)
        for top in tops:
            top.keep(left)
    alone = combine(np.array([p_values_alone(one) for one in sides]))
    # Probability of each comparison to exceed its critical value; the data count as one resample.
    beyond = [
        (1.0 + (one.resampled >= bar).sum(axis=0)) / (1.0 + len(one.resampled))
        for one, bar in zip(sides, bars, strict=True)
    ]
    levels = np.minimum(np.sum(beyond, axis=0), alpha)
    ranks = np.empty(len(left), dtype=np.intp)
    ranks[np.lexsort((alone, adjusted))] = np.arange(1, len(left) + 1)
    return Steps(alone, adjusted, ranks, adjusted <= alpha, bars, levels, joint)


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


def _balanced_scales(sides: Sequence[Side]) -> list[Mapping[int, Scale]]:
    """The scale of each usable comparison, by its place, for each side."""
    places = [np.flatnonzero(side.usable).tolist() for side in sides]
    scores, quantiles = _tails(np.hstack([side.resampled[:, side.usable] for side in sides]))
    if quantiles.shape[1]:
        pooled = np.sort(quantiles, axis=1)[:, int(POOLED * (quantiles.shape[1] - 1))]
        quantiles = np.maximum(quantiles, pooled[:, None])
    columns = iter(quantiles.T)
    return [{k: _scale(scores, next(columns)) for k in of_side} for of_side in places]


def _tails(resampled: Floats) -> tuple[Floats, Floats]:
    """Scores −log p (rows), and arsinh of the statistics that the resamples of each comparison exceed so rarely.

    Beyond the last knot, where few resamples are left to show how large statistics get, each continues with the slope
    of its last part, as the tail of a t distribution nearly does. Resamples without spread are infinite."""
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


Scale = tuple[Floats, Floats]  # arsinh of the statistics of a comparison, and −log p of each: a monotone broken line


def _scale(scores: Floats, quantiles: Floats) -> Scale:
    """Leave out what is infinite; of equal statistics the largest p-value counts."""
    finite = np.isfinite(quantiles)
    quantiles, scores = quantiles[finite], scores[finite]
    apart = np.diff(quantiles, prepend=-np.inf) > ROUNDING * np.abs(quantiles)
    return quantiles[apart], scores[apart]


class _Top:
    """The largest statistic of each resample among the comparisons left, as it is or on the scale of each."""

    def __init__(self, side: Side, scales: Mapping[int, Scale] | None, left: Bools) -> None:
        self.usable, self.scales = side.usable, scales
        self.observed, self.resampled = side.observed, side.resampled
        if scales is not None:
            self.observed, self.resampled = np.zeros(len(side.observed)), np.zeros(side.resampled.shape)
            for k, scale in scales.items():  # −log p of each: none is rarer than the resamples without spread
                self.observed[k] = np.interp(np.arcsinh(side.observed[k]), *scale)
                self.resampled[:, k] = np.interp(np.arcsinh(side.resampled[:, k]), *scale)
        self.which = np.full(len(side.resampled), -1)
        self.values = np.full(len(side.resampled), -np.inf)
        self.keep(left)

    def keep(self, left: Bools) -> None:
        """Drop comparisons: only resamples whose maximum was dropped are searched again."""
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
        """Return the share of resamples, data included, whose maximum reaches each observed statistic."""
        ordered = np.sort(self.values)
        counts = len(ordered) - np.searchsorted(ordered, _moved(self.observed, -ROUNDING), side="left")
        return np.where(self.usable, (1.0 + counts) / (1.0 + len(ordered)), 1.0)

    def bars(self, tail: float) -> Floats:
        """Return what each observed statistic must exceed for a p-value of at most `tail`."""
        beyond = int(np.floor(tail * (1 + len(self.values)) + ROUNDING)) - 1  # resamples that may reach it
        bar = math.inf if beyond < 0 else float(np.sort(self.values)[len(self.values) - 1 - beyond])
        bars = np.where(self.usable, bar, np.inf)
        for k, (at, scores) in (self.scales or {}).items():  # infinite if no statistic is so rare
            bars[k] = math.sinh(np.interp(bar, scores, at)) if bar <= scores[-1] else math.inf
        return _moved(bars, ROUNDING)


def _moved(values: Floats, by: float) -> Floats:
    """The values moved by a share of their size; what is infinite stays."""
    return np.asarray(values + by * np.where(np.isfinite(values), np.abs(values), 0.0), dtype=float)


DIGITS = 9  # digits by which instances are sorted


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
            limits = np.ldexp(bounds, self.exponents).T
        return np.where((self.deviations > 0)[:, None], limits, [-np.inf, np.inf])


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Results of resampling a family, in the order of the comparisons."""

    steps: Steps
    intervals: Floats  # at the critical values of each comparison's own step: they agree with the decisions
    joint_intervals: Floats  # simultaneous intervals with coverage 1 − alpha


def columns_of(differences: Floats) -> StandardColumns:
    """Return the columns in standard units.

    >>> columns_of(np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 7.0]])).counts.tolist()
    [3.0, 2.0]
    """
    present = ~np.isnan(differences)
    samples = [column[there] for column, there in zip(differences.T, present.T, strict=True)]
    moments = [location(sample) if len(sample) > 1 else Location(0.0, 0.0, 0) for sample in samples]
    means, deviations, exponents = (np.array(part) for part in zip(*moments, strict=True))
    deviations[[each.is_constant for each in moments]] = 0.0  # a deviation that is rounding
    scaled = np.ldexp(np.where(present, differences, 0.0), -exponents)
    varies = deviations > 0
    standard = np.where(present & varies, (scaled - means) / np.where(varies, deviations, 1.0), 0.0)
    # Instances in order of how far from the middle they lie: scale, sign and order of the comparisons do not matter.
    squares, cubes = (np.round((standard**power).sum(axis=1), DIGITS) for power in (2, 3))
    order = np.lexsort((cubes, squares))
    return StandardColumns(
        present.sum(axis=0).astype(float), means, deviations, exponents, standard[order], present[order]
    )


def opened(intervals: Floats, alternative: Alternative) -> Floats:
    """Return the intervals, open on the free side of a one-sided alternative."""
    keep = np.array([alternative != "less", alternative != "greater"])
    return np.where(keep, intervals, [-np.inf, np.inf])


CHUNK = 2**21  # numbers per block
NO_SPREAD = 1e-12  # a variance below this share of the mean square is rounding


def bootstrap_t(
    differences: Floats,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Family:
    """Test whether each column's mean is zero, family-wise error at most alpha, and give intervals of the means.

    >>> differences = np.random.default_rng(1).exponential(size=(30, 2)) - [1.0, 0.3]
    >>> bootstrap_t(differences).steps.rejected.tolist()
    [False, True]
    """
    columns = columns_of(differences)
    resampled = resampled_t(columns, resamples, np.random.default_rng(seed))
    upper, lower = side_of(columns, columns.t, resampled), side_of(columns, -columns.t, -resampled)
    if alternative == "two-sided":
        return _family(columns, [upper, lower], either_side, alpha, alpha / 2)
    one = _family(columns, [upper if alternative == "greater" else lower], one_side, alpha, alpha)
    return Family(one.steps, opened(one.intervals, alternative), opened(one.joint_intervals, alternative))


def joint_coverage(
    differences: Floats, *, alternative: Alternative, alpha: float, resamples: int = RESAMPLES, seed: int = SEED
) -> float:
    """Return the estimated joint coverage of the simultaneous t intervals, from resamples.

    >>> differences = np.random.default_rng(1).lognormal(size=(20, 3))
    >>> joint_coverage(differences, alternative="two-sided", alpha=0.05) < 0.9
    True
    """
    columns = columns_of(differences)
    resampled = resampled_t(columns, resamples, np.random.default_rng(seed))
    tail = alpha / differences.shape[1] / (2 if alternative == "two-sided" else 1)
    above = resampled > -stdtrit(np.maximum(columns.counts - 1, 1), tail)
    below = -resampled > -stdtrit(np.maximum(columns.counts - 1, 1), tail)
    missed = {"two-sided": above | below, "greater": above, "less": below}[alternative]
    return 1.0 - float(missed.any(axis=1).mean())


def bootstrap_t_equivalence(
    differences: Floats, *, margin: float, alpha: float = 0.05, resamples: int = RESAMPLES, seed: int = SEED
) -> Steps:
    """Test whether each column's mean lies within ±margin: two one-sided tests, as a family of their own.

    A mean outside is nearly always outside on the side to which the estimate leans. So the deviations *away from the
    nearer bound* are held together, and those from the farther bound by themselves.

    >>> bootstrap_t_equivalence(np.random.default_rng(1).normal(size=(30, 2)), margin=0.9).rejected.tolist()
    [True, True]
    """
    columns = columns_of(differences)
    resampled = resampled_t(columns, resamples, np.random.default_rng(seed))
    leaning = columns.leaning
    near, far = (
        side_of(columns, -towards * columns.t_about(towards * margin), -towards * resampled)
        for towards in (leaning, -leaning)
    )
    return resampled_step_down([near, far], both_sides, alpha=alpha, tail=alpha, balanced=True)


def _family(columns: StandardColumns, sides: list[Side], combine: Combination, alpha: float, tail: float) -> Family:
    """The steps, and the intervals at their bars and at those that hold for all at once."""
    steps = resampled_step_down(sides, combine, alpha=alpha, tail=tail, balanced=True)
    # one critical value serves both ends of a one-sided interval
    return Family(steps, *(columns.interval(bars[0], bars[-1]) for bars in (steps.bars, steps.joint_bars)))


def side_of(columns: StandardColumns, t: Floats, resampled: Floats) -> Side:
    """Return the side to which t points; a resample without a value, like one without spread, is infinite."""
    finite = np.isfinite(resampled)
    return Side(t, np.where(finite, resampled, np.inf), (columns.deviations > 0) & usable(~finite))


def resampled_t(columns: StandardColumns, resamples: int, rng: np.random.Generator) -> Floats:
    """Return the t statistic of each comparison about its own mean in each resample of the instances.

    It is infinite where a resample has no spread, NaN where it has no value, and 0 in a constant column.
    """
    powers = np.hstack([columns.standard, columns.standard**2])
    complete = bool(columns.present.all())
    sums = powers if complete else np.hstack([powers, columns.present])
    size = max(1, CHUNK // (sums.shape[1] + len(sums)))
    blocks = (resampling_counts(len(sums), min(size, resamples - start), rng) for start in range(0, resamples, size))
    parts = [counts @ sums for counts in blocks]  # how often each instance is drawn, times its differences
    first, second, *counts = np.split(np.concatenate(parts), 2 if complete else 3, axis=1)
    number = columns.counts if complete else counts[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, square = first / number, second / number
        variance = square - mean * mean
        variance = np.where(variance > NO_SPREAD * square, variance, 0.0)
        return np.where(columns.deviations > 0, mean * np.sqrt((number - 1.0) / variance), 0.0)


def resampling_counts(instances: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Return how often each instance is drawn in each resample."""
    indices = rng.integers(0, instances, (resamples, instances)) + instances * np.arange(resamples)[:, None]
    counts = np.bincount(indices.ravel(), minlength=resamples * instances)
    return counts.reshape(resamples, instances).astype(float)


MOST_INSTANCES = 40  # instances up to which the number of flips is an exact integer


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
    alone = differences.shape[1] == 1  # a single comparison needs one step
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
    """Return rows of signs, one per instance: all but the observed ones if they are few, otherwise random ones.

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
    """Mean plus and minus this many standard errors; `bar` is a critical value of the sums, turned into one of t."""
    rest = columns.counts - bar * bar
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(rest > 0, bar * np.sqrt((columns.counts - 1.0) / rest), np.inf)
    return opened(columns.interval(t, t), alternative)
