"""The unit in which differences are told: plain numbers, percent, factors, percentage points. Pure.

Values stay as they are everywhere else: a rate of a half is 0.5, and a difference of rates 0.05.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis
from ampler.core.settings import AnalysisSettings
from ampler.core.wording import difference_text, digits
from ampler.stats.paired import ESTIMANDS, paired_test

POINTS = "percentage points"


def size_in_words(value: float, asked: AnalysisSettings) -> str:
    """Return a difference as a number of its unit: percent, a factor, percentage points, or as it is.

    >>> size_in_words(0.0316, AnalysisSettings(difference="percent"))
    '3.16 %'
    """
    return difference_text(table_factor(asked) * value, asked.difference)


def amount_in_words(size: float, asked: AnalysisSettings) -> str:
    """Return by how much two algorithms differ."""
    if asked.are_rates:
        return f"{size_in_words(size, asked)} {POINTS}"
    if asked.difference == "log-ratio":
        return f"a factor of {size_in_words(size, asked)}"
    if asked.difference == "simple":
        return size_in_words(size, asked)
    base = f"{asked.reference}'s value" if asked.reference is not None else "the grand mean"
    return f"{size_in_words(size, asked)} of {base}"


def margin_in_words(margin: float, asked: AnalysisSettings) -> str:
    """Return the margin of equivalence in the unit of the differences."""
    if asked.difference == "log-ratio":
        return f"a factor of {size_in_words(margin, asked)}"
    return f"±{size_in_words(margin, asked)}{f' {POINTS}' if asked.are_rates else ''}"


def accuracy_in_words(se: float, asked: AnalysisSettings) -> str:
    """Return an accuracy as it was said, and rates in percentage points."""
    return f"{digits(100 * se)} {POINTS}" if asked.are_rates else f"{se:g}"


def table_factor(asked: AnalysisSettings) -> float:
    """Return what differences are multiplied by in tables: 100 for rates, as percentage points."""
    return 100.0 if asked.are_rates else 1.0


def estimate_factor(asked: AnalysisSettings) -> float:
    """Return what estimates are multiplied by in tables; a share of the instances has no unit."""
    return 1.0 if ESTIMANDS[paired_test(asked.test).estimate_of].is_share else table_factor(asked)


def unit_header(name: str, asked: AnalysisSettings) -> str:
    """Return the head of a column of differences."""
    return f"{name}, points" if asked.are_rates else name


def estimate_header(analysis: Analysis, name: str | None = None) -> str:
    """Return the head of a column of estimates, by default what they are of."""
    name, asked = name or analysis.comparisons[0].estimate_of, analysis.settings
    return name if estimate_factor(asked) == 1.0 else unit_header(name, asked)


def in_table(analysis: Analysis) -> Iterator[Comparison]:
    """Yield the comparisons with estimates and intervals as tables show them."""
    factor = estimate_factor(analysis.settings)
    for each in analysis.comparisons:
        yield each if factor == 1.0 else _times(factor, each)


def _times(factor: float, each: Comparison) -> Comparison:
    (low, high), (joint_low, joint_high) = each.interval, each.joint_interval
    return replace(
        each,
        estimate=factor * each.estimate,
        interval=(factor * low, factor * high),
        joint_interval=(factor * joint_low, factor * joint_high),
    )
