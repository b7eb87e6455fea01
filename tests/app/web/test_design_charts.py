from __future__ import annotations

import pytest

import ampler as am
from ampler.app.web.design_charts import power_chart, ranks_chart
from ampler.design.words import rank_rows
from ampler.report.figures.design import power_curve_data


@pytest.fixture(scope="module")
def paper() -> am.Design:
    return am.required_instances(comparisons=21, effect=0.5, power=0.8)


def test_the_curve_points_at_the_design(paper):
    picture = str(power_chart(power_curve_data(paper)))

    assert "0.804 for d = 0.5" in picture
    assert picture.count('class="band"') == 1


def test_a_single_comparison_has_no_band():
    design = am.required_instances(comparisons=1, effect=0.5, power=0.8)

    assert 'class="band"' not in str(power_chart(power_curve_data(design)))


def test_every_rank_has_its_dot(paper):
    picture = str(ranks_chart(rank_rows(paper), 0.8, 21))

    assert picture.count("<circle") == 21
    assert "wanted 0.8" in picture
