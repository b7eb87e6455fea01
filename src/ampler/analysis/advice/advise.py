"""From a pilot to the cheapest accuracy and number of instances that reach a power."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, floor, isfinite, log2, nan, sqrt
from typing import Any

import numpy as np

from ampler.analysis.advice import words
from ampler.analysis.advice.curve import Choice, cheapest_choice, cost_curve
from ampler.analysis.advice.goal import PowerGoal
from ampler.analysis.advice.guarded import guarded_runs
from ampler.analysis.advice.pilot import Pilot, VarianceParts, in_plain_unit, pilot_of, single_parts
from ampler.analysis.advice.study_plan import USUAL_START, EarlierResults, StudyPlan, goal_of, study_plan
from ampler.analysis.blocks import Blocks, complete, gather, summarise
from ampler.core.arrays import Floats
from ampler.core.checks import positive
from ampler.core.choices import Difference, Target
from ampler.core.errors import InvalidData, InvalidDesign
from ampler.core.notebooks import shown_in_notebook
from ampler.core.runs import Runs, floored
from ampler.core.settings import AnalysisSettings
from ampler.design.detect import DetectGoal, needed_instances, resampled_factors
from ampler.design.detect_words import carried_sentence
from ampler.stats.contrasts import Contrasts, contrasts_of
from ampler.stats.shape import largest_shares, tail_factors

ROOM = 3.0  # a rule with the guard takes a fifth to twice more runs than the optimum, but now and then far more
LEAST_PILOT = 3  # instances: a variance over fewer is no variance
LITTLE_NOISE = 3  # se = σ_between/3 costs 5 % of the effect: sqrt(1 + 1/9) = 1.05


@dataclass(frozen=True, slots=True)
class Advice:
    """The cheapest choice, the curve it was found on, and why. `print(advice)` says it in words."""

    answer: str  # more instances or more runs, compared with the pilot
    best: Choice
    curve: tuple[Choice, ...]  # the most exact first
    allocation: Mapping[str, float]  # runs of each algorithm on an instance, on average, at the best choice
    budget: int  # on one instance, with room for a rule that makes sure of se
    instances_interval: tuple[int, int]  # what the best se would need at the ends of the 90 % intervals
    parts: tuple[VarianceParts, ...]  # in the order of the pairs
    pilot_instances: int
    pilot_runs: float  # on one instance, all algorithms together, on average
    excluded: Mapping[str, str]  # instances of the pilot that could not be used, and why
    detect: float
    power: float
    difference: Difference
    start: int
    warnings: tuple[str, ...]
    rates: bool = False  # differences are shares of yes, of which 0.01 is a percentage point
    plan: StudyPlan | None = None  # fixed instances and runs, as detect plans them; None for another target or test
    least_power: float = nan  # of a comparison, at the best choice
    target: Target = "mean"  # which of the powers of the comparisons `power` is
    needed: int = 0  # instances, where each cell has one value; more than `best` says where these are all there are
    guarded_runs: float = nan  # on one instance, as a rule that makes sure of `best.se` takes them, on average
    paired: bool = False  # runs were compared pair by pair, as folds

    @property
    def is_exact(self) -> bool:
        """Whether the noise of the runs is known, so that an accuracy can be advised."""
        return isfinite(self.best.se)

    _repr_html_ = shown_in_notebook

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, the noise shares included."""
        parts = [asdict(part) | {"noise_share": part.noise_share} for part in self.parts]
        return asdict(self) | {"parts": parts}

    def __str__(self) -> str:
        planned = words.planned_study(self) or words.needed_alone(self)
        taken = f"{words.what_to_take(self)} {words.which_power(self)}" if self.is_exact else planned
        return f"{self.answer} {taken}"


