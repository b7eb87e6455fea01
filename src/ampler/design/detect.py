"""The plan after a pilot: instances and runs that detect the smallest difference of interest. Pure.

The user specifies the smallest difference of interest, in its own unit. The pilot shows how the differences vary
between instances and how noisy the runs are. More runs make each difference more precise, so that fewer instances
suffice; the plan is the cheapest such pair, or one nearly as cheap with fewer instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import ceil, comb, e, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri, ndtri, stdtrit

from ampler.core.arrays import Bools, Counts, Floats, Pair
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Alternative, Difference, canonical_difference, finite, integer, positive, share
from ampler.design.powers import LARGEST_EFFECT, MOST_INSTANCES, smallest
from ampler.stats.dependence import noise_errors
from ampler.stats.holm import holm_levels
from ampler.stats.internal_pilot import FinalTest, nominal_levels
from ampler.stats.power import quick_tails, tail_levels, upper_tail
from ampler.stats.shape import tail_factors

FewestRuns = Callable[[float, Floats], Floats]  # target se and runs so far to whole numbers of runs that reach it

MOST_ACCURACIES = 60  # two steps halve the squared error, so the last is a millionth of the first
ENOUGH = 25  # total instances from which few new ones suffice
EVEN_CAUTION = 0.55  # default if many comparisons average out, and for the final t-test
RESAMPLES = 400  # of the pilot
LARGEST_FACTOR = 50.0  # factors by which a variance may be over- or underestimated
ROOM = 10  # minimum number of instances beyond the pilot


def checked_pilot(instances: int, runs: int) -> tuple[int, int]:
    """Return the checked numbers of a pilot's instances and runs."""
    return (
        integer("pilot", instances, 3, MOST_INSTANCES, "20 instances are usual"),
        integer("start", runs, 2, None, "5 runs are usual, and the noise shows from 2 on"),
    )


def usual_growth(pilot: int) -> int:
    """Return the minimum number of instances after a pilot: five, and up to ten until there are 25 in total.

    >>> usual_growth(20), usual_growth(12)
    (5, 10)
    """
    return min(max(ENOUGH - pilot, 5), 10)


def usual_caution(reference: bool, algorithms: int) -> float:
    """Return the confidence of the planning variance for a growth test.

    >>> usual_caution(True, 5), usual_caution(False, 5)
    (0.6, 0.55)
    """
    return EVEN_CAUTION if _evens_out(reference, algorithms) else 0.6


def usual_early_caution(reference: bool, algorithms: int) -> float:
    """Return the same for half a pilot, which is used only if it requests few instances.

    All with all the instances that the pilot has anyway give more power than is requested there."""
    return 0.5 if _evens_out(reference, algorithms) else 0.7


def _evens_out(reference: bool, algorithms: int) -> bool:
    """Whether the target is a mean over so many comparisons that errors of their variances cancel."""
    return not reference and algorithms > 2


def usual_slack(instance_cost: float) -> float:
    """Return the extra cost allowed for a plan with fewer instances; 0 if instances have a cost.

    >>> usual_slack(0.0), usual_slack(50.0)
    (0.1, 0.0)
    """
    return 0.0 if instance_cost else 0.1


LARGEST_VALUE = 1e100  # in units of the difference to detect


