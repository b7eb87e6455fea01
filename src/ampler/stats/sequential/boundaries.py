"""Spending functions and the nominal level of each interim analysis, in normal theory and exact for t. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, e, exp, inf, lgamma, log, pi, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign

KINDS = "'OF' (O'Brien-Fleming), 'P' (Pocock), 'KD2' (Kim-DeMets, any power) or 'HSD-2' (Hwang-Shih-DeCani, any γ)"


@dataclass(frozen=True, slots=True)
class Spending:
    """A rising function of the share of the instances, 0 at no instances and the whole level at all of them.

    OF spends next to nothing early and nearly everything at the end, P much at every look, so that the end is dear (Lan
    & DeMets 1983, of O'Brien & Fleming's and of Pocock's type). KD is a power of the share (Kim & DeMets 1987): 1 is
    near Pocock's, 3 near O'Brien and Fleming's. HSD is one family for both: γ = 1 is near Pocock's, γ = −4 near O'Brien
    and Fleming's (Hwang, Shih & DeCani 1990). `named_spending` makes one.
    """

    kind: Literal["OF", "P", "KD", "HSD"]
    shape: float | None = None  # the power of KD, γ of HSD

    @property
    def name(self) -> str:
        """The short name that `named_spending` reads."""
        return self.kind if self.shape is None else f"{self.kind}{self.shape:g}"

    def spent(self, level: float, fractions: Floats) -> Floats:
        """Return the part of a two-sided level that is spent at each share of the instances."""
        shape = self.shape or 0.0
        if self.kind == "OF":  # both sides of a Brownian path that meets a constant
            return np.asarray(4 * ndtr(ndtri(level / 4) / np.sqrt(fractions)))
        if self.kind == "P":
            return np.asarray(level * np.log1p((e - 1) * fractions))
        if self.kind == "KD":
            return np.asarray(level * fractions**shape)
        return np.asarray(level * np.expm1(-shape * fractions) / np.expm1(-shape) if shape else level * fractions)


def named_spending(name: str) -> Spending:
    """Return the spending function of this short name.

    >>> named_spending("KD2").spent(0.05, np.array([0.5, 1.0])).tolist()
    [0.0125, 0.05]
    """
    match = re.fullmatch(r"(OF|P)|(KD|HSD)(-?\d+(?:\.\d+)?)", name) if isinstance(name, str) else None
    if match is None:
        raise InvalidDesign(f"a spending function must be {KINDS}, got {name!r}: 'OF' is the default")
    kind: Any = match[1] or match[2]
    shape = float(match[3]) if match[3] else None
    if kind == "KD" and not (shape and 0 < shape < inf):
        raise InvalidDesign(f"the power of a Kim-DeMets spending must be positive, got {shape}: 2 is usual")
    if kind == "HSD" and not abs(shape or 0.0) <= 500:  # the exponential overflows beyond
        raise InvalidDesign(f"γ of a Hwang-Shih-DeCani spending must lie within ±500, got {shape}: -4 to 1")
    return Spending(kind, shape)


Sides = Literal[1, 2]

NEWTON_STEPS = 60  # four are usual; the cap only bounds the time of a pathological case
STEP_DONE = 1e-7  # in the logarithm of a level: the next step would be its square
SMALLEST_SHARE = 1e-40  # an interim analysis that spends less than this never stops
FAR = 1e-8  # paths rarer than this share of the spending are dropped
NODES = 80  # 30 to 160 give the same boundaries to 3e-15 with five equal looks


class Paths(NamedTuple):
    """The continuing paths: their places, and the probability there (density times quadrature weight)."""

    nodes: Floats
    weights: Floats


def equivalence_levels(spending: Spending, level: float, fractions: Sequence[float]) -> tuple[float, ...]:
    """Return the one-sided nominal levels of equivalence: half of the two-sided ones at twice the level.

    >>> [round(nominal, 4) for nominal in equivalence_levels(named_spending("KD2"), 0.05, (0.5, 1.0))]
    [0.0125, 0.0446]
    """
    return tuple(nominal / 2 for nominal in Schedule(spending, tuple(fractions), sides=2).nominal_levels(2 * level))


def critical_values(
    nominal: Sequence[float], instances: Sequence[int] | None = None, *, sides: Sides = 2
) -> tuple[float, ...]:
    """Return the critical value of each interim analysis: z, or t if the numbers of instances are given."""
    tails = np.asarray(nominal, dtype=float) / sides
    limits = -ndtri(tails) if instances is None else -stdtrit(np.asarray(instances) - 1.0, tails)
    return tuple(np.where(tails > 0, limits, inf).tolist())


def checked_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    """Return shares of the instances that rise to 1."""
    shares = tuple(float(share) for share in fractions)
    if not shares or shares[-1] != 1 or not all(a < b for a, b in zip((0.0, *shares), shares, strict=False)):
        raise InvalidDesign(
            f"the shares of interim analyses must rise from above 0 to 1, got {shares!r}: for example 0.4, 0.6, 0.8, 1"
        )
    return shares


def spent_shares(spending: Spending, level: float, fractions: Sequence[float], sides: Sides) -> Floats:
    """Return the level that each interim analysis spends."""
    doubled = 2 / sides
    spent = spending.spent(doubled * level, np.asarray(fractions)) / doubled
    spent[-1] = level  # up to rounding it is: a single analysis must have the exact level
    return np.diff(spent, prepend=0.0)


def _solved_levels(walk: _NormalWalk | _StudentWalk, shares: Floats) -> tuple[float, ...]:
    """Return the nominal levels at which each interim analysis stops with the probability in `shares`."""
    levels = [float(shares[0]) if shares[0] >= SMALLEST_SHARE else 0.0]
    paths: Paths | None = None
    for look, share in enumerate(shares[1:].tolist(), start=1):
        paths = walk.first(levels[0]) if paths is None else walk.carry(paths, look - 1, levels[-1])
        levels.append(_level_of(walk, paths, look, share))
    return tuple(levels)


def _level_of(walk: _NormalWalk | _StudentWalk, paths: Paths, look: int, share: float) -> float:
    """Newton steps on the logarithms, where the probability to stop is nearly a power of the nominal level.

    The level lies between what is spent, since not every path is still continuing, and 1. A path that went on may be
    unable to reach a limit at all, so that a level close to what is spent may stop nobody: then halve."""
    if share < SMALLEST_SHARE:
        return 0.0
    low, high = log(share), 0.0
    nominal = low
    for _ in range(NEWTON_STEPS):
        level = exp(nominal)
        probability, continuing = walk.exit(paths, look, level)
        low, high = (nominal, high) if probability < share else (low, nominal)
        rise = inf
        if probability > 0 and continuing > 0:
            rise = log(share / probability) * probability / (level * continuing)
        following = nominal + rise if low <= nominal + rise <= high else (low + high) / 2
        if abs(following - nominal) < STEP_DONE:
            return exp(following)
        nominal = following
    return exp(nominal)


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
        return -float(ndtri(nominal / self.sides)) * sqrt(self.fractions[look])

    def _nodes(self, look: int, nominal: float) -> tuple[Floats, Floats]:
        high = self._limit(look, max(nominal, self.farthest))
        low = -high if self.sides == 2 else -self._limit(look, self.farthest)
        return legendre(low, high, NODES, narrowest=self._step(look + 1))


def legendre(low: float, high: float, least: int, narrowest: float = inf) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights, this many that a bell as narrow as that is seen (spread of it)."""
    nodes, weights = _legendre(max(least, 2 * ceil(pi / 4 * (high - low) / narrowest)))
    half = (high - low) / 2
    return low + half * (1 + nodes), half * weights


@lru_cache(maxsize=64)
def _legendre(count: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(count)


def _density(x: Floats, spread: float) -> Floats:
    return np.asarray(np.exp(-0.5 * (x / spread) ** 2) / (spread * sqrt(2 * pi)))


FEWEST_NEW = 3  # instances a look: with fewer, v has no bounded density
TAIL_NODES = 20


@dataclass(frozen=True, slots=True)
class _Fineness:
    """Numbers of nodes for u and for B."""

    cosines: int
    betas: int


USUAL = _Fineness(64, 32)  # critical values good to 3e-6, against 160 and 96 nodes
FEW_NEW = _Fineness(128, 64)  # v has kinks: nominal levels good to 3e-4 with 4 new instances a look, to 1 % with 3
KINKS_BELOW = 8  # new instances


def checked_looks(instances: Sequence[int]) -> tuple[int, ...]:
    """Return the instances of each interim analysis, at least three new ones each."""
    looks = tuple(int(n) for n in instances)
    if not looks or any(new < FEWEST_NEW for new in np.diff(looks, prepend=0)):
        raise InvalidDesign(
            f"every interim analysis needs at least {FEWEST_NEW} new instances, got them after"
            f" {', '.join(map(str, looks))}: plan fewer, or more instances"
        )
    return looks


@dataclass(frozen=True, slots=True)
class _StudentWalk:
    """The cosine u of the differences with a constant, at each interim analysis."""

    looks: tuple[int, ...]
    sides: Sides
    farthest: float
    fineness: _Fineness

    def first(self, nominal: float) -> Paths:
        nodes, weights = self._nodes(0, nominal)
        return Paths(nodes, weights * _student_density(nodes, self.looks[0]))

    def exit(self, paths: Paths, look: int, nominal: float) -> tuple[float, float]:
        """The probability to stop is the nominal level times the mean share of paths still going, over the tail."""
        parts, weights = _tail()
        u = self._limits(look, np.append(nominal * parts, nominal))
        continuing = self._carried(paths, look, u) / _student_density(u, self.looks[look])
        return nominal * float(continuing[:-1] @ weights), float(continuing[-1])

    def carry(self, paths: Paths, look: int, nominal: float) -> Paths:
        nodes, weights = self._nodes(look, nominal)
        if self.sides == 1:
            return Paths(nodes, weights * self._carried(paths, look, nodes))
        half = self._carried(paths, look, nodes[len(nodes) // 2 :])  # the other half is symmetric
        return Paths(nodes, weights * np.concatenate([half[::-1], half]))

    def _carried(self, paths: Paths, look: int, u: Floats) -> Floats:
        """The density at u of the paths that continued at the previous analysis."""
        before, now = self.looks[look - 1], self.looks[look]
        betas, weights = _betas(before, now - before, self.fineness.betas)
        scale = np.sqrt((1 - before / now) * (1 - betas))
        v = (u[:, None] / scale)[:, None] - np.sqrt(before / now * betas) / scale * paths.nodes[:, None]
        v *= v
        density = _half_power(np.subtract(1.0, v, out=v), now - before - FEWEST_NEW)
        return np.asarray(exp(_log_constant(now - before)) * ((density @ (weights / scale)) @ paths.weights))

    def _limits(self, look: int, nominal: Floats) -> Floats:
        freedom = self.looks[look] - 1
        t = -stdtrit(freedom, nominal / self.sides)
        return np.asarray(t / np.sqrt(t * t + freedom))

    def _nodes(self, look: int, nominal: float) -> tuple[Floats, Floats]:
        high, far = self._limits(look, np.array([max(nominal, self.farthest), self.farthest]))
        low = -high if self.sides == 2 else -far
        new = self.looks[look + 1] - self.looks[look]
        return legendre(low, high, self.fineness.cosines, narrowest=sqrt(new) / self.looks[look])


def _half_power(base: Floats, doubled: int) -> Floats:
    """base^(doubled/2), and 0 below 0; in place, by squares and a root: a general power takes several times as long."""
    square = np.maximum(base, 0.0, out=base)
    power = np.sqrt(square) if doubled % 2 else np.sign(square)
    for bit in reversed(f"{doubled // 2:b}"):
        if bit == "1":
            power *= square
        square *= square
    return np.asarray(power)


def _student_density(u: Floats, n: int) -> Floats:
    """The density of u on n instances."""
    return np.asarray(np.exp(_log_constant(n) + (n - 3) / 2 * np.log1p(-u * u)))


def _log_constant(n: int) -> float:
    return lgamma(n / 2) - lgamma((n - 1) / 2) - 0.5 * log(pi)


@lru_cache(maxsize=256)
def _betas(before: int, new: int, count: int) -> tuple[Floats, Floats]:
    """Gauss-Jacobi nodes and weights of B, from the recurrence of its polynomials (Golub & Welsch 1969).

    `scipy.special.roots_jacobi` gives weights that overflow beyond 1000 instances; these sum to 1.
    """
    from scipy.linalg import eigh_tridiagonal

    a, b = new / 2 - 1, before / 2 - 1
    k = np.arange(1.0, count)
    s = 2 * k + a + b
    middle = np.append((b - a) / (a + b + 2), (b * b - a * a) / (s * (s + 2)))
    off_diagonal = 4 * k * (k + a) * (k + b) * (k + a + b) / (s * s * (s * s - 1))
    # 0/0 in the general form when a + b = −1
    off_diagonal[0] = 4 * (1 + a) * (1 + b) / ((2 + a + b) ** 2 * (3 + a + b))
    nodes, vectors = eigh_tridiagonal(middle, np.sqrt(off_diagonal))
    return (1 + nodes) / 2, vectors[0] ** 2


@lru_cache(maxsize=1)
def _tail() -> tuple[Floats, Floats]:
    """Nodes and weights on the tail's levels as shares of its own; cubed, since u changes fastest at the rarest."""
    nodes, weights = legendre(0.0, 1.0, TAIL_NODES)
    return nodes**3, 3 * nodes**2 * weights


@dataclass(frozen=True, slots=True)
class Schedule:
    """Schedule of the interim analyses and their spending: exact for t if the instances are given, else normal.

    The spending sees the `fractions`, shares of the instances up to 1, also when a look came out with fewer instances
    than it should have. With one side the spending of twice the level is halved, which is how O'Brien and Fleming's
    type is defined there.
    """

    spending: Spending
    fractions: tuple[float, ...]
    instances: tuple[int, ...] | None = None
    sides: Sides = 2

    @lru_cache(maxsize=8192)  # noqa: B019  # schedules are few and small
    def nominal_levels(self, level: float) -> tuple[float, ...]:
        """Return the nominal level of the ordinary p-value at each interim analysis.

        >>> looks = 24, 35, 47, 58
        >>> schedule = Schedule(named_spending("OF"), tuple(n / 58 for n in looks), looks)
        >>> [round(nominal, 5) for nominal in schedule.nominal_levels(0.05)]
        [0.00099, 0.00738, 0.02266, 0.04115]
        """
        if not 0 < level <= self.sides / 2:  # the largest is allowed, since p-values search up to there
            raise InvalidDesign(
                f"the level must lie above 0 and at most at {self.sides / 2:g}, got {level!r}: 0.05 is usual"
            )
        looks = None if self.instances is None else checked_looks(self.instances)
        fractions = checked_fractions(self.fractions)
        shares = spent_shares(self.spending, level, fractions, self.sides)
        farthest = FAR * float(shares[shares >= SMALLEST_SHARE].min(initial=1.0))
        if looks is None:
            return _solved_levels(_NormalWalk(fractions, self.sides, farthest), shares)
        kinks = min(np.diff(looks), default=KINKS_BELOW) < KINKS_BELOW
        return _solved_levels(_StudentWalk(looks, self.sides, farthest, FEW_NEW if kinks else USUAL), shares)
