"""How often looks err where differences are skewed: more than one test of all instances does. Pure."""

from __future__ import annotations

from ampler.core.choices import Alternative
from ampler.stats.sequential.boundaries import spent_shares
from ampler.stats.sequential.schedule import Schedule
from ampler.stats.shape import error_inflation


def looked_inflation(
    skewness: float, schedule: Schedule, level: float, alternative: Alternative = "two-sided"
) -> float:
    """Return how many times more often than it should a comparison is called different at this level and skewness.

    Each look errs as a t-test on its instances does at its nominal level (`shape.error_inflation`), and what it may
    spend is its weight. An early look has few instances and a strict level, where skewness does most
    harm. Against simulation it is a little too large (exponential differences, four looks at 57 instances: 2.0 and 6.0
    for 1.6 and 5.1 at 0.05 and at a twenty-first of it; at 200 instances 2.5 for 2.4).

    >>> from ampler.stats.sequential.schedule import student_schedule
    >>> from ampler.stats.sequential.spending import named_spending
    >>> schedule = student_schedule(named_spending("OF"), (23, 35, 46, 57))
    >>> round(looked_inflation(2.0, schedule, 0.05 / 21), 1), round(error_inflation(2.0, 57, 0.05 / 21), 1)
    (6.0, 4.1)
    """
    instances = schedule.instances
    if instances is None:
        return 1.0
    shares = spent_shares(schedule.spending, level, schedule.fractions, schedule.sides).tolist()
    errors = (
        share * (error_inflation(skewness, count, nominal, alternative) if nominal > 0 else 1.0)
        for share, count, nominal in zip(shares, instances, schedule.nominal_levels(level), strict=True)
    )
    return float(sum(errors)) / level
