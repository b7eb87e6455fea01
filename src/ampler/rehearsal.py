"""Families of paired tests rehearsed on simulated differences: who is detected, who is falsely accused. Pure.

A family is K comparisons on N instances; the differences have standard deviation 1, so an effect d is their mean. With
dependence "reference" the comparison k is X_0 − X_k with X's of variance 1/2: variance 1, correlation 1/2. Rehearsals
with the same seed use the same random numbers whatever N is, so that a search over N sees the effect of N alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ampler.errors import InvalidDesign
from ampler.holm import holm_levels, reject_families
from ampler.model import Alternative, Test
from ampler.power import tail_levels

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Dependence = Literal["independent", "reference"]
Correction = Literal["holm", "bonferroni"]
Distribution = Callable[[np.random.Generator, tuple[int, ...]], ArrayLike]

MOST_WORK = 2 * 10**9  # simulated numbers; some minutes, then a rehearsal is refused rather than hanging
BLOCK = 2**18  # statistics or data handled at once: they stay in the cache
STREAM = 64  # comparisons drawn from one random stream, so that many instances still fit into memory
EXACT_BELOW = 50  # R's rule: the signed-rank test is exact for fewer differences, without ties and zeros


@dataclass(frozen=True, slots=True)
class Setting:
    """What is rehearsed: `real` of the comparisons have the effect, the others none. No distribution means normal."""

    instances: int
    comparisons: int
    real: int
    effect: float
    alpha: float
    alternative: Alternative = "two-sided"
    test: Test = "t"
    correction: Correction = "holm"
    dependence: Dependence = "independent"
    distribution: Distribution | None = None

    @property
    def by_moments(self) -> bool:
        """Whether the statistics can be drawn without the data: the t-test's on normal differences."""
        return self.test == "t" and self.distribution is None

    @property
    def work(self) -> int:
        """The count of random numbers for one family, roughly."""
        return self.comparisons * (2 if self.by_moments else self.instances)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What happened in the rehearsed families; a detection rejects a false null on the side of its effect."""

    families: int
    detections: NDArray[np.int64]  # per real comparison: in how many families it was detected
    squares: float  # sum over the families of the squared share of detected comparisons
    with_any: int  # families with at least one detection
    with_all: int  # families in which every real comparison was detected
    with_false: int  # families in which a true null was rejected

    @property
    def mean_power(self) -> float:
        """The mean share of the real comparisons that were detected."""
        return float(self.detections.mean()) / self.families

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the mean power."""
        variance = max(0.0, self.squares / self.families - self.mean_power**2)
        return sqrt(variance / (self.families - 1))

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.families + other.families,
            self.detections + other.detections,
            self.squares + other.squares,
            self.with_any + other.with_any,
            self.with_all + other.with_all,
            self.with_false + other.with_false,
        )


def rehearse(setting: Setting, *, families: int, seed: int) -> Tally:
    """Run the family's tests so many times and count what is detected and what is falsely rejected.

    >>> tally = rehearse(Setting(57, comparisons=21, real=21, effect=0.5, alpha=0.05), families=2000, seed=1)
    >>> 0.88 < tally.mean_power < 0.92
    True
    """
    if setting.work * families > MOST_WORK:
        raise InvalidDesign(
            f"{families} simulated families of {setting.comparisons} comparisons on {setting.instances} instances "
            "are too many to simulate: use fewer replications or comparisons, or the mean-power convention"
        )
    thresholds = _thresholds(setting)
    evidence = _moment_evidence if setting.by_moments else _data_evidence
    blocks = (_tally(setting, *block, thresholds) for block in evidence(setting, families, seed))
    total = next(blocks)
    for block in blocks:
        total = total + block
    return total


