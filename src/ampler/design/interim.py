"""Interim analyses (looks): their maximum number of instances, and their savings. Pure.

The powers are those of the procedure that `stats.sequential` carries out: each comparison at the level of its rank,
Student's t at every look, and the stop for "no relevant difference". They are simulated, with a seed, next to the plain
test on all instances, whose power is known: only the small difference between the two is left to chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import ceil, sqrt

import numpy as np

from ampler.core.arrays import Counts, Floats
from ampler.core.errors import InvalidDesign
from ampler.core.settings import integer
from ampler.core.text import listed
from ampler.design import powers
from ampler.design.powers import MOST_INSTANCES, Terms
from ampler.stats.paired import SINGLE_TESTS, paired_test
from ampler.stats.power import instances_for, t_instances
from ampler.stats.sequential import boundaries
from ampler.stats.sequential.boundaries import Schedule, Sides
from ampler.stats.sequential.decisions import EquivalenceStop, equivalence_p_values

FIRST = 0.4  # of the instances: an earlier look finds little and suffers most from skewness
MOST_LOOKS = 20
FEWEST_NEW = 3  # instances between two checks
PATHS = 40_000  # the power is then good to about 0.0005
LEVELS = 12  # divisors with computed limits; the others are interpolated
FAMILIES, FEWEST_FAMILIES = 2000, 200
WORK = 6_000_000  # random numbers for one expectation
SEED = 1985
SPENDING = "OF"


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected size of a study with interim analyses if a share of the differences is real."""

    there: str  # "nothing", "half" or "all"
    instances: float
    runs: float  # over those of the design without looks


@dataclass(frozen=True, slots=True)
class InterimDesign:
    """The interim analyses of a design: schedule, power, cost and savings."""

    instances: tuple[int, ...]
    spending: str
    without: int  # instances of the design without interim analyses
    power: float  # power reached, as the target selects it
    found: tuple[float, ...]  # mean power up to each look
    expected: tuple[Expectation, ...]  # none for families too large to simulate at once


def checked_shares(looks: int | Sequence[float]) -> tuple[float, ...]:
    """Return the schedule as rising shares of the instances, from a number of analyses or the shares.

    >>> checked_shares(4), checked_shares(2), checked_shares([0.5, 1])
    ((0.4, 0.6, 0.8, 1.0), (0.5, 1.0), (0.5, 1.0))
    """
    if isinstance(looks, Sequence | np.ndarray) and not isinstance(looks, str | bytes):
        for share in looks:
            if isinstance(share, bool) or not isinstance(share, int | float | np.number):
                raise InvalidDesign(
                    f"the shares of interim analyses must be numbers, got {share!r}: for example 0.4, 0.6, 0.8, 1"
                )
        return boundaries.checked_fractions([float(share) for share in looks])
    count = integer("looks", looks, 1, MOST_LOOKS, "four are usual")
    if count <= 3:
        return tuple(look / count for look in range(1, count + 1))
    return tuple(round(FIRST + (1 - FIRST) * look / (count - 1), 12) for look in range(count))


def instances_at(shares: Sequence[float], instances: int) -> tuple[int, ...]:
    """Return the instances of each interim analysis; InvalidDesign if one has too few new instances.

    >>> instances_at((0.4, 0.6, 0.8, 1.0), 58)
    (24, 35, 47, 58)
    """
    counts = _counts(shares, instances)
    if min(np.diff(counts, prepend=0)) < FEWEST_NEW:
        raise InvalidDesign(
            f"each interim analysis must have at least {FEWEST_NEW} new instances, got them after"
            f" {listed(map(str, counts), MOST_LOOKS)} instances: use fewer, or more than {instances} instances"
        )
    return counts


def _counts(shares: Sequence[float], instances: int) -> tuple[int, ...]:
    return tuple(ceil(share * instances - 1e-9) for share in shares)


def fewest_with_looks(terms: Terms, shares: Sequence[float], effect: float, power: float) -> InterimDesign:
    """Return the interim analyses of the smallest design with the target power."""
    check_terms(terms)
    without = t_instances(powers.fewest_instances(terms, effect, power), terms.test)
    least = FEWEST_NEW
    while min(np.diff(_counts(shares, least), prepend=0)) < FEWEST_NEW:
        least += 1
    needed = powers.smallest(
        lambda n: interim_power(terms, instances_at(shares, n), effect)[0],
        power,
        guess=max(without, least),
        least=least,
        most=MOST_INSTANCES,
    )
    if needed is None:
        raise InvalidDesign(f"no number of instances reaches power {power!r} for effect {effect!r}: ask for less")
    return interim_design(terms, shares, needed, effect, without=without)


