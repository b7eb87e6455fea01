from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ampler.analysis import analyse_runs
from ampler.analysis.ordering import told_order
from ampler.core.failures import Penalty
from ampler.core.runs import Runs
from ampler.core.settings import AnalysisSettings
from ampler.report.latex import algorithms_tabular
from ampler.report.tables import (
    accuracy_table,
    algorithms_table,
    assumptions_table,
    comparisons_table,
    excluded_table,
    exploratory_tables,
    omnibus_table,
    statistics_table,
)

PAPER = json.loads((Path(__file__).parents[1] / "gold" / "paper_tables.json").read_text(encoding="utf-8"))


def texts(table, column):
    place = table.header.index(column)
    return [row[place].text for row in table.rows]


def test_table_1_of_the_paper_to_its_printed_digits(paper):
    table = comparisons_table(paper)
    rows = PAPER["table1_N57_K21"]["rows"]

    assert texts(table, "comparison") == [f"Full × {row['comparison']}" for row in rows]
    assert [float(text) for text in texts(table, "α′")] == pytest.approx([row["alpha_exact"] for row in rows], rel=0.05)
    for column, printed in (("p", "p_printed"), ("d", "d_printed")):
        assert [float(text.replace("−", "-")) for text in texts(table, column)] == [row[printed] for row in rows]
    assert "mean, %" in table.header
    assert [float(f"{row[3].value / 100:.2g}") for row in table.rows] == [row["estimate"] for row in rows]
    assert table.stop == sum(row["reject"] for row in rows) == 12


def test_every_row_of_every_table_has_the_cells_of_its_header(nasty, gappy, study_of):
    for analysis in (nasty, gappy, study_of(["one", "two"], margin=0.5), study_of(["one", "two"], runs=1)):
        tables = [
            *(make(analysis) for make in (comparisons_table, algorithms_table, accuracy_table, assumptions_table)),
            *(omnibus_table(analysis), statistics_table(analysis), *exploratory_tables(analysis)),
            excluded_table(analysis),
        ]
        for table in filter(None, tables):
            assert {len(row) for row in table.rows} == {len(table.header)}
            assert all(place < len(table.header) for place in table.words)


def test_the_best_of_each_instance_is_marked(nasty):
    table = statistics_table(nasty)

    for row, values in zip(table.rows, nasty.statistics[told_order(nasty)], strict=True):
        assert [cell.best for cell in row[1:]] == (values == values.min()).tolist()


def test_where_higher_is_better_the_highest_is_marked(study_of):
    analysis = study_of(["one", "two", "three"], better="higher")

    marked = [[cell.best for cell in row[1:]] for row in statistics_table(analysis).rows]

    assert np.argmax(marked, axis=1).tolist() == analysis.statistics.argmax(axis=1).tolist()


def test_the_best_mean_rank_is_marked(paper):
    best = [row[0].text for row in algorithms_table(paper).rows if row[-1].best]

    assert best == ["no-SWP"]


def test_numbers_are_sorted_by_their_value_not_their_text(paper):
    table = comparisons_table(paper)
    place = table.header.index("p")

    values = [row[place].value for row in table.rows]

    assert values == sorted(values)
    assert values == [each.p_value for each in paper.comparisons]


def test_too_many_values_are_not_put_into_a_page(study_of, monkeypatch):
    monkeypatch.setattr("ampler.report.tables.MOST_CELLS", 20)

    assert len(statistics_table(study_of(["one", "two"], instances=10, runs=1)).rows) == 10
    assert statistics_table(study_of(["one", "two"], instances=11, runs=1)) is None


def test_unknown_accuracy_is_a_dash(study_of):
    table = accuracy_table(study_of(["one", "two"], runs=1))

    assert set(texts(table, "largest SE")) == {"–"}
    assert set(texts(table, "worst pair")) == {"–"}


def test_comparisons_that_rest_on_different_instances_say_on_how_many(gappy, paper):
    table = comparisons_table(gappy)

    assert dict(zip(texts(table, "comparison"), texts(table, "instances"), strict=True)) == {
        "one × two": "12",
        **dict.fromkeys(["one × three", "two × three"], "4"),
        **dict.fromkeys(["one × four", "two × four", "three × four"], "1"),
    }
    assert "instances" not in comparisons_table(paper).header


def test_what_an_algorithm_lacks_is_a_dash_and_never_the_best(gappy):
    rows, told = statistics_table(gappy).rows, gappy.statistics[told_order(gappy)]

    assert [[cell.text == "–" for cell in row[1:]] for row in rows] == np.isnan(told).tolist()
    assert [sum(cell.best for cell in row) for row in rows] == [1] * 12


def test_too_few_complete_instances_are_no_table_of_all_together(gappy):
    assert omnibus_table(gappy) is None
    assert set(texts(algorithms_table(gappy), "mean rank")) == {"–"}


def test_instances_that_some_algorithm_lacks_are_listed_with_their_use(gappy):
    table = excluded_table(gappy)

    assert set(texts(table, "used in")) == {"some comparisons"}
    assert texts(table, "instance") == list(gappy.incomplete)
    assert texts(table, "why")[0] == "no run of four"


def test_runs_that_gave_a_value_stand_beside_those_that_failed():
    rows = [
        (i, a, 10.0 + ord(i) % 7 + (a == "b"), "timeout" if (i, a) == ("p", "b") else "ok")
        for i in "pqrst"
        for a in "ab"
    ]
    runs = Runs.from_columns(*zip(*rows, strict=True))
    analysis = analyse_runs(runs, AnalysisSettings(difference="simple", failures=Penalty(1.0)))

    assert texts(algorithms_table(analysis), "gave a value") == ["5 (100 %)", "4 (80 %)"]
    assert texts(algorithms_table(analysis), "failed") == ["0", "1 timeout"]
    assert "$4$" in algorithms_tabular(analysis)


def test_all_instances_used_is_no_table(paper):
    assert excluded_table(paper) is None
