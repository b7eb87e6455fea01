"""Plans that were enlarged after results were there: what testing each time does to the level. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ampler.core.contracts import Store
from ampler.core.spoken import parameter
from ampler.core.values import Caution, PlanRecord
from ampler.core.wording import count, digits
from ampler.study.decided import TESTED

FEWEST = 3  # instances with results that somebody may have tested
PATHS = 20_000  # the level is then known to about 0.002
SEED = 2026
LIKELY_TESTS = 50  # more of them say nothing new


def sizes_tested(plans: Sequence[PlanRecord], begun: Sequence[Collection[str]]) -> tuple[int, ...]:
    """Return how many instances had results each time before a plan was enlarged, and how many the last one has.

    `begun` are the instances with runs that were made under each plan. Empty when no plan grew after results.
    """
    sizes: list[int] = []
    seen: set[str] = set()
    for before, now, names in zip(plans, plans[1:], begun, strict=False):
        seen |= set(names)
        there = len(seen & set(before.instances))
        grew = set(now.instances) - set(before.instances) and len(now.instances) > len(before.instances)
        if grew and there >= FEWEST and before.study_rule.get("rule") not in TESTED:
            sizes.append(there)
    last = len(plans[-1].instances)
    rising = sorted({size for size in sizes if size < last})
    return (*rising, last) if rising else ()


def repeated_level(sizes: Sequence[int], alpha: float, comparisons: int, *, one_sided: bool = False) -> float:
    """Return how often a study claims something where nothing differs, if it is tested at each of these sizes.

    By simulated t-tests of independent comparisons, each at alpha over their number: for comparisons that depend on
    each other, as those with one reference do, it is an upper bound, nearly reached.

    >>> repeated_level((10,), 0.05, 1), round(repeated_level((10, 20, 30), 0.05, 1), 2)
    (0.05, 0.11)
    """
    if len(sizes) == 1:
        return alpha
    return _level(tuple(sizes[-LIKELY_TESTS:]), alpha, comparisons, one_sided)


@lru_cache(maxsize=64)
def _level(sizes: tuple[int, ...], alpha: float, comparisons: int, one_sided: bool) -> float:
    from ampler.design.looks import t_paths
    from ampler.stats.sequential import critical_values

    limits = critical_values([alpha / comparisons] * len(sizes), sizes, sides=1 if one_sided else 2)
    t = t_paths(sizes, 0.0, PATHS, np.random.default_rng(SEED))
    crossed = ((t if one_sided else np.abs(t)) >= limits).any(axis=1)
    return float(1 - (1 - crossed.mean()) ** comparisons)


def growth_warning(store: Store, plans: Sequence[PlanRecord]) -> tuple[Caution, ...]:
    """Return the warning of a study whose plan was enlarged after results were there; none for all others."""
    if len(plans) < 2 or plans[-1].study_rule.get("rule") in TESTED or not hasattr(store, "begun_under"):
        return ()
    begun: Mapping[int, Collection[str]] = store.begun_under()
    sizes = sizes_tested(plans, [begun.get(place, ()) for place in range(len(plans))])
    if not sizes:
        return ()
    question, others = plans[-1].question, len(plans[-1].algorithms) - 1
    comparisons = others if question.reference is not None else others * (others + 1) // 2
    level = repeated_level(sizes, question.alpha, comparisons, one_sided=question.alternative != "two-sided")
    return (
        Caution(
            "growth",
            f"The study was enlarged {count(len(sizes) - 1, 'time')} after results were there ({len(sizes)} plans, from"
            f" {sizes[0]} to {sizes[-1]} instances). If the results were tested each time, up to"
            f" {digits(round(100 * level, 1))} % of such studies claim a difference where there is none, instead of"
            f" {digits(100 * question.alpha)} %. To test on the way, plan interim analyses before the first run"
            f" ({parameter('looks', 4)}).",
        ),
    )
