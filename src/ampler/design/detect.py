"""The plan after a pilot: how many instances and runs of each algorithm find a difference that matters. Pure.

The user says which difference matters, in its own units. The pilot shows how much the differences vary between
instances and how noisy the runs are. More runs make each difference more exact, so that fewer instances do; the plan is
the cheapest such pair, or one nearly as cheap with fewer instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, comb, e, nan, sqrt

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.checks import finite, integer, positive, share
from ampler.core.choices import Alternative
from ampler.core.errors import InvalidDesign
from ampler.design.solve import LARGEST_EFFECT, MOST_INSTANCES, smallest
from ampler.stats.growth import FinalTest
from ampler.stats.holm import holm_levels
from ampler.stats.internal_pilot import nominal_levels
from ampler.stats.noncentral_t import quick_tails
from ampler.stats.power import tail_levels
from ampler.stats.shape import tail_factors

FewestRuns = Callable[[float, Floats], Floats]  # an accuracy and the runs so far: whole numbers of runs that reach it

MOST_ACCURACIES = 60  # each halves the squared error in two steps: the last would be a millionth of the first
ENOUGH = 25  # instances in all, for which few new ones will do
EVEN_CAUTION = 0.55  # the usual one where many comparisons even out, and for the final t-test
RESAMPLES = 400  # of the pilot
LARGEST_FACTOR = 50.0  # by which a variance may be larger, or smaller, than it is estimated
ROOM = 10  # instances beyond the pilot: with fewer there is nothing to choose


def checked_pilot(instances: int, runs: int) -> tuple[int, int]:
    """Return how many instances a pilot has and how many runs of each algorithm on them, made sure of."""
    return (
        integer("pilot", instances, 3, MOST_INSTANCES, "20 instances are usual"),
        integer("start", runs, 2, None, "5 runs are usual, and the noise shows from 2 on"),
    )


def usual_growth(pilot: int) -> int:
    """Return how many new instances follow a pilot at least: five, and up to ten until 25 are there in all.

    >>> usual_growth(20), usual_growth(12)
    (5, 10)
    """
    return min(max(ENOUGH - pilot, 5), 10)


def usual_caution(reference: bool, algorithms: int) -> float:
    """Return the probability with which the variance that is planned with is not too small, for a growth test.

    >>> usual_caution(True, 5), usual_caution(False, 5)
    (0.6, 0.55)
    """
    return EVEN_CAUTION if _evens_out(reference, algorithms) else 0.6


def usual_early_caution(reference: bool, algorithms: int) -> float:
    """Return the same for half a pilot, which is believed only where it asks for few: often enough by chance.

    All with all the instances that the pilot has anyway give more power than is asked for there.
    """
    return 0.5 if _evens_out(reference, algorithms) else 0.7


def _evens_out(reference: bool, algorithms: int) -> bool:
    """Whether the mean over many comparisons counts in which what varies too little and too much evens out."""
    return not reference and algorithms > 2


def usual_slack(instance_cost: float) -> float:
    """Return how much dearer than the cheapest a plan with fewer instances may be: who says what they cost wants none.

    >>> usual_slack(0.0), usual_slack(50.0)
    (0.1, 0.0)
    """
    return 0.0 if instance_cost else 0.1


@dataclass(frozen=True, slots=True)
class DetectGoal:
    """What is asked for, and how the pilot is read. The defaults were chosen by simulation."""

    detect: float  # the difference that matters, in its own units
    power: float = 0.8  # the mean over the comparisons
    alpha: float = 0.05
    alternative: Alternative = "two-sided"
    pilot: int = 20  # instances
    start: int = 5  # runs of each algorithm on them
    least: int = 0  # new instances after the pilot: the variance of a growth test needs them
    share: float = 0.1  # of every level, spent on comparisons that are clear after the pilot
    slack: float = 0.1  # so much dearer than the cheapest plan may one with fewer instances be
    floor: float = 0.15  # no run noise below this share of the variance between instances is bought
    plausible: float = 0.9  # the variance between instances is not larger, with this probability
    caution: float = 0.6  # the variance that is planned with is not too small, with this probability
    instance_cost: float = 0.0  # of having an instance at all, in units of one run
    costs: tuple[float, ...] | None = None  # of one run of each algorithm
    available: int | None = None  # instances
    stretch: float = 0.1  # where too few are there: runs that need so much more than the fewest instances will do
    fresh: bool = False  # plan a study without a pilot, tested as usual: what is known comes from elsewhere
    together: int | None = None  # so many comparisons differ at the same time; if not said, all do
    early: int | None = None  # so many of the pilot's instances are looked at first; if not said, all at once
    early_caution: float = 0.7  # as `caution`, for what these show
    seen: int | None = None  # so many of the pilot's instances decided on the size; if not said, all did
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
            integer("available", self.available, 2, MOST_INSTANCES, "leave it out if there is no limit")

    def times(self, unit: float) -> DetectGoal:
        """The same in other units of the differences."""
        return replace(self, detect=self.detect * unit)

    @property
    def is_fixed(self) -> bool:
        """Whether too few instances are there to choose their number: then all are taken and tested as usual."""
        return self.available is not None and self.available < self.pilot + max(self.least, ROOM)

    @property
    def base(self) -> int:
        """How many instances say nothing on the variance of the end test."""
        return self.seen or self.pilot if self.final_test == "growth" and self.is_chosen else 1

    @property
    def is_chosen(self) -> bool:
        """Whether the pilot's variances choose the number of instances."""
        return not (self.is_fixed or self.fresh)

    @property
    def fewest(self) -> int:
        """The fewest instances that a plan may have: the pilot's are there, and a growth test needs more."""
        if not self.is_chosen:
            return 2
        return max(self.pilot, (self.base if self.final_test == "growth" else self.pilot) + self.least)

    @property
    def end_alpha(self) -> float:
        """The family-wise level that is left for the end."""
        return (1 - self.share) * self.alpha if self.is_chosen else self.alpha


