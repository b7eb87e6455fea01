"""What stands for the pairs on each instance when their values decided on the runs. Pure.

A rule that looks at the values biases them (see `sampling.bias`). There are three estimates of the same differences:
from all runs as they are, the same corrected for when they ended, and from the first runs alone, which nobody stopped.
The second is right to first order and the default; the third is right whatever the rule did, and less exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ampler.analysis.blocks import Blocks, Cells, leading_runs, summarise
from ampler.core.arrays import Floats
from ampler.core.choices import Estimate
from ampler.core.contracts import Statistic
from ampler.sampling.bias import stopping_bias
from ampler.sampling.rules import Accuracy
from ampler.stats.contrasts import Contrasts
from ampler.stats.shape import pooled_skewness
from ampler.stats.summaries import summary_of


@dataclass(frozen=True, eq=False)
class Estimates:
    """The statistics of one kind, and the differences they make; `rule` decided on the runs, None: no values did."""

    cells: Cells
    blocks: Blocks
    statistic: str | Statistic
    rule: Accuracy | None

    def differences(self, contrasts: Contrasts, estimate: Estimate = "corrected") -> Floats:
        """Return φ of each pair on each instance by this estimate; without a rule all are the same."""
        give: dict[Estimate, Callable[[Contrasts], Floats]] = {
            "all-runs": self.blocks.differences,
            "corrected": self._corrected,
            "first-runs": self._of_first_runs,
        }
        return (give[estimate] if self.rule else self.blocks.differences)(contrasts)

    def of_first_runs(self) -> Estimates:
        """Return the same of the first runs alone, which no values ended; what no rule decided on stays as it is."""
        if self.rule is None:
            return self
        return Estimates(leading_runs(self.cells, self.rule.start), self._first, self.statistic, None)

    def _corrected(self, contrasts: Contrasts) -> Floats:
        return replace(self.blocks, theta=self._unbiased).differences(contrasts) - self.blocks.bends(contrasts)

    def _of_first_runs(self, contrasts: Contrasts) -> Floats:
        return self._first.differences(contrasts) - self._first.bends(contrasts)

    @cached_property
    def _unbiased(self) -> Floats:
        """The statistics less the bias that stopping gave them; what would change its sign is left alone."""
        unbiased = self.blocks.theta - self._bias
        with np.errstate(invalid="ignore"):
            unbiased = np.clip(unbiased, 0.0, 1.0) if self.blocks.are_rates else unbiased
            return np.where(unbiased * self.blocks.theta > 0, unbiased, self.blocks.theta)

    @cached_property
    def _bias(self) -> Floats:
        """The bias of each statistic; 0 where the rule looked at another one, or its se is in a unit of its own."""
        blocks, rule = self.blocks, self.rule
        if rule is None or summary_of(rule.statistic) != summary_of(self.statistic):
            return np.zeros(blocks.theta.shape)
        if blocks.exponents.any() and rule.difference == "simple":
            return np.zeros(blocks.theta.shape)
        there = blocks.counts > 0  # an empty cell stands aside: as certain, and nobody's denominator
        typical = np.nanmean(blocks.theta, axis=1, keepdims=True)
        return stopping_bias(
            rule,
            rule.check(blocks.algorithms),
            counts=np.where(there, blocks.counts, 1.0),
            theta=np.where(there, blocks.theta, typical),
            variances=np.where(there, blocks.variances, 0.0),
            kurtosis=None if blocks.kurtosis is None else np.where(there, blocks.kurtosis, 0.0),
            skewness=self._skewness(supported=rule.formula in (None, "corrected")),
            certain=blocks.certain | ~there,
        )

    @cached_property
    def skewness(self) -> Floats:
        """The skewness of the runs of each algorithm; 0 for statistics other than the mean, which it hardly moves."""
        return self._skewness(supported=False)

    def _skewness(self, *, supported: bool) -> Floats:
        blocks = self.blocks
        if blocks.skews is None:
            return np.zeros(len(blocks.algorithms))
        return pooled_skewness(blocks.counts.astype(float), blocks.variances, blocks.skews, supported=supported)

    @property
    def largest_skewness(self) -> float:
        """The largest of them, whichever side."""
        return float(np.abs(self.skewness).max())

    @cached_property
    def _first(self) -> Blocks:
        assert self.rule is not None
        return summarise(leading_runs(self.cells, self.rule.start), self.statistic)
