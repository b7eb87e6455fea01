"""The unit in which differences are reported: plain numbers, percent, factors, percentage points. Pure.

Values stay as they are everywhere else: a rate of a half is 0.5, a difference of two percent 0.02, and that of a factor
of two its logarithm. Sentences, tables and figures show them in the same unit, which they take from here.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ampler.core.arrays import Interval
from ampler.core.failures import policy_words
from ampler.core.settings import Settings
from ampler.core.text import (
    LARGEST_EXPONENT,
    alike,
    are_changes,
    change,
    count,
    difference_text,
    digits,
    factor_texts,
    ratio_texts,
)
from ampler.stats.paired import ESTIMANDS, paired_test

if TYPE_CHECKING:
    from ampler.analysis.compare import Comparison
    from ampler.analysis.results import Analysis


POINTS = "percentage points"
SMALLEST_P = "1e-300"  # the smallest positive double


def measure_text(analysis: Analysis, *, counts: bool = True) -> str:
    """Return the header of every output: the measure, its better direction, the treatment of failed runs."""
    failed = sum(sum(row.failures.values()) for row in analysis.algorithms)
    policy = analysis.settings.failures
    failures = f"{failed:,} failed{f' ({policy_words(policy)})' if policy is not None else ''}"
    sources = (item.sentence.partition(", ")[2] for item in analysis.warnings if item.kind == "direction")
    by_name = "".join(f" ({source.removesuffix('.')})" for source in sources)
    instances, shift = count(analysis.instances, "instance"), analysis.settings.shift
    clusters = max((row.cluster.clusters for row in analysis.comparisons if row.cluster is not None), default=0)
    instances += f" in {count(clusters, 'cluster')}" if clusters else ""
    measure = analysis.measure if shift is None else f"{analysis.measure} + {digits(shift)}"
    if not counts:  # omitted in figures, for lack of space
        return f"{measure}, {analysis.settings.better} is better; {failures}"
    return (
        f"{measure}, {analysis.settings.better} is better{by_name}; {instances}, {len(analysis.algorithms)}"
        f" algorithms, {analysis.runs:,} runs, {failures}"
    )


def value_in_unit(value: float, settings: Settings) -> float:
    """Return a difference as a number of its unit: percent, a factor, percentage points, or as it is.

    >>> [value_in_unit(0.5, Settings(difference=kind)) for kind in ("simple", "percent", "ratio")]
    [0.5, 50.0, 1.6487...]
    """
    if settings.difference == "ratio":
        return math.exp(value) if not value >= LARGEST_EXPONENT else math.inf
    return table_factor(settings) * value


def size_text(value: float, settings: Settings) -> str:
    """Return a difference as a number of its unit, as a sentence has it.

    >>> size_text(0.0316, Settings(difference="percent"))
    '3.16 %'
    """
    return difference_text(100 * value if settings.are_rates else value, settings.difference)


def lead_text(lead: float, limits: Interval, settings: Settings) -> str:
    """Return the advantage of the better of two, with the decimals of its limits.

    Ratios near 1 are percent changes of the better relative to the other.

    >>> lead_text(0.02, (0.01, 0.03), Settings(difference="ratio", better="lower"))
    '1.98 %'
    """
    numbers = (lead, *limits)
    if settings.difference == "ratio":
        if not are_changes(*numbers):
            return amount_of(factor_texts(*numbers)[0], settings)
        sign = 1.0 if settings.better == "higher" else -1.0
        return f"{alike(*(sign * change(sign * item) for item in numbers))[0]} %"
    unit = " %" if settings.difference == "percent" else ""
    return amount_of(f"{alike(*(value_in_unit(item, settings) for item in numbers))[0]}{unit}", settings)


def amount_text(size: float, settings: Settings) -> str:
    """Return the size of a difference with its unit."""
    return amount_of(size_text(size, settings), settings)


def amount_of(size: str, settings: Settings) -> str:
    """Return the size of a difference, given as a text, with its unit."""
    if settings.are_rates:
        return f"{size} {POINTS}"
    if settings.difference == "ratio":
        return f"a factor of {size}"
    if settings.difference == "simple":
        return size
    base = f"{settings.reference}'s value" if settings.reference is not None else "the grand mean"
    return f"{size} of {base}"


def noise_text(share: float) -> str:
    """Return run noise as a share of the estimated variance, which it may exceed.

    >>> noise_text(0.25), noise_text(1.03)
    ('25 %', 'over 100 %')
    """
    return "over 100 %" if share > 1 else f"{100 * share:.0f} %"


def margin_text(margin: float, settings: Settings) -> str:
    """Return the margin of equivalence in the unit of the differences."""
    if settings.difference == "ratio":
        return f"a factor of {size_text(margin, settings)}"
    return f"±{size_text(margin, settings)}{f' {POINTS}' if settings.are_rates else ''}"


def accuracy_text(se: float, settings: Settings) -> str:
    """Return a target standard error in its unit, for rates in percentage points."""
    return f"{digits(100 * se)} {POINTS}" if settings.are_rates else f"{se:g}"


def table_factor(settings: Settings) -> float:
    """Return the factor of standard errors in tables: 100 for percent and for rates."""
    return 100.0 if settings.are_rates or settings.difference == "percent" else 1.0


def unit_header(name: str, settings: Settings) -> str:
    """Return the head of a column of differences or their standard errors, with the unit where it is a linear one."""
    return f"{name}{', points' if settings.are_rates else ', %' if settings.difference == 'percent' else ''}"


def location_header(name: str, settings: Settings) -> str:
    """Return the head of a column of differences, with their unit."""
    return f"{name}, ratio" if settings.difference == "ratio" else unit_header(name, settings)


def estimate_header(analysis: Analysis, name: str | None = None) -> str:
    """Return the heading of a column of estimates with its unit."""
    name = name or analysis.comparisons[0].estimate_of
    return f"{name}, %" if _are_shares(analysis) else location_header(name, analysis.settings)


def estimate_in_unit(value: float, analysis: Analysis) -> float:
    """Return an estimate as a number of its unit; a share of the instances is one in percent."""
    return 100.0 * value if _are_shares(analysis) else value_in_unit(value, analysis.settings)


def interval_in_unit(interval: Interval, analysis: Analysis) -> Interval:
    """Return the interval of an estimate in its unit."""
    return estimate_in_unit(interval[0], analysis), estimate_in_unit(interval[1], analysis)


def supported(p: float, instances: int, settings: Settings) -> float:
    """Return a p-value for display: for tests of ranks or signs, no smaller than the instances allow."""
    if not paired_test(settings.test).has_exact_p or not p < 1:
        return p
    return max(p, 2.0 ** ((1 if settings.alternative == "two-sided" else 0) - instances))


def p_value_text(p: float, instances: int, settings: Settings) -> str:
    """Return a p-value with two digits."""
    values = supported(p, instances, settings)
    return f"<{SMALLEST_P}" if values == 0 else f"{values:.2g}"


def texts_in_unit(analysis: Analysis, *values: float) -> tuple[str, ...]:
    """Write an estimate and its limits, all in their unit already, with the same decimals."""
    are_ratios = analysis.settings.difference == "ratio" and not _are_shares(analysis)
    return texts_of_ratios(*values) if are_ratios else alike(*values)


def difference_texts(settings: Settings, *values: float) -> tuple[str, ...]:
    """Write differences, all in their unit already, with the same decimals."""
    if settings.difference == "ratio":
        return texts_of_ratios(*values)
    return alike(*values) if len(values) > 1 else (digits(values[0]),)


def texts_of_ratios(*factors: float) -> tuple[str, ...]:
    """Write factors as percent changes where all are near 1."""
    value, *limits = (math.log(factor) if factor > 0 else -math.inf if factor == 0 else math.nan for factor in factors)
    return ratio_texts(value, *limits)


def _are_shares(analysis: Analysis) -> bool:
    return ESTIMANDS[analysis.comparisons[0].estimate_of].is_share


# quantities of a unit: a kind of difference, "points" of rates or a "share" of the instances ------------------------


def quantity_text(value: float, unit: str) -> str:
    """Write a difference in its unit: percent, a factor, points, a share in percent, or a number.

    >>> quantity_text(-0.758, "percent"), quantity_text(0.27, "ratio"), quantity_text(0.05, "points")
    ('−75.8 %', '+31.0 %', '5 points')
    """
    if unit == "ratio":
        return quantity_texts(unit, value)[0]
    return "–" if math.isnan(value) else _with_unit(digits(number_in_unit(value, unit)), unit)


def quantity_texts(unit: str, value: float, *limits: float) -> tuple[str, ...]:
    """Write an estimate and its limits in their unit, with the same decimals.

    >>> quantity_texts("percent", -0.016, -0.0319, -0.0000825)
    ('−1.60 %', '−3.19 %', '−0.01 %')
    """
    values = (value, *limits)
    texts = ratio_texts(*values) if unit == "ratio" else alike(*(number_in_unit(each, unit) for each in values))
    pairs = zip(values, texts, strict=True)
    return tuple("–" if math.isnan(each) else _with_unit(text, unit) for each, text in pairs)


def number_in_unit(value: float, unit: str) -> float:
    """Return a difference as a number of its unit: percent, points, or as it is."""
    return value if unit == "simple" else 100 * value


def _with_unit(text: str, unit: str) -> str:
    return text.replace("-", "−") + {"percent": " %", "share": " %", "points": " points"}.get(unit, "")


def settings_unit(comparison: Comparison, settings: Settings) -> str:
    """Return the unit of a comparison's estimate: a kind of difference, "points" of rates or a "share"."""
    if ESTIMANDS[comparison.estimate_of].is_share:
        return "share"
    return "points" if settings.are_rates else settings.difference


