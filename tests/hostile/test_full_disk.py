"""Every command that writes, on a disk that is full: one sentence, exit code 1, nothing half done, nothing lost."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from full_disk import COMMANDS

LEFT = {"study.db-wal", "study.db-shm", "again.db-wal", "again.db-shm", "figures", "new"}  # SQLite's, and empty folders


@pytest.fixture(scope="module")
def told(sound, tmp_path_factory):
    """What came of each command; a small file system in memory is the disk."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("needs Linux user namespaces")
    disk, answers = tmp_path_factory.mktemp("disk"), tmp_path_factory.mktemp("answers")
    script = [sys.executable, Path(__file__).with_name("full_disk.py"), sound, disk, answers]
    mount = f"mount -t tmpfs -o size=600k tmpfs '{disk}' && exec \"$@\""
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", mount, "sh", *map(str, script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_done(told, command):
    answer = told[command]

    assert answer["code"] == 1
    assert len(answer["err"].strip().splitlines()) == 1
    assert "full" in answer["err"]
    assert "defect" not in answer["err"]
    assert ".part" not in answer["err"]
    assert set(answer["left"]) <= LEFT
