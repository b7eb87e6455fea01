"""Warnings of a study: plans enlarged after results, busy machines, drift. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.contracts import Store
from ampler.core.errors import AnalysisWarning
from ampler.core.plan import Limits, PlanRecord
from ampler.core.runs import Observation
from ampler.core.text import count, digits, parameter
from ampler.study.changes import TESTED, comparisons_of

FEWEST = 3  # instances after which somebody may have tested
PATHS = 20_000  # the level is then known to about 0.002
SEED = 2026
LIKELY_TESTS = 50  # more are not informative


@dataclass(frozen=True, slots=True)
class Growth:
    """How often a plan was enlarged after results, and how."""

    sizes: tuple[int, ...]  # sizes at which it may have been tested, in units of the first one's runs
    extent: str

    @property
    def times(self) -> str:
        """The number of enlargements."""
        return count(len(self.sizes) - 1, "time")


def growth_of(plans: Sequence[PlanRecord], begun: Sequence[Collection[str]]) -> Growth | None:
    """Return how the plan was enlarged after results: by instances, or by runs on each of them; None if it was not.

    `begun` are the instances with runs that were made under each plan.
    """
    sizes: list[tuple[int, float]] = []
    with_results: set[str] = set()
    for before, now, names in zip(plans, plans[1:], begun, strict=False):
        with_results |= set(names)
        there = len(with_results & set(before.instances))
        more = len(now.instances) - len(before.instances)
        grew = more > 0 if set(now.instances) - set(before.instances) else more == 0 and _effort(now) > _effort(before)
        if grew and there >= FEWEST and before.study_rule.get("rule") not in TESTED:
            sizes.append((there, _effort(before)))
    last = len(plans[-1].instances)
    least = min((effort for _, effort in sizes), default=1.0)
    total = round(last * _effort(plans[-1]) / least)
    rising = sorted({size for there, effort in sizes if (size := round(there * effort / least)) < total})
    if not rising:
        return None
    first = min(there for there, _ in sizes)
    extent = f"from {first} to {last} instances" if first < last else f"with more runs on each of {last} instances"
    return Growth((*rising, total), extent)


def _effort(plan: PlanRecord) -> float:
    """Relative size of a plan on an instance: its runs, or the runs implied by precision and budget."""
    rule, algorithms = plan.rule, len(plan.algorithms)
    return float(rule.get("runs") or (rule.get("budget") or algorithms) / algorithms / (rule.get("se") or 1.0) ** 2)


@lru_cache(maxsize=64)
def repeated_level(sizes: tuple[int, ...], alpha: float, comparisons: int, *, one_sided: bool = False) -> float:
    """Return the error rate of a study that is tested at each of these sizes.

    By simulated t-tests of independent comparisons, each at alpha over their number: for comparisons that depend on
    each other, as those with one reference do, it is an upper bound, nearly reached.

    >>> repeated_level((10,), 0.05, 1), round(repeated_level((10, 20, 30), 0.05, 1), 2)
    (0.05, 0.11)
    """
    if len(sizes) == 1:
        return alpha
    sizes = sizes[-LIKELY_TESTS:]
    from ampler.design.interim import t_paths
    from ampler.stats.sequential.boundaries import critical_values

    limits = critical_values([alpha / comparisons] * len(sizes), sizes, sides=1 if one_sided else 2)
    t = t_paths(sizes, 0.0, PATHS, np.random.default_rng(SEED))
    crossed = ((t if one_sided else np.abs(t)) >= limits).any(axis=1)
    return float(1 - (1 - crossed.mean()) ** comparisons)


def growth_warning(store: Store, plans: Sequence[PlanRecord]) -> tuple[AnalysisWarning, ...]:
    """Return the warning of a study whose plan was enlarged after results were there; none for all others."""
    if len(plans) < 2 or plans[-1].study_rule.get("rule") in TESTED or not hasattr(store, "begun_under"):
        return ()
    begun: Mapping[int, Collection[str]] = store.begun_under()
    growth = growth_of(plans, [begun.get(index, ()) for index in range(len(plans))])
    if growth is None:
        return ()
    question, one_sided = plans[-1].question, plans[-1].question.alternative != "two-sided"
    level = repeated_level(growth.sizes, question.alpha, comparisons_of(plans[-1]), one_sided=one_sided)
    text = (
        f"The study was enlarged {growth.times} after first results ({growth.extent}). If results were tested each"
        f" time, up to {digits(round(100 * level, 1))} % of such studies claim a false difference, instead of"
        f" {digits(100 * question.alpha)} %. For a new study, plan interim analyses beforehand"
        f" ({parameter('looks', 4)})."
    )
    return (AnalysisWarning("growth", text),)


BUSY = 2.0  # ratio of clock time to processor time
MEASURABLE = 0.01  # minimum processor time in seconds for this ratio
IDLE_SHARE = 0.5  # of its time limit, used on a processor: a run that was ended with less was mostly waiting
SURE = 0.001  # level of the test for drift
FEW = 3  # minimum runs of a cell for a trend


def fairness_notes(plan: PlanRecord, store: Store) -> tuple[AnalysisWarning, ...]:
    """Return warnings about the machine; runs are only read if times matter."""
    timed, identities = set(plan.timed), plan.fingerprint.algorithms
    runs = [run for run in store.observations() if run.key.algorithm in timed] if timed else []
    cut_off = [run for run in store.failures() if run.status == "timeout"]
    by_processor = {identities[name]["value"] for name in timed} == {"cpu-seconds"}
    limits = (plan.own_limits.get(name, Limits()).over(plan.limits) for name in plan.algorithms)
    limited = all(limit.cpu_timeout is not None for limit in limits)
    warnings = busy(runs, cut_off, by_processor=by_processor, limited=limited), drift(runs)
    return tuple(note for note in warnings if note is not None)


def busy(
    timed: Iterable[Observation], cut_off: Iterable[Observation], *, by_processor: bool = False, limited: bool = False
) -> AnalysisWarning | None:
    """Runs took far longer by the clock than on a processor, or were ended by the clock while they waited for one.

    With `by_processor` the values are times on a processor, which suffer less, and `limited` says that such times are
    limited already.
    """
    ratios = [run.seconds / run.cpu for run in timed if run.cpu is not None and run.cpu >= MEASURABLE]
    measured = [run for run in cut_off if run.cpu is not None]
    waiting = sum(run.cpu < IDLE_SHARE * run.seconds for run in measured if run.cpu is not None)
    findings, ratio = [], float(np.median(ratios)) if ratios else 1.0
    if ratio > BUSY:
        longer = f"took {ratio:.1f} times as long by the clock as on a processor (median)"
        findings.append(f"{count(len(ratios), 'run')} {longer}")
    if waiting:
        limits = f"{waiting} of {count(len(measured), 'run')} that reached a time limit"
        findings.append(f"{limits} had used less than half of their time on a processor")
    if not findings:
        return None
    also, keys = ("", "cpu-seconds") if limited else (" and limit", "cpu-seconds, cpu-timeout")
    remedy = f"Use fewer workers, or measure{also} processor time ({keys})."
    if by_processor:
        clock = " Limit processor time (cpu-timeout), not the time by the clock." if waiting and not limited else ""
        remedy = f"The values are processor times, which suffer less from it; use fewer workers all the same.{clock}"
    return AnalysisWarning("busy", f"The machine was busy, or programs waited: {'; '.join(findings)}. {remedy}")


def drift(timed: Iterable[Observation]) -> AnalysisWarning | None:
    """Values rose or fell with the time at which runs were made, within instance and algorithm."""
    result = trend(_cells(timed))
    if result is None or result.p_value > SURE:
        return None
    word = "longer" if result.correlation > 0 else "shorter"
    return AnalysisWarning(
        "drift",
        f"Times drifted during the study: later runs took {word} (rank correlation with the start time"
        f" {result.correlation:.2f}, p = {result.p_value:.1g}; second half against first:"
        f" {100 * (result.ratio - 1):+.0f} %). Runs of all algorithms alternate, so all are affected alike."
        " A quiet machine would narrow the intervals.",
    )


@dataclass(frozen=True, slots=True)
class Trend:
    """Trend of values over time: rank correlation, its p-value, ratio of second to first half."""

    correlation: float
    p_value: float
    ratio: float


def trend(cells: Sequence[tuple[Floats, Floats]]) -> Trend | None:
    """Return the trend of values (second array) along times (first array) within cells; None when there is no order.

    Within a cell every order of the values is equally likely if nothing drifts, so the sum of products of centred
    ranks has mean 0 and variance Σ a²Σ b² / (n − 1), as for Spearman's correlation (Hoeffding 1951); cells add up.
    """
    products, variance, first, second, halves = 0.0, 0.0, 0.0, 0.0, []
    for times, values in cells:
        a, b = _centred_ranks(times), _centred_ranks(values)
        products += float(a @ b)
        variance += float(a @ a) * float(b @ b) / (len(a) - 1)
        first, second = first + float(a @ a), second + float(b @ b)
        ordered = values[np.argsort(times, kind="stable")]
        early, late = ordered[: len(ordered) // 2].mean(), ordered[-(len(ordered) // 2) :].mean()
        halves.append(math.log(late / early) if early > 0 and late > 0 else 0.0)
    if not variance:
        return None
    p_value = math.erfc(abs(products) / math.sqrt(2 * variance))
    return Trend(products / math.sqrt(first * second), p_value, math.exp(float(np.mean(halves))))


def _cells(timed: Iterable[Observation]) -> list[tuple[Floats, Floats]]:
    """Start and value of the runs of each instance and algorithm, where there are enough."""
    cells: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for run in timed:
        if run.value is not None and run.started is not None:
            cells[run.key.instance, run.key.algorithm].append((run.started, run.value))
    arrays = (np.array(runs).T for runs in cells.values() if len(runs) >= FEW)
    return [(times, values) for times, values in arrays]


def _centred_ranks(numbers: Floats) -> Floats:
    """Ranks, ties sharing their mean rank, less their mean."""
    _, index, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    means = np.cumsum(counts) - (counts - 1) / 2
    ranks: Floats = means[index]
    ranks -= ranks.mean()
    return ranks
