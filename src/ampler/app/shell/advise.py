"""`ampler advise`: more instances or more runs?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from ampler.app.shell.options import (
    JsonOption,
    NumberOption,
    Said,
    WholeOption,
    as_arguments,
    as_number,
    assignment,
    looks_options,
    pairing_options,
    settings_options,
    table_options,
    takes,
    told_as_usage,
    word_or_number,
)
from ampler.app.shell.output import WrongUsage, say, say_next, say_points, say_table, write_json
from ampler.core.layout import table_of

if TYPE_CHECKING:
    from ampler.analysis.advice import Advice

Option = typer.Option
THUMB_EFFECT = 0.5  # that `--detect` means for the rule of thumb, unless said otherwise


@takes(
    asked=settings_options("difference", "reference", "power", "alpha", power="Wanted power: 0.8 if not said."),
    tested=settings_options(
        *("test", "alternative", "statistic", "better", "formula", "floor", "margin", "se", "budget", "estimate"),
        *("guard", "weights"),
        alternative="Two-sided if not said.",
        statistic="mean if not said.",
    ),
    table=[*table_options(), *pairing_options(), *looks_options()],
)
def advise(
    *,
    detect: Annotated[float, NumberOption(help="The raw difference to find: 0.02 is two percent.")],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[PILOT.CSV|STUDY.DB]", help="A pilot or old results; none: a rule of thumb."),
    ] = None,
    asked: Said,
    target: Annotated[
        str | None, Option(help="What must reach the power: mean (if not said), median, worst, best, so many tests.")
    ] = None,
    tested: Said,
    start: Annotated[int | None, WholeOption(help="The fewest runs of each algorithm: 10 if not said.")] = None,
    available: Annotated[int | None, WholeOption(help="How many instances there are.")] = None,
    cost: Annotated[
        list[str] | None, Option(metavar="NAME=COST", help="Of one run of an algorithm; repeatable.")
    ] = None,
    instance_cost: Annotated[float | None, NumberOption(help="Of having one instance, in runs.")] = None,
    effect: Annotated[float | None, NumberOption(help="Without a pilot: the effect that --detect means.")] = None,
    table: Said,
    json: JsonOption = False,
) -> None:
    """More instances or more runs? Learn from a pilot which accuracy and how many instances are cheapest.

    Example: ampler advise pilot.csv --difference percent --reference full --detect 0.02
    """
    from ampler import front

    with told_as_usage():
        _check_numbers(detect, effect, start, available, instance_cost, _costs(cost))
        _check_target(word_or_number(target))
    if file is None:
        _without_pilot(detect, THUMB_EFFECT if effect is None else effect, json=json)
        return
    if effect is not None:
        raise WrongUsage("--effect is for the rule of thumb without a pilot: leave it out, the pilot knows better")
    advice = front.advise(
        file,
        detect=detect,
        target=word_or_number(target),
        start=start,
        costs=_costs(cost),
        instance_cost=instance_cost,
        available=available,
        **as_arguments(file, asked | tested | table),
    )
    if json:
        write_json(advice.as_dict())
    else:
        _tell(advice)


def _check_numbers(
    detect: float,
    effect: float | None,
    start: int | None,
    available: int | None,
    instance_cost: float | None,
    costs: Mapping[str, float] | None,
) -> None:
    """Refuse what no pilot could make right, before it is read."""
    from ampler.core.checks import finite, integer, positive

    positive("detect", detect)
    if effect is not None:
        positive("effect", effect)
    if start is not None:
        integer("start", start, 2, way_out="no variance can be estimated from less")
    if available is not None:
        integer("available", available, 2, way_out="so many instances must be there at least")
    if instance_cost is not None and finite("instance-cost", instance_cost) < 0:
        raise WrongUsage(f"--instance-cost must not be negative, got {instance_cost:g}")
    for name, price in (costs or {}).items():
        positive(f"the cost of {name!r}", price)


def _check_target(target: Any) -> None:
    from ampler.core.checks import choice
    from ampler.core.choices import TargetWord

    if target is not None and not (isinstance(target, int) and target > 0):
        choice("target", target, get_args(TargetWord), "or say in how many comparisons")


def _costs(words: list[str] | None) -> dict[str, float] | None:
    pairs = (assignment(word, "--cost", "slow-solver=20") for word in words or ())
    return {name: as_number(cost) for name, cost in pairs} or None


def _without_pilot(detect: float, effect: float, *, json: bool) -> None:
    from ampler.analysis.advice import suggest_se, words

    se = suggest_se(detect=detect, effect=effect)
    if json:
        write_json({"se": se, "detect": detect, "effect": effect})
        return
    say(words.first_accuracy(se), style="bold")
    say(words.why_this_accuracy(detect, effect))
    say_next("init")


def _tell(advice: Advice) -> None:
    """The answer, the way to it in numbers, the curve, where the variation comes from, and what to mind."""
    from ampler.analysis.advice import words

    say(advice.answer, style="bold")
    planned = words.planned_study(advice) or words.needed_alone(advice)
    if planned is not None:
        say(planned)
    if written := words.how_to_write(advice):
        say(written, style="dim")
    if advice.is_exact:
        say(f"{words.INSTEAD} {words.what_to_take(advice)}" if planned is not None else words.what_to_take(advice))
        say_points([words.which_power(advice), *words.how_sure(advice)])
        say_table(table_of(words.CURVE, words.curve_rows(advice), names=(), words=(4,)))
        say_table(table_of(words.PARTS, words.part_rows(advice)))
        if further := words.further_parts(advice):
            say(further)
    if advice.warnings:
        say("Mind:", style="bold")
        say_points(words.sentences(advice.warnings))
    say_next("init")
