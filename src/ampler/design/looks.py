"""Looks: how many instances it takes at most when results are looked at on the way, and what the looks save. Pure.

The powers are those of the procedure that `stats.sequential` carries out: each comparison at the level of its rank,
Student's t at every look, and the stop for "no relevant difference". They are simulated, with a seed, beside the plain
test on all instances, whose power is known: only the small difference between the two is left to chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import ceil, sqrt

import numpy as np

from ampler.core.arrays import Bools, Counts, Floats
from ampler.core.checks import integer
from ampler.core.errors import InvalidDesign
from ampler.core.wording import listed
from ampler.design.powers import Terms, divided_powers, rank_sum, target_divisor
from ampler.design.solve import MOST_INSTANCES, fewest_instances, smallest
from ampler.stats.power import instances_for, t_instances
from ampler.stats.sequential import EquivalenceStop, Schedule, named_spending
from ampler.stats.sequential.boundaries import Sides, checked_fractions, critical_values, equivalence_levels
from ampler.stats.sequential.evidence import equivalence_p_values

FIRST = 0.4  # of the instances: an earlier look finds little and suffers most from skewness
MOST_LOOKS = 20
FEWEST_NEW = 3  # instances between two looks
PATHS = 40_000  # the power is then good to about 0.0005
LEVELS = 12  # at which limits are computed; between them they are interpolated
FAMILIES, FEWEST_FAMILIES = 2000, 200
WORK = 6_000_000  # random numbers for one expectation
SEED = 1985


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a study with looks takes on average when a share of the differences is there."""

    there: str  # "nothing", "half" or "all"
    instances: float
    runs: float  # over those of the design without looks


@dataclass(frozen=True, slots=True)
class Looks:
    """The looks of a design: when they come, what they find, and what they cost and save."""

    instances: tuple[int, ...]
    spending: str
    without: int  # instances that the design takes without looks
    power: float  # reached: what the target names
    found: tuple[float, ...]  # mean power up to each look
    expected: tuple[Expectation, ...]  # none for families too large to simulate at once

    @property
    def shares(self) -> tuple[float, ...]:
        """The looks as shares of all instances."""
        return tuple(count / self.instances[-1] for count in self.instances)


def checked_shares(looks: int | Sequence[float]) -> tuple[float, ...]:
    """Return when to look, as rising shares of the instances: so many looks, or the shares themselves.

    >>> checked_shares(4), checked_shares(2), checked_shares([0.5, 1])
    ((0.4, 0.6, 0.8, 1.0), (0.5, 1.0), (0.5, 1.0))
    """
    if isinstance(looks, Sequence | np.ndarray) and not isinstance(looks, str | bytes):
        return checked_fractions([_share(each) for each in looks])
    count = integer("looks", looks, 1, MOST_LOOKS, "four looks are usual")
    if count <= 3:
        return tuple(look / count for look in range(1, count + 1))
    return tuple(round(FIRST + (1 - FIRST) * look / (count - 1), 12) for look in range(count))


def instances_at(shares: Sequence[float], instances: int) -> tuple[int, ...]:
    """Return how many instances each look has; InvalidDesign if some look has too few new ones.

    >>> instances_at((0.4, 0.6, 0.8, 1.0), 58)
    (24, 35, 47, 58)
    """
    counts = tuple(ceil(share * instances - 1e-9) for share in shares)
    if min(np.diff(counts, prepend=0)) < FEWEST_NEW:
        raise InvalidDesign(
            f"each look must have {FEWEST_NEW} new instances or more, got looks after"
            f" {listed(map(str, counts), MOST_LOOKS)} instances: use fewer looks, or more than {instances} instances"
        )
    return counts


def fewest_with_looks(
    terms: Terms,
    shares: Sequence[float],
    effect: float,
    power: float,
    *,
    spending: str = "OF",
    pairs: Sequence[tuple[int, int]] | None = None,
) -> Looks:
    """Return the looks of the smallest design whose power reaches the wanted one.

    `pairs` are the algorithms compared, for what the looks save; all with one if not said.
    """
    check_terms(terms)
    plain = t_instances(fewest_instances(terms, effect, power), terms.test)
    least = _fewest_for(shares)
    needed = smallest(
        lambda n: looked_power(terms, instances_at(shares, n), effect, spending).power,
        power,
        guess=max(plain, least),
        least=least,
        most=MOST_INSTANCES,
    )
    if needed is None:
        raise InvalidDesign(f"no number of instances reaches power {power!r} for effect {effect!r}: ask for less")
    return looks_of(terms, shares, needed, effect, plain=plain, spending=spending, pairs=pairs)


