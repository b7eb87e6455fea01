"""`ampler advise`: more instances or more runs?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from ampler.app.cli.options import (
    IntegerOption,
    JsonOption,
    MeasureOption,
    NumberOption,
    Options,
    analysed,
    as_number,
    assignment,
    read_options,
    reading_options,
    settings_options,
    takes,
    text_or_integer,
    usage_errors,
)
from ampler.app.cli.output import WrongUsage, say, say_lines, say_next, say_points, say_table, write_json
from ampler.core.settings import TargetWord, choice, finite, help_text, integer, positive
from ampler.core.text import table_of

if TYPE_CHECKING:
    from ampler.analysis.advice import Advice

Option = typer.Option
DEFAULT_EFFECT = 0.5  # that `--detect` means for the rule of thumb
MINIMUM_REASONS = {
    "start": "no variance can be estimated from less",
    "available": "a study needs at least two instances",
}


@takes(
    question=settings_options("difference", "reference", "power", "alpha"),
    tests=settings_options(
        *("test", "alternative", "statistic", "better", "formula", "floor", "shift", "margin", "se", "budget"),
        *("estimate", "guard", "weights"),
    ),
    table=reading_options(leave_out=["unplanned"]),
)
def advise(
    *,
    detect: Annotated[float, NumberOption(help=help_text("detect"))],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[PILOT.CSV|STUDY.DB]", help="Pilot or old results; without it, a rule of thumb."),
    ] = None,
    question: Options,
    target: Annotated[str | None, Option(metavar="NAME|N", help=help_text("target"))] = None,
    tests: Options,
    start: Annotated[int | None, IntegerOption(help="Initial runs per algorithm. [default: 10]")] = None,
    available: Annotated[int | None, IntegerOption(help=help_text("available"))] = None,
    cost: Annotated[
        list[str] | None, Option(metavar="NAME=COST", help="Cost of one run of an algorithm; repeatable.")
    ] = None,
    instance_cost: Annotated[float | None, NumberOption(help=help_text("instance_cost"))] = None,
    effect: Annotated[float | None, NumberOption(help="Without a pilot: effect size d of --detect.")] = None,
    table: Options,
    explain: Annotated[bool, Option("--explain", help="Show the cost curve and the variances in detail.")] = False,
    json: JsonOption = False,
    measure: MeasureOption = None,
) -> None:
    """Recommend instances and runs from a pilot.

    Example: ampler advise pilot.csv --difference ratio --reference full --detect 0.02
    """
    from ampler.analysis import advice_text
    from ampler.analysis.advice import suggest_se
    from ampler.api import advise as advise_from

    goal = text_or_integer(target)
    pairs = (assignment(text, "--cost", "slow-solver=20") for text in cost or ())
    costs = {name: as_number(price) for name, price in pairs}
    with usage_errors():
        if goal is not None and not (isinstance(goal, int) and goal > 0):
            choice("target", goal, get_args(TargetWord), "or say in how many comparisons")
        _check(detect=detect, effect=effect, start=start, available=available, instance_cost=instance_cost)
        _check(**{f"the cost of {name!r}": price for name, price in costs.items()})
    if file is None:
        effect = DEFAULT_EFFECT if effect is None else effect
        se = suggest_se(detect=detect, effect=effect)
        if json:
            write_json({"se": se, "detect": detect, "effect": effect})
            return
        say(advice_text.first_accuracy(se), style="bold")
        say(advice_text.why_this_accuracy(detect, effect))
        say_next("init")
        return
    if effect is not None:
        raise WrongUsage("--effect is for the rule of thumb without a pilot; omit it, or omit the pilot")
    options = question | tests | table
    results, keywords = (None, {}) if measure else read_options(file, options)
    if results is None or results.measures:
        joint = analysed([file], options | {"power": None}, measure).measures  # the claim about several measures
        assert joint is not None
        plan = joint.plan(detect=detect, power=options["power"] or 0.8)
        write_json(plan.as_dict()) if json else say_lines(str(plan).splitlines())
        return
    keywords |= {"start": start, "costs": costs or None, "instance_cost": instance_cost or 0.0, "available": available}
    advice = advise_from(results, detect=detect, target=goal or "mean", **keywords)
    if json:
        write_json(advice.as_dict())
    else:
        reading = () if explain else [note.sentence for note in results.notes]
        _tell(replace(advice, warnings=tuple(w for w in advice.warnings if w not in reading)), explain=explain)


def _check(**numbers: float | None) -> None:
    """Refuse invalid options before the pilot is read."""
    for name, number in numbers.items():
        if number is None:
            continue
        if name == "instance_cost":
            if finite("instance-cost", number) < 0:
                raise WrongUsage(f"--instance-cost must not be negative, got {number:g}")
        elif name in MINIMUM_REASONS:
            integer(name, number, 2, way_out=MINIMUM_REASONS[name])
        else:
            positive(name, number)


def _tell(advice: Advice, *, explain: bool) -> None:
    """Print the answer, the lines of study.toml, the plans and warnings; with `explain` also costs and variances."""
    from ampler.analysis import advice_text

    say(advice_text.recommendation(advice), style="bold")
    say(advice.answer)
    is_fixed = advice.recommended.kind == "fixed"
    if not (is_fixed and advice.recommended.reaches and advice.plan is not None):
        say((is_fixed and advice_text.planned_study(advice)) or advice_text.needed_alone(advice) or "")
    if lines := advice_text.study_toml(advice):
        print()
        say_lines(["In study.toml:", *(f"  {line}".rstrip() for line in lines)])
    if advice.is_exact:
        say_table(table_of(advice_text.OPTIONS, advice_text.option_rows(advice), names=(0,), words=(5,)))
        if not is_fixed:
            say(advice_text.what_to_take(advice))
        points = [advice_text.which_power(advice), *advice_text.how_sure(advice)]
        say_points(points[-1:] if is_fixed else points)
        if explain:
            say_table(table_of(advice_text.CURVE, advice_text.curve_rows(advice), names=(), words=(4,)))
            say_table(table_of(advice_text.PARTS, advice_text.part_rows(advice)))
            say(advice_text.further_parts(advice) or "")
    if advice.warnings:
        say("Warnings:", style="bold")
        say_points(advice_text.sentences(advice.warnings))
    say_next("init")
