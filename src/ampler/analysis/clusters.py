"""Instances that belong together, such as the questions of one passage: the cluster is the unit of the tests. Pure.

The differences of a cluster are averaged, however many instances it has, and the clusters are tested: the cluster takes
the place of the instance, and the instance that of the run. Where each instance counts once instead, the error is the
cluster-robust CR2 with Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ampler.analysis.compare import (
    ALL,
    ClusterEffect,
    Comparison,
    Equivalence,
    PairTest,
    compare,
    equivalence,
    tested_family,
    two_one_sided,
)
from ampler.core.arrays import Codes, Floats, Pair, Runs
from ampler.core.errors import AnalysisWarning, InvalidData, InvalidDesign
from ampler.core.settings import Alternative, Settings
from ampler.core.text import count, digits, listed, parameter
from ampler.stats import dependence
from ampler.stats.contrasts import Contrasts
from ampler.stats.dependence import MIN_CLUSTERS, MeanEstimate, VarianceComponents
from ampler.stats.descriptive import mean_ranks_of, settled_rows
from ampler.stats.paired import Bounds, FamilyVerdict, paired_test
from ampler.stats.paired.contract import EVERYTHING
from ampler.stats.power import EFFECT_LEVEL, noncentralities

if TYPE_CHECKING:
    from ampler.analysis import Analysis

FEW_CLUSTERS = 10  # with fewer, skewness cannot be checked
UNEVEN = 0.6  # share of G − 1 below which so few degrees of freedom tell of one large cluster
DETECTION_LEVEL = 0.01  # of all columns together
FEWEST_GROUPS = 3
SMALLEST_GROUP = 1.5  # instances of a group on average
MIN_SESSIONS = 3  # minimum number of sessions
FLIP_STEPS = 60  # halvings of an interval by sign flips


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each instance, in the order of the instances."""

    name: str  # of the column
    labels: tuple[str, ...]
    codes: Codes

    def __len__(self) -> int:
        return len(self.labels)

    def means(self, values: Floats) -> Floats:
        """Return the mean of each cluster (row); NaN where it has no value."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums(values) / self.sums(~np.isnan(values)))

    def errors(self, errors: Floats) -> Floats:
        """Return the standard error of each cluster's mean from run noise."""
        return np.sqrt(self.means(errors**2) / np.maximum(self.sums(~np.isnan(errors)), 1.0))

    def sums(self, values: Floats) -> Floats:
        """Return the sum of each cluster; NaN counts as 0."""
        result = np.zeros((len(self), *values.shape[1:]))
        np.add.at(result, self.codes, np.nan_to_num(values, nan=0.0))
        return result

    def of(self, column: Floats) -> tuple[Floats, Codes]:
        """Return the differences that a pair has, and their clusters, numbered from 0."""
        there = ~np.isnan(column)
        _, codes = np.unique(self.codes[there], return_inverse=True)
        return column[there], codes


def clusters_of(settings: Settings, features: Mapping[str, Mapping[str, object]], instances: Sequence[str]) -> Clusters:
    """Return the clusters of the instances by the feature that the settings name."""
    name = settings.cluster
    assert name is not None
    if name not in features:
        there = listed([repr(feature) for feature in features], 12) or "none"
        raise InvalidData(
            f"{parameter('cluster')} must name a column that groups instances, got {name!r}: there is {there}"
        )
    labels = [features[name].get(instance) for instance in instances]
    for instance, label in zip(instances, labels, strict=True):
        if label is None or label == "":
            raise InvalidData(f"each instance must belong to a cluster, and {instance!r} has none in {name!r}")
    names = tuple(dict.fromkeys(map(str, labels)))
    numbers = {label: number for number, label in enumerate(names)}
    return Clusters(name, names, np.array([numbers[str(label)] for label in labels]))


# tests ------------------------------------------------------------------------------------------------------------


def compare_clusters(
    differences: Floats, pairs: Sequence[Pair], clusters: Clusters, settings: Settings
) -> tuple[Comparison, ...]:
    """Test every pair with the cluster as the unit, by the settings."""
    family = None if _are_sample(settings) else tested_family(_tests(differences, clusters, settings), settings)
    comparisons = _compare(clusters.means(differences), pairs, settings, family)
    columns = zip(comparisons, differences.T, strict=True)
    return tuple(_with_effect(comparison, *clusters.of(column), settings) for comparison, column in columns)


