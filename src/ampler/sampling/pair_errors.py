"""How exactly each pair of interest is known, given the runs of each algorithm. Pure.

Every squared standard error of interest is linear in v_k = s_k²/n_k. There are three shapes of that: pairs that share a
reference, all pairs of separate noises, and all pairs divided by the grand mean. Arrays have the algorithms on their
last axis; leading axes are independent problems.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.choices import Formula
from ampler.stats.contrasts import Contrasts


class WorstPair(NamedTuple):
    """The pair that is known least, and which of its two algorithms Algorithm 1 would run next."""

    error: Any  # arrays, or plain numbers where there is one problem
    first: Any
    second: Any
    choice: Any


class ReferencePairs(NamedTuple):
    """Pairs (reference, j): se² = shared_j/n_reference + own_j/n_j. Both are 0 at the reference itself.

    The best ratio of runs for a pair is that of the relative deviations, √variances/units; units are 1 if None.
    """

    reference: int
    shared: Floats
    own: Floats
    variances: Floats
    units: Floats | None = None

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        return np.asarray(np.sqrt(self._squared(counts).max(axis=-1)))

    def worst(self, counts: Floats) -> WorstPair:
        """Return the worst pair, the first among equals."""
        squared = self._squared(counts)
        second = squared.argmax(axis=-1)
        first = np.intp(self.reference) if counts.ndim == 1 else np.full_like(second, self.reference)
        roots = _root(self, first), _root(self, second)
        return _worst(_at(squared, second), first, second, counts, *roots)

    def _squared(self, counts: Floats) -> Floats:
        return self.shared / counts[..., self.reference : self.reference + 1] + self.own / counts


class AllPairs(NamedTuple):
    """Pairs (i, j), i < j: se² = noise_i/n_i + noise_j/n_j. The best ratio of runs is as with a reference."""

    noise: Floats
    variances: Floats
    units: Floats | None = None

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        single = np.partition(self.noise / counts, -2, axis=-1)
        return np.sqrt(single[..., -1] + single[..., -2])

    def worst(self, counts: Floats) -> WorstPair:
        """Return the worst pair, the first among equals: the two algorithms that are known least."""
        single = self.noise / counts
        one = single.argmax(axis=-1)
        rest = np.where(np.arange(single.shape[-1]) == np.asarray(one)[..., None], -1.0, single)
        other = rest.argmax(axis=-1)
        first, second = _ordered(one, other)
        squared = _at(single, first) + _at(single, second)
        return _worst(squared, first, second, counts, _root(self, first), _root(self, second))


class GrandMeanPairs(NamedTuple):
    """Pairs (i, j), i < j, in units of the grand mean, with share = φ_ij/A = shares_i − shares_j and v = noise/n.

    delta: se² = (1−share)²·v_i + (1+share)²·v_j + share²·Σ_{k≠i,j} v_k; paper: se² = v_i + v_j + share²·Σ_k v_k.
    `weights` and `squared_shares` are what multiplies v_i and Σ v in the pair (i, j), kept where there is one problem.
    """

    noise: Floats
    shares: Floats
    formula: Formula
    weights: Floats | None = None
    squared_shares: Floats | None = None

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        squared = self.squared_errors(counts)
        return np.asarray(np.sqrt(squared.max() if squared.ndim == 2 else squared.max(axis=(-2, -1))))

    def worst(self, counts: Floats) -> WorstPair:
        """Return the worst pair, the first among equals."""
        squared = self.squared_errors(counts)
        flat = squared.reshape(*squared.shape[:-2], -1)
        place = flat.argmax(axis=-1)
        first, second = _ordered(*divmod(place, squared.shape[-1]))
        share = _at(self.shares, first) - _at(self.shares, second) if self.formula != "paper" else 0.0
        root_first = np.sqrt(_at(self.noise, first)) * abs(1 - share)
        root_second = np.sqrt(_at(self.noise, second)) * abs(1 + share)
        return _worst(_at(flat, place), first, second, counts, root_first, root_second)

    def squared_errors(self, counts: Floats) -> Floats:
        """Return the squared standard errors of all pairs as a symmetric matrix, 0 where there is no pair."""
        v = self.noise / counts
        if self.weights is None or self.squared_shares is None or v.ndim > 1:
            return _thin_products(v, self.shares, tilted=self.formula != "paper")
        one_sided: Floats = v[:, None] * self.weights
        squared = one_sided + one_sided.T
        squared += self.squared_shares * np.add.reduce(v)
        return np.maximum(squared, 0.0, out=squared)  # as a share nears ±1 the terms cancel: no negative square


def _thin_products(v: Floats, g: Floats, *, tilted: bool) -> Floats:
    """The squared errors of all pairs of many problems: multiplied out, sums of products f(i)·g(j) of thin matrices."""
    total = np.add.reduce(v, axis=-1, keepdims=True)
    left, right = np.empty((2, *v.shape[:-1], 4, v.shape[-1]))
    left[..., 0, :] = right[..., 1, :] = (v * (1 - 2.0 * g) if tilted else v) + g * g * total
    left[..., 1, :] = right[..., 0, :] = 1.0
    left[..., 2, :] = 2.0 * g if tilted else 0.0
    left[..., 3, :] = 2.0 * v - 2.0 * total * g if tilted else -2.0 * total * g
    right[..., 2, :], right[..., 3, :] = v, g
    squared: Floats = left.swapaxes(-1, -2) @ right
    squared.reshape(*v.shape[:-1], -1)[..., :: v.shape[-1] + 1] = 0.0
    return np.maximum(squared, 0.0, out=squared)  # as a share nears ±1 the terms cancel: no negative square


Pairs = ReferencePairs | AllPairs | GrandMeanPairs


def pairs_of(contrasts: Contrasts, variances: Floats, statistics: Floats) -> Pairs:
    """Say how the errors of the compared pairs depend on the runs; `variances` are those of one run.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> pairs = pairs_of(contrasts_among(3, difference="simple"), np.array([4.0, 5.0, 0.0]), np.zeros(3))
    >>> pairs.largest_error(np.array([1.0, 1.0, 1.0])).item()
    3.0
    """
    if contrasts.difference == "percent" and contrasts.reference is None:
        return _grand_mean_pairs(contrasts.formula, variances, statistics)
    units = None if contrasts.difference == "simple" else statistics
    noise = variances if units is None else variances / (units * units)
    if contrasts.reference is None:
        return AllPairs(noise, variances, units)
    reference = contrasts.reference
    shared, own = _shared_and_own(noise, reference, units if contrasts.difference == "percent" else None)
    shared[..., reference] = own[..., reference] = 0.0
    return ReferencePairs(reference, shared, own, variances, units)


def _shared_and_own(noise: Floats, reference: int, statistics: Floats | None) -> tuple[Floats, Floats]:
    """The reference's part of each pair's noise, and the other's."""
    its = slice(reference, reference + 1)
    if statistics is None:
        return np.zeros_like(noise) + noise[..., its], noise.copy()
    ratio = statistics / statistics[..., its]  # Campelo & Wanner (2019), eq. 24: relative errors, scaled by θj/θ1
    ratio *= ratio
    return ratio * noise[..., its], ratio * noise


