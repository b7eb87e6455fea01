"""How many runs a rule takes that makes sure of an accuracy: more than one who knew the variances would. Pure.

The guard replaces each variance by an upper bound, which comes down as runs are made; the fewer runs there are, the
farther is the optimum for the bounds from that for the variances themselves. The rule is played through on the pilot's
instances, with sample variances as normal runs would give them.
"""

from __future__ import annotations

import numpy as np

from ampler.analysis.advice.pilot import Pilot
from ampler.core.arrays import Floats
from ampler.core.settings import AnalysisSettings
from ampler.sampling.common_runs import NEARLY_WHOLE
from ampler.sampling.optimum import optimal_counts
from ampler.sampling.pair_errors import pairs_of
from ampler.stats.guard import guarded_variances

ROWS = 240  # instances that are looked at, those of the pilot again and again with other sample variances
ROUNDS = 60  # after these the rest is asked for at once: so exact are the bounds by then
BATCH = 16  # runs that a rule asks for at once, unless said otherwise
SEED = 0


def guarded_runs(pilot: Pilot, se: float, settings: AnalysisSettings) -> float:
    """Return how many runs a rule with the guard takes on an instance, all algorithms together, on average."""
    if settings.guard == "none" or not pilot.spread.any():
        return float(pilot.counts(se).sum(axis=1).mean())
    repeats = max(1, ROWS // len(pilot.spread))
    theta, spread = (np.repeat(each, repeats, axis=0) for each in (pilot.theta, pilot.spread))
    rng = np.random.default_rng(SEED)
    counts = np.full(theta.shape, float(pilot.start))
    squares = spread * rng.chisquare(counts - 1)
    for number in range(ROUNDS + 1):
        more = _wanted(pilot, se, settings, theta, counts, squares / (counts - 1)) - counts
        asked = np.maximum(1.0, more.sum(axis=1, keepdims=True))
        more = np.where(more > 0, more * (1.0 if number == ROUNDS else np.minimum(1.0, BATCH / asked)), 0.0)
        if not more.any():
            break
        counts = counts + more
        squares = squares + spread * 2 * rng.standard_gamma(more / 2)
    return float(np.ceil(counts).sum(axis=1).mean())


def _wanted(
    pilot: Pilot, se: float, settings: AnalysisSettings, theta: Floats, counts: Floats, variances: Floats
) -> Floats:
    """The runs that the rule would have, by the bounds of what it knows; at least those it has."""
    bounds = guarded_variances(
        counts,
        variances,
        rates=theta if settings.are_rates else None,
        guard=settings.guard,
        reference=pilot.contrasts.reference,
        edition=settings.guard_edition,
    )
    return np.ceil(optimal_counts(pairs_of(pilot.contrasts, bounds, theta), se, counts, pilot.costs) - NEARLY_WHOLE)
