"""The order in which instances are told: by their features where a study has some, else by their names. Pure."""

from __future__ import annotations

from ampler.analysis.results import Analysis
from ampler.core.names import natural


def told_order(analysis: Analysis) -> list[int]:
    """Return the places of the instances, in the order of `accuracy`, as a reader looks for them.

    By the first feature, within it by the next, and last by their names; numbers count as numbers.
    """
    names = [row.instance for row in analysis.accuracy]
    features = list(analysis.features.values())
    keys = [(*(natural(str(values.get(name, ""))) for values in features), natural(name)) for name in names]
    return sorted(range(len(names)), key=keys.__getitem__)
