"""More instances or more runs? The cheapest accuracy and number of instances that reach a power. Pure.

The differences of a pair vary from instance to instance (between), and each is known only up to the noise of its runs
(within). A pilot tells the two apart. Runs buy down the second, instances average both: here is the cheapest mixture.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import ceil, floor, isfinite, log2, nan, sqrt
from typing import Any, Literal

import numpy as np

from ampler.analysis import advice_text as words
from ampler.analysis import cost_curve
from ampler.analysis.blocks import Blocks, complete, gather, summarise
from ampler.core.arrays import Floats, Runs, adjusted_runs
from ampler.core.errors import InvalidData, InvalidDesign
from ampler.core.settings import Difference, Settings, Target, check_detectable, finite, integer, positive
from ampler.core.text import notebook_html
from ampler.design import detect as detection
from ampler.design.text import carried_sentence
from ampler.sampling.allocation import optimal_counts, pairs_of
from ampler.sampling.bias import NEARLY_WHOLE, common_runs
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.shape import largest_shares, tail_factors
from ampler.stats.variance_bounds import guarded_variances

ROWS = 240  # simulated instances: those of the pilot, repeated with other sample variances
ROUNDS = 60  # runs after which the rest is requested at once, as the bounds are then precise
BATCH = 16  # runs that a rule asks for at once, by default
SEED = 0


def guarded_runs(pilot: cost_curve.Pilot, se: float, settings: Settings) -> float:
    """Return the mean number of runs on an instance of a rule with conservative variance bounds."""
    if settings.guard == "none" or not pilot.spread.any():
        return float(pilot.counts(se).sum(axis=1).mean())
    repeats = max(1, ROWS // len(pilot.spread))
    theta, spread = (np.repeat(item, repeats, axis=0) for item in (pilot.theta, pilot.spread))
    rng = np.random.default_rng(SEED)
    counts = np.full(theta.shape, float(pilot.start))
    squares = spread * rng.chisquare(counts - 1)
    for number in range(ROUNDS + 1):
        bounds = guarded_variances(
            counts,
            squares / (counts - 1),
            rates=theta if settings.are_rates else None,
            guard=settings.guard,
            reference=pilot.contrasts.reference,
            edition=settings.guard_edition,
        )
        optimal = optimal_counts(pairs_of(pilot.contrasts, bounds, theta), se, counts, pilot.costs)
        more = np.ceil(optimal - NEARLY_WHOLE) - counts
        total = np.maximum(1.0, more.sum(axis=1, keepdims=True))
        more = np.where(more > 0, more * (1.0 if number == ROUNDS else np.minimum(1.0, BATCH / total)), 0.0)
        if not more.any():
            break
        counts = counts + more
        squares = squares + spread * 2 * rng.standard_gamma(more / 2)
    return float(np.ceil(counts).sum(axis=1).mean())


USUAL_START = 5  # initial runs of each algorithm in a study with detect


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """Instances and runs per algorithm that detect the difference, or the difference that all instances detect.

    Where the earlier results have one value in a cell the noise of the runs is not known, and the runs are those.
    """

    instances: int
    needed: int  # more than `instances` if too few are available
    runs: Mapping[str, int]
    total: int  # runs in total
    mean_power: float  # over the comparisons
    least_power: float  # of a comparison
    detectable: float  # difference detected with the planned mean power
    noise_share: float  # of these runs in the variance of the differences, the median over comparisons; NaN: not known
    cost: float = nan  # of everything, in units of one run (or of the costs given)


def study_plan(blocks: Blocks, contrasts: Contrasts, goal: detection.DetectGoal, unit: float) -> StudyPlan:
    """Return the plan; unknown run noise is assumed to be the same in the new study.

    `unit` is that of the values, in which the plan is not.
    """
    (theta, variances), counts = cost_curve.in_original_unit(blocks, contrasts), blocks.counts.astype(float)
    phi = contrasts.differences(theta)
    if contrasts.reference is None:
        goal = replace(goal, together=detection.differing_together(len(blocks.algorithms), phi.shape[1]))
    has_noise = not np.isnan(variances).any()
    spread = variances if has_noise else np.zeros_like(theta)
    noise = (spread / counts).mean(axis=0)
    runs = common_runs(contrasts, theta, spread)
    figures = detection.PilotFigures(
        variances=np.nanvar(phi, axis=0, ddof=1),
        noise=runs.noise,
        # equivalent constant number of runs of each algorithm, with the same noise
        counts=np.where(noise > 0, spread.mean(axis=0) / np.where(noise > 0, noise, 1.0), counts.mean(axis=0)),
        freedom=(~np.isnan(phi)).sum(axis=0) - 1.0,
        in_play=np.ones(len(blocks.algorithms), dtype=np.bool_),
        differences=phi,
    )
    costs = None if goal.costs is None else np.asarray(goal.costs)
    least = np.where(blocks.certain, 1.0, float(goal.start)) if has_noise else np.round(counts.mean(axis=0))
    plan = detection.plan_after_pilot(figures, goal, lambda se, lower: runs.fewest(se, lower, costs), lower=least)
    expected = np.array(plan.variances)
    return StudyPlan(
        instances=plan.instances,
        needed=plan.needed,
        runs=dict(zip(blocks.algorithms, plan.runs, strict=True)),
        total=plan.instances * sum(plan.runs),
        mean_power=detection.mean_power(goal, expected, plan.instances),
        least_power=detection.least_power(goal, expected, plan.instances),
        detectable=unit * detection.detectable_difference(goal, expected, plan.instances)
        if expected.max() > 0
        else nan,
        noise_share=float(np.median(plan.noise_share)) if has_noise else nan,
        cost=plan.instances * (goal.instance_cost + float(np.dot(plan.runs, 1.0 if costs is None else costs))),
    )


CRITERION = "least cost among the plans that reach the power"
ROOM = 3.0  # a rule with conservative bounds takes 1.2 to 3 times the optimum, and rarely far more
LEAST_PILOT = 3  # minimum number of instances for a variance
LITTLE_NOISE = 3  # se = σ_between/3 costs 5 % of the effect: sqrt(1 + 1/9) = 1.05


@dataclass(frozen=True, slots=True)
class PlanOption:
    """A plan that can be chosen: a fixed number of runs, or runs until a target standard error is reached."""

    kind: Literal["fixed", "adaptive"]
    instances: int
    runs: float  # on one instance, all algorithms together; the expected number for adaptive runs
    total: float
    cost: float
    power: float
    reaches: bool  # the planned power
    se: float = nan

    @property
    def assumption(self) -> str:
        """Data behind the plan: the pilot."""
        if self.kind == "fixed":
            return "the pilot's variances"
        return "variances re-estimated"


@dataclass(frozen=True, slots=True)
class Advice:
    """Recommended plan with its alternatives and reasons. `print(advice)` shows them as text."""

    answer: str  # more instances or more runs, compared with the pilot
    best: cost_curve.Choice
    curve: tuple[cost_curve.Choice, ...]  # the most precise first
    allocation: Mapping[str, float]  # runs of each algorithm on an instance, on average, at the best choice
    budget: int  # on one instance, with a reserve for a rule with conservative variance bounds
    instances_interval: tuple[int, int]  # instances for the best se at the ends of the 90 % intervals
    parts: tuple[cost_curve.VarianceParts, ...]  # in the order of the pairs
    pilot_instances: int
    pilot_runs: float  # on one instance, all algorithms together, on average
    excluded: Mapping[str, str]  # excluded instances of the pilot, with reasons
    detect: float
    power: float
    difference: Difference
    start: int
    warnings: tuple[str, ...]
    rates: bool = False  # whether differences are those of success rates
    plan: StudyPlan | None = None  # fixed instances and runs, as with detect; None for another target or test
    least_power: float = nan  # of a comparison, at the best choice
    target: Target = "mean"  # target: the mean, median, worst or best power
    needed: int = 0  # required instances, if each cell has one value; may exceed those of `best` if few are available
    guarded_runs: float = nan  # on one instance, on average, for a rule with conservative bounds and `best.se`
    paired: bool = False  # runs were compared pair by pair, as folds
    measure: str = "value"  # name of the values: the unit of simple differences

    @property
    def is_exact(self) -> bool:
        """Whether run noise is known, so that a target se can be recommended."""
        return isfinite(self.best.se)

    @property
    def options(self) -> tuple[PlanOption, ...]:
        """All plans: first those that reach the power, each group in order of cost."""
        options, best = [], self.best
        if self.plan is not None:
            plan, runs = self.plan, float(sum(self.plan.runs.values()))
            reaches = plan.needed <= plan.instances
            options.append(PlanOption("fixed", plan.instances, runs, plan.total, plan.cost, plan.mean_power, reaches))
        if self.is_exact:
            more = (self.guarded_runs - best.runs) * best.instances  # than with known variances
            total, reaches = self.guarded_runs * best.instances, best.power >= self.power
            adaptive = (self.guarded_runs, total, best.cost + more, best.power, reaches, best.se)
            options.append(PlanOption("adaptive", best.instances, *adaptive))
        if not options:
            reaches = self.needed <= best.instances
            options.append(
                PlanOption(
                    "fixed", best.instances, best.runs, best.runs * best.instances, best.cost, best.power, reaches
                )
            )
        return tuple(sorted(options, key=lambda option: (not option.reaches, option.cost)))

    @property
    def recommended(self) -> PlanOption:
        """The cheapest plan that reaches the power; the cheapest of all if none does."""
        return self.options[0]

    _repr_html_ = notebook_html

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, the noise shares included."""
        parts = [asdict(part) | {"noise_share": part.noise_share} for part in self.parts]
        options = [asdict(option) | {"assumption": option.assumption} for option in self.options]
        choice = {"criterion": CRITERION, "recommended": options[0], "alternatives": options[1:]}
        return asdict(self) | {"parts": parts} | choice | {"study_toml": words.study_toml(self)}

    def __str__(self) -> str:
        toml = "\n".join(words.study_toml(self))
        text = f"{words.recommendation(self)} {self.answer} {words.which_power(self)}"
        return f"{text}\nIn study.toml:\n{toml}" if toml else text


