"""The fewest runs of each algorithm, the same on every instance, that make the differences exact enough. Pure.

The noise of a comparison is a sum over algorithms: se² = Σ H/n, H being the mean over instances of a run's variance
times what it counts in that comparison. Comparisons in rows, algorithms in columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats
from ampler.sampling.optimum import optimal_counts
from ampler.sampling.pair_errors import AllPairs, ReferencePairs
from ampler.stats.contrasts import Contrasts

FITTING_STEPS = 6  # of a shape that is only nearly right
NEARLY_WHOLE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class CommonRuns:
    """What the runs of each algorithm do to the noise of the comparisons that go on."""

    noise: Floats  # H
    first: Codes
    second: Codes
    reference: int | None

    def squared_errors(self, counts: Floats) -> Floats:
        """Return se² of each comparison with so many runs of each algorithm."""
        return np.asarray(self.noise @ (1 / counts))

    def fewest(self, se: float, lower: Floats, costs: Floats | None = None) -> Floats:
        """Return whole numbers of runs, from `lower` on, that cost least and bring every comparison down to `se`."""
        prices = np.ones(len(lower)) if costs is None else costs
        if self.reference is None:
            counts = np.ceil(self._all(se, lower, prices) - NEARLY_WHOLE)
            return self._trimmed(counts, se, lower, prices) if self._is_tied() else counts
        return self._with_reference(self.reference, se, lower, prices)

    def _with_reference(self, reference: int, se: float, lower: Floats, costs: Floats) -> Floats:
        """Round the reference's runs up, then take for each of the others what they leave it to do."""
        shared, own = np.zeros(len(lower)), np.zeros(len(lower))
        rival = np.where(self.first == reference, self.second, self.first)
        shared[rival], own[rival] = self.noise[:, reference], self.noise[np.arange(len(rival)), rival]
        real = optimal_counts(ReferencePairs(reference, shared, own, own), se, lower, costs)
        hub = float(np.ceil(real[reference] - NEARLY_WHOLE))
        counts = np.maximum(lower, np.ceil(own / (se * se - shared / hub) - NEARLY_WHOLE))
        counts[reference] = hub
        return counts

    def _all(self, se: float, lower: Floats, costs: Floats) -> Floats:
        """The shape for separate noises; where a grand mean ties them together, a little more until all fits."""
        own = self._own_noise()
        target = se
        for _ in range(FITTING_STEPS):
            counts = optimal_counts(AllPairs(own, own), target, lower, costs)
            excess = float(np.sqrt(self.squared_errors(counts).max()) / se)
            if excess <= 1 + NEARLY_WHOLE:
                break
            target /= excess
        return np.asarray(counts * max(1.0, excess**2))

    def _is_tied(self) -> bool:
        """Whether algorithms count in comparisons that are not theirs, by a grand mean: the shape is not exact then."""
        return bool((self.noise > 0).sum(axis=1).max(initial=0) > 2)

    def _trimmed(self, counts: Floats, se: float, lower: Floats, costs: Floats) -> Floats:
        """Take back the runs that the others leave nothing to do, the dearest algorithm's first."""
        for one in np.argsort(-costs, kind="stable"):
            left = se * se - (self.squared_errors(counts) - self.noise[:, one] / counts[one])
            with np.errstate(divide="ignore", invalid="ignore"):
                needed = np.where(left > 0, self.noise[:, one] / left, np.inf).max()
            if needed < counts[one]:
                counts[one] = max(lower[one], np.ceil(needed - NEARLY_WHOLE))
        return counts

    def _own_noise(self) -> Floats:
        """The mean noise of a run of each algorithm in its own comparisons; 0 for those that have none."""
        algorithms = np.arange(self.noise.shape[1])
        inside = (self.first[:, None] == algorithms) | (self.second[:, None] == algorithms)
        return np.asarray(np.where(inside, self.noise, 0.0).sum(axis=0) / np.maximum(inside.sum(axis=0), 1))


def common_runs(contrasts: Contrasts, theta: Floats, variances: Floats, going: Bools | None = None) -> CommonRuns:
    """Return what runs do to the noise of the comparisons that go on, by statistics and run variances on instances.

    >>> from ampler.stats.contrasts import contrasts_among
    >>> pairs = contrasts_among(3, difference="simple", reference=0)
    >>> runs = common_runs(pairs, np.full((4, 3), 10.0), np.full((4, 3), 2.0))
    >>> runs.fewest(0.5, lower=np.full(3, 5.0)).tolist()
    [20.0, 14.0, 14.0]
    """
    kept = np.ones(len(contrasts.first), dtype=bool) if going is None else going
    alone = np.eye(contrasts.size)
    parts = [np.nanmean(contrasts.squared_errors(theta, variances * one), axis=0) for one in alone]
    return CommonRuns(np.array(parts).T[kept], contrasts.first[kept], contrasts.second[kept], contrasts.reference)
