"""Wilcoxon's signed-rank test with its exact distribution, ties and zeros included, and the Hodges-Lehmann estimate.

Without ties and zeros, and from 50 differences on, it is R's wilcox.test(paired = TRUE, conf.int = TRUE). With some, R
and ampler up to version 0.2 use the normal approximation (`exact_ties=False`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ampler.core.arrays import Codes, Floats
from ampler.core.choices import Alternative
from ampler.stats.paired.bounds import Bounds, one_sided, p_of_tails
from ampler.stats.paired.contract import Many
from ampler.stats.ranks import mean_ranks_of, tied_with

EXACT_BELOW = 50  # differences: exact with fewer, as in R
EXPLICIT_WALSH = 500  # up to here forming all pairwise means is as quick as counting them


def p_value(x: Floats, alternative: Alternative, *, exact_ties: bool = True) -> float:
    """Return the p-value of the sum of the positive ranks; zeros are dropped."""
    kept = x[x != 0]
    if not len(kept):
        return 1.0
    ranked = _ranked(kept)
    if exact_ties and len(kept) < EXACT_BELOW:
        return float(p_of_tails(*_tied_exact_tails(ranked), alternative))
    if _is_exact(x, ranked):
        return float(p_of_tails(*_exact_tails(np.intp(ranked.above), len(kept)), alternative))
    return _normal_p_value(_z(ranked, alternative), alternative)


def many(differences: Floats, alternative: Alternative, *, exact_ties: bool = True) -> Many:
    """Return the p-values of many samples, on the last axis."""
    sizes = np.abs(differences)
    order = np.argsort(sizes, axis=-1)
    ranked = np.take_along_axis(sizes, order, axis=-1)
    tied = (ranked[..., 1:] == ranked[..., :-1]).any(-1) | (ranked[..., 0] == 0)
    positive = np.take_along_axis(differences, order, axis=-1) > 0
    n = differences.shape[-1]
    at_least, at_most = _untied_tails(np.matmul(positive, np.arange(1.0, n + 1), dtype=float), n)
    if tied.any():
        at_least[tied], at_most[tied] = (_tails_one_by_one if exact_ties else _tied_tails)(differences[tied])
    return Many(p_of_tails(at_least, at_most, alternative), at_least < at_most)


def estimate(x: Floats) -> float:
    """Return the Hodges-Lehmann estimate, the median of the pairwise means of the non-zero differences.

    With many or tied differences R searches the root of a step function; where the step is flat at zero it returns
    whatever point of it the search met. The median is the middle of that piece.
    """
    kept = x[x != 0]
    if not len(kept):
        return 0.0
    total = len(kept) * (len(kept) + 1) // 2
    low, high = _walsh(kept, ((total + 1) // 2, total // 2 + 1))
    return low / 2 + high / 2


def interval(x: Floats, alternative: Alternative, alpha: float, *, exact_ties: bool = True) -> Bounds:
    """Return the interval of the pseudomedian: two of the ordered pairwise means."""
    kept = x[x != 0]
    if len(kept) < 2:
        return Bounds(-math.inf, math.inf, 1.0)
    ranked = _ranked(kept)
    if exact_ties and len(ranked.ties) < len(kept) < EXACT_BELOW:
        return _tied_interval(kept, alternative, alpha)
    if len(ranked.ties) == len(kept) < EXACT_BELOW if exact_ties else _is_exact(x, ranked):
        place, level = _exact_place(len(kept), alternative, alpha)
    else:
        place, level = _normal_place(kept, alternative, alpha)
    total = len(kept) * (len(kept) + 1) // 2
    lower, upper = _walsh(kept, (place, total + 1 - place))
    return one_sided(lower, upper, alternative, level)


def leaning(x: Floats) -> float:
    """Return how far the sum of the positive ranks lies above what chance gives."""
    kept = x[x != 0]
    return _ranked(kept).above - len(kept) * (len(kept) + 1) / 4 if len(kept) else 0.0


@lru_cache(maxsize=64)
def signed_rank_distribution(n: int) -> Floats:
    """Return P(W <= w) for w = 0..n(n+1)/2, W the sum of the ranks of positive differences; exact for n < 50."""
    ways = np.ones(1)  # subsets of {1..n} by sum: at most 2^49 of them, so doubles hold the counts exactly
    for rank in range(1, n + 1):
        grown = np.zeros(len(ways) + rank)
        grown[: len(ways)] = ways
        grown[rank:] += ways
        ways = grown
    distribution = np.cumsum(ways) * 0.5**n
    distribution.flags.writeable = False
    return distribution


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

    @property
    def n(self) -> int:
        return int(self.ties.sum())


def _ranked(kept: Floats) -> _Ranked:
    """Rank the non-zero differences by magnitude; equal magnitudes share their mean rank."""
    order = np.argsort(np.abs(kept))
    ordered = np.abs(kept)[order]
    group = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
    ties = np.bincount(group).astype(float)
    mean_rank = np.cumsum(ties) - (ties - 1) / 2
    return _Ranked(float(mean_rank[group][kept[order] > 0].sum()), ties)


def _is_exact(x: Floats, ranked: _Ranked) -> bool:
    """R's rule: few differences, no zeros, no ties."""
    return len(x) < EXACT_BELOW and len(ranked.ties) == len(x)


