"""The power to reach, for which difference, by which tests; and how many instances it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal, get_args

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign
from ampler.core.values import Alternative, Test
from ampler.design.terms import LARGEST_EFFECT, MOST_INSTANCES
from ampler.stats.holm import holm_levels
from ampler.stats.power import instances_for, paired_power

Named = Literal["mean", "median", "worst", "best"]
Target = Named | int

DETECT_HALVINGS = 12  # of the interval in which the detectable difference lies: three digits


@dataclass(frozen=True, slots=True)
class Wish:
    """A raw difference to find in every comparison, with this power, by Holm's tests.

    Pairs whose differences vary differently have different effects. The largest effect has the smallest p-value, so
    it is held against the strictest level; with equal effects this is the convention of `ampler.design`.
    """

    detect: float
    power: float
    alpha: float
    target: Target
    alternative: Alternative
    test: Test
    available: int | None = None  # instances
    unit: float = 1.0  # in which `detect` is given, for the words of errors

    def __post_init__(self) -> None:
        positive("detect", self.detect)
        if self.available is not None and self.available < 2:
            raise InvalidDesign(f"at least 2 instances must be available, got {self.available!r}")
        for name in ("power", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise InvalidDesign(f"{name} must lie strictly between 0 and 1, got {getattr(self, name)!r}")
        if self.power <= self.alpha:
            raise InvalidDesign(f"power must be larger than alpha, got {self.power!r} and {self.alpha!r}")
        for name, choices in (("target", Named), ("alternative", Alternative), ("test", Test)):
            value = getattr(self, name)
            if value not in get_args(choices) and not (name == "target" and isinstance(value, int) and value > 0):
                raise InvalidDesign(f"{name} must be one of {', '.join(get_args(choices))}, got {value!r}")

    def instances(self, variances: Floats, guess: int = 2) -> int:
        """Return the fewest instances that reach the power when the pairs' differences have these variances."""
        effects = self._effects(variances)
        low, high = 1, max(2, guess)
        while self._reached(high, effects, "t") < self.power:
            low, high = high, 2 * high
            if high > MOST_INSTANCES:
                raise InvalidDesign(
                    f"no reachable number of instances finds a difference of {self._said(self.detect)}: so much do the"
                    " pilot's differences vary; ask for a larger difference or another target"
                )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reached(middle, effects, "t") >= self.power else (middle, high)
        return instances_for(high, self.test)

    def reached(self, instances: int, variances: Floats) -> float:
        """Return the power that so many instances reach."""
        return self._reached(instances, self._effects(variances), self.test)

    def check_possible(self, between: Floats) -> int:
        """Return how many instances are needed however exact the runs; complain when fewer are available."""
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
            f"a difference of {self._said(self.detect)} needs {fewest} instances however exact the runs, and"
            f" {self.available} are available; with these, ask for {self._said(high)} or more, or for less power"
        )

    def _said(self, difference: float) -> str:
        return f"{difference * self.unit:.3g}"

    def _effects(self, variances: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.minimum(self.detect / np.sqrt(variances), LARGEST_EFFECT)

    def _reached(self, instances: int, effects: Floats, test: Test) -> float:
        levels = holm_levels(len(effects), self.alpha)
        powers = paired_power(instances, np.sort(effects)[::-1], levels, test=test, alternative=self.alternative)
        if self.target == "mean":
            return float(powers.mean())
        return float(np.sort(powers)[-self._comparisons(len(powers))])

    def _comparisons(self, all_of_them: int) -> int:
        """So many comparisons must have the power; the median is the paper's rule with K′ = ⌈K/2⌉."""
        match self.target:
            case int():
                return self.target
            case "median":
                return all_of_them - (all_of_them + 1) // 2 + 1
            case "worst":
                return all_of_them
            case _:
                return 1


def positive(name: str, value: float) -> float:
    """Return a number that must be positive."""
    if not (isfinite(value) and value > 0):
        raise InvalidDesign(f"{name} must be a positive number, got {value!r}")
    return float(value)
