"""A published experiment as a population: its runs are drawn anew, the rule decides, and the true errors are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ampler.sampling.rules import Accuracy, sample
from ampler.stats.contrasts import Contrasts

Floats = NDArray[np.float64]
Instances = Mapping[str, Mapping[str, Floats]]  # instance -> algorithm -> the values of its runs


@dataclass(frozen=True)
class Kept:
    """What became of the pairs that the first runs do not bring within se, on instances that had budget enough."""

    hard: Floats  # how many of them each sampled instance has
    within: Floats  # and how many are truly within se
    at_budget: int  # instances and replications that ended there, which are left out
    runs: float  # on an instance, on average

    @property
    def share(self) -> float:
        """Of all these pairs, the share truly within se."""
        return float(self.within.sum() / self.hard.sum())

    @property
    def error(self) -> float:
        """Its standard error; the pairs of an instance hang together."""
        scatter = self.within - self.share * self.hard
        return float(np.sqrt((scatter**2).sum()) / self.hard.sum())


def hard_pairs(instances: Instances, rule: Accuracy, *, replications: int, seed: int) -> Kept:
    """Sample every instance so many times, its recorded runs being all there is to draw from."""
    found: list[tuple[int, int]] = []
    at_budget, runs = 0, []
    for place, values in enumerate(instances.values()):
        for replication in range(replications):
            rng = np.random.default_rng([seed, place, replication])
            done = sample(rule, lambda name, index: float(rng.choice(values[name])), list(values))  # noqa: B023
            counts = np.asarray(done.samples.counts, dtype=float)
            runs.append(counts.sum())
            if done.stop.reason != "accuracy reached":
                at_budget += 1
                continue
            contrasts = rule.check(list(values))
            hard = true_errors(values, contrasts, np.full(len(counts), rule.start)) > rule.se
            within = true_errors(values, contrasts, counts) <= rule.se
            found.append((int(hard.sum()), int((hard & within).sum())))
    hard_ones, kept = np.array(found, dtype=float).T
    return Kept(hard_ones, kept, at_budget, float(np.mean(runs)))


def true_errors(values: Mapping[str, Floats], contrasts: Contrasts, counts: Floats) -> Floats:
    """The standard error of every difference, the recorded runs being the truth."""
    theta = np.array([each.mean() for each in values.values()])
    variances = np.array([each.var() for each in values.values()])
    return np.sqrt(contrasts.squared_errors(theta, variances / counts))
