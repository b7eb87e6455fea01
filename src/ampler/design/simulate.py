"""Designs applied to simulated differences: rates of detections and of false rejections. Pure.

A family is K comparisons on N instances; the differences have standard deviation 1, so an effect d is their mean. With
dependence "reference" the comparison k is X_0 − X_k with X's of variance 1/2: variance 1, correlation 1/2. Simulations
with the same seed use the same random numbers whatever N is, so that a search over N sees the effect of N alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, lru_cache, reduce
from itertools import islice
from math import sqrt
from operator import add
from reprlib import repr as shown
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, gammaincinv, ndtr, ndtri, stdtrit

from ampler.core.arrays import Bools, Counts, Floats
from ampler.core.errors import InvalidDesign
from ampler.core.settings import Alternative, Test, choice, integer
from ampler.design.powers import MOST_INSTANCES, Terms, smallest, within_reach
from ampler.stats.holm import Correction, corrected_levels, reject_families
from ampler.stats.paired import paired_test
from ampler.stats.power import instances_for, tail_levels

if TYPE_CHECKING:
    from ampler.design.instances import Design

Dependence = Literal["independent", "reference"]
Distribution = Callable[[np.random.Generator, tuple[int, ...]], ArrayLike]

MOST_WORK = 2 * 10**8  # random numbers, about twenty seconds; longer simulations are refused
FEWEST_PER_BUDGET = 10  # families of the largest size allowed: one family must fit into memory
MOMENT_BUDGET = 2 * 10**6  # random numbers in a fifth of a second
DATA_BUDGET = 10**7  # random numbers in a second, with the tests done on them
RESAMPLING_WORK = 50  # cost of resampling one instance, in random draws
BLOCK = 2**18  # statistics or data handled at once: they stay in the cache
STREAM = 96  # comparisons drawn from one random stream, so that many instances still fit into memory
FEWEST_CHECKED = 20  # families in the largest designs
FEWEST_SEARCHED = 400  # minimum number of families, for a stable number of instances
CHECK_DRAWS = 20_000  # draws that tell whether a distribution has mean 0 and standard deviation 1


@dataclass(frozen=True, slots=True)
class SimulatedRate:
    """A probability found by simulation, with its Monte Carlo standard error and 95 % interval."""

    value: float
    error: float
    lower: float
    upper: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.lower:.3f} to {self.upper:.3f})"


@dataclass(frozen=True, slots=True)
class DesignCheck:
    """Simulated properties of a design: Holm's procedure applied to simulated families.

    The powers are None when no difference is real. `worst_power` is that of the comparison detected least often;
    `family_wise_error` is the probability of rejecting at least one true null, 0 when there is none.
    """

    instances: int
    comparisons: int
    null: int
    dependence: Dependence
    replications: int
    mean_power: SimulatedRate | None
    worst_power: SimulatedRate | None
    any_power: SimulatedRate | None
    all_power: SimulatedRate | None
    family_wise_error: SimulatedRate

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        return asdict(self)

    def __str__(self) -> str:
        real = self.comparisons - self.null
        powers = f"mean power {self.mean_power}, at least one detected {self.any_power}, " if real else ""
        return (
            f"{self.instances} instances, {real} of {self.comparisons} differences real ({self.dependence}), "
            f"{self.replications} simulated families: {powers}family-wise error {self.family_wise_error}"
        )


def simulate_design(
    design: Design,
    *,
    null: int = 0,
    dependence: Dependence = "independent",
    distribution: Distribution | None = None,
    replications: int | None = None,
    rng: int | np.random.Generator = 0,
) -> DesignCheck:
    """Run the tests of a design on simulated differences, and return their power and error rates.

    `null` of the comparisons have no difference, all others the design's effect. With `dependence="reference"` all
    comparisons share one algorithm, as in all-vs-one. `distribution(rng, size)` draws what the differences scatter by
    (for "reference": what each algorithm's results scatter by), with mean 0 and standard deviation 1; normal if not
    given. `rng` is a seed or a generator.

    >>> from ampler.design import required_instances
    >>> check = simulate_design(required_instances(comparisons=21, effect=0.5), rng=1)
    >>> 0.88 < check.mean_power.value < 0.91
    True
    """
    from ampler.design.instances import Design

    if not isinstance(design, Design):
        raise InvalidDesign(f"simulate_design needs a Design, got {shown(design)}: make one with required_instances")
    if distribution is not None and not callable(distribution):
        raise InvalidDesign(
            f"distribution must be a function of (rng, size), got {shown(distribution)}: "
            "write for example lambda rng, size: rng.exponential(size=size) - 1"
        )
    null = integer("null", null, 0, design.comparisons, "count the differences that are not real")
    dependence = choice("dependence", dependence, get_args(Dependence), "'reference' is for all-vs-one")
    scenario = scenario_of(design.terms, design.sample_size, design.sample_effect, null=null, dependence=dependence)
    scenario = replace(scenario, distribution=distribution)
    if replications is None:
        families = families_for(scenario, least=FEWEST_CHECKED)
    else:
        families = integer("replications", replications, 2, 10**9, "10000 are plenty")
    if isinstance(rng, np.random.Generator):
        seed = int(rng.integers(2**63))
    else:
        seed = integer("rng", rng, 0, 2**63, "give a seed or a numpy Generator")
    if distribution is not None:
        _check_distribution(distribution, seed)
    return _check(scenario, simulate_families(scenario, families=families, seed=seed))


def _check_distribution(distribution: Distribution, seed: int) -> None:
    """Refuse a distribution that is clearly not centred or not scaled; heavy tails need some room."""
    draws = np.asarray(distribution(np.random.default_rng(seed), (CHECK_DRAWS,)), dtype=float)
    mean, sd = float(draws.mean()), float(draws.std())
    if not (abs(mean) < 0.1 and 0.5 < sd < 2.0):
        raise InvalidDesign(
            f"distribution must have mean 0 and standard deviation 1, but {CHECK_DRAWS} draws have mean {mean:.3g} "
            f"and SD {sd:.3g}: subtract its mean and divide by its SD"
        )


def _check(scenario: Scenario, counts: FamilyCounts) -> DesignCheck:
    """Turn counts into rates."""
    n, real, p = counts.families, scenario.real > 0, counts.mean_power if scenario.real else 0.0
    # The mean share detected per family, as if from as many coins as would have its standard error: the share lies in
    # [0, 1], so its variance v is at most p(1 − p) and the number of coins n·p(1 − p)/v at least n.
    coins = max(n, p * (1 - p) / counts.error**2) if real and counts.error > 0 else n
    # All K intervals of single comparisons hold together, so the lowest bounds enclose the lowest.
    worst = int(counts.detections.min(initial=n)) / n
    return DesignCheck(
        instances=scenario.instances,
        comparisons=scenario.comparisons,
        null=scenario.comparisons - scenario.real,
        dependence=scenario.dependence,
        replications=n,
        mean_power=_rate(p, coins) if real else None,
        worst_power=_rate(worst, n, -float(ndtri(0.025 / scenario.real))) if real else None,
        any_power=_rate(counts.with_any / n, n) if real else None,
        all_power=_rate(counts.with_all / n, n) if real else None,
        family_wise_error=_rate(counts.with_false / n, n) if scenario.real < scenario.comparisons else _CERTAINLY_NOT,
    )


_CERTAINLY_NOT = SimulatedRate(0.0, 0.0, 0.0, 0.0)  # without a true null there is none to reject
_QUANTILE = 1.959963984540054  # of the normal distribution at 0.975


def _rate(p: float, n: float, quantile: float = _QUANTILE) -> SimulatedRate:
    """Wilson's interval: where the true rate may lie for p to be within the quantile of it; sound at 0 and 1 too."""
    shrunk = 1 + quantile**2 / n
    centre = (p + quantile**2 / (2 * n)) / shrunk
    half = quantile / shrunk * sqrt(p * (1 - p) / n + quantile**2 / (4 * n**2))
    return SimulatedRate(p, sqrt(p * (1 - p) / n), max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))


