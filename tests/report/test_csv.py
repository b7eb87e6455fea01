from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from ampler import analyse
from ampler.report import render
from ampler.report.subject import Subject


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
    analysis = analyse(frame, difference="simple", better="lower", reference="old", alternative="greater")

    text = render(Subject("x", analysis), "csv")

    assert "inf" not in text
    assert any(cell == "" for cell in next(csv.DictReader(io.StringIO(text))).values())
