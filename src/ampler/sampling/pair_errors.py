"""How exactly each pair of interest is known, given the runs of each algorithm. Pure.

Every squared standard error of interest is linear in v_k = s_k²/n_k. There are three shapes of that: pairs that share a
reference, all pairs of separate noises, and all pairs divided by the grand mean. Arrays have the algorithms on their
last axis; leading axes are independent problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ampler.core.arrays import Codes, Floats
from ampler.core.choices import Formula
from ampler.stats.contrasts import Contrasts


@dataclass(frozen=True, slots=True, eq=False)
class WorstPair:
    """The pair that is known least, and which of its two algorithms Algorithm 1 would run next."""

    error: Floats
    first: Codes
    second: Codes
    choice: Codes


@dataclass(frozen=True, slots=True, eq=False)
class ReferencePairs:
    """Pairs (reference, j): se² = shared_j/n_reference + own_j/n_j. Both are 0 at the reference itself."""

    reference: int
    shared: Floats
    own: Floats
    roots: Floats  # best ratio of runs for a pair = roots_i/roots_j

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        return np.asarray(np.sqrt(self._squared(counts).max(axis=-1)))

    def worst(self, counts: Floats) -> WorstPair:
        """Return the worst pair, the first among equals."""
        squared = self._squared(counts)
        second = squared.argmax(axis=-1)
        first = np.full_like(second, self.reference)
        return _worst(_at(squared, second), first, second, counts, _at(self.roots, first), _at(self.roots, second))

    def _squared(self, counts: Floats) -> Floats:
        return self.shared / counts[..., self.reference, None] + self.own / counts


@dataclass(frozen=True, slots=True, eq=False)
class AllPairs:
    """Pairs (i, j), i < j: se² = noise_i/n_i + noise_j/n_j."""

    noise: Floats
    roots: Floats

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
        first, second = np.minimum(one, other), np.maximum(one, other)
        squared = _at(single, first) + _at(single, second)
        return _worst(squared, first, second, counts, _at(self.roots, first), _at(self.roots, second))


@dataclass(frozen=True, slots=True, eq=False)
class GrandMeanPairs:
    """Pairs (i, j), i < j, in units of the grand mean, with share = φ_ij/A = shares_i − shares_j and v = noise/n.

    delta: se² = (1−share)²·v_i + (1+share)²·v_j + share²·Σ_{k≠i,j} v_k; paper: se² = v_i + v_j + share²·Σ_k v_k.
    """

    noise: Floats
    shares: Floats
    formula: Formula

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        return np.asarray(np.sqrt(self.squared_errors(counts).max(axis=(-2, -1))))

    def worst(self, counts: Floats) -> WorstPair:
        """Return the worst pair, the first among equals."""
        squared = self.squared_errors(counts)
        flat = squared.reshape(*squared.shape[:-2], -1)
        place = flat.argmax(axis=-1)
        one, other = np.divmod(place, squared.shape[-1])
        first, second = np.minimum(one, other), np.maximum(one, other)
        share = _at(self.shares, first) - _at(self.shares, second) if self.formula == "delta" else 0.0
        roots = np.sqrt(self.noise)
        root_first, root_second = _at(roots, first) * np.abs(1 - share), _at(roots, second) * np.abs(1 + share)
        return _worst(_at(flat, place), first, second, counts, root_first, root_second)

    def squared_errors(self, counts: Floats) -> Floats:
        """Return the squared standard errors of all pairs as a symmetric matrix, 0 where there is no pair."""
        v, g = self.noise / counts, self.shares
        total = v.sum(axis=-1, keepdims=True)
        tilt = 0.0 if self.formula == "paper" else 2.0
        own = v * (1 - tilt * g) + g * g * total
        # Multiplied out, se² is a sum of products f(i)·g(j): one product of thin matrices.
        left, right = np.ones((*v.shape, 4)), np.ones((*v.shape[:-1], 4, v.shape[-1]))
        left[..., 0], left[..., 2], left[..., 3] = own, tilt * g, tilt * v - 2 * total * g
        right[..., 1, :], right[..., 2, :], right[..., 3, :] = own, v, g
        squared: Floats = left @ right
        diagonal = np.arange(v.shape[-1])
        squared[..., diagonal, diagonal] = 0.0
        return np.maximum(squared, 0.0)  # as a share nears ±1 the terms cancel: no negative square


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
    relative = contrasts.difference != "simple"
    roots = np.sqrt(variances) / statistics if relative else np.sqrt(variances)
    noise = variances / statistics**2 if relative else variances
    if contrasts.reference is None:
        return AllPairs(noise, roots)
    return _reference_pairs(contrasts, noise, roots, statistics)


def _reference_pairs(contrasts: Contrasts, noise: Floats, roots: Floats, statistics: Floats) -> ReferencePairs:
    reference = contrasts.reference
    assert reference is not None
    others = np.arange(noise.shape[-1]) != reference
    scale: Any = 1.0
    if contrasts.difference == "percent":  # Campelo & Wanner (2019), eq. 24: relative errors, scaled by θj/θ1
        scale = (statistics / statistics[..., reference, None]) ** 2
    shared = np.where(others, noise[..., reference, None] * scale, 0.0)
    return ReferencePairs(reference, shared, np.where(others, noise * scale, 0.0), roots)


def _grand_mean_pairs(formula: Formula, variances: Floats, statistics: Floats) -> GrandMeanPairs:
    mean = statistics.mean(axis=-1, keepdims=True)
    return GrandMeanPairs(variances / mean**2, statistics / (mean * statistics.shape[-1]), formula)


def _worst(
    squared: Floats, first: Codes, second: Codes, counts: Floats, root_first: Floats, root_second: Floats
) -> WorstPair:
    with np.errstate(divide="ignore", invalid="ignore"):  # an algorithm without noise needs no run: the ratio is ∞
        short = _at(counts, first) / _at(counts, second) <= root_first / root_second
    return WorstPair(np.sqrt(squared), first, second, np.where(short, first, second))


def _at(values: Floats, index: Codes) -> Floats:
    """Pick one algorithm, or pair, per problem."""
    if values.ndim == 1:
        return np.asarray(values[index])
    return np.asarray(np.take_along_axis(values, index[..., None], axis=-1)[..., 0])
