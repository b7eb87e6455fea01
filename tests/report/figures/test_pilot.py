"""The figures of a study that found its own size."""

import random

import pytest

from ampler import Study
from ampler.core.errors import InvalidData
from ampler.report import render, subject_of
from ampler.report.drawings import drawings
from ampler.report.figures import draw_pilot, draw_spending, pilot_data, spending_data
from ampler.testing import SerialExecutor


def solver(shift):
    return lambda instance, seed: 100 + instance + shift + random.Random(seed).gauss(0, 2)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("pilot") / "study.db"
    study = Study(
        algorithms={"a": solver(0), "b": solver(0.3), "c": solver(40)},
        instances={f"i{n}": n for n in range(50)},
        difference="percent",
        reference="a",
        detect=0.01,
        pilot=6,
        start=3,
        seed=5,
        better="lower",
    )
    study.run(file, executor=SerialExecutor())
    return file


@pytest.fixture(scope="module")
def analysis(path):
    return subject_of(path).analysis


def test_the_pilot_shows_each_comparison_with_its_interval_and_who_was_clear(analysis):
    data = pilot_data(analysis)
    assert data.labels == ("b", "c")
    assert data.clear == (False, True)
    assert all(low < mean < high for mean, (low, high) in zip(data.means, data.intervals, strict=True))
    assert data.intervals[1][1] < 0
    assert (data.detect, data.instances, data.left_out) == (0.01, 6, 0)
    assert pilot_data(analysis, most=1).left_out == 1


def test_where_the_runs_went_adds_up(analysis):
    data = spending_data(analysis)
    assert data.pilot == (18, 18, 18)
    assert (data.topped_up[2], data.new[2]) == (0, 0)
    assert sum(data.pilot) + sum(data.topped_up) + sum(data.new) == data.total == analysis.course.total


def test_the_drawings_have_a_row_for_each(analysis):
    ax = draw_pilot(pilot_data(analysis))
    assert [each.get_text() for each in ax.get_yticklabels()] == ["b", "c"]
    bars = draw_spending(spending_data(analysis)).patches
    assert sum(bar.get_width() for bar in bars) == analysis.course.total


def test_other_studies_have_no_such_figure(analysis):
    from dataclasses import replace

    plain = replace(analysis, course=None)
    with pytest.raises(InvalidData, match="of a study that found its own size"):
        pilot_data(plain)
    assert "pilot" not in {drawing.name for drawing in drawings(plain)}


def test_a_report_says_how_the_size_was_found(path, figures_only_of):
    figures_only_of("course")
    subject = subject_of(path)
    page = render(subject, "html")
    assert "How its size was found" in page
    assert 'id="figure-pilot"' in page
    assert 'id="figure-spending"' in page
    text = render(subject, "md")
    assert "c gets no more runs" in text
    assert "Sample size was re-estimated once, after 6 instances" in text
    assert "at 90 % of Holm's levels" in text
    assert "Sample size was re-estimated once" in render(subject, "tex")


def test_the_json_has_the_course(analysis):
    document = analysis.as_dict()
    assert document["course"]["planned"] == analysis.course.planned
    assert [each["decided"] for each in document["diagnoses"]] == ["end", "pilot"]
    assert "decided in the pilot" in document["comparisons"][0]["verdict"]