def looks_of(
    terms: Terms,
    shares: Sequence[float],
    instances: int,
    effect: float,
    *,
    plain: int,
    spending: str = "OF",
    pairs: Sequence[tuple[int, int]] | None = None,
    saving: bool = True,
) -> Looks:
    """Return the looks of a design with so many instances, as t-tests count them, and what they save if asked for."""
    counts = instances_at(shares, instances)
    reached = looked_power(terms, counts, effect, spending)
    who = pairs or tuple((0, k) for k in range(1, terms.family.comparisons + 1))
    return Looks(
        instances=tuple(instances_for(n, terms.test) for n in counts),
        spending=spending,
        without=instances_for(plain, terms.test),
        power=reached.power,
        found=reached.found,
        expected=expectations(terms, counts, effect, spending, who, plain) if saving else (),
    )


def saving_of(looks: Looks, terms: Terms, effect: float, pairs: Sequence[tuple[int, int]]) -> Looks:
    """Return the same looks with what they save when these algorithms are compared."""
    counts = tuple(t_instances(n, terms.test) for n in looks.instances)
    plain = t_instances(looks.without, terms.test)
    return replace(looks, expected=expectations(terms, counts, effect, looks.spending, pairs, plain))


def check_terms(terms: Terms) -> None:
    """Raise InvalidDesign for what has no looks."""
    if terms.test not in ("t", "wilcoxon", "sign"):
        raise InvalidDesign(f"looks are for the tests t, wilcoxon and sign, got {terms.test!r}: choose one of them")
    if terms.family.correction != "holm":
        raise InvalidDesign(f"looks go with Holm's correction, got {terms.family.correction!r}: leave it out")
    if terms.target == "simulated":
        raise InvalidDesign("looks have no target 'simulated', as their powers are simulated anyway: use 'mean'")


# ── powers ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class LookedPower:
    """The target's power, and the mean power up to each look."""

    power: float
    found: tuple[float, ...]


@lru_cache(maxsize=256)
def looked_power(terms: Terms, counts: tuple[int, ...], effect: float, spending: str) -> LookedPower:
    """Return the powers of t-tests that are looked at after so many instances, if every difference has this size."""
    family = terms.family
    sides: Sides = 2 if family.alternative == "two-sided" else 1
    divisors, weights = rank_sum(family.comparisons)
    wanted = divisors if terms.target == "mean" else np.array([target_divisor(terms.target, family.comparisons)])
    limits = _Limits.of(counts, family.alpha, family.comparisons, spending, effect, sides)
    paths = t_paths(counts, effect, PATHS, np.random.default_rng(SEED))
    crossed = np.array([_found(paths, limits.at(divisor), limits) for divisor in limits.divisors])  # divisors × looks
    last = np.array([(_sided(paths[:, -1], sides) >= limits.plain(divisor)).mean() for divisor in limits.divisors])
    exact = divided_powers(family, counts[-1], effect, limits.divisors)
    corrected = np.clip(crossed + (exact - last)[:, None] * (crossed / np.maximum(crossed[:, -1:], 1e-12)), 0.0, 1.0)

    def power_at(look: int, at: Floats) -> Floats:
        return np.asarray(np.interp(np.log(at), np.log(limits.divisors), corrected[:, look]))

    found = tuple(min(1.0, float(weights @ power_at(look, divisors))) for look in range(len(counts)))
    reached = found[-1] if terms.target == "mean" else float(power_at(-1, wanted)[0])
    return LookedPower(reached, found)


def t_paths(counts: Sequence[int], effect: float, paths: int, rng: np.random.Generator) -> Floats:
    """Return simulated t statistics of normal differences, paths in rows and looks in columns."""
    sums, squares = np.zeros(paths), np.zeros(paths)
    t = np.empty((paths, len(counts)))
    for look, (count, new) in enumerate(zip(counts, np.diff(counts, prepend=0).tolist(), strict=True)):
        means = rng.normal(effect, 1 / sqrt(new), paths)
        within = rng.chisquare(new - 1, paths) if new > 1 else 0.0
        sums, squares = sums + new * means, squares + new * means**2 + within
        spread = np.sqrt((squares - sums**2 / count) / (count - 1))
        t[:, look] = sums / count / (spread / sqrt(count))
    return t


