"""The fewest runs that make every pair exact enough, when the variances are known. Pure.

Minimise Σ cost_k·n_k subject to every squared error ≤ T and n_k ≥ lower_k: convex in v_k = s_k²/n_k. With a reference,
and for all pairs of separate noises, one unknown decides all the others. Percent differences to a grand mean would need
a real solver; a quick shape comes within 0.1 % of its total in the median, and in 19 of 20 cases within 1.5 %.
Arrays have the algorithms on their last axis; leading axes are independent problems.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np

from ampler.core.arrays import Codes, Floats
from ampler.sampling.pair_errors import AllPairs, GrandMeanPairs, Pairs, ReferencePairs
from ampler.sampling.plain_optimum import RESHAPING_STEPS, plain_counts

NEWTON_STEPS = 30  # five are usual; the cap only bounds the time of a pathological case
RELATIVE_TOLERANCE = 1e-10


def optimal_counts(pairs: Pairs, se: float, lower: Floats, costs: Floats | None = None) -> Floats:
    """Return the real numbers of runs with the smallest total cost that bring every pair's error down to `se`.

    >>> equal = AllPairs(np.ones(4), np.ones(4))
    >>> optimal_counts(equal, 0.1, lower=np.full(4, 10.0)).round(6).tolist()
    [200.0, 200.0, 200.0, 200.0]
    """
    costs = np.ones(lower.shape[-1]) if costs is None else costs
    target = se * se
    plain = plain_counts(pairs, target, lower, costs)
    if plain is not None:
        return plain
    if isinstance(pairs, ReferencePairs):
        return _reference_counts(pairs, target, lower, costs)
    if isinstance(pairs, AllPairs):
        return _all_pairs_counts(pairs.noise, target, lower, costs)
    return _reshaped_counts(pairs, se, lower, costs)


# --- pairs with a reference: the runs of the reference decide ---------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Pull:
    """How strongly more reference runs would save runs elsewhere, at x = T·n_reference.

    The others need n_j = max(lower_j, own_j·x/(T·(x − shared_j))); j feels x only below its `bend`.
    """

    weight: Floats
    shared: Floats  # −∞ where the weight is 0, so that nothing is divided by nothing
    bend: Floats

    def at(self, x: Floats) -> Floats:
        """Return the pull, Σ weight/(x−shared)² over those that feel x."""
        gap = x[..., None] - self.shared
        return np.asarray(np.add.reduce(self.weight / (gap * gap) * (x[..., None] < self.bend), axis=-1))

    def newton_step(self, x: Floats, price: float) -> Any:
        """Return the step towards pull = price, everyone feeling x: pull^(−1/2) is concave and nearly straight in x."""
        gap = x[..., None] - self.shared
        terms = self.weight / (gap * gap)
        pull, slope = np.add.reduce(terms, axis=-1), np.add.reduce(terms / gap, axis=-1)
        if terms.ndim == 1:
            return (np.sqrt(pull / price) - 1.0) * pull / slope if 0.0 < pull < np.inf else np.float64(0.0)
        return np.asarray(np.where((pull > 0) & (pull < np.inf), (np.sqrt(pull / price) - 1.0) * pull / slope, 0.0))


def _reference_counts(pairs: ReferencePairs, target: float, lower: Floats, costs: Floats) -> Floats:
    reference, shared, own = pairs.reference, pairs.shared, pairs.own
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        free = target * lower - own
        bend = np.where(free > 0, shared * target * lower / free, np.inf)
        weight = costs * own * shared
        pull = _Pull(weight, np.where(weight > 0, shared, -np.inf), bend)
        x = _balance(pull, float(costs[reference]), np.maximum(target * lower[..., reference], shared.max(axis=-1)))
        needed = own * x[..., None] / (target * (x[..., None] - shared))
    counts = np.where(own > 0, np.maximum(lower, needed), lower)
    counts[..., reference] = np.maximum(lower[..., reference], x / target)
    return counts


def _balance(pull: _Pull, price: float, lowest: Floats) -> Floats:
    """Find the x ≥ lowest at which the pull, falling with jumps down, no longer pays the price."""
    low, high = _segment(pull, price, lowest)
    felt = pull.bend >= high[..., None]  # the same algorithms feel x all over the segment
    inside = _Pull(np.where(felt, pull.weight, 0.0), np.where(felt, pull.shared, -np.inf), pull.bend)
    x = _above_poles(inside, price, low)
    for _ in range(NEWTON_STEPS):
        following = np.minimum(np.maximum(x + inside.newton_step(x, price), low), high)
        settled = np.abs(following - x) <= RELATIVE_TOLERANCE * np.abs(x)
        x = following
        if settled.all():
            break
    return np.asarray(x)


def _segment(pull: _Pull, price: float, lowest: Floats) -> tuple[Floats, Floats]:
    """Bracket the answer between neighbouring bends, by halving their sorted list."""
    bends = np.sort(np.maximum(pull.bend, lowest[..., None]), axis=-1)
    size = bends.shape[-1]
    if bends.ndim == 1:
        return _one_segment(pull, price, lowest, bends)
    below, above = np.zeros(lowest.shape, dtype=np.intp), np.full(lowest.shape, size, dtype=np.intp)
    for _ in range(size.bit_length()):  # the answer is right of all bends before `below`, not right of bend `above`
        middle = np.minimum((below + above) // 2, size - 1)
        position = _pick(bends, middle)
        undecided = below < above
        pays = np.isfinite(position) & (pull.at(position) > price)
        below = np.where(undecided & pays, middle + 1, below)
        above = np.where(undecided & ~pays, middle, above)
    low = np.where(below > 0, _pick(bends, np.maximum(below - 1, 0)), lowest)
    high = np.where(below < size, _pick(bends, np.minimum(below, size - 1)), np.inf)
    return low, high


def _one_segment(pull: _Pull, price: float, lowest: Floats, bends: Floats) -> tuple[Any, Any]:
    """The same for one problem."""

    def falls_short(place: int) -> bool:
        return not (np.isfinite(bends[place]) and pull.at(bends[place]) > price)

    place = bisect_left(range(len(bends)), True, key=falls_short)
    return bends[place - 1] if place > 0 else lowest, bends[place] if place < len(bends) else np.float64(np.inf)


def _above_poles(inside: _Pull, price: float, low: Floats) -> Floats:
    """A start left of the answer: there any single term of the pull pays the whole price."""
    alone = inside.shared + np.sqrt(inside.weight / price)
    return np.asarray(np.maximum(low, alone.max(axis=-1)))


def _pick(values: Floats, index: Codes) -> Any:
    if values.ndim == 1:
        return values[index]
    return np.asarray(np.take_along_axis(values, index[..., None], axis=-1)[..., 0])


def _put(values: Floats, index: Codes, number: Any) -> None:
    """Set one algorithm of each problem, in place."""
    if values.ndim == 1:
        values[index] = number
    else:
        np.put_along_axis(values, index[..., None], np.asarray(number)[..., None], axis=-1)


# --- all pairs of separate noises: at most one v exceeds T/2 ----------------------------------------------------------


def _all_pairs_counts(noise: Floats, target: float, lower: Floats, costs: Floats) -> Floats:
    """One algorithm may have v = T − t, the others v = min(t, noise/lower): find t ≤ T/2 in closed form.

    Above T/2 can only be the one with the largest cost·noise among those that `lower` does not hold below it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = noise / lower
        weight = np.where(limit > target / 2, costs * noise, 0.0)
        giant = weight.argmax(axis=-1)
        t = _share_of_others(giant, limit, costs * noise, target)
        most = _pick(limit, giant)
        t = np.minimum(np.maximum(t, np.maximum(target - most, 0.0)), target / 2)
        v = np.minimum(limit, t[..., None])
        _put(v, giant, np.minimum(most, target - t))
        return np.where(noise > 0, np.maximum(lower, noise / v), lower)


