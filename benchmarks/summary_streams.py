"""Medians, quantiles and trimmed means of streams of values, and how exactly they are known in truth."""

from __future__ import annotations

from functools import cache, lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ampler.stats.summaries import Quantile, TrimmedMean, _order_chances, summary_of

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LONGEST = 6000  # values of a stream; a rule that asks for more is told that there are no more
EXACT = 64  # numbers of runs up to which the truth is simulated for each, beyond for four in every doubling
DRAWN = 2_000_000  # values drawn for one truth


class SummaryStreams:
    """Statistics and spreads of the first n values of every (replication, algorithm), as `Streams` has moments."""

    def __init__(self, distribution: str, algorithms: int, replications: int, statistic: str) -> None:
        from sampling_simulation import DISTRIBUTIONS

        self.distribution = DISTRIBUTIONS[distribution]
        self.replications, self.summary = replications, summary_of(statistic)
        seeds = ([crc32(distribution.encode()), algorithms, k, 15] for k in range(algorithms))
        self.values = [
            self.distribution.draw(np.random.default_rng(seed), (LONGEST, replications)).T.copy() for seed in seeds
        ]

    def moments(self, row: Places, algorithm: Places, n: Places) -> tuple[Floats, ...]:
        """Return statistic and spread of the first n values, in units of the distribution, and no kurtosis."""
        theta, spread = np.empty(len(row)), np.empty(len(row))
        kinds, kind_of = np.unique(np.stack([algorithm, np.minimum(n, LONGEST)]), axis=1, return_inverse=True)
        for place, (k, count) in enumerate(kinds.T):
            here = kind_of.ravel() == place
            theta[here], spread[here] = spreads(self.summary, self.values[k][row[here], :count])
        sd = self.distribution.sd
        return (theta - self.distribution.mean) / sd, spread / sd**2, np.full(len(row), 3.0)


def spreads(summary: Quantile | TrimmedMean, values: Floats) -> tuple[Floats, Floats]:
    """Return statistic and spread of each row: what the summary gives one by one, for many at once."""
    theta, x, n = np.asarray(summary(values)), np.sort(values, axis=-1), values.shape[-1]
    if isinstance(summary, TrimmedMean):
        out = int(summary.cut * n)
        kept = n - 2 * out
        winsorised = np.clip(x, x[:, [out]], x[:, [n - out - 1]])
        return theta, winsorised.var(axis=-1, ddof=1) * n * (n - 1) / (kept * (kept - 1))
    return theta, n * _quantile_variances(_chances(n, summary.q), x - theta[:, None])


def true_spread(distribution: str, statistic: str, n: int) -> float:
    """Return n·Var(statistic of n values), in units of the distribution's variance."""
    return 1.0 if statistic == "mean" else _simulated_spread(distribution, statistic, _rung(n))


_chances = lru_cache(maxsize=512)(_order_chances.__wrapped__)  # up to 2 MB each


def _quantile_variances(chances, x: Floats) -> Floats:
    w, n = chances.weight, x.shape[-1]
    lower = x @ chances.lower
    variance = (x * x) @ chances.lower - lower**2
    if w > 0.0:
        upper = x @ chances.upper
        gaps = (
            (x[:, lag:] - x[:, :-lag]) ** 2 @ chances.gaps[lag - 1, : n - lag]
            for lag in range(1, len(chances.gaps) + 1)
        )
        between = sum(gaps) - (upper - lower) ** 2
        variance = (1 - w) * variance + w * ((x * x) @ chances.upper - upper**2) - w * (1 - w) * between
    return np.maximum(variance, 0.0)


def _rung(n: int) -> int:
    return n if n <= EXACT else round(EXACT * 2 ** (round(4 * np.log2(n / EXACT)) / 4))


@cache
def _simulated_spread(distribution: str, statistic: str, n: int) -> float:
    from sampling_simulation import DISTRIBUTIONS

    law, summary = DISTRIBUTIONS[distribution], summary_of(statistic)
    rng = np.random.default_rng([crc32(distribution.encode()), crc32(statistic.encode()), n])
    if isinstance(summary, Quantile):
        lower, upper, weight = _uniform_quantiles(rng, n, summary.q)
        drawn = (1 - weight) * law.inverse(lower) + weight * law.inverse(upper)
    else:
        drawn = summary(law.draw(rng, (DRAWN // n, n)))
    return float(n * np.var(drawn) / law.sd**2)


def _uniform_quantiles(rng: np.random.Generator, n: int, q: float) -> tuple[Floats, Floats, float]:
    """The two order statistics around a quantile of n uniform values, and the weight of the upper one."""
    position = (n - 1) * q
    rank = int(position) + 1
    lower = rng.beta(rank, n - rank + 1, DRAWN // 10)
    upper = lower + (1 - lower) * (1 - rng.random(len(lower)) ** (1 / max(n - rank, 1)))
    return lower, upper, position - (rank - 1)