def advise_runs(
    runs: Runs,
    settings: Settings,
    *,
    detect: float,
    target: Target = "mean",
    deterministic: Collection[str] | None = (),
    start: int | None = None,
    costs: Mapping[str, float] | None = None,
    instance_cost: float = 0.0,
    available: int | None = None,
) -> Advice:
    """Return the cheapest target se and number of instances that detect a difference of `detect`.

    Every true mean difference is taken to be `detect`, in the unit of the differences (0.02 is two percent). `target`
    says which power must reach the wanted one, as for `required_instances`. `costs` are those of one run, by algorithm,
    and `instance_cost` that of having an instance at all. As long as instances are free and there is no end of them,
    the fewest runs (`start`) on the most instances are cheapest; say how many there are with `available`. `plan` of the
    advice is the study that `detect` would plan after a pilot. If it is not known which algorithms are `deterministic`
    (None), one value in a cell is enough to learn how many instances are needed with such values; of runs that are
    paired, as folds, it is learnt how many instances are needed with as many of them.

    >>> noise = [0.0, 0.4, -0.4, 0.2, -0.2]
    >>> rows = [(f"i{i}", "ab"[a], 5 * i + a * i % 3 + e) for i in range(12) for a in range(2) for e in noise]
    >>> settings = Settings(difference="simple")
    >>> print(advise_runs(Runs.from_columns(*zip(*rows)), settings, detect=0.5, start=2).answer)
    You need more instances (32 instead of 12); the runs per instance suffice.
    """
    size = check_detectable(positive("detect", detect), settings.difference)
    # simple differences are counted in a power of two near `detect`, so that squares of any magnitude are doubles
    unit = 2.0 ** floor(log2(size)) if settings.difference == "simple" and not settings.are_rates else 1.0
    goal = cost_curve.PowerGoal(settings, detect / unit, target, available, unit)
    gathered = gather(adjusted_runs(runs, settings.floor, settings.shift), settings.failures)
    cells, excluded = complete(gathered, deterministic or ())
    paired = runs.shared is not None
    alone = paired or (deterministic is None and len(cells.instances) < LEAST_PILOT)
    if alone:
        cells, excluded = complete(gathered)
    if start is not None:
        integer("start", start, 2, 10**9, "with fewer runs no variance can be estimated")
    start, first = (10, USUAL_START) if start is None else (start, start)
    if len(runs.algorithms) < 2:
        raise InvalidData(f"a comparison needs at least two algorithms, got {runs.algorithms[0]!r} alone")
    if len(cells.instances) < LEAST_PILOT:
        raise InvalidData(
            f"advice needs at least {LEAST_PILOT} instances on which every algorithm has two values or more; got"
            f" {len(cells.instances)} of {len(runs.instances)}: make another run of each algorithm there"
        )
    largest = float(np.nanmax(np.abs(cells.values), initial=0.0))
    if settings.difference == "simple":
        detection.check_magnitude(size, largest)
    cells = replace(cells, values=cells.values / unit)
    contrasts = contrasts_of(
        cells.algorithms, difference=settings.difference, reference=settings.reference, formula=settings.formula
    )
    blocks = summarise(cells, settings.statistic, deterministic=deterministic or ())
    if not isinstance(costs, Mapping | None):
        raise InvalidData(f"costs must map algorithms to numbers, got {costs!r}")
    strangers = sorted(set(costs or {}) - set(cells.algorithms))
    if strangers:
        names = ", ".join(map(repr, cells.algorithms))
        raise InvalidData(f"costs must be of the algorithms {names}, got {strangers[0]!r}")
    prices = [positive(f"the cost of {name!r}", (costs or {}).get(name, 1.0)) for name in cells.algorithms]
    if finite("instance_cost", instance_cost) < 0:
        raise InvalidDesign(f"instance_cost must be 0 or more, got {instance_cost!r}")
    detect_goal = detection.DetectGoal(
        detect / unit,
        power=settings.power,
        alpha=settings.family_alpha,
        alternative=settings.alternative,
        start=first,
        instance_cost=instance_cost,
        costs=tuple(prices),
        available=available,
        caution=detection.usual_caution(settings.reference is not None, len(prices)),
        slack=detection.usual_slack(instance_cost),
        fresh=True,
    )
    # common to both kinds of advice; the plan of detect is for t-tests and the mean power
    planned = target == "mean" and settings.test == "t"
    common = partial(
        Advice,
        pilot_instances=len(cells.instances),
        excluded=excluded,
        detect=float(detect),
        power=settings.power,
        difference=settings.difference,
        rates=settings.are_rates,
        target=target,
    )
    if alone:
        without_noise = replace(blocks, variances=np.full_like(blocks.variances, nan)) if paired else blocks
        plan = study_plan(without_noise, contrasts, detect_goal, unit) if planned else None
        return _from_single_values(without_noise, contrasts, goal, detect_goal, plan, common, paired=paired)
    pilot = cost_curve.pilot_of(blocks, contrasts, start=start, costs=np.array(prices), instance_cost=instance_cost)
    curve = cost_curve.cost_curve(pilot, goal)
    best = cost_curve.cheapest_choice(pilot, goal, curve)
    counts, guarded = pilot.counts(best.se), guarded_runs(pilot, best.se, settings)
    used, spent, variances = len(cells.instances), float(cells.spent.sum(axis=1).mean()), pilot.variances(counts)
    within = variances - pilot.between
    low, high = (
        goal.instances(pilot.between_with(end) + within) for end in detection.resampled_factors(pilot.differences)
    )
    advice = common(
        answer=words.answer(best, used, spent),
        best=best.times(unit),
        curve=tuple(choice.times(unit) for choice in curve),
        allocation=dict(zip(cells.algorithms, counts.mean(axis=0).tolist(), strict=True)),
        budget=ceil(max(ROOM * counts.sum(axis=1).max(), ROOM / 2 * guarded)),
        instances_interval=(low, high),
        parts=tuple(part.times(unit) for part in pilot.parts),
        pilot_runs=spent,
        start=start,
        warnings=words.notes(
            used,
            best.instances,
            excluded,
            words.percent_note(settings.difference, settings.reference),
            _carried(cells.algorithms, contrasts, pilot.differences),
            parts=pilot.parts,
            sufficient_start=start if (counts <= start).all() else None,
        ),
        plan=study_plan(blocks, contrasts, detect_goal, unit) if planned else None,
        least_power=replace(goal, target="worst").reached(best.instances, variances),
        guarded_runs=guarded,
    )
    chosen = advice.recommended
    choice = cost_curve.Choice(chosen.se, chosen.instances, chosen.runs, chosen.cost, chosen.power)
    return replace(advice, answer=words.answer(choice, used, spent))


