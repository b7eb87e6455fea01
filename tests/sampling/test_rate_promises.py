"""What the default guard promises of rates: pairs truly within se, in small; the whole table is slow."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ampler as am

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from rates_simulation import ACCURACIES, RATES, SPREAD, kept


@pytest.mark.parametrize(("algorithms", "rate", "se"), [(2, 0.02, 0.05), (2, 0.1, 0.08), (2, 0.8, 0.1), (5, 0.5, 0.1)])
def test_pairs_of_rates_are_within_se(algorithms, rate, se):
    found = kept((rate,) * algorithms, se, 60)
    assert found.pairs + 2 * found.errors[0] >= 0.95
    assert found.runs < (2.0 if 0.1 <= rate <= 0.9 else 4.0)


def test_plain_means_of_rare_outcomes_are_not():
    found = kept((0.1, 0.1), 0.08, 60, statistic="mean")
    assert found.pairs + 2 * found.errors[0] < 0.95


def test_ten_equal_outcomes_do_not_end_an_instance_that_must_be_known_well():
    rule = am.Accuracy(se=0.05, difference="simple", statistic="rate")
    ten = {"a": [1.0] * 10, "b": [1.0] * 10}
    assert rule(ten).total > 0
    assert am.Accuracy(se=0.05, difference="simple")(ten) == am.Stop("all constant")
    assert sum(rule.predict(ten).values()) > 0
    assert rule({"a": [1.0] * 200, "b": [1.0] * 200}) == am.Stop("accuracy reached")


@pytest.mark.slow
@pytest.mark.parametrize("algorithms", [2, 5])
@pytest.mark.parametrize("se", ACCURACIES)
@pytest.mark.parametrize("rate", [*RATES, None])
def test_pairs_of_all_rates_are_within_se(algorithms, se, rate):
    rates = SPREAD[algorithms] if rate is None else (rate,) * algorithms
    found = kept(rates, se, 150 if algorithms == 2 else 40)
    assert found.pairs + 2 * found.errors[0] >= 0.95
    assert found.hard + 2 * found.errors[1] >= 0.95
