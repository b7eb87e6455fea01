"""The order of the tests: none is lost or doubled, whoever computes does little else, and threads come late."""

from types import SimpleNamespace

import pytest
from order import LEAVING_THREADS, SHORT, dealt_out

NAMES = [
    *(f"tests/stats/test_{k}.py::test" for k in range(60)),
    *(f"tests/app/test_{k}.py::test" for k in range(90)),
    *(f"case_studies/test_{k}.py::test" for k in range(9)),
    *(f"tests/running/engines/test_dask.py::test_{k}" for k in range(5)),
    *(f"tests/app/web/test_in_chromium.py::test_{k}" for k in range(7)),
    *(f"tests/running/test_interruptions.py::test_{k}" for k in range(4)),
]


def ordered(workers):
    return [item.nodeid for item in dealt_out([SimpleNamespace(nodeid=name) for name in NAMES], workers)]


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 9, 30])
def test_every_test_is_dealt_out_once(workers):
    assert sorted(ordered(workers)) == sorted(NAMES)


def test_the_first_of_three_computes_and_the_others_start_processes():
    names = ordered(3)
    third = len(names) // 3
    computing = [sum(name.startswith(SHORT) for name in names[k * third : (k + 1) * third]) for k in range(3)]

    assert computing[0] > third / 2
    assert 0 < computing[1] < third / 5
    assert 0 < computing[2] < third / 5


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_after_those_that_leave_threads_nothing_starts_processes(workers):
    names = ordered(workers)
    first = next(k for k, name in enumerate(names) if any(word in name for word in LEAVING_THREADS))

    assert all("test_dask" in name or name.startswith(SHORT) for name in names[first:])
