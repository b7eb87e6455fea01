"""Pairs of algorithms, the kind of their difference, and its standard error. Pure.

Arrays have the algorithms on their last axis; leading axes are independent instances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import get_args

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.errors import InvalidRule
from ampler.core.settings import Difference, Formula, canonical_difference

MOST_NOISE = 1.0  # upper limit of the squared relative standard error of positive values
DIFFERENCES, FORMULAS = get_args(Difference), get_args(Formula)


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """Pairs of algorithms, and the kind of their difference.

    With `theta` the statistic of each algorithm, `v` the squared standard error of each and `spread` the variance of
    one run (v = spread/n), every squared standard error is linear in v. `contrasts_among` makes one.
    """

    size: int
    difference: Difference
    reference: int | None
    formula: Formula
    first: Codes
    second: Codes

    def both(self, there: Bools) -> Bools:
        """Return which pairs are complete, given the available algorithms."""
        return np.asarray(there.take(self.first, axis=-1) & there.take(self.second, axis=-1))

    def among(self, there: Bools) -> Contrasts:
        """Return the contrasts of the available algorithms, which include the reference if there is one.

        >>> percent = contrasts_among(3, difference="percent")
        >>> percent.among(np.array([True, False, True])).differences(np.array([5.0, 3.0])).tolist()
        [0.5]
        """
        index = None if self.reference is None else int(there[: self.reference].sum())
        among = contrasts_among(int(there.sum()), difference=self.difference, reference=index, formula=self.formula)
        kept, places = self.both(there), np.cumsum(there) - 1
        if kept.sum() == len(among.first):
            return among
        return replace(among, first=places[self.first[kept]], second=places[self.second[kept]])

    def involving(self, algorithms: Bools) -> Contrasts:
        """Return the contrasts whose pairs have at least one of these algorithms."""
        some = algorithms[self.first] | algorithms[self.second]
        return replace(self, first=self.first[some], second=self.second[some])

    def differences(self, theta: Floats) -> Floats:
        """Return φ of each pair (Campelo & Wanner 2019, eqs. 15, 23 and 31; ratio is ours)."""
        one, other = self._pairs(theta)
        if self.difference == "simple":
            return one - other
        if self.difference == "ratio":
            return np.log(one) - np.log(other)
        if self.reference is not None:
            return (one - other) / one
        return (one - other) * (self.size / _total(theta))

    def squared_errors(self, theta: Floats, v: Floats) -> Floats:
        """Return the squared standard error of each pair's difference."""
        if self.difference in ("simple", "ratio"):  # Campelo & Wanner (2019), eq. 17
            one, other = self._pairs(v if self.difference == "simple" else v / (theta * theta))
            return one + other
        if self.reference is not None:
            one, other = self._pairs(v)  # Campelo & Wanner (2019), eq. 24
            reference, rival = self._pairs(theta)
            ratio = rival / reference
            return (one * (ratio * ratio) + other) / (reference * reference)
        return self._to_grand_mean(theta, v)

    def gradient(self, theta: Floats) -> Floats:
        """Return ∂φ/∂θ at one instance: algorithms in rows, pairs in columns.

        >>> contrasts_among(2, difference="percent", reference=0).gradient(np.array([2.0, 1.0])).ravel().tolist()
        [0.25, -0.5]
        """
        one, other = self._pairs(theta)
        pairs = np.arange(len(self.first))
        slopes = np.zeros((self.size, len(self.first)))
        up, down = np.ones_like(one), np.ones_like(other)
        if self.difference == "ratio":
            up, down = 1 / one, 1 / other
        elif self.difference == "percent" and self.reference is not None:
            up, down = other / (one * one), 1 / one
        elif self.difference == "percent":
            share = self.size / _total(theta)
            slopes[:] = -(one - other) * (share * share / self.size)
            up, down = up * share, down * share
        slopes[self.first, pairs] += up
        slopes[self.second, pairs] -= down
        return slopes

    def corrects(self, *, unbiased: bool) -> bool:
        """State whether the run noise of ratios is corrected for, and of logarithms, if the statistics are unbiased.

        The logarithm of a median is the median of the logarithms: it is left alone.
        """
        is_noisy = self.difference == "percent" or (self.difference == "ratio" and unbiased)
        return self.formula == "corrected" and is_noisy

    def corrected(self, theta: Floats, v: Floats, shared: Floats | None = None) -> tuple[Floats, Floats]:
        """Return statistics whose differences have no bias to second order, and the factors of their variances.

        With u = v/θ² the logarithm of a mean is too small by u/2 on average, and one over a mean too large by u. The
        next terms, and those of the variances, are those of gamma distributed runs. Numerators are corrected for their
        covariance with the denominator (Beale 1962): `shared`, where runs are paired. A variance that is not known
        corrects nothing.

        >>> ratio = contrasts_among(2, difference="ratio", formula="corrected")
        >>> ratio.corrected(np.array([1.0, 1.0]), np.array([0.1, 0.0]))[0].round(4).tolist()
        [1.0574, 1.0]
        """
        with np.errstate(over="ignore"):
            u = np.minimum(np.nan_to_num(v, nan=0.0) / (theta * theta), MOST_NOISE)
        if self.difference == "ratio":
            lift = np.exp(u / 2 + u * u * (7 / 12))
            return theta * lift, lift * lift * (1.0 + 1.5 * u)
        inside = np.arange(self.size) == self.reference if self.reference is not None else np.ones(self.size, bool)
        denominator = _total(theta) if self.reference is None else theta[..., self.reference, None]
        shared = np.where(inside, u * theta * theta, 0.0) if shared is None else np.nan_to_num(shared)
        c = np.clip(shared / (theta * denominator), -MOST_NOISE / 2, MOST_NOISE)
        weight = 1 / self.size if self.reference is None else 1.0
        lift = 1.0 + c * (1.0 + c * (4.0 - 2.0 * weight + 4.0 * c))
        return theta * lift, lift * lift * (1.0 + np.where(inside, 3.0 * weight * u, 0.0))

    def curvature(self, theta: Floats, v: Floats) -> Floats:
        """Return the bias of the estimated differences, to second order.

        Where statistics are divided by each other, an estimate without bias makes a ratio with one: ½·Σ ∂²φ/∂θ_k²·v_k.
        """
        if self.difference == "simple":
            return np.zeros((*theta.shape[:-1], len(self.first)))
        one, other = self._pairs(theta)
        if self.difference == "ratio":
            own, its = self._pairs(v / (theta * theta))
            return (its - own) / 2
        own, its = self._pairs(v)
        if self.reference is not None:
            return -other * own / one**3
        total = _total(theta)
        return ((one - other) * (_total(v) / total) - (own - its)) * (self.size / (total * total))

    def best_ratios(self, theta: Floats, spread: Floats) -> Floats:
        """Return the optimal ratio of runs n_i/n_j of each pair; 0/0 is NaN."""
        weight = np.sqrt(spread)  # Campelo & Wanner (2019), eqs. 20 and 37
        if self.difference == "ratio" or (self.difference == "percent" and self.reference is not None):
            weight = weight / theta  # Campelo & Wanner (2019), eq. 29
        one, other = self._pairs(weight)
        if self.difference == "percent" and self.reference is None and self.formula != "paper":
            share = self.differences(theta) / self.size
            one, other = one * np.abs(1.0 - share), other * np.abs(1.0 + share)
        with np.errstate(divide="ignore", invalid="ignore"):
            return one / other

    def _to_grand_mean(self, theta: Floats, v: Floats) -> Floats:
        """Percent of the grand mean: share = φ/A is the weight of every algorithm in the normaliser.

        delta: (1−share)²·v_i + (1+share)²·v_j + share²·Σ_{k≠i,j} v_k, all over m², written with one sum over all k.
        paper: v_i + v_j + share²·Σ_k v_k, all over m² (eq. 34), which leaves out a covariance.
        """
        total = _total(theta)
        twice, other = self._pairs(theta * (2.0 / total))
        twice -= other  # 2·share: with the factor 2 of the mixed term
        scaled = v * (self.size / total) ** 2
        quarter = 0.25 * _total(scaled)
        one, other = self._pairs(scaled)
        squares = one + other
        if self.formula == "paper":
            return squares + twice * twice * quarter
        one -= other
        squares += twice * (twice * quarter - one)
        return np.abs(squares, out=squares)  # as share nears ±1 the terms cancel: rounding must not leave a negative

    def _pairs(self, values: Floats) -> tuple[Floats, Floats]:
        """The values of the first and of the second algorithm of each pair."""
        if values.ndim == 1:  # the most frequent case, for which plain indexing is fastest
            return values[self.first], values[self.second]
        return values.take(self.first, axis=-1), values.take(self.second, axis=-1)


