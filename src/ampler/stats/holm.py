"""Holm's step-down procedure: levels, adjusted p-values, and what is rejected; and partial conjunctions. Pure.

Partial conjunction: the hypothesis "fewer than u of n differences are there" is tested by Fisher's combination of the
n − u + 1 largest p-values (Benjamini and Heller 2008), which are independent, as runs on different instances are. The
bound is the largest u up to which all of these hypotheses are rejected, so its confidence is 1 − α (Dror et al. 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ampler.core.arrays import Bools, Codes, Floats

T = TypeVar("T", bound=np.generic)
Correction = Literal["holm", "bonferroni"]


@dataclass(frozen=True, slots=True, eq=False)
class StepDown:
    """Holm's verdict on a family of tests; every field is in the order in which the p-values came."""

    ranks: Codes
    levels: Floats
    adjusted: Floats
    rejected: Bools


def holm_levels(comparisons: int, alpha: float) -> Floats:
    """Return the levels of the ranks 1..K, strictest first (Campelo & Wanner 2019, eq. 39).

    >>> holm_levels(4, 0.05).round(4).tolist()
    [0.0125, 0.0167, 0.025, 0.05]
    """
    return corrected_levels(comparisons, alpha, "holm")


def corrected_levels(comparisons: int, alpha: float, correction: Correction) -> Floats:
    """Return the levels of the ranks 1..K, strictest first: Holm's, or Bonferroni's, which are all α/K.

    >>> corrected_levels(4, 0.05, "bonferroni").tolist()
    [0.0125, 0.0125, 0.0125, 0.0125]
    """
    return divided_levels(np.arange(comparisons, 0, -1), comparisons, alpha, correction)


def divided_levels(places: NDArray[np.number[Any]], comparisons: int, alpha: float, correction: Correction) -> Floats:
    """Return the levels of tests by their places, counted from the most lenient one: rank r of K has place K − r + 1.

    Holm divides α by the place, Bonferroni by K wherever the test stands. Places need not be whole: where there are
    very many, integrals stand for sums.

    >>> divided_levels(np.array([1, 2, 4]), 4, 0.05, "holm").tolist()
    [0.05, 0.025, 0.0125]
    """
    return np.asarray(alpha / (places if correction == "holm" else np.full(places.shape, comparisons)))


def step_down(p_values: Sequence[float] | Floats, alpha: float) -> StepDown:
    """Test the family step by step, smallest p-value first, and stop at the first that fails its level.

    A p-value equal to its level is rejected; equal p-values keep the order in which they came.

    >>> step_down([0.04, 0.001, 0.03], alpha=0.05).rejected.tolist()
    [False, True, False]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    levels = holm_levels(len(p), alpha)
    ranked = p[order]
    return StepDown(
        ranks=_back(order, np.arange(1, len(p) + 1)),
        levels=_back(order, levels),
        adjusted=_back(order, np.minimum(1.0, np.maximum.accumulate(np.arange(len(p), 0, -1) * ranked))),
        rejected=_back(order, np.logical_and.accumulate(ranked <= levels)),
    )


def reject_families(evidence: Floats, thresholds: Floats) -> Bools:
    """Step down in many families at once; each row is a family, and larger evidence is stronger.

    `thresholds` belong to the ranks 1..K, strictest first: critical values of a statistic, or minus Holm's levels when
    the evidence is minus the p-value. Evidence equal to its threshold is rejected, and equal evidence is rejected
    together: when rank r passes, rank r + 1 with the same evidence passes its more lenient threshold too.

    >>> reject_families(np.array([[2.0, 9.0, 1.0], [2.9, 1.0, 1.5]]), np.array([3.0, 2.0, 1.5])).tolist()
    [[True, True, False], [False, False, False]]
    """
    ranked = -np.sort(-evidence, axis=1)
    steps = np.logical_and.accumulate(ranked >= thresholds, axis=1).sum(axis=1)
    weakest = ranked[np.arange(len(ranked)), np.maximum(steps, 1) - 1]
    return np.asarray((evidence >= weakest[:, None]) & (steps > 0)[:, None])


def least_number(p_values: Floats, alpha: float) -> int:
    """Return a lower confidence bound for the number of false null hypotheses among independent tests.

    >>> least_number(np.array([1e-9, 1e-7, 0.02, 0.6]), 0.05)
    2
    """
    from scipy.special import chdtrc

    p = np.sort(np.maximum(p_values, np.finfo(float).tiny))
    statistics = -2 * np.cumsum(np.log(p[::-1]))[::-1]  # of the p-values from the u-th smallest on
    combined = chdtrc(2 * np.arange(len(p), 0, -1), statistics)
    return int(np.logical_and.accumulate(combined <= alpha).sum())


def _back(order: Codes, by_rank: NDArray[T]) -> NDArray[T]:
    """Put values given by rank back into the order in which the tests came."""
    result = np.empty_like(by_rank)
    result[order] = by_rank
    return result
