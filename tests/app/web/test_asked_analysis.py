from __future__ import annotations

import shlex

import pytest

from ampler.app.web.asked_analysis import AskedAnalysis, asked_analysis, otherwise, typed_analysis
from ampler.core.errors import InvalidInput


def test_what_is_not_said_is_not_asked():
    assert asked_analysis({"test": "", "view": "pair"}) == AskedAnalysis()
    assert AskedAnalysis().words == {}


def test_columns_joined_by_commas_are_several():
    asked = asked_analysis({"instance": "function, dimension", "value": "best", "margin": "0.01"})

    assert asked.options == {"instance": ["function", "dimension"], "value": "best", "margin": 0.01}
    assert asked.chosen == ["margin"]


def test_the_command_says_the_same():
    asked = asked_analysis({"reference": "my solver", "on_failure": "drop", "alpha": "0.1"})

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
        asked_analysis(words)


def test_only_what_differs_from_the_plan_is_a_choice():
    assert otherwise({"test": "t", "alpha": 0.05}, AskedAnalysis(test="sign", alpha=0.05)) == ["test"]


def test_fields_keep_what_was_typed():
    assert typed_analysis({"margin": "<b>"})["margin"] == "<b>"
    assert AskedAnalysis(test="sign").at("/x", view="pair") == "/x?test=sign&view=pair"
