"""Families of paired tests rehearsed on simulated differences: who is detected, who is falsely accused. Pure.

A family is K comparisons on N instances; the differences have standard deviation 1, so an effect d is their mean. With
dependence "reference" the comparison k is X_0 − X_k with X's of variance 1/2: variance 1, correlation 1/2. Rehearsals
with the same seed use the same random numbers whatever N is, so that a search over N sees the effect of N alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ampler.core.arrays import Bools, Counts, Floats
from ampler.core.errors import InvalidDesign
from ampler.core.values import Alternative, Test
from ampler.stats.holm import Correction, corrected_levels, reject_families
from ampler.stats.paired import paired_test
from ampler.stats.power import tail_levels

Dependence = Literal["independent", "reference"]
Distribution = Callable[[np.random.Generator, tuple[int, ...]], ArrayLike]

MOST_WORK = 2 * 10**8  # random numbers, about twenty seconds; a longer rehearsal is refused rather than hanging
FEWEST_PER_BUDGET = 10  # families of the largest size allowed: one family must fit into memory
MOMENT_BUDGET = 2 * 10**6  # random numbers in a fifth of a second
DATA_BUDGET = 10**7  # random numbers in a second, with the tests done on them
BLOCK = 2**18  # statistics or data handled at once: they stay in the cache
STREAM = 96  # comparisons drawn from one random stream, so that many instances still fit into memory


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
        return paired_test(self.test).by_moments and self.distribution is None

    @property
    def work(self) -> int:
        """The count of random numbers for one family, roughly."""
        return self.comparisons * (2 if self.by_moments else self.instances)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What happened in the rehearsed families; a detection rejects a false null on the side of its effect."""

    families: int
    detections: Counts  # per real comparison: in how many families it was detected
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
    if setting.work * max(families, FEWEST_PER_BUDGET) > MOST_WORK:
        raise InvalidDesign(
            f"{families} simulated families of {setting.comparisons} comparisons on {setting.instances} instances "
            "are too many to simulate: use fewer replications, or target 'mean', which needs no simulation"
        )
    thresholds = _thresholds(setting)
    evidence = _moment_evidence if setting.by_moments else _data_evidence
    blocks = (_tally(setting, *block, thresholds) for block in evidence(setting, families, seed))
    total = next(blocks)
    for block in blocks:
        total = total + block
    return total


def families_for(setting: Setting, *, least: int) -> int:
    """Return how many families about a second of work buys (a fifth of it without data), from `least` to 20 000."""
    budget = MOMENT_BUDGET if setting.by_moments else DATA_BUDGET
    return max(least, min(20_000, budget // setting.work))


def _thresholds(setting: Setting) -> Floats:
    """What the evidence of each rank must reach: critical values of drawn t statistics, or minus the levels."""
    from scipy.special import stdtrit

    levels = corrected_levels(setting.comparisons, setting.alpha, setting.correction)
    if not setting.by_moments:
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
    """Draw the differences and run the test on them: the smaller the p-value, the stronger the evidence."""
    many = paired_test(setting.test).many
    upward: Alternative = "two-sided" if setting.alternative == "two-sided" else "greater"
    for differences in _data(setting, families, seed):
        found = many(differences, upward)
        yield -found.p_values, found.upward


def _data(setting: Setting, families: int, seed: int) -> Iterator[Floats]:
    """Draw differences in blocks of families × comparisons × instances, oriented so that the effect points upward."""
    per_stream = max(1, STREAM // setting.comparisons)
    streams_per_block = max(1, 4 * BLOCK // (per_stream * setting.work))
    streams = _streams(families, per_stream, seed)
    while block := [_noise(setting, rng, size) for rng, size in islice(streams, streams_per_block)]:
        yield _differences(setting, np.concatenate(block, axis=1))


def _differences(setting: Setting, noise: Floats) -> Floats:
    """Turn noise, one axis each for instances, families and comparisons, into differences; the instances come last."""
    if setting.dependence == "reference":
        noise = (noise[..., :1] - noise[..., 1:]) / sqrt(2)
    oriented = -noise if setting.alternative == "less" else noise
    return np.ascontiguousarray((oriented + _effects(setting)).transpose(1, 2, 0))


def _noise(setting: Setting, rng: np.random.Generator, families: int) -> Floats:
    """Draw what the user's distribution gives, or normals; instance by instance, so that more instances only add."""
    shape = (setting.instances, families, setting.comparisons + (setting.dependence == "reference"))
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


def _streams(families: int, size: int, seed: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a generator of its own for every so many families; the numbers depend on the seed and the place alone."""
    for place, start in enumerate(range(0, families, size)):
        sequence = np.random.SeedSequence(seed, spawn_key=(place,))
        yield np.random.default_rng(sequence), min(size, families - start)
