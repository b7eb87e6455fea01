"""Advice in sentences and tables: what to take, how sure that is, and what a reader must know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from ampler.analysis.advice.curve import Choice
from ampler.analysis.advice.pilot import VarianceParts, variance_factors
from ampler.core.wording import amount, count, difference_text, digits, listed

if TYPE_CHECKING:
    from ampler.analysis.advice.advise import Advice
    from ampler.analysis.advice.study_plan import StudyPlan

CURVE = ("se", "instances", "runs on each", "cost", "")
PARTS = ("comparison", "sd between instances", "se of the pilot", "share of noise")
INSTEAD = "Instead of fixed runs, a rule can watch the accuracy on each instance."
POINTS = 12  # of the curve that are shown
NAMES = 3  # of algorithms with the same number of runs
PAIRS = 10  # whose variance is shown, the most variable first
FEW_INSTANCES = 10  # a variance from fewer is known to within a factor of three or worse
NEARLY = 1.05  # a pilot with so many times its runs would do


def answer(best: Choice, pilot_instances: int, pilot_runs: float) -> str:
    """Say "more instances" or "more runs", comparing the best choice with the pilot."""
    instances = f"{best.instances} instead of {pilot_instances}"
    runs = f"{best.runs:.0f} instead of {pilot_runs:.0f}"
    enough_runs = best.runs <= NEARLY * pilot_runs
    if best.instances > pilot_instances:
        rest = f"the runs on each suffice ({runs})" if enough_runs else f"more runs on each, too ({runs})"
        return f"More instances ({instances}); {rest}."
    if enough_runs:
        return f"Neither: the pilot is large enough ({instances} instances, {runs} runs on each)."
    return f"More runs on each instance ({runs}); the instances suffice ({instances})."


def planned_study(advice: Advice) -> str | None:
    """Say which study finds the difference, with the powers it has; None where there is no such plan."""
    plan = advice.plan
    if plan is None:
        return None
    numbers = set(plan.runs.values())
    each = f"{count(min(numbers), 'run')} of each algorithm" if len(numbers) == 1 else _listed_runs(plan)
    what = f"a difference of {size(advice, advice.detect)}"
    powers = f"mean power {plan.mean_power:.2f} over the comparisons, the least of one {plan.least_power:.2f}"
    taken = f"{plan.instances:,} instances with {each}, {plan.total:,} runs in all"
    if plan.needed <= plan.instances:
        return f"A new study of {taken}, finds {what} with {powers}."
    finds = f"with mean power {advice.power:g} they find {size(advice, plan.detectable)}"
    return (
        f"{what[:1].upper()}{what[1:]} needs {plan.needed:,} instances and {plan.instances:,} are there: {taken}, find"
        f" it with {powers}; {finds}."
    )


def how_to_write(advice: Advice) -> str | None:
    """Say what a study file has for the planned study; None where there is no plan, or its runs are paired."""
    plan = advice.plan
    if plan is None or advice.paired:
        return None
    numbers = set(plan.runs.values())
    found = f"detect = {advice.detect:g} and a pilot finds it out again"
    if len(numbers) > 1:
        return f"In study.toml: {found}."
    fixed = f'allocation = "fixed" and runs = {min(numbers)} under [rule], use = {plan.instances} under [instances]'
    return f"In study.toml: {fixed}; or {found}."


def needed_alone(advice: Advice) -> str | None:
    """Say how many instances with one value in each cell it takes, where no plan says it; None where one does."""
    if advice.plan is not None or advice.is_exact:
        return None
    best, what = advice.best, f"a difference of {size(advice, advice.detect)}"
    if advice.needed > best.instances:
        return (
            f"{what[:1].upper()}{what[1:]} needs {advice.needed:,} instances and {best.instances:,} are there, which"
            f" find it with {_named_power(advice, 2)}. {which_power(advice)}"
        )
    each = "runs paired as these" if advice.paired else "one such value in each cell"
    return (
        f"A new study of {best.instances:,} instances with {each} finds {what} with {_named_power(advice, 2)}."
        f" {which_power(advice)}"
    )


def _listed_runs(plan: StudyPlan) -> str:
    by_number: dict[int, list[str]] = {}
    for name, number in plan.runs.items():
        by_number.setdefault(number, []).append(name)
    return ", ".join(f"{count(number, 'run')} of {listed(names, NAMES)}" for number, names in sorted(by_number.items()))


def noise_unknown() -> str:
    """One value in a cell does not tell how noisy it is."""
    return (
        "every cell has one value, so what share of the variation is noise of the runs is not known, nor whether more"
        " runs on fewer instances would do as well; a second run of each algorithm on some instances would tell"
    )


def paired_noise_unknown() -> str:
    """Of paired runs the noise that two algorithms share cancels, and what each has of its own is not told apart."""
    return (
        "runs are compared pair by pair, so that the noise they share cancels; the advice keeps as many paired runs as"
        " there are and says how many instances that takes"
    )


def what_to_take(advice: Advice) -> str:
    """Say the cheapest choice in numbers."""
    best = advice.best
    return (
        f"Take se = {best.se:.3g} and {best.instances} instances. That is about {best.runs:.0f} runs on each, all"
        f" algorithms together, {best.runs * best.instances:,.0f} in all, and finds a difference of"
        f" {size(advice, advice.detect)} with {_named_power(advice, 3)}."
    )


def size(advice: Advice, difference: float) -> str:
    """Return a difference to be found in the unit people use: percent, a factor, percentage points of rates."""
    return f"{digits(100 * difference)} percentage points" if advice.rates else amount(difference, advice.difference)


def _named_power(advice: Advice, decimals: int) -> str:
    """The power of the choice, by the name of what it is of the comparisons."""
    kind = {"mean": "mean power", "median": "median power", "worst": "least power", "best": "largest power"}
    return f"{kind.get(str(advice.target), 'power')} {advice.best.power:.{decimals}f}"


def which_power(advice: Advice) -> str:
    """Say which of the powers of the comparisons the power is, and the least one beside it."""
    kind = {"mean": "the mean over the comparisons", "worst": "the least of the comparisons"}.get(
        str(advice.target), f"the {advice.target} of the comparisons"
    )
    if isinstance(advice.target, int):
        kind = f"reached in {advice.target} of {len(advice.parts)} comparisons"
    least = "" if advice.target == "worst" else f"; the least of a comparison is {advice.least_power:.3f}"
    return f"Power {advice.best.power:.3f} is {kind}{least}."


def how_sure(advice: Advice) -> list[str]:
    """Say what a rule spends above the choice, and how well the pilot knows the number of instances."""
    low, high = advice.instances_interval
    return [
        f"These runs are enough for one who knows the variances. {_guarded(advice)} give it a budget of {advice.budget}"
        " runs or more on each instance.",
        f"From {advice.pilot_instances} instances of a pilot the number needed is known to within {low} to {high}"
        " (90 % interval).",
    ]


def _guarded(advice: Advice) -> str:
    """What a rule takes that has to find the variances out."""
    runs, known = advice.guarded_runs, advice.best.runs
    if runs <= NEARLY * known:
        return "A rule that makes sure of se takes hardly more;"
    return (
        f"A rule that makes sure of se takes about {runs:.0f} on each, {runs / known:.1f} times as many, and"
        f" {runs * advice.best.instances:,.0f} in all;"
    )


def curve_rows(advice: Advice) -> list[list[str]]:
    """Return some points of the curve, with the best one among them, as rows under CURVE."""
    step = max(1, len(advice.curve) // POINTS)
    shown = {*advice.curve[::step], advice.curve[-1], advice.best}
    return [_curve_row(choice, advice) for choice in sorted(shown, key=lambda choice: choice.se)]


def part_rows(advice: Advice) -> list[list[str]]:
    """Return where the variation of the most variable pairs comes from, as rows under PARTS."""
    parts = sorted(advice.parts, key=lambda part: -part.total)
    return [
        [
            f"{part.first} × {part.second}",
            _spread(part.between**0.5, advice),
            _spread(part.within**0.5, advice),
            f"{min(1.0, part.noise_share):.0%}",
        ]
        for part in parts[:PAIRS]
    ]


def _spread(deviation: float, advice: Advice) -> str:
    """A standard deviation: logarithms have no unit."""
    return digits(deviation) if advice.difference == "ratio" else difference_text(deviation, advice.difference)


def further_parts(advice: Advice) -> str | None:
    """Say how many pairs `part_rows` leaves out; None if it has all."""
    further = len(advice.parts) - PAIRS
    return f"{count(further, 'more pair')} vary less." if further > 0 else None


def sentences(clauses: Iterable[str]) -> Iterator[str]:
    """Yield clauses with a capital and a full stop, sentences as they are."""
    return (f"{clause[0].upper()}{clause[1:].removesuffix('.')}." for clause in clauses)


# without a pilot --------------------------------------------------------------------------------------------------


def first_accuracy(se: float) -> str:
    """Say which accuracy to begin with."""
    return f"Nothing is known yet: begin with se = {se:.3g}."


def why_this_accuracy(detect: float, effect: float) -> str:
    """Say where the accuracy to begin with comes from, and what comes next."""
    return (
        f"If a difference of {detect:g} is an effect of d = {effect:g}, the differences vary by {detect / effect:.3g}"
        " over instances. This se leaves a tenth of that variance to the noise of the runs, which costs 5 % of the"
        " effect. After some instances ask again, with their runs as the pilot."
    )


# what a reader must know: clauses, or None where there is nothing to say ------------------------------------------


def small_pilot(instances: int) -> str | None:
    """A variance from few instances is a guess."""
    if instances >= FEW_INSTANCES:
        return None
    low, high = (sqrt(factor) for factor in variance_factors(instances))
    return (
        f"the pilot has only {instances} instances: the true standard deviations may be {low:.2g} to {high:.2g} times"
        " those estimated (90 % interval), and the number of instances grows with their square"
    )


def no_variation(parts: Sequence[VarianceParts]) -> str | None:
    """Where the noise explains everything, nothing is known of the variation between instances."""
    none = [f"{part.first} and {part.second}" for part in parts if part.between == 0 and part.within > 0]
    if not none:
        return None
    more = f" and {len(none) - 1} more pairs" if len(none) > 1 else ""
    return (
        f"the noise of the runs explains all variation of the differences of {none[0]}{more}, so none is counted as"
        " variation between instances; a pilot with more runs would tell"
    )


def few_instances(instances: int) -> str | None:
    """Power is not everything."""
    if instances >= FEW_INSTANCES:
        return None
    return (
        f"{instances} instances reach the power, but so few seldom stand for a class of problems; take more if you can"
    )


def start_suffices(start: int, *, everywhere: bool) -> str | None:
    """When `start` runs suffice everywhere, `start` decides what is spent."""
    if not everywhere:
        return None
    fewer = "; a smaller start would cost less still" if start > 3 else ""
    return (
        f"{start} runs of each algorithm suffice on every instance of the pilot, so a fixed number of runs does as well"
        f" as a rule that watches the accuracy{fewer}"
    )


def left_out(excluded: Mapping[str, str], used: int) -> str | None:
    """Which instances of the pilot could not be used."""
    if not excluded:
        return None
    name, reason = next(iter(excluded.items()))
    return (
        f"{len(excluded)} of {used + len(excluded)} instances could not be used, the first of them {name!r}: {reason}"
    )


def _curve_row(choice: Choice, advice: Advice) -> list[str]:
    mark = "cheapest" if choice == advice.best else ""
    return [f"{choice.se:.3g}", f"{choice.instances:,}", f"{choice.runs:,.0f}", f"{choice.cost:,.0f}", mark]
