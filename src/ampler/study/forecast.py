"""Expected cost of a study: from the initial runs of its rule to its whole budget. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ampler.core.arrays import Samples
from ampler.core.plan import EndStudy, Plan, Sample, StudyDecision
from ampler.sampling.rules import Accuracy, Fixed, default_budget
from ampler.study.stopping import decided, instance_rule


@dataclass(frozen=True, slots=True)
class Forecast:
    """The runs of a study and their computing time in seconds, at least and at most; what is not known is None.

    At least: the first runs are accurate enough on every instance. At most: the budget is spent on every instance,
    all of it beyond the first runs by the slowest algorithm. Where runs are `recorded` it is what comes beyond them, on
    instances that are not finished.
    """

    instances: int
    workers: int
    least_runs: int
    most_runs: int | None
    least_seconds: float | None
    most_seconds: float | None
    decides: bool = False  # whether the runs beyond the minimum are adaptive
    recorded: int = 0

    @property
    def least_wall(self) -> float | None:
        """The seconds until the study is done, at least: the workers are always busy."""
        return None if self.least_seconds is None else self.least_seconds / self.workers

    @property
    def most_wall(self) -> float | None:
        """The seconds until the study is done, at most: the workers are always busy."""
        return None if self.most_seconds is None else self.most_seconds / self.workers


def forecast(plan: Plan, seconds: Mapping[str, float], *, workers: int) -> Forecast:
    """Return the cost of a plan, given the seconds of a run of each algorithm.

    >>> from ampler.core.plan import Question
    >>> from ampler.study.plan import make_plan
    >>> plan = make_plan(question=Question("simple", better="lower"), algorithms={"a": min, "b": max},
    ...                  instances=["i1", "i2", "i3"], count="all",
    ...                  rule=Accuracy(se=0.1, difference="simple", start=10, budget=50))
    >>> told = forecast(plan, {"a": 1.0, "b": 3.0}, workers=2)
    >>> told.least_runs, told.most_runs, told.least_wall, told.most_wall
    (60, 150, 60.0, 195.0)
    """
    decision, first = decided(plan, ()), first_runs(plan)
    budget = instance_budget(plan)
    further = None if budget is None else max(0, budget - sum(first.values()))
    instances = 0 if isinstance(decision, EndStudy) else len(decision.instances)
    return summed(plan, [Share(first, further)] * instances, seconds, workers=workers)


@dataclass(frozen=True, slots=True)
class Share:
    """Cost of an instance: the missing runs of each algorithm, and the possible further runs if known."""

    missing: Mapping[str, int]
    further: int | None


def summed(
    plan: Plan, shares: Sequence[Share], seconds: Mapping[str, float], *, workers: int, recorded: int = 0
) -> Forecast:
    """Return the total cost of instances, in addition to the `recorded` runs."""
    missing: Counter[str] = Counter()
    for share in shares:
        missing.update(share.missing)
    further_runs = [item.further for item in shares if item.further is not None]
    further = sum(further_runs) if len(further_runs) == len(shares) else None
    least = most = None
    if missing.keys() <= seconds.keys():
        least = float(sum(count * seconds[name] for name, count in missing.items()))
        slowest = max((seconds.get(item.name, 0.0) for item in plan.algorithms if not item.deterministic), default=0.0)
        most = None if further is None else least + further * slowest
    least_runs = missing.total()
    most_runs = None if further is None else least_runs + further
    decides = plan.study_rule is not None and not _is_last(decided(plan, ()))
    return Forecast(len(shares), workers, least_runs, most_runs, least, most, decides, recorded)


def instance_budget(plan: Plan) -> int | None:
    """Return the maximum further runs of an instance; 0 if there are only initial runs, None if unknown."""
    first, rule = decided(plan, ()), plan.rule
    if isinstance(first, EndStudy) or first.runs is not None:
        return 0 if _is_last(first) else None  # a study rule decides the rest
    if isinstance(rule, Fixed) or all(algorithm.deterministic for algorithm in plan.algorithms):
        return 0
    if isinstance(rule, Accuracy):
        return default_budget(len(plan.algorithms)) if rule.budget is None else rule.budget
    return None


def _is_last(decision: StudyDecision) -> bool:
    return isinstance(decision, EndStudy) or decision.last


def first_runs(plan: Plan) -> Mapping[str, int]:
    """Return how many runs of each algorithm are requested on a first instance, before anything was seen."""
    group = decided(plan, ())
    if isinstance(group, EndStudy):
        return {}
    deterministic = {algorithm.name for algorithm in plan.algorithms if algorithm.deterministic}
    samples = Samples(group.algorithms, deterministic=[name for name in group.algorithms if name in deterministic])
    decision = instance_rule(plan, group)(samples)
    return decision.counts if isinstance(decision, Sample) else {}


def relative_costs(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return run times as costs: two digits are enough, and the fastest algorithm costs 1.

    >>> relative_costs({"full": 0.42, "quick": 0.13})
    {'full': 3.2, 'quick': 1.0}
    """
    least = min(seconds.values())
    return {name: float(f"{time / least:.2g}") for name, time in seconds.items()}
