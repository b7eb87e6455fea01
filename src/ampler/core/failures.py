"""What a failed run counts as: the choices, as study.toml and the shell write them, in words, and as values. Pure.

policy ◄─ failure_policy ── "par=10"             policy ─► policy_words ─► a sentence's "counted as 10 times …"
policy ◄─ policy_from ◄─► policy_data ── TOML    policy ─► value_of, values_under ─► numbers
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ampler.core.errors import InvalidData, InvalidInput, InvalidPlan
from ampler.core.spoken import parameter
from ampler.core.wording import digits

if TYPE_CHECKING:  # values and runs are made of policies; numpy waits until there are arrays
    from ampler.core.arrays import Bools, Floats
    from ampler.core.choices import Better, Difference
    from ampler.core.runs import Runs
    from ampler.core.values import Observation


@dataclass(frozen=True, slots=True)
class StopStudy:
    """A failed run ends the study; it is tried again when the study is run again."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A failed run counts towards the budget and gives no value."""


@dataclass(frozen=True, slots=True)
class Penalty:
    """A failed run counts as this value."""

    value: float


@dataclass(frozen=True, slots=True)
class Par:
    """A failed run counts as `factor` times the cutoff (PAR10 is factor 10), for values that are run times.

    In a plan the cutoff is the time limit. None in a table of results: the common limit of the runs that reached one.
    """

    factor: float
    cutoff: float | None = None


FailurePolicy = StopStudy | Drop | Penalty | Par

LATEST = 1.1  # of a time limit: how late a run may end, as solvers are stopped between two checks
ROUNDED = 0.005  # of a time limit: how far the first run to overrun it may lie above the round number that it was


@dataclass(frozen=True, slots=True)
class WorstSeen:
    """A failed run counts as the worst value seen on its instance. Used to ask whether the conclusion depends on it."""

    better: Better


# As people write it ---------------------------------------------------------------------------------------------------


def as_policy(said: Any, name: str = "on_failure", *, error: type[InvalidInput] = InvalidInput) -> FailurePolicy:
    """Return what a failed run counts as, from one of the choices or from its words; everything else is refused.

    >>> as_policy("drop")
    Drop()
    """
    if isinstance(said, StopStudy | Drop | Penalty | Par):
        return _sensible(said, error)
    if isinstance(said, str):
        return StopStudy() if said == "stop" else failure_policy(said)
    raise error(
        f'{name} must be StopStudy(), Drop(), Penalty(value), Par(factor), or words such as "drop", "penalty=1000" and'
        f' "par=10", got {said!r}'
    )


