from __future__ import annotations

import json
import threading

import pytest

from ampler.app.web import live
from ampler.app.web.live import LiveStudy
from ampler.app.web.news import KEPT, News, look_number
from ampler.app.web.shelf import ShownStudy
from ampler.app.web.study_page import PARTS
from ampler.core.values import Observation, RunKey
from ampler.study.store import open_store

FIRST = 10**9  # seconds: no look is too old


@pytest.fixture
def made():
    """How often the parts of a page were made."""
    return []


@pytest.fixture
def news(study, made, monkeypatch):
    monkeypatch.setattr(live, "OFTEN", 0.0)
    monkeypatch.setattr(live, "FRESH_NS", 0)

    def parts_of(live, seen):
        made.append(seen.number)
        return {"headline": "always the same", "facts": f"{seen.look.status.runs} runs"}

    return News(LiveStudy(ShownStudy("small", study)), parts_of)


def one_more_run(study, index):
    with open_store(study) as store:
        plan = store.plans()[-1]
        store.begin(plan, {})
        store.add([Observation(RunKey(plan.instances[0], "plain", index), 1.0)])


def test_who_has_nothing_gets_all_and_who_has_the_last_look_nothing(news, made):
    first = json.loads(news.answer(0))

    assert set(first["parts"]) == {"headline", "facts"}
    assert json.loads(news.answer(first["number"])) == {"number": first["number"]}
    assert len(made) == 1


def test_only_the_parts_that_changed_are_told(news, study):
    first = json.loads(news.answer(0))
    one_more_run(study, 1000)
    second = json.loads(news.answer(first["number"]))

    assert set(second["parts"]) == {"facts"}
    assert second["parts"]["facts"] != first["parts"]["facts"]


def test_who_has_a_look_that_is_forgotten_gets_all(news, study):
    first = json.loads(news.answer(0))
    for index in range(KEPT + 1):
        one_more_run(study, 1000 + index)
        last = json.loads(news.answer(0))

    assert set(json.loads(news.answer(first["number"]))["parts"]) == {"headline", "facts"}
    assert set(json.loads(news.answer(7))["parts"]) == {"headline", "facts"}
    assert json.loads(news.answer(last["number"])) == {"number": last["number"]}


def test_what_twenty_ask_for_at_once_is_made_once(news, made):
    askers = [threading.Thread(target=news.answer, args=(0,)) for _ in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert len(made) == 1


def test_what_is_known_is_answered_before_the_pages_are_asked(browse, study, monkeypatch):
    monkeypatch.setattr(live, "OFTEN", FIRST)
    browser = browse(study)
    first = browser.get("/study/small/live").json
    assert set(first["parts"]) == set(PARTS)
    number = first["number"]
    monkeypatch.setattr(News, "answer", lambda *_: pytest.fail("something was worked out"))

    reply = browser.get(f"/study/small/live?seen={number}")

    assert reply.json == {"number": number}
    assert "content-security-policy" in reply.headers
    assert reply.headers["cache-control"] == "no-store"


def test_another_server_numbers_its_looks_otherwise(browse, study):
    first, second = (browse(study).get("/study/small/live").json["number"] for _ in range(2))

    assert first != second


@pytest.mark.parametrize("said", ["", "-1", "1.5", "٣", "x", "9" * 5000])
def test_a_number_that_is_none_is_no_look(browse, study, said):
    assert look_number(said) == 0
    assert set(browse(study).get(f"/study/small/live?seen={said.encode().hex() or ''}").json["parts"]) == set(PARTS)


def test_a_study_that_went_away_is_told_in_words(browse, study):
    browser = browse(study)
    browser.get("/study/small")
    study.unlink()
    reply = browser.get("/study/small/live")

    assert reply.status == 422
    assert "small.db is gone" in reply.json["problem"]