@dataclass(frozen=True, slots=True)
class DetectGoal:
    """Settings of an internal pilot. The defaults were chosen by simulation."""

    detect: float  # smallest difference of interest, in its own unit
    power: float = 0.8  # the mean over the comparisons
    alpha: float = 0.05
    alternative: Alternative = "two-sided"
    pilot: int = 20  # instances
    start: int = 5  # runs of each algorithm on them
    least: int = 0  # new instances after the pilot: the variance of a growth test needs them
    share: float = 0.1  # share of every level allocated to the pilot stage
    slack: float = 0.1  # extra cost allowed for a plan with fewer instances
    floor: float = 0.15  # run noise is not reduced below this share of the between-instance variance
    plausible: float = 0.9  # confidence of the between-instance variance
    caution: float = 0.6  # confidence of the planning variance
    instance_cost: float = 0.0  # cost of one more instance, in runs
    costs: tuple[float, ...] | None = None  # of one run of each algorithm
    available: int | None = None  # instances
    stretch: float = 0.1  # if instances are scarce: tolerance above the fewest instances
    fresh: bool = False  # plan a new study from other data, without an internal pilot
    together: int | None = None  # this many comparisons differ at the same time; by default all do
    early: int | None = None  # instances of the pilot used first; by default all
    early_caution: float = 0.7  # as `caution`, for the first part of the pilot
    seen: int | None = None  # instances of the pilot that determined the size; by default all
    final_test: FinalTest = "t"  # "growth": as studies were planned and tested before version 0.3

    def __post_init__(self) -> None:
        positive("detect", self.detect, "give the smallest difference that matters, such as 0.02 for 2 %")
        for name in ("power", "alpha", "share", "plausible", "caution", "early_caution"):
            share(name, getattr(self, name))
        if self.power <= self.alpha:
            raise InvalidDesign(f"power must be larger than alpha, got {self.power!r} and {self.alpha!r}")
        checked_pilot(self.pilot, self.start)
        integer("least", self.least, 0, MOST_INSTANCES, "the t-test needs no new ones, the growth test 5 to 10")
        for name in ("slack", "floor", "stretch", "instance_cost"):
            if finite(name, getattr(self, name)) < 0:
                raise InvalidDesign(f"{name} must not be negative, got {getattr(self, name)!r}")
        if self.available is not None:
            integer("available", self.available, 2, MOST_INSTANCES, "omit it if there is no limit")

    def times(self, unit: float) -> DetectGoal:
        """Return a copy in another unit of the differences."""
        return replace(self, detect=self.detect * unit)

    @property
    def is_fixed(self) -> bool:
        """Whether there are too few instances to choose from: then all are used, with ordinary tests."""
        return self.available is not None and self.available < self.pilot + max(self.least, ROOM)

    @property
    def base(self) -> int:
        """Number of instances without information for the variance of the final test."""
        return self.seen or self.pilot if self.final_test == "growth" and self.is_chosen else 1

    @property
    def is_chosen(self) -> bool:
        """Whether the pilot's variances choose the number of instances."""
        return not (self.is_fixed or self.fresh)

    @property
    def fewest(self) -> int:
        """The minimum number of instances of a plan: the pilot's, and more for a growth test."""
        if not self.is_chosen:
            return 2
        return max(self.pilot, (self.base if self.final_test == "growth" else self.pilot) + self.least)

    @property
    def end_alpha(self) -> float:
        """The family-wise level that remains for the final tests."""
        return (1 - self.share) * self.alpha if self.is_chosen else self.alpha


@dataclass(frozen=True, eq=False)
class PilotFigures:
    """Results of the pilot: continuing comparisons in rows, algorithms in columns."""

    variances: Floats  # of the differences, over the pilot's instances
    noise: Floats  # of one run of each algorithm in each comparison, of which `noise_errors` makes se²
    counts: Floats  # runs so far
    freedom: Floats  # of the variances: the pilot's instances less one
    in_play: Bools  # algorithms of continuing comparisons
    differences: Floats | None = None  # differences of the pilot (rows), for their tails; None: assumed normal

    @cached_property
    def tails(self) -> Floats:
        """Factors by which the variances may be underestimated because few instances dominate them."""
        return np.ones_like(self.variances) if self.differences is None else tail_factors(self.differences)

    @property
    def squared_errors(self) -> Floats:
        """The part of the variances that run noise causes."""
        return noise_errors(self.noise, self.counts)

    def between(self, confidence: float) -> Floats:
        """Return upper confidence bounds of the between-instance variances."""
        factors = np.maximum(self.freedom / chdtri(self.freedom, confidence), self.tails)
        return np.maximum(0.0, self.variances * factors - self.squared_errors)


@dataclass(frozen=True, slots=True)
class MainPlan:
    """Plan of the runs after the pilot."""

    runs: tuple[int, ...]  # of each algorithm on every instance, the pilot's included; 0 for dropped algorithms
    instances: int  # in total
    needed: int  # to reach the power; more than `instances` if too few are available
    cost: float  # of reaching the power
    se: float  # of every comparison that continues, at most
    noise_share: tuple[float, ...]  # of the runs, in the variance of each comparison that continues
    variances: tuple[float, ...]  # expected of the differences

    @property
    def enough(self) -> bool:
        """Whether the available instances reach the power."""
        return self.needed <= self.instances


