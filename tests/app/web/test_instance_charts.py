from __future__ import annotations

import math

from ampler.app.web.instance_charts import DifferenceRow, differences_chart, runs_chart


def test_many_runs_are_thinned_out():
    picture = str(runs_chart({"a": [float(n) for n in range(5000)], "b": [1.0], "c": []}))

    assert 100 <= picture.count("<circle") <= 300
    assert "5,001 runs" in picture


def test_one_value_alone_can_be_drawn():
    assert "nan" not in str(runs_chart({"a": [0.0]}))


def test_an_interval_without_an_end_goes_to_the_edge():
    rows = [
        DifferenceRow("a − b", -2.0, -math.inf, 1.0, "−2", False),
        DifferenceRow("a − c", math.nan, math.nan, math.nan, "–", False),
    ]
    picture = str(differences_chart(rows))

    assert "inf" not in picture.replace("interval", "")
    assert "nan" not in picture