def _compare(
    sample: Floats, pairs: Sequence[Pair], settings: Settings, family: FamilyVerdict | None
) -> tuple[Comparison, ...]:
    test, alternative, alpha = settings.paired_test, settings.alternative, settings.family_alpha
    return compare(sample, pairs, test=test, alternative=alternative, alpha=alpha, family=family)


def _are_sample(settings: Settings) -> bool:
    """Whether the cluster means are the sample of the test."""
    return settings.mean_over == "clusters" and settings.cluster_effects == "random"


def _tests(differences: Floats, clusters: Clusters, settings: Settings) -> list[PairTest | None]:
    """The tests of the differences of instances, pair by pair."""
    columns = [clusters.of(column) for column in differences.T]
    if settings.test == "sign-flip":
        return [SignFlips(*column) for column in columns]
    return _mean_tests([_mean(*column, settings) for column in columns])


def _mean_tests(means: Sequence[MeanEstimate | None]) -> list[PairTest | None]:
    return [mean if mean is not None and mean.error > 0 else None for mean in means]


def _mean(x: Floats, codes: Codes, settings: Settings) -> MeanEstimate | None:
    """The mean of a pair's differences by the settings; None where it cannot be tested."""
    if codes.max(initial=-1) < 1:
        return None
    if settings.cluster_effects == "fixed":
        return dependence.mean_over_fixed_clusters(x, codes)
    by_instance = settings.mean_over == "instances"
    return (dependence.mean_over_instances if by_instance else dependence.mean_over_clusters)(x, codes)


@dataclass(frozen=True, eq=False)
class SignFlips:
    """The test that flips the signs of whole clusters."""

    differences: Floats
    codes: Codes

    def p_value(self, alternative: Alternative, shift: float = 0.0) -> float:
        """Return the p-value of the mean being the shift."""
        return dependence.sign_flip_p(self.differences - shift, self.codes, alternative=alternative)

    def interval(self, alternative: Alternative, alpha: float) -> Bounds:
        """Return the shifts that flips do not reject, by halving between the mean and where they reject."""
        center, reach = float(self.differences.mean()), float(np.ptp(self.differences))

        def end(direction: int) -> float:
            near, far = 0.0, reach
            for _ in range(FLIP_STEPS):
                if self.p_value(alternative, center + direction * far) <= alpha:
                    break
                near, far = far, 2 * far
            else:
                return direction * math.inf
            for _ in range(FLIP_STEPS):
                middle = (near + far) / 2
                is_beyond = self.p_value(alternative, center + direction * middle) <= alpha
                near, far = (near, middle) if is_beyond else (middle, far)
            return center + direction * far

        if reach == 0:
            return EVERYTHING
        low = -math.inf if alternative == "less" else end(-1)
        return Bounds(low, math.inf if alternative == "greater" else end(1), 1 - alpha)


def crossed_means(
    runs: Runs, contrasts: Contrasts, instances: Sequence[str], clusters: Clusters | None
) -> tuple[list[MeanEstimate], tuple[int, int]]:
    """Return the mean difference of each pair where sessions served many instances, and the size of the table.

    `runs` have one value for each algorithm, instance and session. The largest complete table is used.
    """
    rows = np.array([runs.instances.index(name) for name in instances])
    sessions, session = np.unique(np.asarray(runs.shared), return_inverse=True)
    table = np.full((len(runs.instances), len(sessions), len(runs.algorithms)), np.nan)
    table[runs.instance, session.ravel(), runs.algorithm] = runs.value
    phi = contrasts.differences(table[rows].reshape(-1, len(runs.algorithms))).reshape(len(rows), len(sessions), -1)
    if clusters is not None:
        phi = clusters.means(phi)
    missing = np.isnan(phi).any(axis=2)
    complete_rows, complete_columns = (np.flatnonzero(missing.sum(axis=axis) == 0) for axis in (1, 0))
    by_row = len(complete_rows) * missing.shape[1] >= len(complete_columns) * missing.shape[0]
    phi = phi[complete_rows] if by_row else phi[:, complete_columns]
    if min(phi.shape[:2]) < 2:
        raise InvalidData(
            f"{parameter('crossed')} needs at least two instances with runs of all algorithms in at least two sessions,"
            f" got {phi.shape[0]} in {phi.shape[1]}"
        )
    return [dependence.crossed_mean(phi[:, :, k]) for k in range(phi.shape[2])], phi.shape[:2]


