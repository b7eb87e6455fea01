"""Cases that are carried out as one test: none is left out, and those that fail are named."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from together import carry_out

SUITE = Path(__file__).parent / "suite"
CONFTEST = """
from together import together


def pytest_collection_modifyitems(items):
    items[:] = together(items)
"""
TESTS = """
import pytest


@pytest.mark.parametrize("a, b", [(1, 2), (2, 3), (3, 5), (4, 6)])
def test_sums(a, b):
    assert a + 1 == b


@pytest.mark.parametrize("word", ["x", "y"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_all_pass(word, number):
    assert word * number


@pytest.mark.parametrize("word", ["x", "y"])
def test_has_a_folder(word, tmp_path):
    assert tmp_path


@pytest.mark.parametrize("name", ["tmp_path", "request"])
def test_asks(name, request):
    assert request.getfixturevalue(name)


@pytest.mark.parametrize("word", ["x", pytest.param("y", marks=pytest.mark.skip)])
def test_has_a_mark(word):
    assert word
"""


def cases_of(function, *values):
    return [SimpleNamespace(obj=function, callspec=SimpleNamespace(params={"value": v}, id=str(v))) for v in values]


def test_every_case_is_carried_out_whatever_becomes_of_the_others():
    seen = []

    def case(value):
        seen.append(value)
        assert value % 2 == 0, "odd"

    carry_out(cases_of(case, 2, 4))
    with pytest.raises(AssertionError, match="odd") as one:
        carry_out(cases_of(case, 2, 5, 4))
    with pytest.raises(ExceptionGroup, match="2 of 4 cases") as several:
        carry_out(cases_of(case, 1, 2, 3, 4))

    with pytest.raises(BaseExceptionGroup, match="2 of 2 cases"):
        carry_out(cases_of(lambda value: pytest.fail(f"not {value}"), "this", "that"))
    assert seen == [2, 4, 2, 5, 4, 1, 2, 3, 4]
    assert one.value.__notes__ == ["in the case [5]"]
    assert [problem.__notes__ for problem in several.value.exceptions] == [["in the case [1]"], ["in the case [3]"]]


def test_a_case_that_is_left_out_is_told_and_hides_no_failure():
    def case(value):
        if value == "absent":
            pytest.skip("not here")
        assert value == "right"

    with pytest.raises(pytest.skip.Exception, match="not here"):
        carry_out(cases_of(case, "right", "absent", "right"))
    with pytest.raises(AssertionError):
        carry_out(cases_of(case, "absent", "wrong"))


def test_cases_with_parameters_alone_are_one_test_and_others_stay_what_they_are(tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    alone = ["-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:anyio", "-v"]
    command = [sys.executable, "-m", "pytest", *alone, "-o", f"pythonpath={SUITE}", str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout

    assert "test_sums[4 cases] FAILED" in said
    assert "in the case [3-5]" in said
    assert "in the case [4-6]" in said
    assert "test_all_pass[6 cases] PASSED" in said
    assert "test_has_a_folder[x] PASSED" in said
    assert "test_has_a_mark[x] PASSED" in said
    assert "1 failed, 6 passed, 1 skipped" in said