@lru_cache(maxsize=256)
def contrasts_among(
    size: int, *, difference: Difference, reference: int | None = None, formula: Formula = "delta"
) -> Contrasts:
    """Return the contrasts of `size` algorithms: all with the reference (a place), or all with all.

    >>> contrasts_among(3, difference="simple").differences(np.array([5.0, 3.0, 4.0])).tolist()
    [2.0, 1.0, -1.0]
    """
    if reference is None:
        first, second = np.triu_indices(size, 1)
    else:
        second = np.delete(np.arange(size), reference)
        first = np.full_like(second, reference)
    return Contrasts(size, difference, reference, formula, first, second)


def contrasts_of(
    algorithms: tuple[str, ...], *, difference: Difference, reference: str | None, formula: Formula
) -> Contrasts:
    """Return the contrasts for these settings; raise an error that names an invalid one."""
    difference = canonical_difference(difference)
    if difference not in DIFFERENCES:
        raise InvalidRule(f'difference must be "simple", "percent" or "ratio", got {difference!r}')
    if formula not in FORMULAS:
        raise InvalidRule(f'formula must be "corrected", "delta" or "paper", got {formula!r}')
    if reference is not None and reference not in algorithms:
        raise InvalidRule(
            f"the reference must be one of the algorithms {', '.join(map(repr, algorithms))}, got {reference!r}"
        )
    index = None if reference is None else algorithms.index(reference)
    return contrasts_among(len(algorithms), difference=difference, reference=index, formula=formula)


def _total(values: Floats) -> Floats | float:
    """The sum over the algorithms, shaped to divide by; a plain number is the quicker divisor."""
    return float(np.add.reduce(values)) if values.ndim == 1 else np.add.reduce(values, axis=-1, keepdims=True)
