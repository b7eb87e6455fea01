"""Means and errors of observations that belong together: clusters, shared seeds, nested, crossed and resampled runs.

A cluster takes the place of an instance, and an instance that of a run: the instances of one passage, family or
generator are averaged, however many there are, and the clusters are tested. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import ceil, inf, log2, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri, stdtr, stdtrit

from ampler.core.arrays import Codes, Floats, Interval
from ampler.core.settings import Alternative, CalibrationVersion, Guard
from ampler.stats.descriptive import mean_ranks_of
from ampler.stats.paired.contract import Bounds, one_sided, p_of_t
from ampler.stats.variance_bounds import guarded_variances

MIN_CLUSTERS = 5  # minimum for conclusions about other clusters
MAX_FLIPPED = 12  # clusters up to which all sign flips are enumerated


class MeanEstimate(NamedTuple):
    """A mean, its standard error and the degrees of freedom of that error."""

    estimate: float
    error: float
    df: float

    def p_value(self, alternative: Alternative = "two-sided", shift: float = 0.0) -> float:
        """Return the p-value of the t-test against a shift; 1 where nothing varies.

        >>> MeanEstimate(estimate=-2.0, error=0.5, df=9.0).p_value().__round__(5)
        0.00311
        """
        return float(p_of_t((self.estimate - shift) / self.error, self.df, alternative)) if self.error > 0 else 1.0

    def interval(self, alternative: Alternative = "two-sided", alpha: float = 0.05) -> Bounds:
        """Return the confidence interval of level 1 − alpha; the whole line where nothing varies."""
        tail = alpha / 2 if alternative == "two-sided" else alpha
        half = -float(stdtrit(self.df, tail)) * self.error if self.error > 0 else inf
        return one_sided(self.estimate - half, self.estimate + half, alternative, 1 - alpha)


class VarianceComponents(NamedTuple):
    """Variance between and within groups, from a one-way analysis of variance."""

    between: float
    within: float
    icc: float  # intraclass correlation
    icc_interval: Interval
    design_effect: float  # factor by which the variance of the overall mean exceeds that of independent members


# Clusters of instances ------------------------------------------------------------------------------------------------


def cluster_codes(labels: Sequence[str]) -> Codes:
    """Return the number of each label's cluster, from 0, in the order of first appearance.

    >>> cluster_codes(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    _, first, codes = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def cluster_means(values: Floats, codes: Codes) -> Floats:
    """Return the mean of each cluster; values of one cluster stand anywhere along the first axis.

    >>> cluster_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1])).tolist()
    [2.0, 5.0]
    """
    sizes = np.bincount(codes)
    offset = values[0]  # keeps precision with large offsets
    sums = np.zeros((len(sizes), *values.shape[1:]))
    np.add.at(sums, codes, values - offset)
    return np.asarray(offset + sums / sizes.reshape(-1, *(1,) * (values.ndim - 1)))


def mean_over_clusters(x: Floats, codes: Codes) -> MeanEstimate:
    """Return the mean difference on a randomly drawn cluster: each cluster counts once."""
    means = cluster_means(x, codes)
    return MeanEstimate(float(means.mean()), float(means.std(ddof=1)) / sqrt(len(means)), len(means) - 1.0)


def mean_over_instances(x: Floats, codes: Codes) -> MeanEstimate:
    """Return the mean over all instances with the cluster-robust error CR2 and Satterthwaite's degrees of freedom.

    Bell & McCaffrey (2002), with independence as the working model: the degrees of freedom depend on the sizes only.
    """
    sizes = np.bincount(codes).astype(float)
    total = sizes.sum()
    center = x[0] + (x - x[0]).mean()
    residuals = np.bincount(codes, x - center)
    variance = float(np.sum(residuals**2 / (1 - sizes / total))) / total**2
    scale = 1 / (total * np.sqrt(1 - sizes / total))
    p = np.outer(scale, scale) * (np.diag(sizes) - np.outer(sizes, sizes) / total)
    return MeanEstimate(float(center), sqrt(variance), float(np.trace(p) ** 2 / np.sum(p * p)))


def mean_over_fixed_clusters(x: Floats, codes: Codes) -> MeanEstimate | None:
    """Return the mean over these clusters alone, each counting once; None if a cluster has a single instance."""
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        return None
    variances = _within_sums(x, codes) / (sizes - 1) / sizes
    df = variances.sum() ** 2 / np.sum(variances**2 / (sizes - 1))
    return MeanEstimate(float(cluster_means(x, codes).mean()), sqrt(variances.sum()) / len(sizes), float(df))


def _within_sums(x: Floats, codes: Codes) -> Floats:
    """Sum of squared deviations from the mean of each cluster."""
    return np.asarray(np.bincount(codes, (x - cluster_means(x, codes)[codes]) ** 2), dtype=float)


def variance_components(x: Floats, codes: Codes) -> VarianceComponents:
    """Return the variances between and within groups, and the intraclass correlation with its 95 % interval."""
    sizes = np.bincount(codes).astype(float)
    groups, total = len(sizes), float(sizes.sum())
    df = (groups - 1, total - groups)
    n0 = float(total - np.sum(sizes**2) / total) / df[0]
    means, offset = cluster_means(x, codes), x[0]
    center = float((x - offset).mean())
    between_mean = float(np.sum(sizes * (means - offset - center) ** 2)) / df[0]
    within = float(_within_sums(x, codes).sum()) / df[1]
    f = between_mean / within if within > 0 else inf
    between = max(0.0, (between_mean - within) / n0)
    icc = between / (between + within) if between + within > 0 else 0.0
    bounds = [f / float(fdtri(*df, 0.975)), f / float(fdtri(*df, 0.025))] if within > 0 else []
    low, high = (max(0.0, (bound - 1) / (bound - 1 + n0)) for bound in bounds) if bounds else (icc, icc)
    spread = float(np.var(sizes)) / float(sizes.mean()) ** 2
    effect = 1 + (float(sizes.mean()) * (1 + spread) - 1) * icc
    return VarianceComponents(between, within, icc, (low, high), effect)


def sign_flip_p(
    x: Floats, codes: Codes, *, alternative: Alternative = "two-sided", seed: int = 0, flips: int = 9999
) -> float:
    """Return the p-value of the mean over instances when the signs of whole clusters are flipped.

    The statistic is t with the error CR1 (a wild cluster bootstrap with the null imposed). Up to twelve clusters all
    flips are tried; beyond, as many random ones.
    """
    sizes, sums = np.bincount(codes).astype(float), np.bincount(codes, x)
    count = len(sizes)
    if count <= MAX_FLIPPED:
        signs = np.array(list(product((1.0, -1.0), repeat=count)))
    else:
        signs = np.random.default_rng(seed).choice((-1.0, 1.0), (flips + 1, count))
        signs[0] = 1.0
    flipped = signs * sums
    centers = flipped.sum(1) / sizes.sum()
    residuals = flipped - centers[:, None] * sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = centers / np.sqrt(np.sum(residuals**2, axis=1))
    statistics = {"two-sided": np.abs(statistics), "greater": statistics, "less": -statistics}[alternative]
    return float(np.mean(~(statistics < statistics[0] - 1e-12 * abs(statistics[0]))))


def fewest_clusters_for_flips(comparisons: int, alpha: float = 0.05) -> int:
    """Return the smallest number of clusters with which flips or ranks can reach the strictest level.

    >>> [fewest_clusters_for_flips(k) for k in (1, 7, 21)]
    [6, 9, 10]
    """
    return ceil(1 + log2(comparisons / alpha))


# Runs that belong together on one instance ----------------------------------------------------------------------------


def crossed_mean(table: Floats) -> MeanEstimate:
    """Return the mean difference of instances (rows) in sessions (columns).

    Both the instances and the sessions are samples: more instances do not remove the error that a session shares.
    """
    n, r = table.shape
    center = float(table.mean())
    rows, columns = table.mean(1) - center, table.mean(0) - center
    residual = table - center - rows[:, None] - columns
    instances = float(np.sum(rows**2)) / (n - 1) / n
    sessions = float(np.sum(columns**2)) / (r - 1) / r
    rest = float(np.sum(residual**2)) / ((n - 1) * (r - 1)) / (n * r)
    squared = max(instances + sessions - rest, instances, sessions)
    df = squared**2 / (instances**2 / (n - 1) + sessions**2 / (r - 1)) if squared > 0 else 1.0
    return MeanEstimate(center, sqrt(squared), df)


def shared_covariances(values: Floats) -> tuple[Floats, Floats]:
    """Return covariances over common runs and numbers of common runs; runs in rows, NaN where one lacks.

    >>> covariances, common = shared_covariances(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, np.nan]]))
    >>> covariances.tolist(), common.tolist()
    ([[1.0, 0.5], [0.5, 0.5]], [[3.0, 2.0], [2.0, 2.0]])
    """
    there = np.isfinite(values)
    x, one = np.where(there, values - np.nanmean(values, axis=0), 0.0), there.astype(float)
    common, sums = one.T @ one, x.T @ one  # sums[a, b]: of a, over the runs that b has too
    with np.errstate(divide="ignore", invalid="ignore"):
        covariances = (x.T @ x - sums * sums.T / common) / (common - 1)
    alone = common < 2  # without common runs a variance is NaN and a covariance is 0
    np.fill_diagonal(alone, False)
    return np.where(alone, 0.0, covariances), common


def mean_covariances(values: Floats) -> Floats:
    """Return the covariances of the means of runs in rows, NaN where one lacks."""
    covariances, common = shared_covariances(values)
    counts = np.diag(common)
    return np.asarray(covariances * common / np.outer(counts, counts))


def shared_noise(gradient: Floats, values: Floats) -> Floats:
    """Return the noise of each pair's difference on one instance when runs with one index share a seed.

    It is a matrix H per pair, with se² = Σ H_ab / max(n_a, n_b): algorithms on the last two axes. `gradient` has the
    algorithms in rows and the pairs in columns, as of `Contrasts.gradient`.
    """
    covariances, common = shared_covariances(values)
    counts = np.diag(common)
    shared = covariances * common / np.minimum.outer(counts, counts)
    return np.asarray(gradient.T[:, :, None] * gradient.T[:, None, :] * shared)


def noise_errors(noise: Floats, counts: Floats) -> Floats:
    """Return the squared error of each pair's difference with this many runs of each algorithm.

    The noise is what `shared_noise` gives or, of runs that share nothing, a row per pair: se² = Σ H_a / n_a.
    """
    if noise.ndim == 2:
        return np.asarray(noise @ (1 / counts))
    return np.asarray(np.einsum("pab,ab->p", noise, 1 / np.maximum.outer(counts, counts)))


def guarded_noise(
    noise: Floats, gradient: Floats, values: Floats, *, guard: Guard, edition: CalibrationVersion
) -> Floats:
    """Return conservative bounds of the noise of each pair.

    The variance of a pair's difference from run to run is bounded as that of one algorithm is.
    """
    missing = np.isnan(values)
    parts = np.where(missing, 0.0, values - np.nanmean(values, axis=0)) @ gradient
    parts[missing.astype(float) @ (gradient != 0) > 0] = np.nan  # a run that is missing for one of the pair
    counts = (~np.isnan(parts)).sum(axis=0).astype(float)
    rest = np.nan_to_num(parts - np.nansum(parts, axis=0) / np.maximum(counts, 1))
    squares, fourth = np.sum(rest**2, axis=0), np.sum(rest**4, axis=0)
    variances = squares / np.maximum(counts - 1, 1)
    varies = squares > 0
    kurtosis = counts * np.divide(fourth, squares**2, out=np.zeros_like(fourth), where=varies)
    bounds = guarded_variances(counts[None], variances[None], kurtosis[None], guard=guard, edition=edition)[0]
    factors = np.divide(bounds, variances, out=np.ones_like(bounds), where=varies)
    inside = gradient.T != 0  # pairs that never differed borrow from the others, on the diagonal
    lent = np.where(varies, 0.0, bounds) / inside.sum(axis=1)
    return np.asarray(noise * factors[:, None, None] + lent[:, None, None] * np.eye(len(gradient)) * inside[:, None])


# Undeclared structure ------------------------------------------------------------------------------------------------


def grouping_p(
    differences: Floats, codes: Codes, *, permutations: int = 999, seed: int = 0, level: float = 1.0
) -> float:
    """Return the permutation p-value of the grouping of the differences; only approximate above `level`."""
    rng, ranks = np.random.default_rng(seed), _centered_ranks(differences)
    share, larger = _share_between(ranks, codes), 0
    for drawn in range(1, permutations + 1):
        larger += _share_between(rng.permutation(ranks), codes) >= share - 1e-12
        if 1 + larger > level * (1 + permutations):  # the p-value cannot fall below the level any more
            return (1 + larger) / (1 + drawn)
    return (1 + larger) / (1 + permutations)


def _centered_ranks(differences: Floats) -> Floats:
    """Ranks within each column about their mean; 0 where a difference is missing."""
    result = np.zeros(differences.shape)
    for k, there in enumerate(~np.isnan(differences.T)):
        if there.any():
            ranks = mean_ranks_of(differences[there, k])
            result[there, k] = ranks - ranks.mean()
    return result


def _share_between(ranks: Floats, codes: Codes) -> float:
    total, sizes, order = np.sum(ranks**2, axis=0), np.bincount(codes), np.argsort(codes, kind="stable")
    sums = np.add.reduceat(ranks[order], np.cumsum(sizes) - sizes, axis=0)
    between = np.sum(sums**2 / sizes[:, None], axis=0)
    varies = total > 0
    return float((between[varies] / total[varies]).mean()) if varies.any() else 0.0


def false_positive_rate(design_effect: float, df: float, alpha: float = 0.05) -> float:
    """Return the error rate of a t-test that takes clustered instances for independent ones.

    >>> round(false_positive_rate(1 + 9 * 0.5, 29), 2)
    0.39
    """
    return float(2 * stdtr(df, float(stdtrit(df, alpha / 2)) / sqrt(max(1.0, design_effect))))
