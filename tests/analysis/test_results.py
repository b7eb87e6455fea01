"""What an analysis found, as values: whole in JSON, flat in a table."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import ampler
from ampler.analysis.display import plain_text
from ampler.core.failures import Drop, policy_data


@pytest.fixture(scope="module")
def analysis(study_of):
    return study_of(["one", "two", "three"], se=0.8, budget=18, margin=2.0, failures=Drop())


def test_everything_but_the_arrays_is_json_and_nothing_is_lost(analysis):
    document = json.loads(json.dumps(analysis.as_dict(), allow_nan=False))

    assert not {"statistics", "differences", "errors", "guarded_errors"} & document.keys()
    assert [row["p_value"] for row in document["comparisons"]] == [row.p_value for row in analysis.comparisons]
    assert document["settings"]["failures"] == policy_data(Drop())
    assert document["at_budget"] == list(analysis.at_budget)


def test_the_table_has_a_row_for_each_comparison_in_holms_order(analysis):
    table = analysis.table()

    assert table["rank"].tolist() == [1, 2, 3]
    assert table["verdict"].tolist() == [row.verdict for row in analysis.comparisons]


def test_arrays_have_an_instance_in_each_row(analysis):
    assert analysis.statistics.shape == (12, 3)
    assert analysis.differences.shape == analysis.errors.shape == analysis.guarded_errors.shape == (12, 3)
    assert [row.instance for row in analysis.accuracy] == list(dict.fromkeys(r.instance for r in analysis.accuracy))


def test_instances_with_all_the_runs_of_the_budget_are_named(analysis):
    assert analysis.at_budget == tuple(row.instance for row in analysis.accuracy if sum(row.runs) >= 18)
    assert len(analysis.at_budget) == 12


def test_printing_shows_the_holm_table(analysis):
    lines = plain_text(analysis, 160).splitlines()

    rows = [
        next(place for place, line in enumerate(lines) if line[:1] in set("▲▼≈·") and comparison.second in line.split())
        for comparison in analysis.comparisons
    ]
    assert rows == sorted(rows)
    assert all(comparison.second in lines[row] for comparison, row in zip(analysis.comparisons, rows, strict=True))


@pytest.mark.parametrize("reference", ["a0", None])
def test_the_repr_is_the_answer_in_one_screen_and_print_the_text_of_the_command(reference):
    rng = np.random.default_rng(1)
    values = 100 * np.exp(rng.normal(np.linspace(0, 0.3, 22), 0.08, (30, 22)))
    frame = pd.DataFrame(values, columns=[f"a{k}" for k in range(22)]).assign(dataset=[f"d{k}" for k in range(30)])
    analysis = ampler.analyse(frame, difference="percent", better="lower", reference=reference)

    assert len(repr(analysis)) < 3000
    assert repr(analysis).count("\n") < 30
    assert repr(analysis).splitlines()[0] == str(analysis).splitlines()[0]
    assert all(name in str(analysis) for pair in analysis.pairs for name in pair)
