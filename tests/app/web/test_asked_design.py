from __future__ import annotations

import json
import shlex

import pytest

import ampler as am
from ampler.app.web.asked_design import AskedDesign, asked_design, typed
from ampler.core.errors import InvalidInput
from ampler.design.words import answer_to

DESIGNS = [
    {},
    {"algorithms": "7", "versus": "all", "power": "0.9"},
    {"unit": "own", "difference": "0.02", "sd": "0.04", "se": "0.01", "alpha": "0.01"},
    {"unit": "own", "difference": "3", "sd": "4"},
    {"test": "wilcoxon", "alternative": "greater", "target": "worst", "available": "40"},
    {
        "algorithms": "5",
        "test": "sign-flip",
        "target": "number",
        "tests": "2",
        "runs": "30",
        "seconds": "60",
        "workers": "8",
    },
    {"algorithms": "3", "looks": "2", "effect": "0.8"},
]


def test_as_it_opens_it_is_the_papers_design():
    assert answer_to(asked_design({}).ask).instances == 57
    assert asked_design({}) == AskedDesign()


@pytest.mark.parametrize("words", DESIGNS, ids=str)
def test_the_command_gives_the_same_design(words, shell):
    asked = asked_design(words)

    answer = shell(*shlex.split(asked.command)[1:], "--json")

    design = answer_to(asked.ask)
    assert answer.code == 0, answer.err
    for name in ("instances", "comparisons", "alpha", "target", "alternative", "test", "power", "mean_power"):
        assert answer.json[name] == json.loads(json.dumps(getattr(design, name))), name
    assert answer.json["effect"] == pytest.approx(design.effect, rel=1e-12)


@pytest.mark.parametrize("words", DESIGNS, ids=str)
def test_the_python_gives_the_same_design(words):
    asked = asked_design(words)

    found = eval(asked.python, {"am": am})

    design = answer_to(asked.ask)
    assert (found.instances, found.powers.tolist()) == (design.instances, design.powers.tolist())


@pytest.mark.parametrize("words", DESIGNS, ids=str)
def test_the_address_gives_the_same_design(words):
    asked = asked_design(words)

    pairs = [pair.split("=") for pair in asked.link.partition("?")[2].split("&") if pair]
    assert asked_design(dict(pairs)) == asked


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"unit": "own"}, "needs both"),
        ({"target": "number"}, "in how many tests"),
        ({"versus": "all", "alternative": "less"}, "needs a reference"),
        ({"algorithms": "1"}, "algorithms must be a whole number"),
        ({"effect": "0"}, "effect must be positive"),
        ({"power": "1"}, "power must lie"),
    ],
)
def test_what_is_no_design_is_told(words, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        answer_to(asked_design(words).ask)


def test_what_was_typed_stays_in_the_fields():
    assert typed({"effect": "a half", "other": "x"})["effect"] == "a half"
    assert typed({})["algorithms"] == "22"
    assert "other" not in typed({"other": "x"})