def _found(paths: Floats, limits: Floats, bounds: _Limits) -> Floats:
    """The share of paths found different up to each look; one that is found equivalent before is not found again."""
    passed = np.maximum.accumulate(_sided(paths, bounds.sides) >= limits, axis=1)
    same = np.maximum.accumulate((np.abs(paths) <= bounds.equivalent) & ~passed, axis=1)
    first = np.argmax(np.concatenate([same, np.ones((len(same), 1), np.bool_)], axis=1), axis=1)  # look of that stop
    looks = np.arange(paths.shape[1])
    kept = passed[np.arange(len(passed)), np.minimum(first, looks[-1])]
    return np.asarray(np.where(looks <= first[:, None], passed, kept[:, None]).mean(axis=0))


def _sided(t: Floats, sides: Sides) -> Floats:
    return np.abs(t) if sides == 2 else t


@dataclass(frozen=True, slots=True, eq=False)
class _Limits:
    """What |t| must reach at each look to be different, by the divisor of alpha, and stay below to be equivalent."""

    divisors: Floats
    different: Floats  # divisors × looks
    equivalent: Floats  # looks
    counts: tuple[int, ...]
    alpha: float
    sides: Sides

    @staticmethod
    def of(
        counts: tuple[int, ...], alpha: float, comparisons: int, spending: str, effect: float, sides: Sides
    ) -> _Limits:
        """Compute the limits at some divisors from 1 to the number of comparisons."""
        divisors = np.unique(np.geomspace(1, comparisons, min(LEVELS, comparisons)).round())
        schedule = Schedule(named_spending(spending), tuple(n / counts[-1] for n in counts), counts, sides)
        different = [critical_values(schedule.nominal_levels(alpha / m), counts, sides=sides) for m in divisors]
        return _Limits(
            divisors, np.array(different), equivalence_limits(counts, effect, EquivalenceStop()), counts, alpha, sides
        )

    def at(self, divisor: float) -> Floats:
        """Return the limits of the looks at alpha over this divisor."""
        x, known = np.log(divisor), np.log(self.divisors)
        return np.array([np.interp(x, known, column) for column in self.different.T])

    def plain(self, divisor: float) -> float:
        """Return the limit of the plain test on all instances."""
        return critical_values([self.alpha / divisor], [self.counts[-1]], sides=self.sides)[0]


@lru_cache(maxsize=256)
def equivalence_limits(counts: tuple[int, ...], effect: float, stop: EquivalenceStop) -> Floats:
    """Return how large |t| may be at each look for "no relevant difference"; below 0 where nothing is small enough."""
    from scipy.optimize import brentq

    levels = equivalence_levels(stop.spending, stop.alpha, tuple(n / counts[-1] for n in counts))
    limits = []
    for count, level in zip(counts, levels, strict=True):

        def excess(t: float, count: int = count, level: float = level) -> float:
            return float(equivalence_p_values(np.array([t]), np.array([count]), effect)[0]) - level

        limits.append(-1.0 if excess(0.0) > 0 else float(brentq(excess, 0.0, effect * sqrt(count) + 40)))
    return np.array(limits)


# ── what the looks save ───────────────────────────────────────────────────────────────────────────────────────────────


def expectations(
    terms: Terms, counts: tuple[int, ...], effect: float, spending: str, pairs: Sequence[tuple[int, int]], plain: int
) -> tuple[Expectation, ...]:
    """Return what is expected when nothing, half or all of the differences are there, by simulated whole families."""
    return _expectations(terms, counts, effect, spending, tuple(pairs), plain)


