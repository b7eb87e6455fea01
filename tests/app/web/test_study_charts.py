from __future__ import annotations

import pytest

from ampler.app.web.study_charts import accuracy_chart, binned, heat_chart, heat_legend
from ampler.study.status import InstanceStatus, StudyStatus


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
