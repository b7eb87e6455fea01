"""The guardian as a program: it needs Python alone, ends what dead owners have started, and leaves with the last."""

import os
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ampler.running.one_run.guardian import script


def wait_for(holds, seconds=60.0):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def guardians(owner):
    """The guardians that were started for an owner."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            if script.__file__.encode() in words and str(owner).encode() in words:
                found.append(int(entry))
    return found


@pytest.fixture
def owner():
    process = subprocess.Popen(["sleep", "300"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def guardian(owner):
    """The pipe of a guardian for one owner, started as a script from a folder that has nothing to do with us."""
    writing = started(script.mark_of(owner.pid), owner.pid)
    yield writing
    os.close(writing)


def started(mark, owner):
    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-S", script.__file__, mark, str(owner)]
    subprocess.run(command, stdin=reading, start_new_session=True, check=True, cwd="/")
    os.close(reading)
    return writing


def group():
    return subprocess.Popen(["sh", "-c", "sleep 300 & wait"], process_group=0)


def test_the_groups_of_an_owner_end_with_it_and_others_do_not(owner, guardian):
    watched, released, stranger = group(), group(), group()
    try:
        os.write(guardian, f"{owner.pid} {watched.pid}\n{owner.pid} {released.pid}\n".encode())
        os.write(guardian, f"{owner.pid} -{released.pid}\n".encode())
        owner.kill()
        owner.wait()

        assert watched.wait(timeout=60) == -9
        assert wait_for(lambda: not guardians(owner.pid))
        assert (released.poll(), stranger.poll()) == (None, None)
    finally:
        for each in (watched, released, stranger):
            with suppress(ProcessLookupError):
                os.killpg(each.pid, 9)
            each.wait()


def test_a_line_that_comes_in_two_pieces_is_one_line(owner, guardian):
    watched = group()
    line = f"{owner.pid} {watched.pid}\n".encode()
    os.write(guardian, line[:-3])
    time.sleep(0.3)
    os.write(guardian, line[-3:])
    time.sleep(0.3)
    owner.kill()
    owner.wait()

    assert watched.wait(timeout=60) == -9


def test_the_number_of_a_dead_owner_is_no_longer_anybodys_group():
    """A worker is a group of its driver's and an owner itself; after its death the number may be a stranger's."""
    worker, driver = 2**22 + 1, 2**22 + 2
    owners = {pid: script._Owner(None, f"{pid}") for pid in (worker, driver)}
    groups = {worker: {}, driver: {worker: "", 5: ""}}

    script._bury(worker, owners, groups)

    assert (list(owners), groups) == ([driver], {driver: {5: ""}})


def test_what_carries_the_mark_of_a_dead_owner_ends_though_nobody_told_of_it(owner, guardian):
    mark = script.mark_of(owner.pid)
    stray = subprocess.Popen(["sleep", "300"], env={**os.environ, script.MARK: mark})
    owner.kill()
    owner.wait()

    assert stray.wait(timeout=60) == -9


def test_it_stays_as_long_as_an_owner_lives_and_leaves_with_the_last(owner, guardian):
    second = subprocess.Popen(["sleep", "300"])
    os.write(guardian, f"{second.pid} 0\n".encode())
    (pid,) = guardians(owner.pid)
    owner.kill()
    owner.wait()
    watched = group()
    os.write(guardian, f"{second.pid} {watched.pid}\n".encode())
    second.kill()
    second.wait()

    assert watched.wait(timeout=60) == -9
    assert wait_for(lambda: pid not in guardians(owner.pid))


def test_a_mark_tells_a_process_from_another_that_had_its_number():
    mine = script.mark_of(os.getpid())

    assert mine.partition("-")[0] == str(os.getpid())
    assert mine.partition("-")[2].isdigit()
    assert mine == script.mark_of(os.getpid())
    assert script.mark_of(2**22 + 1) == str(2**22 + 1), "there is no such process"


def test_a_guardian_whose_owner_died_before_it_looked_leaves_at_once(owner):
    """The number of the owner may be another process's by now."""
    writing = started(f"{owner.pid}-1", owner.pid)

    assert wait_for(lambda: not guardians(owner.pid))
    assert owner.poll() is None
    os.close(writing)


