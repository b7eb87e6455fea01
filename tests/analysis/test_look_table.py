"""The table of a study with looks as text."""

from looked_studies import small_analysis

from ampler.analysis.look_table import looked_lines, verdict_word


def test_a_row_has_verdict_instances_interval_and_adjusted_p():
    analysis = small_analysis()
    header, rows = looked_lines(analysis)
    assert header[:6] == ["comparison", "verdict", "look", "instances", "mean", "repeated interval"]
    assert rows[0][:4] == ["a × c", "different", "1", "12"]
    assert len(rows) == 3


def test_what_is_not_decided_goes_on():
    analysis = small_analysis(done=1)
    assert {verdict_word(each, analysis) for each in analysis.comparisons} == {"different", "goes on"}
