"""Text and tables of advice: the recommended plan, its uncertainty, and warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from ampler.analysis.cost_curve import Choice, VarianceParts, variance_factors
from ampler.core.settings import Difference
from ampler.core.text import amount, count, difference_text, digits, listed

if TYPE_CHECKING:
    from ampler.analysis.advice import Advice, StudyPlan


CURVE = ("se", "instances", "runs on each", "cost if variances were known", "")
PARTS = ("comparison", "sd between instances", "se of the pilot", "share of noise")
POINTS = 12  # displayed points of the curve
NAMES = 3  # algorithms named if they have the same number of runs
PAIRS = 10  # displayed pairs, the most variable first
FEW_INSTANCES = 10  # with fewer instances, a variance is known within a factor of three at best
NOISE_UNKNOWN = (
    "every cell has one value, so run noise cannot be estimated; make a second run of each algorithm on some instances"
)
PAIRED_NOISE_UNKNOWN = (  # shared noise cancels, and the separate noise is unknown
    "runs are compared pair by pair, which cancels their common noise; the advice keeps the number of paired runs and"
    " computes the number of instances"
)
NEARLY = 1.05  # recommended multiple of the pilot's runs


def answer(best: Choice, pilot_instances: int, pilot_runs: float) -> str:
    """State "more instances" or "more runs", by comparison of the best choice with the pilot."""
    instances = f"{best.instances} instead of {pilot_instances}"
    runs = f"{best.runs:.0f} instead of {pilot_runs:.0f}"
    enough_runs = best.runs <= NEARLY * pilot_runs
    if best.instances > pilot_instances:
        rest = "the runs per instance suffice" if enough_runs else f"also more runs per instance ({runs})"
        return f"You need more instances ({instances}); {rest}."
    if enough_runs:
        return "The pilot is large enough: neither more instances nor more runs are needed."
    return f"You need more runs per instance ({runs}); the instances suffice."


def recommendation(advice: Advice) -> str:
    """State which plan to carry out."""
    option = advice.recommended
    if option.kind == "adaptive":
        what = f"runs until se = {option.se:.3g} on {option.instances:,} instances, about {option.total:,.0f} runs"
    elif advice.plan is not None:
        numbers = sorted(set(advice.plan.runs.values()))
        each = count(numbers[0], "run") if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} runs"
        what = f"{option.instances:,} instances with {each} per algorithm, {option.total:,.0f} runs"
    else:
        what = f"{option.instances:,} instances with the same number of runs each, {option.total:,.0f} runs"
    short = "" if option.reaches else f" (less than {advice.power:g})"
    goal = size(advice, advice.detect)
    return f"Recommended: {what} in total. Power {option.power:.2f}{short} for a difference of {goal}."


def study_toml(advice: Advice) -> list[str]:
    """Return the lines of study.toml for the recommended plan; none where its runs are paired."""
    if advice.paired or (advice.plan is None and not advice.is_exact):
        return []
    option = advice.recommended
    if option.kind == "adaptive":
        lines = [f"se = {option.se:.3g}", "", "[rule]", f"budget = {advice.budget}"]
    elif advice.plan is not None and len(set(advice.plan.runs.values())) == 1:
        lines = ["[rule]", 'allocation = "fixed"', f"runs = {min(advice.plan.runs.values())}"]
    else:  # unequal numbers of runs: a pilot determines them
        return [f"detect = {advice.detect:g}  # a pilot finds how many runs each algorithm needs"]
    return [*lines, "", "[instances]", f"use = {option.instances}"]


OPTIONS = ("plan", "instances", "runs on each", "total runs", "power", "assumes")


def option_rows(advice: Advice) -> list[list[str]]:
    """Return the plans as rows under OPTIONS, the recommended one first."""
    return [
        [
            "fixed runs" if option.kind == "fixed" else f"until se = {option.se:.3g}",
            f"{option.instances:,}",
            f"{option.runs:,.0f}",
            f"{option.total:,.0f}",
            f"{option.power:.2f}",
            option.assumption,
        ]
        for option in advice.options
    ]


def planned_study(advice: Advice) -> str | None:
    """State the study that detects the difference, with its powers; None without such a plan."""
    plan = advice.plan
    if plan is None:
        return None
    numbers = set(plan.runs.values())
    runs = f"{count(min(numbers), 'run')} of each algorithm" if len(numbers) == 1 else _listed_runs(plan)
    what = f"a difference of {size(advice, advice.detect)}"
    powers = f"mean power {plan.mean_power:.2f} (smallest {plan.least_power:.2f})"
    plan_text = f"{plan.instances:,} instances with {runs}, {plan.total:,} runs in total"
    if plan.needed <= plan.instances:
        return f"A new study of {plan_text}, detects {what} with {powers}."
    finds = f"with mean power {advice.power:g} they detect {size(advice, plan.detectable)}"
    return (
        f"{what[:1].upper()}{what[1:]} needs {plan.needed:,} instances; {plan.instances:,} are available. A study of"
        f" {plan_text}, detects it with {powers}; {finds}."
    )


def needed_alone(advice: Advice) -> str | None:
    """State the required instances with one value per cell, if no plan states them; otherwise None."""
    if advice.plan is not None or advice.is_exact:
        return None
    best, what = advice.best, f"a difference of {size(advice, advice.detect)}"
    if advice.needed > best.instances:
        return (
            f"{what[:1].upper()}{what[1:]} needs {advice.needed:,} instances; {best.instances:,} are available. They"
            f" detect it with {_named_power(advice, 2)}. {which_power(advice)}"
        )
    each = "paired runs like these" if advice.paired else "one such value per algorithm"
    return (
        f"A new study of {best.instances:,} instances with {each} detects {what} with {_named_power(advice, 2)}."
        f" {which_power(advice)}"
    )


def _listed_runs(plan: StudyPlan) -> str:
    by_number: dict[int, list[str]] = {}
    for name, number in plan.runs.items():
        by_number.setdefault(number, []).append(name)
    return ", ".join(f"{count(number, 'run')} of {listed(names, NAMES)}" for number, names in sorted(by_number.items()))


def what_to_take(advice: Advice) -> str:
    """State the cheapest choice in numbers."""
    best = advice.best
    return (
        f"Use se = {best.se:.3g} and {best.instances} instances, with about {best.runs:.0f} runs of all algorithms on"
        f" each ({best.runs * best.instances:,.0f} in total). This detects a difference of"
        f" {size(advice, advice.detect)} with {_named_power(advice, 3)}."
    )


def size(advice: Advice, difference: float) -> str:
    """Return a difference in its usual unit: percent, a factor, percentage points of rates."""
    if advice.rates:
        return f"{digits(100 * difference)} percentage points"
    unit = f" in {advice.measure}" if advice.difference == "simple" else ""
    return f"{amount(difference, advice.difference)}{unit}"


def _named_power(advice: Advice, decimals: int) -> str:
    """Return the power of the choice with the name of its target."""
    kind = {"mean": "mean power", "median": "median power", "worst": "smallest power", "best": "largest power"}
    return f"{kind.get(str(advice.target), 'power')} {advice.best.power:.{decimals}f}"


def which_power(advice: Advice) -> str:
    """Name the target of the power, with the smallest power of a comparison."""
    kind = {"mean": "the mean over the comparisons", "worst": "the smallest of the comparisons"}.get(
        str(advice.target), f"the {advice.target} of the comparisons"
    )
    if isinstance(advice.target, int):
        kind = f"reached in {advice.target} of {len(advice.parts)} comparisons"
    option = advice.recommended
    smallest = advice.plan.least_power if advice.plan is not None and option.kind == "fixed" else advice.least_power
    least = "" if advice.target == "worst" else f"; the smallest power of a comparison is {smallest:.3f}"
    return f"Power {option.power:.3f} is {kind}{least}."


def how_sure(advice: Advice) -> list[str]:
    """Describe the extra runs of an adaptive rule, and the uncertainty of the number of instances."""
    (low, high), runs, best = advice.instances_interval, advice.guarded_runs, advice.best
    sampling = "Adaptive sampling, which estimates the variances, takes hardly more runs."
    if not runs <= NEARLY * best.runs:
        total = f"({runs * best.instances:,.0f} in total)"
        sampling = f"Adaptive sampling estimates the variances, so expect about {runs:.0f} runs per instance {total}."
    return [
        f"{sampling} Set a budget of at least {advice.budget} runs per instance.",
        f"The plan with adaptive runs needs {low} to {high} instances (90 % interval).",
    ]


def curve_rows(advice: Advice) -> list[list[str]]:
    """Return some points of the curve, with the best one among them, as rows under CURVE."""
    step, best = max(1, len(advice.curve) // POINTS), advice.best
    shown = sorted({*advice.curve[::step], advice.curve[-1], best}, key=lambda choice: choice.se)
    numbers = ((item, item.se, item.instances, item.runs, item.cost) for item in shown)
    return [
        [f"{se:.3g}", f"{instances:,}", f"{runs:,.0f}", f"{cost:,.0f}", "cheapest" if item == best else ""]
        for item, se, instances, runs, cost in numbers
    ]


def part_rows(advice: Advice) -> list[list[str]]:
    """Return the variance components of the most variable pairs, as rows under PARTS."""

    def deviation(variance: float) -> str:  # logarithms have no unit
        kind = advice.difference
        return digits(variance**0.5) if kind == "ratio" else difference_text(variance**0.5, kind)

    rows = []
    for part in sorted(advice.parts, key=lambda part: -part.total)[:PAIRS]:
        noise = f"{min(1.0, part.noise_share):.0%}"
        rows.append([f"{part.first} × {part.second}", deviation(part.between), deviation(part.within), noise])
    return rows


def further_parts(advice: Advice) -> str | None:
    """State how many pairs `part_rows` leaves out; None if it has all."""
    further = len(advice.parts) - PAIRS
    return f"{count(further, 'more pair')} with less variation." if further > 0 else None


def sentences(clauses: Iterable[str]) -> Iterator[str]:
    """Yield sentences; clauses get a capital and a full stop."""
    return (f"{clause[0].upper()}{clause[1:].removesuffix('.')}." for clause in clauses)


# without a pilot --------------------------------------------------------------------------------------------------


def first_accuracy(se: float) -> str:
    """State the first target standard error."""
    return f"Without a pilot, start with se = {se:.3g}."


def why_this_accuracy(detect: float, effect: float) -> str:
    """State the reason for the first target standard error, and the next step."""
    return (
        f"If a difference of {detect:g} is an effect of d = {effect:g}, the differences have an SD of"
        f" {detect / effect:.3g} over instances. With this se, run noise is 10 % of that variance, which costs 5 % of"
        " the effect. After some instances, use their runs as a pilot."
    )


# warnings ------------------------------------------------------------------------------------------


def percent_note(difference: Difference, reference: str | None) -> str | None:
    """State that percent differences to a reference favour it; None for other differences."""
    if difference != "percent" or reference is None:
        return None
    return (
        f"percent differences favour the reference: if {reference} and another algorithm are equally good,"
        f' {reference} seems better on average; ratio differences (difference = "ratio") do not'
    )


def notes(
    used: int,
    instances: int,
    excluded: Mapping[str, str],
    *sentences: str | None,
    parts: Sequence[VarianceParts] = (),
    sufficient_start: int | None = None,
) -> tuple[str, ...]:
    """Return clauses about the pilot; `sentences` are further ones, `sufficient_start` are runs that suffice."""
    clauses, none = [], [f"{part.first} and {part.second}" for part in parts if part.between == 0 and part.within > 0]
    for name, reason in list(excluded.items())[:1]:
        number = f"{len(excluded)} of {used + len(excluded)} instances"
        clauses.append(f"{number} could not be used, first {name!r}: {reason}")
    clauses += filter(None, sentences)
    if used < FEW_INSTANCES:
        low, high = (sqrt(factor) for factor in variance_factors(used))
        clauses.append(
            f"the pilot has only {used} instances: the true standard deviations may be {low:.2g} to {high:.2g} times"
            " the estimates (90 % interval); the number of instances grows with their square"
        )
    if none:
        more = f" and {len(none) - 1} more pairs" if len(none) > 1 else ""
        clauses.append(
            f"run noise explains all variation of the differences of {none[0]}{more}, so their between-instance"
            " variance is taken as 0; make a pilot with more runs"
        )
    equal = [f"{part.first} and {part.second}" for part in parts if part.total == 0 and not part.within > 0]
    if equal:
        clauses.append(
            f"all differences of {equal[0]} are equal, so nothing is known of how they vary; use other instances"
        )
    if instances < FEW_INSTANCES:
        clauses.append(f"{instances} instances reach the power, but rarely represent a class of problems; use more")
    if sufficient_start is not None:
        clauses.append(
            f"{sufficient_start} runs of each algorithm suffice on every instance of the pilot: adaptive sampling saves"
            f" nothing there{', and a smaller start costs less' if sufficient_start > 3 else ''}"
        )
    return tuple(clauses)