def failure_policy(text: str) -> FailurePolicy:
    """Return what a failed run counts as, from the words "drop", "penalty=1000", "par=10", "par=10,cutoff=3600".

    >>> failure_policy("par=10")
    Par(factor=10.0, cutoff=None)
    """
    words = [part.partition("=") for part in text.replace(" ", "").split(",")]
    kind = tuple(name for name, _, _ in words)
    if text == "drop":
        return Drop()
    numbers = [_number(number) for _, _, number in words]
    if None not in numbers and kind == ("penalty",):
        return _sensible(Penalty(*numbers), InvalidData)  # type: ignore[arg-type]
    if None not in numbers and kind in {("par",), ("par", "cutoff")}:
        return _sensible(Par(*numbers), InvalidData)  # type: ignore[arg-type]
    raise InvalidData(
        f'what a failed run counts as must be "drop", "penalty=VALUE", "par=K" or "par=K,cutoff=SECONDS", got {text!r}'
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _sensible(policy: FailurePolicy, error: type[InvalidInput]) -> FailurePolicy:
    """The policy, if its numbers can be values of runs."""
    match policy:
        case Penalty(value) if not _between(value, -math.inf):
            raise error(f"the penalty of a failed run must be a finite number, got {value!r}")
        case Par(factor) if not _between(factor, 0):
            raise error(f"par=K multiplies the cutoff and must be positive, got {factor!r}; 10 is usual")
        case Par(_, cutoff) if cutoff is not None and not _between(cutoff, 0):
            raise error(f"the cutoff of par=K must be a positive number of seconds, got {cutoff!r}")
    return policy


def _between(number: Any, least: float) -> bool:
    """Whether it is a finite number above the least one."""
    return isinstance(number, int | float) and not isinstance(number, bool) and least < number < math.inf


def lifted(policy: FailurePolicy, floor: float | None) -> FailurePolicy:
    """Return a policy under a floor, below which no value counts, a penalty neither.

    >>> lifted(Penalty(0.0), 1e-8)
    Penalty(value=1e-08)
    """
    return Penalty(max(policy.value, floor)) if isinstance(policy, Penalty) and floor is not None else policy


def policy_data(policy: FailurePolicy | None) -> Any:
    """Return a policy as plain data, in the words of study.toml; None when there is none.

    >>> policy_data(Penalty(1e6)), policy_data(Drop())
    ({'penalty': 1000000.0}, 'drop')
    """
    match policy:
        case StopStudy():
            return "stop"
        case Drop():
            return "drop"
        case Penalty(value):
            return {"penalty": value}
        case Par(factor, cutoff):
            return {"par": factor, "cutoff": cutoff}
    return None


def policy_from(data: Any) -> FailurePolicy:
    """Return the policy that plain data name; policy_data's other half. The cutoff of PAR may be left out.

    >>> policy_from({"par": 10.0}), policy_from("stop")
    (Par(factor=10.0, cutoff=None), StopStudy())
    """
    match data:
        case "stop":
            return StopStudy()
        case "drop":
            return Drop()
        case {"penalty": value} if len(data) == 1:
            return Penalty(value)
        case {"par": factor} if len(data) == 1:
            return Par(factor)
        case {"par": factor, "cutoff": cutoff} if len(data) == 2:
            return Par(factor, cutoff)
    raise InvalidInput(
        f'what a failed run means must be "stop", "drop", {{ penalty = number }} or {{ par = factor }}, got {data!r}'
    )


def policy_words(policy: FailurePolicy | WorstSeen | None) -> str:
    """Return what was done with failed runs: "failed runs were …".

    >>> policy_words(Par(10, 60.0)), policy_words(Drop())
    ('counted as 10 times the cutoff of 60', 'left out')
    """
    match policy:
        case Penalty(value):
            return f"counted as {digits(value)}"
        case Par(factor, cutoff):
            return f"counted as {digits(factor)} times the cutoff" + ("" if cutoff is None else f" of {digits(cutoff)}")
        case WorstSeen():
            return "counted as the worst value seen on their instance"
        case Drop():
            return "left out"
    return "not counted"


# In a plan: one run at a time -----------------------------------------------------------------------------------------


def completed(policy: FailurePolicy, *, timeout: float | None, difference: Difference) -> FailurePolicy:
    """Return a plan's policy: PAR has its cutoff, from the time limit; a penalty suits the kind of difference."""
    if isinstance(policy, StopStudy | Drop):
        return policy
    if isinstance(policy, Par):
        cutoff = policy.cutoff or timeout
        if cutoff is None:
            raise InvalidPlan(f"par = {policy.factor:g} multiplies the time limit, so a timeout must be set")
        policy = replace(policy, cutoff=cutoff)
    counted = policy.value if isinstance(policy, Penalty) else policy.factor
    positive = isinstance(policy, Par) or difference != "simple"
    if not math.isfinite(counted) or (positive and counted <= 0):
        word = "positive" if positive else "a finite number"
        raise InvalidPlan(f"the value of a failed run must be {word} for {difference} differences, got {counted!r}")
    return policy


def value_of(observation: Observation, policy: FailurePolicy) -> float | None:
    """Return the value a recorded run counts as; None when it gives none."""
    if observation.status == "ok":
        return observation.value
    match policy:
        case Penalty(value):
            return value
        case Par(factor, cutoff):
            assert cutoff is not None, "a plan's PAR has its cutoff"
            return factor * cutoff
    return None


# In an analysis: all runs at once -------------------------------------------------------------------------------------


def values_under(runs: Runs, policy: FailurePolicy | WorstSeen | None) -> tuple[Floats, Bools]:
    """Return the value each run counts as, and which of them count; InvalidData if a failure's value was not said."""
    import numpy as np

    ok = runs.ok
    if ok.all() or isinstance(policy, Drop):
        return runs.value, ok
    return np.where(ok, runs.value, _failed_value(runs, policy)), np.ones_like(ok)


def _failed_value(runs: Runs, policy: FailurePolicy | WorstSeen | None) -> float | Floats:
    match policy:
        case Penalty(value):
            return _finite(value)
        case Par(factor, cutoff):
            return _finite(factor * (cutoff or _common_limit(runs, factor)))
        case WorstSeen(better):
            return _worst_seen(runs, better)[runs.instance]
    raise InvalidData(_ask_for_policy(runs))


def _finite(penalty: float) -> float:
    if not math.isfinite(penalty):
        raise InvalidData(f"a penalty for failed runs must be a finite number, got {penalty!r}")
    return penalty


def with_cutoff(policy: FailurePolicy | None, runs: Runs, time_limit: float | None = None) -> FailurePolicy | None:
    """Return the policy; PAR gets the cutoff that it lacks: the time limit, or what runs that reached theirs recorded.

    >>> from ampler.core.runs import Runs
    >>> late = Runs.from_columns(["i", "j"], ["a", "a"], [60.02, 61.0], ["timeout", "timeout"])
    >>> with_cutoff(Par(10), late)
    Par(factor=10, cutoff=60.0)
    """
    if not isinstance(policy, Par) or policy.cutoff is not None or (time_limit is None and runs.ok.all()):
        return policy
    return replace(policy, cutoff=time_limit or _common_limit(runs, policy.factor))


def _common_limit(runs: Runs, factor: float) -> float:
    """The limit that all runs with status "timeout" reached, some of them a little late; InvalidData if there is none.

    The smallest recorded value is the limit, as no run ends before it. Where every run overran it, the next round
    number below is.
    """
    import numpy as np

    from ampler.core.runs import STATUSES

    late = runs.value[(runs.status == STATUSES.index("timeout")) & np.isfinite(runs.value)]
    limit = float(late.min()) if len(late) else 0.0
    longest = max(float(late.max(initial=0)), float(runs.value[runs.ok].max(initial=0)))
    if limit <= 0 or longest > LATEST * limit:
        why = "no run ended by a time limit" if not len(late) else "the runs have no common time limit"
        raise InvalidData(
            f"PAR multiplies the time limit, and {why}; specify it:"
            f" {parameter('on_failure', f'par={factor:g},cutoff=SECONDS')}"
        )
    if np.count_nonzero(late == limit) > 1:
        return limit
    below = (_rounded_down(limit, figures) for figures in (1, 2, 3))
    return next((round_one for round_one in below if limit - round_one <= ROUNDED * limit), limit)


def _rounded_down(number: float, figures: int) -> float:
    """The largest number of so many significant figures that is not above this one."""
    places = figures - 1 - math.floor(math.log10(number))
    return float(f"{math.floor(number * 10.0**places) / 10.0**places:.{figures}g}")


def _worst_seen(runs: Runs, better: Better) -> Floats:
    """For each instance the worst value recorded there, or anywhere if there is none."""
    import numpy as np

    finite = np.isfinite(runs.value)
    worse, start = (np.maximum, -np.inf) if better == "lower" else (np.minimum, np.inf)
    worst = np.full(len(runs.instances), start)
    worse.at(worst, runs.instance[finite], runs.value[finite])
    anywhere = float(worse.reduce(runs.value[finite])) if finite.any() else np.nan
    return np.where(np.isfinite(worst), worst, anywhere)


def _ask_for_policy(runs: Runs) -> str:
    failures = runs.failures()
    by_algorithm, kinds = Counter[str](), Counter[str]()
    for (algorithm, status), number in failures.items():
        by_algorithm[algorithm] += number
        kinds[status] += number
    worst, most = by_algorithm.most_common(1)[0]
    return (
        f"{failures.total()} of {len(runs)} runs gave no value"
        f" ({', '.join(f'{number} {kind}' for kind, number in kinds.most_common())}; most of them {worst!r}: {most}),"
        " and what a failure counts as must be said: drop them, give a penalty, or PAR-k (k times the cutoff):"
        f" {parameter('on_failure', 'drop')}, {parameter('on_failure', 'penalty=VALUE')} or"
        f" {parameter('on_failure', 'par=K')}"
    )
