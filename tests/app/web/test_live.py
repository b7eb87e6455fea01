from __future__ import annotations

import threading

import pytest

from ampler.app.web import live
from ampler.app.web.live import LiveStudies, LiveStudy, stamp_of
from ampler.app.web.shelf import ShownStudy
from ampler.core.errors import StoreUnusable
from ampler.core.values import Observation, RunKey
from ampler.study.store import open_store


@pytest.fixture
def watched(study, monkeypatch):
    monkeypatch.setattr(live, "OFTEN", 0.0)
    monkeypatch.setattr(live, "FRESH_NS", 0)
    return LiveStudy(ShownStudy("small", study))


def test_a_file_that_has_not_changed_is_looked_at_once(watched, monkeypatch):
    first = watched.seen()
    monkeypatch.setattr(watched, "_look", lambda: pytest.fail("it was read again"))

    assert watched.seen() is first


def test_many_who_ask_share_one_look(watched, monkeypatch):
    looks = []
    real = watched._look
    monkeypatch.setattr(watched, "_look", lambda: looks.append(1) or real())
    askers = [threading.Thread(target=watched.seen) for _ in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert len(looks) == 1


def test_a_file_that_has_changed_is_looked_at_again(watched, study):
    before = watched.seen()
    with open_store(study) as store:
        plan = store.plans()[-1]
        store.begin(plan, {})
        store.add([Observation(RunKey(plan.instances[0], "plain", 1000), 1.0)])
    after = watched.seen()

    assert after.number == before.number + 1
    assert after.look.status.runs == before.look.status.runs + 1


def test_a_file_that_has_just_changed_is_not_trusted_to_its_date(study, monkeypatch):
    monkeypatch.setattr(live, "OFTEN", 0.0)
    monkeypatch.setattr(live, "FRESH_NS", 10**18)
    watched = LiveStudy(ShownStudy("small", study))

    assert watched.seen().number + 1 == watched.seen().number


def test_a_file_that_is_gone_is_told(study):
    studies = LiveStudies((ShownStudy("small", study),))
    study.unlink()

    with pytest.raises(StoreUnusable, match=r"small\.db is gone"):
        studies.of(ShownStudy("small", study))
    assert stamp_of(study) == (None, None)