def advise_runs(
    runs: Runs,
    settings: AnalysisSettings,
    *,
    detect: float,
    target: Target = "mean",
    deterministic: Collection[str] | None = (),
    start: int | None = None,
    costs: Mapping[str, float] | None = None,
    instance_cost: float = 0.0,
    available: int | None = None,
) -> Advice:
    """Return the accuracy and the number of instances that find a raw difference of `detect` at the least cost.

    Every true mean difference is taken to be `detect`, in the unit of the differences (0.02 is two percent). `target`
    says which power must reach the wanted one, as for `required_instances`. `costs` are those of one run, by algorithm,
    and `instance_cost` that of having an instance at all. As long as instances are free and there is no end of them,
    the fewest runs (`start`) on the most instances are cheapest; say how many there are with `available`. `plan` of the
    advice is the study that `detect` would plan after a pilot. If it is not known which algorithms are `deterministic`
    (None), one value in a cell is enough to learn how many instances are needed with such values; of runs that are
    paired, as folds, it is learnt how many instances are needed with as many of them.

    >>> noise = [0.0, 0.4, -0.4, 0.2, -0.2]
    >>> rows = [(f"i{i}", "ab"[a], 5 * i + a * i % 3 + e) for i in range(12) for a in range(2) for e in noise]
    >>> settings = AnalysisSettings(difference="simple")
    >>> print(advise_runs(Runs.from_columns(*zip(*rows)), settings, detect=0.5, start=2).answer)
    More instances (27 instead of 12); the runs on each suffice (4 instead of 10).
    """
    unit = _unit(detect, settings)
    goal = PowerGoal(settings, detect / unit, target, available, unit)
    gathered = gather(floored(runs, settings.floor), settings.failures)
    cells, excluded = complete(gathered, deterministic or ())
    paired = runs.shared is not None
    alone = paired or (deterministic is None and len(cells.instances) < LEAST_PILOT)
    if alone:
        cells, excluded = complete(gathered)
    start, first = (10, USUAL_START) if start is None else (start, start)
    _check_pilot(runs, len(cells.instances), start)
    cells = replace(cells, values=cells.values / unit)
    contrasts = contrasts_of(
        cells.algorithms, difference=settings.difference, reference=settings.reference, formula=settings.formula
    )
    blocks = summarise(cells, settings.statistic, deterministic=deterministic or ())
    prices = _costs(costs, cells.algorithms)
    asked = goal_of(
        settings,
        detect / unit,
        start=first,
        costs=tuple(prices.tolist()),
        instance_cost=_instance_cost(instance_cost),
        available=available,
    )
    if alone:
        whole = replace(blocks, variances=np.full_like(blocks.variances, nan)) if paired else blocks
        return _from_single_values(whole, contrasts, goal, asked, excluded, paired=paired)
    pilot = pilot_of(blocks, contrasts, start=start, costs=prices, instance_cost=_instance_cost(instance_cost))
    curve = cost_curve(pilot, goal)
    best = cheapest_choice(pilot, goal, curve)
    counts, guarded = pilot.counts(best.se), guarded_runs(pilot, best.se, settings)
    used, spent = len(cells.instances), float(cells.spent.sum(axis=1).mean())
    return Advice(
        answer=words.answer(best, used, spent),
        best=best.times(unit),
        curve=tuple(choice.times(unit) for choice in curve),
        allocation=dict(zip(cells.algorithms, counts.mean(axis=0).tolist(), strict=True)),
        budget=ceil(max(ROOM * counts.sum(axis=1).max(), ROOM / 2 * guarded)),
        instances_interval=_instances_interval(pilot, goal, best.se),
        parts=tuple(part.times(unit) for part in pilot.parts),
        pilot_instances=used,
        pilot_runs=spent,
        excluded=excluded,
        detect=float(detect),
        power=settings.power,
        difference=settings.difference,
        start=start,
        warnings=_warnings(pilot, best, counts, excluded, cells.algorithms),
        rates=settings.are_rates,
        plan=_planned(blocks, contrasts, settings, asked, unit) if target == "mean" and settings.test == "t" else None,
        least_power=replace(goal, target="worst").reached(best.instances, pilot.variances(counts)),
        target=target,
        guarded_runs=guarded,
    )


def _planned(
    blocks: Blocks, contrasts: Contrasts, settings: AnalysisSettings, goal: DetectGoal, unit: float
) -> StudyPlan:
    earlier = EarlierResults(contrasts, *in_plain_unit(blocks, contrasts), blocks.counts.astype(float), blocks.certain)
    return study_plan(earlier, blocks.algorithms, settings, goal).times(unit)


def _from_single_values(
    blocks: Blocks,
    contrasts: Contrasts,
    wanted: PowerGoal,
    goal: DetectGoal,
    excluded: Mapping[str, str],
    *,
    paired: bool = False,
) -> Advice:
    """What values tell of which each cell has one, or paired ones: how many instances with such are needed, no more."""
    settings, unit, used = wanted.settings, wanted.unit, len(blocks.instances)
    differences = blocks.differences(contrasts)
    variances = differences.var(axis=0, ddof=1) * tail_factors(differences)
    usual = wanted.target == "mean" and settings.test == "t"
    plan = _planned(blocks, contrasts, settings, goal, unit) if usual else None
    usually = np.round(blocks.counts.mean(axis=0)).astype(int).tolist()
    each = dict(zip(blocks.algorithms, usually, strict=True)) if plan is None else plan.runs
    runs, needed = float(sum(each.values())), wanted.instances(variances) if plan is None else plan.needed
    size = min(needed, goal.available or needed)
    power = wanted.reached(size, variances) if plan is None else plan.mean_power
    best = Choice(nan, size, runs, size * runs, power)
    unknown = words.paired_noise_unknown() if paired else words.noise_unknown()
    return Advice(
        answer=words.answer(replace(best, instances=needed), used, runs),
        best=best,
        curve=(best,),
        allocation={name: float(number) for name, number in each.items()},
        budget=int(runs),
        instances_interval=_interval_of(variances, differences, goal, wanted, needed, usual=usual),
        parts=tuple(part.times(unit) for part in single_parts(blocks, contrasts)),
        pilot_instances=used,
        pilot_runs=runs,
        excluded=excluded,
        detect=goal.detect * unit,
        power=settings.power,
        difference=settings.difference,
        start=goal.start,
        warnings=_said(
            words.left_out(excluded, used),
            _carried(blocks.algorithms, contrasts, differences),
            unknown,
            words.small_pilot(used),
            words.few_instances(size),
        ),
        rates=settings.are_rates,
        plan=plan,
        least_power=replace(wanted, target="worst").reached(size, variances) if plan is None else plan.least_power,
        target=wanted.target,
        needed=needed,
        paired=paired,
    )