def _tied_exact_tails(ranked: _Ranked) -> tuple[Floats, Floats]:
    """P(W >= w), by symmetry of the distribution, and P(W <= w)."""
    at_most = tied_distribution(tuple(ranked.ties.astype(int).tolist()))
    place = round(2 * ranked.above)
    return np.asarray(at_most[len(at_most) - 1 - place]), np.asarray(at_most[place])


def _tied_interval(kept: Floats, alternative: Alternative, alpha: float) -> Bounds:
    """The shifts that the test does not reject, from one pairwise mean to another; both lie between such means.

    Between two neighbouring means the test is the same, so that the first and the last interval that is not rejected
    are searched; zero, where differences tie with their opposites, belongs to it if the test does not reject it.
    """
    sides = 2 if alternative == "two-sided" else 1
    half = kept / 2
    i, j = np.triu_indices(len(kept))
    means = np.unique(half[i] + half[j])
    middles = means[:-1] / 2 + means[1:] / 2

    def tail(place: int, above: bool) -> float:
        shifted = _ranked((half - middles[place] / 2)[half != middles[place] / 2])
        return float(_tied_exact_tails(shifted)[0 if above else 1])

    last = len(middles) - 1
    lower = _first(len(middles), lambda place: tail(place, True) > alpha / sides)
    upper = last - _first(len(middles), lambda place: tail(last - place, False) > alpha / sides)
    low, high = float(means[min(lower, len(means) - 1)]), float(means[max(upper + 1, 0)])
    if p_value(kept, alternative) > alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    least = sides * 0.5 ** len(kept)
    return one_sided(low, high, alternative, 1 - alpha if least <= alpha else 1 - least)


def _first(size: int, holds: Callable[[int], bool]) -> int:
    """The first place from which a condition holds, by bisection; the size if it never does."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _exact_tails(w: Codes | np.intp, n: int) -> tuple[Floats, Floats]:
    """P(W >= w), by symmetry of the distribution, and P(W <= w)."""
    at_most = signed_rank_distribution(n)
    return np.asarray(at_most[n * (n + 1) // 2 - w]), np.asarray(at_most[w])


def _z(ranked: _Ranked, alternative: Alternative) -> float:
    """The normal score with continuity correction, its variance corrected for ties."""
    n, ties = ranked.n, ranked.ties
    centred = ranked.above - n * (n + 1) / 4
    correction = {"two-sided": math.copysign(0.5, centred) if centred else 0.0, "greater": 0.5, "less": -0.5}
    variance = n * (n + 1) * (2 * n + 1) / 24 - float(np.sum(ties**3 - ties)) / 48
    return (centred - correction[alternative]) / math.sqrt(variance)


def _normal_p_value(z: float, alternative: Alternative) -> float:
    from scipy.special import ndtr

    if alternative == "two-sided":
        return float(min(1.0, 2 * ndtr(-abs(z))))
    return float(ndtr(z if alternative == "less" else -z))


def _exact_place(n: int, alternative: Alternative, alpha: float) -> tuple[int, float]:
    """Which pairwise mean, counted from the smallest, is the lower bound; R's qsignrank, and 1 where that is 0."""
    sides = 2 if alternative == "two-sided" else 1
    at_most = signed_rank_distribution(n)
    tail = alpha / sides * (1 - 64 * np.finfo(float).eps)  # as R: a quantile exactly at the level is reached
    place = int(np.searchsorted(at_most, tail))
    if place == 0:
        return 1, 1 - sides * float(at_most[0])
    return place, 1 - alpha


