"""Power of paired tests, intervals of Cohen's d, and the noncentral t distribution behind both. Pure.

T exceeds t when Z + δ > t·S, with Z standard normal and S the observed over the true standard deviation. So the tail is
the normal tail Φ(δ − t·S) averaged over S, and as a function of log S everything in that average is smooth and dies out
on both sides: the trapezoidal rule on equal steps errs by hardly more than rounding does. Where t is so large that the
normal tail becomes a step, the same probability is averaged over Z instead. Two reasons not to take `scipy.stats.nct`:
loading scipy.stats takes longer than most of our answers, and its tails lose all their digits where they are tiny.
`scipy.special.nctdtr` agrees to 1.4e-12 in the region of powers, but is NaN or loses digits for large t and δ.
"""

from __future__ import annotations

import math
from functools import lru_cache
from math import ceil, floor, hypot, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, gammainc, gammaincc, ndtr, ndtri, stdtrit

from ampler.core.arrays import Codes, Floats, Interval
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Alternative, Test
from ampler.stats.paired import paired_test
from ampler.stats.paired.contract import FEWEST, present_columns
from ampler.stats.paired.student import t_statistic

LARGEST_TABLE = 1_000_000
STEEP = 10.0  # t against the spread of S: beyond, T is averaged over the normal variable instead
MOST_STEPS = 60
NEAR = 1e-13  # relative size of the last step of the inversion


class QuadratureGrid(NamedTuple):
    """Grid of S."""

    step: float  # of log S, at most
    fineness: float  # of a step, where freedom or δ is large
    faintest: float  # densities of S below e to the minus this, of the highest one, are left out


EXACT = QuadratureGrid(1 / 16, 0.5, 70.0)  # twelve digits, even for tails of 1e-18
QUICK = QuadratureGrid(1 / 8, 0.75, 25.0)  # nine decimals


def upper_tail(t: ArrayLike, freedom: ArrayLike, noncentrality: ArrayLike) -> Floats:
    """Return P(T > t) for each t, degrees of freedom (1 or more) and noncentrality, which are broadcast; NaN for NaN.

    >>> upper_tail([0.0, 2.0], 10, [0.0, 2.0]).round(12).tolist()
    [0.5, 0.519026847182]
    """
    values, degrees, centres = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (t, freedom, noncentrality)))
    shape, values, degrees, centres = values.shape, values.ravel(), degrees.ravel(), centres.ravel()
    smooth = (np.abs(values) <= STEEP * np.sqrt(2 * degrees)) & np.isfinite(centres)
    result = np.where(np.isinf(values), values < 0, centres > 0).astype(float)  # of infinite t, or δ
    result[np.isnan(values) | np.isnan(centres)] = np.nan
    for index in np.flatnonzero(np.isfinite(values) & np.isfinite(centres) & ~smooth):
        result[index] = _over_normal(values[index], degrees[index], centres[index])
    steps = _steps(values, degrees, centres, EXACT)
    for step, df in set(zip(steps[smooth].tolist(), degrees[smooth].tolist(), strict=True)):
        here = smooth & (steps == step) & (degrees == df)
        result[here] = _over_deviations(values[here], centres[here], *_deviations(df, step, EXACT.faintest))
    return np.reshape(np.minimum(result, 1.0), shape)


def quick_tails(t: Floats, freedom: int, noncentrality: Floats) -> Floats:
    """Return P(T > t) to nine decimals, all with the same degrees of freedom; fast enough for searches."""
    if np.max(np.abs(t)) > STEEP * sqrt(2 * freedom):
        return upper_tail(t, freedom, noncentrality)
    step = float(_steps(t, np.float64(freedom), noncentrality, QUICK).min())
    deviations, weights = _deviations(float(freedom), step, QUICK.faintest)
    return np.asarray(ndtr(noncentrality[:, None] - t[:, None] * deviations) @ weights)


def chi_nodes(freedom: float, precision: QuadratureGrid) -> tuple[Floats, Floats]:
    """Return ratios of observed to true standard deviation with their probabilities, for averages.

    >>> deviations, weights = chi_nodes(19, QUICK)
    >>> float((deviations**2 @ weights).round(9))
    1.0
    """
    step = float(_steps(np.zeros(1), np.float64(freedom), np.zeros(1), precision)[0])
    return _deviations(float(freedom), step, precision.faintest)


