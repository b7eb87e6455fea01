from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from interim_studies import small_analysis
from scipy.stats import norm

from ampler import analyse
from ampler.analysis import analyse_runs
from ampler.analysis.standings import reading_order
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData
from ampler.core.failures import Penalty
from ampler.core.settings import Settings
from ampler.report import Subject, render
from ampler.report.html import checks
from ampler.report.latex import algorithms_tabular, holm_table
from ampler.report.methods import look_methods
from ampler.report.tables import (
    accuracy_table,
    algorithms_table,
    assumptions_table,
    comparisons_table,
    excluded_table,
    exploratory_tables,
    interim_of,
    looks_table,
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

    assert texts(table, "compared with Full") == [row["comparison"] for row in rows]
    assert [float(text) for text in texts(table, "α′")] == pytest.approx([row["alpha_exact"] for row in rows], rel=0.05)
    for column, printed, sign in (("p", "p_printed", 1), ("d", "d_printed", -1)):
        numbers = [float(text.replace("−", "-")) for text in texts(table, column)]
        assert numbers == [sign * row[printed] for row in rows]  # the paper prints Full − other
    assert "difference from Full, %" in table.header
    assert [float(f"{row[3].value / 100:.2g}") for row in table.rows] == [-row["estimate"] for row in rows]
    assert table.stop == sum(row["reject"] for row in rows) == 12


def test_table_2_of_the_paper_to_its_printed_digits():
    """The runs are not published: differences have the printed means and the spread that the p-values imply."""
    rows = PAPER["table2_N200_K7"]["rows"]
    scores = norm.ppf((np.arange(200) + 0.5) / 200)
    scores /= scores.std(ddof=1)
    frame = pd.DataFrame({"Full": np.ones(200)})
    for k, row in enumerate(rows):
        differences = row["estimate"] * (1 + np.random.default_rng(k).permutation(scores) / row["d_implied_by_p"])
        frame[row["comparison"]] = 1 - differences
    table = frame.rename_axis("instance").reset_index().melt("instance", var_name="algorithm")
    analysis = analyse(table, difference="percent", reference="Full", better="lower")

    for comparison, row in zip(analysis.comparisons, rows, strict=True):
        assert (comparison.second, comparison.rejected) == (row["comparison"], row["reject"])
        assert comparison.alpha == pytest.approx(row["alpha_exact"])
        assert comparison.p_value == pytest.approx(row["p_printed"], rel=0.02)
        assert comparison.effect_size == pytest.approx(row["d_implied_by_p"])
        low, high = comparison.interval
        assert (high - low) / 2 == pytest.approx(row["halfwidth_implied_by_p_and_estimate"], rel=0.02)


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

    for row, values in zip(table.rows, nasty.statistics[reading_order(nasty)], strict=True):
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


def test_run_noise_above_the_variance_is_no_share_of_it():
    shift = {("i3", "b"): 0.1}
    cells = [(f"i{i}", name, sign) for i in range(4) for name in "ab" for sign in (-1.0, 1.0)]
    rows = [(instance, name, value + shift.get((instance, name), 0.0)) for instance, name, value in cells]
    runs = Runs.from_columns(*zip(*rows, strict=True))
    analysis = analyse(runs, difference="simple", better="lower")
    assert analysis.diagnoses[0].noise_share > 1

    assert texts(assumptions_table(analysis), "run noise") == ["over 100 %"]
    assert ("Largest share of run noise", "over 100 %") in checks(analysis)


def test_unknown_accuracy_is_a_dash(study_of):
    table = accuracy_table(study_of(["one", "two"], runs=1))

    assert set(texts(table, "largest SE")) == {"–"}
    assert set(texts(table, "worst pair")) == {"–"}


def test_comparisons_that_rest_on_different_instances_say_on_how_many(gappy, paper):
    table = comparisons_table(gappy)

    assert dict(zip(texts(table, "comparison"), texts(table, "instances"), strict=True)) == {
        "one − two": "12",
        **dict.fromkeys(["one − three", "two − three"], "4"),
        **dict.fromkeys(["one − four", "two − four", "three − four"], "1"),
    }
    assert "instances" not in comparisons_table(paper).header


def test_what_an_algorithm_lacks_is_a_dash_and_never_the_best(gappy):
    rows, told = statistics_table(gappy).rows, gappy.statistics[reading_order(gappy)]

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
    analysis = analyse_runs(runs, Settings(difference="simple", failures=Penalty(1.0)))

    assert texts(algorithms_table(analysis), "gave a value") == ["5 (100 %)", "4 (80 %)"]
    assert texts(algorithms_table(analysis), "failed") == ["0", "1 timeout"]
    assert r"$4 (80\,\%)$" in algorithms_tabular(analysis)


def test_all_instances_used_is_no_table(paper):
    assert excluded_table(paper) is None


# A study with looks, told in every format.


@pytest.fixture(scope="module")
def analysis():
    return small_analysis()


def test_the_comparisons_have_verdicts_and_repeated_intervals(analysis):
    table = comparisons_table(analysis)
    assert table.header[2:5] == ("verdict", "look", "instances")
    assert [cell.text for cell in table.rows[0][1:5]] == ["c", "worse", "1", "12"]
    assert "repeated CIs" in table.caption


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
    with pytest.raises(InvalidData, match="about a study with interim analyses"):
        interim_of(plain)


@pytest.mark.parametrize("kind", ["html", "md", "tex", "csv"])
def test_every_format_tells_of_the_looks(analysis, kind, figures_only_of):
    figures_only_of("course", "comparisons")
    text = render(Subject("looks", analysis, None), kind)
    assert "equivalent" in text or "inconclusive" in text
    if kind in ("html", "md"):
        assert "Results of the interim analyses" in text
        assert "repeated interval" in text


def test_a_paper_gets_the_verdicts_in_its_table(analysis):
    text = holm_table(analysis)
    assert r"c & worse & $1$ & $12$" in text
    assert "repeated interval" in text


def test_the_methods_paragraph_says_how_the_error_was_kept(analysis):
    words = " ".join(each.words for each in look_methods(analysis))
    assert "group-sequential Holm procedure" in words


def test_no_cell_of_the_csv_is_a_formula(nasty):
    rows = list(csv.DictReader(io.StringIO(render(Subject("x", nasty), "csv"))))

    assert len(rows) == 8
    for row in rows:
        for column in ("first", "second", "verdict"):
            assert not row[column].startswith(("=", "+", "-", "@"))
    assert "'=1+1" in {row["second"] for row in rows}


def test_numbers_of_the_csv_stay_numbers(nasty):
    table = pd.read_csv(io.StringIO(render(Subject("x", nasty), "csv")))

    assert table["estimate"].tolist() == pytest.approx([each.estimate for each in nasty.comparisons], rel=1e-12)


def test_the_open_end_of_a_one_sided_interval_is_an_empty_cell():
    frame = pd.DataFrame({"instance": list("abcde"), "old": [5.0, 6, 7, 8, 9], "new": [4.0, 5.5, 6, 7.5, 8]})
    analysis = analyse(
        frame, difference="simple", better="lower", reference="old", settings=Settings(alternative="greater")
    )

    text = render(Subject("x", analysis), "csv")

    assert "inf" not in text
    assert any(cell == "" for cell in next(csv.DictReader(io.StringIO(text))).values())
