"""Would another model say the same? Typical instances instead of their mean, and pairs of instances. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidData
from ampler.stats.bayes import Areas, Posterior, posterior, signed_rank


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """One comparison by other models."""

    first: str
    second: str
    robust: Posterior | None  # of the centre of the typical instances
    signed_rank: Areas | None  # how often pairs of instances average below, within, above the margin most of all
    mean_point: Areas | None  # of the signed-rank test: the shares of such pairs, expected
    problem: str = ""  # why one of them is missing


def sensitivity_of(
    first: str, second: str, differences: Floats, errors: Floats, *, margin: float, level: float
) -> Sensitivity:
    """Return the comparison by the robust model and by the Bayesian signed-rank test."""
    robust, problem = None, ""
    try:
        robust = posterior(differences, errors, margin=margin, model="robust", level=level)
    except InvalidData as found:
        problem = str(found)
    if not len(differences):
        return Sensitivity(first, second, robust, None, None, problem)
    test = signed_rank(differences, margin=margin)
    return Sensitivity(first, second, robust, test.areas, test.mean_areas, problem)
