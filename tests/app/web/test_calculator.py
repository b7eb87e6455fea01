from __future__ import annotations

import re

import pytest

import ampler as am


def test_the_papers_design_needs_57_instances(browser):
    reply = browser.get("/design")

    assert reply.status == 200
    assert "<h1>57 instances</h1>" in reply.text
    assert "Mean power 0.804 for d = 0.5 over 21 comparisons" in reply.words


def test_it_is_a_plain_form_without_scripts(browser):
    reply = browser.get("/design?algorithms=22&versus=one&unit=sd&effect=0.8&difference=&sd=&power=0.8&looks=&runs=")

    needed = am.required_instances(comparisons=21, effect=0.8, power=0.8).instances
    assert f"<h1>{needed} instances</h1>" in reply.text
    assert 'method="get"' in reply.text
    assert re.search(r'name="effect" value="0.8"', reply.text)


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
