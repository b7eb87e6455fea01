"""Treatment of failed runs: the policies, their notation in study.toml and options, and the resulting values. Pure.

policy ◄─ failure_policy ── "par=10"             policy ─► policy_words ─► a sentence's "counted as 10 times …"
policy ◄─ policy_from ◄─► policy_data ── TOML    policy ─► value_of, values_under ─► numbers
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from ampler.core.errors import InvalidData, InvalidInput, InvalidPlan
from ampler.core.text import digits, parameter

if TYPE_CHECKING:  # deferred, so that policies do not load numpy
    from ampler.core.arrays import Bools, Floats, Runs
    from ampler.core.runs import Observation
    from ampler.core.settings import Better, Difference, Status


@dataclass(frozen=True, slots=True)
class StopStudy:
    """A failed run ends the study; it is tried again when the study is run again."""


@dataclass(frozen=True, slots=True)
class Drop:
    """A failed run counts towards the budget and gives no value."""


@dataclass(frozen=True, slots=True)
class Penalty:
    """A failed run counts as a value of your choice.

    Parameters
    ----------
    value : float
        Value of a failed run.
    """

    value: float


@dataclass(frozen=True, slots=True)
class Par:
    """A failed run counts as `factor` times the cutoff (PAR10 is factor 10), for values that are run times.

    Parameters
    ----------
    factor : float
        Multiple of the cutoff.
    cutoff : float, optional
        Time limit; by default that of the study, or the common limit of the runs that reached one.
    """

    factor: float
    cutoff: float | None = None


FailurePolicy = StopStudy | Drop | Penalty | Par

Kind = Literal["ok", "wrong", "timeout", "memout", "crash", "error", "unknown", "lost"]
KINDS: tuple[Kind, ...] = get_args(Kind)  # how a run ended; it is stored as its position here
KIND_OF_CAUSE: Mapping[str, Kind] = {  # by the beginning of a failed run's cause; every other cause is an error
    "wrong": "wrong",
    "memory": "memout",
    "exception:MemoryError": "memout",
    "signal:": "crash",
    "worker": "crash",
    "value": "unknown",
    "exit:0": "unknown",
}

HIGHER_IS_NO_TIME = "par=K counts a failed run as a long time, but higher values are better; use penalty=VALUE or drop"
LATEST = 1.1  # share of a time limit by which a run may overrun it: solvers check the clock now and then
ROUNDED = 0.005  # of a time limit: how far the first run to reach it may lie from a round number


@dataclass(frozen=True, slots=True)
class WorstObserved:
    """A failed run counts as the worst value on its instance: a check whether the conclusion depends on failures."""

    better: Better


def kind_of(status: Status, cause: str = "") -> Kind:
    """Return how a run ended, from its status and the cause of a failure.

    >>> kind_of("failed", "signal:SIGSEGV"), kind_of("failed", "exit:3"), kind_of("timeout")
    ('crash', 'error', 'timeout')
    """
    if status != "failed":
        return status
    return next((kind for start, kind in KIND_OF_CAUSE.items() if cause.startswith(start)), "error")


# As people write it ---------------------------------------------------------------------------------------------------


def as_policy(value: Any, name: str = "on_failure", *, error: type[InvalidInput] = InvalidInput) -> FailurePolicy:
    """Return the policy for failed runs from a policy or its text; refuse everything else.

    >>> as_policy("drop")
    Drop()
    """
    if isinstance(value, StopStudy | Drop | Penalty | Par):
        return _sensible(value, error)
    if isinstance(value, str):
        return StopStudy() if value == "stop" else failure_policy(value)
    raise error(
        f'{name} must be StopStudy(), Drop(), Penalty(value), Par(factor), or words such as "drop", "penalty=1000" and'
        f' "par=10", got {value!r}'
    )


def failure_policy(text: str) -> FailurePolicy:
    """Return the policy of a text: "drop", "penalty=1000", "par=10", "par=10,cutoff=3600".

    >>> failure_policy("par=10")
    Par(factor=10.0, cutoff=None)
    """
    if text == "drop":
        return Drop()
    pairs = [part.partition("=")[::2] for part in text.replace(" ", "").split(",")]
    try:
        if [name for name, _ in pairs] not in (["penalty"], ["par"], ["par", "cutoff"]):
            raise ValueError(text)
        policy = policy_from({name: float(number) for name, number in pairs})
    except ValueError:
        expected = '"drop", "penalty=VALUE", "par=K" or "par=K,cutoff=SECONDS"'
        raise InvalidData(f"on-failure must be {expected}, got {text!r}") from None
    return _sensible(policy, InvalidData)


def _sensible(policy: FailurePolicy, error: type[InvalidInput]) -> FailurePolicy:
    """Check that the numbers of a policy can be values of runs."""
    match policy:
        case Penalty(value) if not _is_finite(value):
            raise error(f"the penalty of a failed run must be a finite number, got {value!r}")
        case Par(factor) if not (_is_finite(factor) and factor >= 1):
            raise error(f"par=K multiplies the cutoff and must be 1 or more, got {factor!r}; 10 is usual")
        case Par(_, cutoff) if cutoff is not None and not (_is_finite(cutoff) and cutoff > 0):
            raise error(f"the cutoff of par=K must be a positive number of seconds, got {cutoff!r}")
    return policy


def _is_finite(number: Any) -> bool:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return is_number and abs(number) <= sys.float_info.max  # a whole number may be beyond all floats


def lifted(policy: FailurePolicy, floor: float | None) -> FailurePolicy:
    """Return a policy with its penalty raised to the floor.

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
    raise InvalidInput(f'on-failure must be "stop", "drop", {{ penalty = number }} or {{ par = factor }}, got {data!r}')


