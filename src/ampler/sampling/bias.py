"""Bias from adaptive stopping, and runs common to all instances, for analyses and plans. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.settings import Estimate
from ampler.sampling.allocation import AllPairs, ReferencePairs, SharedPairs, aims, optimal_counts
from ampler.sampling.rules import Accuracy, default_budget
from ampler.stats.contrasts import Contrasts
from ampler.stats.dependence import noise_errors
from ampler.stats.summaries import Rate, summary_of
from ampler.stats.variance_bounds import NEWEST, guarded_variances

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
    """Return the expected bias of each statistic from adaptive stopping.

    Rows are instances, columns algorithms; `variances` are those of one run and `skewness` is that of the runs of each
    algorithm, None for statistics other than the mean, whose variances hardly follow the statistic.

    >>> rule = Accuracy(se=0.3, difference="simple")
    >>> pair = rule.check(["a", "b"])
    >>> cells = {"counts": np.full((1, 2), 30.0), "theta": np.ones((1, 2)), "variances": np.ones((1, 2))}
    >>> stopping_bias(rule, pair, **cells, skewness=np.array([2.0, 0.0])).round(3).tolist()
    [[-0.039, -0.0]]
    """
    summary, budget = summary_of(rule.statistic), rule.budget or default_budget(counts.shape[-1])
    counted = counts if certain is None else np.where(certain, 1.0, counts)

    def log_aims(shifts: Floats, logs: Floats) -> Floats:
        """The logarithm of the runs aimed at when statistics and log variances are shifted; budgets are shared out."""
        moved = theta + shifts
        cells = np.broadcast_to(counted, moved.shape)
        with np.errstate(all="ignore"):  # unknown entries are not corrected
            bounds = guarded_variances(
                cells,
                variances * np.exp(logs),
                None if kurtosis is None else np.broadcast_to(kurtosis, moved.shape),
                degrees=summary.degrees(cells),
                rates=np.clip(moved, 0.0, 1.0) if isinstance(summary, Rate) else None,
                guard=rule.guard,
                reference=contrasts.reference,
                edition=rule.guard_edition or NEWEST,
            )
            runs = aims(contrasts, bounds, moved, se=rule.se, start=rule.start, allocation=rule.allocation)
            return np.asarray(np.log(runs * np.minimum(1.0, budget / runs.sum(axis=-1, keepdims=True))))

    def elasticities(shifts: Floats, logs: Floats) -> Floats:
        """Derivatives of log N of each algorithm with respect to its statistic and variance."""
        own = np.eye(counts.shape[-1])[:, None, :]  # one problem per algorithm: only its own cell changes
        up, down = (log_aims(sign * own * shifts, sign * own * logs) for sign in (1.0, -1.0))
        diagonal = np.arange(len(own))
        return np.asarray((up - down)[diagonal, :, diagonal].T / (2 * step))

    sd, step = np.sqrt(variances), STEPS["corrected"]
    with np.errstate(invalid="ignore"):  # unlimited runs: unknown
        follow = elasticities(step * sd, np.zeros_like(sd))
        if skewness is not None:
            follow = follow + skewness * elasticities(np.zeros_like(sd), np.full_like(sd, step))
        bias = -follow * sd / counts
    return np.where(np.isfinite(bias) & (variances > 0), bias, 0.0)


FITTING_STEPS = 6  # of a shape that is only nearly right
NEARLY_WHOLE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class CommonRuns:
    """Run noise of the continuing comparisons as a function of the runs of each algorithm."""

    noise: Floats  # H, a row for each comparison
    first: Codes
    second: Codes
    reference: int | None
    shared: Floats | None = None  # a matrix for each comparison whose runs share seeds, instead of H

    def squared_errors(self, counts: Floats) -> Floats:
        """Return se² of each comparison with this many runs of each algorithm."""
        return noise_errors(self.noise if self.shared is None else self.shared, counts)

    def fewest(self, se: float, lower: Floats, costs: Floats | None = None) -> Floats:
        """Return whole numbers of runs, from `lower` on, that cost least and bring every comparison down to `se`."""
        prices = np.ones(len(lower)) if costs is None else costs
        if self.shared is not None:
            alone = replace(self, shared=None).fewest(se, lower, costs)
            return np.ceil(SharedPairs(self.shared).targets(lower, alone, se, prices) - NEARLY_WHOLE)
        if self.reference is None:
            counts = np.ceil(self._all(se, lower, prices) - NEARLY_WHOLE)
            # By a grand mean, algorithms count in comparisons that are not theirs: the shape is not exact then.
            tied = (self.noise > 0).sum(axis=1).max(initial=0) > 2
            return self._trimmed(counts, se, lower, prices) if tied else counts
        return self._with_reference(self.reference, se, lower, prices)

    def _with_reference(self, reference: int, se: float, lower: Floats, costs: Floats) -> Floats:
        """Round the runs of the reference up, then compute the runs of each other algorithm."""
        shared, own = np.zeros(len(lower)), np.zeros(len(lower))
        rival = np.where(self.first == reference, self.second, self.first)
        shared[rival], own[rival] = self.noise[:, reference], self.noise[np.arange(len(rival)), rival]
        real = optimal_counts(ReferencePairs(reference, shared, own), se, lower, costs)
        hub = float(np.ceil(real[reference] - NEARLY_WHOLE))
        counts = np.maximum(lower, np.ceil(own / (se * se - shared / hub) - NEARLY_WHOLE))
        counts[reference] = hub
        return counts

    def _all(self, se: float, lower: Floats, costs: Floats) -> Floats:
        """The shape for separate noises; where a grand mean ties them together, a little more until all fits."""
        algorithms = np.arange(self.noise.shape[1])
        inside = (self.first[:, None] == algorithms) | (self.second[:, None] == algorithms)
        # The mean noise of a run of each algorithm in its own comparisons; 0 for those that have none.
        own = np.where(inside, self.noise, 0.0).sum(axis=0) / np.maximum(inside.sum(axis=0), 1)
        target = se
        for _ in range(FITTING_STEPS):
            counts = optimal_counts(AllPairs(own), target, lower, costs)
            excess = float(np.sqrt(self.squared_errors(counts).max()) / se)
            if excess <= 1 + NEARLY_WHOLE:
                break
            target /= excess
        return np.asarray(counts * max(1.0, excess**2))

    def _trimmed(self, counts: Floats, se: float, lower: Floats, costs: Floats) -> Floats:
        """Remove superfluous runs, those of the most expensive algorithm first."""
        for one in np.argsort(-costs, kind="stable"):
            left = se * se - (self.squared_errors(counts) - self.noise[:, one] / counts[one])
            with np.errstate(divide="ignore", invalid="ignore"):
                needed = np.where(left > 0, self.noise[:, one] / left, np.inf).max()
            if needed < counts[one]:
                counts[one] = max(lower[one], np.ceil(needed - NEARLY_WHOLE))
        return counts


def common_runs(
    contrasts: Contrasts,
    theta: Floats,
    variances: Floats,
    continuing: Bools | None = None,
    shared: Floats | None = None,
) -> CommonRuns:
    """Return the run noise of the continuing comparisons, from statistics and run variances on instances.

    `shared` is the mean noise of pairs whose runs share seeds, as of `shared_noise`.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> pairs = contrasts_among(3, difference="simple", reference=0)
    >>> runs = common_runs(pairs, np.full((4, 3), 10.0), np.full((4, 3), 2.0))
    >>> runs.fewest(0.5, lower=np.full(3, 5.0)).tolist()
    [20.0, 14.0, 14.0]
    """
    rows = np.ones(len(contrasts.first), dtype=bool) if continuing is None else continuing
    alone = np.eye(contrasts.size)
    parts = [np.nanmean(contrasts.squared_errors(theta, variances * one), axis=0) for one in alone]
    places = contrasts.first[rows], contrasts.second[rows]
    return CommonRuns(np.array(parts).T[rows], *places, contrasts.reference, None if shared is None else shared[rows])
