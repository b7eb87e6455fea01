"""Columns that may be something else than algorithms are asked about, with the way to say what they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ampler.core.errors import InvalidData
from ampler.data.tables import Columns, read_table

NAMES = [f"i{k}" for k in range(9)]
NOISE = np.random.default_rng(5).random((9, 4)).round(4)


def wide(**others):
    return pd.DataFrame({"instance": NAMES, **others, "GA": 10 + NOISE[:, 0], "SA": 10 + NOISE[:, 1]})


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"mean": NOISE[:, 2]}, r"'mean' may be an algorithm or a summary.*ignore=.mean., or.*algorithms=..GA., .SA.."),
        ({"Avg. rank": NOISE[:, 2]}, "'Avg. rank' may be an algorithm or a summary"),
        ({"CPU time": NOISE[:, 2]}, "'CPU time' may be an algorithm or a measured value"),
        ({"PSO_mean": NOISE[:, 2], "PSO_std": NOISE[:, 3]}, "'PSO_std' may be an algorithm or another statistic"),
        ({"mean PSO": NOISE[:, 2], "sd PSO": NOISE[:, 3]}, "'sd PSO' may be an algorithm or another statistic"),
        ({"GA gap": NOISE[:, 2]}, "'GA' may be an algorithm or another statistic or measure of the same"),
        ({"PSO_cost": NOISE[:, 2], "PSO_time": NOISE[:, 3]}, "'PSO_time' may be an algorithm or another statistic"),
        ({"acc_PSO": NOISE[:, 2], "f1_PSO": NOISE[:, 3]}, "'f1_PSO' may be an algorithm or another statistic"),
        ({"alpha": [0.1, 0.5, 0.9] * 3}, "'alpha' may be an algorithm or of another kind"),
        ({"limit1": [3, 4, 5] * 3}, "'limit1' may be an algorithm or of another kind"),
        ({"gadgets": [3000 + 17 * k for k in range(9)]}, "'gadgets' may be an algorithm or of another kind"),
        ({"running": range(1, 10)}, "'running' may be an algorithm or of another kind"),
    ],
)  # fmt: skip
def test_a_doubtful_column_is_asked_about_and_taken_as_the_user_says(others, message):
    frame = wide(**others)
    with pytest.raises(InvalidData, match=message):
        read_table(frame)
    assert read_table(frame, columns=Columns(ignore=tuple(others))).runs.algorithms == ("GA", "SA")
    chosen = (*others, "SA")
    assert read_table(frame, columns=Columns(algorithms=chosen)).runs.algorithms == chosen


@pytest.mark.parametrize(
    "column",
    [
        np.zeros(9),
        10 + NOISE[:, 2],
        np.round(10 + 5 * NOISE[:, 2]),
        1e4 * NOISE[:, 2],
        [*(10 + NOISE[:3, 0]), *[12.5] * 6],
    ],
)
def test_algorithms_may_be_perfect_rounded_or_far_worse(column):
    assert read_table(wide(PSO=column)).runs.algorithms == ("PSO", "GA", "SA")


def test_a_table_of_measures_or_of_runs_alone_compares_nothing():
    frame = wide()
    with pytest.raises(InvalidData, match=r"are measured values, and no column names the algorithm.*with algorithm"):
        read_table(frame.rename(columns={"GA": "precision", "SA": "recall"}))
    with pytest.raises(InvalidData, match=r"number runs, and no column names the algorithm"):
        read_table(frame.rename(columns={"GA": "run1", "SA": "run2"}))
    with pytest.raises(InvalidData, match=r"number runs, and no column names the instance"):
        read_table(pd.DataFrame({"solver": ["a", "b"], "fold_1": [1.0, 2.0], "fold_2": [1.0, 2.5]}))


def test_a_row_that_sums_up_the_others_is_no_instance():
    frame = wide()
    frame.loc[9] = ["Average", frame["GA"].mean(), frame["SA"].mean()]
    with pytest.raises(InvalidData, match="'Average' in column 'instance'"):
        read_table(frame)
    with pytest.raises(InvalidData, match="'Average' in column 'instance'"):
        read_table(frame, columns=Columns(algorithms=("GA", "SA")))


@pytest.mark.parametrize(("name", "summed"), [("mean", np.mean), ("Total", np.sum), ("median", np.median)])
def test_such_a_row_of_a_long_table_is_known_by_its_values(name, summed):
    long = wide().melt("instance", var_name="algorithm", value_name="cost")
    values = {key: summed(column) for key, column in long.groupby("algorithm")["cost"]}
    rows = pd.DataFrame([{"instance": name, "algorithm": key, "cost": value} for key, value in values.items()])
    with pytest.raises(InvalidData, match=f"'{name}' in column 'instance' seems to summarise"):
        read_table(pd.concat([long, rows], ignore_index=True))
    kernel = pd.concat([long, rows.assign(cost=rows["cost"] * 1.2)], ignore_index=True)
    assert name in read_table(kernel).runs.instances


def test_words_that_tell_the_rows_apart_name_them_and_others_are_asked_about():
    frame = wide().rename(columns={"instance": "which"})
    frame.insert(0, "kind", ["u", "v", "w"] * 3)
    assert read_table(frame).runs.instances == tuple(NAMES)
    with pytest.raises(
        InvalidData, match=r"'kind', 'which' could each name the instance.*instance=\[\"kind\", \"which\"\]"
    ):
        read_table(pd.concat([frame, frame]))


def test_a_number_of_the_row_names_it_where_nothing_else_does_and_is_never_an_algorithm():
    frame = wide().drop(columns="instance")
    frame.insert(0, "Unnamed: 0", range(9))
    assert read_table(frame).runs.algorithms == ("GA", "SA")
    assert read_table(frame).runs.instances[:2] == ("0", "1")
    with pytest.raises(InvalidData, match="no column names the instance"):
        read_table(frame.rename(columns={"Unnamed: 0": "seed"}))


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan, 1e308, -1e308])
def test_values_that_are_infinite_missing_or_huge_raise_no_question_and_no_warning(odd):
    values = np.array([odd, odd, *(10 + NOISE[2:, 2])])
    assert read_table(wide(PSO=values)).runs.algorithms == ("PSO", "GA", "SA")
    if not np.isfinite(odd):
        assert read_table(wide(PSO=[odd] * 8 + [1.5])).runs.algorithms == ("PSO", "GA", "SA")
