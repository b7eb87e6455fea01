"""The power to reach, for which difference, by which tests; and how many instances it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.checks import choice, positive
from ampler.core.choices import Target, TargetWord, Test
from ampler.core.errors import InvalidDesign
from ampler.core.settings import AnalysisSettings
from ampler.core.spoken import parameter
from ampler.core.wording import amount, digits
from ampler.design.solve import LARGEST_EFFECT, MOST_INSTANCES, smallest
from ampler.stats.holm import holm_levels
from ampler.stats.power import instances_for, paired_power

DETECT_HALVINGS = 12  # of the interval in which the detectable difference lies: three digits


@dataclass(frozen=True, slots=True)
class PowerGoal:
    """A raw difference to find in every comparison, with the power and by the tests of the settings, under Holm.

    Pairs whose differences vary differently have different effects. The largest effect has the smallest p-value, so
    it is held against the strictest level; with equal effects this is the convention of `ampler.design`.
    """

    settings: AnalysisSettings
    detect: float
    target: Target = "mean"
    available: int | None = None  # instances
    unit: float = 1.0  # in which `detect` is given, for the words of errors

    def __post_init__(self) -> None:
        positive("detect", self.detect)
        if self.available is not None and self.available < 2:
            raise InvalidDesign(f"at least 2 instances must be available, got {self.available!r}")
        power, alpha = self.settings.power, self.settings.alpha
        if power <= alpha:
            raise InvalidDesign(f"power must be larger than alpha, got {power!r} and {alpha!r}")
        if not (isinstance(self.target, int) and self.target > 0):
            choice("target", self.target, get_args(TargetWord), "or say in how many comparisons")

    def instances(self, variances: Floats, guess: int = 2) -> int:
        """Return the fewest instances that reach the power when the pairs' differences have these variances."""
        effects = self._effects(variances)
        needed = smallest(
            lambda n: self._reached(n, effects, "t"), self.settings.power, guess=guess, least=2, most=MOST_INSTANCES
        )
        if needed is None:
            raise InvalidDesign(
                f"no reachable number of instances finds a difference of {self._said(self.detect)}: so much do the"
                " pilot's differences vary; ask for a larger difference or another target"
            )
        return instances_for(needed, self.settings.test)

    def reached(self, instances: int, variances: Floats) -> float:
        """Return the power that so many instances reach."""
        return self._reached(instances, self._effects(variances), self.settings.test)

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
            f" {self.available} are available; with these, ask for {self._said(high)} or more"
            f" ({parameter('detect', digits(high * self.unit))}), or for less power"
        )

    def _said(self, difference: float) -> str:
        return amount(difference * self.unit, self.settings.difference)

    def _effects(self, variances: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.minimum(self.detect / np.sqrt(variances), LARGEST_EFFECT)

    def _reached(self, instances: int, effects: Floats, test: Test) -> float:
        levels = holm_levels(len(effects), self.settings.alpha)
        powers = paired_power(
            instances, np.sort(effects)[::-1], levels, test=test, alternative=self.settings.alternative
        )
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
