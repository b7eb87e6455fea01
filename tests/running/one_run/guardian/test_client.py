"""Nothing outlives its owner: what a killed process was running ends with it, however it was started."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ampler.running.one_run.guardian import script, with_mark


def alive(pid):
    """Whether a process runs; a zombie no longer does."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid, seconds=60.0):
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)


@pytest.mark.parametrize("threads", [1, 2])
def test_all_that_a_killed_process_was_running_ends_with_it(tmp_path, threads):
    code = textwrap.dedent(f"""
        import threading, time
        from ampler.running.one_run import run_once
        from ampler.core.values import Command, Instance, Limits
        script = "sleep 300 & echo $! > {tmp_path}/grandchild; echo $$ > {tmp_path}/child; wait"
        def work():
            run_once(Command("x", ("sh", "-c", script)), Instance("i"), 1, Limits())
        if {threads} == 2:
            threading.Thread(target=work).start()
            time.sleep(300)
        work()
    """)
    owner = subprocess.Popen([sys.executable, "-c", code])
    files = [tmp_path / "child", tmp_path / "grandchild"]
    while not all(file.exists() and file.read_text().endswith("\n") for file in files) and owner.poll() is None:
        time.sleep(0.01)
    pids = [int(file.read_text()) for file in files]
    assert all(map(alive, pids))

    owner.kill()
    owner.wait()

    assert [gone(pid) for pid in pids] == [True, True]


def test_a_mark_names_the_owner_and_leaves_the_environment_as_it_is():
    before = {"PATH": "/bin"}

    marked = with_mark(before)

    assert marked == {"PATH": "/bin", script.MARK: script.mark_of(os.getpid())}
    assert before == {"PATH": "/bin"}
