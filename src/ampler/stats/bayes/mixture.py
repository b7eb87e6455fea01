"""Mixtures of normal distributions, and how much of a distribution lies below, within and above a margin. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, pi, sqrt
from typing import Literal

import numpy as np

from ampler.core.arrays import Floats, Interval
from ampler.core.errors import InvalidData

Side = Literal["less", "equivalent", "more"]

NEWTON_STEPS = 60  # eight are usual; every other one halves the bracket at worst
CLOSE = 1e-15
SQRT_TWO_PI = sqrt(2 * pi)


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
        return {"less": self.less, "equivalent": self.equivalent, "more": self.more}[side]

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
        from scipy.special import ndtr

        less = float(self.weights @ ndtr((-margin - self.means) / self.deviations))
        more = float(self.weights @ ndtr((self.means - margin) / self.deviations))
        return Areas.of_tails(less, more)

    def interval(self, level: float) -> Interval:
        """Return the interval with equal tails that has this probability."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def quantile(self, probability: float) -> float:
        """Return the quantile: Newton steps, kept between the smallest and the largest quantile of a component.

        >>> round(NormalMixture(np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.ones(2)).quantile(0.9), 6)
        1.849468
        """
        from scipy.special import ndtr, ndtri

        single = self.means + self.deviations * float(ndtri(probability))
        used = self.weights > 0
        low, high = float(single[used].min()), float(single[used].max())
        x, step = float(self.weights @ single), high - low
        for _ in range(NEWTON_STEPS):
            z = (x - self.means) / self.deviations
            excess = float(self.weights @ ndtr(z)) - probability
            low, high = (low, x) if excess > 0 else (x, high)
            slope = float(self.weights @ (np.exp(-z * z / 2) / self.deviations)) / SQRT_TWO_PI
            following = x - excess / slope if slope > 0 else inf
            if not (low <= following <= high and abs(following - x) <= step / 2):  # steps that do not shrink may circle
                following = (low + high) / 2
            if abs(following - x) <= CLOSE * max(abs(x), high - low):
                return following
            x, step = following, abs(following - x)
        return x


def checked_margin(margin: float) -> float:
    """Return a margin that is a number and not negative."""
    if not (isfinite(margin) and margin >= 0):
        raise InvalidData(f"margin must be a number from 0 on, got {margin!r}: say what is too small to matter")
    return float(margin)
