from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ampler.app.web import studies
from ampler.app.web.pages import NotThere
from ampler.app.web.studies import PARTS, StudyRegistry, WatchedStudy, check_watchable, file_status, snapshot_number
from ampler.core.errors import StoreUnusable
from ampler.core.runs import Observation, RunKey
from ampler.study.store import open_store


@pytest.fixture
def at_once(monkeypatch):
    """Every question reads the file, if its status has changed."""
    monkeypatch.setattr(studies, "INTERVAL", 0.0)
    monkeypatch.setattr(studies, "FRESH_NS", 0)


@pytest.fixture
def watched(study, at_once):
    return WatchedStudy("small", study)


def one_more_run(study, index):
    with open_store(study) as store:
        plan = store.plans()[-1]
        store.begin(plan, {})
        store.add([Observation(RunKey(plan.instances[0], "plain", index), 1.0)])


def test_a_file_is_shown_once_under_a_name_that_fits_an_address(tmp_path):
    studies = StudyRegistry([tmp_path / "my study?.db", tmp_path / "my study?.db", tmp_path / "..db"])

    assert [study.name for study in studies] == ["my-study", "study"]


def test_only_what_was_named_is_found(study, tmp_path):
    studies = StudyRegistry([study])

    assert studies.find("small").path == study
    for name in ("other", "../small", str(study), ""):
        with pytest.raises(NotThere, match="ampler serve"):
            studies.find(name)


def test_a_file_that_is_not_there_is_told_before_the_server_begins(tmp_path):
    with pytest.raises(StoreUnusable, match=r"there is no results file .*gone\.db"):
        check_watchable([tmp_path / "gone.db"])


def test_a_file_on_a_network_is_refused_in_a_sentence(study, monkeypatch):
    monkeypatch.setattr("ampler.study.store.access.on_network", lambda path: Path(path) == study)

    with pytest.raises(StoreUnusable, match="copy the file to this machine"):
        check_watchable([study])


def test_a_file_that_has_not_changed_is_read_once(watched, monkeypatch):
    first = watched.snapshot()
    monkeypatch.setattr(watched, "_read", lambda: pytest.fail("it was read again"))

    assert watched.snapshot() is first


def test_many_who_ask_share_one_snapshot(watched, monkeypatch):
    reads = []
    real = watched._read
    monkeypatch.setattr(watched, "_read", lambda: reads.append(1) or real())
    together(watched.snapshot)

    assert len(reads) == 1


def together(call):
    """Twenty calls at once."""
    askers = [threading.Thread(target=call) for _ in range(20)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()


def test_a_file_that_has_changed_is_read_again(watched, study):
    before = watched.snapshot()
    one_more_run(study, 1000)
    after = watched.snapshot()

    assert after.number == before.number + 1
    assert after.content.status.runs == before.content.status.runs + 1


def test_a_file_that_has_just_changed_is_not_trusted_to_its_date(watched, monkeypatch):
    monkeypatch.setattr(studies, "FRESH_NS", 10**18)

    assert watched.snapshot().number + 1 == watched.snapshot().number


def test_a_file_that_is_gone_is_told(study):
    studies = StudyRegistry([study])
    study.unlink()

    with pytest.raises(StoreUnusable, match=r"small\.db is gone"):
        studies.find("small")
    assert file_status(study) == (None, None)


# what changed since the snapshot that a page has --------------------------------------------------------------------


def test_who_has_an_old_snapshot_gets_the_parts_of_the_last_one(browse, study, at_once):
    browser = browse(study)
    first = browser.get("/study/small/live").json
    one_more_run(study, 1000)
    second = browser.get(f"/study/small/live?seen={first['number']}").json

    assert second["number"] == first["number"] + 1
    assert second["parts"]["facts"] != first["parts"]["facts"]
    assert browser.get("/study/small/live?seen=7").json == second


def test_a_page_that_has_the_last_snapshot_is_told_so(browse, study):
    browser = browse(study)
    first = browser.get("/study/small/live").json
    assert set(first["parts"]) == set(PARTS)

    reply = browser.get(f"/study/small/live?seen={first['number']}")

    assert reply.json == {"number": first["number"]}
    assert "content-security-policy" in reply.headers
    assert reply.headers["cache-control"] == "no-store"


def test_another_server_numbers_its_snapshots_otherwise(browse, study):
    first, second = (browse(study).get("/study/small/live").json["number"] for _ in range(2))

    assert first != second


@pytest.mark.parametrize("text", ["", "-1", "1.5", "٣", "x", "9" * 5000])
def test_a_number_that_is_none_is_no_snapshot(browse, study, text):
    assert snapshot_number(text) == 0
    assert set(browse(study).get(f"/study/small/live?seen={text.encode().hex() or ''}").json["parts"]) == set(PARTS)


def test_a_study_that_went_away_is_told_in_words(browse, study):
    browser = browse(study)
    browser.get("/study/small")
    study.unlink()
    reply = browser.get("/study/small/live")

    assert reply.status == 422
    assert "small.db is gone" in reply.json["problem"]
