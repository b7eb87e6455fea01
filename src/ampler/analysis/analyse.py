"""The steps from runs to an Analysis.

runs ─► blocks ─► differences ─► compare (Holm) ─► verdicts
          └─► accuracy, cautions, exploration, omnibus tests
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np

from ampler.analysis import cautions
from ampler.analysis.blocks import Worst
from ampler.analysis.compare import Equivalence, Result, compare, equivalence
from ampler.analysis.exploration import Features, OtherPolicy, Signs, other_policies, stability, subgroups
from ampler.analysis.material import Material, material_of
from ampler.analysis.results import AlgorithmRuns, Analysis, Comparison, Diagnosis, InstanceAccuracy, Settings
from ampler.analysis.words import Wording, verdict
from ampler.core.arrays import Bools, Floats, Pair
from ampler.core.contracts import Statistic
from ampler.core.errors import InvalidDesign
from ampler.core.runs import STATUSES, Runs
from ampler.core.values import Alternative, Better, Caution, Difference, Drop, FailurePolicy, Test
from ampler.design import achieved_power, detectable_effect
from ampler.stats.contrasts import Formula
from ampler.stats.guard import Guard
from ampler.stats.omnibus import Omnibus, omnibus
from ampler.stats.paired import location


def analyse_runs(
    runs: Runs,
    *,
    difference: Difference,
    reference: str | None = None,
    better: Better = "lower",
    test: Test = "t",
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    statistic: str | Statistic = "mean",
    formula: Formula = "delta",
    guard: Guard = "pairs",
    se: float | None = None,
    budget: int | None = None,
    margin: float | None = None,
    effect: float | None = None,
    power: float = 0.8,
    features: Features | None = None,
    failures: FailurePolicy | None = None,
    deterministic: Collection[str] | None = None,
) -> Analysis:
    """Compare the algorithms pair by pair over the instances, with Holm's correction.

    With a `reference` all others are compared with it, else all with all. `se` and `budget` say what accuracy was
    wanted and how many runs an instance could take; `margin` asks for equivalence as well, and then each of the two
    families gets half of alpha. `failures` says what a failed run counts as; it must be said when there are any.
    `deterministic` names the algorithms whose value never changes: then all others need two values per instance.

    >>> runs = Runs.from_columns(["a", "b", "c", "d"] * 2, ["old"] * 4 + ["new"] * 4, [9, 8, 7, 9, 5, 4, 4, 6])
    >>> analyse_runs(runs, difference="simple").comparisons[0].verdict
    'new is better: lower by 3.5 on average, joint 95 % interval 2.58 to 4.42'
    """
    settings = Settings(
        difference=difference,
        reference=reference,
        better=better,
        test=test,
        alternative=alternative,
        alpha=alpha,
        family_alpha=alpha if margin is None else alpha / 2,
        statistic=statistic if isinstance(statistic, str) else getattr(statistic, "__name__", "custom"),
        formula=formula,
        guard=guard,
        se=se,
        budget=budget,
        margin=margin,
        effect=effect,
        power=power,
        failures=failures,
    )
    return _analysis(material_of(runs, settings, statistic, deterministic), features or {})


def _analysis(material: Material, features: Features) -> Analysis:
    settings, pairs, differences = material.settings, material.pairs, material.differences
    results = compare(differences, test=settings.test, alternative=settings.alternative, alpha=settings.family_alpha)
    found = material.decide(differences)
    together = _omnibus(material)
    diagnoses = _diagnoses(material, results)
    accuracy = _accuracy(material)
    detectable = _detectable(material)
    others = _other_policies(material, found)
    return Analysis(
        settings=settings,
        comparisons=_comparisons(material, results, diagnoses, detectable),
        instances=len(differences),
        runs=len(material.runs),
        algorithms=_algorithms(material, together),
        accuracy=accuracy,
        excluded=material.excluded,
        detectable_effect=detectable,
        warnings=_warnings(material, results, diagnoses, accuracy, detectable, others),
        diagnoses=diagnoses,
        omnibus=together,
        subgroups=subgroups(
            differences,
            pairs,
            material.blocks.instances,
            features,
            test=settings.test,
            alternative=settings.alternative,
            alpha=settings.alpha,
        ),
        stability=stability(
            material.cells, material.contrasts, found, alternative=settings.alternative, alpha=settings.family_alpha
        ),
        other_policies=others,
        pairs=pairs,
        statistics=material.blocks.statistics,
        differences=differences,
        errors=material.errors,
        guarded_errors=material.guarded,
    )


# comparisons ------------------------------------------------------------------------------------------------------


def _comparisons(
    material: Material, results: tuple[Result, ...], diagnoses: tuple[Diagnosis, ...], detectable: float
) -> tuple[Comparison, ...]:
    """The comparisons with their verdicts, in Holm's order."""
    settings = material.settings
    wording = Wording(
        difference=settings.difference,
        reference=settings.reference,
        better=settings.better,
        alternative=settings.alternative,
        alpha=settings.family_alpha,
        detectable_effect=detectable,
        power=settings.power,
    )
    unordered = [
        _comparison(pair, result, verdict(*pair, result, diagnosis.equivalence, wording))
        for pair, result, diagnosis in zip(material.pairs, results, diagnoses, strict=True)
    ]
    return tuple(sorted(unordered, key=lambda comparison: comparison.rank))


