"""The one way from runs to the differences that are tested."""

import numpy as np
import pytest

from ampler.analysis import analyse_runs
from ampler.analysis.differences import observe, placed
from ampler.core.arrays import Runs
from ampler.core.errors import InvalidData
from ampler.core.settings import Settings

RUNS = Runs.from_columns(["i", "i", "j", "j", "k"], ["a", "b", "a", "b", "a"], [1.0, 3.0, 2.0, 5.0, 4.0])


def test_differences_are_those_of_the_analysis():
    settings = Settings(difference="simple")
    seen = observe(RUNS, settings, None, None)
    found = seen.estimates.differences(seen.contrasts, settings.estimate)
    np.testing.assert_array_equal(found, analyse_runs(RUNS, settings).differences)
    assert seen.pairs == (("a", "b"),)
    assert [*seen.excluded] == ["k"]


def test_one_algorithm_alone_is_refused():
    with pytest.raises(InvalidData, match="at least two algorithms to compare"):
        observe(Runs.from_columns(["i"], ["a"], [1.0]), Settings(difference="simple"), None, None)


def test_rows_stand_where_their_instances_do():
    table = placed(np.array([[1.0], [2.0]]), ["c", "a"], ["a", "b", "c"])
    np.testing.assert_array_equal(table, [[2.0], [np.nan], [1.0]])