def noncentralities(t: Floats, freedom: Codes, tail: ArrayLike) -> Floats:
    """Return the noncentrality under which T exceeds each finite t ≥ 0 with probability `tail`.

    The tail, as a normal deviate, is nearly straight: secants find it.

    >>> found = noncentralities(np.array([2.0]), np.array([10]), 0.025)
    >>> found.round(9).tolist(), upper_tail(2.0, 10, found).round(12).tolist()
    ([-0.183517085], [0.025])
    """
    tails = np.broadcast_to(np.asarray(tail, dtype=float), t.shape)
    target = ndtri(tails)
    scale = np.sqrt(chdtri(freedom, 1 - tails) / freedom)  # T > t when δ + Z > t·S: deviations add in squares
    before = np.asarray(t + np.sign(tails - 0.5) * np.hypot(t * (scale - 1), target))
    error_before = ndtri(upper_tail(t, freedom, before)) - target
    result, active = before - error_before, np.full(len(t), True)
    for _ in range(MOST_STEPS):
        error = ndtri(upper_tail(t[active], freedom[active], result[active])) - target[active]
        with np.errstate(divide="ignore", invalid="ignore"):
            secants = error * (result[active] - before[active]) / (error - error_before[active])
        steps = np.where(error == error_before[active], 0.0, secants)
        before[active], error_before[active], result[active] = result[active], error, result[active] - steps
        active[active] = np.abs(steps) > NEAR * np.maximum(1.0, np.abs(result[active]))
        if not active.any():
            break
    return result


# The average over S, where t is not so large that the normal tail becomes a step ------------------------------------


def _over_deviations(t: Floats, noncentrality: Floats, deviations: Floats, weights: Floats) -> Floats:
    """Sum each row in an order independent of the number of rows."""
    at_once = max(1, LARGEST_TABLE // len(weights))
    parts = (slice(first, first + at_once) for first in range(0, len(t), at_once))
    tails = (ndtr(noncentrality[part, None] - t[part, None] * deviations) for part in parts)
    return np.concatenate([np.einsum("ij,j->i", each, weights) for each in tails])


def _steps(t: Floats, freedom: Floats | np.float64, noncentrality: Floats, precision: QuadratureGrid) -> Floats:
    """Steps fine enough for the density of log S and for the normal tail: powers of two, to be met again.

    The tail falls where t·S is δ, over a length of 1/δ in log S; beyond the largest S that matters it need not be seen.
    """
    sizes = np.abs(t)
    steepest = np.minimum(np.maximum(sizes, np.abs(noncentrality)), sizes * (1 + 9 / np.sqrt(freedom)))
    fine = precision.fineness / np.hypot(np.sqrt(2 * freedom), steepest)
    return np.asarray(np.minimum(precision.step, np.ldexp(1.0, np.frexp(fine)[1] - 1)))


@lru_cache(maxsize=1024)
def _deviations(freedom: float, step: float, faintest: float) -> tuple[Floats, Floats]:
    """S at equal steps of its logarithm u, and their probabilities: the density is e^(f·(u − (e^(2u) − 1)/2)) of 1."""
    reach = faintest / freedom
    low = -sqrt(2 * reach) if reach < 0.5 else -reach - 0.5
    high = min(sqrt(reach), log(2 * reach + 8) / 2 + 0.5)
    u = step * np.arange(ceil(low / step), ceil(high / step) + 1)
    weights = np.exp(freedom * (u - np.expm1(2 * u) / 2))
    return np.exp(u), weights / weights.sum()


# The average over the normal variable, where t is large: W = Z + δ must exceed t·S ----------------------------------


def _over_normal(t: float, freedom: float, noncentrality: float) -> float:
    """For t > 0 the average of P(S < W/t) over positive W; for t < 0 all positive W, and P(S > W/t) over the others."""
    w, weights = _positive_normal(noncentrality if t > 0 else -noncentrality, freedom)
    shape, squares = freedom / 2, (w / t) ** 2
    if t > 0:
        return float((gammainc(shape, shape * squares) * weights).sum())
    return float(ndtr(noncentrality) + (gammaincc(shape, shape * squares) * weights).sum())


def _positive_normal(centre: float, freedom: float) -> tuple[Floats, Floats]:
    """Positive places of a normal variable around a centre, and their probabilities; by its logarithm near zero."""
    wide = sqrt(2 * EXACT.faintest)
    if centre > wide + 1:
        z = np.arange(-wide, wide, EXACT.fineness / 2)
        return centre + z, EXACT.fineness / 2 * _density(z)
    most = max(centre, 0.0) + wide
    step = min(EXACT.step, EXACT.fineness / hypot(sqrt(2 * freedom), most))
    w = np.exp(np.arange(-EXACT.faintest, log(most), step))
    return w, step * w * _density(w - centre)


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-z * z / 2) / sqrt(2 * pi))


