"""A design for what is believed of the effect, in words: the ask, the answer, its ceiling, what is left open. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ampler.core.errors import InvalidDesign
from ampler.core.wording import digits
from ampler.design.assurance import AssuredDesign, Goal, assurance, ceiling, instances_for_assurance
from ampler.stats.bayes.verdicts import SHARED_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefAsk:
    """What is asked: the assurance of so many instances, or the instances for an assurance.

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

    @property
    def belief(self) -> dict[str, Any]:
        """What is believed, as `assurance` takes it."""
        names = ("effect", "effect_sd", "margin", "goal", "level")
        return {name: getattr(self, name) for name in names}


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
    if ask.assurance is not None:
        return instances_for_assurance(ask.assurance, **ask.belief)
    assert ask.instances is not None
    most = ceiling(effect=ask.effect, effect_sd=ask.effect_sd, margin=ask.margin, goal=ask.goal)
    return AssuredDesign(ask.instances, assurance(ask.instances, **ask.belief), most)


def assured_sentence(ask: BeliefAsk, answer: AssuredDesign) -> str:
    """Say the answer in one sentence.

    >>> ask = BeliefAsk(effect=0.5, effect_sd=0.2, assurance=0.8)
    >>> assured_sentence(ask, assured_answer(ask))
    '48 instances: assurance 0.802 that the 95 % credible interval lies above 0, for an effect of d = 0.5 ± 0.2.'
    """
    return (
        f"{answer.instances:,} instances: assurance {_chance(answer.assurance)} that the {digits(100 * ask.level)} %"
        f" credible interval lies {_where(ask)}, for an effect of d = {ask.effect:.4g} ± {ask.effect_sd:.4g}."
    )


def assured_points(ask: BeliefAsk, answer: AssuredDesign) -> Iterator[str]:
    """Yield the ceiling, what a certain effect would give, and what several comparisons leave open."""
    yield (
        f"Ceiling {_chance(answer.ceiling)}: no number of instances gives more, as the effect itself lies {_where(ask)}"
        " with this probability only."
    )
    if ask.effect_sd > 0:
        certain = assurance(answer.instances, **(ask.belief | {"effect_sd": 0.0}))
        yield f"Were the effect {ask.effect:.4g} for certain, the power of so many would be {_chance(certain)}."
    if ask.comparisons > 1:
        second = ", and a verdict asks a second posterior besides" if ask.comparisons >= SHARED_FROM else ""
        yield (
            f"This is the assurance of each of the {ask.comparisons:,} comparisons by itself: how many succeed together"
            f" is not covered{second}."
        )


def assured_document(ask: BeliefAsk, answer: AssuredDesign) -> dict[str, Any]:
    """Return the answer with what was asked, for other programs."""
    solved = "instances" if ask.assurance is not None else "assurance"
    return asdict(answer) | ask.belief | {"comparisons": ask.comparisons, "solved_for": solved}


def _where(ask: BeliefAsk) -> str:
    return f"above {ask.margin:.4g}" if ask.goal == "above" else f"inside ±{ask.margin:.4g}"


def _chance(value: float) -> str:
    return f"{value:.3f}" if value <= 0.9995 else "above 0.999"