@dataclass(frozen=True, eq=False)
class PilotFigures:
    """What the pilot showed: comparisons that go on in rows, algorithms in columns."""

    variances: Floats  # of the differences, over the pilot's instances
    noise: Floats  # of one run of each algorithm in each comparison: se² = Σ noise/runs
    counts: Floats  # runs so far
    freedom: Floats  # of the variances: the pilot's instances less one
    in_play: Bools  # algorithms that any comparison still needs
    differences: Floats | None = None  # of the pilot (rows), which show their tails; None: taken for normal

    @cached_property
    def tails(self) -> Floats:
        """By which factor the variances may be larger, as few instances carry them."""
        return np.ones_like(self.variances) if self.differences is None else tail_factors(self.differences)

    @property
    def squared_errors(self) -> Floats:
        """The part of the variances that the runs made."""
        return np.asarray(self.noise @ (1 / self.counts))

    def between(self, confidence: float) -> Floats:
        """Return variances between instances that are not too small, with this probability."""
        from scipy.special import chdtri

        factors = np.maximum(self.freedom / chdtri(self.freedom, confidence), self.tails)
        return np.maximum(0.0, self.variances * factors - self.squared_errors)


@dataclass(frozen=True, slots=True)
class MainPlan:
    """What is run after the pilot."""

    runs: tuple[int, ...]  # of each algorithm on every instance, the pilot's included; 0 for those that left
    instances: int  # in all
    needed: int  # to reach the power; more than `instances` where these are all there are
    cost: float  # of reaching the power
    se: float  # of every comparison that goes on, at most
    noise_share: tuple[float, ...]  # of the runs, in the variance of each comparison that goes on
    variances: tuple[float, ...]  # expected of the differences

    @property
    def enough(self) -> bool:
        """Whether the instances that are there reach the power."""
        return self.needed <= self.instances


