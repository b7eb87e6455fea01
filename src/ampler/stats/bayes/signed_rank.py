"""The Bayesian signed-rank test with a region of equivalence (Benavoli et al. 2014, 2017). Pure.

A random pair of instances, drawn with random weights, averages below, within or above the region; the three
probabilities are a point of a triangle, and the test is how often each is the largest. A pseudo-difference of 0 stands
for the prior. It is a statement on pairs of instances, not on the mean, and ignores the noise of the runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Codes, Floats
from ampler.core.errors import InvalidData
from ampler.stats.bayes.mixture import Areas, checked_margin

DRAWS = 50_000  # unless said
BLOCK = 1024  # draws at once: their weights fit into the processor's cache


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
    z = np.append(0.0, _checked(differences, draws, prior))
    order = np.argsort(z, kind="stable")
    tails = _tails(z[order], checked_margin(margin))
    points = _points(tails, int(np.flatnonzero(order == 0)[0]), draws, seed, prior)
    return SignedRank(_largest(points, margin), _mean_areas(tails, np.where(order == 0, prior, 1.0)), points)


@dataclass(frozen=True, slots=True, eq=False)
class _Tails:
    """For each of the sorted differences: how many others make a mean below, or above; a tie counts half."""

    below: tuple[Codes, Codes]  # strictly, and with ties
    not_above: tuple[Codes, Codes]

    def less(self, weights: Floats, sums: Floats) -> Floats:
        """Return the probability of a mean below, times the squared total; `sums` are of the first 0, 1, … weights."""
        return _halves(weights, sums, self.below)

    def not_more(self, weights: Floats, sums: Floats) -> Floats:
        """Return the same for a mean that is not above."""
        return _halves(weights, sums, self.not_above)


def _tails(z: Floats, margin: float) -> _Tails:
    pairs = z[:, None] + z
    low, high = -2 * margin, 2 * margin
    return _Tails(
        ((pairs < low).sum(axis=1), (pairs <= low).sum(axis=1)),
        ((pairs < high).sum(axis=1), (pairs <= high).sum(axis=1)),
    )


def _halves(weights: Floats, sums: Floats, counts: tuple[Codes, Codes]) -> Floats:
    strictly = np.einsum("ij,ij->j", weights, sums[counts[0]])
    if (counts[0] == counts[1]).all():
        return np.asarray(strictly)
    return np.asarray((strictly + np.einsum("ij,ij->j", weights, sums[counts[1]])) / 2)


def _points(tails: _Tails, pseudo: int, draws: int, seed: int, prior: float) -> Floats:
    """Dirichlet weights are gamma variables over their sum; those of the instances are exponential."""
    rng = np.random.default_rng(seed)
    blocks = [_block(tails, pseudo, rng, prior) for _ in range(-(-draws // BLOCK))]
    return np.concatenate(blocks)[:draws]


def _block(tails: _Tails, pseudo: int, rng: np.random.Generator, prior: float) -> Floats:
    size = len(tails.below[0])
    weights = rng.standard_exponential((size, BLOCK))
    weights[pseudo] = rng.standard_gamma(prior, BLOCK)
    sums = np.zeros((size + 1, BLOCK))
    for place in range(size):  # many times quicker than cumsum along this axis
        np.add(sums[place], weights[place], out=sums[place + 1])
    square = sums[-1] ** 2
    less, not_more = tails.less(weights, sums) / square, tails.not_more(weights, sums) / square
    return np.column_stack([less, not_more - less, 1 - not_more])


def _largest(points: Floats, margin: float) -> Areas:
    """How often each probability is the largest; without a region, how often above half of the pairs, ties half."""
    if margin == 0:
        above = float((points[:, 2] > points[:, 0]).mean() + (points[:, 2] == points[:, 0]).mean() / 2)
        return Areas(1.0 - above, 0.0, above)
    shares = np.bincount(points.argmax(axis=1), minlength=3) / len(points)
    return Areas(*shares.tolist())


def _mean_areas(tails: _Tails, counts: Floats) -> Areas:
    """E[w_i·w_j] = a_i·a_j/(S(S + 1)) for i ≠ j, and a_i(a_i + 1)/(S(S + 1)) for i = j."""
    total = counts.sum()
    sums, column = np.append(0.0, np.cumsum(counts))[:, None], counts[:, None]
    places = np.arange(len(counts))

    def mean(found: Floats, own: tuple[Codes, Codes]) -> float:
        itself = sum((places < limits).astype(float) for limits in own) / 2
        return float((found[0] + counts @ itself) / (total * (total + 1)))

    less = mean(tails.less(column, sums), tails.below)
    not_more = mean(tails.not_more(column, sums), tails.not_above)
    return Areas(less, max(0.0, not_more - less), 1.0 - not_more)


def _checked(differences: Floats, draws: int, prior: float) -> Floats:
    z = np.asarray(differences, dtype=float)
    if z.ndim != 1 or len(z) < 1 or not np.isfinite(z).all():
        raise InvalidData("differences must be finite numbers, one for each instance")
    if draws < 1:
        raise InvalidData(f"draws must be 1 or more, got {draws!r}: 50000 are usual")
    if not (np.isfinite(prior) and prior > 0):
        raise InvalidData(f"the weight of the prior must be positive, got {prior!r}: 0.5 is usual")
    return z
