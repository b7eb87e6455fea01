"""What is probable, in a report: its tables, and its table for a paper."""

from __future__ import annotations

import csv
import io

import pytest

from ampler.report import Subject, render
from ampler.report.latex import bayes_tabular
from ampler.report.tables import probable_table, probable_tables, probable_words, ranking_table, sensitivity_table


@pytest.fixture(scope="session")
def judged(study_of, nasty_names):
    """An analysis with a margin, in which everything has a nasty name."""
    return study_of(nasty_names, reference=nasty_names[3], margin=0.5)


def test_the_table_has_every_comparison_with_its_probabilities_in_holms_order(judged):
    table = probable_table(judged.bayes)

    assert len(table.rows) == 8
    assert len(table.header) == len(table.rows[0]) == 13
    assert [row[4].value for row in table.rows] == [each.chances.worse for each in judged.bayes.comparisons]
    assert {row[1].text for row in table.rows} <= {"worse", "better", "equivalent", "inconclusive"}


def test_what_is_nearly_certain_is_not_written_as_certain(judged):
    cells = [cell.text for row in probable_table(judged.bayes).rows for cell in row[4:]]

    assert "<0.001" in cells
    assert not {"0.000", "1.000"} & set(cells)


def test_a_comparison_without_a_posterior_has_dashes(gappy):
    rows = [row for row in probable_table(gappy.bayes).rows if "four" in row[0].text]

    assert rows
    assert {cell.text for row in rows for cell in row[2:]} == {"–"}
    assert "–" in bayes_tabular(gappy.bayes) or "--" in bayes_tabular(gappy.bayes)


def test_rankings_and_other_models_are_tables_too(judged):
    ranking, other = ranking_table(judged.bayes), sensitivity_table(judged.bayes)

    assert len(ranking.rows) == 9
    assert sum(row[2].value for row in ranking.rows) == pytest.approx(1.0)
    assert len(other.rows) == 8
    assert len(other.header) == len(other.rows[0])


def test_the_table_for_a_paper_escapes_names_and_has_all_rows(judged):
    text = bayes_tabular(judged.bayes)

    assert text.startswith(r"\begin{tabular}{lrcrrrrrrl}")
    assert text.count(r"\\") >= 9
    assert r"\textbackslash{}input\{x\}" in text
    assert "$<0.001$" in text


def test_the_csv_of_a_report_with_a_margin_goes_on_with_the_probabilities(judged, nasty):
    rows = list(csv.DictReader(io.StringIO(render(Subject("x", judged), "csv"))))

    assert [float(row["mean_worse"]) for row in rows] == [each.chances.worse for each in judged.bayes.comparisons]
    assert [row["bayes_verdict"] for row in rows] == [each.verdict for each in judged.bayes.comparisons]
    assert "bayes_verdict" not in render(Subject("x", nasty), "csv")


def test_a_comparison_without_a_posterior_is_empty_in_the_csv(study_of):
    lacking = {(i, 2) for i in range(2, 12)}
    analysis = study_of(["one", "two", "three"], lacking=lacking, margin=0.5)

    rows = list(csv.DictReader(io.StringIO(render(Subject("x", analysis), "csv"))))

    assert [row["mean_worse"] == "" for row in rows] == ["three" in (row["first"], row["second"]) for row in rows]


def test_without_a_margin_a_report_says_why_it_has_no_probabilities(nasty):
    assert probable_words(nasty).headline.startswith("Not computed: set a margin")
    assert probable_tables(nasty) == ()
