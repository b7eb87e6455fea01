from __future__ import annotations

import os
import socket
import subprocess

from ampler.study.store import open_store
from ampler.study.store.access import has_writer
from ampler.testing import contract_plan


def test_a_study_that_is_open_to_be_written_has_writer(tmp_path):
    path = tmp_path / "study.db"
    with open_store(path) as store:
        store.begin(contract_plan(), {})
        assert has_writer(path) is True
    assert has_writer(path) is False


def test_the_lock_file_of_a_writer_that_was_killed_is_no_writer(tmp_path):
    path, lock = tmp_path / "study.db", tmp_path / "study.db.lock"
    ended = subprocess.Popen(["true"])
    ended.wait()
    lock.write_text(f"{ended.pid} on {socket.gethostname()}\n")
    assert has_writer(path) is False
    lock.write_text(f"{os.getpid()} on {socket.gethostname()}\n")
    os.utime(lock, (1, 1))
    assert has_writer(path) is False, "a later process has the number"


def test_whether_another_machine_writes_is_not_known(tmp_path):
    (tmp_path / "study.db.lock").write_text("1 on another machine\n")

    assert has_writer(tmp_path / "study.db") is None
