from __future__ import annotations

import shlex

import pytest

from ampler.app.web.pages import AnalysisForm, address, choice_in, integer_in, number_in, text_in
from ampler.core.errors import InvalidInput


def test_what_is_left_empty_is_the_default():
    assert number_in({"effect": " "}, "effect", 0.5) == 0.5
    assert integer_in({}, "runs", least=1, most=9) is None
    assert choice_in({}, "test", ("t", "sign"), "t") == "t"


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "half", "1e999", "0x10", "5;DROP", "\x00"])
def test_what_is_no_number_is_told(word):
    with pytest.raises(InvalidInput, match="effect must be"):
        number_in({"effect": word}, "effect")


@pytest.mark.parametrize("word", ["0", "10", "2.5", "-1"])
def test_a_whole_number_has_its_limits(word):
    with pytest.raises(InvalidInput, match="runs must be a whole number"):
        integer_in({"runs": word}, "runs", least=1, most=9)


def test_a_word_that_is_no_choice_is_told():
    with pytest.raises(InvalidInput, match="test must be one of 't', 'sign'"):
        choice_in({"test": "signs"}, "test", ("t", "sign"), "t")


def test_endless_words_are_refused():
    with pytest.raises(InvalidInput, match="shorter than 200"):
        text_in({"effect": "1" * 10_000}, "effect")


def test_an_address_keeps_the_state_and_nothing_else():
    assert (
        address("/design", {"effect": 0.5, "unit": "sd", "looks": None, "x": "a&b"})
        == "/design?effect=0.5&unit=sd&x=a%26b"
    )
    assert address("/design", {}) == "/design"


def test_what_is_not_said_is_not_asked():
    assert AnalysisForm.of({"test": "", "view": "pair"}) == AnalysisForm()
    assert AnalysisForm().values == {}


def test_columns_joined_by_commas_are_several():
    asked = AnalysisForm.of({"instance": "function, dimension", "value": "best", "margin": "0.01"})

    assert asked.reading == {"instance": ["function", "dimension"], "value": "best"}
    assert asked.settings == {"margin": 0.01}
    assert asked.changes({"margin": None, "value": 1}) == ["margin"]


def test_the_command_says_the_same():
    asked = AnalysisForm.of({"reference": "my solver", "on_failure": "drop", "alpha": "0.1"})

    words = shlex.split(asked.command("analyse", "a file.db"))
    assert words == [
        "ampler",
        "analyse",
        "a file.db",
        "--reference",
        "my solver",
        "--alpha",
        "0.1",
        "--on-failure",
        "drop",
    ]


@pytest.mark.parametrize("words", [{"test": "z"}, {"difference": "sum"}, {"alpha": "x"}, {"reference": "r" * 500}])
def test_what_cannot_be_asked_is_told(words):
    with pytest.raises(InvalidInput, match="must be"):
        AnalysisForm.of(words)


def test_only_what_differs_from_the_plan_is_a_choice():
    assert AnalysisForm.of({"test": "sign", "alpha": "0.05"}).changes({"test": "t", "alpha": 0.05}) == ["test"]


def test_an_address_has_the_form_and_more():
    assert AnalysisForm.of({"test": "sign"}).address("/x", view="pair") == "/x?test=sign&view=pair"