def _from_single_values(
    blocks: Blocks,
    contrasts: Contrasts,
    power_goal: cost_curve.PowerGoal,
    goal: detection.DetectGoal,
    plan: StudyPlan | None,
    common: partial[Advice],
    *,
    paired: bool,
) -> Advice:
    """Return the number of instances needed, from cells with one value or paired values."""
    unit, used, differences = power_goal.unit, len(blocks.instances), blocks.differences(contrasts)
    variances = differences.var(axis=0, ddof=1) * tail_factors(differences)
    ends = [factor * variances for factor in detection.resampled_factors(differences)]
    if plan is None:
        usually = np.round(blocks.counts.mean(axis=0)).astype(int).tolist()
        per_algorithm: Mapping[str, int] = dict(zip(blocks.algorithms, usually, strict=True))
        needed = power_goal.instances(variances)
        size = min(needed, goal.available or needed)
        power = power_goal.reached(size, variances)
        least = replace(power_goal, target="worst").reached(size, variances)
        low, high = (power_goal.instances(end, needed) for end in ends)
    else:
        per_algorithm, needed, power, least = plan.runs, plan.needed, plan.mean_power, plan.least_power
        size = min(needed, goal.available or needed)
        low, high = (detection.needed_instances(goal, end, guess=needed) for end in ends)
    runs = float(sum(per_algorithm.values()))
    best = cost_curve.Choice(nan, size, runs, size * runs, power)
    return common(
        answer=words.answer(replace(best, instances=needed), used, runs),
        best=best,
        curve=(best,),
        allocation={name: float(number) for name, number in per_algorithm.items()},
        budget=int(runs),
        instances_interval=(low, high),
        parts=tuple(part.times(unit) for part in cost_curve.single_parts(blocks, contrasts)),
        pilot_runs=runs,
        start=goal.start,
        warnings=words.notes(
            used,
            size,
            common.keywords["excluded"],
            words.percent_note(
                contrasts.difference,
                None if contrasts.reference is None else blocks.algorithms[contrasts.reference],
            ),
            _carried(blocks.algorithms, contrasts, differences),
            words.PAIRED_NOISE_UNKNOWN if paired else words.NOISE_UNKNOWN,
            parts=cost_curve.single_parts(blocks, contrasts),
        ),
        plan=plan,
        least_power=least,
        needed=needed,
        paired=paired,
    )


def suggest_se(*, detect: float, effect: float = 0.5) -> float:
    """Return a first target se without a pilot: a third of the between-instance SD.

    If a raw difference `detect` is an effect d of the estimated differences, their standard deviation is detect/d. With
    se = σ_between/3 the noise of the runs makes a tenth of that variance, and costs 5 % of the effect.

    >>> round(suggest_se(detect=0.05, effect=0.5), 4)
    0.0316
    """
    deviation = positive("detect", detect) / positive("effect", effect)
    return deviation / sqrt(1 + LITTLE_NOISE**2)


def _carried(names: Sequence[str], contrasts: Contrasts, differences: Floats) -> str | None:
    """Warn of pairs in which one instance has most of the variance."""
    pairs = [(names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True)]
    sizes = [len(differences)] * len(pairs)
    return carried_sentence(pairs, largest_shares(differences).tolist(), sizes, contrasts.difference)
