"""The figures of a study with looks."""

import math
from dataclasses import replace

import pytest
from interim_studies import small_analysis

from ampler.core.errors import InvalidData
from ampler.plots import draw_look_paths, draw_look_stops, look_paths_data, look_stops_data
from ampler.report.drawings import drawings


@pytest.fixture(scope="module")
def analysis():
    return small_analysis()


def test_a_path_ends_where_its_comparison_stopped(analysis):
    data = look_paths_data(analysis)
    assert data.instances == (12, 20, 28)
    assert [len(path) for path in data.paths] == [each.look for each in analysis.looks.standings]
    for path, verdict in zip(data.paths, data.verdicts, strict=True):
        if verdict == "different":
            assert abs(path[-1]) >= data.limits[len(path) - 1].mildest


def test_the_stops_stand_in_the_order_of_the_comparisons(analysis):
    data = look_stops_data(analysis)
    assert data.labels == tuple(each.second for each in analysis.comparisons)
    assert data.instances == tuple(each.instances for each in analysis.comparisons)
    assert look_stops_data(analysis, most=1).left_out == 2


@pytest.mark.parametrize("how", [{}, {"done": 1}, {"effect": None}, {"test": "wilcoxon"}])
def test_the_drawings_show_every_look_and_comparison(how):
    analysis = small_analysis(**how)
    paths, stops = draw_look_paths(look_paths_data(analysis)), draw_look_stops(look_stops_data(analysis))
    assert [each.get_text() for each in stops.get_yticklabels()] == [each.second for each in analysis.comparisons]
    assert list(paths.get_xticks()) == [12, 20, 28]
    low, high = paths.get_ylim()
    assert all(math.isfinite(y) and low <= y <= high for line in paths.lines for y in line.get_ydata())


def test_a_report_draws_them_and_other_studies_have_none(analysis):
    assert {"look-paths", "look-stops"} <= {drawing.name for drawing in drawings(analysis)}
    plain = replace(analysis, looks=None)
    with pytest.raises(InvalidData, match="about a study with interim analyses"):
        look_paths_data(plain)
    assert not any(drawing.name.startswith("look-") for drawing in drawings(plain))
