"""Looks in words."""

import pytest
from looked_studies import small_analysis

from ampler.analysis.answer import finding_sentence, power_sentence
from ampler.analysis.look_words import (
    after_look,
    before_looks,
    look_method_sentences,
    look_sentences,
    skewed_note,
    tally,
    underpowered_looks,
)
from ampler.analysis.text import holm_columns
from ampler.analysis.words import course_sentences, course_title, headline, question_lines, verdict_sentences


def test_before_the_first_look_it_is_said_when_they_come_and_what_they_do():
    assert before_looks((24, 35), None).startswith("The results are looked at after 24, 35 instances, in the order of")
    assert "(those found different)" in before_looks((24, 35), None)
    assert "smaller than d = 0.5" in before_looks((24, 35), 0.5)


def test_after_each_look_it_is_told_how_many_are_decided():
    looked = small_analysis(done=1).looks
    assert after_look(looked, ["c"]) == (
        "Look 1 of 3, 12 instances: 1 different, 0 no relevant difference, 2 go on; 1 algorithm needs no more runs (c)."
    )
    assert after_look(small_analysis().looks, ["a", "b", "c", "d"]).endswith("undecided; the study ends.")


def test_verdicts_say_at_which_look_and_on_how_many_instances():
    verdicts = {each.second: each.verdict for each in small_analysis().comparisons}
    assert verdicts["c"].startswith("a is better: lower by")
    assert verdicts["c"].endswith("(look 1 of 3, 12 instances)")
    assert verdicts["b"].startswith(("no relevant difference: smaller than d = 0.5, estimated as", "undecided"))


def test_what_goes_on_is_not_decided_yet():
    analysis = small_analysis(done=1)
    assert "After look 1 of 3: 1 different, 2 not decided yet." in headline(analysis)
    assert any("not decided yet (look 1 of 3, 12 instances)" in each for each in verdict_sentences(analysis))
    assert tally(analysis.looks) == "After look 1 of 3: 1 different, 2 not decided yet."


def test_the_course_has_a_line_for_each_look_both_errors_and_what_estimates_are_worth():
    analysis = small_analysis()
    said = list(course_sentences(analysis))
    assert said[0] == "Look 1 of 3, 12 instances: 1 found different."
    assert len([each for each in said if each.startswith("Look")]) == 3
    assert any("any false claim of a difference is at most 5 %" in each for each in said)
    assert any("for each without a relevant difference at most 5 %" in each for each in said)
    assert any("stopped early are a little too large" in each for each in said)
    assert course_title(analysis) == "What was decided at the looks"
    assert "Holm over looks after 12, 20, 28 instances at family-wise level 0.05" in list(question_lines(analysis))[1]


def test_a_study_that_never_stopped_early_says_nothing_of_it():
    analysis = small_analysis(effect=None, shifts=(0.0, 0.0))
    assert not any("a little too large" in each for each in look_sentences(analysis.looks))


def test_the_printed_analysis_has_the_table_of_the_looks():
    analysis = small_analysis()
    text = str(analysis)
    assert "repeated interval" in holm_columns(analysis).fitted(200).head[0]
    assert all(head in text for head in ("repeated", "adjusted", "no relevant"))
    assert "stop rejecting" not in text


@pytest.mark.parametrize("done", [1, 2])
def test_skewness_is_told_at_every_look_and_that_looking_sharpens_it(done):
    analysis = small_analysis(done=done, skewed=True, seed=3)
    note = skewed_note(analysis.looks, "simple", done)
    assert note is not None
    assert "looking early sharpens what that does to t-tests" in note
    assert f"strongly skewed at {(12, 20, 28)[done - 1]} instances" in note
    assert "a study without looks" in note
    (caution,) = (each for each in analysis.warnings if each.kind == "skewness")
    assert "sharpens" in caution.sentence
    assert [each.kind for each in small_analysis(skewed=True, seed=3).warnings].count("skewness") == 1


def test_normal_differences_need_no_such_word():
    assert skewed_note(small_analysis().looks, "simple") is None


def test_too_few_instances_are_told_where_something_is_left_undecided():
    analysis = small_analysis(shifts=(0.0, 0.35, 0.3, 0.35), seed=2)
    assert "undecided" in analysis.looks.history[-1]
    (said,) = (each.sentence for each in analysis.warnings if each.kind == "power")
    assert said.startswith("With at most 28 instances, looks and 3 comparisons an effect of d = 0.5 is found with mean")
    assert underpowered_looks(analysis.looks, 0.795, 0.8) is None


def test_the_answer_names_what_has_no_relevant_difference():
    analysis = small_analysis()
    assert ("no relevant difference" in analysis.looks.history[-1]) == (
        "shows no relevant difference (d < 0.5) to" in finding_sentence(analysis)
    )
    assert power_sentence(small_analysis(done=1)) == "Those are not decided yet: the study goes on."


def test_a_paper_is_told_of_looks_spending_and_both_errors():
    said = list(look_method_sentences(small_analysis().looks))
    text = " ".join(words for words, _ in said)
    assert "looked at after 12, 20, 28 instances, in random order fixed beforehand" in text
    assert "O'Brien and Fleming's type, boundaries exact for Student's t" in text
    assert "error of at most 5 % for each comparison" in text
    assert "maurer2013" in {key for _, cites in said for key in cites}
    assert "not at its end" in " ".join(words for words, _ in look_method_sentences(small_analysis(done=1).looks))