def plan_after_pilot(
    figures: PilotFigures, goal: DetectGoal, fewest_runs: FewestRuns, *, lower: Floats | None = None
) -> MainPlan:
    """Return the cheapest plan, or among those nearly as cheap the one with the fewest instances.

    Each algorithm gets at least `lower` runs, by default as many as in the pilot.
    """
    candidates = list(_candidates(figures, goal, fewest_runs, figures.counts if lower is None else lower))
    most = MOST_INSTANCES if goal.available is None else goal.available
    reachable = [plan for plan in candidates if plan.needed <= most]
    if reachable and (goal.fresh or not goal.is_fixed):
        cheapest = min(plan.cost for plan in reachable)
        near = (plan for plan in reachable if plan.cost <= (1 + goal.slack) * cheapest)
        return min(near, key=lambda plan: (plan.instances, plan.cost))
    # all instances that are there: with the cheapest runs that suffice, or with runs that nearly do what runs can
    assert goal.available is not None
    if reachable:
        best = min(reachable, key=lambda plan: plan.cost / plan.needed)
    else:
        stretched = (1 + goal.stretch) * min(plan.needed for plan in candidates)
        best = min((plan for plan in candidates if plan.needed <= stretched), key=lambda plan: plan.cost)
    return replace(best, instances=goal.available)


