"""What an analysis found, as values: whole in JSON, flat in a table."""

from __future__ import annotations

import json

import pytest

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
    lines = str(analysis).splitlines()

    rows = [
        next(place for place, line in enumerate(lines) if line.lstrip().startswith(f"{rank} ")) for rank in (1, 2, 3)
    ]
    assert rows == sorted(rows)
    assert all(comparison.second in lines[row] for comparison, row in zip(analysis.comparisons, rows, strict=True))
