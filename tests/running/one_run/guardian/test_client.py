"""Nothing outlives its owner: what a killed process was running ends with it, however it was started."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from living import alive, gone_within

from ampler.core.values import Command, Instance, Limits
from ampler.running.one_run import processes, run_once
from ampler.running.one_run.guardian import client, script, with_mark


@pytest.mark.parametrize("threads", [1, 2])
def test_all_that_a_killed_process_was_running_ends_with_it(tmp_path, threads):
    code = textwrap.dedent(f"""
        import threading, time
        from ampler.running.one_run import processes, run_once
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

    assert [gone_within(pid) for pid in pids] == [True, True]


def test_a_mark_names_the_owner_and_leaves_the_environment_as_it_is():
    before = {"PATH": "/bin"}

    marked = with_mark(before)

    assert marked == {"PATH": "/bin", script.MARK: script.mark_of(os.getpid())}
    assert before == {"PATH": "/bin"}


def test_a_process_killed_the_moment_it_has_started_a_command_leaves_none():
    """Before the guardian could be told of the group, it knows the command by its mark."""
    code = textwrap.dedent("""
        import os
        from ampler.running.one_run.processes import started
        from ampler.running.one_run.strays import Watch
        process, *_ = started(["sleep", "300"], "", Watch(alone=True))
        print(process.pid, flush=True)
        os.kill(os.getpid(), 9)
    """)
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert killed.returncode == -9
    assert gone_within(int(killed.stdout))


@pytest.mark.alone
def test_every_group_that_was_watched_is_released_when_its_run_has_ended(monkeypatch):
    """Its number may soon be that of a stranger."""
    told = []

    class Line:
        def pipe(self):
            return 0

        def tell(self, owner, group):
            told.append(group)

    monkeypatch.setattr(client, "_line", Line())
    run_once(Command("x", ("sh", "-c", "sleep 0.3; echo 5")), Instance("i"), 1, Limits())

    watched = {group for group in told if group > 0}
    assert watched
    assert {-group for group in told if group < 0} == watched


@pytest.mark.alone
def test_a_short_command_leaves_the_guardian_in_peace(monkeypatch):
    """Waking it would take time from the run."""
    told = []
    run_once(Command("x", ("echo", "5")), Instance("i"), 1, Limits())  # it knows us by now
    monkeypatch.setattr(client._line, "tell", lambda owner, group: told.append(group))
    monkeypatch.setattr(processes, "QUIET", 60.0)

    assert run_once(Command("x", ("echo", "5")), Instance("i"), 1, Limits()).value == 5.0
    assert told == []


@pytest.mark.alone
def test_a_guardian_that_was_killed_is_replaced_before_the_next_command(monkeypatch):
    run_once(Command("x", ("echo", "5")), Instance("i"), 1, Limits())
    reading, writing = os.pipe()
    os.close(reading)  # nobody listens
    monkeypatch.setattr(client._line, "_pipe", writing)

    run_once(Command("x", ("echo", "5")), Instance("i"), 1, Limits())

    assert client._line._pipe != writing


def test_threads_that_come_at_once_start_one_guardian(monkeypatch):
    started = []

    def start():
        started.append(threading.current_thread())
        time.sleep(0.2)
        return 7

    monkeypatch.setattr(client, "_started", start)
    line, pipes = client._Line(), []
    threads = [threading.Thread(target=lambda: pipes.append(line.pipe())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(started), pipes) == (1, [7] * 4)


def test_a_guardian_that_was_killed_is_replaced_and_told_of_the_group(tmp_path):
    code = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from ampler.running.one_run import guardian, run_once
        from ampler.core.values import Command, Instance, Limits
        def guardians():
            processes = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
            mine = str(os.getpid()).encode()
            return [int(each.name) for each in processes if is_guardian(each, mine)]
        def is_guardian(entry, mine):
            try:
                return (entry / "cmdline").read_bytes().split(bytes(1))[-2:-1] == [mine]
            except OSError:
                return False
        def has_ended(pid):  # a process that is being ended loses its words before it closes its files
            try:
                return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
            except OSError:
                return True
        print(run_once(Command("x", ("echo", "1")), Instance("i"), 1, Limits()).value)
        found = guardians()
        assert found
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        while not all(map(has_ended, found)):
            pass
        script = "echo $$ > {tmp_path}/pid; sleep 300"
        run_once(Command("x", ("sh", "-c", script)), Instance("i"), 1, Limits())
    """)
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert owner.stdout.readline() == "1.0\n"
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()) and owner.poll() is None:
        time.sleep(0.01)
    assert owner.poll() is None
    owner.kill()
    owner.communicate()

    assert gone_within(int((tmp_path / "pid").read_text()))


def test_a_line_whose_descriptor_is_another_file_by_now_is_not_written_to(tmp_path, monkeypatch):
    """A function may close all descriptors and open its own: they are not ours."""
    reading, writing = os.pipe()
    monkeypatch.setattr(client, "_started", lambda: writing)
    line = client._Line()
    line.tell(1, 2)
    theirs = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    os.dup2(theirs, line.pipe())
    again, anew = os.pipe()
    monkeypatch.setattr(client, "_started", lambda: anew)

    line.tell(3, 4)

    assert os.read(reading, 100) == f"1 2 {script.mark_of(1)}\n".encode()
    assert (tmp_path / "file").read_bytes() == b""
    assert f"3 4 {script.mark_of(3)}\n".encode() in os.read(again, 100)
    for descriptor in (reading, theirs, writing, again, anew):
        os.close(descriptor)
