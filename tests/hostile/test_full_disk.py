"""Every command that writes, on a disk that is full: one sentence, exit code 1, nothing half done, nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from full_disk import COMMANDS

LEFT = {"study.db-wal", "study.db-shm", "again.db-wal", "again.db-shm", "figures", "new"}  # SQLite's, and empty folders


FAST = ("merge", "export", "report over", "init", "run")


def carried_out(sound, disk, answers, chosen):
    """Return what came of each command; a small file system in memory is the disk."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("needs Linux user namespaces")
    script = [sys.executable, Path(__file__).with_name("full_disk.py"), sound, disk, answers, *chosen]
    mount = f"mount -t tmpfs -o size=600k tmpfs '{disk}' && exec \"$@\""
    command = ["unshare", "-rm", "sh", "-c", mount, "sh", *map(str, script)]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # or the solvers leave what Python compiled of them
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "chosen",
    [FAST, pytest.param(tuple(name for name in COMMANDS if name not in FAST), marks=pytest.mark.slow)],
    ids=["some", "the others"],
)
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_done(sound, tmp_path, chosen):
    for folder in ("disk", "answers"):
        (tmp_path / folder).mkdir()

    told = carried_out(sound, tmp_path / "disk", tmp_path / "answers", chosen)

    assert told.keys() == set(chosen)
    for answer in told.values():
        assert answer["code"] == 1, answer
        assert len(answer["err"].strip().splitlines()) == 1
        assert "full" in answer["err"]
        assert "defect" not in answer["err"]
        assert ".part" not in answer["err"]
        assert set(answer["left"]) <= LEFT
