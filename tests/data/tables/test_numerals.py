"""Numbers as people write them: one meaning for a column, or one question."""

from __future__ import annotations

import csv
import io
import itertools
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ampler as am
from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table
from ampler.data.tables.cells import PATTERNS, python_number

VALUES = [0.5, 12.25, 987.0, 1234.5, 23456.75, 1240.0]
THOUSANDS = {".": ["", ",", " ", "'", "\N{NO-BREAK SPACE}"], ",": ["", ".", " ", "'", "\N{NARROW NO-BREAK SPACE}"]}


def written(number, decimal, thousands):
    """A number in a dialect."""
    whole, _, rest = f"{number:,.10g}".partition(".")
    return whole.replace(",", thousands) + (f"{decimal}{rest}" if rest else "")


def table(texts, separator=",", **others):
    """Runs of two algorithms with these cells; instances number them."""
    rows = [
        {"solver": solver, "instance": f"i{n}", "cost": text} | {name: cells[n] for name, cells in others.items()}
        for n, text in enumerate(texts)
        for solver in ("a", "b")
    ]
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(("decimal", "thousands"), [(mark, each) for mark in THOUSANDS for each in THOUSANDS[mark]])
def test_numbers_are_the_same_in_every_dialect(write, separator, decimal, thousands):
    path = write(table([written(value, decimal, thousands) for value in VALUES], separator))
    assert sorted(set(read_table(path).runs.value)) == sorted(VALUES)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "cells",
    [
        ["1,234", "1240", "1250"],
        ["1,234", "2,345", "3,456"],
        ["1,234", "12,500", "987"],
        ["-1,234", "+1,235", "7"],
    ],
)
def test_a_comma_that_may_be_either_is_asked_about_and_the_answer_is_taken(write, separator, cells):
    path = write(table(cells, separator))
    with pytest.raises(InvalidData, match=r"column 'cost' of runs.csv is ambiguous.*decimal=\".\" or decimal=\",\""):
        am.analyse(path, difference="simple")
    for mark, thousands in ((".", ","), (",", ".")):
        wanted = sorted(float(cell.replace(thousands, "").replace(mark, ".")) for cell in cells)
        assert sorted(set(read_table(path, columns=Columns(decimal=mark)).runs.value)) == wanted


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,234", "1,2345"], [1.234, 1.2345]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["1,234", "2,5"], [1.234, 2.5]),
        (["1,234,567", "1,234"], [1234567, 1234]),
        (["1,234.5", "1,234"], [1234.5, 1234]),
        (["1.234,5", "1.234"], [1234.5, 1234]),
        (["1.234.567", "1.234"], [1234567, 1234]),
        (["1,5e3", "1,234"], [1500, 1.234]),
        (["1 234", "987"], [1234, 987]),
        (["1'234'567.5", "3"], [1234567.5, 3]),
        (["1.234", "0.5"], [1.234, 0.5]),
    ],
)
@pytest.mark.parametrize("separator", [";", "\t"])
def test_one_cell_that_fits_one_mark_alone_decides_for_all(write, separator, cells, values):
    assert sorted(set(read_table(write(table(cells, separator))).runs.value)) == sorted(values)


@pytest.mark.parametrize("cells", [["1,234", "2.5", "3.5"], ["1.234", "2,5", "3,5"]])
def test_one_mark_of_thousands_among_numbers_with_the_other_mark_is_asked_about(write, cells):
    with pytest.raises(InvalidData, match="is ambiguous"):
        read_table(write(table(cells, ";")))


def test_other_columns_decide_where_the_column_itself_does_not(write):
    cells = ["1,234", "1240", "1250"]
    commas = write(table(cells, ";", density=["0,5", "0,7", "0,9"]))
    assert min(read_table(commas).runs.value) == 1.234
    points = write(table(cells, ";", density=["0.5", "0.7", "0.9"]))
    assert min(read_table(points).runs.value) == 1234


def test_points_that_may_separate_thousands_are_asked_about_where_semicolons_or_tabs_separate_cells(write):
    cells = ["1.234", "12.345", "987"]
    for separator in ";\t":  # as a spreadsheet writes and copies them
        with pytest.raises(InvalidData, match="is ambiguous"):
            read_table(write(table(cells, separator)))
    for separator in ",|":
        assert sorted(set(read_table(write(table(cells, separator))).runs.value)) == [1.234, 12.345, 987]
    for cells in (["1.234", "12.345", "9.87"], ["1.234", "12.345", "1240"], ["1.234", "12.345", "98.765"]):
        assert sorted(set(read_table(write(table(cells, "\t"))).runs.value)) == sorted(map(float, cells))
    with pytest.raises(InvalidData, match=r"column 'old' of runs\.csv is ambiguous: '1\.234'"):
        read_table(write("dataset\told\tnew\ni1\t1.234\t980\ni2\t1.300\t990\n"))


def test_a_mark_that_comes_late_is_seen_too():
    cells = ["1240"] * 12_000 + ["1,234"]
    frame = pd.DataFrame({"solver": "a", "instance": [f"i{n}" for n in range(len(cells))], "cost": cells})
    with pytest.raises(InvalidData, match="is ambiguous"):
        read_table(frame)


def test_a_wide_table_and_a_data_frame_are_asked_about_too(write):
    with pytest.raises(InvalidData, match=r"column 'new' of runs\.csv is ambiguous"):
        read_table(write("dataset;old;new\ni1;1240;1,234\ni2;1250;1,300\n"))
    frame = pd.DataFrame({"dataset": ["i1", "i2"], "old": ["1,234", "1240"], "new": ["1250", "1260"]})
    with pytest.raises(InvalidData, match="column 'old' of the data frame is ambiguous"):
        read_table(frame)


@given(
    st.floats(min_value=0, max_value=1e9),
    st.sampled_from(sorted(itertools.chain(*([(k, v) for v in vs] for k, vs in THOUSANDS.items())))),
)
def test_what_a_dialect_writes_it_reads(number, dialect):
    decimal, thousands = dialect
    text = written(round(number, 3), decimal, thousands)
    assert re.fullmatch(PATTERNS[decimal], text)
    assert float(python_number(text, decimal)) == float(f"{round(number, 3):.10g}")
