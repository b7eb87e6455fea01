"""Mixtures of Student's t distributions, their areas around a margin, and verdicts from them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, cast

from scipy.special import ndtr, ndtri

from ampler.core.arrays import Floats, Interval
from ampler.core.errors import InvalidData

Side = Literal["less", "equivalent", "more"]

CLOSE = 1e-15


@dataclass(frozen=True, slots=True)
class Areas:
    """Probabilities that sum to 1: below −margin, between, above +margin."""

    less: float
    equivalent: float
    more: float

    @classmethod
    def of_tails(cls, less: float, more: float) -> Areas:
        """Return the areas whose outer ones are given; rounding leaves none of them negative."""
        return cls(less, max(0.0, 1.0 - less - more), more)

    def of(self, side: Side) -> float:
        """Return one of them."""
        return cast(float, getattr(self, side))

    def turned(self) -> Areas:
        """Return the areas of the difference taken the other way round."""
        return Areas(self.more, self.equivalent, self.less)


@dataclass(frozen=True, slots=True, eq=False)
class NormalMixture:
    """Normal distributions with weights that sum to 1."""

    weights: Floats
    means: Floats
    deviations: Floats

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.weights @ self.means)

    def areas(self, margin: float) -> Areas:
        """Return the probabilities outside and within ±margin."""
        less = float(self.weights @ ndtr((-margin - self.means) / self.deviations))
        more = float(self.weights @ ndtr((self.means - margin) / self.deviations))
        return Areas.of_tails(less, more)

    def interval(self, level: float) -> Interval:
        """Return the interval with equal tails that has this probability."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def quantile(self, probability: float) -> float:
        """Return the quantile, which lies between the smallest and the largest quantile of a component.

        >>> import numpy as np
        >>> round(NormalMixture(np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.ones(2)).quantile(0.9), 6)
        1.849468
        """
        from scipy.optimize import brentq

        single = self.means + self.deviations * float(ndtri(probability))
        used = single[self.weights > 0]
        low, high = float(used.min()), float(used.max())
        room = 1e-9 * (high - low) + 1e-12 * max(abs(low), abs(high))  # for the rounding of both ends
        if not room:
            return low
        unit = high - low + 2 * room  # tolerances in tiny units would be no numbers

        def excess(x: float) -> float:
            return float(self.weights @ ndtr((x * unit - self.means) / self.deviations)) - probability

        return unit * float(brentq(excess, (low - room) / unit, (high + room) / unit, xtol=CLOSE**2, rtol=CLOSE))


def checked_margin(margin: float) -> float:
    """Return a margin that is a number and not negative."""
    if not (isfinite(margin) and margin >= 0):
        raise InvalidData(
            f"margin must be a number from 0 on, got {margin!r}: specify the smallest difference that matters"
        )
    return float(margin)


Claim = Side | Literal["inconclusive"]

CERTAIN = 0.975
SHARED_FROM = 3  # comparisons: with fewer there is nothing to learn from the others


def verdicts(
    plain: Sequence[Areas], shared: Sequence[Areas] | None, *, margin: float, certain: float = CERTAIN
) -> tuple[Claim, ...]:
    """Return the verdict on each comparison; with fewer than three comparisons the plain posterior decides alone.

    >>> verdicts([Areas(0.01, 0.98, 0.01)], None, margin=0.02)
    ('equivalent',)
    """
    if not margin > 0:
        raise InvalidData(
            f"a verdict needs a margin above 0, got {margin!r}: specify the smallest difference that matters"
        )
    if len(plain) < SHARED_FROM:
        return tuple(agreed_verdict([own], certain) for own in plain)
    if shared is None:
        raise InvalidData(
            f"{len(plain)} comparisons need their shared posterior for a verdict, got the plain one alone"
        )
    return tuple(agreed_verdict(both, certain) for both in zip(plain, shared, strict=True))


def expected_false_claims(plain: Sequence[Areas], claims: Sequence[Claim]) -> float:
    """Return how many claims are wrong on average, if differences are as likely as the prior says; no guarantee."""
    return sum(1 - own.of(claim) for own, claim in zip(plain, claims, strict=True) if claim != "inconclusive")


def agreed_verdict(posteriors: Sequence[Areas], certain: float = CERTAIN) -> Claim:
    """Return what is nearly certain under every one of the posteriors."""
    sides: tuple[Side, ...] = ("less", "equivalent", "more")
    for side in sides:
        if all(areas.of(side) >= certain for areas in posteriors):
            return side
    return "inconclusive"
