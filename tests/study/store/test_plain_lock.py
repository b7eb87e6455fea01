"""The lock of a study where there are no POSIX locks."""

import pytest

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.study.store.access import _locked_by_sqlite


def test_one_holds_it_until_it_is_given_back(tmp_path):
    path, study = tmp_path / "study.db.lock", tmp_path / "study.db"
    held = _locked_by_sqlite(path, study)
    with pytest.raises(StoreBusy, match=r"study\.db is being run by another process"):
        _locked_by_sqlite(path, study)
    held.close()

    _locked_by_sqlite(path, study).close()


def test_a_place_that_cannot_be_locked_is_told(tmp_path):
    with pytest.raises(StoreUnusable, match="cannot be locked"):
        _locked_by_sqlite(tmp_path / "none" / "study.db.lock", tmp_path / "none" / "study.db")
