"""Assurance: the probability of success of a design, averaged over what is believed of the effect. Pure.

Success is a credible interval of the mean that lies wholly above the margin, or wholly within it. Effects and margins
are in standard deviations of the estimated differences. However many instances, the assurance never passes its ceiling,
the probability that the effect itself lies there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, sqrt
from typing import Literal, get_args

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.checks import choice, finite, integer, share
from ampler.core.errors import InvalidDesign
from ampler.design.solve import MOST_INSTANCES, smallest
from ampler.stats.noncentral_t import upper_tail

Goal = Literal["above", "inside"]

NODES = 200  # of the standard deviation that will be seen


@dataclass(frozen=True, slots=True)
class AssuredDesign:
    """The fewest instances whose assurance is the wanted one."""

    instances: int
    assurance: float  # that they reach
    ceiling: float  # that no number of instances exceeds


def assurance(
    instances: int, *, effect: float, effect_sd: float, margin: float = 0.0, goal: Goal = "above", level: float = 0.95
) -> float:
    """Return the probability that the interval ends up above the margin (or inside it) when effect ~ N(effect, sd²).

    >>> round(assurance(57, effect=0.5, effect_sd=0.2), 4)
    0.8359
    """
    integer("instances", instances, 2, MOST_INSTANCES, "an interval takes two or more")
    belief = _checked(effect, effect_sd, margin, goal, level)
    return belief.assurance(instances)


def ceiling(*, effect: float, effect_sd: float, margin: float = 0.0, goal: Goal = "above") -> float:
    """Return the assurance that no number of instances passes: the probability that the effect itself lies there.

    >>> round(ceiling(effect=0.3, effect_sd=0.2, margin=0.1), 3)
    0.841
    """
    return _checked(effect, effect_sd, margin, goal, 0.95).ceiling()


def instances_for_assurance(
    wanted: float, *, effect: float, effect_sd: float, margin: float = 0.0, goal: Goal = "above", level: float = 0.95
) -> AssuredDesign:
    """Return the fewest instances whose assurance is the wanted one.

    >>> instances_for_assurance(0.8, effect=0.5, effect_sd=0.2).instances
    48
    """
    share("assurance", wanted, "0.8 is usual")
    belief = _checked(effect, effect_sd, margin, goal, level)
    most = belief.ceiling()
    if wanted >= most:
        raise InvalidDesign(
            f"no number of instances has an assurance of {wanted!r}: the effect lies {goal} the margin with probability"
            f" {most:.3g} only; ask for less, or choose another margin"
        )
    found = smallest(belief.assurance, wanted, guess=64, least=2, most=MOST_INSTANCES)
    if found is None:
        raise InvalidDesign(
            f"more than {MOST_INSTANCES} instances are needed for an assurance of {wanted!r}: ask for less"
        )
    return AssuredDesign(found, belief.assurance(found), most)


@dataclass(frozen=True, slots=True)
class _Belief:
    effect: float
    effect_sd: float
    margin: float
    goal: Goal
    level: float

    def assurance(self, instances: int) -> float:
        return self._above(instances) if self.goal == "above" else self._inside(instances)

    def ceiling(self) -> float:
        from scipy.special import ndtr

        below, above = (self._standing(side * self.margin) for side in (-1, 1))
        return float(ndtr(-above)) if self.goal == "above" else float(ndtr(above) - ndtr(below))

    def _standing(self, limit: float) -> float:
        if self.effect_sd == 0:
            return float(np.sign(limit - self.effect)) * np.inf if limit != self.effect else 0.0
        return (limit - self.effect) / self.effect_sd

    def _above(self, instances: int) -> float:
        """P(lower end > margin). The mean is normal also over what is believed, so that t stays a noncentral t."""
        from scipy.special import stdtrit

        critical = float(stdtrit(instances - 1, (1 + self.level) / 2))
        wider = sqrt(1 + instances * self.effect_sd**2)
        distance = sqrt(instances) * (self.effect - self.margin)
        return float(upper_tail(critical / wider, instances - 1, distance / wider))

    def _inside(self, instances: int) -> float:
        """P(both ends within ±margin): given the standard deviation seen, the mean must keep half an interval away."""
        from scipy.special import chdtrc, chdtri, ndtr, stdtrit

        freedom, root = instances - 1, sqrt(instances)
        critical = float(stdtrit(freedom, (1 + self.level) / 2))
        narrow = 1 - float(chdtrc(freedom, freedom * (self.margin * root / critical) ** 2))  # P(short enough)
        places, weights = _places()
        half = critical * np.sqrt(chdtri(freedom, 1 - narrow * places) / freedom) / root
        spread = sqrt(self.effect_sd**2 + 1 / instances)
        reach = ndtr((self.margin - half - self.effect) / spread) - ndtr((half - self.margin - self.effect) / spread)
        return narrow * float(np.maximum(reach, 0.0) @ weights)


@lru_cache(maxsize=1)
def _places() -> tuple[Floats, Floats]:
    """Nodes and weights between 0 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (1 + nodes) / 2, weights / 2


def _checked(effect: float, effect_sd: float, margin: float, goal: Goal, level: float) -> _Belief:
    finite("effect", effect, "give mean/sd of the difference that is believed in, such as 0.5")
    for name, value in (("effect_sd", effect_sd), ("margin", margin)):
        if not (isfinite(value) and value >= 0):
            raise InvalidDesign(f"{name} must be a number that is not negative, got {value!r}: 0 is allowed")
    choice("goal", goal, get_args(Goal), "'above' the margin or 'inside' it")
    if goal == "inside" and margin == 0:
        raise InvalidDesign("an interval lies inside no margin of 0: say what is too small to matter")
    share("level", level, "0.95 is usual")
    return _Belief(float(effect), float(effect_sd), float(margin), goal, float(level))
