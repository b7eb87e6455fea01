"""One row for each comparison, with the numbers of the table of the comparisons."""

from __future__ import annotations

import re

import pytest

from ampler.report.rows import MAX_ROWS, forest_of
from ampler.report.tables import comparisons_table


def numbers(text):
    return [float(found.replace("−", "-")) for found in re.findall(r"[−]?\d+(?:\.\d+)?(?:e[−]?\d+)?", text)]


@pytest.mark.parametrize(
    "options", [{"difference": "simple"}, {"difference": "percent"}, {"difference": "ratio"}], ids=str
)
def test_rows_show_the_numbers_of_the_table_of_the_comparisons(study_of, options):
    analysis = study_of(["one", "two", "three"], reference="one", **options)
    table = comparisons_table(analysis)
    places = [table.header.index(name) for name in ("simultaneous CI", "p (Holm)")]

    by_name = {cells[1].text: cells for cells in table.rows}
    for row in forest_of(analysis).rows:
        cells = by_name[row.name]
        assert numbers(row.estimate_text) == numbers(cells[3].text)
        assert numbers(row.interval_text) == numbers(cells[places[0]].text)
        assert row.p_adjusted == cells[places[1]].value


def test_a_rival_that_is_worse_than_the_reference_is_called_worse(paper):
    rows = forest_of(paper).rows

    assert [(row.name, row.verdict, row.wins_text) for row in rows[11:12]] == [("no-SWP.no-TSK", "worse", "0 of 57")]
    assert [row.estimate for row in rows[:12]] == sorted(row.estimate for row in rows[:12])
    assert sum(row.verdict == "worse" for row in rows) == 12
    assert {row.verdict for row in rows[12:]} == {"inconclusive"}


def test_one_dominating_comparison_splits_the_axis_and_the_figure_says_so(paper):
    forest = forest_of(paper)

    assert forest.axis.is_split
    assert any("split" in note for note in forest.notes)


def test_the_margin_is_a_band_on_the_axis(study_of):
    forest = forest_of(study_of(["one", "two"], margin=0.5))

    assert forest.margin == (-0.5, 0.5)
    assert forest_of(study_of(["one", "two"])).margin is None


def test_of_all_pairs_a_line_is_an_algorithm_and_more_than_a_screen_folds(study_of):
    names = [f"a{k}" for k in range(9)]
    forest = forest_of(study_of(names), most=6)

    assert (len(forest.lines), forest.shown, len(forest.folded)) == (9, 6, 3)
    assert MAX_ROWS == 30
    assert {line.name for line in forest.lines} == set(names)
    assert forest.lines[0].row is None


def test_intervals_without_an_end_have_an_arrow_and_a_word(study_of):
    forest = forest_of(study_of(["one", "two"], alternative="less", reference="one"))

    assert any("arrowhead" in note for note in forest.notes)


def test_estimates_that_are_shares_of_instances_are_percent(study_of):
    forest = forest_of(study_of(["one", "two"], test="sign", margin=0.5))

    assert forest.margin is None
    assert forest.rows[0].estimate_text.endswith(" %")
