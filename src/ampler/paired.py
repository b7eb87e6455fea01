"""One paired test on the differences of one pair over the instances: t, Wilcoxon signed-rank, sign. Pure.

Why not scipy's own tests: `scipy.stats.wilcoxon` chooses exact or normal by other rules than R, leaves out the
continuity correction unless asked, and gives neither the Hodges-Lehmann estimate nor its interval; `ttest_1samp` loses
differences of magnitude 1e±300. The distributions are scipy's; the p-values agree with scipy's tests where both apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ampler.model import Alternative, Test

Floats = NDArray[np.float64]

EXACT_BELOW = 50  # R's wilcox.test: exact with fewer differences than this, none of them tied or zero
EXPLICIT_WALSH = 500  # up to here forming all pairwise means is as quick as counting them
ROUNDING = 10 * np.finfo(float).eps  # R's t.test: a spread below this share of the values is rounding, not spread


class Bounds(NamedTuple):
    """An interval and the level it really has: R narrows it when so few differences cannot reach the level."""

    lower: float
    upper: float
    level: float


class Location(NamedTuple):
    """Mean and standard deviation in units of 2^exponent, so that no magnitude overflows on the way."""

    mean: float
    sd: float
    exponent: int


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A paired test as questions to the differences."""

    estimate_of: str
    p_value: Callable[[Floats, Alternative], float]
    estimate: Callable[[Floats], float]
    interval: Callable[[Floats, Alternative, float], Bounds]  # the last argument is alpha
    leaning: Callable[[Floats], float]  # positive where the differences speak for "greater"; quicker than the estimate


def paired_test(test: Test) -> PairedTest:
    """Return the test of this name.

    >>> wilcoxon = paired_test("wilcoxon")
    >>> wilcoxon.p_value(np.array([1.1, -0.4, 2.0, 3.2, 0.7]), "two-sided")
    0.125
    """
    return _TESTS[test]


def is_constant(differences: Floats) -> bool:
    """Say whether the differences are all the same but for rounding."""
    mean, sd, _ = location(differences)
    return bool(sd <= ROUNDING * abs(mean))


def location(values: Floats) -> Location:
    """Return mean and standard deviation (n − 1), sound for any magnitude and offset.

    >>> mean, sd, exponent = location(np.array([1.5e300, 2.5e300]))
    >>> sd / mean  # the variance itself would be infinite
    0.353...
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    scaled = np.ldexp(values, -exponent)
    shifted = scaled - scaled[0]  # large offsets cancel exactly here
    spread = int(np.frexp(np.abs(shifted).max())[1])
    small = np.ldexp(shifted, -spread)
    centre = float(np.mean(small))
    rest = small - centre
    sd = math.sqrt(float(np.sum(rest * rest)) / (len(values) - 1)) if len(values) > 1 else math.nan
    return Location(float(scaled[0]) + math.ldexp(centre, spread), math.ldexp(sd, spread), exponent)


# t ----------------------------------------------------------------------------------------------------------------


def _t_p_value(x: Floats, alternative: Alternative) -> float:
    from scipy.special import stdtr

    t = t_statistic(x)
    if math.isnan(t):  # every difference is zero
        return 1.0
    if alternative == "two-sided":
        return float(min(1.0, 2 * stdtr(len(x) - 1, -abs(t))))
    return float(stdtr(len(x) - 1, t if alternative == "less" else -t))


def t_statistic(differences: Floats) -> float:
    """Return √N·mean/sd: infinite for constant differences, NaN if they are all zero."""
    mean, sd, _ = location(differences)
    if sd <= ROUNDING * abs(mean):
        return math.copysign(math.inf, mean) if mean else math.nan
    return mean / sd * math.sqrt(len(differences))


def _t_estimate(x: Floats) -> float:
    mean, _, exponent = location(x)
    return math.ldexp(mean, exponent)


def _t_interval(x: Floats, alternative: Alternative, alpha: float) -> Bounds:
    from scipy.special import stdtrit

    mean, sd, exponent = location(x)
    tail = alpha / 2 if alternative == "two-sided" else alpha
    half = -float(stdtrit(len(x) - 1, tail)) * sd / math.sqrt(len(x))
    lower, upper = (_unscaled(bound, exponent) for bound in (mean - half, mean + half))
    return _one_sided(lower, upper, alternative, 1 - alpha)


def _unscaled(value: float, exponent: int) -> float:
    """Times 2^exponent; beyond the largest double that is infinite."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))


