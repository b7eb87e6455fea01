from __future__ import annotations

import pytest

from ampler.app.web.query import address, choice_of, number, said, whole
from ampler.core.errors import InvalidInput


def test_what_is_left_empty_is_the_default():
    assert number({"effect": " "}, "effect", 0.5) == 0.5
    assert whole({}, "runs", least=1, most=9) is None
    assert choice_of({}, "test", ("t", "sign"), "t") == "t"


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "half", "1e999", "0x10", "5;DROP", "\x00"])
def test_what_is_no_number_is_told(word):
    with pytest.raises(InvalidInput, match="effect must be"):
        number({"effect": word}, "effect")


@pytest.mark.parametrize("word", ["0", "10", "2.5", "-1"])
def test_a_whole_number_has_its_limits(word):
    with pytest.raises(InvalidInput, match="runs must be a whole number"):
        whole({"runs": word}, "runs", least=1, most=9)


def test_a_word_that_is_no_choice_is_told():
    with pytest.raises(InvalidInput, match="test must be one of 't', 'sign'"):
        choice_of({"test": "signs"}, "test", ("t", "sign"), "t")


def test_endless_words_are_refused():
    with pytest.raises(InvalidInput, match="shorter than 200"):
        said({"effect": "1" * 10_000}, "effect")


def test_an_address_keeps_the_state_and_nothing_else():
    assert (
        address("/design", {"effect": 0.5, "unit": "sd", "looks": None, "x": "a&b"})
        == "/design?effect=0.5&unit=sd&x=a%26b"
    )
    assert address("/design", {}) == "/design"
