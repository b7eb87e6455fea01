"""Letters of groups that no claimed difference separates."""

from __future__ import annotations

from ampler.stats.groups import letters


def test_groups_after_the_26th_have_letters_with_a_number():
    size = 54
    apart = [frozenset((i, j)) for i in range(size) for j in range(i)]

    texts = letters(range(size), apart)

    assert texts[:2] == ("a", "b")
    assert texts[24:28] == ("y", "z", "a2", "b2")
    assert texts[50:] == ("y2", "z2", "a3", "b3")
