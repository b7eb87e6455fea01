"""Differences in the words of their unit."""

import math

import pandas as pd
import pytest

from ampler import analyse
from ampler.analysis.units import (
    amount_in_words,
    estimate_header,
    estimate_text,
    in_table,
    margin_in_words,
    size_in_words,
    unit_header,
)
from ampler.core.settings import AnalysisSettings


@pytest.mark.parametrize(
    ("asked", "amount", "margin"),
    [
        ({"difference": "percent", "reference": "full"}, "2 % of full's value", "±2 %"),
        ({"difference": "percent"}, "2 % of the grand mean", "±2 %"),
        ({"difference": "ratio"}, "a factor of 1.02", "a factor of 1.02"),
        ({"difference": "simple"}, "0.02", "±0.02"),
    ],
)
def test_a_difference_stands_in_its_own_unit(asked, amount, margin):
    settings = AnalysisSettings(**asked)

    assert amount_in_words(0.02, settings) == amount
    assert margin_in_words(0.02, settings) == margin


def test_a_factor_beyond_all_numbers_is_infinite():
    assert size_in_words(800.0, AnalysisSettings(difference="ratio")) == "∞"
    assert size_in_words(-math.inf, AnalysisSettings(difference="simple")) == "−∞"


@pytest.mark.parametrize(
    ("asked", "header", "of", "mark"),
    [
        ({"difference": "percent", "reference": "old"}, "mean, %", lambda value: 100 * value, ""),
        ({"difference": "ratio"}, "mean, ratio", math.exp, "+"),
        ({"difference": "simple"}, "mean", lambda value: value, ""),
        ({"difference": "ratio", "test": "wilcoxon"}, "pseudomedian, ratio", math.exp, "+"),
        ({"difference": "ratio", "test": "sign"}, "P(φ>0), %", lambda value: 100 * value, ""),
    ],
)
def test_a_table_has_the_unit_of_the_sentences(asked, header, of, mark):
    frame = pd.DataFrame({"dataset": list("abcdef"), "old": [9, 8, 7, 9, 6, 7], "new": [5, 4, 4, 6, 5, 5]})
    analysis = analyse(frame, better="lower", **asked)

    [shown] = in_table(analysis)
    [plain] = analysis.comparisons
    assert estimate_header(analysis) == header
    assert shown.estimate == pytest.approx(of(plain.estimate))
    assert shown.interval == pytest.approx([of(bound) for bound in plain.interval])
    assert shown.joint_interval == pytest.approx([of(bound) for bound in plain.joint_interval])
    assert estimate_text(shown.estimate, analysis).startswith(mark)


def test_the_standard_error_of_a_factor_has_no_unit_and_that_of_percent_has():
    assert unit_header("SE", AnalysisSettings(difference="ratio")) == "SE"
    assert unit_header("SE", AnalysisSettings(difference="percent")) == "SE, %"
