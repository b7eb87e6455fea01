"""Looks in words."""

import pytest
from interim_studies import small_analysis

from ampler.analysis.interim import (
    interim_method_sentences,
    interim_plan_text,
    interim_sentences,
    interim_status_sentence,
    skewed_note,
    tally,
    underpowered_interim,
)
from ampler.analysis.tables import comparison_columns
from ampler.analysis.text import (
    course_sentences,
    course_title,
    finding_sentence,
    headline,
    power_sentence,
    question_lines,
    verdict_sentences,
)


def test_before_the_first_look_it_is_said_when_they_come_and_what_they_do():
    assert interim_plan_text((24, 35), None).startswith("Interim analyses follow after 24, 35 instances.")
    assert "equivalent" not in interim_plan_text((24, 35), None)
    assert "equivalent within d = 0.5" in interim_plan_text((24, 35), 0.5)


def test_after_each_look_it_is_told_how_many_are_decided():
    looked = small_analysis(done=1).looks
    assert interim_status_sentence(looked, ["c"]) == (
        "Interim analysis 1 of 3, 12 instances: 1 significant, 0 equivalent, 2 continuing. 1 algorithm is dropped (c)."
    )
    ended = interim_status_sentence(small_analysis().looks, ["a", "b", "c", "d"])
    assert ended.endswith("inconclusive. The study stops here, after 28 of at most 28 instances.")


def test_verdicts_say_at_which_look_and_on_how_many_instances():
    verdicts = {each.second: each.verdict for each in small_analysis().comparisons}
    assert verdicts["c"].startswith("c is worse than a: +")
    assert verdicts["c"].endswith("(interim analysis 1 of 3, 12 instances)")
    assert verdicts["b"].startswith(("b and a are equivalent within d = 0.5", "Inconclusive: b against a"))


def test_what_goes_on_is_not_decided_yet():
    analysis = small_analysis(done=1)
    assert tally(analysis.looks) in headline(analysis)
    assert any(each.startswith("Inconclusive") and "continues" in each for each in verdict_sentences(analysis))
    assert tally(analysis.looks) == "After interim analysis 1 of 3: 1 significant, 2 continuing."


def test_the_course_has_a_line_for_each_look_both_errors_and_what_estimates_are_worth():
    analysis = small_analysis()
    said = list(course_sentences(analysis))
    assert said[0] == "Interim analysis 1 of 3, 12 instances: 1 significant."
    assert len([each for each in said if each.startswith("Interim analysis")]) == 3
    assert any("any false claim of a difference is at most 5 %" in each for each in said)
    assert any("5 % per comparison, not per family" in each for each in said)
    assert any("from early stopping are too large" in each for each in said)
    assert course_title(analysis) == "Results of the interim analyses"
    assert (
        "Holm over interim analyses after 12, 20, 28 instances at family-wise level 0.05"
        in list(question_lines(analysis))[1]
    )


def test_a_study_that_never_stopped_early_says_nothing_of_it():
    analysis = small_analysis(effect=None, shifts=(0.0, 0.0))
    assert not any("are too large" in each for each in interim_sentences(analysis.looks))


def test_the_printed_analysis_has_the_table_of_the_looks():
    analysis = small_analysis()
    text = str(analysis)
    assert "repeated 95 % CI" in comparison_columns(analysis).fitted(200).head[0]
    assert all(head in text for head in ("repeated", "adj. p", "worse"))


@pytest.mark.parametrize("done", [1, 2])
def test_skewness_is_told_at_every_look_with_how_often_the_test_errs(done):
    analysis = small_analysis(done=done, skewed=True, seed=3)
    note = skewed_note(analysis.looks, "simple", done)
    assert note is not None
    assert "the t-test has" in note
    assert f"strongly skewed at {(12, 20, 28)[done - 1]} instances" in note
    assert "a study without interim analyses" in note
    (caution,) = (each for each in analysis.warnings if each.kind == "skewness")
    assert "the t-test has" in caution.sentence
    assert [each.kind for each in small_analysis(skewed=True, seed=3).warnings].count("skewness") == 1


def test_normal_differences_need_no_such_word():
    assert skewed_note(small_analysis().looks, "simple") is None


def test_too_few_instances_are_told_where_something_is_left_undecided():
    analysis = small_analysis(shifts=(0.0, 0.35, 0.3, 0.35), seed=2)
    assert "undecided" in analysis.looks.history[-1]
    (said,) = (each.sentence for each in analysis.warnings if each.kind == "power")
    assert said.startswith("With at most 28 instances, the mean power for d = 0.5 is")
    assert not list(underpowered_interim(analysis.looks, 0.795, 0.8))


def test_the_answer_names_what_has_no_relevant_difference():
    analysis = small_analysis()
    assert ("no relevant difference" in analysis.looks.history[-1]) == (
        "within 0.5 standard deviations" in finding_sentence(analysis)
    )
    assert power_sentence(small_analysis(done=1)) == "The study continues with these comparisons."


def test_a_paper_is_told_of_looks_spending_and_both_errors():
    said = list(interim_method_sentences(small_analysis().looks))
    text = " ".join(words for words, _ in said)
    assert "after 12, 20, 28 instances, in random order fixed beforehand" in text
    assert "O'Brien and Fleming's type, boundaries exact for Student's t" in text
    assert "error of at most 5 % per comparison" in text
    assert "maurer2013" in {key for _, cites in said for key in cites}
    assert "not at its end" in " ".join(words for words, _ in interim_method_sentences(small_analysis(done=1).looks))
