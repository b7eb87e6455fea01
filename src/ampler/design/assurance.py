"""Assurance: the probability of success of a design, averaged over a prior of the effect. Pure.

Success is a credible interval of the mean that lies wholly above the margin, or wholly within it. Effects and margins
are in standard deviations of the estimated differences. However many instances, the assurance never passes its ceiling,
the probability that the effect itself lies there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import isfinite, sqrt
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import chdtrc, chdtri, ndtr, stdtrit

from ampler.core.errors import InvalidDesign
from ampler.core.settings import choice, finite, integer, share
from ampler.core.text import digits
from ampler.design.powers import MOST_INSTANCES, smallest
from ampler.stats.bayes.posterior import SHARED_FROM
from ampler.stats.power import upper_tail
from ampler.stats.sequential.boundaries import legendre

Goal = Literal["above", "inside"]

NODES = 200  # of the observed standard deviation


@dataclass(frozen=True, slots=True)
class AssuredDesign:
    """Design with the fewest instances that reach an assurance."""

    instances: int
    assurance: float  # assurance that they reach
    ceiling: float  # upper limit for any number of instances


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefAsk:
    """Question about assurance: that of a number of instances, or the instances for one.

    Effect, its spread and the margin are in standard deviations of the estimated differences.
    """

    effect: float
    effect_sd: float
    margin: float = 0.0
    goal: Goal = "above"
    level: float = 0.95
    instances: int | None = None
    assurance: float | None = None
    comparisons: int = 1

    def __post_init__(self) -> None:
        finite("effect", self.effect, "give mean/sd of the difference that is believed in, such as 0.5")
        for name, value in (("effect_sd", self.effect_sd), ("margin", self.margin)):
            if not (isfinite(value) and value >= 0):
                raise InvalidDesign(f"{name} must be a number that is not negative, got {value!r}: 0 is allowed")
        choice("goal", self.goal, get_args(Goal), "'above' the margin or 'inside' it")
        if self.goal == "inside" and self.margin == 0:
            raise InvalidDesign(
                "no interval lies inside a margin of 0: specify the margin, the smallest difference that matters"
            )
        share("level", self.level, "0.95 is usual")

    @property
    def ceiling(self) -> float:
        """The upper limit of the assurance for any number of instances."""
        distances = np.array([-self.margin, self.margin]) - self.effect
        with np.errstate(divide="ignore", invalid="ignore"):
            below, above = np.where(distances == 0, 0.0, distances / self.effect_sd)
        return float(ndtr(-above)) if self.goal == "above" else float(ndtr(above) - ndtr(below))

    def of(self, instances: int) -> float:
        """Return the assurance of this many instances."""
        freedom, root = instances - 1, sqrt(instances)
        critical = float(stdtrit(freedom, (1 + self.level) / 2))
        # P(lower end > margin): the mean is normal also over what is believed, so that t stays a noncentral t
        if self.goal == "above":
            wider = sqrt(1 + instances * self.effect_sd**2)
            return float(upper_tail(critical / wider, freedom, root * (self.effect - self.margin) / wider))
        # P(both ends within ±margin): given the standard deviation seen, the mean must keep half an interval away
        narrow = 1 - float(chdtrc(freedom, freedom * (self.margin * root / critical) ** 2))  # P(short enough)
        shares, weights = legendre(0.0, 1.0, NODES)
        half = critical * np.sqrt(chdtri(freedom, 1 - narrow * shares) / freedom) / root
        spread = sqrt(self.effect_sd**2 + 1 / instances)
        reach = ndtr((self.margin - half - self.effect) / spread) - ndtr((half - self.margin - self.effect) / spread)
        return narrow * float(np.maximum(reach, 0.0) @ weights)


def assurance(
    instances: int, *, effect: float, effect_sd: float, margin: float = 0.0, goal: Goal = "above", level: float = 0.95
) -> float:
    """Return the probability that the interval ends up above the margin (or inside it) when effect ~ N(effect, sd²).

    >>> round(assurance(57, effect=0.5, effect_sd=0.2), 4)
    0.8359
    """
    integer("instances", instances, 2, MOST_INSTANCES, "an interval takes two or more")
    return BeliefAsk(effect=effect, effect_sd=effect_sd, margin=margin, goal=goal, level=level).of(instances)


def instances_for_assurance(
    wanted: float, *, effect: float, effect_sd: float, margin: float = 0.0, goal: Goal = "above", level: float = 0.95
) -> AssuredDesign:
    """Return the fewest instances that reach an assurance.

    >>> instances_for_assurance(0.8, effect=0.5, effect_sd=0.2).instances
    48
    """
    ask = BeliefAsk(effect=effect, effect_sd=effect_sd, margin=margin, goal=goal, level=level, assurance=wanted)
    return assured_answer(ask)


def assured_answer(ask: BeliefAsk) -> AssuredDesign:
    """Return the design that answers.

    >>> assured_answer(BeliefAsk(effect=0.5, effect_sd=0.2, assurance=0.8)).instances
    48
    """
    if (ask.instances is None) == (ask.assurance is None):
        raise InvalidDesign(
            "give one of instances and assurance, and the other is the answer; got"
            f" {'neither' if ask.instances is None else 'both'}"
        )
    if ask.instances is not None:
        integer("instances", ask.instances, 2, MOST_INSTANCES, "an interval takes two or more")
        return AssuredDesign(ask.instances, ask.of(ask.instances), ask.ceiling)
    wanted, most = share("assurance", ask.assurance, "0.8 is usual"), ask.ceiling
    if wanted >= most:
        raise InvalidDesign(
            f"no number of instances has an assurance of {wanted!r}: the effect lies {ask.goal} the margin with"
            f" probability {most:.3g} only; specify a smaller assurance, or another margin"
        )
    needed = smallest(ask.of, wanted, guess=64, least=2, most=MOST_INSTANCES)
    if needed is None:
        raise InvalidDesign(
            f"more than {MOST_INSTANCES} instances are needed for an assurance of {wanted!r}: ask for less"
        )
    return AssuredDesign(needed, ask.of(needed), most)


def assured_sentence(ask: BeliefAsk, answer: AssuredDesign) -> str:
    """State the answer in one sentence.

    >>> ask = BeliefAsk(effect=0.5, effect_sd=0.2, assurance=0.8)
    >>> assured_sentence(ask, assured_answer(ask))
    '48 instances: assurance 0.802 that the 95 % credible interval lies above 0, for an effect of d = 0.5 ± 0.2.'
    """
    return (
        f"{answer.instances:,} instances: assurance {_chance(answer.assurance)} that the {digits(100 * ask.level)} %"
        f" credible interval lies {_where(ask)}, for an effect of d = {ask.effect:.4g} ± {ask.effect_sd:.4g}."
    )


def assured_points(ask: BeliefAsk, answer: AssuredDesign) -> Iterator[str]:
    """Yield notes on the ceiling, a certain effect, and several comparisons."""
    yield (
        f"Ceiling {_chance(answer.ceiling)}: no number of instances gives more, as the effect itself lies {_where(ask)}"
        " with this probability only."
    )
    if ask.effect_sd > 0:
        certain = replace(ask, effect_sd=0.0).of(answer.instances)
        yield f"If the effect were exactly {ask.effect:.4g}, the power would be {_chance(certain)}."
    if ask.comparisons > 1:
        second = ", and a verdict also needs a second posterior" if ask.comparisons >= SHARED_FROM else ""
        yield (
            f"This is the assurance of each of the {ask.comparisons:,} comparisons by itself: how many succeed together"
            f" is not covered{second}."
        )


def assured_document(ask: BeliefAsk, answer: AssuredDesign) -> dict[str, Any]:
    """Return question and answer as plain data."""
    solved = "instances" if ask.assurance is not None else "assurance"
    beliefs = {name: getattr(ask, name) for name in ("effect", "effect_sd", "margin", "goal", "level", "comparisons")}
    return asdict(answer) | beliefs | {"solved_for": solved}


def _where(ask: BeliefAsk) -> str:
    return f"above {ask.margin:.4g}" if ask.goal == "above" else f"inside ±{ask.margin:.4g}"


def _chance(value: float) -> str:
    return f"{value:.3f}" if value <= 0.9995 else "above 0.999"