def families_for(setting: Setting, *, budget: int, most: int = 20_000, least: int = 100) -> int:
    """Return how many families a budget of random numbers buys, within limits."""
    return max(least, min(most, budget // setting.work))


def _thresholds(setting: Setting) -> Floats:
    """What the evidence of each rank must reach: critical values of t, or minus the levels for minus the p-values."""
    from scipy.special import stdtrit

    K, alpha = setting.comparisons, setting.alpha
    levels = holm_levels(K, alpha) if setting.correction == "holm" else np.full(K, alpha / K)
    if setting.test != "t":
        return -levels
    return -np.asarray(stdtrit(setting.instances - 1, tail_levels(levels, setting.alternative)))


def _tally(setting: Setting, evidence: Floats, upward: Bools, thresholds: Floats) -> Tally:
    """Count one block of families."""
    if setting.correction == "bonferroni":
        rejected = evidence >= thresholds[0]
    else:
        rejected = reject_families(evidence, thresholds)
    detected = (rejected & upward)[:, : setting.real]
    shares = detected.mean(axis=1) if setting.real else np.zeros(len(rejected))
    return Tally(
        families=len(rejected),
        detections=detected.sum(axis=0),
        squares=float(shares @ shares),
        with_any=int(detected.any(axis=1).sum()),
        with_all=int(detected.all(axis=1).sum()) if setting.real else 0,
        with_false=int(rejected[:, setting.real :].any(axis=1).sum()),
    )


# ── t statistics of normal differences, drawn without the data ────────────────────────────────────────────────────────


def _moment_evidence(setting: Setting, families: int, seed: int) -> Iterator[tuple[Floats, Bools]]:
    """Draw the t statistics from the joint distribution of means and standard deviations."""
    draw = _shared_t if setting.dependence == "reference" else _independent_t
    shift = _effects(setting) * sqrt(setting.instances)
    for rng, size in _streams(families, max(1, BLOCK // setting.comparisons), seed):
        t = draw(rng, size, setting.comparisons, setting.instances - 1, shift)
        yield (np.abs(t) if setting.alternative == "two-sided" else t), t > 0


def _independent_t(rng: np.random.Generator, families: int, comparisons: int, df: int, shift: Floats) -> Floats:
    """The mean and the variance of normal data are independent: √N·mean ~ N(shift, 1), (N−1)·s² ~ χ² with N−1."""
    means = rng.standard_normal((families, comparisons)) + shift
    return means / np.sqrt(_chi_square(rng.standard_normal((families, comparisons)), df) / df)


def _shared_t(rng: np.random.Generator, families: int, comparisons: int, df: int, shift: Floats) -> Floats:
    """The differences X_0 − X_k, with X's of variance 1/2 and centred over the instances: N−1 dimensions remain.

    Let e be the direction of the centred X_0, of squared length c/2 with c ~ χ²(N−1). A centred X_k has the component
    g_k/√2 along e, g_k standard normal, and a rest of squared length r_k/2, r_k ~ χ²(N−2). Hence
    (N−1)·s_k² = |X_0 − X_k|² = ((√c − g_k)² + r_k)/2, whose mean is (N−1 + 1 + N−2)/2 = N−1, as it must be.
    """
    reference = rng.standard_normal((families, 1))
    means = (reference - rng.standard_normal((families, comparisons))) / sqrt(2) + shift
    along = np.sqrt(_chi_square(rng.standard_normal((families, 1)), df))
    rest = _chi_square(rng.standard_normal((families, comparisons)), df - 1)
    squares = ((along - rng.standard_normal((families, comparisons))) ** 2 + rest) / 2
    return means / np.sqrt(squares / df)


def _chi_square(normals: Floats, df: int) -> Floats:
    """Turn standard normals into χ² by their quantiles, so that the same normals serve every number of instances."""
    if df == 0:
        return np.zeros_like(normals)
    return np.interp(normals, *_chi_square_table(df))


@lru_cache(maxsize=8)
def _chi_square_table(df: int) -> tuple[Floats, Floats]:
    """χ² quantiles at 4097 normal ones; linear in between, off by 1e-7 of the value at 56 degrees of freedom."""
    from scipy.special import chdtri, gammaincinv, ndtr

    normals = np.linspace(-9.0, 9.0, 4097)
    below = normals <= 0
    return normals, np.where(below, 2 * gammaincinv(df / 2, ndtr(normals)), chdtri(df, ndtr(-normals)))


# ── the tests themselves, on simulated data ───────────────────────────────────────────────────────────────────────────


def _data_evidence(setting: Setting, families: int, seed: int) -> Iterator[tuple[Floats, Bools]]:
    """Draw the differences and run the test on them."""
    test = {"t": _t_evidence, "wilcoxon": _wilcoxon_evidence, "sign": _sign_evidence}[setting.test]
    two_sided = setting.alternative == "two-sided"
    for differences in _data(setting, families, seed):
        yield test(differences, two_sided)


def _data(setting: Setting, families: int, seed: int) -> Iterator[Floats]:
    """Draw differences in blocks of families × comparisons × instances, oriented so that the effect points upward."""
    per_stream = max(1, STREAM // setting.comparisons)
    streams_per_block = max(1, 8 * BLOCK // (per_stream * setting.work))
    waiting = []
    for rng, size in _streams(families, per_stream, seed):
        waiting.append(_differences(setting, rng, size))
        if len(waiting) == streams_per_block:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _differences(setting: Setting, rng: np.random.Generator, families: int) -> Floats:
    """Draw the differences of some families; instance by instance, so that more instances only add to them."""
    shared = setting.dependence == "reference"
    noise = _noise(setting, rng, (setting.instances, families, setting.comparisons + shared))
    if shared:
        noise = (noise[..., :1] - noise[..., 1:]) / sqrt(2)
    oriented = -noise if setting.alternative == "less" else noise
    return np.ascontiguousarray((oriented + _effects(setting)).transpose(1, 2, 0))


def _noise(setting: Setting, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw what the user's distribution gives, or normals."""
    if setting.distribution is None:
        return rng.standard_normal(shape)
    drawn = np.asarray(setting.distribution(rng, shape), dtype=float)
    if drawn.shape != shape or not np.isfinite(drawn).all():
        raise InvalidDesign(
            f"distribution(rng, size) must return finite numbers in the shape {shape}, got the shape {drawn.shape}: "
            "draw them like rng.standard_normal(size)"
        )
    return drawn


def _effects(setting: Setting) -> Floats:
    """The mean of each comparison: the real ones come first."""
    return np.where(np.arange(setting.comparisons) < setting.real, setting.effect, 0.0)


def _t_evidence(differences: Floats, two_sided: bool) -> tuple[Floats, Bools]:
    """The t statistic; differences that are all equal speak with certainty, or not at all when they are zero."""
    n = differences.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(differences.mean(-1) / (differences.std(-1, ddof=1) / sqrt(n)), nan=0.0)
    return (np.abs(t) if two_sided else t), t > 0


def _sign_evidence(differences: Floats, two_sided: bool) -> tuple[Floats, Bools]:
    """Minus the exact p-value of the sign test; zeros are dropped."""
    from scipy.special import bdtr

    above, below = (differences > 0).sum(-1), (differences < 0).sum(-1)
    n = above + below
    # P(at least `above` of n) = P(at most `below` of n), since signs are symmetric under the null
    return -_p_value(bdtr(below.astype(float), n, 0.5), bdtr(above.astype(float), n, 0.5), two_sided), above > below


def _wilcoxon_evidence(differences: Floats, two_sided: bool) -> tuple[Floats, Bools]:
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


def _streams(families: int, size: int, seed: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a generator of its own for every so many families; the numbers depend on the seed and the place alone."""
    for place, start in enumerate(range(0, families, size)):
        sequence = np.random.SeedSequence(seed, spawn_key=(place,))
        yield np.random.default_rng(sequence), min(size, families - start)
