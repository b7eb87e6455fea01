"""Standard errors of the pairs, the algorithm to run next, and the fewest sufficient runs. Pure.

Runs are spent where they reduce the largest standard error of interest, towards the real numbers of runs that cost
least. Arrays have the algorithms on their last axis; leading axes are independent problems.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ampler.core.arrays import Bools, Codes, Counts, Floats
from ampler.core.settings import Formula
from ampler.stats.contrasts import Contrasts
from ampler.stats.dependence import noise_errors


class ReferencePairs(NamedTuple):
    """Pairs (reference, j): se² = shared_j/n_reference + own_j/n_j. Both are 0 at the reference itself."""

    reference: int
    shared: Floats
    own: Floats

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        squared = self.shared / counts[..., self.reference : self.reference + 1] + self.own / counts
        return np.asarray(np.sqrt(squared.max(axis=-1)))


class AllPairs(NamedTuple):
    """Pairs (i, j), i < j: se² = noise_i/n_i + noise_j/n_j."""

    noise: Floats

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        single = np.partition(self.noise / counts, -2, axis=-1)
        return np.sqrt(single[..., -1] + single[..., -2])


class GrandMeanPairs(NamedTuple):
    """Pairs (i, j), i < j, in units of the grand mean, with share = φ_ij/A = shares_i − shares_j and v = noise/n.

    delta: se² = (1−share)²·v_i + (1+share)²·v_j + share²·Σ_{k≠i,j} v_k; paper: se² = v_i + v_j + share²·Σ_k v_k.
    """

    noise: Floats
    shares: Floats
    formula: Formula

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        return np.asarray(np.sqrt(self.squared_errors(counts).max(axis=(-2, -1))))

    def squared_errors(self, counts: Floats) -> Floats:
        """Return the squared standard errors of all pairs as a symmetric matrix, 0 where there is no pair."""
        v = self.noise / counts
        share = self.shares[..., :, None] - self.shares[..., None, :]
        one_sided: Floats = v[..., :, None] * (1.0 - 2.0 * share if self.formula != "paper" else np.ones_like(share))
        squared = one_sided + one_sided.swapaxes(-1, -2)
        squared += share * share * np.add.reduce(v, axis=-1)[..., None, None]
        squared.reshape(*v.shape[:-1], -1)[..., :: v.shape[-1] + 1] = 0.0  # no pair of an algorithm with itself
        return np.maximum(squared, 0.0, out=squared)  # near a share of ±1 the terms cancel: avoid negative squares


@dataclass(frozen=True, slots=True, eq=False)
class SharedPairs:
    """Pairs whose runs share seeds: se² = Σ H_ab / max(n_a, n_b), a matrix H for each pair."""

    noise: Floats

    def largest_error(self, counts: Floats) -> Floats:
        """Return the largest standard error of the pairs of interest."""
        return np.asarray(np.sqrt(max(0.0, float(noise_errors(self.noise, counts).max()))))

    def targets(self, counts: Floats, alone: Floats, se: float, costs: Floats | None = None) -> Floats:
        """Return the real numbers of runs that bring every pair to `se`: equally many, or in proportion to `alone`.

        Runs are shared by pairs of equal counts, so unequal counts must save a quarter to be worth it.
        """
        varies = np.diagonal(self.noise, axis1=1, axis2=2).any(axis=0)
        shapes = (np.where(varies, shape, RARELY) for shape in (1.0, alone))
        equal, unequal = (np.maximum(counts, shape * (self.largest_error(shape) / se) ** 2) for shape in shapes)
        for level in np.unique(counts[varies]):  # unequal counts share few seeds: raise the smaller counts
            if self.largest_error(equal) <= se * (1 + ROUNDING):
                break
            equal = np.where(varies, np.maximum(equal, level), equal)
        prices = np.ones_like(counts) if costs is None else costs
        is_enough = self.largest_error(unequal) <= se * (1 + ROUNDING)
        if not is_enough or prices @ unequal >= WORTH_UNEQUAL * (prices @ equal):
            return equal
        wanting = noise_errors(self.noise, counts) > se * se
        involved = np.diagonal(self.noise[wanting], axis1=1, axis2=2).any(axis=0)
        return np.where(involved, unequal, counts)


RARELY = 1e-9  # of algorithms without noise, which need no further run
ROUNDING = 1e-9
WORTH_UNEQUAL = 0.75
Pairs = ReferencePairs | AllPairs | GrandMeanPairs


def pairs_of(contrasts: Contrasts, variances: Floats, statistics: Floats) -> Pairs:
    """State how the errors of the compared pairs depend on the runs; `variances` are those of one run.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> pairs = pairs_of(contrasts_among(3, difference="simple"), np.array([4.0, 5.0, 0.0]), np.zeros(3))
    >>> pairs.largest_error(np.array([1.0, 1.0, 1.0])).item()
    3.0
    """
    reference = contrasts.reference
    if contrasts.difference == "percent" and reference is None:
        size = statistics.shape[-1]
        mean = np.add.reduce(statistics, axis=-1, keepdims=True) / size
        return GrandMeanPairs(variances / (mean * mean), statistics / (mean * size), contrasts.formula)
    noise = variances if contrasts.difference == "simple" else variances / (statistics * statistics)
    if reference is None:
        return AllPairs(noise)
    its, scale = slice(reference, reference + 1), np.ones_like(noise)
    if contrasts.difference == "percent":
        scale = statistics / statistics[..., its]  # Campelo & Wanner (2019), eq. 24: relative errors, scaled by θj/θ1
        scale *= scale
    shared, own = scale * noise[..., its], scale * noise
    shared[..., reference] = own[..., reference] = 0.0
    return ReferencePairs(reference, shared, own)


def _at(values: Floats, index: Any) -> Any:
    """Pick one algorithm per problem; a plain number for a single problem, for speed."""
    if values.ndim == 1:
        return values.item(index)
    return np.asarray(np.take_along_axis(values, index[..., None], axis=-1)[..., 0])


Allocation = Literal["optimal", "greedy", "balanced"]

DIGITS = 11  # decimals up to which two needs are equal


def next_runs(
    contrasts: Contrasts,
    counts: Floats,
    variances: Floats,
    statistics: Floats,
    *,
    se: float,
    allocation: Allocation = "optimal",
    size: int = 1,
    costs: Floats | None = None,
) -> Counts:
    """Return how many more runs each algorithm gets in a round of at most `size`.

    The round ends early when, by the variances given, every pair is then known to within `se`.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> contrasts = contrasts_among(3, difference="simple", reference=0)
    >>> next_runs(contrasts, np.full(3, 10.0), np.array([9.0, 1.0, 1.0]), np.zeros(3), se=0.9, size=16).tolist()
    [3, 0, 0]
    """
    counts = np.asarray(counts, dtype=float)
    if allocation == "greedy":
        return _greedy_runs(contrasts, counts, variances, statistics, se, size)
    pairs = pairs_of(contrasts, variances, statistics)
    # Runs already made are sunk cost: the optimum starts from them.
    balanced = allocation == "balanced"
    targets = np.ones_like(counts) if balanced else optimal_counts(pairs, se, counts, costs)
    return _towards(pairs, counts, targets, se, size)


def next_shared_runs(
    pairs: SharedPairs, counts: Floats, alone: Pairs | None, *, se: float, size: int, costs: Floats | None = None
) -> Counts:
    """Return the same where runs share seeds; `alone` are the pairs as if they shared nothing, None: equal counts."""
    if pairs.largest_error(counts) <= se:
        return np.zeros(len(counts), dtype=np.int64)
    shape = np.ones_like(counts) if alone is None else optimal_counts(alone, se, counts, costs)
    return _towards(pairs, counts, pairs.targets(counts, shape, se, costs), se, size)


def predicted_runs(
    contrasts: Contrasts,
    counts: Floats,
    variances: Floats,
    statistics: Floats,
    *,
    se: float,
    allocation: Allocation = "optimal",
    costs: Floats | None = None,
    most: int = 1_000_000,
) -> Counts:
    """Return the number of further runs of each algorithm, given the variances.

    A need beyond `most` is given as a number beyond `most` in total, not as the need itself.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> contrasts = contrasts_among(3, difference="simple", reference=0)
    >>> predicted_runs(contrasts, np.full(3, 10.0), np.array([9.0, 1.0, 1.0]), np.zeros(3), se=0.5).tolist()
    [42, 3, 3]
    """
    counts = np.asarray(counts, dtype=float)
    pairs = pairs_of(contrasts, variances, statistics)
    if pairs.largest_error(counts) <= se:
        return np.zeros(counts.shape, dtype=np.int64)
    if allocation == "greedy":
        return _greedy_runs(contrasts, counts, variances, statistics, se, most)
    targets = np.minimum(_targets(pairs, se, counts, allocation, costs), counts + most)
    # Whole numbers: down, then up one by one until every pair is known to `se`.
    down = np.maximum(counts, np.floor(targets))
    return _towards(pairs, down, np.maximum(targets, down), se, len(counts)) + (down - counts).astype(np.int64)


def aims(
    contrasts: Contrasts,
    variances: Floats,
    statistics: Floats,
    *,
    se: float,
    start: int,
    allocation: Allocation = "optimal",
) -> Floats:
    """Return the real numbers of runs, from the first on, at which every pair would be known to `se`.

    Greedy rounds end near the optimum of each pair, for which that of all pairs stands here.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> pair = contrasts_among(2, difference="simple")
    >>> aims(pair, np.array([9.0, 1.0]), np.zeros(2), se=0.5, start=10).tolist()
    [48.0, 16.0]
    """
    pairs = pairs_of(contrasts, variances, statistics)
    return _targets(pairs, se, np.full(np.shape(variances), float(start)), allocation)


def _targets(pairs: Pairs, se: float, lower: Floats, allocation: Allocation, costs: Floats | None = None) -> Floats:
    """The real numbers of runs that bring every pair to `se`: equally many, or those that cost least."""
    if allocation != "balanced":
        return optimal_counts(pairs, se, lower, costs)
    needed = np.asarray(pairs.largest_error(np.ones_like(lower)) / se) ** 2
    return np.asarray(np.maximum(lower, needed[..., None]))


def _greedy_runs(
    contrasts: Contrasts, counts: Floats, variances: Floats, statistics: Floats, se: float, size: int
) -> Counts:
    """Campelo & Wanner (2019), Algorithm 1: one more run for the worst pair, as long as it is not known to `se`."""
    pairs, ratios = pairs_of(contrasts, variances, statistics), contrasts.best_ratios(statistics, variances)
    now = counts.copy()
    for _ in range(size):
        if not pairs.largest_error(now) > se:
            break
        worst = contrasts.squared_errors(statistics, variances / now).argmax()  # the first of equal ones
        first, second = contrasts.first[worst], contrasts.second[worst]
        now[first if now[first] / now[second] <= ratios[worst] else second] += 1.0
    return (now - counts).astype(np.int64)


def _towards(pairs: Pairs | SharedPairs, counts: Floats, targets: Floats, se: float, size: int) -> Counts:
    """Give each run to the largest relative deficit, target/count; cut where every pair is known to `se`.

    The absolute deficit would starve the small ones when the budget ends early. Among equals the largest target comes
    first, whatever the order of the algorithms; and many are equal, as an optimum often scales all counts alike.
    """
    now, aim, order = counts.tolist(), targets.tolist(), []
    deficits = [(round(aimed / have, DIGITS), aimed) for aimed, have in zip(aim, now, strict=True)]
    for _ in range(size):
        index = deficits.index(max(deficits))
        now[index] += 1.0
        deficits[index] = round(aim[index] / now[index], DIGITS), aim[index]
        order.append(index)

    def runs(steps: int) -> Counts:
        return np.bincount(order[:steps], minlength=len(now))

    def reached(steps: int) -> bool:
        return bool(pairs.largest_error(counts + runs(steps)) <= se)

    if not reached(size):  # the usual case
        return runs(size)
    return runs(bisect_left(range(size), True, key=reached))


NEWTON_STEPS = 30  # usually five; the limit bounds the time of rare cases
RELATIVE_TOLERANCE = 1e-10
RESHAPING_STEPS = 4  # two reweight each algorithm, two scale all alike; more gain under 0.5 %


def optimal_counts(pairs: Pairs, se: float, lower: Floats, costs: Floats | None = None) -> Floats:
    """Return the real numbers of runs with the smallest total cost that bring every pair's error down to `se`.

    >>> equal = AllPairs(np.ones(4))
    >>> optimal_counts(equal, 0.1, lower=np.full(4, 10.0)).round(6).tolist()
    [200.0, 200.0, 200.0, 200.0]
    """
    costs = np.ones(lower.shape[-1]) if costs is None else costs
    target = se * se
    if isinstance(pairs, ReferencePairs):
        return _reference_counts(pairs, target, lower, costs)
    if isinstance(pairs, AllPairs):
        return _all_pairs_counts(pairs.noise, target, lower, costs)
    return _reshaped_counts(pairs, se, lower, costs)


# --- pairs with a reference: the runs of the reference decide ---------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Pull:
    """Savings of other runs by more reference runs, at x = T·n_reference.

    The others need n_j = max(lower_j, own_j·x/(T·(x − shared_j))); j feels x only below its `bend`.
    """

    weight: Floats
    shared: Floats  # −∞ where the weight is 0, which avoids 0/0
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
    """Find the smallest x ≥ lowest at which the marginal gain is below the price."""
    low, high = _segment(pull, price, lowest)
    felt = pull.bend >= high[..., None]  # the same algorithms feel x all over the segment
    inside = _Pull(np.where(felt, pull.weight, 0.0), np.where(felt, pull.shared, -np.inf), pull.bend)
    # A start left of the answer: there any single term of the pull pays the whole price.
    x = np.asarray(np.maximum(low, (inside.shared + np.sqrt(inside.weight / price)).max(axis=-1)))
    for _ in range(NEWTON_STEPS):
        following = np.minimum(np.maximum(x + inside.newton_step(x, price), low), high)
        converged = np.abs(following - x) <= RELATIVE_TOLERANCE * np.abs(x)
        x = following
        if converged.all():
            break
    return np.asarray(x)


def _segment(pull: _Pull, price: float, lowest: Floats) -> tuple[Floats, Floats]:
    """Bracket the answer between neighbouring bends, by halving their sorted list."""
    bends = np.sort(np.maximum(pull.bend, lowest[..., None]), axis=-1)
    size = bends.shape[-1]
    if bends.ndim == 1:  # one problem
        at = bisect_left(bends, True, key=lambda bend: not (np.isfinite(bend) and pull.at(bend) > price))
        return bends[at - 1] if at > 0 else lowest, bends[at] if at < size else np.asarray(np.inf)
    below, above = np.zeros(lowest.shape, dtype=np.intp), np.full(lowest.shape, size, dtype=np.intp)
    for _ in range(size.bit_length()):  # the answer is right of all bends before `below`, not right of bend `above`
        middle = np.minimum((below + above) // 2, size - 1)
        position = _at(bends, middle)
        undecided = below < above
        pays = np.isfinite(position) & (pull.at(position) > price)
        below = np.where(undecided & pays, middle + 1, below)
        above = np.where(undecided & ~pays, middle, above)
    low = np.where(below > 0, _at(bends, np.maximum(below - 1, 0)), lowest)
    high = np.where(below < size, _at(bends, np.minimum(below, size - 1)), np.inf)
    return low, high


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
        most = _at(limit, giant)
        t = np.minimum(np.maximum(t, np.maximum(target - most, 0.0)), target / 2)
        others = np.minimum(limit, t[..., None])
        v = np.where(_is_giant(giant, limit), np.minimum(most, target - t)[..., None], others)
        return np.where(noise > 0, np.maximum(lower, noise / v), lower)


def _is_giant(giant: Codes, values: Floats) -> Bools:
    return np.asarray(np.arange(values.shape[-1]) == giant[..., None])


def _share_of_others(giant: Codes, limit: Floats, weight: Floats, target: float) -> Floats:
    """The t at which the giant's marginal cost, weight/(T−t)², meets that of the others not at their limits.

    With the p largest limits free, t_p = T·ρ/(1+ρ), ρ² = Σ weight/weight_giant; the marginal cost of the others falls
    in t with jumps at the limits, so the answer is the smallest over p of max(t_p, the next limit).
    """
    own = np.sqrt(_at(weight, giant))[..., None]
    capped, others = (np.where(_is_giant(giant, limit), 0.0, values) for values in (limit, weight))
    order = np.argsort(-capped, axis=-1)
    limits = np.take_along_axis(capped, order, axis=-1)
    root = np.sqrt(np.take_along_axis(others, order, axis=-1).cumsum(axis=-1))
    meeting = target * root / (root + own)
    following = np.maximum(meeting[..., :-1], limits[..., 1:]).min(axis=-1)
    return np.asarray(np.minimum(np.where(np.isnan(following), 0.0, following), limits[..., 0]))


# --- percent of the grand mean ----------------------------------------------------------------------------------------


def _reshaped_counts(pairs: GrandMeanPairs, se: float, lower: Floats, costs: Floats) -> Floats:
    """Feasible and close to the optimum: the shape of separate noises, each reweighted until its worst pair fits.

    At the optimum every algorithm above its lower bound is in a pair whose error is just `se`, so weights that are too
    large or too small show in the worst pair of each.
    """
    target = se * se
    excess = pairs.squared_errors(lower).max(axis=(-2, -1)) / target - 1.0
    least = target * (1.0 + np.minimum(excess, 1.0) / 2)
    weights = np.ones(lower.shape)
    if lower.shape[-1] == 2 and pairs.formula != "paper":  # one pair: carrying its coefficients makes the shape exact
        weights = (1 - pairs.shares + pairs.shares[..., ::-1]) ** 2
    for step in range(RESHAPING_STEPS):
        noise = pairs.noise * weights  # scaled up so far that the lower bounds are too few in the shape, as in truth
        largest = AllPairs(noise).largest_error(lower) ** 2
        factor = np.divide(least, largest, out=np.ones_like(largest), where=largest > 0)
        counts = _all_pairs_counts(noise * np.maximum(factor, 1.0)[..., None], target, lower, costs)
        misfit = pairs.squared_errors(counts).max(axis=-1) / target
        if step < RESHAPING_STEPS - 2:
            weights = weights * np.where(counts > lower, misfit, np.maximum(misfit, 1.0))
        else:
            weights = weights * misfit.max(axis=-1, keepdims=True)
    return np.asarray(counts * np.maximum(misfit.max(axis=-1, keepdims=True), 1.0))
