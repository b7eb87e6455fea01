"""The comparisons as CSV that a spreadsheet opens without running anything in it. Pure."""

from __future__ import annotations

from math import inf, nan

from ampler.analysis import Analysis
from ampler.core.wording import harmless


def comparisons_csv(analysis: Analysis) -> str:
    """Return the comparisons in Holm's order, one row each; names that would be formulas begin with an apostrophe.

    What is infinite or unknown, such as the open end of a one-sided interval, is an empty cell.
    """
    table = analysis.table().replace({inf: nan, -inf: nan})
    for column in ("first", "second", "estimate_of", "verdict"):
        table[column] = table[column].map(harmless)
    return str(table.to_csv(index=False, lineterminator="\n"))
