"""The noncentral t distribution: upper tails, and the noncentrality that gives a tail its probability. Pure.

T exceeds t when Z + δ > t·S, with Z standard normal and S the standard deviation seen over the true one. So the tail is
the normal tail Φ(δ − t·S) averaged over S, and as a function of log S everything in that average is smooth and dies out
on both sides: the trapezoidal rule on equal steps errs by hardly more than rounding does. Where t is so large that the
normal tail becomes a step, the same probability is averaged over Z instead. Two reasons not to take `scipy.stats.nct`:
loading scipy.stats takes longer than most of our answers, and its tails lose all their digits where they are tiny.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, hypot, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ampler.core.arrays import Bools, Codes, Floats

LARGEST_TABLE = 1_000_000
STEEP = 10.0  # t against the spread of S: beyond, T is averaged over the normal variable instead
MOST_STEPS = 60
NEAR = 1e-13  # of the last step of the inversion, to its place


class Precision(NamedTuple):
    """How S is stepped through."""

    step: float  # of log S, at most
    fineness: float  # of a step, where freedom or δ is large
    faintest: float  # densities of S below e to the minus this, of the highest one, are left out


EXACT = Precision(1 / 16, 0.5, 70.0)  # twelve digits, also of tails of 1e-18
QUICK = Precision(1 / 8, 0.75, 25.0)  # nine decimals


def upper_tail(t: ArrayLike, freedom: ArrayLike, noncentrality: ArrayLike) -> Floats:
    """Return P(T > t) for each t, degrees of freedom (1 or more) and noncentrality, which are broadcast; NaN for NaN.

    >>> upper_tail([0.0, 2.0], 10, [0.0, 2.0]).round(12).tolist()
    [0.5, 0.519026847182]
    """
    given = [np.asarray(each, dtype=float) for each in (t, freedom, noncentrality)]
    everywhere = np.zeros(np.broadcast(*given).shape)
    places, degrees, centres = ((each + everywhere).ravel() for each in given)
    smooth = (np.abs(places) <= STEEP * np.sqrt(2 * degrees)) & np.isfinite(centres)
    result = np.empty(len(places)) if smooth.all() else _rough_tails(places, degrees, centres, smooth)
    steps = _steps(places, degrees, centres, EXACT)
    for step, each in set(zip(steps[smooth].tolist(), degrees[smooth].tolist(), strict=True)):
        here = smooth & (steps == step) & (degrees == each)
        result[here] = _over_deviations(places[here], centres[here], *_deviations(each, step, EXACT.faintest))
    return np.reshape(np.minimum(result, 1.0), everywhere.shape)


def _rough_tails(places: Floats, degrees: Floats, centres: Floats, smooth: Bools) -> Floats:
    """The tails at infinity, of NaN, and where t is so large that the normal tail becomes a step; others are left."""
    result = np.where(np.isinf(places), places < 0, centres > 0).astype(float)
    result[np.isnan(places) | np.isnan(centres)] = np.nan
    for place in np.flatnonzero(np.isfinite(places) & np.isfinite(centres) & ~smooth):
        result[place] = _over_normal(places[place], degrees[place], centres[place])
    return result


def quick_tails(t: Floats, freedom: int, noncentrality: Floats) -> Floats:
    """Return P(T > t) to nine decimals, all with the same degrees of freedom: for searches that ask often."""
    from scipy.special import ndtr

    if np.max(np.abs(t)) > STEEP * sqrt(2 * freedom):
        return upper_tail(t, freedom, noncentrality)
    step = float(_steps(t, np.float64(freedom), noncentrality, QUICK).min())
    deviations, weights = _deviations(float(freedom), step, QUICK.faintest)
    return np.asarray(ndtr(noncentrality[:, None] - t[:, None] * deviations) @ weights)


def chi_nodes(freedom: float, precision: Precision) -> tuple[Floats, Floats]:
    """Return standard deviations seen over the true one, and their probabilities: to average over.

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
    from scipy.special import ndtri

    tails = np.broadcast_to(np.asarray(tail, dtype=float), t.shape)
    before, wanted = _nearly(t, freedom, tails), ndtri(tails)
    error_before = ndtri(upper_tail(t, freedom, before)) - wanted
    found, going = before - error_before, np.full(len(t), True)
    for _ in range(MOST_STEPS):
        error = ndtri(upper_tail(t[going], freedom[going], found[going])) - wanted[going]
        with np.errstate(divide="ignore", invalid="ignore"):
            secants = error * (found[going] - before[going]) / (error - error_before[going])
        steps = np.where(error == error_before[going], 0.0, secants)
        before[going], error_before[going], found[going] = found[going], error, found[going] - steps
        going[going] = np.abs(steps) > NEAR * np.maximum(1.0, np.abs(found[going]))
        if not going.any():
            break
    return found


def _nearly(t: Floats, freedom: Codes, tail: Floats) -> Floats:
    """T > t when δ + Z > t·S, with Z normal and S² = χ²/freedom; deviations add in squares."""
    from scipy.special import chdtri, ndtri

    scale = np.sqrt(chdtri(freedom, 1 - tail) / freedom)
    return np.asarray(t + np.sign(tail - 0.5) * np.hypot(t * (scale - 1), ndtri(tail)))


# The average over S, where t is not so large that the normal tail becomes a step ------------------------------------


def _over_deviations(t: Floats, noncentrality: Floats, deviations: Floats, weights: Floats) -> Floats:
    """Row by row, and summed in an order that does not depend on how many rows there are."""
    from scipy.special import ndtr

    at_once = max(1, LARGEST_TABLE // len(weights))
    parts = (slice(first, first + at_once) for first in range(0, len(t), at_once))
    tails = (ndtr(noncentrality[part, None] - t[part, None] * deviations) for part in parts)
    return np.concatenate([np.einsum("ij,j->i", each, weights) for each in tails])


def _steps(t: Floats, freedom: Floats | np.float64, noncentrality: Floats, precision: Precision) -> Floats:
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
    from scipy.special import gammainc, gammaincc, ndtr

    centre = noncentrality if t > 0 else -noncentrality
    w, weights = _positive_normal(centre, freedom)
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
