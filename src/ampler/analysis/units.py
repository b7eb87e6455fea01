"""Differences in the words of their unit: percent, factors, or numbers as they are. Pure."""

from __future__ import annotations

import math

from ampler.core.settings import AnalysisSettings
from ampler.core.wording import digits


def margin_in_words(margin: float, asked: AnalysisSettings) -> str:
    """Return the margin of equivalence in the unit of the differences."""
    if asked.difference == "percent":
        return f"±{digits(100 * margin)} %"
    if asked.difference == "log-ratio":
        return f"a factor of {digits(math.exp(margin))}"
    return f"±{digits(margin)}"


def amount_in_words(size: float, asked: AnalysisSettings) -> str:
    """Return the size of a difference, and what it is a share of."""
    if asked.difference == "log-ratio":
        return f"a factor of {size_in_words(size, asked)}"
    if asked.difference == "simple":
        return size_in_words(size, asked)
    base = f"{asked.reference}'s value" if asked.reference is not None else "the grand mean"
    return f"{size_in_words(size, asked)} of {base}"


def size_in_words(value: float, asked: AnalysisSettings) -> str:
    """Return a number in the unit of the differences: percent, a factor, or as it is.

    >>> size_in_words(0.0316, AnalysisSettings(difference="percent"))
    '3.16 %'
    """
    if asked.difference == "percent":
        return f"{digits(100 * value)} %"
    if asked.difference == "log-ratio":
        return digits(_exp(value))
    return digits(value)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