# ── families of tests, counted ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Scenario:
    """Simulated situation: `real` of the comparisons have the effect. No distribution means normal."""

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
        resampling = RESAMPLING_WORK if paired_test(self.test).families else 1
        return self.comparisons * (2 if self.by_moments else resampling * self.instances)


def scenario_of(
    terms: Terms, instances: int, effect: float, *, null: int = 0, dependence: Dependence = "independent"
) -> Scenario:
    """Return what is simulated for a design with these terms; `null` of its comparisons have no difference."""
    real, family = terms.family.comparisons - null, asdict(terms.family)
    return Scenario(instances=instances, real=real, effect=effect, test=terms.test, dependence=dependence, **family)


@dataclass(frozen=True, slots=True, eq=False)
class FamilyCounts:
    """Counts over the simulated families; a detection rejects a false null on the side of its effect."""

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
        return sqrt(max(0.0, self.squares / self.families - self.mean_power**2) / (self.families - 1))

    def __add__(self, other: FamilyCounts) -> FamilyCounts:
        return FamilyCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def simulate_families(scenario: Scenario, *, families: int, seed: int) -> FamilyCounts:
    """Run the tests of the family this many times, and count detections and false rejections.

    >>> counts = simulate_families(Scenario(57, comparisons=21, real=21, effect=0.5, alpha=0.05), families=2000, seed=1)
    >>> 0.88 < counts.mean_power < 0.92
    True
    """
    if scenario.work * max(families, FEWEST_PER_BUDGET) > MOST_WORK:
        raise InvalidDesign(
            f"{families} simulated families of {scenario.comparisons} comparisons on {scenario.instances} instances "
            "are too many to simulate: use fewer replications, or target 'mean', which needs no simulation"
        )
    thresholds = _thresholds(scenario)
    evidence = _moment_evidence if scenario.by_moments else _data_evidence
    return reduce(add, (_counted(scenario, *block, thresholds) for block in evidence(scenario, families, seed)))


