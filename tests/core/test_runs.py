"""Single runs."""

from ampler.core.runs import RunKey


def test_runs_are_ordered_by_instance_algorithm_and_index():
    keys = [RunKey("i1", "b", 0), RunKey("i1", "a", 10), RunKey("i1", "a", 9)]
    assert sorted(keys) == keys[::-1]