def test_what_owners_started_that_died_before_the_guardian_looked_ends_as_well(owner, guardian):
    first, second = (subprocess.Popen(["sleep", "300"]) for _ in range(2))
    marks = [script.mark_of(each.pid) for each in (first, second)]
    strays = [subprocess.Popen(["sleep", "300"], env=env) for env in ({}, {script.MARK: marks[1]})]
    resource.prlimit(strays[0].pid, resource.RLIMIT_RTTIME, (script.label_for(marks[0]), -1))
    for each in (first, second):
        each.kill()
        each.wait()

    writing = started(marks[0], first.pid)
    os.write(guardian, f"{second.pid} 0 {marks[1]}\n".encode())

    assert [each.wait(timeout=60) for each in strays] == [-9, -9]
    assert owner.poll() is None
    os.close(writing)


def test_a_group_whose_number_is_a_strangers_by_now_is_left_alone():
    stranger, owner = group(), script._Owner(None, "1-1", None)
    try:
        script._bury(1, {1: owner}, {1: {stranger.pid: f"{stranger.pid}-1"}})
        time.sleep(0.1)
        assert stranger.poll() is None
        script._bury(1, {1: owner}, {1: {stranger.pid: script.mark_of(stranger.pid)}})
        assert stranger.wait(timeout=60) == -9
    finally:
        if stranger.poll() is None:
            os.killpg(stranger.pid, 9)


def test_an_owner_whose_number_is_a_strangers_by_now_is_dead():
    mine, other = (script._Owner(None, mark) for mark in (script.mark_of(os.getpid()), f"{os.getpid()}-1"))

    assert not script._dead(os.getpid(), mine, set())
    assert script._dead(os.getpid(), other, set())


@pytest.mark.parametrize("refusal", [None, PermissionError, AttributeError], ids=str)
def test_a_label_is_seen_by_all_and_no_mark_is_taken_for_another(monkeypatch, refusal):
    """Where the kernel does not tell us the limits of a process, as of one with more rights, it is read in /proc."""

    def refuses(*_):
        raise refusal

    label = script.label_of(os.getpid())
    stray = subprocess.Popen(["sleep", "300"], env={"X": "1" * 100_000, script.MARK: "1-2"})
    try:
        resource.prlimit(stray.pid, resource.RLIMIT_RTTIME, (label, resource.RLIM_INFINITY))
        if refusal is not None:
            monkeypatch.setattr(resource, "prlimit", refuses)
        seen = {mark: script._strays_of(script._Owner(None, mark, 1)) for mark in ("1-2", "1-22", "1-", "-2")}
        assert [mark for mark, strays in seen.items() if stray.pid in strays] == ["1-2"]
        assert stray.pid in script._strays_of(script._Owner(None, "1-3", label))
        assert stray.pid not in script._strays_of(script._Owner(None, "1-3", label + 1))
        assert stray.pid not in script._strays_of(script._Owner(None, "1-3", None))
    finally:
        stray.kill()
        stray.wait()


def test_processes_that_we_may_not_end_are_not_looked_at(monkeypatch):
    def kill(pid, number):
        if pid != os.getppid():
            raise PermissionError

    looked = []
    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr(script, "content", lambda path: looked.append(path) or b"")

    assert script._strays_of(script._Owner(None, "1-2", None)) == []
    assert looked == [f"/proc/{os.getppid()}/environ"]


def test_what_carries_the_label_of_a_dead_owner_ends_though_it_has_left_group_and_environment(owner, guardian):
    label = script.label_of(owner.pid)
    code = f"import os, resource; resource.setrlimit(resource.RLIMIT_RTTIME, ({label}, -1)); os.setsid()"
    stray = subprocess.Popen([sys.executable, "-c", f"{code}; os.execve('/bin/sleep', ['sleep', '300'], {{}})"])
    other = subprocess.Popen(["sleep", "300"], env={})
    assert wait_for(lambda: script._is_labelled(stray.pid, label))
    owner.kill()
    owner.wait()

    assert stray.wait(timeout=60) == -9
    assert other.poll() is None
    other.kill()
    other.wait()
