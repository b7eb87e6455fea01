from __future__ import annotations

import csv
import io

import pandas as pd
import pytest

from ampler.report import render
from ampler.report.csv import harmless
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


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_formulas_are_made_harmless(text):
    assert harmless(text) == f"'{text}"
