"""Power of a claim about several measures: all of their one-sided t-tests must succeed. Pure, with a fixed seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidDesign
from ampler.design.powers import smallest

STUDIES = 10_000  # simulated: the power is then known to 0.004
SEED = 2026
FEWEST, MOST = 6, 100_000  # instances


@dataclass(frozen=True, slots=True)
class Claimed:
    """Claim about one pair: the standardised effect in each measure, and the correlations of the measures."""

    effects: Floats
    correlation: Floats

    def successes(self, instances: int, level: float) -> Floats:
        """Return which tests succeed: simulated studies in rows, measures in columns.

        The sums of squares are those of a Wishart matrix (Bartlett's decomposition), so the cost is the same for any
        number of instances.
        """
        rng, number = np.random.default_rng(SEED), len(self.effects)
        root = np.linalg.cholesky(self.correlation + 1e-9 * np.eye(number))
        factor = np.tril(rng.standard_normal((STUDIES, number, number)), -1)
        for k in range(number):
            factor[:, k, k] = np.sqrt(rng.chisquare(max(instances - 1 - k, 1), STUDIES))
        spread = np.sqrt(((root @ factor) ** 2).sum(axis=2) / (instances - 1))
        t = (rng.standard_normal((STUDIES, number)) @ root.T + math.sqrt(instances) * self.effects) / spread
        return np.asarray(t > stats.t.isf(level, instances - 1))


def required_for_claims(claims: Sequence[Claimed], power: float, level: float) -> tuple[int, float, tuple[int, ...]]:
    """Return the instances with which claims reach a mean power, that power, and what each measure alone needs.

    >>> claim = Claimed(np.array([0.5, 0.8]), np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> required_for_claims([claim], power=0.8, level=0.025)
    (34, 0.8066, (34, 15))
    """
    measures = list(range(len(claims[0].effects)))

    def reached(instances: int, some: Sequence[int]) -> float:
        return float(np.mean([claim.successes(instances, level)[:, some].all(axis=1).mean() for claim in claims]))

    def needed(some: Sequence[int], least: int) -> int:
        instances = smallest(lambda n: reached(n, some), power, guess=least, least=least, most=MOST)
        if instances is None:
            raise InvalidDesign(f"more than {MOST:,} instances would be needed; allow larger margins or differences")
        return instances

    needs = tuple(needed([measure], FEWEST) for measure in measures)
    instances = needed(measures, max(needs))
    return instances, reached(instances, measures), needs
