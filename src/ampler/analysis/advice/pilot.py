"""What a pilot tells: how much the differences vary between instances, and how noisy the runs are on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan

import numpy as np

from ampler.analysis.blocks import Blocks, check_positive
from ampler.core.arrays import Floats, Interval
from ampler.sampling.optimum import optimal_counts
from ampler.sampling.pair_errors import Pairs, pairs_of
from ampler.stats.contrasts import Contrasts
from ampler.stats.guard import effective_degrees
from ampler.stats.shape import tail_factors
from ampler.stats.variance_prior import moderated


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """Why the estimated differences of a pair vary over the pilot's instances.

    total = between + within: how much the pair really differs from instance to instance, and the noise of the runs.
    """

    first: str
    second: str
    difference: float  # mean over the instances
    total: float
    between: float  # total - within, 0 where the noise explains everything
    within: float  # the mean squared standard error
    between_interval: Interval  # 90 %, for normal differences

    @property
    def noise_share(self) -> float:
        """The share of the runs' noise in the variance, at the pilot's number of runs."""
        return self.within / self.total if self.total > 0 else 0.0

    def times(self, unit: float) -> VarianceParts:
        """The same in other units of the differences."""
        low, high = self.between_interval
        return replace(
            self,
            difference=self.difference * unit,
            total=self.total * unit * unit,
            between=self.between * unit * unit,
            within=self.within * unit * unit,
            between_interval=(low * unit * unit, high * unit * unit),
        )


@dataclass(frozen=True, eq=False)
class Pilot:
    """The pilot as the curve needs it; instances in rows, algorithms (or pairs) in columns."""

    contrasts: Contrasts
    theta: Floats
    spread: Floats  # the variance of one run, as far as the pilot can tell it on each instance
    parts: tuple[VarianceParts, ...]
    start: int
    costs: Floats  # of one run of each algorithm
    instance_cost: float = 0.0  # of having an instance at all

    @cached_property
    def between(self) -> Floats:
        """The variance between instances of each pair, larger where few instances carry it."""
        return self.between_with(1.0)

    def between_with(self, factor: float) -> Floats:
        """Return the same if all variances of the differences were larger by a factor."""
        total, within = (np.array([getattr(part, name) for part in self.parts]) for name in ("total", "within"))
        return np.asarray(np.maximum(0.0, factor * total * tail_factors(self.differences) - within))

    @cached_property
    def differences(self) -> Floats:
        """The estimated differences, instances in rows and pairs in columns."""
        return self.contrasts.differences(self.theta)

    @cached_property
    def top(self) -> float:
        """The accuracy that `start` runs give everywhere: asking for less changes nothing."""
        return float(self._pairs.largest_error(self._least).max())

    def counts(self, se: float) -> Floats:
        """Return the runs of each algorithm on each instance that make every pair exact to `se` at the least cost."""
        if se >= self.top:
            return self._least
        return optimal_counts(self._pairs, se, self._least, self.costs)

    def variances(self, counts: Floats) -> Floats:
        """Return the variance of the estimated differences over instances, with these runs."""
        noise: Floats = self.contrasts.squared_errors(self.theta, self.spread / counts).mean(axis=0)
        return self.between + noise

    def cost(self, counts: Floats) -> float:
        """Return the cost of one instance, on average."""
        return self.instance_cost + float((counts @ self.costs).mean())

    @cached_property
    def _pairs(self) -> Pairs:
        return pairs_of(self.contrasts, self.spread, self.theta)

    @cached_property
    def _least(self) -> Floats:
        return np.full(self.theta.shape, float(self.start))


def pilot_of(blocks: Blocks, contrasts: Contrasts, *, start: int, costs: Floats, instance_cost: float = 0.0) -> Pilot:
    """Split the variance of each pair's differences, and keep what tells the cost of an accuracy."""
    check_positive(blocks, contrasts)
    theta, variances = in_plain_unit(blocks, contrasts)
    unit = np.ones_like(theta) if contrasts.difference == "simple" else theta**2
    spread = unit * _moderated(variances / unit, blocks)
    return Pilot(contrasts, theta, spread, _parts(blocks, contrasts), start, costs, instance_cost)


def in_plain_unit(blocks: Blocks, contrasts: Contrasts) -> tuple[Floats, Floats]:
    """Return statistics and variances of one run in plain units; ratios know no unit, and keep theirs."""
    if contrasts.difference != "simple":
        return blocks.theta, blocks.variances
    exponents = blocks.exponents[:, None]
    return np.ldexp(blocks.theta, exponents), np.ldexp(blocks.variances, 2 * exponents)


def single_parts(blocks: Blocks, contrasts: Contrasts) -> tuple[VarianceParts, ...]:
    """Return how much the differences vary where each cell has one value: how much of it is noise is not known."""
    columns = zip(contrasts.first, contrasts.second, blocks.differences(contrasts).T, strict=True)
    unknown = (nan, nan)
    return tuple(
        VarianceParts(
            blocks.algorithms[i], blocks.algorithms[j], float(own.mean()), float(own.var(ddof=1)), nan, nan, unknown
        )
        for i, j, own in columns
    )


def _moderated(variances: Floats, blocks: Blocks) -> Floats:
    """Variances of one run that borrow strength from the other instances, algorithm by algorithm."""
    rows = variances.T  # algorithms first: each has a prior of its own
    kurtosis, degrees = (None if each is None else each.T for each in (blocks.kurtosis, blocks.degrees))
    return moderated(rows, effective_degrees(blocks.counts.T.astype(float), rows, kurtosis, degrees)).T


def variance_factors(instances: int) -> Interval:
    """Return what to multiply a variance from so many normal values with for its 90 % interval.

    >>> [round(factor, 2) for factor in variance_factors(10)]
    [0.53, 2.71]
    """
    from scipy.special import chdtri

    freedom = instances - 1
    return freedom / float(chdtri(freedom, 0.05)), freedom / float(chdtri(freedom, 0.95))


def _parts(blocks: Blocks, contrasts: Contrasts) -> tuple[VarianceParts, ...]:
    phi, squared = blocks.differences(contrasts), blocks.errors(contrasts) ** 2
    columns = zip(contrasts.first, contrasts.second, phi.T, squared.T, strict=True)
    return tuple(_part(blocks.algorithms, int(i), int(j), own, noise) for i, j, own, noise in columns)


def _part(algorithms: Sequence[str], first: int, second: int, phi: Floats, squared_errors: Floats) -> VarianceParts:
    """Method of moments: the noise adds its mean square to the variance of the true differences."""
    total, within = float(phi.var(ddof=1)), float(squared_errors.mean())
    low, high = variance_factors(len(phi))
    return VarianceParts(
        algorithms[first],
        algorithms[second],
        difference=float(phi.mean()),
        total=total,
        between=max(0.0, total - within),
        within=within,
        between_interval=(max(0.0, low * total - within), max(0.0, high * total - within)),
    )
