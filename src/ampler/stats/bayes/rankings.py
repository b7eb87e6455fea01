"""Bayesian Plackett-Luce model of rankings, with ties and missing cells. Pure.

Every algorithm has a weight, and on an instance the first place goes to each with a chance in proportion to it, then
the second among the rest, and so on. The prior of the weights is Dirichlet. Rankings forget how large differences are,
and who is better than whom may depend on who else is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidData
from ampler.core.settings import Better

NEWTON_STEPS = 200
MODE_FOUND = 1e-22  # squared Newton decrement
FREEDOM = 20  # degrees of freedom of the proposal distribution
DRAWS = 20_000  # default
BLOCK = 512  # draws per block
TOGETHER = 8  # factors multiplied before one logarithm is taken
LARGEST_TIE = 8  # up to here every order of a tie counts; beyond, this many pairs of a random order and its reverse
RANDOM_ORDERS = 64
MAX_CELLS = 20_000_000  # of sets and algorithms: 160 MB
FEWEST_EFFECTIVE = 1000


@dataclass(frozen=True, slots=True, eq=False)
class RankPosterior:
    """Posterior of the rankings; algorithms in the order of the table's columns."""

    win: Floats  # E[w]: the chance to be first on an instance
    best: Floats  # P(w is the largest)
    better: Floats  # P(w_row > w_column), 0 on the diagonal
    pair: Floats  # E[w_row/(w_row + w_column)]: the chance to be ahead on an instance
    effective: float  # effective sample size
    log_mode: Floats  # of the weights, around their mean


def rank_posterior(
    table: Floats, *, better: Better, draws: int = DRAWS, seed: int = 0, prior: float = 1.0
) -> RankPosterior:
    """Return the posterior for instances in rows and algorithms in columns; NaN is a cell that was not run.

    Equal values share their places: the log-likelihood is the mean over all their orders.

    >>> found = rank_posterior(np.array([[1.0, 2.0], [1.0, 3.0], [2.0, 2.0]]), better="lower")
    >>> bool(abs(found.win[0] - 0.7) < 0.01)  # Beta(3.5, 1.5) has mean 0.7
    True
    """
    values = np.asarray(table, dtype=float)
    model = _model(values if better == "lower" else -values, prior, seed)
    mode, curvature = model.mode()
    result = _weighted(model, mode, curvature, draws, np.random.default_rng(seed))
    if result.effective < FEWEST_EFFECTIVE:
        raise InvalidData(
            f"rankings need an effective sample of {FEWEST_EFFECTIVE} draws or more, got {result.effective:.0f}: "
            f"take more than {draws} draws"
        )
    return result


# ── the likelihood ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """log posterior of θ = log w: Σ gains·θ − Σ counts·log(Σ of e^θ over a set) − A·prior·log Σ e^θ, concave."""

    gains: Floats  # prior + places taken, of each algorithm
    sets: Floats  # one row for each set that places were taken from: 1 for its members
    counts: Floats  # how many places, fractions included
    prior: float

    def mode(self) -> tuple[Floats, Floats]:
        """Return the mode with Σθ = 0, and minus the second derivatives there, by damped Newton steps."""
        theta = np.zeros(len(self.gains))
        for _ in range(NEWTON_STEPS):
            gradient, curvature = self._derivatives(theta)
            step = np.linalg.solve(curvature + 1.0, gradient)  # regular in the direction of equal shifts
            if float(gradient @ step) < MODE_FOUND:
                break
            theta = theta + step / max(1.0, float(np.abs(step).max()))
        return theta - theta.mean(), self._derivatives(theta)[1]

    def log_densities(self, draws: Iterable[Floats]) -> Floats:
        """Return the log posterior of draws in blocks; they are columns of weights that sum to 1."""
        bundles = []
        for count in np.unique(self.counts).tolist():
            rows = self.sets[self.counts == count]  # filled up by the set of all, whose sum is 1 and changes no product
            bundles.append((np.vstack([rows, np.ones((-len(rows) % TOGETHER, len(self.gains)))]), count))
        densities = []
        for weights in draws:
            logs = self.gains @ np.log(weights)
            for rows, count in bundles:
                products = np.multiply.reduce((rows @ weights).reshape(-1, TOGETHER, weights.shape[1]), axis=1)
                logs -= count * np.log(products).sum(axis=0)
            densities.append(logs)
        return np.concatenate(densities)

    def _derivatives(self, theta: Floats) -> tuple[Floats, Floats]:
        """The gradient, and minus the matrix of second derivatives."""
        weights = np.exp(theta - theta.max())
        shares = self.sets * weights
        shares /= shares.sum(axis=1, keepdims=True)
        rows = np.vstack([shares, weights / weights.sum()])
        counts = np.append(self.counts, len(theta) * self.prior)
        expected = counts @ rows
        return self.gains - expected, np.diag(expected) - rows.T @ (counts[:, None] * rows)