def interim_design(
    terms: Terms,
    shares: Sequence[float],
    instances: int,
    effect: float,
    *,
    without: int,
    saving: bool = True,
) -> InterimDesign:
    """Return the interim analyses of a design with this many t-test instances; savings on request.

    Savings are those of comparisons with a shared reference; `with_saving` gives others.
    """
    counts = instances_at(shares, instances)
    power, by_look = interim_power(terms, counts, effect)
    pairs = tuple((0, k) for k in range(1, terms.family.comparisons + 1))
    return InterimDesign(
        instances=tuple(instances_for(n, terms.test) for n in counts),
        spending=SPENDING,
        without=instances_for(without, terms.test),
        power=power,
        found=by_look,
        expected=expectations(terms, counts, effect, pairs, without) if saving else (),
    )


def with_saving(plan: InterimDesign, terms: Terms, effect: float, pairs: Sequence[tuple[int, int]]) -> InterimDesign:
    """Return the same interim analyses with the savings for these algorithms."""
    *counts, without = (t_instances(n, terms.test) for n in (*plan.instances, plan.without))
    return replace(plan, expected=expectations(terms, tuple(counts), effect, tuple(pairs), without))


def check_terms(terms: Terms) -> None:
    """Raise InvalidDesign for designs without interim analyses."""
    if paired_test(terms.test).family is not None:
        raise InvalidDesign(
            f"interim analyses are for the tests {SINGLE_TESTS}, got {terms.test!r}: choose one of these"
        )
    if terms.family.correction != "holm":
        raise InvalidDesign(f"interim analyses need Holm's correction, got {terms.family.correction!r}: omit it")
    if terms.target == "simulated":
        raise InvalidDesign(
            "interim analyses have no target 'simulated', as their powers are always simulated: use 'mean'"
        )


# ── powers ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=256)
def interim_power(terms: Terms, counts: tuple[int, ...], effect: float) -> tuple[float, tuple[float, ...]]:
    """Return the target's power, and the mean power up to each look, if every difference has this size."""
    family, sides = terms.family, terms.family.sides
    divisors, weights = powers.rank_sum(family.comparisons)
    nodes, limits = _limits(terms, counts, family.comparisons)
    equivalent = equivalence_limits(counts, effect, EquivalenceStop())
    paths = t_paths(counts, effect, PATHS, np.random.default_rng(SEED))
    crossed = np.array([_crossed(paths, row, equivalent, sides) for row in limits])  # divisors × looks
    single = [boundaries.critical_values([family.alpha / divisor], [counts[-1]], sides=sides)[0] for divisor in nodes]
    last = np.array([(_sided(paths[:, -1], sides) >= limit).mean() for limit in single])
    exact = powers.divided_powers(family, counts[-1], effect, nodes)
    corrected = np.clip(crossed + (exact - last)[:, None] * (crossed / np.maximum(crossed[:, -1:], 1e-12)), 0.0, 1.0)

    def power_at(look: int, at: Floats) -> Floats:
        return np.asarray(np.interp(np.log(at), np.log(nodes), corrected[:, look]))

    by_look = tuple(min(1.0, float(weights @ power_at(look, divisors))) for look in range(len(counts)))
    if terms.target == "mean":
        return by_look[-1], by_look
    divisor = np.array([powers.target_divisor(terms.target, family.comparisons)])
    return float(power_at(-1, divisor)[0]), by_look


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


def _crossed(paths: Floats, limits: Floats, equivalent: Floats, sides: Sides) -> Floats:
    """The share of paths significant up to each analysis; paths that stopped for equivalence do not count."""
    passed = np.maximum.accumulate(_sided(paths, sides) >= limits, axis=1)
    same = np.maximum.accumulate((np.abs(paths) <= equivalent) & ~passed, axis=1)
    first = np.argmax(np.concatenate([same, np.ones((len(same), 1), np.bool_)], axis=1), axis=1)  # look of that stop
    looks = np.arange(paths.shape[1])
    by_then = passed[np.arange(len(passed)), np.minimum(first, looks[-1])]
    return np.asarray(np.where(looks <= first[:, None], passed, by_then[:, None]).mean(axis=0))


def _sided(t: Floats, sides: Sides) -> Floats:
    return np.abs(t) if sides == 2 else t


def _limits(terms: Terms, counts: tuple[int, ...], comparisons: int) -> tuple[Floats, Floats]:
    """Critical |t| at each analysis, for some divisors of alpha from 1 to the number of comparisons."""
    divisors = np.unique(np.geomspace(1, comparisons, min(LEVELS, comparisons)).round())
    sides = terms.family.sides
    schedule = Schedule(boundaries.named_spending(SPENDING), tuple(n / counts[-1] for n in counts), counts, sides)
    levels = (schedule.nominal_levels(terms.family.alpha / divisor) for divisor in divisors)
    return divisors, np.array([boundaries.critical_values(by_look, counts, sides=sides) for by_look in levels])