def _comparison(pair: Pair, result: Result, words: str) -> Comparison:
    return Comparison(
        first=pair[0],
        second=pair[1],
        estimate=result.estimate,
        estimate_of=result.estimate_of,
        interval=result.interval,
        level=result.level,
        joint_interval=result.joint_interval,
        p_value=result.p_value,
        p_holm=result.p_holm,
        alpha=result.alpha,
        rank=result.rank,
        rejected=result.rejected,
        effect_size=result.effect_size,
        effect_interval=result.effect_interval,
        verdict=words,
    )


def _diagnoses(material: Material, results: tuple[Result, ...]) -> tuple[Diagnosis, ...]:
    settings = material.settings
    same: tuple[Equivalence | None, ...] = (None,) * len(results)
    if settings.margin is not None:
        same = equivalence(material.differences, margin=settings.margin, test=settings.test, alpha=settings.alpha / 2)
    return tuple(
        Diagnosis(
            first=pair[0],
            second=pair[1],
            noise_share=_noise_share(material.differences[:, k], material.errors[:, k]),
            skewness=results[k].skewness,
            equivalence=same[k],
        )
        for k, pair in enumerate(material.pairs)
    )


def _noise_share(differences: Floats, errors: Floats) -> float:
    """The mean squared standard error as a share of the variance of the differences."""
    _, sd, exponent = location(differences)
    if sd == 0:
        return float("nan")
    with np.errstate(over="ignore"):  # noise beyond all measure is infinite
        return float(np.mean((np.ldexp(errors, -exponent) / sd) ** 2))


def _detectable(material: Material) -> float:
    settings = material.settings
    try:
        design = detectable_effect(
            instances=len(material.differences),
            comparisons=len(material.pairs),
            power=settings.power,
            alpha=settings.family_alpha,
            alternative=settings.alternative,
            test=settings.test,
        )
    except InvalidDesign:  # too few instances for this test to find anything
        return float("nan")
    return design.effect


def _reached_power(material: Material) -> float:
    """The mean power for the effect that was planned for."""
    settings = material.settings
    if settings.effect is None:
        return float("nan")
    try:
        design = achieved_power(
            instances=len(material.differences),
            comparisons=len(material.pairs),
            effect=settings.effect,
            alpha=settings.family_alpha,
            alternative=settings.alternative,
            test=settings.test,
        )
    except InvalidDesign:
        return 0.0
    return design.power


# beside the comparisons -------------------------------------------------------------------------------------------


def _omnibus(material: Material) -> Omnibus:
    """On the statistics, or on their logarithms when ratios are compared; ranks are the same."""
    settings, values = material.settings, material.blocks.statistics
    if settings.difference == "log-ratio":
        values = np.log(values)
    return omnibus(values, better=settings.better, alpha=settings.alpha)


