"""Reports on everything that can be reported on, in every format."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.core.errors import InvalidData, InvalidInput
from ampler.report import Subject, report_format, write_figures
from ampler.report.drawings import figures_of

FRAME = pd.DataFrame({"dataset": list("abcd"), "old": [9.0, 8, 7, 9], "new": [5.0, 4, 4, 6]})


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("ending", ["html", "md", "tex", "csv"])
def test_a_study_file_a_table_a_frame_and_an_analysis_are_reported(study_file, tmp_path, ending):
    table = tmp_path / "runs.csv"
    FRAME.to_csv(table, index=False)
    sources = [
        (study_file(), {}),
        (table, {"difference": "simple", "better": "lower"}),
        (FRAME, {"difference": "simple", "better": "lower"}),
        (ampler.analyse(FRAME, difference="simple", better="lower"), {}),
    ]

    for place, (source, options) in enumerate(sources):
        path = ampler.write_report(source, tmp_path / f"{place}.{ending}", **options)
        assert path.stat().st_size > 200


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


@pytest.mark.parametrize("most", [4, pytest.param(None, marks=pytest.mark.slow)])
def test_every_figure_is_written_into_a_folder(study_of, tmp_path, monkeypatch, most):
    monkeypatch.setattr("ampler.report.drawings.figures_of", lambda analysis: islice(figures_of(analysis), most))
    analysis = study_of(["one", "two", "three"], instances=6, features={"half": ["one", "other"]}, lacking=[(0, 0)])

    paths = write_figures(Subject("x", analysis), tmp_path / "figures", kind="svg")

    names = [drawing.name for drawing in figures_of(analysis)]
    assert set(names) >= {"intervals", "accuracy", "runs", "power", "ranks", "subgroups-1", "pair-1"}
    assert [path.stem for path in paths] == names[:most]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_figures_of_another_kind_are_refused(nasty, tmp_path):
    with pytest.raises(InvalidInput, match="figures must be one of pdf, svg, png, pgf, got 'jpg'"):
        write_figures(Subject("x", nasty), tmp_path, kind="jpg")


def test_values_beyond_what_a_figure_can_show_are_refused_in_one_sentence(tmp_path):
    table = pd.DataFrame({"instance": list("abcdef"), "one": np.linspace(1.6, 1.7, 6) * 1e308})
    table["two"] = table["one"].to_numpy()[::-1] * 0.99

    with pytest.raises(InvalidData, match="scale the values down"):
        ampler.write_report(ampler.analyse(table, difference="simple", better="lower"), tmp_path / "report.html")
