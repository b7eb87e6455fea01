"""A study with looks, told in every format."""

import pytest
from looked_studies import small_analysis

from ampler.core.errors import InvalidData
from ampler.report import render
from ampler.report.latex import holm_table
from ampler.report.looks import look_methods, looked_table, looks_of_analysis, looks_table
from ampler.report.subject import Subject
from ampler.report.tables import comparisons_table


@pytest.fixture(scope="module")
def analysis():
    return small_analysis()


def test_the_comparisons_have_verdicts_and_repeated_intervals(analysis):
    table = comparisons_table(analysis)
    assert table == looked_table(analysis)
    assert table.header[2:5] == ("verdict", "look", "instances")
    assert [cell.text for cell in table.rows[0][1:5]] == ["a × c", "different", "1", "12"]
    assert "repeated confidence intervals" in table.caption


def test_the_looks_have_their_limits_and_what_was_decided(analysis):
    table = looks_table(analysis)
    assert [row[1].text for row in table.rows] == ["12", "20", "28"]
    assert sum(int(cell.text) for cell in table.rows[-1][5:8]) == 3
    open_ = looks_table(small_analysis(done=1))
    assert [cell.text for cell in open_.rows[2][5:]] == ["–"] * 4


def test_other_studies_have_no_looks():
    from dataclasses import replace

    plain = replace(small_analysis(), looks=None)
    assert looks_table(plain) is None
    with pytest.raises(InvalidData, match="about a study with looks"):
        looks_of_analysis(plain)


@pytest.mark.parametrize("kind", ["html", "md", "tex", "csv"])
def test_every_format_tells_of_the_looks(analysis, kind, figures_only_of):
    figures_only_of("course", "comparisons")
    text = render(Subject("looks", analysis, None), kind)
    assert "no relevant difference" in text or "undecided" in text
    if kind in ("html", "md"):
        assert "What was decided at the looks" in text
        assert "repeated interval" in text


def test_a_paper_gets_the_verdicts_in_its_table(analysis):
    text = holm_table(analysis)
    assert r"a $\times$ c & different & 1 & $12$" in text
    assert "repeated interval" in text


def test_the_methods_paragraph_says_how_the_error_was_kept(analysis):
    words = " ".join(each.words for each in look_methods(analysis))
    assert "group-sequential Holm procedure" in words