def paired_power(
    instances: int,
    effect: float | Floats,
    levels: ArrayLike,
    *,
    test: Test = "t",
    alternative: Alternative = "two-sided",
) -> Floats:
    """Return the power of a paired test on this many instances at each of the levels, for one effect or one for each.

    The t statistic of N normal differences with mean d·σ and standard deviation σ is √N·(d·σ + σ·Z̄)/s, that is
    (d·√N + Z)/√(χ²/(N−1)): noncentral t with N − 1 degrees of freedom and noncentrality d·√N. The test rejects beyond
    the central quantile of 1 − a/2, or 1 − a for one side; only the tail on the effect's side counts
    (Campelo & Wanner 2019, eq. 38).

    >>> paired_power(57, 0.5, [0.05, 0.05 / 21]).round(4).tolist()
    [0.9599, 0.7194]
    """
    size = t_instances(instances, test)
    # 1 − a loses the digits of a small a
    return upper_tail(-stdtrit(size - 1, tail_levels(levels, alternative)), size - 1, effect * sqrt(size))


def tail_levels(levels: ArrayLike, alternative: Alternative) -> Floats:
    """Return the share of each level that falls to the tail on the effect's side: half of it for a two-sided test."""
    return np.asarray(levels, dtype=float) / (2 if alternative == "two-sided" else 1)


def t_instances(instances: int, test: Test) -> int:
    """Return how many instances would give a t-test the power this test has with `instances`: ⌊(N − price)·ARE⌋.

    ARE is the efficiency in the row of the test, an exact fraction: in floating point N/0.86 rounds up wrongly at 215.

    >>> t_instances(67, "wilcoxon"), t_instances(90, "sign"), t_instances(60, "bootstrap-t")
    (57, 57, 57)
    """
    row = paired_test(test)
    equivalent = floor((instances - row.price) * row.efficiency)
    if equivalent < 2:
        raise InvalidDesign(
            f"the {test} test on {instances} instances counts as a t-test on {equivalent}, fewer than 2: "
            f"use at least {instances_for(2, test)} instances"
        )
    return equivalent


def instances_for(t_instances: int, test: Test) -> int:
    """Return how many instances this test needs for the power a t-test has with `t_instances`: ⌈N_t/ARE⌉ + price.

    >>> instances_for(57, "wilcoxon"), instances_for(57, "sign"), instances_for(215, "wilcoxon")
    (67, 90, 250)
    """
    row = paired_test(test)
    return ceil(t_instances / row.efficiency) + row.price


EFFECT_LEVEL = 0.95  # of the interval of d; plain, not adjusted for the family


def effect_size(differences: Floats) -> float:
    """Return Cohen's d of paired differences, mean/sd; NaN if all are equal or there are too few.

    >>> effect_size(np.array([1.0, 2.0, 3.0]))
    2.0
    """
    return t_statistic(differences) / math.sqrt(len(differences)) if len(differences) >= FEWEST else math.nan


def effect_intervals(differences: Floats) -> tuple[Interval, ...]:
    """Return the plain 95 % interval of each column's d, by inverting the noncentral t distribution.

    A column is NaN on the instances that its pair lacks; with fewer than two differences nothing is known of d.
    """
    columns = present_columns(differences)
    t = np.array([t_statistic(column) if len(column) >= FEWEST else math.nan for column in columns])
    return effect_intervals_of(t, np.array([max(len(column), FEWEST) for column in columns]))


def effect_intervals_of(t: Floats, instances: Codes, level: ArrayLike = 1 - EFFECT_LEVEL) -> tuple[Interval, ...]:
    """Return the intervals of d at this error level from the t statistics of this many instances."""
    n, levels = instances, np.broadcast_to(np.asarray(level, dtype=float), t.shape)
    sign = np.where(t < 0, -1.0, 1.0)
    ends, finite = np.full((2, len(t)), math.nan), np.isfinite(t)
    for end, tails in zip(ends, (levels / 2, 1 - levels / 2), strict=True):
        end[finite] = noncentralities(np.abs(t[finite]), n[finite] - 1, tails[finite])
    flipped = np.where(sign > 0, ends, -ends[::-1]) / np.sqrt(n)
    return tuple((float(lower), float(upper)) for lower, upper in flipped.T)
