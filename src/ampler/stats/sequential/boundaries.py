"""From a spending function to the nominal level of each look: the recursion, and its normal theory. Pure.

A path goes on until a look at which its p-value meets the nominal level. The levels are found one look after the other,
so that the probability to stop at each look is what may be spent there. What a path is (normal scores, or Student's t)
is a `Walk`; the search for the levels is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, inf, log, pi, sqrt
from typing import Literal, NamedTuple, Protocol

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign
from ampler.stats.sequential.spending import Spending

Sides = Literal[1, 2]

NEWTON_STEPS = 60  # four are usual; the cap only bounds the time of a pathological case
STEP_DONE = 1e-7  # in the logarithm of a level: the next step would be its square
SMALLEST_SHARE = 1e-40  # a look that may spend less than this never stops
FAR = 1e-8  # paths rarer than this share of what any look may spend are not followed
NODES = 80  # 30 to 160 give the same boundaries to 3e-15 with five equal looks


class Paths(NamedTuple):
    """The paths still going on: where they are, and how much probability is there (density times quadrature weight)."""

    nodes: Floats
    weights: Floats


class Walk(Protocol):
    """A statistic followed over looks; `nominal` is the level of its ordinary test at a look."""

    def first(self, nominal: float) -> Paths:
        """Return the paths that go on after the first look."""

    def exit(self, paths: Paths, look: int, nominal: float) -> tuple[float, float]:
        """Return the probability to stop at this look, and which share of the paths at its limit were still going."""

    def carry(self, paths: Paths, look: int, nominal: float) -> Paths:
        """Return the paths that go on after this look."""


def normal_levels(
    spending: Spending, level: float, fractions: Sequence[float], *, sides: Sides = 2
) -> tuple[float, ...]:
    """Return the nominal level of each look by normal theory; `fractions` are the shares of the instances, up to 1.

    With one side the spending of 2·level is halved, which is how O'Brien and Fleming's type is defined there.

    >>> from ampler.stats.sequential.spending import named_spending
    >>> levels = normal_levels(named_spending("OF"), 0.05, (0.2, 0.4, 0.6, 0.8, 1.0))
    >>> [round(z, 4) for z in critical_values(levels)]
    [4.8769, 3.357, 2.6803, 2.2898, 2.031]
    """
    return _normal_levels(spending, checked_level(level, sides), checked_fractions(fractions), sides)


def equivalence_levels(spending: Spending, level: float, fractions: Sequence[float]) -> tuple[float, ...]:
    """Return the one-sided nominal levels of "no relevant difference": half of the two-sided ones at twice the level.

    >>> from ampler.stats.sequential.spending import named_spending
    >>> [round(nominal, 4) for nominal in equivalence_levels(named_spending("KD2"), 0.05, (0.5, 1.0))]
    [0.0125, 0.0446]
    """
    return tuple(nominal / 2 for nominal in normal_levels(spending, 2 * level, fractions))


def critical_values(
    nominal: Sequence[float], instances: Sequence[int] | None = None, *, sides: Sides = 2
) -> tuple[float, ...]:
    """Return how large the statistic of each look must be: z, or t when the instances of the looks are given."""
    from scipy.special import ndtri, stdtrit

    tails = np.asarray(nominal, dtype=float) / sides
    limits = -ndtri(tails) if instances is None else -stdtrit(np.asarray(instances) - 1.0, tails)
    return tuple(np.where(tails > 0, limits, inf).tolist())


def checked_level(level: float, sides: Sides) -> float:
    """Return a level that a test can have; the largest is allowed, since p-values search up to there."""
    if not 0 < level <= sides / 2:
        raise InvalidDesign(f"the level must lie above 0 and at most at {sides / 2:g}, got {level!r}: 0.05 is usual")
    return float(level)


def checked_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    """Return shares of the instances that rise to 1."""
    shares = tuple(float(share) for share in fractions)
    if not shares or shares[-1] != 1 or not all(a < b for a, b in zip((0.0, *shares), shares, strict=False)):
        raise InvalidDesign(f"the looks must rise from above 0 to 1, got {shares!r}: for example 0.4, 0.6, 0.8, 1")
    return shares


def spent_shares(spending: Spending, level: float, fractions: Sequence[float], sides: Sides) -> Floats:
    """Return what may be spent at each look itself."""
    doubled = 2 / sides
    spent = spending.spent(doubled * level, np.asarray(fractions)) / doubled
    spent[-1] = level  # but for rounding it is: a single look must have the level to the last digit
    return np.diff(spent, prepend=0.0)


def farthest(shares: Floats) -> float:
    """Return the nominal level beyond which no path needs to be followed."""
    return FAR * float(shares[shares >= SMALLEST_SHARE].min(initial=1.0))


def solved_levels(walk: Walk, shares: Floats) -> tuple[float, ...]:
    """Return the nominal levels with which the walk stops at each look with the probability in `shares`."""
    levels = [float(shares[0]) if shares[0] >= SMALLEST_SHARE else 0.0]
    paths: Paths | None = None
    for look, share in enumerate(shares[1:].tolist(), start=1):
        paths = walk.first(levels[0]) if paths is None else walk.carry(paths, look - 1, levels[-1])
        levels.append(_level_of(walk, paths, look, share))
    return tuple(levels)


def _level_of(walk: Walk, paths: Paths, look: int, share: float) -> float:
    """Newton steps on the logarithms, where the probability to stop is nearly a power of the nominal level.

    The level lies between what is spent, since not every path is still going on, and 1. A path that went on may be
    unable to reach a limit at all, so that a level close to what is spent may stop nobody: then halve.
    """
    if share < SMALLEST_SHARE:
        return 0.0
    low, high = log(share), 0.0
    nominal = low
    for _ in range(NEWTON_STEPS):
        level = exp(nominal)
        probability, going = walk.exit(paths, look, level)
        low, high = (nominal, high) if probability < share else (low, nominal)
        rise = log(share / probability) * probability / (level * going) if probability > 0 and going > 0 else inf
        following = nominal + rise if low <= nominal + rise <= high else (low + high) / 2
        if abs(following - nominal) < STEP_DONE:
            return exp(following)
        nominal = following
    return exp(nominal)


@lru_cache(maxsize=4096)
def _normal_levels(spending: Spending, level: float, fractions: tuple[float, ...], sides: Sides) -> tuple[float, ...]:
    shares = spent_shares(spending, level, fractions, sides)
    return solved_levels(_NormalWalk(fractions, sides, farthest(shares)), shares)


@dataclass(frozen=True, slots=True)
class _NormalWalk:
    """Normal scores: independent steps whose variances are the new shares of the instances."""

    fractions: tuple[float, ...]
    sides: Sides
    farthest: float

    def first(self, nominal: float) -> Paths:
        nodes, weights = self._nodes(0, nominal)
        return Paths(nodes, weights * _density(nodes, sqrt(self.fractions[0])))

    def exit(self, paths: Paths, look: int, nominal: float) -> tuple[float, float]:
        from scipy.special import ndtr

        spread, step = sqrt(self.fractions[look]), self._step(look)
        limit = self._limit(look, nominal)
        beyond = float(ndtr((paths.nodes - limit) / step) @ paths.weights)
        at = float(_density(limit - paths.nodes, step) @ paths.weights)
        return self.sides * beyond, at / float(_density(np.array(limit), spread))

    def carry(self, paths: Paths, look: int, nominal: float) -> Paths:
        nodes, weights = self._nodes(look, nominal)
        return Paths(nodes, weights * (_density(nodes[:, None] - paths.nodes, self._step(look)) @ paths.weights))

    def _step(self, look: int) -> float:
        return sqrt(self.fractions[look] - self.fractions[look - 1])

    def _limit(self, look: int, nominal: float) -> float:
        from scipy.special import ndtri

        return -float(ndtri(nominal / self.sides)) * sqrt(self.fractions[look])

    def _nodes(self, look: int, nominal: float) -> tuple[Floats, Floats]:
        high = self._limit(look, max(nominal, self.farthest))
        low = -high if self.sides == 2 else -self._limit(look, self.farthest)
        return legendre(low, high, NODES, narrowest=self._step(look + 1))


def legendre(low: float, high: float, least: int, narrowest: float = inf) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights, so many that a bell as narrow as that is seen (spread of it)."""
    count = max(least, 2 * ceil(pi / 4 * (high - low) / narrowest))
    nodes, weights = _legendre(count)
    half = (high - low) / 2
    return low + half * (1 + nodes), half * weights


@lru_cache(maxsize=64)
def _legendre(count: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(count)


def _density(x: Floats, spread: float) -> Floats:
    return np.asarray(np.exp(-0.5 * (x / spread) ** 2) / (spread * sqrt(2 * pi)))
