"""What is probable, in sentences and tables."""

import dataclasses

import numpy as np
import pytest

from ampler.analysis import analyse_runs
from ampler.analysis.bayes import (
    NO_MARGIN,
    Chances,
    bayes_columns,
    bayes_headline,
    bayes_sentences,
    comparison_sentence,
    footnotes,
    probability,
    ranking_columns,
    three,
)
from ampler.core.arrays import Runs
from ampler.core.errors import AnalysisWarning, InvalidInput
from ampler.core.settings import Settings


def lines_of(table):
    return table.fitted(200).lines


def made(shifts=(0.0, 0.05, 0.0, 0.01), rows=15, sd=0.01, **options):
    values = 10 * np.exp(np.random.default_rng(3).normal(shifts, sd, (rows, len(shifts))))
    return judged(values, **({"difference": "percent", "reference": "full"} | options))


def judged(values, **options):
    """What is probable of values: instances in rows, algorithms in columns."""
    names = ("full", "slow", "same", "near")
    cells = [(f"d{i}", names[k], value) for (i, k), value in np.ndenumerate(values)]
    settings = Settings(**({"margin": 0.02} | options))
    return analyse_runs(Runs.from_columns(*map(list, zip(*cells, strict=True))), settings).bayes


def of(bayes, second):
    return next(each for each in bayes.comparisons if each.second == second)


def test_a_sentence_says_how_much_how_probable_and_what_to_expect_of_a_new_instance():
    bayes = made()

    sentence = comparison_sentence(of(bayes, "slow"), bayes)

    assert sentence.startswith("On an average instance slow is worse than full by ")
    assert "% of full's value (95 % credible interval " in sentence
    assert "It is worse by more than 2 % with probability above 0.999, " in sentence
    assert "new instance of the same kind with probability 0.9" in sentence


def test_an_equivalent_one_is_told_by_the_probability_of_being_equivalent():
    bayes = made()

    sentence = comparison_sentence(of(bayes, "same"), bayes)

    assert of(bayes, "same").verdict == "equivalent"
    assert "It is within ±2 % of it with probability above 0.999" in sentence
    assert "on a new instance of the same kind with probability" in sentence


@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
def test_what_is_worse_depends_on_what_is_better_whatever_the_difference(difference, better):
    margin = 0.2 if difference == "simple" else 0.02
    bayes = made(difference=difference, better=better, margin=margin)

    word = "worse" if better == "lower" else "better"
    assert of(bayes, "slow").verdict == word
    assert f"slow is {word} than full by " in comparison_sentence(of(bayes, "slow"), bayes)
    unit = {"simple": "0.2", "percent": "2 %", "ratio": "a factor of 1.02"}[difference]
    assert f"{word} by more than {unit}" in comparison_sentence(of(bayes, "slow"), bayes)


def test_the_headline_counts_the_verdicts():
    assert bayes_headline(made()) == (
        "Bayesian verdicts with margin ±2 %, 3 algorithms compared with full: 1 worse, 2 equivalent."
    )
    pairs = bayes_headline(made(reference=None))
    assert pairs.startswith("Bayesian verdicts with margin ±2 %, 6 pairs: 3 better or worse, ")


def test_without_a_margin_one_sentence_says_why_there_is_no_verdict():
    bayes = made(margin=None)

    assert bayes_headline(bayes) == NO_MARGIN
    assert NO_MARGIN.startswith("Not computed: set a margin")
    assert len(list(bayes_sentences(bayes))) == 3
    assert all(line.endswith("–") for line in lines_of(bayes_columns(bayes))[1:])


def test_only_so_many_sentences_and_the_rest_is_counted():
    told = list(bayes_sentences(made(), most=1))

    assert len(told) == 2
    assert told[1] == "… and 2 more, which the table shows."


def test_the_table_has_a_line_for_each_comparison_with_its_three_probabilities():
    bayes = made()
    header, *lines = lines_of(bayes_columns(bayes))

    assert "shared" in header
    assert len(lines) == 3
    assert next(line for line in lines if line.startswith("slow")).count("1.0 .00 .00") >= 2
    assert "shared" not in lines_of(bayes_columns(made(shifts=(0.0, 0.05))))[0]


def test_all_with_all_the_verdict_is_about_the_first():
    bayes = made(reference=None)

    row = next(line for line in lines_of(bayes_columns(bayes)) if line.startswith("full − slow"))
    assert row.endswith("better")
    assert ".00 .00 1.0" in row


def test_rankings_are_told_against_the_reference_or_the_next():
    assert "better than full" in lines_of(ranking_columns(made()))[0]
    lines = lines_of(ranking_columns(made(reference=None)))
    assert "better than the next" in lines[0]
    assert lines[-1].startswith("slow")
    assert lines[-1].endswith("–")


def test_footnotes_say_the_rule_what_may_be_wrong_and_what_is_not_known():
    notes = " ".join(footnotes(made()))

    assert "0.975 or more under both posteriors" in notes
    assert "Only the Holm tests control the error rate" in notes
    assert "run noise counts as variation between instances" in notes
    assert "there is no prior to share" in " ".join(footnotes(made(shifts=(0.0, 0.05))))


def test_a_verdict_that_hangs_on_few_instances_is_named():
    rows = 20
    values = np.column_stack([np.ones(rows), 1 + np.random.default_rng(1).normal(0.01, 0.005, rows)])
    values[:5, 1] = [1.7, 1.8, 1.9, 2.0, 2.1]
    bayes = judged(values, difference="simple", reference="full")

    assert bayes.comparisons[0].verdict == "worse"
    assert any("robust model" in note and "slow (" in note for note in footnotes(bayes))


def test_weights_that_are_none_are_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match="weights must be one of 'equal', 'precision', got 'some'"):
        made(weights="some")


def test_probabilities_near_the_ends_are_never_called_certain():
    assert [probability(value) for value in (1.0, 0.0, 0.5, 0.9984)] == ["above 0.999", "below 0.001", "0.500", "0.998"]
    assert three(Chances(0.004, 0.006, 0.99)) == ".00 .01 .99"


def test_rates_are_told_in_percentage_points_in_sentences_and_tables():
    rng = np.random.default_rng(5)
    rows = [
        (f"i{i}", name, float(rng.random() < rate))
        for i in range(8)
        for name, rate in (("full", 0.9), ("slow", 0.4))
        for _ in range(20)
    ]
    asked = Settings(difference="simple", statistic="rate", better="higher", reference="full", margin=0.1)
    bayes = analyse_runs(Runs.from_columns(*map(list, zip(*rows, strict=True))), asked).bayes

    each = bayes.comparisons[0]
    assert "worse by more than 10 percentage points" in comparison_sentence(each, bayes)
    header, line = lines_of(bayes_columns(bayes))
    assert "mean, points" in header
    assert f"{100 * each.posterior.mean:.0f}" in line


def test_claims_that_stopping_biased_are_said_to_be_so_first():
    bayes = made()
    biased = dataclasses.replace(bayes.analysis, warnings=(AnalysisWarning("biased", "Runs ended early."),)).bayes

    assert (
        bayes_headline(biased)
        == f"Do not report these results: the stopping rule biased them. Provisional: {bayes_headline(bayes)}"
    )
