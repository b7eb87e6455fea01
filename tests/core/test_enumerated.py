from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ampler.core.enumerated import enumerated, names_in


@given(st.lists(st.text(alphabet='a ",\n\t5é', max_size=6), min_size=1, max_size=4))
def test_names_come_back_as_they_were(names):
    assert names_in(enumerated(names)) == names


@given(st.text(max_size=20).filter(lambda text: '"' not in text))
def test_without_quotes_names_end_at_commas(text):
    assert names_in(text) == [name.strip() for name in text.split(",")]


def test_a_quote_within_a_name_is_a_letter():
    assert names_in('5" disk,b') == ['5" disk', "b"]
    assert names_in('"open,b') == ['"open', "b"]