def _accuracy(material: Material) -> tuple[InstanceAccuracy, ...]:
    settings, errors = material.settings, material.errors
    known: Bools = np.asarray(np.isfinite(errors).all(axis=1))
    worst = np.where(known[:, None], errors, 0.0).argmax(axis=1)
    totals = material.cells.spent.sum(axis=1)
    return tuple(
        InstanceAccuracy(
            instance=name,
            runs=tuple(material.cells.spent[i].tolist()),
            error=float(errors[i].max()),
            guarded_error=float(material.guarded[i].max()),
            worst=material.pairs[worst[i]] if known[i] else None,
            at_budget=settings.budget is not None and int(totals[i]) >= settings.budget,
            accurate=None if settings.se is None or not known[i] else bool(errors[i].max() <= settings.se),
        )
        for i, name in enumerate(material.blocks.instances)
    )


def _algorithms(material: Material, together: Omnibus) -> tuple[AlgorithmRuns, ...]:
    runs = material.runs
    size = len(STATUSES)
    ends = np.bincount(runs.algorithm * size + runs.status, minlength=len(runs.algorithms) * size).reshape(-1, size)
    return tuple(
        AlgorithmRuns(
            algorithm=name,
            runs=int(ends[k].sum()),
            failures={status: int(ends[k, place]) for place, status in enumerate(STATUSES) if place and ends[k, place]},
            mean_rank=together.mean_ranks[k],
        )
        for k, name in enumerate(runs.algorithms)
    )


def _other_policies(material: Material, found: Signs) -> tuple[OtherPolicy, ...]:
    """If runs failed: what would be found if they counted as something else."""
    if material.runs.ok.all():
        return ()
    policies: dict[str, FailurePolicy | Worst] = {
        "left out": Drop(),
        "counted as the worst value seen on their instance": Worst(material.settings.better),
    }
    give = {
        name: partial(material.differences_under, policy)
        for name, policy in policies.items()
        if policy != material.settings.failures
    }
    return other_policies(give, material.pairs, found, material.decide)


def _warnings(
    material: Material,
    results: tuple[Result, ...],
    diagnoses: tuple[Diagnosis, ...],
    accuracy: tuple[InstanceAccuracy, ...],
    detectable: float,
    others: tuple[OtherPolicy, ...],
) -> tuple[Caution, ...]:
    settings, blocks, pairs = material.settings, material.blocks, material.pairs
    shares = np.array([diagnosis.noise_share for diagnosis in diagnoses])
    found = [
        cautions.failed_runs(material.runs, others),
        cautions.incomplete_blocks(material.excluded, len(blocks.instances) + len(material.excluded)),
        cautions.pseudoreplication(blocks),
        cautions.duplicates(blocks),
        cautions.repeated_runs(material.cells),
        cautions.budget_spent([row.instance for row in accuracy if row.at_budget], settings.budget),
        _accuracy_missed(material, accuracy),
        None if settings.se is None else cautions.heavy_tails(blocks),
        cautions.accuracy_unknown(blocks),
        cautions.run_noise(shares, pairs),
        cautions.near_zero(blocks, material.contrasts, material.differences),
        cautions.constant_differences(material.differences, pairs),
        cautions.skewed(
            results,
            pairs,
            len(blocks.instances),
            test=settings.test,
            alternative=settings.alternative,
            difference=settings.difference,
        ),
        cautions.unreachable(results, len(blocks.instances)),
        cautions.underpowered(
            len(blocks.instances),
            len(pairs),
            detectable=detectable,
            effect=settings.effect,
            reached=_reached_power(material),
            power=settings.power,
        ),
    ]
    return tuple(caution for caution in found if caution is not None)


def _accuracy_missed(material: Material, accuracy: tuple[InstanceAccuracy, ...]) -> Caution | None:
    se = material.settings.se
    if se is None:
        return None
    plain = [row.instance for row in accuracy if row.accurate is False]
    guarded = sum(row.guarded_error > se for row in accuracy)
    return cautions.accuracy_missed(plain, guarded, material.blocks, se)
