"""One paired test on very many samples at once, as evidence that can be ranked; for simulations. Pure.

The last axis holds the differences of a sample. A test returns its evidence, the larger the stronger (the t statistic,
or minus the p-value), and whether it points upward. One-sided means the upper side: negate the differences for the
other. The p-values are those of `ampler.stats.paired`, which answers for one sample with all that a result needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import sqrt

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.values import Test

EXACT_BELOW = 50  # R's rule: the signed-rank test is exact for fewer differences, without ties and zeros


def t_evidence(differences: Floats, two_sided: bool) -> tuple[Floats, Bools]:
    """The t statistic; differences that are all equal speak with certainty, or not at all when they are zero."""
    n = differences.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(differences.mean(-1) / (differences.std(-1, ddof=1) / sqrt(n)), nan=0.0)
    return (np.abs(t) if two_sided else t), t > 0


def sign_evidence(differences: Floats, two_sided: bool) -> tuple[Floats, Bools]:
    """Minus the exact p-value of the sign test; zeros are dropped."""
    from scipy.special import bdtr

    above, below = (differences > 0).sum(-1), (differences < 0).sum(-1)
    n = above + below
    # P(at least `above` of n) = P(at most `below` of n), since signs are symmetric under the null
    return -_p_value(bdtr(below.astype(float), n, 0.5), bdtr(above.astype(float), n, 0.5), two_sided), above > below


def wilcoxon_evidence(differences: Floats, two_sided: bool) -> tuple[Floats, Bools]:
    """Minus the p-value of the signed-rank test as R has it: exact below 50 without ties and zeros, else normal."""
    sizes = np.abs(differences)
    order = np.argsort(sizes, axis=-1)
    ranked = np.take_along_axis(sizes, order, axis=-1)
    tied = (ranked[..., 1:] == ranked[..., :-1]).any(-1) | (ranked[..., 0] == 0)
    n = differences.shape[-1]
    positive = np.take_along_axis(differences, order, axis=-1) > 0
    above, below = _untied_tails(np.matmul(positive, np.arange(1.0, n + 1), dtype=float), n)
    if tied.any():
        above[tied], below[tied] = _tied_tails(differences[tied])
    return -_p_value(above, below, two_sided), above < below


def _untied_tails(positive_ranks: Floats, n: int) -> tuple[Floats, Floats]:
    """P(W ≥ w) and P(W ≤ w) of the sum of the positive ranks, without ties."""
    if n >= EXACT_BELOW:
        return _normal_tails(positive_ranks, n * (n + 1) / 4, sqrt(n * (n + 1) * (2 * n + 1) / 24))
    at_most = _signed_rank_cdf(n)
    w = positive_ranks.astype(np.intp)
    return at_most[n * (n + 1) // 2 - w], at_most[w]


@lru_cache(maxsize=64)
def _signed_rank_cdf(n: int) -> Floats:
    """P(W ≤ w) for w = 0..n(n+1)/2: every rank is in the sum or not, each with probability 1/2."""
    counts = np.zeros(n * (n + 1) // 2 + 1)
    counts[0] = 1.0
    for rank in range(1, n + 1):
        counts[rank:] += counts[:-rank].copy()
    return np.asarray(np.cumsum(counts) / 2.0**n)


def _tied_tails(differences: Floats) -> tuple[Floats, Floats]:
    """The tails where there are ties or zeros: zeros dropped, mean ranks, normal, less variance by ties."""
    from scipy.stats import rankdata

    sizes = np.abs(differences)
    zeros = (sizes == 0).sum(-1)
    n = differences.shape[-1] - zeros
    ranks = rankdata(sizes, axis=-1) - zeros[..., None]
    w = np.where(differences > 0, ranks, 0.0).sum(-1)
    # Σ(t³−t)/48 over groups of t ties; a group of t members adds t²−1 per member
    members = _group_sizes(sizes)
    ties = np.where(sizes > 0, members**2 - 1, 0.0).sum(-1)
    deviation = np.sqrt(np.maximum(0.0, n * (n + 1) * (2 * n + 1) / 24 - ties / 48))
    return _normal_tails(w, n * (n + 1) / 4, deviation)


def _group_sizes(sizes: Floats) -> Floats:
    """How many values in its row each value is equal to, itself included."""
    from scipy.stats import rankdata

    return rankdata(sizes, "max", axis=-1) - rankdata(sizes, "min", axis=-1) + 1.0


def _normal_tails(w: Floats, mean: Floats | float, deviation: Floats | float) -> tuple[Floats, Floats]:
    """P(W ≥ w) and P(W ≤ w) as normal, with continuity correction; both are 1 when nothing is left to rank."""
    from scipy.special import ndtr

    centred, spread = w - mean, np.maximum(deviation, 1e-300)
    return np.asarray(ndtr((0.5 - centred) / spread)), np.asarray(ndtr((centred + 0.5) / spread))


def _p_value(above: Floats, below: Floats, two_sided: bool) -> Floats:
    """The p-value from P(at least this) and P(at most this)."""
    return np.minimum(1.0, 2 * np.minimum(above, below)) if two_sided else above


EVIDENCE: Mapping[Test, Callable[[Floats, bool], tuple[Floats, Bools]]] = {
    "t": t_evidence,
    "wilcoxon": wilcoxon_evidence,
    "sign": sign_evidence,
}
