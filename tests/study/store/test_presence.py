from __future__ import annotations

import sys

import pytest

from ampler.study.store import open_store
from ampler.study.store.presence import is_carried_out
from ampler.testing import contract_plan


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")
def test_a_study_that_is_open_to_be_written_is_carried_out(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        store.begin(contract_plan(), {})
        assert is_carried_out(path) is True
    assert is_carried_out(path) is False


def test_what_the_system_does_not_tell_is_not_known(tmp_path):
    path = tmp_path / "study.db"
    path.touch()

    assert is_carried_out(path, sockets=str(tmp_path / "nothing")) is None
    assert is_carried_out(tmp_path / "gone.db") is None
