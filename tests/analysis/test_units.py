"""Differences in the words of their unit."""

import math

import pytest

from ampler.analysis.units import amount_in_words, margin_in_words, size_in_words
from ampler.core.settings import AnalysisSettings


@pytest.mark.parametrize(
    ("asked", "amount", "margin"),
    [
        ({"difference": "percent", "reference": "full"}, "2 % of full's value", "±2 %"),
        ({"difference": "percent"}, "2 % of the grand mean", "±2 %"),
        ({"difference": "log-ratio"}, "a factor of 1.02", "a factor of 1.02"),
        ({"difference": "simple"}, "0.02", "±0.02"),
    ],
)
def test_a_difference_stands_in_its_own_unit(asked, amount, margin):
    settings = AnalysisSettings(**asked)

    assert amount_in_words(0.02, settings) == amount
    assert margin_in_words(0.02, settings) == margin


def test_a_factor_beyond_all_numbers_is_infinite():
    assert size_in_words(800.0, AnalysisSettings(difference="log-ratio")) == "∞"
    assert size_in_words(-math.inf, AnalysisSettings(difference="simple")) == "−∞"
