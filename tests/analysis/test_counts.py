"""Tables of comparisons count what is not the same for all of them, and nothing else."""

import numpy as np

from ampler.analysis import analyse_runs
from ampler.analysis.tables import counted
from ampler.core.arrays import Runs
from ampler.core.failures import Par
from ampler.core.settings import Settings


def analysed(lacking=(), failed=()):
    rows = [(i, a) for i in ("i1", "i2", "i3", "i4") for a in "abc" if (i, a) not in lacking]
    value = [np.nan if each in failed else float(3 * len(rows) + k) for k, each in enumerate(rows)]
    status = ["timeout" if each in failed else "ok" for each in rows]
    runs = Runs.from_columns([i for i, _ in rows], [a for _, a in rows], value, status)
    return analyse_runs(runs, Settings(difference="simple", failures=Par(10.0, 100.0)))


def of(analysis, first, second):
    (found,) = [each for each in analysis.comparisons if (each.first, each.second) == (first, second)]
    return [number(found) for number in counted(analysis).values()]


def test_where_all_is_alike_nothing_is_counted():
    assert dict(counted(analysed())) == {}


def test_missing_instances_and_unsolved_ones_are_counted():
    analysis = analysed(lacking={("i4", "c")}, failed={("i1", "a"), ("i1", "b"), ("i2", "a")})
    assert list(counted(analysis)) == ["instances", "neither solved"]
    assert of(analysis, "a", "b") == [4, 1]
    assert of(analysis, "a", "c") == [3, 0]
