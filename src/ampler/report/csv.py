"""The comparisons as CSV that a spreadsheet opens without running anything in it. Pure."""

from __future__ import annotations

from ampler.analysis import Analysis

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet takes a text that begins so for a formula


def comparisons_csv(analysis: Analysis) -> str:
    """Return the comparisons in Holm's order, one row each; names that would be formulas begin with an apostrophe."""
    table = analysis.table()
    for column in ("first", "second", "estimate_of", "verdict"):
        table[column] = table[column].map(harmless)
    return str(table.to_csv(index=False, lineterminator="\n"))


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula.

    >>> harmless("=1+1"), harmless("a=b")
    ("'=1+1", 'a=b')
    """
    return f"'{text}" if text.startswith(FORMULA) else text
