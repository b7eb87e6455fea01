from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import ampler as am
from ampler.app.web.charts import (
    accuracy_chart,
    binned,
    heat_chart,
    heat_legend,
    power_chart,
    ranks_chart,
    runs_chart,
)
from ampler.design import Design
from ampler.design.text import rank_rows
from ampler.report.figures.planning import power_curve_data
from ampler.study.status import InstanceStatus, StudyStatus


def test_names_in_a_chart_are_escaped():
    rows = (InstanceStatus('"<i>', "finished", None, 0.1, {"<b>&": 3}, 0),)
    picture = str(heat_chart(StudyStatus("s", None, ("<b>&",), 9, 0, 1.0, 1, 0, "", 0, rows)))

    assert "".join(ElementTree.fromstring(picture).itertext()) == '<b>&"<i>, <b>&: 3 runs'
    assert "<b>" not in picture


def test_a_curve_names_its_axes(paper):
    texts = list(ElementTree.fromstring(str(power_chart(power_curve_data(paper)))).itertext())

    assert "effect, d" in texts
    assert "power" in texts
    assert texts.count("0.6") == 2


@pytest.fixture(scope="module")
def paper() -> Design:
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


def test_many_runs_are_thinned_out():
    picture = str(runs_chart({"a": [float(n) for n in range(5000)], "b": [1.0], "c": []}))

    assert 100 <= picture.count("<circle") <= 300
    assert "5,001 runs" in picture


def test_one_value_alone_can_be_drawn():
    assert "nan" not in str(runs_chart({"a": [0.0]}))


def status(instances: int, algorithms: int = 3, failures: int = 0) -> StudyStatus:
    names = tuple(f"a{n}" for n in range(algorithms))
    rows = tuple(
        InstanceStatus(f"i{n}", "finished" if n else "under way", None, 0.1, dict.fromkeys(names, n % 9), failures)
        for n in range(instances)
    )
    return StudyStatus("s", None, names, 9, failures, 1.0, 1, 0, "", 0, rows)


def test_a_small_study_has_a_cell_for_every_pair():
    picture = str(heat_chart(status(10)))

    assert picture.count("<rect") == 30
    assert "i9, a2: 0 runs" in picture


def test_a_large_study_stays_small():
    picture = str(heat_chart(status(5000, 20)))

    assert len(picture) < 200_000
    assert "<rect" not in picture


def test_failures_are_marked_below_their_column():
    assert str(heat_chart(status(10, failures=2))).count('class="failed"') == 10


def test_the_legend_names_every_shade():
    assert [words for _, words in heat_legend(status(20))] == ["no run yet", "1–2", "3–4", "5–6", "7–8"]
    assert heat_legend(status(1)) == [(0, "no run yet")]


@pytest.mark.parametrize("most", range(1, 13))
def test_a_cell_has_the_shade_that_the_legend_gives_its_runs(most):
    rows = tuple(InstanceStatus(f"i{n}", "finished", None, 0.1, {"a": n}, 0) for n in range(most + 1))
    shown = StudyStatus("s", None, ("a",), most, 0, 1.0, 1, 0, "", 0, rows)
    cells = {int(runs): int(shade) for shade, runs in re.findall(r"heat-(\d).*?, a: (\d+) run", str(heat_chart(shown)))}
    ranges = [(shade, words.partition("–")) for shade, words in heat_legend(shown) if shade]
    named = {runs: shade for shade, (low, _, high) in ranges for runs in range(int(low), int(high or low) + 1)}

    assert cells == {0: 0} | named


@pytest.mark.parametrize("number", [1, 199, 200, 201, 5000])
def test_groups_are_few_and_lose_nobody(number):
    groups = binned(status(number).instances, 200)

    assert len(groups) <= 200
    assert sum(map(len, groups)) == number


def test_the_worst_error_of_a_group_is_the_one_that_is_drawn():
    found = status(2000)
    errors = {each.name: 0.1 for each in found.instances} | {"i777": 0.5}
    picture = str(accuracy_chart(found, errors, 0.1, percent=True))

    assert picture.count("<circle") <= 400
    assert "i777: 50 %" in picture
    assert "wanted 10 %" in picture


def test_errors_without_a_target_are_drawn_too():
    assert "wanted" not in str(accuracy_chart(status(3), {"i1": 0.2}, None, percent=False)).split("aria-label")[0]