def _one_sided(lower: float, upper: float, alternative: Alternative, level: float) -> Bounds:
    """Open the side on which a one-sided alternative says nothing."""
    return Bounds(
        -math.inf if alternative == "less" else lower,
        math.inf if alternative == "greater" else upper,
        level,
    )


# Wilcoxon, as R's wilcox.test(paired = TRUE, conf.int = TRUE) ------------------------------------------------------


def _wilcoxon_p_value(x: Floats, alternative: Alternative) -> float:
    kept = x[x != 0]
    if not len(kept):
        return 1.0
    ranked = _ranked(kept)
    if _is_exact(x, ranked):
        return _exact_p_value(ranked.above, len(kept), alternative)
    return _normal_p_value(_z(ranked, alternative), alternative)


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


def _exact_p_value(above: float, n: int, alternative: Alternative) -> float:
    at_most = signed_rank_distribution(n)
    upper = 1.0 if above == 0 else float(at_most[n * (n + 1) // 2 - int(above)])  # P(W >= above), by symmetry
    lower = float(at_most[int(above)])
    if alternative == "two-sided":
        return min(1.0, 2 * min(lower, upper))
    return lower if alternative == "less" else upper


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


def _rank_leaning(x: Floats) -> float:
    """How far the sum of the positive ranks lies above what chance gives."""
    kept = x[x != 0]
    return _ranked(kept).above - len(kept) * (len(kept) + 1) / 4 if len(kept) else 0.0


def _hodges_lehmann(x: Floats) -> float:
    """The median of the pairwise means of the non-zero differences.

    With many or tied differences R searches the root of a step function; where the step is flat at zero it returns
    whatever point of it the search met. The median is the middle of that piece.
    """
    kept = x[x != 0]
    if not len(kept):
        return 0.0
    total = len(kept) * (len(kept) + 1) // 2
    low, high = _walsh(kept, ((total + 1) // 2, total // 2 + 1))
    return low / 2 + high / 2


def _wilcoxon_interval(x: Floats, alternative: Alternative, alpha: float) -> Bounds:
    kept = x[x != 0]
    if len(kept) < 2:
        return Bounds(-math.inf, math.inf, 1.0)
    if _is_exact(x, _ranked(kept)):
        place, level = _exact_place(len(kept), alternative, alpha)
    else:
        place, level = _normal_place(kept, alternative, alpha)
    total = len(kept) * (len(kept) + 1) // 2
    lower, upper = _walsh(kept, (place, total + 1 - place))
    return _one_sided(lower, upper, alternative, level)


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


def _means_up_to(half: Floats, rows: NDArray[np.intp], value: float) -> int:
    """How many pairs i <= j have half_i + half_j <= value."""
    ends = np.searchsorted(half, value - half, side="right")
    return int(np.maximum(ends - rows, 0).sum())


# sign -------------------------------------------------------------------------------------------------------------


def _sign_p_value(x: Floats, alternative: Alternative) -> float:
    from scipy.special import bdtr

    above, below = int(np.sum(x > 0)), int(np.sum(x < 0))
    if alternative == "two-sided":
        return float(min(1.0, 2 * bdtr(min(above, below), above + below, 0.5)))
    return float(bdtr(below if alternative == "greater" else above, above + below, 0.5))


def _sign_leaning(x: Floats) -> float:
    return float(np.sum(np.sign(x)))


def _share_above(x: Floats) -> float:
    above, below = int(np.sum(x > 0)), int(np.sum(x < 0))
    return above / (above + below) if above + below else math.nan


def _clopper_pearson(x: Floats, alternative: Alternative, alpha: float) -> Bounds:
    from scipy.special import betaincinv

    above, below = int(np.sum(x > 0)), int(np.sum(x < 0))
    tail = alpha / 2 if alternative == "two-sided" else alpha
    lower = float(betaincinv(above, below + 1, tail)) if above and alternative != "less" else 0.0
    upper = 1 - float(betaincinv(below, above + 1, tail)) if below and alternative != "greater" else 1.0
    return Bounds(lower, upper, 1 - alpha)


_TESTS: dict[Test, PairedTest] = {
    "t": PairedTest("mean", _t_p_value, _t_estimate, _t_interval, _t_estimate),
    "wilcoxon": PairedTest("pseudomedian", _wilcoxon_p_value, _hodges_lehmann, _wilcoxon_interval, _rank_leaning),
    "sign": PairedTest("P(φ>0)", _sign_p_value, _share_above, _clopper_pearson, _sign_leaning),
}