def crossed_comparisons(
    means: Sequence[MeanEstimate], sample: Floats, pairs: Sequence[Pair], settings: Settings
) -> tuple[Comparison, ...]:
    """Return the comparisons with errors that include the sessions."""
    comparisons = _compare(sample, pairs, settings, tested_family(_mean_tests(means), settings))
    return tuple(replace(c, estimate=mean.estimate) for c, mean in zip(comparisons, means, strict=True))


def crossed_equivalence(means: Sequence[MeanEstimate], margin: float, settings: Settings) -> tuple[Equivalence, ...]:
    """Test equivalence within ±margin by the same errors."""
    return two_one_sided(_mean_tests(means), margin, settings.equivalence_alpha)


def crossed_warning(size: tuple[int, int], settings: Settings) -> Iterator[AnalysisWarning]:
    """Return a warning about few sessions."""
    if size[1] < MIN_SESSIONS:
        yield AnalysisWarning(
            "clusters",
            f"The conclusions hold for these {size[1]} sessions ({settings.crossed}) only: too few to generalise. Run"
            f" the {size[0]} instances in at least {MIN_SESSIONS} sessions.",
        )


def _with_effect(comparison: Comparison, x: Floats, codes: Codes, settings: Settings) -> Comparison:
    """The comparison with the facts of its clusters, and an effect size in standard deviations of one instance."""
    unknown, groups = (math.nan, math.nan), int(codes.max(initial=-1)) + 1
    if groups < 2:
        alone = float(x.mean()) if len(x) else math.nan
        effect = ClusterEffect(groups, 0.0, math.nan, unknown, math.nan, math.nan, alone, alone)
        return replace(comparison, instances=len(x), cluster=effect)
    mean = _mean(x, codes, settings) or dependence.mean_over_clusters(x, codes)
    parts = VarianceComponents(float(x.var(ddof=1)), 0.0, math.nan, unknown, 1.0)  # clusters of one instance each
    if groups < len(x):
        parts = dependence.variance_components(x, codes)
    sd, interval = math.sqrt(parts.between + parts.within), unknown
    if mean.error > 0 and sd > 0:
        t = mean.estimate / mean.error
        tails = np.array([(1 - EFFECT_LEVEL) / 2, (1 + EFFECT_LEVEL) / 2])
        ends = noncentralities(np.full(2, abs(t)), np.full(2, mean.df), tails) * mean.error / sd
        interval = (float(ends[0]), float(ends[1])) if t >= 0 else (-float(ends[1]), -float(ends[0]))
    result = replace(
        comparison,
        estimate=mean.estimate if comparison.estimate_of == "mean" else comparison.estimate,
        effect_size=mean.estimate / sd if sd > 0 else math.nan,
        effect_interval=interval,
        instances=len(x),
        cluster=ClusterEffect(
            *(groups, mean.df, parts.icc, parts.icc_interval, parts.design_effect),
            sd_of_means=mean.error * math.sqrt(groups) / sd if sd > 0 else 1.0,
            estimate_over_clusters=float(dependence.cluster_means(x, codes).mean()),
            estimate_over_instances=float(x.mean()),
        ),
    )
    if groups < MIN_CLUSTERS and settings.cluster_effects == "random":  # too few clusters for conclusions about others
        return replace(result, p_value=1.0, p_holm=1.0, rejected=False, interval=ALL, joint_interval=ALL)
    return result


def cluster_equivalence(
    differences: Floats, margin: float, clusters: Clusters, settings: Settings
) -> tuple[Equivalence, ...]:
    """Test equivalence within ±margin with the cluster as the unit, as a family of its own."""
    alpha, fixed = settings.equivalence_alpha, settings.cluster_effects == "fixed"
    if _are_sample(settings):
        tests = equivalence(clusters.means(differences), margin=margin, test=settings.paired_test, alpha=alpha)
    else:
        tests = two_one_sided(_tests(differences, clusters, settings), margin, alpha)
    enough = (fixed or clusters.of(column)[1].max(initial=-1) + 1 >= MIN_CLUSTERS for column in differences.T)
    pairs = zip(tests, enough, strict=True)
    return tuple(replace(test, established=test.established and bool(there)) for test, there in pairs)


def cluster_ranks(statistics: Floats, clusters: Clusters, complete: Any) -> Floats:
    """Return a table for tests of all algorithms together: ranks within instances, averaged by cluster.

    Ranks are of the smaller values first; clusters without a complete instance are left out.
    """
    ranks = np.full(statistics.shape, np.nan)
    ranks[complete] = mean_ranks_of(settled_rows(statistics[complete]))
    means = clusters.means(ranks)
    return np.asarray(means[~np.isnan(means).any(axis=1)])


