"""The rows of the comparisons as markup: safe, whole, and with a style for all it says."""

from __future__ import annotations

import re

import pytest

from ampler.analysis.rows import rows_of
from ampler.report.resources import template_text
from ampler.report.rows import forest_of, mark_text, spots_of
from ampler.report.svg import (
    MAX_INSTANCES,
    forest_html,
    how_many_detailed,
    opened_pairs,
    pair_instances,
    stacked,
)


def test_names_are_escaped_wherever_they_stand(nasty, nasty_names):
    text = forest_html(forest_of(nasty))

    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2


def test_every_class_of_a_verdict_has_its_colour():
    style = template_text("components.css")

    assert all(f".{name}" in style for name in ("better", "worse", "equivalent", "inconclusive", "not-compared"))


def test_the_band_of_the_margin_is_drawn_where_there_is_one(study_of):
    assert 'class="band"' in forest_html(forest_of(study_of(["one", "two"], margin=0.5)))
    assert 'class="band"' not in forest_html(forest_of(study_of(["one", "two"])))


def test_folded_rows_are_in_the_page_and_counted(study_of):
    text = forest_html(forest_of(study_of([f"a{k}" for k in range(9)]), most=4))

    assert "5 more algorithms" in text
    assert text.count('<th scope="row"') == 9


def test_an_interval_without_an_end_has_an_arrow(study_of):
    assert 'class="arrow"' in forest_html(forest_of(study_of(["one", "two"], alternative="less", reference="one")))


# The instances of a comparison: what a mark says is what the table says.


@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
def test_every_mark_shows_the_numbers_of_its_row_in_the_table(study_of, difference):
    analysis = study_of(["one", "two", "three"], reference="one", difference=difference)

    for each in [pair_instances(analysis, row) for row in rows_of(analysis)]:
        titles = re.findall(r"<title>(.*?)</title>", each.strip, re.DOTALL)
        assert len(titles) == len(each.table.rows) == 12
        for title, row in zip(titles, each.table.rows, strict=True):
            name, first, second, told = title.split("\n")
            texts = [cell.text for cell in row]
            assert name.replace("&amp;", "&") == texts[0]
            assert (first.partition(": ")[2], second.partition(": ")[2]) == (texts[1], texts[2])
            assert re.fullmatch(rf"difference {re.escape(texts[3])}(?: %)? ± {re.escape(texts[4])}(?: %)?", told)


def test_instances_are_ordered_by_their_difference_and_lack_none(gappy):
    rows = spots_of(gappy, next(row for row in rows_of(gappy) if row.pair == ("one", "three")))

    assert [row.difference for row in rows] == sorted(row.difference for row in rows)
    assert len(rows) == 4


def test_single_values_have_no_standard_error(study_of):
    analysis = study_of(["one", "two"], runs=1)
    each = pair_instances(analysis, rows_of(analysis)[0])

    assert "SE" not in each.table.header
    assert "±" not in forest_html(forest_of(analysis))


def test_the_folder_and_ending_that_instances_share_are_left_out_and_the_whole_name_is_kept():
    from ampler import analyse
    from ampler.core.arrays import Runs

    names = ["data/a.txt", "data/b.txt", "data/c.txt"]
    runs = Runs.from_columns(names * 2, ["x"] * 3 + ["y"] * 3, [1.5, 2.5, 3.5, 2.0, 3.5, 5.0])
    analysis = analyse(runs, difference="simple", better="lower")
    rows = spots_of(analysis, rows_of(analysis)[0])

    assert [(row.name, row.full_name) for row in rows][-1] == ("a", "data/a.txt")


def test_a_page_holds_the_instances_of_as_many_comparisons_as_it_can_bear(study_of):
    analysis = study_of(["one", "two"], instances=12)

    assert how_many_detailed(analysis) == MAX_INSTANCES // 12


def test_dots_at_the_same_place_lie_above_each_other():
    assert stacked([1.0, 1.0, 1.0, 3.0]) == [0, 1, 2, 0]


def test_what_a_mark_says_names_both_algorithms(study_of):
    analysis = study_of(["one", "two"])

    assert "one: " in mark_text(spots_of(analysis, rows_of(analysis)[0])[0], "simple")


# All are compared with all: a line is an algorithm, and every decision is a cell that opens its pair.


def test_the_matrix_has_every_decision_twice_with_opposite_marks(study_of):
    analysis = study_of(["one", "two", "three", "four"])
    opened, key_of = opened_pairs(analysis)
    forest = forest_of(analysis, key_of=key_of)
    names, marks = [line.name for line in forest.lines], {"▲": "▼", "▼": "▲"}

    for i, line in enumerate(forest.lines):
        assert line.decisions[i] is None
        for j, decision in enumerate(line.decisions):
            if i != j:
                other = forest.lines[j].decisions[i]
                assert other.mark == marks.get(decision.mark, decision.mark)
                assert {line.name, names[j]} <= set(re.split(r"[: ]", decision.label))
                assert decision.key.removeprefix("#") in {each.key for each in opened}


def test_differences_are_from_the_first_line_and_their_interval_is_that_of_the_pair(study_of):
    analysis = study_of(["one", "two", "three", "four"])
    leader, *others = forest_of(analysis).lines
    of_pair = {comparison.pair: comparison for comparison in analysis.comparisons}

    for line in others:
        pair = (line.name, leader.name)
        found = of_pair.get(pair) or of_pair[pair[::-1]]
        sign = 1 if pair in of_pair else -1
        assert line.row.estimate == sign * found.estimate
        assert sorted(sign * end for end in found.joint_interval) == list(line.thin)
        assert line.thin[0] <= line.thick[0] <= line.thick[1] <= line.thin[1]
        assert len(line.rug) == found.instances
        assert line.row.verdict == line.decisions[0].verdict


def test_an_unfinished_study_has_the_same_lines_without_marks_p_values_and_decisions(study_of):
    from dataclasses import replace

    from ampler.analysis.results import estimates_only

    analysis = study_of(["one", "two", "three"])
    unfinished = estimates_only(replace(analysis), "12 of 24 instances")
    forest = forest_of(unfinished)
    page = forest_html(forest)

    assert {line.name for line in forest.lines} == {line.name for line in forest_of(analysis).lines}
    assert all(line.thin is None and line.thick is not None for line in forest.lines[1:])
    assert not re.search('[▲▼≈]|class="(p|mark|verdict|matrix|joint)"', page)
