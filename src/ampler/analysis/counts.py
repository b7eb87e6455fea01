"""What tables of comparisons count where it says something: instances, and those that neither solved. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis

Count = Callable[[Comparison], int]


def counted(analysis: Analysis) -> Mapping[str, Count]:
    """Return the columns of counts by their heads, in their order; most analyses have none."""
    columns: dict[str, Count] = {}
    if analysis.incomplete:
        columns["instances"] = lambda each: each.instances
    if analysis.unsolved:
        columns["neither solved"] = lambda each: len(analysis.unsolved.get((each.first, each.second), ()))
    return columns


def counts_of(comparison: Comparison, analysis: Analysis) -> list[int]:
    """Return the counts of one comparison."""
    return [count(comparison) for count in counted(analysis).values()]
