"""Names as codes: one small number per row, names in the order of their first appearance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ampler.core.errors import InvalidData
from ampler.data.tables.cells import RowLocation, coded, combination, needed, row_names

LOCATION = RowLocation("runs.csv")


@given(st.lists(st.sampled_from(["a", "b", " a", "b ", "c"]), min_size=1))
def test_every_row_has_its_name_without_blanks(names):
    found = coded(pd.Series(names))

    assert [found.of(row) for row in range(len(names))] == [name.strip() for name in names]
    assert found.names == tuple(dict.fromkeys(name.strip() for name in names))


def test_a_row_without_a_name_has_no_code_and_whole_numbers_lose_their_point():
    assert coded(pd.Series(["a", None, ""])).codes.tolist() == [0, -1, -1]
    assert coded(pd.Series([3.0, 7.5])).names == ("3", "7.5")


def test_some_rows_keep_their_names():
    assert coded(pd.Series(["a", "b", "a"])).at(np.array([2, 1])).codes.tolist() == [0, 1]


def test_columns_make_a_name_together_and_an_empty_cell_is_told_with_its_line():
    frame = pd.DataFrame({"f": ["1", "1"], "dim": ["5", "20"]}, index=[2, 3])
    assert row_names(frame, ["f", "dim"], LOCATION).names == ("1, dim=5", "1, dim=20")

    frame.loc[3, "dim"] = ""

    with pytest.raises(InvalidData, match=r"line 3 of runs.csv must hold a name in column 'dim'"):
        row_names(frame, ["f", "dim"], LOCATION)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1))
def test_rows_share_a_combination_when_all_their_codes_agree(rows):
    codes, first = combination(*(np.array(column, dtype=np.intp) for column in zip(*rows, strict=True)))

    order = list(dict.fromkeys(rows))
    assert codes.tolist() == [order.index(row) for row in rows]
    assert [rows[location] for location in first] == order


def test_a_column_that_others_determine_is_not_needed_to_name_a_row():
    frame = pd.DataFrame({"problem": list("aabb"), "dim": list("1212"), "suite": list("xxyy"), "year": list("0000")})

    assert needed(frame, ["problem", "dim", "suite", "year"]) == ("problem", "dim")
    assert needed(frame, ["year"]) == ("year",)