def _normal_place(kept: Floats, alternative: Alternative, alpha: float) -> tuple[int, float]:
    """The same for the normal approximation.

    R searches the d at which the score of x − d crosses the quantile. Off the pairwise means that score counts how
    many of them lie above d, so the crossing is one of them and needs no search.
    """
    from scipy.special import ndtri

    sides = 2 if alternative == "two-sided" else 1
    reachable = _reachable_alpha(kept, alternative, alpha)
    if reachable >= 1:
        return (len(kept) * (len(kept) + 1) // 2 + 1) // 2, 0.0
    n = len(kept)
    total = n * (n + 1) / 2
    sigma = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    above = total / 2 + 0.5 - float(ndtri(reachable / sides)) * sigma
    place = max(1, math.floor(total - above) + 1)
    return place, 1 - alpha if reachable == alpha else 1 - reachable


def _reachable_alpha(kept: Floats, alternative: Alternative, alpha: float) -> float:
    """R doubles alpha until the scores at the smallest and largest difference lie beyond the quantiles."""
    from scipy.special import ndtri

    sides = 2 if alternative == "two-sided" else 1
    ends = []
    if alternative != "less":
        ends.append(_score_at(kept, float(kept.min()), alternative))
    if alternative != "greater":
        ends.append(-_score_at(kept, float(kept.max()), alternative))
    while alpha < 1 and min(ends) < -float(ndtri(alpha / sides)):
        alpha *= 2
    return alpha


def _score_at(kept: Floats, shift: float, alternative: Alternative) -> float:
    moved = kept / 2 - shift / 2  # halves: a difference of two large numbers could overflow
    moved = moved[moved != 0]
    if not len(moved):
        return 0.0
    return _z(_ranked(moved), alternative)


def _walsh(kept: Floats, places: tuple[int, int]) -> tuple[float, float]:
    """Two of the ordered pairwise means (i <= j) of the differences; places count from 1."""
    if len(kept) <= EXPLICIT_WALSH:
        i, j = np.triu_indices(len(kept))
        half = kept / 2  # halves first: a sum could overflow
        means = half[i] + half[j]
        wanted = [place - 1 for place in places]
        means.partition(wanted)
        return float(means[wanted[0]]), float(means[wanted[1]])
    ordered = np.sort(kept)
    return _walsh_by_counting(ordered, places[0]), _walsh_by_counting(ordered, places[1])


def _walsh_by_counting(ordered: Floats, place: int) -> float:
    """The place-th pairwise mean without forming all of them: bisect the value, count the means below it."""
    low, high = float(ordered[0]), float(ordered[-1])
    half, rows = ordered / 2, np.arange(len(ordered))
    while True:
        middle = low / 2 + high / 2
        if middle in (low, high):
            return high if _means_up_to(half, rows, low) < place else low
        if _means_up_to(half, rows, middle) >= place:
            high = middle
        else:
            low = middle


def _means_up_to(half: Floats, rows: Codes, value: float) -> int:
    """How many pairs i <= j have half_i + half_j <= value."""
    ends = np.searchsorted(half, value - half, side="right")
    return int(np.maximum(ends - rows, 0).sum())


# many samples at once -------------------------------------------------------------------------------------------------


def _untied_tails(w: Floats, n: int) -> tuple[Floats, Floats]:
    """P(W >= w) and P(W <= w) without ties: exact as far as R goes, normal beyond."""
    if n >= EXACT_BELOW:
        return _normal_tails(w, n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    return _exact_tails(w.astype(np.intp), n)


def _tails_one_by_one(differences: Floats) -> tuple[Floats, Floats]:
    """The exact tails where there are ties or zeros; the normal ones of samples that are too large for them."""
    at_least, at_most = _tied_tails(differences)
    for row in np.flatnonzero((differences != 0).sum(-1) < EXACT_BELOW):
        kept = differences[row][differences[row] != 0]
        at_least[row], at_most[row] = _tied_exact_tails(_ranked(kept)) if len(kept) else (1.0, 1.0)
    return at_least, at_most


def _tied_tails(differences: Floats) -> tuple[Floats, Floats]:
    """The tails where there are ties or zeros: zeros dropped, mean ranks, normal, less variance by ties."""
    sizes = np.abs(differences)
    zeros = (sizes == 0).sum(-1)
    n = differences.shape[-1] - zeros
    ranks = mean_ranks_of(sizes) - zeros[..., None]
    w = np.where(differences > 0, ranks, 0.0).sum(-1)
    # Σ(t³−t)/48 over groups of t ties; a group of t members adds t²−1 per member
    members = tied_with(sizes)
    ties = np.where(sizes > 0, members**2 - 1, 0.0).sum(-1)
    deviation = np.sqrt(np.maximum(0.0, n * (n + 1) * (2 * n + 1) / 24 - ties / 48))
    return _normal_tails(w, n * (n + 1) / 4, deviation)


def _normal_tails(w: Floats, mean: Floats | float, deviation: Floats | float) -> tuple[Floats, Floats]:
    """P(W >= w) and P(W <= w) as normal, with continuity correction; both are 1 when nothing is left to rank."""
    from scipy.special import ndtr

    centred, spread = w - mean, np.maximum(deviation, 1e-300)
    return np.asarray(ndtr((0.5 - centred) / spread)), np.asarray(ndtr((centred + 0.5) / spread))