def families_for(scenario: Scenario, *, least: int) -> int:
    """Return the number of families for about one second (a fifth without data), from `least` to 20 000."""
    budget = MOMENT_BUDGET if scenario.by_moments else DATA_BUDGET
    return max(least, min(20_000, budget // scenario.work))


def _thresholds(scenario: Scenario) -> Floats:
    """Critical evidence of each rank: critical values of simulated t statistics, or minus the levels."""
    if paired_test(scenario.test).families:  # their p-values are adjusted already
        return np.full(scenario.comparisons, -scenario.alpha)
    levels = corrected_levels(scenario.comparisons, scenario.alpha, scenario.correction)
    if not scenario.by_moments:
        return -levels
    return -np.asarray(stdtrit(scenario.instances - 1, tail_levels(levels, scenario.alternative)))


def _counted(scenario: Scenario, evidence: Floats, upward: Bools, thresholds: Floats) -> FamilyCounts:
    """Count one block of families."""
    steps_down = scenario.correction != "bonferroni"
    rejected = reject_families(evidence, thresholds) if steps_down else evidence >= thresholds[0]
    detected = (rejected & upward)[:, : scenario.real]
    shares = detected.mean(axis=1) if scenario.real else np.zeros(len(rejected))
    return FamilyCounts(
        families=len(rejected),
        detections=detected.sum(axis=0),
        squares=float(shares @ shares),
        with_any=int(detected.any(axis=1).sum()),
        with_all=int(detected.all(axis=1).sum()) if scenario.real else 0,
        with_false=int(rejected[:, scenario.real :].any(axis=1).sum()),
    )


# ── t statistics of normal differences, drawn without the data ────────────────────────────────────────────────────────


def _moment_evidence(scenario: Scenario, families: int, seed: int) -> Iterator[tuple[Floats, Bools]]:
    """Draw the t statistics from the joint distribution of means and standard deviations."""
    draw = _shared_t if scenario.dependence == "reference" else _independent_t
    shift = _effects(scenario) * sqrt(scenario.instances)
    for rng, size in _streams(families, max(1, BLOCK // scenario.comparisons), seed):
        t = draw(rng, size, scenario.comparisons, scenario.instances - 1, shift)
        yield (np.abs(t) if scenario.alternative == "two-sided" else t), t > 0


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
    return np.interp(normals, *_chi_square_table(df)) if df else np.zeros_like(normals)


@lru_cache(maxsize=8)
def _chi_square_table(df: int) -> tuple[Floats, Floats]:
    """χ² quantiles at 4097 normal ones; linear in between, off by 1e-7 of the value at 56 degrees of freedom."""
    normals = np.linspace(-9.0, 9.0, 4097)
    return normals, np.where(normals <= 0, 2 * gammaincinv(df / 2, ndtr(normals)), chdtri(df, ndtr(-normals)))


# ── the tests themselves, on simulated data ───────────────────────────────────────────────────────────────────────────


def _data_evidence(scenario: Scenario, families: int, seed: int) -> Iterator[tuple[Floats, Bools]]:
    """Draw the differences and run the test on them: the smaller the p-value, the stronger the evidence."""
    row = paired_test(scenario.test)
    many = row.families or row.many
    upward: Alternative = "two-sided" if scenario.alternative == "two-sided" else "greater"
    per_stream = max(1, STREAM // scenario.comparisons)
    streams_per_block = max(1, 4 * BLOCK // (per_stream * scenario.work))
    streams = _streams(families, per_stream, seed)
    while block := [_noise(scenario, rng, size) for rng, size in islice(streams, streams_per_block)]:
        noise = np.concatenate(block, axis=1)  # instances × families × comparisons
        if scenario.dependence == "reference":
            noise = (noise[..., :1] - noise[..., 1:]) / sqrt(2)
        oriented = -noise if scenario.alternative == "less" else noise  # so that the effect points upward
        tests = many(np.ascontiguousarray((oriented + _effects(scenario)).transpose(1, 2, 0)), upward)
        yield -tests.p_values, tests.upward


def _noise(scenario: Scenario, rng: np.random.Generator, families: int) -> Floats:
    """Draw from the user's distribution, or normals; by instance, so that more instances only add values."""
    shape = (scenario.instances, families, scenario.comparisons + (scenario.dependence == "reference"))
    if scenario.distribution is None:
        return rng.standard_normal(shape)
    noise = np.asarray(scenario.distribution(rng, shape), dtype=float)
    if noise.shape != shape or not np.isfinite(noise).all():
        raise InvalidDesign(
            f"distribution(rng, size) must return finite numbers in the shape {shape}, got the shape {noise.shape}: "
            "draw them like rng.standard_normal(size)"
        )
    return noise


def _effects(scenario: Scenario) -> Floats:
    """The mean of each comparison: the real ones come first."""
    return np.where(np.arange(scenario.comparisons) < scenario.real, scenario.effect, 0.0)


def _streams(families: int, size: int, seed: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield a separate generator for each block of families, determined by the seed and the index alone."""
    for number, start in enumerate(range(0, families, size)):
        yield np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,))), min(size, families - start)


# ── the fewest instances by simulation ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SimulationTerms:
    """Settings of the simulation of the power."""

    dependence: Dependence
    seed: int
    replications: int | None


@dataclass(frozen=True, slots=True)
class SimulatedPower:
    """Simulated mean power, with its Monte Carlo standard error and the settings of the simulation."""

    power: float
    error: float
    dependence: Dependence
    replications: int
    seed: int


def fewest_simulated(
    terms: Terms, simulation: SimulationTerms, guess: int, effect: float, power: float
) -> tuple[int, SimulatedPower]:
    """Return the fewest instances by simulations that all use the same random numbers, and the power they gave."""
    scenario = scenario_of(terms, guess, effect, dependence=simulation.dependence)
    most = simulation.replications or families_for(scenario, least=FEWEST_SEARCHED)
    least, needed = instances_for(2, terms.test), guess

    @cache
    def simulated(instances: int, families: int) -> SimulatedPower:
        counts = simulate_families(replace(scenario, instances=instances), families=families, seed=simulation.seed)
        return SimulatedPower(counts.mean_power, counts.error, simulation.dependence, families, simulation.seed)

    for families in (max(2, most // 16), most):  # a cheap search first, as a start for the expensive one

        def power_at(n: int, families: int = families) -> float:
            return simulated(n, families).power

        found = smallest(power_at, power, guess=needed, least=least, most=MOST_INSTANCES)
        first = within_reach(found, effect, power)
        earlier = range(max(least, first - paired_test(terms.test).look_back), first)  # power is not always monotone
        needed = next((n for n in earlier if power_at(n) >= power), first)
    return needed, simulated(needed, most)
