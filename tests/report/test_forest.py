"""One row for each comparison, with the numbers of the table of the comparisons."""

from __future__ import annotations

import re

import pytest

from ampler.report.forest import SHOWN, forest_of
from ampler.report.tables import comparisons_table


def numbers(text):
    return [float(found.replace("−", "-")) for found in re.findall(r"[−]?\d+(?:\.\d+)?(?:e[−]?\d+)?", text)]


@pytest.mark.parametrize(
    "options", [{"difference": "simple"}, {"difference": "percent"}, {"difference": "ratio"}], ids=str
)
def test_rows_show_the_numbers_of_the_table_of_the_comparisons(study_of, options):
    analysis = study_of(["one", "two", "three"], reference="one", **options)
    table = comparisons_table(analysis)
    places = [table.header.index(name) for name in ("joint interval", "p (Holm)")]

    for row, cells in zip(forest_of(analysis).rows, table.rows, strict=True):
        assert numbers(row.estimate_text) == numbers(cells[3].text)
        assert numbers(row.interval_text) == numbers(cells[places[0]].text)
        assert row.p_text == cells[places[1]].text


def test_a_rival_that_is_worse_than_the_reference_is_called_worse(paper):
    rows = forest_of(paper).rows

    assert [(row.name, row.finding, row.wins) for row in rows[:1]] == [("no-SWP.no-TSK", "worse", "57 of 57")]
    assert sum(row.finding == "worse" for row in rows) == 12
    assert {row.finding for row in rows[12:]} == {"undecided"}


def test_one_dominating_comparison_splits_the_axis_and_the_figure_says_so(paper):
    forest = forest_of(paper)

    assert forest.axis.is_split
    assert any("split" in note for note in forest.notes)


def test_the_margin_is_a_band_on_the_axis(study_of):
    forest = forest_of(study_of(["one", "two"], margin=0.5))

    assert forest.margin == (-0.5, 0.5)
    assert forest_of(study_of(["one", "two"])).margin is None


def test_of_many_pairs_those_of_the_leader_are_shown_and_the_rest_folds(study_of):
    names = [f"a{k}" for k in range(9)]
    forest = forest_of(study_of(names))

    assert (len(forest.rows), forest.shown) == (36, SHOWN)
    assert all("a0" in (row.first, row.second) for row in forest.rows[:8])
    assert len(forest.folded) == 12


def test_intervals_without_an_end_have_an_arrow_and_a_word(study_of):
    forest = forest_of(study_of(["one", "two"], alternative="less", reference="one"))

    assert any("no end" in note for note in forest.notes)


def test_estimates_that_are_shares_of_instances_are_percent(study_of):
    forest = forest_of(study_of(["one", "two"], test="sign", margin=0.5))

    assert forest.margin is None
    assert forest.rows[0].estimate_text.endswith(" %")