# text about clusters -------------------------------------------------------------------------------------------------


def cluster_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the unit of analysis, the intraclass correlation, and both estimates where they may differ."""
    facts = [c.cluster for c in analysis.comparisons if c.cluster is not None and c.cluster.clusters > 1]
    if analysis.settings.cluster is None or not facts:
        return
    name, most = analysis.settings.cluster, max(fact.clusters for fact in facts)
    counted = f"Unit of analysis: {name} ({count(most, 'cluster')}, {count(analysis.instances, 'instance')})"
    if analysis.settings.cluster_effects == "fixed":
        counted += f". The conclusions are about these {most} alone"
    known = [fact for fact in facts if math.isfinite(fact.icc)]
    if not known:
        yield counted
        return
    strongest = max(known, key=lambda fact: fact.icc)
    low, high = strongest.icc_interval
    of = " at most" if len(known) > 1 else ""
    size = analysis.instances / strongest.design_effect
    yield (
        f"{counted}. Intraclass correlation{of} {strongest.icc:.2f} (95 % CI {low:.2f} to {high:.2f}):"
        f" effective sample size {size:.0f}"
    )


def over_clusters(analysis: Analysis) -> str:
    """Return the unit of the tests for a methods paragraph; empty without clusters."""
    settings, facts = analysis.settings, [c.cluster for c in analysis.comparisons if c.cluster is not None]
    if settings.cluster is None or not facts:
        return ""
    clusters = count(max(fact.clusters for fact in facts), "cluster")
    by = f"of instances (by {settings.cluster})"
    if settings.cluster_effects == "fixed":
        return f"over the means of {clusters} {by}, for these clusters alone"
    if settings.mean_over == "clusters":
        return f"over the mean differences of {clusters} {by}, which were the unit of analysis"
    how = "whole clusters changed sign" if settings.test == "sign-flip" else "errors were cluster-robust (CR2)"
    df = "" if settings.test == "sign-flip" else ", with Satterthwaite's degrees of freedom"
    return f"over the instances in {clusters} {by}, where {how}{df}"


def cluster_warnings(
    comparisons: Sequence[Comparison], differences: Floats, clusters: Clusters, settings: Settings
) -> Iterator[AnalysisWarning]:
    """Yield warnings about few or uneven clusters, and about estimates with different verdicts."""
    facts = [comparison.cluster for comparison in comparisons if comparison.cluster is not None]
    fewest, random = min(fact.clusters for fact in facts), settings.cluster_effects == "random"
    if random and fewest < MIN_CLUSTERS:
        yield AnalysisWarning(
            "clusters",
            f"No verdict is claimed: {fewest} clusters of {clusters.name!r} are too few to generalise to other"
            f" clusters. To conclude about these {fewest} alone: {parameter('cluster_effects', 'fixed')}.",
        )
    elif random and fewest < FEW_CLUSTERS:
        yield AnalysisWarning(
            "clusters",
            f"Results may be too optimistic: {fewest} clusters of {clusters.name!r} are too few to check skewness. Up"
            " to 10 % of the claims may be false instead of 5 %.",
        )
    if not random and np.bincount(clusters.codes).min() < 2:
        yield AnalysisWarning(
            "level",
            f"Nothing can be claimed about these clusters of {clusters.name!r} alone: one has a single instance, whose"
            " variance is unknown.",
        )
    needed = dependence.fewest_clusters_for_flips(len(comparisons), settings.family_alpha)
    if random and settings.test in ("wilcoxon", "sign", "sign-flip") and MIN_CLUSTERS <= fewest < needed:
        yield AnalysisWarning(
            "level",
            f"With {fewest} clusters the {paired_test(settings.test).words} cannot find a difference at the strictest"
            f" level of {count(len(comparisons), 'comparison')}: {needed} clusters are needed.",
        )
    if settings.mean_over == "instances" and settings.test == "t":
        uneven = [fact for fact in facts if fact.df < UNEVEN * (fact.clusters - 1)]
        if uneven:
            sizes = np.bincount(clusters.codes)
            yield AnalysisWarning(
                "clusters",
                f"Results may be too optimistic: the largest cluster of {clusters.name!r} holds"
                f" {100 * sizes.max() / sizes.sum():.0f} % of the instances. Up to 13 % of the claims may be false"
                f" instead of 5 %. Use {parameter('mean_over', 'clusters')}, or {parameter('test', 'sign-flip')}.",
            )
    if fewest >= MIN_CLUSTERS:
        yield from _other_mean(comparisons, differences, clusters, settings)


def _other_mean(
    comparisons: Sequence[Comparison], differences: Floats, clusters: Clusters, settings: Settings
) -> Iterator[AnalysisWarning]:
    """Decisions by the other mean: over clusters of unequal sizes, or over instances."""
    sizes = np.bincount(clusters.codes)
    if settings.test != "t" or settings.cluster_effects == "fixed" or sizes.min() == sizes.max():
        return
    other = replace(settings, mean_over="instances" if settings.mean_over == "clusters" else "clusters")
    family = tested_family(_tests(differences, clusters, other), other)
    changed = [
        f"{comparison.first} × {comparison.second}"
        for comparison, rejected in zip(comparisons, family.steps.rejected, strict=True)
        if comparison.rejected != bool(rejected) and comparison.cluster is not None
    ]
    if changed:
        yield AnalysisWarning(
            "clusters",
            f"Clusters have unequal sizes. The mean over {other.mean_over} changes the verdict in"
            f" {len(changed)} of {count(len(comparisons), 'comparison')} ({listed(changed, 3)}). To give all"
            f" {other.mean_over} equal weight: {parameter('mean_over', other.mean_over)}.",
        )


def plan_by_clusters(analysis: Analysis, detect: float) -> NoReturn:
    """Raise InvalidDesign with the command that plans clusters as alike as these."""
    facts = [item for item in analysis.comparisons if item.cluster is not None and math.isfinite(item.cluster.icc)]
    if not facts or not all(item.effect_size for item in facts):
        raise InvalidDesign("clusters are planned from how alike their instances are, which these results do not tell")
    effects = [detect * abs(item.effect_size / item.estimate) for item in facts]
    icc = max(item.cluster.icc for item in facts if item.cluster is not None)
    size = analysis.instances / max(item.sample_size for item in facts)
    raise InvalidDesign(
        "advice takes instances for independent; plan the clusters by the correlation in these results: ampler design"
        f" --comparisons {len(facts)} --effect {digits(sum(effects) / len(effects))}"
        f" --power {analysis.settings.power:g} --per-cluster {max(1, round(size))} --icc {icc:.2f}"
    )


# undeclared structure ------------------------------------------------------------------------------------------------


def undeclared_clusters(
    groups: Mapping[str, Mapping[str, object]], differences: Floats, instances: Sequence[str]
) -> tuple[str, float] | None:
    """Return the column whose groups of instances are most alike, beyond chance, with its p-value; None if none is."""
    level, alike = DETECTION_LEVEL / max(len(groups), 1), list[tuple[str, float]]()
    for name in groups:
        clusters = clusters_of(Settings(difference="simple", cluster=name), groups, instances)
        if len(clusters) >= FEWEST_GROUPS and len(instances) >= SMALLEST_GROUP * len(clusters):
            p = dependence.grouping_p(differences, clusters.codes, level=level)
            alike += [(name, p)] if p <= level else []
    return min(alike, key=lambda found: found[1], default=None)


def undeclared_warning(
    name: str,
    p: float,
    clustered: Sequence[Comparison],
    shown: Collection[Pair],
    *,
    claims: int,
    stay: int,
    planned: bool,
) -> AnalysisWarning:
    """Return the warning about undeclared groups: the effect of ignoring them, and the claims that remain."""
    effects = [item.cluster for item in clustered if item.cluster is not None and (not shown or item.pair in shown)]
    worst = max((e for e in effects if math.isfinite(e.design_effect)), key=lambda e: e.design_effect, default=None)
    rate = 0.0 if worst is None else dependence.false_positive_rate(worst.design_effect, worst.clusters - 1)
    outcome = f" ({stay} of {claims:,} claims {'stays' if stay == 1 else 'stay'})" if claims else ""
    return AnalysisWarning(
        "clusters" if stay < claims else "grouping",
        f"{'Results may be too optimistic: instances' if stay < claims else 'Instances'} of one {name} are correlated"
        f" (p = {digits(p, 1)}). Ignoring this gives about {100 * rate:.0f} % false positives instead of 5 %.",
        f"{'Plan a new study' if planned else 'Rerun'} with {parameter('cluster', name)}{outcome}, or declare that the"
        f" column only describes instances with {parameter('describing', name)}.",
    )
