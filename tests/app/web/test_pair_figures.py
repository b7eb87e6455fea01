from __future__ import annotations

import pytest

from ampler.app.web.drawn import figure_file
from ampler.app.web.pair_figures import of_pair, pair_drawings
from ampler.report import figures as plots
from ampler.report.subject import subject_of


@pytest.fixture(scope="module")
def subject(finished_study):
    return subject_of(finished_study)


def test_a_file_is_the_figure_that_python_draws(subject):
    each = subject.analysis.comparisons[1]
    data = plots.quantiles_data(subject.analysis, each.first, each.second)

    assert of_pair(subject, "quantiles-of-2.svg") == figure_file(lambda: plots.draw_quantiles(data), "x.svg")
    assert of_pair(subject, "differences-of-1.pdf").startswith(b"%PDF")


def test_a_page_shows_both_under_the_names_of_their_files(subject):
    assert [each.name for each in pair_drawings(subject.analysis, 2)] == ["differences-of-2", "quantiles-of-2"]


@pytest.mark.parametrize("name", ["quantiles-of-99.svg", "quantiles-of-0.svg", "quantiles-of-1.exe", "intervals.svg"])
def test_what_is_none_of_them_is_left_to_others(subject, name):
    assert of_pair(subject, name) is None
