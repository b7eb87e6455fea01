"""Cost of each target se, from a pilot: variances, required power, and the cheapest choice. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log10, nan
from typing import get_args

import numpy as np

from ampler.analysis.blocks import Blocks, check_positive
from ampler.core.arrays import Floats, Interval
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Settings, Target, TargetWord, Test, choice, integer, positive
from ampler.core.text import amount, digits, parameter
from ampler.design.powers import LARGEST_EFFECT, MOST_INSTANCES, smallest, target_divisor
from ampler.sampling.allocation import Pairs, optimal_counts, pairs_of
from ampler.stats.contrasts import Contrasts
from ampler.stats.holm import holm_levels
from ampler.stats.power import instances_for, paired_power
from ampler.stats.shape import tail_factors
from ampler.stats.variance_bounds import effective_degrees, moderated

DETECT_HALVINGS = 12  # of the interval in which the detectable difference lies: three digits


@dataclass(frozen=True, slots=True)
class PowerGoal:
    """Smallest difference of interest in every comparison, with the power and the tests of the settings.

    Pairs whose differences vary differently have different effects. The largest effect has the smallest p-value, so
    it is held against the strictest level; with equal effects this is the convention of `ampler.design`.
    """

    settings: Settings
    detect: float
    target: Target = "mean"
    available: int | None = None  # instances
    unit: float = 1.0  # unit of `detect`, for error messages

    def __post_init__(self) -> None:
        positive("detect", self.detect)
        if self.available is not None:
            integer("available", self.available, 2)
        power, alpha = self.settings.power, self.settings.alpha
        if power <= alpha:
            raise InvalidDesign(f"power must be larger than alpha, got {power!r} and {alpha!r}")
        if not (isinstance(self.target, int) and self.target > 0):
            choice("target", self.target, get_args(TargetWord), "or say in how many comparisons")

    def instances(self, variances: Floats, guess: int = 2) -> int:
        """Return the fewest instances that reach the power when the pairs' differences have these variances."""
        effects, power = self._effects(variances), self.settings.power
        needed = smallest(lambda n: self._reached(n, effects, "t"), power, guess=guess, least=2, most=MOST_INSTANCES)
        if needed is None:
            raise InvalidDesign(
                f"no reachable number of instances finds a difference of {self._amount(self.detect)}: so much do the"
                " pilot's differences vary; ask for a larger difference or another target"
            )
        return instances_for(needed, self.settings.test)

    def reached(self, instances: int, variances: Floats) -> float:
        """Return the power that this many instances reach."""
        return self._reached(instances, self._effects(variances), self.settings.test)

    def check_possible(self, between: Floats) -> int:
        """Return the instances needed without run noise; InvalidDesign when fewer are available."""
        if isinstance(self.target, int) and self.target > len(between):
            raise InvalidDesign(f"target must be at most {len(between)}, the number of comparisons, got {self.target}")
        fewest = self.instances(between)
        if self.available is None or fewest <= self.available:
            return fewest
        low, high = self.detect, self.detect
        while replace(self, detect=high, available=None).instances(between) > self.available:
            low, high = high, 2 * high
        for _ in range(DETECT_HALVINGS):
            middle = (low + high) / 2
            enough = replace(self, detect=middle, available=None).instances(between) <= self.available
            low, high = (low, middle) if enough else (middle, high)
        raise InvalidDesign(
            f"a difference of {self._amount(self.detect)} needs {fewest} instances even with exact runs;"
            f" {self.available} are available: use {self._amount(high)} or more"
            f" ({parameter('detect', digits(high * self.unit))}), or less power"
        )

    def _amount(self, difference: float) -> str:
        return amount(difference * self.unit, self.settings.difference)

    def _effects(self, variances: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.minimum(self.detect / np.sqrt(variances), LARGEST_EFFECT)

    def _reached(self, instances: int, effects: Floats, test: Test) -> float:
        K, side = len(effects), self.settings.alternative
        levels = holm_levels(K, self.settings.alpha)
        powers = paired_power(instances, np.sort(effects)[::-1], levels, test=test, alternative=side)
        if self.target == "mean":
            return float(powers.mean())
        return float(np.sort(powers)[-int(target_divisor(self.target, K))])  # so many comparisons must have the power


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """Variance components of the estimated differences of a pair over the pilot's instances.

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
        """Return a copy in another unit of the differences."""
        squares = {name: getattr(self, name) * unit * unit for name in ("total", "between", "within")}
        low, high = (end * unit * unit for end in self.between_interval)
        return replace(self, difference=self.difference * unit, **squares, between_interval=(low, high))


@dataclass(frozen=True, eq=False)
class Pilot:
    """Data of the pilot for the curve; instances in rows, algorithms (or pairs) in columns."""

    contrasts: Contrasts
    theta: Floats
    spread: Floats  # the variance of one run, estimated on each instance of the pilot
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
        """The standard error after `start` runs everywhere: a larger target changes nothing."""
        return float(self._pairs.largest_error(self._least).max())

    def counts(self, se: float) -> Floats:
        """Return the cheapest runs of each algorithm on each instance with standard errors of at most `se`."""
        return self._least if se >= self.top else optimal_counts(self._pairs, se, self._least, self.costs)

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
    """Split the variance of each pair's differences, and keep the data for the cost of a target se."""
    check_positive(blocks, contrasts)
    theta, variances = in_original_unit(blocks, contrasts)
    unit = np.ones_like(theta) if contrasts.difference == "simple" else theta**2
    rows = (variances / unit).T  # algorithms on the first axis: each borrows strength from its other instances
    kurtosis, degrees = (None if item is None else item.T for item in (blocks.kurtosis, blocks.degrees))
    spread = moderated(rows, effective_degrees(blocks.counts.T.astype(float), rows, kurtosis, degrees)).T
    # by the method of moments: the noise adds its mean square to the variance of the true differences
    phi, squared = blocks.differences(contrasts), blocks.errors(contrasts) ** 2
    low, high = variance_factors(len(phi))
    parts = []
    for i, j, own, noise in zip(contrasts.first, contrasts.second, phi.T, squared.T, strict=True):
        total, within = float(own.var(ddof=1)), float(noise.mean())
        between, *interval = (max(0.0, factor * total - within) for factor in (1.0, low, high))
        names = blocks.algorithms[i], blocks.algorithms[j]
        parts.append(VarianceParts(*names, float(own.mean()), total, between, within, (interval[0], interval[1])))
    return Pilot(contrasts, theta, unit * spread, tuple(parts), start, costs, instance_cost)


def in_original_unit(blocks: Blocks, contrasts: Contrasts) -> tuple[Floats, Floats]:
    """Return statistics and variances of one run in plain units; ratios know no unit, and keep theirs."""
    if contrasts.difference != "simple":
        return blocks.theta, blocks.variances
    exponents = blocks.exponents[:, None]
    return np.ldexp(blocks.theta, exponents), np.ldexp(blocks.variances, 2 * exponents)


def single_parts(blocks: Blocks, contrasts: Contrasts) -> tuple[VarianceParts, ...]:
    """Return the variation of the differences with one value per cell, whose share of noise is unknown."""
    names, phi = blocks.algorithms, blocks.differences(contrasts).T
    return tuple(
        VarianceParts(names[i], names[j], float(own.mean()), float(own.var(ddof=1)), nan, nan, (nan, nan))
        for i, j, own in zip(contrasts.first, contrasts.second, phi, strict=True)
    )


def variance_factors(instances: int) -> Interval:
    """Return the factors from a variance of n normal values to its 90 % interval.

    >>> [round(factor, 2) for factor in variance_factors(10)]
    [0.53, 2.71]
    """
    from scipy.special import chdtri

    freedom = instances - 1
    return freedom / float(chdtri(freedom, 0.05)), freedom / float(chdtri(freedom, 0.95))


STEP = 10 ** (1 / 16)  # factor between neighbouring targets of the curve
DECADES = 3  # the curve ends where a smaller se saves no instance, or here
FINER = 24  # targets tried between the neighbours of the best one
HALVINGS = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to reach the power: a target se, the required instances, and their cost."""

    se: float
    instances: int
    runs: float  # on one instance, all algorithms together, on average
    cost: float  # of everything, in units of one run (or of the costs given)
    power: float  # reached

    def times(self, unit: float) -> Choice:
        """Return a copy in another unit of the differences."""
        return replace(self, se=self.se * unit)


def cost_curve(pilot: Pilot, goal: PowerGoal) -> tuple[Choice, ...]:
    """Return choices by target se, from the smallest useful one up to that of `start` runs everywhere."""
    fewest = goal.check_possible(pilot.between)
    curve = [choice_at(pilot, goal, pilot.top)]
    for step in range(1, round(DECADES / log10(STEP)) + 1):
        if curve[-1].instances <= fewest or pilot.top == 0:
            break
        curve.append(choice_at(pilot, goal, pilot.top / STEP**step, guess=curve[-1].instances))
    return tuple(reversed(curve))


def cheapest_choice(pilot: Pilot, goal: PowerGoal, curve: Sequence[Choice]) -> Choice:
    """Return the cheapest choice: that of the curve, refined on a finer grid, with the largest sufficient se."""
    most = goal.available or MOST_INSTANCES
    best = _cheapest([choice for choice in curve if choice.instances <= most] or curve[:1])
    if best.se > 0:
        finer = np.geomspace(best.se / STEP, min(best.se * STEP, pilot.top), FINER)
        tried = [choice_at(pilot, goal, float(se), best.instances) for se in finer]
        best = _cheapest([best, *(choice for choice in tried if choice.instances <= most)])
    low, high = best.se, min(best.se * STEP, pilot.top)
    for _ in range(HALVINGS):  # the largest se with which the same instances still reach the power costs least
        middle = (low + high) / 2
        enough = goal.reached(best.instances, pilot.variances(pilot.counts(middle))) >= goal.settings.power
        low, high = (middle, high) if enough else (low, middle)
    return _cheapest([best, choice_at(pilot, goal, low, best.instances)])


def choice_at(pilot: Pilot, goal: PowerGoal, se: float, guess: int = 2) -> Choice:
    """Return the choice that reaches the power with this target se."""
    counts = pilot.counts(se)
    variances = pilot.variances(counts)
    instances = goal.instances(variances, guess)
    runs = float(counts.sum(axis=1).mean())
    return Choice(se, instances, runs, instances * pilot.cost(counts), goal.reached(instances, variances))


def _cheapest(choices: Iterable[Choice]) -> Choice:
    return min(choices, key=lambda choice: (choice.cost, choice.se))
