"""Advice in sentences and tables."""

from dataclasses import replace

import numpy as np
import pytest

from ampler import advise
from ampler.analysis import advice_text as words
from ampler.core.arrays import Runs


@pytest.fixture(scope="module")
def advice():
    """Advice from a pilot of seven algorithms on twelve instances, three runs each: 21 pairs."""
    rng = np.random.default_rng(4)
    rows = [
        (f"i{i}", f"a{k}", 10 + level + k * rng.normal() + noise)
        for i, level in enumerate(rng.normal(size=12))
        for k in range(7)
        for noise in rng.normal(size=3)
    ]
    return advise(Runs.from_columns(*zip(*rows, strict=True)), difference="simple", detect=2.0, start=2, better="lower")


def test_what_to_take_is_the_best_choice_in_numbers(advice):
    best = advice.best
    said = words.what_to_take(advice)
    assert said.startswith(f"Use se = {best.se:.3g} and {best.instances} instances, with about {best.runs:.0f} runs")
    assert said.endswith(f"detects a difference of 2 in value with mean power {best.power:.3f}.")


def test_how_sure_it_is_names_the_budget_and_the_interval_of_the_instances(advice):
    rule, pilot = words.how_sure(replace(advice, budget=77, instances_interval=(20, 90)))
    assert "a budget of at least 77 runs per instance" in rule
    assert pilot == "The plan with adaptive runs needs 20 to 90 instances (90 % interval)."


def test_the_curve_shows_the_cheapest_choice_once_among_its_ends(advice):
    rows = words.curve_rows(advice)
    assert all(len(row) == len(words.CURVE) for row in rows)
    assert [row[0] for row in rows if row[-1]] == [f"{advice.best.se:.3g}"]
    assert rows[0][0] == f"{min(choice.se for choice in advice.curve):.3g}"
    assert rows[-1][0] == f"{advice.curve[-1].se:.3g}"


def test_the_most_variable_pairs_are_shown_and_the_others_counted(advice):
    rows = words.part_rows(advice)
    assert len(rows) == words.PAIRS
    assert rows[0][0] == "{0.first} × {0.second}".format(max(advice.parts, key=lambda part: part.total))
    assert words.further_parts(advice) == "11 more pairs with less variation."
    fewer = replace(advice, parts=advice.parts[:10])
    assert (len(words.part_rows(fewer)), words.further_parts(fewer)) == (10, None)


def test_clauses_become_sentences():
    assert list(words.sentences(["mind the gap"])) == ["Mind the gap."]


def test_without_a_pilot_the_accuracy_to_begin_with_says_where_it_comes_from():
    assert words.first_accuracy(0.0316) == "Without a pilot, start with se = 0.0316."
    assert (
        "a difference of 0.05 is an effect of d = 0.5, the differences have an SD of 0.1 over"
        in words.why_this_accuracy(0.05, 0.5)
    )
