"""Every command that writes, on a full disk: one sentence, exit code 1, nothing half done, nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

COMMANDS = {
    "merge": ("merge", "study.db", "-o", "out.db"),
    "merge into": ("merge", "study.db", "-o", "again.db"),
    "rescue": ("rescue", "study.db", "-o", "out.db"),
    "export": ("export", "study.db", "out.csv"),
    "export parquet": ("export", "study.db", "out.parquet"),
    "report": ("report", "study.db", "-o", "out.html"),
    "report tex": ("report", "study.db", "-o", "out.tex"),
    "report over": ("report", "study.db", "-o", "old.md"),
    "figures": ("report", "study.db", "-o", "../../report.md", "--figures", "figures"),
    "figures png": ("report", "study.db", "-o", "../../report.md", "--figures", "figures", "--figure-format", "png"),
    "init": ("init", "new"),
    "check": ("check", "study.toml", "--store", "new.db"),
    "run": ("run", "study.toml", "--store", "new.db", "--workers", "1"),
    "plot": ("design", "--algorithms", "3", "--vs-all", "--effect", "1", "--power", "0.8", "--plot", "out.pdf"),
}
FAST = ("merge", "export", "report over", "init", "run")
LEFT = {"study.db-wal", "study.db-shm", "again.db-wal", "again.db-shm", "figures", "new"}  # SQLite's, and empty folders
# Run in a mount namespace of its own: fill the disk, run each command there, and print what came of each as JSON.
SCRIPT = """
import contextlib, json, pathlib, shutil, subprocess, sys

def names():
    return {str(path) for path in pathlib.Path().rglob("*")}

shutil.copy("study.db", "again.db")
pathlib.Path("old.md").write_text("old")
with open("ballast", "wb", buffering=0) as file, contextlib.suppress(OSError):
    while True:
        file.write(bytes(4096))
answers = {}
for name, words in json.loads(sys.argv[1]).items():
    before = names()
    ran = subprocess.run([sys.executable, "-m", "ampler", *words], capture_output=True, text=True)
    answers[name] = {"code": ran.returncode, "err": ran.stderr, "left": sorted(names() - before)}
print(json.dumps(answers))
"""


def on_a_full_disk(sound, disk, chosen):
    """Return what came of each command; a small file system in memory is the disk."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("needs Linux user namespaces")
    mount = f"mount -t tmpfs -o size=600k tmpfs '{disk}' && cp -r '{sound}' '{disk}/study' && cd '{disk}/study'"
    words = json.dumps({name: COMMANDS[name] for name in chosen})
    command = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", sys.executable, "-c", SCRIPT, words]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # or the solvers leave their compiled modules
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "chosen",
    [FAST, pytest.param(tuple(name for name in COMMANDS if name not in FAST), marks=pytest.mark.slow)],
    ids=["some", "the others"],
)
def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_done(sound, tmp_path, chosen):
    (tmp_path / "disk").mkdir()

    answers = on_a_full_disk(sound, tmp_path / "disk", chosen)

    assert answers.keys() == set(chosen)
    for answer in answers.values():
        assert answer["code"] == 1, answer
        assert len(answer["err"].strip().splitlines()) == 1
        assert "full" in answer["err"]
        assert "defect" not in answer["err"]
        assert ".part" not in answer["err"]
        assert set(answer["left"]) <= LEFT
