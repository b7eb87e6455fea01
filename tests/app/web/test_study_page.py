from __future__ import annotations

import json
import re
from html import escape

import pytest

import ampler as am
from ampler.analysis.text import finding_sentence
from ampler.app.web.studies import PARTS
from ampler.study.store import open_store
from ampler.testing import contract_plan


def test_a_finished_study_says_so_first(browse, study):
    reply = browse(study).get("/study/small")

    assert reply.status == 200
    assert "<h1>All 6 instances are finished</h1>" in reply.text
    assert "Runs of each algorithm on each instance" in reply.text
    assert reply.text.count("<svg") > 2


def test_names_and_messages_are_escaped_everywhere(browse, study):
    browser = browse(study)
    for where in ("/study/small", "/study/small?all=1", "/study/small/instance/1", "/studies"):
        text = browser.get(where).text
        assert not re.search("<(i|u|b)>(odd|solution)", text), where
    assert "no &lt;b&gt;solution" in browser.get("/study/small").text


def test_what_is_new_is_given_once(browse, study):
    browser = browse(study)
    first = browser.get("/study/small/live").json

    assert set(first["parts"]) == set(PARTS)
    assert first["ended"] is True
    again = browser.get(f"/study/small/live?seen={first['number']}").json
    assert again.get("parts") is None or again["number"] > first["number"]
    assert json.dumps(first)


def test_every_instance_has_its_page(browse, study):
    browser = browse(study)
    links = re.findall(r'href="(/study/small/instance/\d+)"', browser.get("/study/small").text)

    assert len(links) == 6
    assert all(browser.get(link).status == 200 for link in links)


def test_a_study_that_waits_says_how_to_go_on(browse, tmp_path):
    with open_store(tmp_path / "begun.db") as store:
        store.begin(contract_plan(), {})
    reply = browse(tmp_path / "begun.db").get("/study/begun")

    assert "0 of 3 instances, and it is not running now" in reply.words
    assert "ampler run study.toml" in reply.words
    assert "No run has ended yet" in reply.words


def test_the_given_studies_are_listed_and_one_that_is_damaged_says_so(browse, study, tmp_path):
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"no study")
    browser = browse(study, damaged)
    reply = browser.get("/studies")

    assert "2 studies" in reply.words
    assert escape(finding_sentence(am.analyse(study))) in reply.text
    assert "It cannot be shown" in reply.words
    assert browser.get("/study/damaged").status == 422
    assert browser.get("/study/damaged/live").status == 422


def test_without_studies_the_page_says_how_to_give_some(browser):
    assert "ampler serve study.db" in browser.get("/studies").words


def test_only_studies_that_were_given_can_be_seen(browse, study):
    browser = browse(study)
    for where in ("/study/other", "/study/..%2fsmall", "/study/small.db", "/study/other/live"):
        assert browser.get(where).status == 404
    assert "no study called other was given" in browser.get("/study/other").words.lower()


def test_nothing_is_written_into_a_study(browse, study):
    before = study.read_bytes()
    browser = browse(study)
    for where in ("/study/small", "/study/small/live", "/study/small/instance/2"):
        browser.get(where)

    assert study.read_bytes() == before
    assert sorted(path.name for path in study.parent.iterdir()) == ["small.db"]


def test_an_instance_shows_its_runs_its_differences_and_why_it_stopped(browse, study):
    reply = browse(study).get("/study/small/instance/1")

    assert "Finished:" in reply.words
    assert "The largest standard error of a difference is" in reply.words
    assert "on this instance" in reply.words
    assert reply.text.count('class="chart"') == reply.text.count('class="forest"') == 1
    assert "instance 1 of 6" in reply.words


@pytest.mark.parametrize("place", ["0", "7", "999999999999999999999"])
def test_a_place_that_is_not_there_is_told(browse, study, place):
    assert browse(study).get(f"/study/small/instance/{place}").status == 404


def test_an_instance_that_waits_says_so(browse, tmp_path):
    with open_store(tmp_path / "begun.db") as store:
        store.begin(contract_plan(), {})
    reply = browse(tmp_path / "begun.db").get("/study/begun/instance/2")

    assert "waits for its first runs" in reply.words
    assert "Nothing can be said yet" in reply.words
