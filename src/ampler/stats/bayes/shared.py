"""Hierarchical posterior of many comparisons: all of them inform the scale of the differences. Pure.

Differences to one reference are β₀ − β_k with β ~ N(0, ω²), so the true means are N(0, ω²(I + 11ᵀ)) and the observed
ones N(means, Σ). After one change of coordinates everything is normal given ω, and ω is one-dimensional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from ampler.core.arrays import Floats, Interval
from ampler.core.errors import InvalidData
from ampler.stats.bayes.posterior import Areas, NormalMixture

NODES = 400
NEGLIGIBLE = 40.0
LARGEST_SHRUNK_CORRELATION = 0.95
FEWEST = 4  # instances: the covariance of the means needs N − 3 degrees of freedom


@dataclass(frozen=True, slots=True)
class SharedPosterior:
    """Posterior of one comparison, given all comparisons."""

    mean: float  # of the posterior
    interval: Interval
    areas: Areas


@dataclass(frozen=True, slots=True)
class SharedFit:
    """Posteriors of a family of comparisons, and the spread of the algorithms."""

    comparisons: tuple[SharedPosterior, ...]
    omega: float  # posterior mean of the standard deviation of the algorithms' levels


def shared_posteriors(
    differences: Floats, *, margin: float, level: float = 0.95, pairs: Sequence[tuple[int, int]] | None = None
) -> SharedFit:
    """Return the posteriors of comparisons with one reference: instances in rows, comparisons in columns, none missing.

    For all-vs-all give the differences of the first algorithm to all others, and the `pairs` wanted (0 is the first).
    """
    table = np.asarray(differences, dtype=float)
    if len(table) < FEWEST:
        raise InvalidData(f"a shared prior needs {FEWEST} or more instances, got {len(table)}")
    scale = float(np.abs(table).max())
    contrasts = None
    if pairs is not None:  # θ_i − θ_j from the differences θ_0 − θ_k: what is subtracted from the first twice cancels
        to_first = np.vstack([np.zeros(table.shape[1]), np.eye(table.shape[1])])
        contrasts = np.array([to_first[j] - to_first[i] for i, j in pairs])
    fits, omega = fit_shared(table.mean(axis=0) / scale, covariance_of_means(table / scale), contrasts)
    mixtures = (NormalMixture(one.weights, scale * one.means, scale * one.deviations) for one in fits)
    posteriors = (SharedPosterior(one.mean, one.interval(level), one.areas(margin)) for one in mixtures)
    return SharedFit(tuple(posteriors), scale * omega)


def covariance_of_means(differences: Floats) -> Floats:
    """Return the covariance of the means, its correlations shrunk towards their mean, more so for few instances."""
    n, k = differences.shape
    deviations = differences.std(axis=0, ddof=1)
    correlations = np.atleast_2d(np.corrcoef(differences, rowvar=False))
    common = float(np.clip((correlations.sum() - k) / (k * (k - 1)), 0.0, LARGEST_SHRUNK_CORRELATION)) if k > 1 else 0.0
    target = np.where(np.eye(k, dtype=bool), 1.0, common)
    shrinkage = min(1.0, k / n)
    blend = shrinkage * target + (1 - shrinkage) * correlations
    return np.asarray(np.outer(deviations, deviations) * blend * (n - 1) / ((n - 3) * n))


def fit_shared(means: Floats, covariance: Floats, contrasts: Floats | None = None) -> tuple[list[NormalMixture], float]:
    """Return the posterior of the true means, whose prior is N(0, ω²(I + 11ᵀ)) with Jeffreys' prior on ω.

    With `contrasts` (one row each) it is that of these sums of the means.
    """
    k = len(means)
    root = np.linalg.cholesky(np.eye(k) + 1.0)
    inverse = np.linalg.inv(root)
    variances, vectors = np.linalg.eigh(inverse @ covariance @ inverse.T)
    variances = np.maximum(variances, 0.0)
    z, back = vectors.T @ inverse @ means, root @ vectors
    back = back if contrasts is None else contrasts @ back
    omega, weights = _omega_posterior(z, variances)
    shares = omega[:, None] ** 2 / (variances + omega[:, None] ** 2)  # of z, given ω
    centres, spreads = (shares * z) @ back.T, np.sqrt((shares * variances) @ (back**2).T)
    mixtures = [NormalMixture(weights, centres[:, i], spreads[:, i]) for i in range(len(back))]
    return mixtures, float(weights @ omega)


def _omega_posterior(z: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """ω on an even grid of its logarithm, narrowed to where its posterior is."""
    scale = float(np.sqrt(max(variances.max(), (z * z).max())))
    u = np.linspace(log(1e-9 * scale), log(1e4 * scale), NODES)
    for _ in range(2):
        logs = _log_density(u, z, variances)
        shares = np.flatnonzero(logs > logs.max() - NEGLIGIBLE)
        u = np.linspace(u[max(0, shares[0] - 1)], u[min(NODES - 1, shares[-1] + 1)], NODES)
    logs = _log_density(u, z, variances)
    weights = np.exp(logs - logs.max())
    return np.exp(u), weights / weights.sum()


def _log_density(u: Floats, z: Floats, variances: Floats) -> Floats:
    total = variances + np.exp(2 * u)[:, None]
    likelihood = -0.5 * (np.log(total) + z * z / total).sum(axis=1)
    return np.asarray(likelihood + 2 * u + 0.5 * np.log((total**-2.0).sum(axis=1)))