def exchanged(comparison: Comparison) -> Comparison:
    """Return a comparison with its algorithms exchanged, for display: a share of the instances is that of the other."""
    total = 1.0 if ESTIMANDS[comparison.estimate_of].is_share else 0.0

    def turned(interval: Interval, total: float = total) -> Interval:
        low, high = interval
        return total - high, total - low

    return replace(
        comparison,
        first=comparison.second,
        second=comparison.first,
        estimate=total - comparison.estimate,
        interval=turned(comparison.interval),
        joint_interval=turned(comparison.joint_interval),
        effect_size=0.0 - comparison.effect_size,
        effect_interval=turned(comparison.effect_interval, 0.0),
    )


def signed(text: str) -> str:
    """Write a difference with its sign.

    >>> signed("1.90 %"), signed("−0.2"), signed("×1.31"), signed("0")
    ('+1.90 %', '−0.2', '×1.31', '0')
    """
    return f"+{text}" if text[:1].isdigit() and text.strip("0. %points") else text


def range_text(low: str, high: str) -> str:
    """Write an interval, its unit once.

    >>> range_text("+62.6 %", "+90.1 %"), range_text("−2 points", "1 points"), range_text("×1.2", "×1.4")
    ('62.6 to 90.1 %', '−2 to 1 points', '×1.2 to ×1.4')
    """
    low, high = low.removeprefix("+"), high.removeprefix("+")
    unit = next((unit for unit in (" %", " points") if low.endswith(unit) and high.endswith(unit)), "")
    return f"{low.removesuffix(unit)} to {high}"