def policy_words(policy: FailurePolicy | WorstObserved | None) -> str:
    """Return the treatment of failed runs, to continue "failed runs were …".

    >>> policy_words(Par(10, 60.0)), policy_words(Drop())
    ('counted as 10 times the cutoff of 60', 'left out')
    """
    match policy:
        case Penalty(value):
            return f"counted as {digits(value)}"
        case Par(factor, cutoff):
            return f"counted as {digits(factor)} times the cutoff" + ("" if cutoff is None else f" of {digits(cutoff)}")
        case WorstObserved():
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
    elif difference != "simple" and policy.value <= 0:
        got = f"for {difference} differences, got {policy.value!r}"
        raise InvalidPlan(f"the value of a failed run must be positive {got}")
    return _sensible(policy, InvalidPlan)


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


def values_under(runs: Runs, policy: FailurePolicy | WorstObserved | None) -> tuple[Floats, Bools]:
    """Return the value of each run, and which runs count; InvalidData if failed runs have no policy."""
    import numpy as np

    ok = runs.ok
    value = runs.value + runs.shift if runs.shift else runs.value
    if ok.all() or isinstance(policy, Drop):
        return value, ok
    return np.where(ok, value, _failed_value(runs, policy) + runs.shift), np.ones_like(ok)


def _failed_value(runs: Runs, policy: FailurePolicy | WorstObserved | None) -> float | Floats:
    match policy:
        case Penalty(value):
            penalty = value
        case Par(factor, cutoff):
            penalty = factor * (cutoff or _common_limit(runs, factor))
        case WorstObserved(better):
            return _worst_values(runs, better)[runs.instance]
        case _:
            raise InvalidData(policy_request(runs))
    if not math.isfinite(penalty):
        raise InvalidData(f"a penalty for failed runs must be a finite number, got {penalty!r}")
    return penalty


def with_cutoff(policy: FailurePolicy | None, runs: Runs, time_limit: float | None = None) -> FailurePolicy | None:
    """Return the policy; PAR without a cutoff gets the time limit, or the time of the runs that reached it.

    >>> from ampler.core.arrays import Runs
    >>> late = Runs.from_columns(["i", "j"], ["a", "a"], [60.02, 61.0], ["timeout", "timeout"])
    >>> with_cutoff(Par(10), late)
    Par(factor=10, cutoff=60.0)
    """
    if not isinstance(policy, Par) or policy.cutoff is not None:
        return policy
    return replace(policy, cutoff=time_limit or _common_limit(runs, policy.factor))


def _common_limit(runs: Runs, factor: float) -> float:
    """The limit that all runs with status "timeout" reached, some of them a little late; InvalidData if there is none.

    The smallest recorded value is the limit, or a round number just below it, where no two runs recorded the same.
    """
    import numpy as np

    from ampler.core.arrays import STATUSES

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
    for figures in (1, 2, 3):
        if abs(limit - (near := float(f"{limit:.{figures}g}"))) <= ROUNDED * limit:
            return min(near, limit)
    return limit


def _worst_values(runs: Runs, better: Better) -> Floats:
    """For each instance the worst value recorded there, or anywhere if there is none."""
    import numpy as np

    finite = np.isfinite(runs.value)
    worse, start = (np.maximum, -np.inf) if better == "lower" else (np.minimum, np.inf)
    worst = np.full(len(runs.instances), start)
    worse.at(worst, runs.instance[finite], runs.value[finite])
    anywhere = float(worse.reduce(runs.value[finite])) if finite.any() else np.nan
    return np.where(np.isfinite(worst), worst, anywhere)


def policy_request(runs: Runs) -> str:
    """Return how many runs failed, with the request to choose their treatment."""
    return (
        f"{failed_text(runs)};"
        " choose their treatment: drop them, or count a penalty or PAR-k (k times the cutoff):"
        f" {parameter('on_failure', 'drop')}, {parameter('on_failure', 'penalty=VALUE')} or"
        f" {parameter('on_failure', 'par=K')}"
    )


def failed_text(runs: Runs) -> str:
    """Return how many runs failed, and how; at least one must have failed."""
    failed = list(runs.failures().elements())
    kinds = Counter(status for _, status in failed)
    worst, most = Counter(algorithm for algorithm, _ in failed).most_common(1)[0]
    return (
        f"{len(failed)} of {len(runs)} runs gave no value"
        f" ({', '.join(f'{number} {kind}' for kind, number in kinds.most_common())}; most from {worst!r}: {most})"
    )