def _model(values: Floats, prior: float, seed: int) -> _Model:
    """Pool the sets of all instances; the smallest value takes the first place."""
    algorithms = values.shape[1]
    rng = np.random.default_rng([seed, 1])
    gains = np.full(algorithms, prior)
    pooled: dict[int, float] = {}
    for row in values:
        levels = np.unique(row[~np.isnan(row)])  # of the algorithms that were run, best first; equal values together
        groups = [np.flatnonzero(row == level).tolist() for level in levels]
        for members, weight in _sets(groups, rng):
            pooled[members] = pooled.get(members, 0.0) + weight
        if len(pooled) * algorithms > MAX_CELLS:
            raise InvalidData("the rankings have too many ties for a posterior; compare fewer algorithms")
        gains[[index for group in groups for index in group]] += 1
    for index in range(algorithms):
        gains[index] -= pooled.pop(1 << index, 0.0)  # the last place carries no information
    sets = np.array([[members >> index & 1 for index in range(algorithms)] for members in pooled], dtype=float)
    return _Model(gains, sets.reshape(-1, algorithms), np.array(list(pooled.values()), dtype=float), prior)


def _sets(groups: list[list[int]], rng: np.random.Generator) -> Iterator[tuple[int, float]]:
    """The sets that places are taken from, one after the other, each with its share of all orders of a tie."""
    behind = 0
    for group in reversed(groups):
        bits = [1 << index for index in group]
        for rest, weight in _rests(bits, rng):
            yield behind | rest, weight
        behind |= sum(bits)


def _rests(bits: list[int], rng: np.random.Generator) -> Iterator[tuple[int, float]]:
    """The remaining members of a tie after each place is taken: every subset, or those of random orders."""
    size, everything = len(bits), sum(bits)
    if size <= LARGEST_TIE:
        for chosen in range(size):
            for gone in combinations(bits, chosen):
                yield everything - sum(gone), 1 / comb(size, chosen)
        return
    for _ in range(RANDOM_ORDERS):
        order = rng.permutation(size)
        for way in (order, order[::-1]):
            rest = everything
            for index in way:
                yield rest, 0.5 / RANDOM_ORDERS
                rest -= bits[index]


# ── the posterior ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _weighted(model: _Model, mode: Floats, curvature: Floats, draws: int, rng: np.random.Generator) -> RankPosterior:
    """Importance sampling: draws from Student's t around the mode, each counted by how likely it really is."""
    theta, proposed = _proposals(mode, curvature, draws, rng)
    weights = np.exp(theta - theta.max(axis=0))
    weights /= weights.sum(axis=0)
    blocks = [slice(start, start + BLOCK) for start in range(0, draws, BLOCK)]
    logs = model.log_densities(weights[:, block] for block in blocks) - proposed
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    best = np.bincount(weights.argmax(axis=0), shares, minlength=len(mode)).astype(float)
    ahead, pair = (np.zeros((len(mode), len(mode))) for _ in range(2))
    for block in blocks:
        row, column = weights[:, None, block], weights[:, block]
        ahead += (row > column) @ shares[block]
        pair += (row / (row + column)) @ shares[block]
    return RankPosterior(weights @ shares, best, ahead, pair, 1 / float(shares @ shares), mode)


def _proposals(mode: Floats, curvature: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draws (columns) with Σθ = 0 and their log density, but for a constant."""
    values, vectors = np.linalg.eigh(curvature)
    dimension = len(mode) - 1  # the first direction shifts all weights equally
    spread = vectors[:, 1:] / np.sqrt(values[1:])
    scaled = rng.standard_normal((dimension, draws)) / np.sqrt(rng.chisquare(FREEDOM, draws) / FREEDOM)
    squared = np.einsum("ij,ij->j", scaled, scaled)
    return mode[:, None] + spread @ scaled, -(FREEDOM + dimension) / 2 * np.log1p(squared / FREEDOM)
