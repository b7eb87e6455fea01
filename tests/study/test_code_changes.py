"""When code has changed, and which runs count then."""

import pytest

from ampler.core.runs import Code
from ampler.core.text import render_for_shell
from ampler.study.code import CodeChange, code_changes, codes_in_force, declared_same, differing, question

OLD, NEW = {"a.py": "1", "b.py": "2"}, {"a.py": "1", "b.py": "3"}
RUNS = {"mine": 12}


def test_a_change_names_the_algorithm_the_file_and_the_runs():
    (change,) = code_changes([Code("mine", OLD)], {"mine": NEW}, RUNS)

    assert change == CodeChange("mine", ("b.py",), 12)
    assert all(
        word in render_for_shell(question([change]))
        for word in ("'mine'", "b.py", "12 recorded runs", "--same", "--again")
    )


@pytest.mark.parametrize(
    ("known", "now", "runs"),
    [
        ([], NEW, RUNS),  # a file from before code was recorded
        ([Code("mine", OLD)], OLD, RUNS),
        ([Code("mine", OLD)], NEW, {}),  # nothing recorded
        ([Code("mine", {})], NEW, RUNS),  # not known
        ([Code("mine", OLD)], {}, RUNS),
        ([Code("other", OLD)], NEW, RUNS),
        ([Code("mine", OLD), Code("mine", NEW)], NEW, RUNS),  # said to be the same
        ([Code("mine", OLD)], {**OLD, "c.py": "9"}, RUNS),  # a file that appeared is no change by itself
    ],
)
def test_no_change_is_told_where_there_is_none_or_nothing_hangs_on_it(known, now, runs):
    assert code_changes(known, {"mine": now}, runs) == ()


def test_a_module_that_became_a_package_has_changed():
    assert differing({"a.py": "1", "b.py": "2"}, {"a/__init__.py": "1", "b.py": "2"}) == ("a.py",)


def test_the_same_counts_beside_the_old_and_again_instead_of_it():
    known = (Code("mine", OLD), Code("other", OLD))
    changes = code_changes(known, {"mine": NEW}, RUNS)

    same = codes_in_force(known, {"mine": NEW})
    again = codes_in_force(known, {"mine": NEW}, [change.algorithm for change in changes])

    assert {code.digest for code in same if code.counts and code.algorithm == "mine"} == {
        Code("mine", OLD).digest,
        Code("mine", NEW).digest,
    }
    assert [code for code in again if code.counts] == [Code("other", OLD), Code("mine", NEW)]
    assert Code("mine", None, counts=False) in again, "runs of unknown code are made anew too"


def test_code_that_returns_counts_again():
    void = codes_in_force([Code("mine", OLD)], {"mine": NEW}, ["mine"])
    back = codes_in_force(void, {"mine": OLD}, [change.algorithm for change in code_changes(void, {"mine": OLD}, RUNS)])

    assert [code.files for code in back if code.counts] == [OLD]


def test_what_was_declared_the_same_is_told_by_its_files():
    assert declared_same([Code("mine", OLD), Code("mine", NEW)], "mine") == ("b.py",)
    assert declared_same([Code("mine", OLD), Code("mine", NEW, counts=False)], "mine") == ()
