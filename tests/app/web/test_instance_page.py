from __future__ import annotations

import pytest

from ampler.study.store import open_store
from ampler.testing import contract_plan


def test_an_instance_shows_its_runs_its_differences_and_why_it_stopped(browse, study):
    reply = browse(study).get("/study/small/instance/1")

    assert "It stopped because:" in reply.words
    assert "The largest standard error of a difference is" in reply.words
    assert "on this instance" in reply.words
    assert reply.text.count('class="chart"') == 2
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
