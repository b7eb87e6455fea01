"""`ampler advise`: more instances or more runs?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ampler.app.shell.options import JsonOption, NumberOption, WholeOption, number
from ampler.app.shell.output import WrongUsage, say, say_points, say_table, write_json
from ampler.app.shell.table_options import (
    DIFFERENCES,
    AlgorithmOption,
    EncodingOption,
    FailureOption,
    InstanceOption,
    MetricOption,
    ValueOption,
    WhereOption,
    assignment,
    conditions,
    several,
)
from ampler.core.values import Alternative, Difference, Test

if TYPE_CHECKING:
    from ampler.analysis.advice import Advice, Choice

Option = typer.Option
POINTS = 12  # of the curve that are shown
PAIRS = 10  # whose variance is shown, the most variable first


def advise(
    detect: Annotated[float, NumberOption(help="The raw difference to find: 0.02 is two percent.")],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[PILOT.CSV|STUDY.DB]", help="A pilot or old results; none: a rule of thumb."),
    ] = None,
    difference: Annotated[Difference | None, Option(help="Must be chosen, unless a study says it.")] = None,
    reference: Annotated[str | None, Option(metavar="NAME", help="Compare all with this one; else all pairs.")] = None,
    power: Annotated[float | None, NumberOption(help="Wanted power: 0.8 if not said.")] = None,
    alpha: Annotated[float | None, NumberOption(help="Family-wise error rate: 0.05 if not said.")] = None,
    target: Annotated[
        str | None, Option(help="What must reach the power: mean (if not said), median, worst, best, so many tests.")
    ] = None,
    test: Annotated[Test | None, Option(help="The paired test: t if not said.")] = None,
    alternative: Annotated[Alternative | None, Option(help="Two-sided if not said.")] = None,
    statistic: Annotated[str | None, Option(metavar="NAME", help="mean if not said.")] = None,
    start: Annotated[int | None, WholeOption(help="The fewest runs of each algorithm: 10 if not said.")] = None,
    available: Annotated[int | None, WholeOption(help="How many instances there are.")] = None,
    cost: Annotated[
        list[str] | None, Option(metavar="NAME=COST", help="Of one run of an algorithm; repeatable.")
    ] = None,
    instance_cost: Annotated[float | None, NumberOption(help="Of having one instance, in runs.")] = None,
    effect: Annotated[float | None, NumberOption(help="Without a pilot: the effect that --detect means.")] = None,
    algorithm: AlgorithmOption = None,
    instance: InstanceOption = None,
    value: ValueOption = None,
    metric: MetricOption = None,
    where: WhereOption = None,
    encoding: EncodingOption = None,
    on_failure: FailureOption = None,
    json: JsonOption = False,
) -> None:
    """More instances or more runs? Learn from a pilot which accuracy and how many instances are cheapest.

    Example: ampler advise pilot.csv --difference percent --reference full --detect 0.02
    """
    from ampler import front as sources

    if file is None:
        _without_pilot(detect, effect, json=json)
        return
    if effect is not None:
        raise WrongUsage("--effect is for the rule of thumb without a pilot: leave it out, the pilot knows better")
    if difference is None and not sources.is_study_file(file):
        raise WrongUsage(f"say which difference is compared: {DIFFERENCES}")
    advice = sources.advise(
        file,
        detect=detect,
        difference=difference,
        reference=reference,
        power=power,
        alpha=alpha,
        target=_target(target),
        alternative=alternative,
        test=test,
        statistic=statistic,
        start=start,
        costs=_costs(cost),
        instance_cost=instance_cost,
        available=available,
        on_failure=on_failure,
        algorithm=several(algorithm),
        instance=several(instance),
        value=value,
        metric=metric,
        where=conditions(where),
        encoding=encoding,
    )
    if json:
        write_json(advice.as_dict())
    else:
        _tell(advice)


def _target(word: str | None) -> Any:
    """A number of tests is a number; every other word is checked where it is used."""
    return int(word) if word is not None and word.isdigit() else word


def _costs(words: list[str] | None) -> dict[str, float] | None:
    pairs = (assignment(word, "--cost", "slow-solver=20") for word in words or ())
    return {name: number(cost) for name, cost in pairs} or None


def _without_pilot(detect: float, effect: float | None, *, json: bool) -> None:
    from ampler.analysis.advice import suggest_se

    size = 0.5 if effect is None else effect
    se = suggest_se(detect=detect, effect=size)
    if json:
        write_json({"se": se, "detect": detect, "effect": size})
        return
    say(f"Nothing is known yet: begin with se = {se:.3g}.", style="bold")
    say(
        f"If a difference of {detect:g} is an effect of d = {size:g}, the differences vary by {detect / size:.3g} over"
        " instances. This se leaves a tenth of that variance to the noise of the runs, which costs 5 % of the effect."
        " After some instances ask again, with their runs as the pilot."
    )


def _tell(advice: Advice) -> None:
    """The answer, the way to it in numbers, the curve, where the variation comes from, and what to mind."""
    best = advice.best
    say(advice.answer, style="bold")
    say(
        f"Take se = {best.se:.3g} and {best.instances} instances. That is about {best.runs:.0f} runs on each, all"
        f" algorithms together, {best.runs * best.instances:,.0f} in all, and finds a difference of {advice.detect:g}"
        f" with power {best.power:.3f}."
    )
    say_points(_points(advice))
    say_table(["se", "instances", "runs on each", "cost", ""], [_curve_row(each, advice) for each in _shown(advice)])
    say_table(
        ["comparison", "sd between instances", "se of the pilot", "share of noise"],
        _part_rows(advice),
        left=["comparison"],
    )
    if advice.warnings:
        say("Mind:", style="bold")
        say_points(f"{sentence[0].upper()}{sentence[1:]}." for sentence in advice.warnings)


def _points(advice: Advice) -> list[str]:
    low, high = advice.instances_interval
    return [
        "A rule that makes sure of se (the default guard) takes a fifth more runs, half more where they are few;"
        f" give it a budget of {advice.budget} runs or more on each instance.",
        f"From {advice.pilot_instances} instances of a pilot the number needed is known to within {low} to {high}"
        " (90 % interval).",
    ]


def _shown(advice: Advice) -> list[Choice]:
    """Some points of the curve, with the best one among them."""
    step = max(1, len(advice.curve) // POINTS)
    return sorted({*advice.curve[::step], advice.curve[-1], advice.best}, key=lambda choice: choice.se)


def _curve_row(choice: Choice, advice: Advice) -> list[str]:
    mark = "cheapest" if choice == advice.best else ""
    return [f"{choice.se:.3g}", f"{choice.instances:,}", f"{choice.runs:,.0f}", f"{choice.cost:,.0f}", mark]


def _part_rows(advice: Advice) -> list[list[str]]:
    parts = sorted(advice.parts, key=lambda part: -part.total)
    rows = [
        [
            f"{part.first} × {part.second}",
            f"{part.between**0.5:.3g}",
            f"{part.within**0.5:.3g}",
            f"{min(1.0, part.noise_share):.0%}",
        ]
        for part in parts[:PAIRS]
    ]
    return rows + [[f"and {len(parts) - PAIRS} more, which vary less", "", "", ""]] * (len(parts) > PAIRS)