def _interval_of(
    variances: Floats, differences: Floats, goal: DetectGoal, wanted: PowerGoal, guess: int, *, usual: bool
) -> tuple[int, int]:
    """What would be needed at the ends of the 90 % intervals of the variances, by resampling the instances."""
    ends = [factor * variances for factor in resampled_factors(differences)]
    low, high = (needed_instances(goal, end, guess=guess) if usual else wanted.instances(end, guess) for end in ends)
    return low, high


def suggest_se(*, detect: float, effect: float = 0.5) -> float:
    """Return an accuracy to begin with when nothing is known: a third of the variation between instances.

    If a raw difference `detect` is an effect d of the estimated differences, their standard deviation is detect/d. With
    se = σ_between/3 the noise of the runs makes a tenth of that variance, and costs 5 % of the effect.

    >>> round(suggest_se(detect=0.05, effect=0.5), 4)
    0.0316
    """
    deviation = positive("detect", detect) / positive("effect", effect)
    return deviation / sqrt(1 + LITTLE_NOISE**2)


def _unit(detect: float, settings: AnalysisSettings) -> float:
    """A power of two near `detect` to count simple differences in, so that squares of any magnitude are doubles."""
    size = positive("detect", detect)
    return 2.0 ** floor(log2(size)) if settings.difference == "simple" and not settings.are_rates else 1.0


def _check_pilot(runs: Runs, usable: int, start: int) -> None:
    if start < 2:
        raise InvalidDesign(f"start must be 2 or more, or no variance can be estimated, got {start!r}")
    if len(runs.algorithms) < 2:
        raise InvalidData(f"a comparison needs at least two algorithms, got {runs.algorithms[0]!r} alone")
    if usable < LEAST_PILOT:
        raise InvalidData(
            f"advice needs at least {LEAST_PILOT} instances on which every algorithm has two values or more, to tell"
            f" the noise of the runs apart; got {usable} of {len(runs.instances)}, so run each algorithm again there"
        )


def _costs(costs: Mapping[str, float] | None, algorithms: Sequence[str]) -> Floats:
    given = dict(costs or {})
    strangers = sorted(set(given) - set(algorithms))
    if strangers:
        raise InvalidData(f"costs must be of the algorithms {', '.join(map(repr, algorithms))}, got {strangers[0]!r}")
    return np.array([positive(f"the cost of {name!r}", given.get(name, 1.0)) for name in algorithms])


def _instance_cost(cost: float) -> float:
    if not (isfinite(cost) and cost >= 0):
        raise InvalidDesign(f"instance_cost must be 0 or more, got {cost!r}")
    return cost


def _instances_interval(pilot: Pilot, goal: PowerGoal, se: float) -> tuple[int, int]:
    within = pilot.variances(pilot.counts(se)) - pilot.between
    ends = [pilot.between_with(each) for each in resampled_factors(pilot.differences)]
    low, high = (goal.instances(end + within) for end in ends)
    return low, high


def _carried(names: Sequence[str], contrasts: Contrasts, differences: Floats) -> str | None:
    """Pairs of which one instance holds most of the variance."""
    pairs = [(names[i], names[j]) for i, j in zip(contrasts.first, contrasts.second, strict=True)]
    sizes = [len(differences)] * len(pairs)
    return carried_sentence(pairs, largest_shares(differences).tolist(), sizes, contrasts.difference)


def _warnings(
    pilot: Pilot, best: Choice, counts: Floats, excluded: Mapping[str, str], names: Sequence[str]
) -> tuple[str, ...]:
    used = len(pilot.theta)
    return _said(
        words.left_out(excluded, used),
        _carried(names, pilot.contrasts, pilot.differences),
        words.small_pilot(used),
        words.no_variation(pilot.parts),
        words.few_instances(best.instances),
        words.start_suffices(pilot.start, everywhere=bool((counts <= pilot.start).all())),
    )


def _said(*sentences: str | None) -> tuple[str, ...]:
    return tuple(sentence for sentence in sentences if sentence)
