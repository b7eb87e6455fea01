"""The instances of a comparison: what a mark says is what the table says."""

from __future__ import annotations

import re

import pytest

from ampler.report.forest import forest_of
from ampler.report.instances import MOST, how_many_detailed, instance_rows, mark_text, pairs_instances, stacked


@pytest.mark.parametrize("difference", ["simple", "percent", "ratio"])
def test_every_mark_shows_the_numbers_of_its_row_in_the_table(study_of, difference):
    analysis = study_of(["one", "two", "three"], reference="one", difference=difference)
    forest = forest_of(analysis, detailed=2)

    for each in pairs_instances(analysis, forest):
        titles = re.findall(r"<title>(.*?)</title>", each.strip, re.DOTALL)
        assert len(titles) == len(each.table.rows) == 12
        for title, row in zip(titles, each.table.rows, strict=True):
            name, first, second, told = title.split("\n")
            texts = [cell.text for cell in row]
            assert name.replace("&amp;", "&") == texts[0]
            assert (first.partition(": ")[2], second.partition(": ")[2]) == (texts[1], texts[2])
            assert re.fullmatch(rf"difference {re.escape(texts[3])}(?: %)? ± {re.escape(texts[4])}(?: %)?", told)


def test_instances_are_ordered_by_their_difference_and_lack_none(gappy):
    rows = instance_rows(gappy, "one", "three")

    assert [row.difference for row in rows] == sorted(row.difference for row in rows)
    assert len(rows) == 4


def test_single_values_have_no_standard_error(study_of):
    analysis = study_of(["one", "two"], runs=1)
    (each,) = pairs_instances(analysis, forest_of(analysis, detailed=1))

    assert "SE" not in each.table.header
    assert "±" not in each.strip


def test_the_folder_and_ending_that_instances_share_are_left_out_and_the_whole_name_is_kept():
    from ampler import analyse
    from ampler.core.runs import Runs

    names = ["data/a.txt", "data/b.txt", "data/c.txt"]
    runs = Runs.from_columns(names * 2, ["x"] * 3 + ["y"] * 3, [1.5, 2.5, 3.5, 2.0, 3.5, 5.0])
    rows = instance_rows(analyse(runs, difference="simple", better="lower"), "x", "y")

    assert [(row.name, row.whole) for row in rows][-1] == ("a", "data/a.txt")


def test_a_page_holds_the_instances_of_as_many_comparisons_as_it_can_bear(study_of):
    analysis = study_of(["one", "two"], instances=12)

    assert how_many_detailed(analysis) == MOST // 12


def test_dots_at_the_same_place_lie_above_each_other():
    assert stacked([1.0, 1.0, 1.0, 3.0]) == [0, 1, 2, 0]
    assert max(stacked([5.0] * 100)) <= 10


def test_what_a_mark_says_names_both_algorithms(study_of):
    analysis = study_of(["one", "two"])
    row = forest_of(analysis, detailed=1).rows[0]

    assert "one: " in mark_text(instance_rows(analysis, "one", "two")[0], row, "simple")
