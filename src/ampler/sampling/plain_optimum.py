"""The fewest runs for one instance, in plain numbers: what `optimum` finds, several times as quickly. Pure.

An instance has few algorithms, and a call of an array function costs as much as arithmetic with thirty numbers. So the
problem of a single instance is solved here; `optimum` tells why each formula is what it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ampler.core.arrays import Floats
from ampler.sampling.pair_errors import AllPairs, GrandMeanPairs, Pairs

Numbers = list[float]
Misfits = Callable[[Numbers], Numbers]

FEW = 8  # algorithms, whose pairs are looked at sooner one by one than by arrays
RESHAPING_STEPS = 4  # two reweight each algorithm, two scale all alike; more gain under 0.5 %


def plain_counts(pairs: Pairs, target: float, lower: Floats, costs: Floats) -> Floats | None:
    """Return the real numbers of runs for one instance; None where it takes arrays: for many, or endless noise."""
    if lower.ndim > 1 or not isinstance(pairs, AllPairs | GrandMeanPairs):
        return None
    noise, least = pairs.noise.tolist(), lower.tolist()
    if not (min(least) > 0.0 and math.isfinite(sum(noise))):
        return None
    if isinstance(pairs, AllPairs):
        return np.array(_all_pairs_counts(noise, target, least, costs.tolist()))
    return _reshaped_counts(pairs, target, least, costs.tolist())


def _all_pairs_counts(noise: Numbers, target: float, lower: Numbers, costs: Numbers) -> Numbers:
    """One algorithm, the giant, may have v = T − t, the others v = min(t, noise/lower), t ≤ T/2."""
    limits = [each / least for each, least in zip(noise, lower, strict=True)]
    prices = [cost * each for cost, each in zip(costs, noise, strict=True)]
    free = [price if limit > target / 2 else 0.0 for price, limit in zip(prices, limits, strict=True)]
    giant = free.index(max(free))
    most = limits[giant]
    t = min(max(_share_of_others(giant, limits, prices, target), target - most), target / 2)
    parts = [min(limit, t) for limit in limits]
    parts[giant] = min(most, target - t)
    return [
        (max(least, each / part) if part > 0.0 else math.inf) if each > 0.0 else least
        for each, part, least in zip(noise, parts, lower, strict=True)
    ]


def _share_of_others(giant: int, limits: Numbers, prices: Numbers, target: float) -> float:
    """The t at which the giant's marginal cost meets that of the others that are not at their limits."""
    whole, total = math.sqrt(prices[giant]), 0.0
    others = sorted(zip(limits[:giant] + limits[giant + 1 :], prices[:giant] + prices[giant + 1 :], strict=True))
    while True:
        limit, price = others.pop()
        total += price
        root = math.sqrt(total)
        meeting = target * root / (root + whole) if root > 0.0 else 0.0
        if not others or meeting >= others[-1][0]:
            return min(limit, meeting)


def _reshaped_counts(pairs: GrandMeanPairs, target: float, lower: Numbers, costs: Numbers) -> Floats:
    """The shape of separate noises, each reweighted until its worst pair fits."""
    noise = pairs.noise.tolist()
    misfits_of = _misfits_of_few(pairs, noise, target) if len(noise) <= FEW else _misfits_of_many(pairs, target)
    excess = max(misfits_of(lower)) - 1.0
    weights = _first_weights(pairs)
    for step in range(RESHAPING_STEPS):
        seen = _waking([each * weight for each, weight in zip(noise, weights, strict=True)], target, lower, excess)
        counts = _all_pairs_counts(seen, target, lower, costs)
        misfits = misfits_of(counts)
        worst = max(misfits)
        if step < RESHAPING_STEPS - 2:
            misfits = [m if n > least else max(m, 1.0) for m, n, least in zip(misfits, counts, lower, strict=True)]
        else:
            misfits = [worst] * len(misfits)
        weights = [weight * misfit for weight, misfit in zip(weights, misfits, strict=True)]
    return np.array(counts) * max(worst, 1.0)


def _misfits_of_many(pairs: GrandMeanPairs, target: float) -> Misfits:
    """By how much the worst pair of each algorithm exceeds the target, with so many runs."""

    def misfits(counts: Numbers) -> Numbers:
        worst = np.maximum.reduce(pairs.squared_errors(np.array(counts)), axis=-1)
        return [each / target for each in worst.tolist()]

    return misfits


def _misfits_of_few(pairs: GrandMeanPairs, noise: Numbers, target: float) -> Misfits:
    """The same for few algorithms: pair by pair."""
    shares, size = pairs.shares.tolist(), len(noise)
    tilt = 2.0 if pairs.formula != "paper" else 0.0
    apart = [(i, j, shares[i] - shares[j]) for i in range(size) for j in range(i)]
    known = [(i, j, 1.0 - tilt * share, 1.0 + tilt * share, share * share) for i, j, share in apart]

    def misfits(counts: Numbers) -> Numbers:
        v = [each / runs / target for each, runs in zip(noise, counts, strict=True)]
        total, worst = sum(v), [0.0] * size
        for i, j, weight_i, weight_j, squared_share in known:
            misfit = weight_i * v[i] + weight_j * v[j] + squared_share * total
            if misfit > worst[i]:
                worst[i] = misfit
            if misfit > worst[j]:
                worst[j] = misfit
        return worst

    return misfits


def _first_weights(pairs: GrandMeanPairs) -> Numbers:
    """All alike, or, of a single pair, its coefficients, which make the shape exact."""
    if len(pairs.shares) == 2 and pairs.formula != "paper":
        share = float(pairs.shares[0] - pairs.shares[1])
        return [(1.0 - share) ** 2, (1.0 + share) ** 2]
    return [1.0] * len(pairs.shares)


def _waking(noise: Numbers, target: float, lower: Numbers, excess: float) -> Numbers:
    """Scale the noises up so far that the lower bounds are too few in the shape, as they are in truth."""
    second, first = sorted(each / least for each, least in zip(noise, lower, strict=True))[-2:]
    wanted = target * (1.0 + min(excess, 1.0) / 2)
    factor = max(wanted / (first + second), 1.0) if first > 0.0 else 1.0
    return [each * factor for each in noise]
