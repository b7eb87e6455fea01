"""The Bayesian signed-rank test with a region of equivalence (Benavoli et al. 2014, 2017). Pure.

A random pair of instances, drawn with random weights, averages below, within or above the region; the three
probabilities are a point of a triangle, and the test is how often each is the largest. A pseudo-difference of 0 stands
for the prior. It is a statement on pairs of instances, not on the mean, and ignores the noise of the runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Codes, Floats
from ampler.stats.bayes.posterior import Areas

DRAWS = 50_000  # default
BLOCK = 1024  # draws per block: their weights fit into the processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class SignedRank:
    """The test's three probabilities, and the points of the triangle they were counted from."""

    areas: Areas
    mean_areas: Areas  # the mean point, exact
    points: Floats  # one row for each draw: less, equivalent, more


def signed_rank(
    differences: Floats, *, margin: float, draws: int = DRAWS, seed: int = 0, prior: float = 0.5
) -> SignedRank:
    """Return how often a random pair of instances averages below −margin, within ±margin or above.

    >>> found = signed_rank(np.array([1.0, -1.0, 3.0]), margin=0.5, draws=1000)
    >>> [round(part, 4) for part in (found.mean_areas.less, found.mean_areas.equivalent, found.mean_areas.more)]
    [0.1587, 0.2381, 0.6032]
    """
    z = np.append(0.0, differences)
    order = np.argsort(z, kind="stable")
    ends = _limits(z[order], -margin), _limits(z[order], margin)
    # Dirichlet weights are gamma variables over their sum; those of the instances are exponential.
    rng, pseudo = np.random.default_rng(seed), int(np.flatnonzero(order == 0)[0])
    points = np.concatenate([_block(ends, pseudo, rng, prior) for _ in range(-(-draws // BLOCK))])[:draws]
    return SignedRank(_largest(points, margin), _mean_areas(ends, np.where(order == 0, prior, 1.0)), points)


Limits = tuple[Codes, Codes]  # of the sorted differences: how many others make a mean below, strictly and with ties


def _limits(z: Floats, margin: float) -> Limits:
    pairs = z[:, None] + z
    return (pairs < 2 * margin).sum(axis=1), (pairs <= 2 * margin).sum(axis=1)


def _below(weights: Floats, sums: Floats, limits: Limits) -> Floats:
    """The probability of a mean below, times the squared total, a tie counts half; `sums` are of the first weights."""
    strictly, ties = (np.einsum("ij,ij->j", weights, sums[counts]) for counts in limits)
    return np.asarray((strictly + ties) / 2)


def _block(ends: tuple[Limits, Limits], pseudo: int, rng: np.random.Generator, prior: float) -> Floats:
    size = len(ends[0][0])
    weights = rng.standard_exponential((size, BLOCK))
    weights[pseudo] = rng.standard_gamma(prior, BLOCK)
    sums = np.zeros((size + 1, BLOCK))
    for row in range(size):  # much faster than cumsum along this axis
        np.add(sums[row], weights[row], out=sums[row + 1])
    square = sums[-1] ** 2
    less, not_more = (_below(weights, sums, limits) / square for limits in ends)
    return np.column_stack([less, not_more - less, 1 - not_more])


def _largest(points: Floats, margin: float) -> Areas:
    """Probability that each share is the largest; without a region, that it exceeds one half, ties half."""
    if margin == 0:
        above = float((points[:, 2] > points[:, 0]).mean() + (points[:, 2] == points[:, 0]).mean() / 2)
        return Areas(1.0 - above, 0.0, above)
    shares = np.bincount(points.argmax(axis=1), minlength=3) / len(points)
    return Areas(*shares.tolist())


def _mean_areas(ends: tuple[Limits, Limits], counts: Floats) -> Areas:
    """E[w_i·w_j] = a_i·a_j/(S(S + 1)) for i ≠ j, and a_i(a_i + 1)/(S(S + 1)) for i = j."""
    total = counts.sum()
    sums, column = np.append(0.0, np.cumsum(counts))[:, None], counts[:, None]
    places = np.arange(len(counts))

    def mean(limits: Limits) -> float:
        itself = sum((places < counted).astype(float) for counted in limits) / 2
        return float((_below(column, sums, limits)[0] + counts @ itself) / (total * (total + 1)))

    less, not_more = map(mean, ends)
    return Areas(less, max(0.0, not_more - less), 1.0 - not_more)
