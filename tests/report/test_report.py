"""Reports on everything that can be reported on, in every format."""

from __future__ import annotations

import csv
import io
import re

import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidInput
from ampler.report import render, report_format, subject_of, write_figures
from ampler.report.csv import harmless
from ampler.report.markdown import marked
from ampler.report.subject import Subject

FRAME = pd.DataFrame({"dataset": list("abcd"), "old": [9.0, 8, 7, 9], "new": [5.0, 4, 4, 6]})


@pytest.mark.parametrize("ending", ["html", "md", "tex", "csv"])
def test_a_study_file_a_table_a_frame_and_an_analysis_are_reported(study_file, tmp_path, ending):
    table = tmp_path / "runs.csv"
    FRAME.to_csv(table, index=False)
    sources = [
        (study_file(), {}),
        (table, {"difference": "simple"}),
        (FRAME, {"difference": "simple"}),
        (ampler.analyse(FRAME, difference="simple"), {}),
    ]

    for place, (source, options) in enumerate(sources):
        path = ampler.write_report(source, tmp_path / f"{place}.{ending}", **options)
        assert path.stat().st_size > 200


def test_an_analysis_with_its_study_file_says_how_the_runs_were_made(study_file, tmp_path):
    analysis = ampler.analyse(study_file())

    path = ampler.write_report(analysis, tmp_path / "report.md", study=study_file())

    assert "every algorithm was first run 4 times" in path.read_text(encoding="utf-8")


def test_the_title_is_the_studys_the_files_or_the_one_that_is_given(study_file, tmp_path):
    FRAME.to_csv(tmp_path / "my runs.csv", index=False)

    assert subject_of(study_file()).title == "small & fine"
    assert subject_of(tmp_path / "my runs.csv", difference="simple").title == "my runs"
    assert subject_of(FRAME, difference="simple", title="mine").title == "mine"


def test_options_besides_an_analysis_are_refused():
    with pytest.raises(InvalidInput, match="an Analysis is reported as it is, got 'alpha' besides"):
        subject_of(ampler.analyse(FRAME, difference="simple"), alpha=0.1)


@pytest.mark.parametrize("name", ["report", "report.pdf", "report.html.gz"])
def test_another_format_is_refused_before_any_work(name):
    with pytest.raises(InvalidInput, match=r"must end in \.html, \.tex, \.md or \.csv, got"):
        ampler.write_report("there is no such file", name)


def test_endings_are_known_in_their_variants():
    assert [report_format(f"x.{ending}") for ending in ("HTM", "markdown", "tex", "csv")] == [
        "html",
        "md",
        "tex",
        "csv",
    ]


def test_a_failing_report_leaves_the_old_one_alone(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("old", encoding="utf-8")

    with pytest.raises(InvalidInput):
        ampler.write_report(FRAME, path)

    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


# Markdown ---------------------------------------------------------------------------------------------------------


def test_markdown_tables_have_the_same_number_of_cells_in_every_row(nasty):
    text = render(Subject("x", nasty), "md")

    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in block.splitlines()}
        assert len(cells) == 1


def test_markdown_shows_names_as_they_stand(nasty, nasty_names):
    text = render(Subject("x", nasty), "md")

    for name in nasty_names:
        assert marked(name) in text
    assert "<script>" not in text


def test_markdown_has_the_paragraph_and_its_entries(nasty):
    text = render(Subject("x", nasty), "md")

    assert "## Method" in text
    assert "@article{holm1979," in text


# CSV --------------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_formulas_are_made_harmless(text):
    assert harmless(text) == f"'{text}"


# Figures ----------------------------------------------------------------------------------------------------------


def test_every_figure_is_written_into_a_folder(nasty, tmp_path):
    paths = write_figures(Subject("x", nasty), tmp_path / "figures", kind="svg")

    assert {path.stem for path in paths} >= {"intervals", "accuracy", "runs", "power", "ranks", "subgroups-1", "pair-1"}
    assert all(path.stat().st_size > 1000 for path in paths)


def test_figures_of_another_kind_are_refused(nasty, tmp_path):
    with pytest.raises(InvalidInput, match="figures must be one of pdf, svg, png, pgf, got 'jpg'"):
        write_figures(Subject("x", nasty), tmp_path, kind="jpg")