def _grand_mean_pairs(formula: Formula, variances: Floats, statistics: Floats) -> GrandMeanPairs:
    size = statistics.shape[-1]
    mean = np.add.reduce(statistics, axis=-1, keepdims=True) / size
    noise, shares = variances / (mean * mean), statistics / (mean * size)
    if noise.ndim > 1:
        return GrandMeanPairs(noise, shares, formula)
    share = shares[:, None] - shares
    weights = 1.0 - 2.0 * share if formula != "paper" else np.ones((size, size))
    weights.flat[:: size + 1] = 0.0  # nothing is a pair with itself
    return GrandMeanPairs(noise, shares, formula, weights, share * share)


def _root(pairs: ReferencePairs | AllPairs, index: Any) -> Any:
    """The deviation of one run, in units, of one algorithm per problem."""
    variance = _at(pairs.variances, index)
    root = math.sqrt(variance) if type(variance) is float else np.sqrt(variance)
    return root if pairs.units is None else root / _at(pairs.units, index)


def _worst(squared: Any, first: Any, second: Any, counts: Floats, root_first: Any, root_second: Any) -> WorstPair:
    ratio = _at(counts, first) / _at(counts, second)
    if counts.ndim == 1:
        short = ratio <= root_first / root_second if root_second > 0.0 else root_first > 0.0
        return WorstPair(np.float64(math.sqrt(squared)), first, second, first if short else second)
    with np.errstate(divide="ignore", invalid="ignore"):  # an algorithm without noise needs no run: the ratio is ∞
        short = ratio <= root_first / root_second
    return WorstPair(np.sqrt(squared), first, second, np.where(short, first, second))


def _ordered(one: Any, other: Any) -> tuple[Any, Any]:
    """Of two algorithms per problem the earlier and the later one."""
    if one.ndim == 0:
        return (one, other) if one < other else (other, one)
    return np.minimum(one, other), np.maximum(one, other)


def _at(values: Floats, index: Any) -> Any:
    """Pick one algorithm, or pair, per problem; of a single problem as a plain number, with which to go on quickly."""
    if values.ndim == 1:
        return values.item(index) if index.ndim == 0 else values[index]
    return np.asarray(np.take_along_axis(values, index[..., None], axis=-1)[..., 0])
