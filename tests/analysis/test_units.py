"""Differences in the words of their unit."""

import math

import pandas as pd
import pytest
from flat_study import flat_analyse

from ampler.analysis.units import (
    amount_text,
    estimate_header,
    estimate_in_unit,
    interval_in_unit,
    margin_text,
    size_text,
    texts_in_unit,
    unit_header,
)
from ampler.core.settings import Settings


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
    settings = Settings(**asked)

    assert amount_text(0.02, settings) == amount
    assert margin_text(0.02, settings) == margin


def test_a_factor_beyond_all_numbers_is_infinite():
    assert size_text(800.0, Settings(difference="ratio")) == "∞"
    assert size_text(-math.inf, Settings(difference="simple")) == "−∞"


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
    analysis = flat_analyse(frame, better="lower", **asked)

    [plain] = analysis.comparisons
    assert estimate_header(analysis) == header
    assert estimate_in_unit(plain.estimate, analysis) == pytest.approx(of(plain.estimate))
    assert interval_in_unit(plain.joint_interval, analysis) == pytest.approx([of(end) for end in plain.joint_interval])
    assert texts_in_unit(analysis, estimate_in_unit(plain.estimate, analysis))[0].startswith(mark)


def test_the_standard_error_of_a_factor_has_no_unit_and_that_of_percent_has():
    assert unit_header("SE", Settings(difference="ratio")) == "SE"
    assert unit_header("SE", Settings(difference="percent")) == "SE, %"