@lru_cache(maxsize=256)
def equivalence_limits(counts: tuple[int, ...], effect: float, stop: EquivalenceStop) -> Floats:
    """Return the largest |t| for equivalence at each analysis; negative where equivalence is impossible."""
    from scipy.optimize import brentq

    levels = boundaries.equivalence_levels(stop.spending, stop.alpha, tuple(n / counts[-1] for n in counts))
    limits = []
    for count, level in zip(counts, levels, strict=True):

        def excess(t: float, count: int = count, level: float = level) -> float:
            return float(equivalence_p_values(np.array([t]), np.array([count]), effect)[0]) - level

        limits.append(-1.0 if excess(0.0) > 0 else float(brentq(excess, 0.0, effect * sqrt(count) + 40)))
    return np.array(limits)


# ── savings of the interim analyses ───────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=64)
def expectations(
    terms: Terms, counts: tuple[int, ...], effect: float, pairs: tuple[tuple[int, int], ...], without: int
) -> tuple[Expectation, ...]:
    """Return the expected sizes with no, half or all differences real, by simulated families."""
    algorithms = 1 + max(max(pair) for pair in pairs)
    families = min(FAMILIES, WORK // (counts[-1] * algorithms + len(counts) * len(pairs)))
    if families < FEWEST_FAMILIES:
        return ()
    divisors, limits = _limits(terms, counts, len(pairs))
    ranks = np.log(np.arange(1, len(pairs) + 1))
    thresholds = np.array([np.interp(ranks, np.log(divisors), by_look) for by_look in limits.T]).T
    equivalent = equivalence_limits(counts, effect, EquivalenceStop())

    def expected(there: str, shifts: Floats) -> Expectation:
        t = family_paths(counts, shifts * effect, pairs, families, np.random.default_rng(SEED))
        ends = ended_at(_sided(t, terms.family.sides), np.abs(t), thresholds, equivalent)
        instances = np.array(counts)[ends.max(axis=1)].mean() * instances_for(1000, terms.test) / 1000
        runs = float(cells_used(ends, pairs, counts).mean()) / (algorithms * without)
        return Expectation(there, float(instances), runs)

    # how far each algorithm is from the first, in units of the effect
    steps: Floats = np.arange(algorithms, dtype=np.float64)
    shifts: dict[str, Floats] = {
        "nothing": 0 * steps,
        "half": np.where(steps > (algorithms - 1) // 2, 1.0, 0.0),
        "all": np.minimum(steps, 1.0),
    }
    if len(pairs) > algorithms - 1:  # all pairs: two groups, and a ladder
        shifts |= {"half": np.where(steps >= algorithms / 2, 1.0, 0.0), "all": steps}
    elif algorithms == 2:
        del shifts["half"]
    return tuple(expected(there, distances) for there, distances in shifts.items())


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
            errors = differences.std(axis=1, ddof=1) / sqrt(count)
            result[start : start + size, look] = differences.mean(axis=1) / errors
    return result


def ended_at(t: Floats, size: Floats, thresholds: Floats, equivalent: Floats) -> Counts:
    """Return the analysis (from 0) at which each comparison stops: families × comparisons.

    The same steps as `stats.sequential.decide`, for many families at once and without missing values.
    """
    families, looks, comparisons = t.shape
    ends = np.full((families, comparisons), looks - 1, dtype=np.int64)
    continuing = np.ones((families, comparisons), dtype=np.bool_)
    different = np.zeros(families, dtype=np.int64)
    reach = np.zeros((families, comparisons), dtype=np.int64)
    for look in range(looks):
        now = (t[:, look, :, None] >= thresholds[:, look]).sum(axis=-1)
        reach = np.where(continuing, np.maximum(reach, now), reach)
        stopped = np.zeros_like(continuing)
        while True:  # reject as Holm does until nothing changes
            rest = comparisons - different - stopped.sum(axis=1)
            more = continuing & ~stopped & (reach >= rest[:, None])
            if not more.any():
                break
            stopped |= more
        different += stopped.sum(axis=1)
        stopped |= continuing & (size[:, look] <= equivalent[look])
        ends[stopped] = look
        continuing &= ~stopped
    return ends


def cells_used(ends: Counts, pairs: Sequence[tuple[int, int]], counts: Sequence[int]) -> Floats:
    """Return the total instances of all algorithms: each runs until its last comparison stops."""
    algorithms = {algorithm for pair in pairs for algorithm in pair}
    own = ([k for k, pair in enumerate(pairs) if algorithm in pair] for algorithm in algorithms)
    return np.asarray(np.sum([np.array(counts)[ends[:, places].max(axis=1)] for places in own], axis=0), dtype=float)


def all_pairs(algorithms: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs when all algorithms are compared with all."""
    return tuple(combinations(range(algorithms), 2))