def plan_after_pilot(
    figures: PilotFigures, goal: DetectGoal, fewest_runs: FewestRuns, *, lower: Floats | None = None
) -> MainPlan:
    """Return the cheapest plan, or among those nearly as cheap the one with the fewest instances.

    Each algorithm gets at least `lower` runs; if that is not said, those it had.
    """
    candidates = list(_candidates(figures, goal, fewest_runs, figures.counts if lower is None else lower))
    most = MOST_INSTANCES if goal.available is None else goal.available
    reachable = [plan for plan in candidates if plan.needed <= most]
    if (goal.is_fixed and not goal.fresh) or not reachable:
        return _taking_all(reachable, candidates, figures, goal)
    cheapest = min(plan.cost for plan in reachable)
    near = (plan for plan in reachable if plan.cost <= (1 + goal.slack) * cheapest)
    return min(near, key=lambda plan: (plan.instances, plan.cost))


def differing_together(algorithms: int, comparisons: int) -> int:
    """Return how many comparisons are taken to differ at the same time where all algorithms are compared with all.

    Not every pair can lie `detect` apart. So many do where one half of the algorithms is so far from the other.

    >>> differing_together(5, 10)
    6
    """
    apart = (algorithms // 2) * ((algorithms + 1) // 2)
    return max(1, comparisons * apart // comb(algorithms, 2))


def mean_power(goal: DetectGoal, variances: Floats, instances: int) -> float:
    """Return the mean power of the end test; the comparison that varies least is held against the strictest level."""
    return float(_powers(goal, variances, instances).mean())


def least_power(goal: DetectGoal, variances: Floats, instances: int) -> float:
    """Return the power of the comparison that has the least."""
    return float(_powers(goal, variances, instances).min())


def needed_instances(goal: DetectGoal, variances: Floats, *, guess: int | None = None) -> int:
    """Return the fewest instances whose mean power is the wanted one; a good guess makes it quicker.

    >>> needed_instances(DetectGoal(0.5, pilot=15), np.array([1.0, 1.0]))
    41
    """
    found = smallest(
        lambda n: mean_power(goal, variances, n),
        goal.power,
        guess=guess or _normal_instances(goal, variances),
        least=goal.fewest,
        most=MOST_INSTANCES,
    )
    if found is None and goal.available is not None:
        return MOST_INSTANCES  # more than there are: all are taken, and it is said what they find
    if found is None:
        raise InvalidDesign(
            f"no reachable number of instances finds a difference of {goal.detect:g}: so much do the differences vary;"
            " ask for a larger one"
        )
    return found


def instances_interval(figures: PilotFigures, goal: DetectGoal, plan: MainPlan, level: float = 0.9) -> tuple[int, int]:
    """Return between which numbers of instances these runs need, at this confidence, by resampling the pilot."""
    noise = np.array(plan.variances) - figures.between(goal.caution)
    factors: Iterable[float | Floats] = (
        _normal_factors(figures, level)
        if figures.differences is None
        else resampled_factors(figures.differences, level)
    )
    others = (replace(figures, variances=figures.variances * factor) for factor in factors)
    planned, ends = np.array(plan.variances), [other.between(goal.caution) + noise for other in others]
    low, high = (needed_instances(goal, end, guess=_guess(plan.needed, planned, end)) for end in ends)
    return low, high


def _normal_factors(figures: PilotFigures, level: float) -> list[Floats]:
    """By what the variances of other pilots differ where differences are normal: as studies were told before 0.3."""
    from scipy.special import chdtri

    return [chdtri(figures.freedom, tail) / figures.freedom for tail in ((1 + level) / 2, (1 - level) / 2)]


def resampled_factors(differences: Floats, level: float = 0.9) -> tuple[float, float]:
    """Return by which factors the true variances may differ from those estimated, all by the same, at this confidence.

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
    """Return the difference that so many instances find with the wanted mean power."""
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
    """Plans from the accuracy of the fewest runs on, each more exact, until that saves nothing or is exact enough."""
    between = figures.between(goal.caution)
    fewest = needed_instances(goal, between)
    known = fewest, between
    coarsest = float((figures.noise @ (1 / lower)).max())
    finest = goal.floor * float(np.median(figures.between(goal.plausible)))
    for step in range(MOST_ACCURACIES):
        squared = coarsest * 2 ** (-step / 2)
        if step and squared < finest:
            return
        counts = fewest_runs(sqrt(squared), lower) if step else lower
        plan = _plan(figures, goal, between, sqrt(squared), counts, known)
        yield plan
        known = plan.needed, np.array(plan.variances)
        if plan.needed <= fewest:
            return


def _plan(
    figures: PilotFigures, goal: DetectGoal, between: Floats, se: float, counts: Floats, known: tuple[int, Floats]
) -> MainPlan:
    noise = figures.noise @ (1 / counts)
    variances = between + noise
    needed = needed_instances(goal, variances, guess=_guess(*known, variances))
    with np.errstate(invalid="ignore"):
        noise_share = np.where(variances > 0, noise / variances, 0.0)
    return MainPlan(
        runs=tuple(int(count) if playing else 0 for count, playing in zip(counts, figures.in_play, strict=True)),
        instances=needed,
        needed=needed,
        cost=needed * _instance_cost(figures, goal, counts),
        se=se,
        noise_share=tuple(noise_share.tolist()),
        variances=tuple(variances.tolist()),
    )


def _guess(needed: int, before: Floats, now: Floats) -> int | None:
    """So many instances are needed with other variances, about: they grow together."""
    grown = float(now.mean()) / float(before.mean()) if before.any() else nan
    return ceil(min(needed * grown, MOST_INSTANCES)) if grown > 0 else None


def _instance_cost(figures: PilotFigures, goal: DetectGoal, counts: Floats) -> float:
    costs = np.ones(len(counts)) if goal.costs is None else np.asarray(goal.costs)
    return goal.instance_cost + float((costs * counts)[figures.in_play].sum())


def _taking_all(
    reachable: Sequence[MainPlan], candidates: Sequence[MainPlan], figures: PilotFigures, goal: DetectGoal
) -> MainPlan:
    """All instances that are there: with the cheapest runs that suffice, or with runs that nearly do what runs can."""
    assert goal.available is not None
    if reachable:
        best = min(reachable, key=lambda plan: plan.cost / plan.needed)
    else:
        fewest = min(plan.needed for plan in candidates)
        best = min(
            (plan for plan in candidates if plan.needed <= (1 + goal.stretch) * fewest), key=lambda plan: plan.cost
        )
    return replace(best, instances=goal.available)


def _normal_instances(goal: DetectGoal, variances: Floats) -> int:
    """A first guess: d·√N = z_tail + z_power at a level near the middle of Holm's."""
    from scipy.special import ndtri

    level = goal.end_alpha / max(1.0, len(variances) / e)
    tail = float(tail_levels(level, goal.alternative))
    root = (float(ndtri(goal.power)) - float(ndtri(tail))) * sqrt(float(np.median(variances))) / goal.detect
    return ceil(min(max(root, 1.0) ** 2, MOST_INSTANCES))


def _powers(goal: DetectGoal, variances: Floats, instances: int) -> Floats:
    """The power of each comparison, the least varying first, which is held against the strictest level."""
    from scipy.special import stdtrit

    freedom = instances - goal.base
    tails = tail_levels(_levels(goal, len(variances), instances), goal.alternative)
    with np.errstate(divide="ignore"):
        effects = np.minimum(goal.detect / np.sqrt(np.sort(variances)), LARGEST_EFFECT)
    return quick_tails(-stdtrit(freedom, tails), freedom, effects * sqrt(instances))


def _levels(goal: DetectGoal, comparisons: int, instances: int) -> Floats:
    """Levels of Holm, the strictest first, as the t-test of so many instances has them.

    Where few comparisons differ the laxer ones are never reached.
    """
    together = comparisons if goal.together is None else min(goal.together, comparisons)
    ranks = np.arange(comparisons) * together // comparisons
    levels = np.asarray(holm_levels(comparisons, goal.end_alpha)[ranks])
    if goal.final_test == "growth" or not goal.is_chosen:
        return levels
    return nominal_levels(levels, instances, goal.pilot, goal.available or MOST_INSTANCES, goal.alternative)
