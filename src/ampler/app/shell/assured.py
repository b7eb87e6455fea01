"""The part of `ampler design` that averages over what is believed of the effect: its options and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ampler.app.shell.output import WrongUsage, say, say_next, say_points, write_json

if TYPE_CHECKING:
    from ampler.design.beliefs import BeliefAsk
    from ampler.design.cost import Cost


def check_beside_assurance(said: Mapping[str, bool]) -> None:
    """Refuse options that speak of tests and their powers: an assurance is of one interval."""
    wrong = [option for option, is_said in said.items() if is_said]
    if wrong:
        raise WrongUsage(f"an assurance is of a credible interval, not of a test: leave out {', '.join(wrong)}")


def belief_of(
    effect: float | None, effect_sd: float | None, margin: float | None, goal: str | None, *, unit: float
) -> dict[str, Any]:
    """Return what is believed in standard deviations; spread and margin were said in the unit of the effect."""
    if effect is None or effect_sd is None:
        raise WrongUsage(
            "say what is believed of the effect: --effect and --effect-sd, its uncertainty (0: it is certain)"
        )
    return {
        "effect": effect,
        "effect_sd": effect_sd / unit,
        "margin": (margin or 0.0) / unit,
        "goal": goal or "above",
    }


def tell_assured(ask: BeliefAsk, *, cost_of: Any, json: bool) -> None:
    """Print the answer, its ceiling and what it leaves open; `cost_of(instances)` is what they cost, if it is known."""
    from ampler.design.beliefs import assured_answer, assured_document, assured_points, assured_sentence

    if (ask.instances is None) == (ask.assurance is None):
        raise WrongUsage("give one of --assurance and --instances, the other is the answer")
    answer = assured_answer(ask)
    cost: Cost | None = cost_of(answer.instances)
    if json:
        write_json(assured_document(ask, answer) | ({} if cost is None else {"cost": cost.as_dict()}))
        return
    say(assured_sentence(ask, answer), style="bold")
    say_points([*assured_points(ask, answer), *([] if cost is None else [f"{cost}."])])
    say_next("init")