def _share_of_others(giant: Codes, limit: Floats, weight: Floats, target: float) -> Floats:
    """The t at which the giant's marginal cost, weight/(T−t)², meets that of the others not at their limits.

    With the p largest limits free, t_p = T·ρ/(1+ρ), ρ² = Σ weight/weight_giant; the marginal cost of the others falls
    in t with jumps at the limits, so the answer is the smallest over p of max(t_p, the next limit).
    """
    whole = np.sqrt(_pick(weight, giant))[..., None]
    capped, others = limit.copy(), weight.copy()
    _put(capped, giant, 0.0)
    _put(others, giant, 0.0)
    order = np.argsort(-capped, axis=-1)
    limits = _arranged(capped, order)
    root = np.sqrt(_arranged(others, order).cumsum(axis=-1))
    meeting = target * root / (root + whole)
    following = np.maximum(meeting[..., :-1], limits[..., 1:]).min(axis=-1)
    return np.asarray(np.minimum(np.where(np.isnan(following), 0.0, following), limits[..., 0]))


def _arranged(values: Floats, order: Codes) -> Floats:
    return values[order] if values.ndim == 1 else np.take_along_axis(values, order, axis=-1)


# --- percent of the grand mean ----------------------------------------------------------------------------------------


def _reshaped_counts(pairs: GrandMeanPairs, se: float, lower: Floats, costs: Floats) -> Floats:
    """Feasible and close to the optimum: the shape of separate noises, each reweighted until its worst pair fits.

    At the optimum every algorithm above its lower bound is in a pair whose error is just `se`, so weights that are too
    large or too small show in the worst pair of each.
    """
    target = se * se
    excess = pairs.squared_errors(lower).max(axis=(-2, -1)) / target - 1.0
    weights = np.ones(lower.shape)
    if lower.shape[-1] == 2 and pairs.formula != "paper":  # one pair: carrying its coefficients makes the shape exact
        weights = (1 - pairs.shares + pairs.shares[..., ::-1]) ** 2
    for step in range(RESHAPING_STEPS):
        noise = _waking(pairs.noise * weights, target, lower, excess)
        counts = _all_pairs_counts(noise, target, lower, costs)
        misfit = pairs.squared_errors(counts).max(axis=-1) / target
        if step < RESHAPING_STEPS - 2:
            weights = weights * np.where(counts > lower, misfit, np.maximum(misfit, 1.0))
        else:
            weights = weights * misfit.max(axis=-1, keepdims=True)
    return np.asarray(counts * np.maximum(misfit.max(axis=-1, keepdims=True), 1.0))


def _waking(noise: Floats, target: float, lower: Floats, excess: Floats) -> Floats:
    """Scale the noises up so far that the lower bounds are too few in the shape, as they are in truth."""
    largest = AllPairs(noise, noise).largest_error(lower) ** 2
    least = target * (1.0 + np.minimum(excess, 1.0) / 2)
    factor = np.divide(least, largest, out=np.ones_like(largest), where=largest > 0)
    return np.asarray(noise * np.maximum(factor, 1.0)[..., None])
