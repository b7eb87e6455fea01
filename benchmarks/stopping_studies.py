"""Studies of equal algorithms from end to end: the rule samples, the analysis decides and warns. For any statistic.

Slower than `stopping_simulation`, which knows means alone, and nothing in it is taken from anywhere but the product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ampler.analysis import analyse_runs
from ampler.core.runs import Runs
from ampler.core.settings import AnalysisSettings
from ampler.sampling.rules import Accuracy, sample

Draw = Callable[[np.random.Generator], float]


@dataclass(frozen=True)
class Claims:
    """In how many of the studies something is claimed, and claimed without the words that forbid it."""

    studies: int
    claimed: int
    unwarned: int

    @property
    def share(self) -> float:
        return self.claimed / self.studies

    @property
    def error(self) -> float:
        return float(np.sqrt(max(self.share * (1 - self.share), 0.01) / self.studies))


def claims(rule: Accuracy, draw: Draw, *, algorithms: int, instances: int, studies: int, seed: int) -> Claims:
    """Carry out so many studies of algorithms that all draw the same values."""
    names = tuple(f"a{k}" for k in range(algorithms))
    settings = AnalysisSettings(
        difference=rule.difference, reference=rule.reference, statistic=rule.statistic, se=rule.se, start=rule.start
    )
    claimed = unwarned = 0
    for study in range(studies):
        runs = runs_of(rule, draw, names, instances, np.random.default_rng([seed, study]))
        analysis = analyse_runs(runs, settings, rule=rule)
        found = any(each.rejected for each in analysis.comparisons)
        claimed += found
        unwarned += found and not any(each.kind == "biased" for each in analysis.warnings)
    return Claims(studies, claimed, unwarned)


def runs_of(rule: Accuracy, draw: Draw, names: tuple[str, ...], instances: int, rng: np.random.Generator) -> Runs:
    """What one study records."""
    rows = []
    for i in range(instances):
        samples = sample(rule, lambda algorithm, index: draw(rng), names).samples
        rows += [(f"i{i}", name, value) for name in names for value in samples.values(name)]
    return Runs.from_columns(*zip(*rows, strict=True))
