"""What the methods paragraph says of posteriors, verdicts and rankings."""

from __future__ import annotations

from ampler.report.beliefs import belief_sentences


def said(analysis):
    sentences = list(belief_sentences(analysis))
    return " ".join(each.words for each in sentences), [key for each in sentences for key in each.cites]


def test_without_a_margin_nothing_is_said(study_of):
    assert said(study_of(["one", "two"])) == ("", [])


def test_what_was_done_is_said_with_its_numbers_and_cited(study_of):
    words, cites = said(study_of(["one", "two", "three"], margin=0.5, alpha=0.1))

    assert "90 % credible intervals" in words
    assert "a region of practical equivalence of ±0.5" in words
    assert (
        "with equal weights of the instances, so that credible intervals of the mean are those of Student's t" in words
    )
    assert "0.975 or more both under this posterior and under one in which the comparisons share a prior" in words
    assert "separated from the standard errors of the runs" in words
    assert "Bayesian signed-rank test (50,000 draws, seed 0)" in words
    assert "20,000 importance draws" in words
    assert cites == ["benavoli2017", "corani2017", "gelman2012", "lange1989", "benavoli2017", "plackett1975"]


def test_two_comparisons_share_no_prior_and_other_weights_are_said(study_of):
    words, cites = said(study_of(["one", "two", "three"], reference="one", margin=0.5, weights="precision"))

    assert "weighted by the precision of their differences" in words
    assert "share a prior" not in words
    assert "gelman2012" not in cites


def test_where_accuracy_is_not_known_nothing_was_separated(study_of):
    words, _ = said(study_of(["one", "two"], runs=1, margin=0.5))

    assert "separated" not in words


def test_two_instances_have_rankings_alone(study_of):
    words, cites = said(study_of(["one", "two"], instances=2, margin=0.5))

    assert "credible" not in words
    assert cites == ["plackett1975"]
