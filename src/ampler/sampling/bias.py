"""What stopping by the values does to the values: the bias of each statistic at the end of its runs. Pure.

A rule that looks at the values ends the runs of an algorithm where they happen to look alike. Skewed values look alike
as long as the large ones are missing, so such a cell ends too low; and where values divide each other, a large
denominator makes everything look exact. The reference, in every pair, gets more runs and so less bias: equal algorithms
are told apart.

Sums are right on average whenever one stops (Wald's identity): E[N·mean] = θ·E[N], and the bias of a mean is
−Cov(N, mean)/E[N]. The rule makes N follow the estimates of the cell, log N ≈ constant + a·(θ̂ − θ)/σ + b·log(s²/σ²),
and Cov(log s², mean) = γσ/n with γ the skewness of the runs. So the bias is −(a + b·γ)·σ/n, with the elasticities a and
b of what the rule aims at. Cells that end with their first runs have none: their N does not follow anything.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ampler.core.arrays import Bools, Floats
from ampler.core.choices import Estimate
from ampler.sampling.allocation import aims
from ampler.sampling.rules import Accuracy, default_budget
from ampler.stats.contrasts import Contrasts
from ampler.stats.guard import NEWEST, guarded_variances
from ampler.stats.rates import Rate
from ampler.stats.summaries import summary_of

# Steps of the finite differences: a twentieth of an sd, or of the variance; the aims have bends. The step is a part of
# what the recorded estimate is: another step would be an estimate of another name.
STEPS: Mapping[Estimate, float] = {"corrected": 0.05}


def stopping_bias(
    rule: Accuracy,
    contrasts: Contrasts,
    *,
    counts: Floats,
    theta: Floats,
    variances: Floats,
    kurtosis: Floats | None = None,
    skewness: Floats | None = None,
    certain: Bools | None = None,
) -> Floats:
    """Return by how much each statistic is expected to differ from the truth because of when its runs ended.

    Rows are instances, columns algorithms; `variances` are those of one run and `skewness` is that of the runs of each
    algorithm, None for statistics other than the mean, whose variances hardly follow the statistic.

    >>> rule = Accuracy(se=0.3, difference="simple")
    >>> pair = rule.check(["a", "b"])
    >>> cells = {"counts": np.full((1, 2), 30.0), "theta": np.ones((1, 2)), "variances": np.ones((1, 2))}
    >>> stopping_bias(rule, pair, **cells, skewness=np.array([2.0, 0.0])).round(3).tolist()
    [[-0.039, -0.0]]
    """
    cells = _Cells(rule, contrasts, counts, theta, variances, kurtosis, certain)
    sd = np.sqrt(variances)
    step = STEPS["corrected"]
    follow = cells.elasticities(step * sd, np.zeros_like(sd))
    with np.errstate(invalid="ignore"):  # endless runs: not known
        if skewness is not None:
            follow = follow + skewness * cells.elasticities(np.zeros_like(sd), np.full_like(sd, step))
        bias = -follow * sd / counts
    return np.where(np.isfinite(bias) & (variances > 0), bias, 0.0)


class _Cells:
    """What the rule aims at, as a function of what it sees."""

    def __init__(
        self,
        rule: Accuracy,
        contrasts: Contrasts,
        counts: Floats,
        theta: Floats,
        variances: Floats,
        kurtosis: Floats | None,
        certain: Bools | None,
    ) -> None:
        self.rule, self.contrasts, self.kurtosis = rule, contrasts, kurtosis
        self.theta, self.variances = theta, variances
        self.summary = summary_of(rule.statistic)
        self.counts = counts if certain is None else np.where(certain, 1.0, counts)
        self.budget = default_budget(counts.shape[-1]) if rule.budget is None else rule.budget

    def elasticities(self, shifts: Floats, logs: Floats) -> Floats:
        """Return how log N of each algorithm follows its own statistic and variance, per step of them."""
        own = np.eye(self.counts.shape[-1])[:, None, :]  # one problem per algorithm: only its own cell moves
        up, down = (self._log_aims(sign * own * shifts, sign * own * logs) for sign in (1.0, -1.0))
        each = np.arange(len(own))
        with np.errstate(invalid="ignore"):  # endless either way: not known
            return np.asarray((up - down)[each, :, each].T / (2 * STEPS["corrected"]))

    def _log_aims(self, shifts: Floats, logs: Floats) -> Floats:
        """The logarithm of the runs aimed at when statistics and log variances are shifted; budgets are shared out."""
        theta, variances = self.theta + shifts, self.variances * np.exp(logs)
        counts = np.broadcast_to(self.counts, theta.shape)
        kurtosis = None if self.kurtosis is None else np.broadcast_to(self.kurtosis, theta.shape)
        rule, reference = self.rule, self.contrasts.reference
        with np.errstate(all="ignore"):  # where nothing is known nothing is corrected
            bounds = guarded_variances(
                counts,
                variances,
                kurtosis,
                degrees=self.summary.degrees(counts),
                rates=np.clip(theta, 0.0, 1.0) if isinstance(self.summary, Rate) else None,
                guard=rule.guard,
                reference=reference,
                edition=rule.guard_edition or NEWEST,
            )
            runs = aims(self.contrasts, bounds, theta, se=rule.se, start=rule.start, allocation=rule.allocation)
            shared = np.minimum(1.0, self.budget / runs.sum(axis=-1, keepdims=True))
            return np.asarray(np.log(runs * shared))
