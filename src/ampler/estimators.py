"""Differences between algorithms on one instance, with their standard errors. Pure.

`estimate` is the public door. `Comparison` is the arithmetic below it, for allocation rules and analyses: arrays whose
last axis is the algorithms, leading axes are independent instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ampler.model import Difference

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Formula = Literal["delta", "paper"]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Which pairs of algorithms are compared, and how their difference is measured.

    With `theta` the statistic of each algorithm, `v` the squared standard error of each and `spread` the variance of
    one run (v = spread/n), every squared standard error is linear in v. Make one with `comparison`.
    """

    size: int
    difference: Difference
    reference: int | None
    formula: Formula
    first: Places
    second: Places

    def differences(self, theta: Floats) -> Floats:
        """Return φ of each pair (Campelo & Wanner 2019, eqs. sdme, pdme-1, pdme-4; log-ratio is ours)."""
        one, other = self._pairs(theta)
        if self.difference == "simple":
            return one - other
        if self.difference == "log-ratio":
            return np.log(one) - np.log(other)
        if self.reference is not None:
            return (one - other) / one
        return (one - other) * (self.size / _total(theta))

    def squared_errors(self, theta: Floats, v: Floats) -> Floats:
        """Return the squared standard error of each pair's difference."""
        if self.difference == "simple":
            one, other = self._pairs(v)  # eq. sdme_dist2
            return one + other
        if self.difference == "log-ratio":
            one, other = self._pairs(v / (theta * theta))
            return one + other
        if self.reference is not None:
            one, other = self._pairs(v / (theta * theta))  # eq. pdme_se1
            ratio = theta.take(self.second, axis=-1) / theta.take(self.first, axis=-1)
            return ratio * ratio * (one + other)
        return self._to_grand_mean(theta, v)

    def best_ratios(self, theta: Floats, spread: Floats) -> Floats:
        """Return the ratio of runs n_i/n_j that serves each pair best; 0/0 is NaN, as nothing is to be gained."""
        weight = np.sqrt(spread)  # eqs. optratioe-sdm and pdm-ropt2
        if self.difference == "log-ratio" or (self.difference == "percent" and self.reference is not None):
            weight = weight / theta  # eq. pdm-ropt
        one, other = self._pairs(weight)
        if self.difference == "percent" and self.reference is None and self.formula == "delta":
            share = self.differences(theta) / self.size
            one, other = one * np.abs(1.0 - share), other * np.abs(1.0 + share)
        with np.errstate(divide="ignore", invalid="ignore"):
            return one / other

    def _to_grand_mean(self, theta: Floats, v: Floats) -> Floats:
        """Percent of the grand mean: share = φ/A is the weight of every algorithm in the normaliser.

        delta: (1−share)²·v_i + (1+share)²·v_j + share²·Σ_{k≠i,j} v_k, all over m², written with one sum over all k.
        paper: v_i + v_j + share²·Σ_k v_k, all over m² (eq. pdme_se2), which leaves out a covariance.
        """
        total = _total(theta)
        scaled = v * (self.size / total) ** 2
        one, other = self._pairs(theta)
        share = (one - other) / total
        one, other = self._pairs(scaled)
        if self.formula == "paper":
            return one + other + share * share * _total(scaled)
        # As share nears ±1 the terms cancel; rounding must not leave a negative square.
        return np.maximum(one + other + share * (share * _total(scaled) - 2.0 * (one - other)), 0.0)

    def _pairs(self, values: Floats) -> tuple[Floats, Floats]:
        return values.take(self.first, axis=-1), values.take(self.second, axis=-1)


@lru_cache(maxsize=256)
def comparison(
    size: int, *, difference: Difference, reference: int | None = None, formula: Formula = "delta"
) -> Comparison:
    """Return the comparison of `size` algorithms: all with the reference (a place), or all with all.

    >>> comparison(3, difference="simple").differences(np.array([5.0, 3.0, 4.0])).tolist()
    [2.0, 1.0, -1.0]
    """
    if reference is None:
        first, second = np.triu_indices(size, 1)
    else:
        second = np.delete(np.arange(size), reference)
        first = np.full_like(second, reference)
    return Comparison(size, difference, reference, formula, first, second)


def _total(values: Floats) -> Floats:
    return np.add.reduce(values, axis=-1, keepdims=True)
