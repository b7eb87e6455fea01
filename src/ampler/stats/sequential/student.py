"""Nominal levels for Student's t at every look, exact for normal differences. Pure.

The usual shortcut, normal theory's nominal levels on the p-values of t, errs up to 1.03 times its level with 35
instances and up to 1.10 times with 20. The exact recursion follows u = T/√(T² + n − 1), the cosine between the
differences and a constant. Under the null hypothesis the sum of squares is complete and sufficient for σ, so it is
independent of all u so far (Basu), and with r = n/n′, m = n′ − n new instances,

    u′ = √(r·B)·u + √((1 − r)(1 − B))·v,   B ~ Beta(n/2, m/2),   v with density ∝ (1 − v²)^((m−3)/2), all independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log, pi, sqrt

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign
from ampler.stats.sequential.boundaries import (
    Paths,
    Sides,
    checked_fractions,
    checked_level,
    farthest,
    legendre,
    solved_levels,
    spent_shares,
)
from ampler.stats.sequential.spending import Spending

FEWEST_NEW = 3  # instances a look: with fewer, v has no bounded density
TAIL_NODES = 20


@dataclass(frozen=True, slots=True)
class _Fineness:
    """How many nodes for u and for B."""

    cosines: int
    betas: int


USUAL = _Fineness(64, 32)  # critical values good to 3e-6, against 160 and 96 nodes
FEW_NEW = _Fineness(128, 64)  # v has kinks: nominal levels good to 3e-4 with 4 new instances a look, to 1 % with 3
KINKS_BELOW = 8  # new instances


def student_levels(
    spending: Spending,
    level: float,
    instances: Sequence[int],
    *,
    fractions: Sequence[float] | None = None,
    sides: Sides = 2,
) -> tuple[float, ...]:
    """Return the nominal level of each look for t-tests on so many instances.

    The spending sees the shares of the last look's instances, or the `fractions` given when a look came out with
    fewer instances than it should have.

    >>> from ampler.stats.sequential.boundaries import critical_values
    >>> from ampler.stats.sequential.spending import named_spending
    >>> levels = student_levels(named_spending("OF"), 0.05, (24, 35, 47, 58))
    >>> [round(t, 3) for t in critical_values(levels, (24, 35, 47, 58))]
    [3.773, 2.85, 2.358, 2.089]
    """
    looks = checked_looks(instances)
    shares = checked_fractions([n / looks[-1] for n in looks] if fractions is None else fractions)
    if len(shares) != len(looks):
        raise InvalidDesign(f"every look needs its fraction, got {len(looks)} looks and {len(shares)} fractions")
    return _student_levels(spending, checked_level(level, sides), looks, shares, sides)


def checked_looks(instances: Sequence[int]) -> tuple[int, ...]:
    """Return the instances of each look, at least three new ones each."""
    looks = tuple(int(n) for n in instances)
    if not looks or any(new < FEWEST_NEW for new in np.diff(looks, prepend=0)):
        raise InvalidDesign(
            f"every look needs {FEWEST_NEW} or more new instances, got looks after {', '.join(map(str, looks))}: "
            "ask for fewer looks or more instances"
        )
    return looks


@lru_cache(maxsize=4096)
def _student_levels(
    spending: Spending, level: float, looks: tuple[int, ...], fractions: tuple[float, ...], sides: Sides
) -> tuple[float, ...]:
    shares = spent_shares(spending, level, fractions, sides)
    kinks = min(np.diff(looks), default=KINKS_BELOW) < KINKS_BELOW
    return solved_levels(_StudentWalk(looks, sides, farthest(shares), FEW_NEW if kinks else USUAL), shares)


@dataclass(frozen=True, slots=True)
class _StudentWalk:
    """The cosine u of the differences with a constant, look after look."""

    looks: tuple[int, ...]
    sides: Sides
    farthest: float
    fineness: _Fineness

    def first(self, nominal: float) -> Paths:
        nodes, weights = self._nodes(0, nominal)
        return Paths(nodes, weights * _density(nodes, self.looks[0]))

    def exit(self, paths: Paths, look: int, nominal: float) -> tuple[float, float]:
        """The probability to stop is the nominal level times the mean share of paths still going, over the tail."""
        parts, weights = _tail()
        u = self._limits(look, np.append(nominal * parts, nominal))
        going = self._carried(paths, look, u) / _density(u, self.looks[look])
        return nominal * float(going[:-1] @ weights), float(going[-1])

    def carry(self, paths: Paths, look: int, nominal: float) -> Paths:
        nodes, weights = self._nodes(look, nominal)
        if self.sides == 1:
            return Paths(nodes, weights * self._carried(paths, look, nodes))
        half = self._carried(paths, look, nodes[len(nodes) // 2 :])  # the other half is its mirror
        return Paths(nodes, weights * np.concatenate([half[::-1], half]))

    def _carried(self, paths: Paths, look: int, u: Floats) -> Floats:
        """The density at u of the paths that were going on at the look before."""
        before, now = self.looks[look - 1], self.looks[look]
        betas, weights = _betas(before, now - before, self.fineness.betas)
        scale = np.sqrt((1 - before / now) * (1 - betas))
        v = (u[:, None] / scale)[:, None] - np.sqrt(before / now * betas) / scale * paths.nodes[:, None]
        v *= v
        density = _half_power(np.subtract(1.0, v, out=v), now - before - FEWEST_NEW)
        return np.asarray(exp(_log_constant(now - before)) * ((density @ (weights / scale)) @ paths.weights))

    def _limits(self, look: int, nominal: Floats) -> Floats:
        from scipy.special import stdtrit

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


def _density(u: Floats, n: int) -> Floats:
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
    beside = 4 * k * (k + a) * (k + b) * (k + a + b) / (s * s * (s * s - 1))
    beside[0] = 4 * (1 + a) * (1 + b) / ((2 + a + b) ** 2 * (3 + a + b))  # 0/0 in the general form when a + b = −1
    nodes, vectors = eigh_tridiagonal(middle, np.sqrt(beside))
    return (1 + nodes) / 2, vectors[0] ** 2


@lru_cache(maxsize=1)
def _tail() -> tuple[Floats, Floats]:
    """Nodes and weights on the tail's levels as shares of its own; cubed, since u changes fastest at the rarest."""
    nodes, weights = legendre(0.0, 1.0, TAIL_NODES)
    return nodes**3, 3 * nodes**2 * weights
