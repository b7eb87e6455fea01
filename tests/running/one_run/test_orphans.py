"""Nothing of a run is left behind: daemons that left its process group are ended with it."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from ampler.core.plan import Command, Function, Instance, Limits, Reading
from ampler.core.runs import RunKey
from ampler.running.engines import ExecutorEngine
from ampler.running.one_run.execution import run_once
from ampler.running.one_run.supervisor import children
from ampler.running.work import Task, Work

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans fall to others elsewhere")

DAEMON = """
import os, sys, time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open(sys.argv[1] + "/" + str(os.getpid()), "w").close()
            time.sleep(600)
        os._exit(0)
    os.wait()
    while not os.listdir(sys.argv[1]):
        time.sleep(0.01)
"""
WAYS = {
    "forks twice": DAEMON + "daemon(); print(5)",
    "forks twice and has no environment": DAEMON
    + "if 'again' not in sys.argv: os.execve(sys.executable, [sys.executable, __file__, *sys.argv[1:], 'again'], {})\n"
    + "daemon(); print(5)",
    "several daemons": DAEMON + "daemon(); daemon(); daemon(); print(5)",
    "daemons of daemons": DAEMON + "daemon()\nif os.fork() == 0:\n    os.setsid(); daemon(); time.sleep(600)\nprint(5)",
    "calls setsid": DAEMON
    + "if os.fork() == 0:\n    os.setsid(); open(sys.argv[1] + '/' + str(os.getpid()), 'w').close(); time.sleep(600)\n"
    + "while not os.listdir(sys.argv[1]): time.sleep(0.01)\nprint(5)",
    "hangs": DAEMON + "daemon(); time.sleep(600)",
    "fails": DAEMON + "daemon(); sys.exit(3)",
}


def is_running(pid):
    try:
        return b"\nState:\tZ" not in Path(f"/proc/{pid}/status").read_bytes()
    except FileNotFoundError:
        return False


@pytest.fixture(params=["alone", "beside threads"])
def made(request):
    """Runs are made where this process has one thread, and by an executor that has several, through its helpers."""

    def by_executor(algorithm, instance, seed, limits):
        work = Work({"x": algorithm}, {"i": instance}, seed, limits)
        (fate,) = fates(work)
        return fate.observations[0]

    def fates(work):
        with ThreadPoolExecutor(2) as executor:
            engine = ExecutorEngine(executor, work, 2)
            engine.submit([Task(RunKey("i", "x", 0))])
            return engine.collect(60.0)

    return run_once if request.param == "alone" else by_executor


def daemon_program(tmp_path, way):
    script, daemons = tmp_path / f"{way}.py", tmp_path / f"{way} daemons"
    script.write_text(WAYS[way])
    daemons.mkdir()
    return Command("daemon", (sys.executable, "-S", str(script), str(daemons))), daemons


@pytest.mark.parametrize("limits", [Limits(), Limits(timeout=30.0, memory=10**9)], ids=["no limits", "limits"])
def test_daemons_end_with_the_run_that_started_them(tmp_path, made, limits):
    endings = {"hangs": "timeout", "fails": "failed"}
    for way in WAYS:
        command, daemons = daemon_program(tmp_path, way)
        kept = replace(limits, timeout=1.5) if way == "hangs" else limits

        outcome = made(command, Instance("i"), 1, kept)

        assert (way, outcome.status) == (way, endings.get(way, "ok"))
        assert os.listdir(daemons)
        assert (way, [pid for pid in os.listdir(daemons) if is_running(pid)]) == (way, [])
        assert not any(str(child) in os.listdir(daemons) for child in children())


DRIVER_WITH_DAEMONS = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from ampler.core.plan import Command
from ampler.core.plan import Instance
from ampler.core.plan import Limits
from ampler.core.runs import RunKey
from ampler.running.engines import engine_for
from ampler.running.work import Task, Work
work = Work({"x": Command("x", (sys.executable, "-S", *sys.argv[2:]))}, {"i": Instance("i")}, 1, Limits())
engine = engine_for(None if sys.argv[1] == "workers" else ThreadPoolExecutor(2), work, 2)
engine.submit([Task(RunKey("i", "x", 0))])
engine.collect(None)
"""


@pytest.mark.parametrize("company", ["workers", "threads"])
def test_daemons_without_group_and_environment_end_with_a_process_that_is_killed(tmp_path, monkeypatch, company):
    monkeypatch.setitem(WAYS, "hangs bare", WAYS["forks twice and has no environment"] + "; time.sleep(600)")
    command, daemons = daemon_program(tmp_path, "hangs bare")
    driver = subprocess.Popen([sys.executable, "-c", DRIVER_WITH_DAEMONS, company, *command.argv[2:]])
    assert wait_for(lambda: os.listdir(daemons))
    pids = os.listdir(daemons)
    assert all(map(is_running, pids))

    driver.kill()
    driver.wait()

    assert wait_for(lambda: not any(map(is_running, pids)))


def wait_for(holds, seconds=60.0):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


def test_a_function_under_a_limit_leaves_no_daemon(tmp_path, made):
    def start_daemon(instance, seed):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                (tmp_path / str(os.getpid())).touch()
                time.sleep(600)
            os._exit(0)
        while not os.listdir(tmp_path):
            time.sleep(0.01)
        return 3.0

    outcome = made(Function("f", start_daemon, "here:f"), Instance("i"), 1, Limits(timeout=30.0))

    assert outcome.value == 3.0
    assert not [pid for pid in os.listdir(tmp_path) if is_running(pid)]


def test_a_program_that_stays_keeps_its_helpers_while_others_run(tmp_path):
    helper = tmp_path / "helper"
    stays = tmp_path / "stays.py"
    stays.write_text(
        "import json, os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        f"    if os.fork() == 0:\n        open({str(helper)!r}, 'w').write(str(os.getpid())); time.sleep(600)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print(json.dumps({'ampler': 1}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'seed': json.loads(line)['seed'], 'value': 1}), flush=True)\n"
    )
    staying = Command("stays", (sys.executable, str(stays)), protocol="worker")
    plain = Command("plain", (sys.executable, "-c", "print(2)"))

    assert run_once(staying, Instance("i"), 1, Limits()).value == 1.0
    assert run_once(plain, Instance("i"), 1, Limits()).value == 2.0
    assert is_running(helper.read_text())


def test_the_clock_starts_where_the_program_starts():
    """A function of ours between fork and exec would show in the processor time: 2 ms and more for `true`."""
    true = Command("true", ("true",), reading=Reading("cpu-seconds"))
    ballast = bytearray(200_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])

    assert min(run_once(true, Instance("i"), 1, Limits()).value for _ in range(20)) < 0.003


def test_a_function_that_forks_and_returns_twice_answers_once(tmp_path, made):
    def twice(instance, seed):
        child = os.fork()
        (tmp_path / str(os.getpid())).touch()
        if child == 0:
            time.sleep(0.2)
        return float(child == 0)

    outcome = made(Function("f", twice, "here:f"), Instance("i"), 1, Limits(timeout=30.0))

    assert outcome.value == 0.0
    assert not [pid for pid in os.listdir(tmp_path) if is_running(pid)]
