from __future__ import annotations

import html
import json
import re
import shlex

import pytest

import ampler as am
from ampler.app.web.design_page import DesignForm, field_texts
from ampler.core.errors import InvalidInput
from ampler.core.settings import choices, help_text, label
from ampler.design.text import answer_to

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
    {"algorithms": "8", "per_cluster": "10", "icc": "0.3"},
]


def test_as_it_opens_it_is_the_papers_design():
    assert answer_to(DesignForm.of({}).ask).instances == 57
    assert DesignForm.of({}) == DesignForm()


@pytest.mark.parametrize("words", DESIGNS, ids=str)
def test_the_command_gives_the_same_design(words, shell):
    asked = DesignForm.of(words)

    answer = shell(*shlex.split(asked.command)[1:], "--json")

    design = answer_to(asked.ask)
    assert answer.code == 0, answer.err
    for name in ("instances", "comparisons", "alpha", "target", "alternative", "test", "power", "mean_power"):
        assert answer.json[name] == json.loads(json.dumps(getattr(design, name))), name
    assert answer.json["effect"] == pytest.approx(design.effect, rel=1e-12)


@pytest.mark.parametrize("words", DESIGNS, ids=str)
def test_the_python_gives_the_same_design(words):
    asked = DesignForm.of(words)

    found = eval(asked.python, {"am": am})

    design = answer_to(asked.ask)
    assert (found.instances, found.powers.tolist()) == (design.instances, design.powers.tolist())


@pytest.mark.parametrize("words", DESIGNS, ids=str)
def test_the_address_gives_the_same_design(words):
    asked = DesignForm.of(words)

    pairs = [pair.split("=") for pair in asked.link.partition("?")[2].split("&") if pair]
    assert DesignForm.of(dict(pairs)) == asked


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
        answer_to(DesignForm.of(words).ask)


def test_what_was_typed_stays_in_the_fields():
    assert field_texts({"effect": "a half", "other": "x"})["effect"] == "a half"
    assert field_texts({})["algorithms"] == "22"
    assert "other" not in field_texts({"other": "x"})


def test_the_papers_design_needs_57_instances(browser):
    reply = browser.get("/design")

    assert reply.status == 200
    assert "<h1>57 instances</h1>" in reply.text
    assert "Mean power 0.804 for d = 0.5. Tests: 21 two-sided paired t-tests" in reply.words


def test_it_is_a_plain_form_without_scripts(browser):
    reply = browser.get("/design?algorithms=22&versus=one&unit=sd&effect=0.8&difference=&sd=&power=0.8&looks=&runs=")

    needed = am.required_instances(comparisons=21, effect=0.8, power=0.8).instances
    assert f"<h1>{needed} instances</h1>" in reply.text
    assert 'method="get"' in reply.text
    assert re.search(r'name="effect" value="0.8"', reply.text)


def test_fields_have_the_label_text_and_choices_of_the_declaration(browser):
    text = browser.get("/design").text

    for name in ("test", "alternative", "alpha", "power", "looks", "icc"):
        shown = html.escape(help_text(name), quote=False).replace("'", "&#39;")
        assert f'<label for="{name}" title="{shown}">{label(name)}</label>' in text
    for name in ("test", "alternative"):
        offered = re.search(rf'<select id="{name}".*?</select>', text, re.DOTALL)[0]
        assert re.findall(r'<option value="([^"]*)"', offered) == list(choices(name))


def test_a_slider_asks_for_what_changes(browser):
    reply = browser.get("/design/answer?effect=1")

    assert reply.status == 200
    assert "18 instances" in reply.json["headline"]
    assert reply.json["link"] == "/design?effect=1.0"
    assert reply.json["answer"].count("<svg") == 2


def test_what_is_no_design_keeps_the_form_and_says_why(browser):
    reply = browser.get("/design?effect=<b>")

    assert reply.status == 422
    assert "Effect must be a number, such as 0.5" in reply.words
    assert 'value="&lt;b&gt;"' in reply.text
    assert "<b>" not in reply.text
    assert browser.get("/design/answer?power=2").json["problem"].startswith("Power must lie")


def test_few_instances_are_answered_in_words_and_as_a_curve(browser):
    answer = browser.get("/design/answer?available=40").json["answer"]

    assert "With the 40 instances you have, d = 0.61 is detectable" in answer
    assert "the dashed line is what the instances at hand reach" in answer


def test_looks_have_their_table_and_cost_its_line(browser):
    answer = browser.get("/design/answer?algorithms=3&effect=0.8&looks=2&runs=30&seconds=60&workers=8").json["answer"]

    assert "mean power by then" in answer
    assert "of CPU" in answer
    assert "on 8 workers" in answer


def test_a_hint_can_be_followed(browser):
    page = browser.get("/design?versus=all&algorithms=8").text

    links = [link.replace("&amp;", "&") for link in re.findall(r'<a href="(/design[^"]*)">Try it</a>', page)]
    assert links
    assert all(browser.get(link).status == 200 for link in links)


@pytest.mark.parametrize("test", ["bootstrap-t", "sign-flip"])
def test_tests_without_ranks_say_so(browser, test):
    assert "judged together and have no levels by rank" in browser.get(f"/design?test={test}").words


def test_one_comparison_is_no_family(browser):
    assert "There is one comparison" in browser.get("/design?algorithms=2").words
