"""What a reader of the advice must know, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

from ampler.analysis.advice.curve import Choice
from ampler.analysis.advice.pilot import VarianceParts, variance_factors

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
