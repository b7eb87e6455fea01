"""The code of parts: they agree, or one has superseded the other's, or merging is refused."""

import pytest

from ampler.core.errors import PlanMismatch
from ampler.core.runs import Code
from ampler.study.code import joined_codes

A, B = Code("mine", {"a.py": "1"}), Code("mine", {"a.py": "2"})
NO_A, NO_B = Code("mine", {"a.py": "1"}, counts=False), Code("mine", {"a.py": "2"}, counts=False)


@pytest.mark.parametrize(
    ("one", "two", "counting"),
    [
        ([A], [A], [A]),
        ([A], [], [A]),
        ([A, B], [B], [A, B]),
        ([A], [NO_A, B], [B]),  # the other part was run again
        ([NO_A, B], [NO_A, B], [B]),
    ],
)
def test_parts_that_agree_count_together(one, two, counting):
    for files in ({"one.db": one, "two.db": two}, {"two.db": two, "one.db": one}):
        found = {code.digest for code in joined_codes(files) if code.counts}
        assert found == {code.digest for code in counting}


def test_parts_of_different_code_are_refused_unless_it_is_said_to_be_the_same():
    with pytest.raises(PlanMismatch, match=r"'mine' in one.db and two.db were made with different code \(a.py\)"):
        joined_codes({"one.db": [A], "two.db": [B]})

    assert joined_codes({"one.db": [A], "two.db": [B]}, same=True) == (A, B)


def test_parts_that_hold_each_others_runs_as_superseded_are_refused():
    with pytest.raises(PlanMismatch, match="contradict each other"):
        joined_codes({"one.db": [A, NO_B], "two.db": [B, NO_A]}, same=True)