@lru_cache(maxsize=64)
def _expectations(
    terms: Terms,
    counts: tuple[int, ...],
    effect: float,
    spending: str,
    pairs: tuple[tuple[int, int], ...],
    plain: int,
) -> tuple[Expectation, ...]:
    algorithms = 1 + max(max(pair) for pair in pairs)
    families = min(FAMILIES, WORK // (counts[-1] * algorithms + len(counts) * len(pairs)))
    if families < FEWEST_FAMILIES:
        return ()
    return tuple(
        _expected(terms, counts, shifts * effect, effect, spending, pairs, plain, families, there)
        for there, shifts in _scenarios(algorithms, all_with_all=len(pairs) > algorithms - 1).items()
    )


def _scenarios(algorithms: int, *, all_with_all: bool) -> dict[str, Floats]:
    """How far each algorithm is from the first, in units of the effect."""
    places = np.arange(algorithms, dtype=float)
    if all_with_all:  # two groups, and a ladder
        return {"nothing": 0 * places, "half": _indicated(places >= algorithms / 2), "all": places}
    half = {"half": _indicated(places > (algorithms - 1) // 2)} if algorithms > 2 else {}
    return {"nothing": 0 * places, **half, "all": _indicated(places > 0)}


def _indicated(there: Bools) -> Floats:
    return there.astype(np.float64)


def _expected(
    terms: Terms,
    counts: tuple[int, ...],
    shifts: Floats,
    effect: float,
    spending: str,
    pairs: Sequence[tuple[int, int]],
    plain: int,
    families: int,
    there: str,
) -> Expectation:
    sides: Sides = 2 if terms.family.alternative == "two-sided" else 1
    limits = _Limits.of(counts, terms.family.alpha, len(pairs), spending, effect, sides)
    thresholds = np.array([limits.at(m) for m in range(1, len(pairs) + 1)])  # comparisons × looks
    t = family_paths(counts, shifts, pairs, families, np.random.default_rng(SEED))
    ends = ended_at(_sided(t, sides), np.abs(t), thresholds, limits.equivalent)
    runs = cells_used(ends, pairs, counts)
    ratio = instances_for(1000, terms.test) / 1000
    return Expectation(
        there,
        float(np.array(counts)[ends.max(axis=1)].mean()) * ratio,
        float(runs.mean()) / (len(shifts) * plain),
    )


def family_paths(
    counts: Sequence[int], shifts: Floats, pairs: Sequence[tuple[int, int]], families: int, rng: np.random.Generator
) -> Floats:
    """Return t statistics (families × looks × comparisons) of algorithms that vary alike and independently."""
    result = np.empty((families, len(counts), len(pairs)))
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    chunk = max(1, 500_000 // (counts[-1] * len(shifts)))
    for start in range(0, families, chunk):
        size = min(chunk, families - start)
        values = rng.normal(size=(size, counts[-1], len(shifts))) / sqrt(2) + shifts
        for look, count in enumerate(counts):
            differences = values[:, :count, second] - values[:, :count, first]
            result[start : start + size, look] = differences.mean(axis=1) / (
                differences.std(axis=1, ddof=1) / sqrt(count)
            )
    return result


def ended_at(t: Floats, size: Floats, thresholds: Floats, equivalent: Floats) -> Counts:
    """Return the look (from 0) at which each comparison ends, in every family: families × comparisons.

    The same steps as `stats.sequential.decide`, for many families at once and without missing values.
    """
    families, looks, comparisons = t.shape
    ends = np.full((families, comparisons), looks - 1, dtype=np.int64)
    going = np.ones((families, comparisons), dtype=np.bool_)
    different = np.zeros(families, dtype=np.int64)
    reach = np.zeros((families, comparisons), dtype=np.int64)
    for look in range(looks):
        now = (t[:, look, :, None] >= thresholds[:, look]).sum(axis=-1)
        reach = np.where(going, np.maximum(reach, now), reach)
        stopped = _rejected(going, reach, different, comparisons)
        different += stopped.sum(axis=1)
        stopped |= going & (size[:, look] <= equivalent[look])
        ends[stopped] = look
        going &= ~stopped
    return ends


def _rejected(going: Bools, reach: Counts, different: Counts, comparisons: int) -> Bools:
    """Reject as Holm does until nothing changes."""
    rejected = np.zeros_like(going)
    while True:
        rest = comparisons - different - rejected.sum(axis=1)
        more = going & ~rejected & (reach >= rest[:, None])
        if not more.any():
            return rejected
        rejected |= more


def cells_used(ends: Counts, pairs: Sequence[tuple[int, int]], counts: Sequence[int]) -> Floats:
    """Return how many instances all algorithms together are run on: each until its last comparison has ended."""
    algorithms = 1 + max(max(pair) for pair in pairs)
    at = np.array(counts)
    last = np.zeros((len(ends), algorithms), dtype=np.int64)
    for k, pair in enumerate(pairs):
        for algorithm in pair:
            last[:, algorithm] = np.maximum(last[:, algorithm], ends[:, k])
    return np.asarray(at[last].sum(axis=1), dtype=float)


def all_pairs(algorithms: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs when all algorithms are compared with all."""
    return tuple(combinations(range(algorithms), 2))


def _fewest_for(shares: Sequence[float]) -> int:
    """The fewest instances with which every look has enough new ones."""
    n = FEWEST_NEW
    while min(np.diff([ceil(share * n - 1e-9) for share in shares], prepend=0)) < FEWEST_NEW:
        n += 1
    return n


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InvalidDesign(f"the shares of looks must be numbers, got {value!r}: for example 0.4, 0.6, 0.8, 1")
    return float(value)
