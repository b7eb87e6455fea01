"""The unit in which differences are told: plain numbers, percent, factors, percentage points. Pure.

Values stay as they are everywhere else: a rate of a half is 0.5, a difference of two percent 0.02, and that of a factor
of two its logarithm. Sentences, tables and figures show them in the same unit, which they take from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ampler.analysis.compare import Comparison
from ampler.analysis.results import Analysis
from ampler.core.arrays import Interval
from ampler.core.failures import policy_words
from ampler.core.settings import AnalysisSettings
from ampler.core.wording import (
    LARGEST_EXPONENT,
    alike,
    amount,
    are_changes,
    change,
    difference_text,
    digits,
    factor_texts,
    ratio_texts,
)
from ampler.stats.paired import ESTIMANDS

POINTS = "percentage points"
EXACT = ("wilcoxon", "sign", "sign-flip")  # tests whose smallest p-value the number of instances gives
SMALLEST_P = "1e-300"  # below it there are no numbers


def measure_in_words(analysis: Analysis) -> str:
    """Return what was measured, which values are better, and what failed runs count as: the head of every output."""
    failed = sum(sum(row.failures.values()) for row in analysis.algorithms)
    policy = analysis.settings.failures
    failures = "none" if not failed and policy is None else policy_words(policy)
    return f"Measure: {analysis.measure}; {analysis.settings.better} is better; failed runs: {failures}"


def as_shown(value: float, asked: AnalysisSettings) -> float:
    """Return a difference as a number of its unit: percent, a factor, percentage points, or as it is.

    >>> [as_shown(0.5, AnalysisSettings(difference=kind)) for kind in ("simple", "percent", "ratio")]
    [0.5, 50.0, 1.6487...]
    """
    if asked.difference == "ratio":
        return math.exp(value) if not value >= LARGEST_EXPONENT else math.inf
    return table_factor(asked) * value


def size_in_words(value: float, asked: AnalysisSettings) -> str:
    """Return a difference as a number of its unit, as a sentence has it.

    >>> size_in_words(0.0316, AnalysisSettings(difference="percent"))
    '3.16 %'
    """
    return difference_text(100 * value if asked.are_rates else value, asked.difference)


def sizes_in_words(value: float, limits: Interval, asked: AnalysisSettings) -> tuple[str, ...]:
    """Return a difference and its limits as a sentence has them, with the same decimals.

    >>> sizes_in_words(0.0316, (0.0001, 0.0631), AnalysisSettings(difference="percent"))
    ('3.16 %', '0.01 %', '6.31 %')
    """
    if asked.difference == "ratio":
        return factor_texts(value, *limits)
    unit = " %" if asked.difference == "percent" else ""
    return tuple(f"{text}{unit}" for text in alike(*(as_shown(each, asked) for each in (value, *limits))))


def lead_in_words(lead: float, limits: Interval, asked: AnalysisSettings) -> tuple[str, str, str, str]:
    """Return by how much the better of two is ahead, the limits of that, and no difference, in the same unit.

    Ratios near 1 are percent changes of the better relative to the other.

    >>> lead_in_words(0.02, (0.01, 0.03), AnalysisSettings(difference="ratio", better="lower"))
    ('1.98 %', '1.00 %', '2.96 %', '0 %')
    """
    if asked.difference == "ratio" and are_changes(lead, *limits):
        sign = 1.0 if asked.better == "higher" else -1.0
        size, low, high = (f"{text} %" for text in alike(*(sign * change(sign * each) for each in (lead, *limits))))
        return size, low, high, "0 %"
    size, low, high = sizes_in_words(lead, limits, asked)
    return amount_of(size, asked), low, high, size_in_words(0.0, asked)


def amount_in_words(size: float, asked: AnalysisSettings) -> str:
    """Return by how much two algorithms differ."""
    return amount_of(size_in_words(size, asked), asked)


def amount_of(size: str, asked: AnalysisSettings) -> str:
    """Return by how much two algorithms differ, the size being a text already."""
    if asked.are_rates:
        return f"{size} {POINTS}"
    if asked.difference == "ratio":
        return f"a factor of {size}"
    if asked.difference == "simple":
        return size
    base = f"{asked.reference}'s value" if asked.reference is not None else "the grand mean"
    return f"{size} of {base}"


def margin_in_words(margin: float, asked: AnalysisSettings) -> str:
    """Return the margin of equivalence in the unit of the differences."""
    if asked.difference == "ratio":
        return amount(margin, asked.difference)
    return f"±{size_in_words(margin, asked)}{f' {POINTS}' if asked.are_rates else ''}"


def accuracy_in_words(se: float, asked: AnalysisSettings) -> str:
    """Return an accuracy as it was said, and rates in percentage points."""
    return f"{digits(100 * se)} {POINTS}" if asked.are_rates else f"{se:g}"


def table_factor(asked: AnalysisSettings) -> float:
    """Return what standard errors are multiplied by in tables: 100 for percent and for rates, as percentage points."""
    return 100.0 if asked.are_rates or asked.difference == "percent" else 1.0


def unit_header(name: str, asked: AnalysisSettings) -> str:
    """Return the head of a column of differences or their standard errors, with the unit where it is a linear one."""
    return f"{name}{', points' if asked.are_rates else ', %' if asked.difference == 'percent' else ''}"


def location_header(name: str, asked: AnalysisSettings) -> str:
    """Return the head of a column of differences, with their unit."""
    return f"{name}, ratio" if asked.difference == "ratio" else unit_header(name, asked)


def estimate_header(analysis: Analysis, name: str | None = None) -> str:
    """Return the head of a column of estimates with its unit, by default what they are of."""
    name = name or analysis.comparisons[0].estimate_of
    return f"{name}, %" if _are_shares(analysis) else location_header(name, analysis.settings)


def estimate_in_unit(value: float, analysis: Analysis) -> float:
    """Return an estimate as a number of its unit; a share of the instances is one in percent."""
    return 100.0 * value if _are_shares(analysis) else as_shown(value, analysis.settings)


def interval_in_unit(interval: Interval, analysis: Analysis) -> Interval:
    """Return the interval of an estimate in its unit."""
    low, high = interval
    return estimate_in_unit(low, analysis), estimate_in_unit(high, analysis)


def estimate_text(shown: float, analysis: Analysis, *limits: float) -> str:
    """Write an estimate that is already in its unit, with the decimals of its limits."""
    return texts_in_unit(analysis, shown, *limits)[0] if limits or are_ratios(analysis) else digits(shown)


def supported(p: float, instances: int, asked: AnalysisSettings) -> float:
    """Return a p-value as it is shown: that of a test of ranks or signs no smaller than its instances support."""
    if asked.test not in EXACT or not p < 1:
        return p
    return max(p, 2.0 ** ((1 if asked.alternative == "two-sided" else 0) - instances))


def p_in_words(p: float, instances: int, asked: AnalysisSettings) -> str:
    """Return a p-value with two digits."""
    shown = supported(p, instances, asked)
    return f"<{SMALLEST_P}" if shown == 0 else f"{shown:.2g}"


def texts_in_unit(analysis: Analysis, *shown: float) -> tuple[str, ...]:
    """Write an estimate and its limits, all in their unit already, with the same decimals."""
    return texts_of_ratios(*shown) if are_ratios(analysis) else alike(*shown)


def difference_texts(asked: AnalysisSettings, *shown: float) -> tuple[str, ...]:
    """Write differences, all in their unit already, with the same decimals."""
    if asked.difference == "ratio":
        return texts_of_ratios(*shown)
    return alike(*shown) if len(shown) > 1 else (digits(shown[0]),)


def are_ratios(analysis: Analysis) -> bool:
    """Whether estimates are ratios."""
    return analysis.settings.difference == "ratio" and not _are_shares(analysis)


def texts_of_ratios(*factors: float) -> tuple[str, ...]:
    """Write factors as percent changes where all are near 1."""
    value, *limits = (math.log(each) if each > 0 else -math.inf if each == 0 else math.nan for each in factors)
    return ratio_texts(value, *limits)


def in_table(analysis: Analysis) -> Iterator[Comparison]:
    """Yield the comparisons with estimates and intervals in their unit, as tables show them."""
    for each in analysis.comparisons:
        yield replace(
            each,
            estimate=estimate_in_unit(each.estimate, analysis),
            interval=interval_in_unit(each.interval, analysis),
            joint_interval=interval_in_unit(each.joint_interval, analysis),
        )


def _are_shares(analysis: Analysis) -> bool:
    return ESTIMANDS[analysis.comparisons[0].estimate_of].is_share
