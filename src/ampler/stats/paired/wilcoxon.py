"""Wilcoxon's signed-rank test with its exact distribution, ties and zeros included, and the Hodges-Lehmann estimate.

Without ties and zeros, and from 50 differences on, it is R's wilcox.test(paired = TRUE, conf.int = TRUE). With some, R
and ampler up to version 0.2 use the normal approximation (`exact_ties=False`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from ampler.core.arrays import Floats
from ampler.core.settings import Alternative
from ampler.stats.descriptive import mean_ranks_of, tied_with
from ampler.stats.paired.contract import Bounds, Many, one_sided, p_of_tails

EXACT_BELOW = 50  # differences: exact with fewer, as in R
EXPLICIT_WALSH = 500  # up to here, forming all pairwise means is as fast as counting them


def p_value(x: Floats, alternative: Alternative, *, exact_ties: bool = True) -> float:
    """Return the p-value of the sum of the positive ranks; zeros are dropped."""
    return float(many(x, alternative, exact_ties=exact_ties).p_values)


def many(differences: Floats, alternative: Alternative, *, exact_ties: bool = True) -> Many:
    """Return the p-values of many samples, on the last axis."""
    sizes = np.abs(differences)
    order = np.argsort(sizes, axis=-1)
    ranked = np.take_along_axis(sizes, order, axis=-1)
    tied = (ranked[..., 1:] == ranked[..., :-1]).any(-1) | (ranked == 0).any(-1)
    positive = np.take_along_axis(differences, order, axis=-1) > 0
    n = differences.shape[-1]
    w = np.matmul(positive, np.arange(1.0, n + 1), dtype=float)
    if n >= EXACT_BELOW:  # exact where R is exact, normal beyond
        at_least, at_most = _normal_tails(w, n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    else:
        below, place = signed_rank_distribution(n), w.astype(np.intp)
        at_least, at_most = np.asarray(below[n * (n + 1) // 2 - place]), np.asarray(below[place])
    if tied.any():
        at_least[tied], at_most[tied] = (_tails_one_by_one if exact_ties else _tied_tails)(differences[tied])
    return Many(p_of_tails(at_least, at_most, alternative), at_least < at_most)


def estimate(x: Floats) -> float:
    """Return the Hodges-Lehmann estimate, the median of the pairwise means of the non-zero differences.

    With many or tied differences R searches the root of a step function; where the step is flat at zero it returns
    whatever point of it the search met. The median is the middle of that piece.
    """
    nonzero = x[x != 0]
    if not len(nonzero):
        return 0.0
    total = len(nonzero) * (len(nonzero) + 1) // 2
    low, high = _walsh(nonzero, ((total + 1) // 2, total // 2 + 1))
    return low / 2 + high / 2


def interval(x: Floats, alternative: Alternative, alpha: float, *, exact_ties: bool = True) -> Bounds:
    """Return the interval of the pseudomedian: two of the ordered pairwise means."""
    nonzero = x[x != 0]
    if len(nonzero) < 2:
        return Bounds(-math.inf, math.inf, 1.0)
    ranked = _ranked(nonzero)
    if exact_ties and len(ranked.ties) < len(nonzero) < EXACT_BELOW:
        return _tied_interval(nonzero, alternative, alpha)
    # R's rule: exact with few differences, no ties, and no zeros.
    if len(ranked.ties) == (len(nonzero) if exact_ties else len(x)) and len(nonzero) < EXACT_BELOW:
        sides, at_most = 2 if alternative == "two-sided" else 1, signed_rank_distribution(len(nonzero))
        # as R's qsignrank: a quantile exactly at the level is reached, and the lower bound is the first mean at least
        position = int(np.searchsorted(at_most, alpha / sides * (1 - 64 * np.finfo(float).eps)))
        position, level = (position, 1 - alpha) if position else (1, 1 - sides * float(at_most[0]))
    else:
        position, level = _normal_position(nonzero, alternative, alpha)
    total = len(nonzero) * (len(nonzero) + 1) // 2
    lower, upper = _walsh(nonzero, (position, total + 1 - position))
    return one_sided(lower, upper, alternative, level)


def leaning(x: Floats) -> float:
    """Return how far the sum of the positive ranks lies above its expectation."""
    nonzero = x[x != 0]
    return _ranked(nonzero).above - len(nonzero) * (len(nonzero) + 1) / 4 if len(nonzero) else 0.0


@lru_cache(maxsize=64)
def signed_rank_distribution(n: int) -> Floats:
    """Return P(W <= w) for w = 0..n(n+1)/2, W the sum of the ranks of positive differences; exact for n < 50."""
    return tied_distribution((1,) * n)[::2]  # at most 2^49 ways to each sum: doubles count them exactly


@lru_cache(maxsize=4096)
def tied_distribution(ties: tuple[int, ...]) -> Floats:
    """Return P(2W <= w) for w = 0, 1, …, W the sum of the mean ranks of positive differences, by sizes of their ties.

    Every choice of signs is equally likely, whatever the ranks are (Pratt and Gibbons 1981).
    """
    ways, below = np.ones(1), 0
    for tied in ties:
        doubled = 2 * below + tied + 1  # ranks below + 1 to below + tied have this sum of their ends
        for _ in range(tied):
            longer = np.zeros(len(ways) + doubled)
            longer[: len(ways)] = ways
            longer[doubled:] += ways
            ways = longer
        below += tied
    distribution = np.cumsum(ways) * 0.5**below
    distribution.flags.writeable = False
    return distribution


class _Ranked(NamedTuple):
    """The sum of the ranks of the positive differences, and how many share each rank."""

    above: float
    ties: Floats


def _ranked(nonzero: Floats) -> _Ranked:
    """Rank the non-zero differences by magnitude; equal magnitudes share their mean rank."""
    order = np.argsort(np.abs(nonzero))
    ordered = np.abs(nonzero)[order]
    group = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
    ties = np.bincount(group).astype(float)
    mean_rank = np.cumsum(ties) - (ties - 1) / 2
    return _Ranked(float(mean_rank[group][nonzero[order] > 0].sum()), ties)


def _tied_exact_tails(ranked: _Ranked) -> tuple[Floats, Floats]:
    """P(W >= w), by symmetry of the distribution, and P(W <= w); the differences may tie."""
    at_most = tied_distribution(tuple(ranked.ties.astype(int).tolist()))
    position = round(2 * ranked.above)
    return np.asarray(at_most[len(at_most) - 1 - position]), np.asarray(at_most[position])


def _tied_interval(nonzero: Floats, alternative: Alternative, alpha: float) -> Bounds:
    """The shifts that the test does not reject, from one pairwise mean to another; both lie between such means.

    Between two neighbouring means the test is the same, so that the first and the last interval that is not rejected
    are searched; zero, where differences tie with their opposites, belongs to it if the test does not reject it.
    """
    sides = 2 if alternative == "two-sided" else 1
    half = nonzero / 2
    i, j = np.triu_indices(len(nonzero))
    means = np.unique(half[i] + half[j])
    middles = means[:-1] / 2 + means[1:] / 2

    def tail(position: int, above: bool) -> float:
        shifted = _ranked((half - middles[position] / 2)[half != middles[position] / 2])
        return float(_tied_exact_tails(shifted)[0 if above else 1])

    last = len(middles) - 1
    places = range(len(middles))
    lower = bisect_left(places, True, key=lambda position: tail(position, True) > alpha / sides)
    upper = last - bisect_left(places, True, key=lambda position: tail(last - position, False) > alpha / sides)
    low, high = float(means[min(lower, len(means) - 1)]), float(means[max(upper + 1, 0)])
    if p_value(nonzero, alternative) > alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    least = sides * 0.5 ** len(nonzero)
    return one_sided(low, high, alternative, 1 - alpha if least <= alpha else 1 - least)


def _normal_position(nonzero: Floats, alternative: Alternative, alpha: float) -> tuple[int, float]:
    """The same for the normal approximation.

    R searches the d at which the score of x − d crosses the quantile. Off the pairwise means that score counts how
    many of them lie above d, so the crossing is one of them and needs no search. R doubles alpha until the scores at
    the smallest and largest difference lie beyond the quantiles.
    """
    n, sides, reachable = len(nonzero), 2 if alternative == "two-sided" else 1, alpha
    ends = [_score_at(nonzero, float(nonzero.min()), alternative)] if alternative != "less" else []
    ends += [-_score_at(nonzero, float(nonzero.max()), alternative)] if alternative != "greater" else []
    while reachable < 1 and min(ends) < -float(ndtri(reachable / sides)):
        reachable *= 2
    total = n * (n + 1) // 2
    if reachable >= 1:
        return (total + 1) // 2, 0.0
    above = total / 2 + 0.5 - float(ndtri(reachable / sides)) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(1, math.floor(total - above) + 1), 1 - alpha if reachable == alpha else 1 - reachable


def _score_at(nonzero: Floats, shift: float, alternative: Alternative) -> float:
    """The normal score of shifted differences with continuity correction, its variance corrected for ties."""
    moved = nonzero / 2 - shift / 2  # halves: a difference of two large numbers could overflow
    moved = moved[moved != 0]
    if not len(moved):
        return 0.0
    above, ties = _ranked(moved)
    n = len(moved)
    centred = above - n * (n + 1) / 4
    correction = {"two-sided": math.copysign(0.5, centred) if centred else 0.0, "greater": 0.5, "less": -0.5}
    variance = n * (n + 1) * (2 * n + 1) / 24 - float(np.sum(ties**3 - ties)) / 48
    return (centred - correction[alternative]) / math.sqrt(variance)


def _walsh(nonzero: Floats, positions: tuple[int, int]) -> tuple[float, float]:
    """Two of the ordered pairwise means (i <= j) of the differences; places count from 1."""
    if len(nonzero) <= EXPLICIT_WALSH:
        i, j = np.triu_indices(len(nonzero))
        half = nonzero / 2  # halves first: a sum could overflow
        means = half[i] + half[j]
        indices = [position - 1 for position in positions]
        means.partition(indices)
        return float(means[indices[0]]), float(means[indices[1]])
    ordered = np.sort(nonzero)
    return _walsh_by_counting(ordered, positions[0]), _walsh_by_counting(ordered, positions[1])


def _walsh_by_counting(ordered: Floats, position: int) -> float:
    """The place-th pairwise mean without forming all of them: bisect the value, count the means below it."""
    low, high = float(ordered[0]), float(ordered[-1])
    half, rows = ordered / 2, np.arange(len(ordered))

    def reaches(value: float) -> bool:
        ends = np.searchsorted(half, value - half, side="right")  # pairs i <= j have half_i + half_j <= value
        return int(np.maximum(ends - rows, 0).sum()) >= position

    while (middle := low / 2 + high / 2) not in (low, high):
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return low if reaches(low) else high


# many samples at once -------------------------------------------------------------------------------------------------


def _tails_one_by_one(differences: Floats) -> tuple[Floats, Floats]:
    """The exact tails with ties or zeros; the normal ones for large samples."""
    at_least, at_most = _tied_tails(differences)
    for row in np.flatnonzero((differences != 0).sum(-1) < EXACT_BELOW):
        nonzero = differences[row][differences[row] != 0]
        at_least[row], at_most[row] = _tied_exact_tails(_ranked(nonzero)) if len(nonzero) else (1.0, 1.0)
    return at_least, at_most


def _tied_tails(differences: Floats) -> tuple[Floats, Floats]:
    """The tails where there are ties or zeros: zeros dropped, mean ranks, normal, less variance by ties."""
    sizes = np.abs(differences)
    zeros = (sizes == 0).sum(-1)
    n = differences.shape[-1] - zeros
    w = np.where(differences > 0, mean_ranks_of(sizes) - zeros[..., None], 0.0).sum(-1)
    # Σ(t³−t)/48 over groups of t ties; a group of t members adds t²−1 per member
    members = tied_with(sizes)
    ties = np.where(sizes > 0, members**2 - 1, 0.0).sum(-1)
    deviation = np.sqrt(np.maximum(0.0, n * (n + 1) * (2 * n + 1) / 24 - ties / 48))
    return _normal_tails(w, n * (n + 1) / 4, deviation)


def _normal_tails(w: Floats, mean: Floats | float, deviation: Floats | float) -> tuple[Floats, Floats]:
    """P(W >= w) and P(W <= w) as normal, with continuity correction; both are 1 if all differences are zero."""
    centred, spread = w - mean, np.maximum(deviation, 1e-300)
    return np.asarray(ndtr((0.5 - centred) / spread)), np.asarray(ndtr((centred + 0.5) / spread))