def differing_together(algorithms: int, comparisons: int) -> int:
    """Return the assumed number of true differences in a comparison of all pairs.

    Not every pair can lie `detect` apart. This many do where one half of the algorithms is so far from the other.

    >>> differing_together(5, 10)
    6
    """
    return max(1, comparisons * ((algorithms // 2) * ((algorithms + 1) // 2)) // comb(algorithms, 2))


def mean_power(goal: DetectGoal, variances: Floats, instances: int) -> float:
    """Return the mean power of the final test; the comparison with the smallest variance gets the strictest level."""
    return float(_powers(goal, variances, instances).mean())


def least_power(goal: DetectGoal, variances: Floats, instances: int) -> float:
    """Return the smallest power of the comparisons."""
    return float(_powers(goal, variances, instances).min())


def check_magnitude(detect: float, largest: float) -> None:
    """Raise InvalidDesign where squares of values, in units of the difference to detect, are beyond all numbers."""
    if largest / detect > LARGEST_VALUE:
        raise InvalidDesign(f"detect must not be so small beside values of {largest:g}, got {detect:g}")


def needed_instances(goal: DetectGoal, variances: Floats, *, guess: int | None = None) -> int:
    """Return the fewest instances that reach the mean power; a good first guess saves time.

    >>> needed_instances(DetectGoal(0.5, pilot=15), np.array([1.0, 1.0]))
    41
    """
    needed = smallest(
        lambda n: mean_power(goal, variances, n),
        goal.power,
        guess=guess or _normal_instances(goal, variances),
        least=goal.fewest,
        most=MOST_INSTANCES,
    )
    if needed is None and goal.available is None:
        raise InvalidDesign(
            f"no reachable number of instances finds a difference of {goal.detect:g}: so much do the differences vary;"
            " ask for a larger one"
        )
    return needed or MOST_INSTANCES  # more than available: all are used, and the output reports what they detect


def instances_interval(figures: PilotFigures, goal: DetectGoal, plan: MainPlan, level: float = 0.9) -> tuple[int, int]:
    """Return a confidence interval of the required instances, by resampling the pilot."""
    noise = np.array(plan.variances) - figures.between(goal.caution)
    factors: Iterable[float | Floats]
    if figures.differences is None:  # normal differences, as in versions before 0.3
        factors = (chdtri(figures.freedom, tail) / figures.freedom for tail in ((1 + level) / 2, (1 - level) / 2))
    else:
        factors = resampled_factors(figures.differences, level)
    others = (replace(figures, variances=figures.variances * factor) for factor in factors)
    planned, ends = np.array(plan.variances), [other.between(goal.caution) + noise for other in others]
    low, high = (needed_instances(goal, end, guess=_guess(plan.needed, planned, end)) for end in ends)
    return low, high


def resampled_factors(differences: Floats, level: float = 0.9) -> tuple[float, float]:
    """Return confidence limits of the common factor between true and estimated variances.

    A variance that is half as large in one of twenty resamples of the instances may truly be twice as large.

    >>> resampled_factors(np.array([[0.0], [0.0], [0.0]]))
    (1.0, 1.0)
    """
    there = np.where(np.isnan(differences), np.nanmean(differences, axis=0), differences)
    spread, n = there.var(axis=0), len(there)
    if not spread.any():
        return 1.0, 1.0
    rows = np.random.default_rng(n).integers(n, size=(RESAMPLES, n))
    ratios = (there[rows].var(axis=1)[:, spread > 0] / spread[spread > 0]).mean(axis=1) * n / (n - 1)
    high, low = np.maximum(np.quantile(ratios, ((1 - level) / 2, (1 + level) / 2)), 1 / LARGEST_FACTOR)
    return float(1 / low), float(1 / high)


def detectable_difference(goal: DetectGoal, variances: Floats, instances: int) -> float:
    """Return the difference that this many instances detect with the planned mean power."""
    from scipy.optimize import brentq

    def missing(difference: float) -> float:
        return mean_power(replace(goal, detect=difference), variances, instances) - goal.power

    low = high = float(np.sqrt(np.median(variances) / instances)) or goal.detect
    while missing(low) > 0:
        low /= 2
    while missing(high) < 0:
        high *= 2
    return float(brentq(missing, low, high, rtol=1e-9))


def _candidates(figures: PilotFigures, goal: DetectGoal, fewest_runs: FewestRuns, lower: Floats) -> Iterator[MainPlan]:
    """Plans of increasing precision from the fewest runs on, until more runs save nothing."""
    between = figures.between(goal.caution)
    fewest = needed_instances(goal, between)
    nearby = fewest, between
    coarsest = float(noise_errors(figures.noise, lower).max())
    finest = goal.floor * float(np.median(figures.between(goal.plausible)))
    costs = np.ones(len(lower)) if goal.costs is None else np.asarray(goal.costs)
    for step in range(MOST_ACCURACIES):
        squared = coarsest * 2 ** (-step / 2)
        if step and squared < finest:
            return
        counts = fewest_runs(sqrt(squared), lower) if step else lower
        noise = noise_errors(figures.noise, counts)
        variances = between + noise
        needed = needed_instances(goal, variances, guess=_guess(*nearby, variances))
        with np.errstate(invalid="ignore"):
            noise_share = np.where(variances > 0, noise / variances, 0.0)
        yield MainPlan(
            runs=tuple(int(count) if playing else 0 for count, playing in zip(counts, figures.in_play, strict=True)),
            instances=needed,
            needed=needed,
            cost=needed * (goal.instance_cost + float((costs * counts)[figures.in_play].sum())),
            se=sqrt(squared),
            noise_share=tuple(noise_share.tolist()),
            variances=tuple(variances.tolist()),
        )
        if needed <= fewest:
            return
        nearby = needed, variances


def _guess(needed: int, before: Floats, now: Floats) -> int | None:
    """The approximate number of instances for other variances: both scale alike."""
    ratio = float(now.mean()) / float(before.mean()) if before.any() else nan
    return ceil(min(needed * ratio, MOST_INSTANCES)) if ratio > 0 else None


def _normal_instances(goal: DetectGoal, variances: Floats) -> int:
    """A first guess: d·√N = z_tail + z_power at a level near the middle of Holm's."""
    tail = float(tail_levels(goal.end_alpha / max(1.0, len(variances) / e), goal.alternative))
    root = (float(ndtri(goal.power)) - float(ndtri(tail))) * sqrt(float(np.median(variances))) / goal.detect
    return ceil(min(max(root, 1.0) ** 2, MOST_INSTANCES))


def _powers(goal: DetectGoal, variances: Floats, instances: int) -> Floats:
    """The power of each comparison, the least varying first, which is held against the strictest level.

    Where few comparisons differ the laxer levels are never reached.
    """
    comparisons, freedom = len(variances), instances - goal.base
    together = comparisons if goal.together is None else min(goal.together, comparisons)
    levels = np.asarray(holm_levels(comparisons, goal.end_alpha)[np.arange(comparisons) * together // comparisons])
    if goal.final_test != "growth" and goal.is_chosen:  # as the t-test of this many instances has them
        levels = nominal_levels(levels, instances, goal.pilot, goal.available or MOST_INSTANCES, goal.alternative)
    with np.errstate(divide="ignore"):
        effects = np.minimum(goal.detect / np.sqrt(np.sort(variances)), LARGEST_EFFECT)
    return quick_tails(-stdtrit(freedom, tail_levels(levels, goal.alternative)), freedom, effects * sqrt(instances))


LEAST_HALF = 8  # minimum number of instances to estimate a variance
FEW = 1.5  # multiple of the pilot's instances beyond which the whole pilot is used


class Planned(NamedTuple):
    """A plan, and its basis: the whole pilot or its first half."""

    figures: PilotFigures
    goal: DetectGoal
    plan: MainPlan


def usual_early(pilot: int, instance_cost: float = 0.0) -> int:
    """Return the number of a pilot's instances that are used first: half of them, none of a small pilot.

    Where instances cost something, runs are bought to save them by what the pilot says of noise: that takes all of it.

    >>> usual_early(20), usual_early(10), usual_early(20, 50.0)
    (10, 0, 0)
    """
    return pilot // 2 if pilot // 2 >= LEAST_HALF and not instance_cost else 0


def plan_from_half_or_all(
    figures: PilotFigures, differences: Floats, goal: DetectGoal, fewest_runs: FewestRuns
) -> Planned:
    """Return the plan from the first half of the pilot's differences (rows) if that is for few, else from all."""
    if goal.early and not goal.is_fixed:
        solved: dict[float, Floats] = {}  # noise and first runs are those of the whole pilot for both plans

        def fewest_once(se: float, lower: Floats) -> Floats:
            if se not in solved:
                solved[se] = fewest_runs(se, lower)
            return solved[se]

        first = differences[: goal.early]  # of the differences alone: run noise does not depend on the means
        freedom = (~np.isnan(first)).sum(axis=0) - 1.0
        half = replace(figures, variances=np.nanvar(first, axis=0, ddof=1), freedom=freedom)
        half_goal, most = replace(goal, seen=goal.early, caution=goal.early_caution), int(FEW * goal.pilot)
        without_noise = half.between(half_goal.caution)
        if freedom.min() >= LEAST_HALF - 1 and mean_power(half_goal, without_noise, most) >= goal.power:
            plan = plan_after_pilot(half, half_goal, fewest_once)
            if plan.enough and plan.instances <= most:
                return Planned(half, half_goal, plan)
        fewest_runs = fewest_once
    return Planned(figures, goal, plan_after_pilot(figures, goal, fewest_runs))


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Instances per cluster and runs per instance; all clusters are in the pilot."""

    per_cluster: int
    runs: tuple[int, ...]  # of each algorithm on every instance
    enough: bool  # to leave at least half of the allowed variance to that between clusters
    cost: float


def allowed_variance(clusters: int, comparisons: int, goal: DetectGoal) -> float:
    """Return the variance of cluster means at which this many clusters detect the difference with the wanted mean
    power.

    >>> round(allowed_variance(8, 1, DetectGoal(1.0)), 4)
    0.7483
    """
    return clusters * (goal.detect / _noncentrality(clusters, comparisons, goal)) ** 2


def detectable_by_clusters(clusters: int, variances: Floats, goal: DetectGoal) -> float:
    """Return the difference that this many clusters detect, given the variances of their means."""
    return float(np.sqrt(np.mean(variances) / clusters)) * _noncentrality(clusters, len(variances), goal)


def _noncentrality(clusters: int, comparisons: int, goal: DetectGoal) -> float:
    from scipy.optimize import brentq

    tails = tail_levels(np.asarray(holm_levels(comparisons, goal.alpha)), goal.alternative)
    critical = -stdtrit(clusters - 1, tails)

    def missing(noncentrality: float) -> float:
        return float(np.mean(upper_tail(critical, clusters - 1, np.full(comparisons, noncentrality)))) - goal.power

    return float(brentq(missing, 1e-3, 1e3, xtol=1e-12))


def plan_clusters(
    sizes: Counts, within: float, comparisons: int, goal: DetectGoal, fewest_runs: FewestRuns, lower: Floats
) -> ClusterPlan:
    """Return the cheapest instances per cluster and runs that leave half of the allowed variance to the clusters.

    `within` is the variance of the differences between instances of a cluster, without that of the runs. The variance
    between clusters is not asked: for normal differences the plan is independent of the cluster means, and their
    t-test keeps its level.
    """
    allowed = allowed_variance(len(sizes), comparisons, goal) / 2
    prices = np.ones(len(lower)) if goal.costs is None else np.asarray(goal.costs)
    plans = []
    for size in sorted({*range(MIN_PER_CLUSTER, min(DENSE, sizes.max()) + 1), *np.unique(sizes).tolist()}):
        members = np.minimum(size, sizes)
        noise = allowed / float(np.mean(1 / members)) - within
        counts = fewest_runs(sqrt(noise), lower) if noise > 0 else lower
        cost = float(members.sum()) * (goal.instance_cost + float(prices @ counts))
        plans.append(ClusterPlan(int(size), tuple(map(int, counts)), noise > 0, cost))
    enough = [plan for plan in plans if plan.enough and plan.per_cluster >= MIN_PER_CLUSTER]
    return min(enough, key=lambda plan: plan.cost) if enough else plans[-1]


MIN_PER_CLUSTER = 2  # instances of a pilot, without which there is no variance within clusters
DENSE = 200  # numbers of instances per cluster that are all tried

Row = tuple[float, ...]

NUMBERS = ("means", "errors", "freedom", "p_values", "skewness", "deviations", "noise_shares", "shares")  # rows
UNKNOWN = ("mean_power", "least_power", "se", "detectable")  # NaN if nothing continues, or no instance is missing
LATER = ("final_test", "shares")  # fields since version 0.3
IN_UNIT = ("means", "errors", "deviations")  # rows in the unit of simple differences


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotReport:
    """Results of the pilot for each comparison, and the resulting numbers of instances and runs.

    Rows are in the order of `pairs`. Comparisons that are `clear` get no more runs. `runs` are those of each algorithm
    on every instance, 0 for those that left; `planned` instances are run in total, `needed` reach the power."""

    difference: Difference
    detect: float
    power: float
    alpha: float
    alternative: Alternative
    share: float  # share of every level allocated to the pilot; 0 if it is not tested
    instances: tuple[str, ...]  # of the pilot
    start: int  # runs of each algorithm on them
    available: int
    pairs: tuple[Pair, ...]
    means: Row  # of the differences
    errors: Row
    freedom: Row
    p_values: Row
    clear: tuple[bool, ...]
    skewness: Row
    deviations: Row  # of the differences, over instances
    noise_shares: Row  # of the runs, in the squares of these
    runs: Mapping[str, int]
    planned: int
    needed: int
    interval: tuple[int, int]  # of the instances requested in 90 % of all pilots
    mean_power: float  # of the planned ones
    least_power: float
    se: float  # of every comparison that continues, at most, with these runs
    detectable: float  # difference that the available instances detect; NaN if they suffice
    total: int  # runs in total, the pilot's included
    seen: int = 0  # first instances of the pilot that determined the size; 0: all
    final_test: FinalTest = "growth"  # of all instances
    shares: Row = ()  # share of the most extreme instance in each variance; empty: not known

    @property
    def pilot(self) -> int:
        """The number of instances of the pilot."""
        return len(self.instances)

    @property
    def since(self) -> tuple[str, ...]:
        """The instances that determined the size; a growth test uses only the variance after them."""
        return self.instances[: self.seen or self.pilot]

    @property
    def is_fixed(self) -> bool:
        """Whether there were too few instances to choose from: the tests are then the ordinary ones."""
        return self.share == 0

    @property
    def continuing(self) -> tuple[int, ...]:
        """The indices of the comparisons that continue after the pilot."""
        return tuple(k for k, clear in enumerate(self.clear) if not clear)

    @property
    def left(self) -> tuple[str, ...]:
        """The algorithms that got no more runs after the pilot."""
        return tuple(name for name, count in self.runs.items() if not count)

    @property
    def is_enough(self) -> bool:
        """Whether the available instances reach the power."""
        return self.needed <= self.planned

    def times(self, unit: float) -> PilotReport:
        """Return a copy in another unit of the differences."""
        rows: dict[str, Any] = {name: tuple(number * unit for number in getattr(self, name)) for name in IN_UNIT}
        return replace(self, detect=self.detect * unit, detectable=self.detectable * unit, se=self.se * unit, **rows)

    def to_data(self) -> dict[str, Any]:
        """Return everything as plain data; newer fields with the old default are left out."""
        data = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: value for field, value in data if field.name not in LATER or value != field.default}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> PilotReport:
        """Return the report from plain data; to_data's other half. What is not a number may be kept as text."""
        rows = {name: tuple(map(float, data[name])) for name in NUMBERS if name in data}
        others = {
            "pairs": tuple((first, second) for first, second in data["pairs"]),
            "clear": tuple(data["clear"]),
            "instances": tuple(data["instances"]),
            "interval": tuple(data["interval"]),
            "difference": canonical_difference(data["difference"]),
        }
        return cls(**{**data, **rows, **others, **{name: float(data[name]) for name in UNKNOWN}})
