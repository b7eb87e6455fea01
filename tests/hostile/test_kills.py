"""Faults at random moments: nothing is lost, nothing made twice, nothing left running, nothing left lying about.

Studies are disturbed again and again, by signals to driver, workers, supervisor and commands, and resumed; in the end
each equals the one that nobody disturbed. The moments and the order of faults are a matter of chance, and of the seed.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from contextlib import closing, suppress
from pathlib import Path

import commands
import pytest
from living import belonging

from ampler.study.store import read_store

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found by /proc")

# Each fault is a victim and a list of steps: a signal, a pause in seconds, or the victim of the next signals.
KILL, TERM, INT, HUP, QUIT = (
    *(signal.SIGKILL, signal.SIGTERM, signal.SIGINT),
    *(signal.SIGHUP, signal.SIGQUIT),
)
STOP, CONT, SEGV, ABRT, USR1 = signal.SIGSTOP, signal.SIGCONT, signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR1
SOON, LATER = 0.05, 0.4  # seconds

DRIVER = {
    **{number.name: [number] for number in (KILL, TERM, INT, HUP, QUIT, SEGV, ABRT, USR1)},
    **{number.name: [number] for number in (signal.SIGPIPE, signal.SIGBUS, signal.SIGXCPU, signal.SIGALRM)},
    "stopped for a while": [STOP, LATER, CONT],
    "stopped and killed": [STOP, SOON, KILL],
    "stopped, asked and continued": [STOP, TERM, SOON, CONT],
    "stopped, interrupted and continued": [STOP, INT, SOON, CONT],
    "asked twice": [TERM, SOON, TERM],
    "interrupted twice": [INT, INT],
    "interrupted, then killed": [INT, SOON, KILL],
    "asked, then killed": [TERM, SOON, KILL],
}
WORKER = {
    **{number.name: [number] for number in (KILL, TERM, INT, HUP, QUIT, SEGV, ABRT, USR1)},
    **{number.name: [number] for number in (signal.SIGPIPE, signal.SIGBUS, signal.SIGXCPU, signal.SIGALRM)},
    "stopped for a while": [STOP, LATER, CONT],
    "stopped and killed": [STOP, SOON, KILL],
    "asked, then killed": [TERM, KILL],
}
WORKERS = {
    "SIGKILL": [KILL],
    "SIGTERM": [TERM],
    "SIGSEGV": [SEGV],
    "stopped for a while": [STOP, LATER, CONT],
    "killed with the driver": [KILL, "driver", KILL],
}
SUPERVISOR = {
    **{number.name: [number] for number in (KILL, TERM, INT, HUP, QUIT)},
    "stopped for a while": [STOP, LATER, CONT],
    "killed, then the driver": [KILL, 3 * LATER, "driver", KILL],
    "stopped while the driver is killed": [STOP, "driver", KILL, SOON, "supervisor", CONT],
    "stopped while the workers are killed": [STOP, "workers", KILL, SOON, "supervisor", CONT],
    "killed, then the workers": [KILL, 3 * LATER, "workers", KILL],
    "killed twice": [KILL, 3 * LATER, "supervisor", KILL],
}
COMMAND = {
    **{number.name: [number] for number in (KILL, TERM, INT, SEGV, USR1)},
    "stopped for a while": [STOP, LATER, CONT],
}
GROUP = {number.name: [number] for number in (INT, TERM, KILL, HUP)} | {"stopped for a while": [STOP, LATER, CONT]}

FAULTS = [
    (victim, name, steps)
    for victim, table in {
        **{"driver": DRIVER, "worker": WORKER, "workers": WORKERS},
        **{"supervisor": SUPERVISOR, "command": COMMAND, "group": GROUP},
    }.items()
    for name, steps in table.items()
]

IN_ONE_STUDY = 10
STUDIES = 40  # so that drivers, workers and supervisors are killed more than 200 times
ORDER = random.Random("order").sample(FAULTS * 8, 8 * len(FAULTS))
FEW = [3, 20, 35, 40, 44, 51]  # the fast half: one fault of each victim
RUNS, FEWER_RUNS = 16, 8  # of each algorithm on each instance, with many faults and with few
TOKEN = "AMPLER_FAULT_TOKEN"
SOLVERS = """
import random, time

def nap(instance, seed):
    time.sleep(0.05)
    return 50 + len(instance) + random.Random(seed).gauss(0, 4)

def quick(instance, seed):
    time.sleep(0.01)
    return 55 + len(instance) + random.Random(seed).gauss(0, 5)
"""
COMMAND = """
sleep 30 &
env -i setsid sh -c 'sleep NUMBER & sleep NUMBER' &
sleep 0.06
echo $((60 + $2 % 17))
"""
STUDY = """
difference = "simple"
better = "lower"
seed = 3
[rule]
allocation = "fixed"
runs = RUNS
[run]
retries = 9
[[algorithm]]
name = "nap"
python = "solvers:nap"
[[algorithm]]
name = "quick"
python = "solvers:quick"
[[algorithm]]
name = "command"
command = "sh solver.sh {instance} {seed}"
[instances]
names = ["a", "bb", "ccc", "dddd"]
use = "all"
"""
FILES = {"solvers.py": SOLVERS, "solver.sh": COMMAND, "study.toml": STUDY}


class Crew:
    """The processes of a study that is being run: a driver, its workers, their commands and the supervisor."""

    def __init__(self, driver: int, token: bytes, folder: Path) -> None:
        self.driver = driver
        self._token, self._folder = token, folder

    def meet(self, victim: str, steps: list) -> bool:
        """Let a fault happen; False when there is no such process at the moment."""
        first = targets = self._targets(victim)
        if not targets:
            return False
        for step in steps:
            if isinstance(step, str):  # a supervisor whose driver was killed is no longer found by its parent
                targets = self._targets(step) or (first if step == victim else [])
            elif isinstance(step, signal.Signals):
                for target in targets:
                    with suppress(ProcessLookupError):
                        os.killpg(-target, step) if target < 0 else os.kill(target, step)
            else:
                time.sleep(step)
        return True

    def _targets(self, victim: str) -> list[int]:
        if victim in ("driver", "group"):
            return [self.driver if victim == "driver" else -self.driver]
        processes = belonging(self._token, self.driver, self._folder)
        supervisors = [pid for pid, (parent, _) in processes.items() if parent == self.driver and leads(pid)]
        workers = [pid for pid, (parent, _) in processes.items() if parent in supervisors]
        commands = [pid for pid, (parent, _) in processes.items() if parent in workers]
        return {"supervisor": supervisors, "workers": workers, "worker": workers[:1], "command": commands[:1]}[victim]


def leads(pid: int) -> bool:
    """Whether a process leads a session of its own, as the supervisor does."""
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:
        return False


class Running:
    """A study that is being run by a driver, and what is recorded of it."""

    def __init__(self, folder):
        self.folder = folder
        self.token = f"{TOKEN}={uuid.uuid4().hex}".encode()
        name, _, value = self.token.decode().partition("=")
        environment = {name: value, "TMPDIR": str(folder.parent / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
        words = ("run", folder / "study.toml", "--workers", 2)
        self.process = commands.start(*words, cwd=folder.parent, env=os.environ | environment)
        self.crew = Crew(self.process.pid, self.token, folder.parent)

    def wait_for(self, runs):
        while len(recorded(self.folder)) < runs and self.process.poll() is None:
            time.sleep(0.02)
        return self.process.poll() is None

    def ended(self, seconds=1.0):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        commands.end(self.process)
        return True

    def nothing_runs(self, seconds=60.0):
        until = time.monotonic() + seconds
        while (left := self.left()) and time.monotonic() < until:
            time.sleep(0.05)
        return not left

    def left(self):
        """What belongs to our driver, and daemons that got rid of all signs of it."""
        return [*belonging(self.token, self.process.pid, self.folder.parent), *daemons(self.folder)]


def daemons(folder):
    """The processes without environment that the commands of a study left: they sleep for a time of their own."""
    number = (folder / "number").read_bytes()
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if number in Path("/proc", pid, "cmdline").read_bytes():
                found.append(int(pid))
    return found


def made(folder, runs=RUNS):
    folder.mkdir()
    (folder.parent / "tmp").mkdir(exist_ok=True)
    number = f"31.{uuid.uuid4().int % 10**9:09d}"
    for name, text in {**FILES, "number": number}.items():
        (folder / name).write_text(text.replace("NUMBER", number).replace("RUNS", str(runs)))
    return folder


def recorded(folder):
    """What is durable at this moment: the attempts at runs, and what they gave."""
    path = folder / "study.db"
    if not path.exists():
        return {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            rows = connection.execute('SELECT instance, algorithm, "index", attempt, seed, value, status FROM run')
            return {row[:4]: row[4:] for row in rows.fetchall()}
        except sqlite3.OperationalError:  # the very beginning: there are no tables yet
            return {}


def results(folder):
    """The runs that count, and how each instance was finished."""
    with read_store(folder / "study.db") as store:
        runs = {(each.key, each.seed, each.value, each.status) for each in store.observations()}
        return runs, store.finished(store.plans()[-1].decisions)


def finish(folder):
    running = Running(folder)
    output = running.process.communicate()
    assert running.process.returncode == 0, output
    assert running.nothing_runs(), running.left()
    return sorted(os.listdir(folder))  # before we look into the study file, which makes others beside it


def disturbed(folder, faults, rng, total):
    """Disturb a study; return how many faults happened, and what they left is all there."""
    known, met, running = {}, 0, Running(folder)
    for number, (victim, name, steps) in enumerate(faults):
        wanted = round(total * 0.85 * (number + rng.random()) / len(faults))
        if not running.wait_for(wanted):
            ends(running, known)
            running = Running(folder)
            assert running.wait_for(min(wanted, len(recorded(folder)) + 1)), running.process.stdout.read()
        time.sleep(rng.random() * 0.08)
        known = recorded(folder)
        until = time.monotonic() + 1
        while not (happened := running.crew.meet(victim, steps)) and time.monotonic() < until:
            time.sleep(0.03)  # no command runs at the moment
        met += happened or running.crew.meet("driver", [signal.SIGKILL])  # who has no part now is not waited for
        if running.ended(0.3):
            ends(running, known)
            running = Running(folder)
        assert known.items() <= recorded(folder).items(), f"after {name} of the {victim} a run was lost or changed"
    running.process.communicate()
    ends(running, known)
    return met


def ends(running, known):
    assert running.ended(240)
    assert running.nothing_runs(), running.left()
    assert known.items() <= recorded(running.folder).items(), "a run was lost or changed"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return left_alone(made(tmp_path_factory.mktemp("undisturbed") / "study"))


def left_alone(folder):
    """How many runs a study has that nobody disturbs, what comes of them, and its files."""
    files = finish(folder)
    return len(recorded(folder)), results(folder), files


def check(folder, undisturbed):
    """The study is finished, and equals the one that nobody disturbed; nothing lies about."""
    files = finish(folder)
    total, wanted, usual = undisturbed
    assert files == usual == sorted([*FILES, "number", "study.db", "study.db.bak"])
    assert not os.listdir(folder.parent / "tmp")
    assert results(folder) == wanted
    good = [key[:3] for key, (_, _, status) in recorded(folder).items() if status == "ok"]
    assert len(good) == len(set(good)) == total, "each run counts once"
    with closing(sqlite3.connect(folder / "study.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def is_deadly(fault):
    """Whether a fault ends the driver, a worker or the supervisor by a signal."""
    victim, _, steps = fault
    ending = {signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT}
    return victim in ("driver", "worker", "workers", "supervisor") and not ending.isdisjoint(steps)


def test_there_are_sixty_kinds_of_faults():
    assert len(FAULTS) >= 60
    assert {victim for victim, *_ in FAULTS} == {"driver", "worker", "workers", "supervisor", "command", "group"}
    assert sum(map(is_deadly, ORDER[: STUDIES * IN_ONE_STUDY])) >= 200


def test_a_study_that_is_disturbed_by_each_kind_of_victim_equals_the_undisturbed(tmp_path):
    undisturbed = left_alone(made(tmp_path / "undisturbed", FEWER_RUNS))
    folder, faults = made(tmp_path / "study", FEWER_RUNS), [FAULTS[place] for place in FEW]

    assert disturbed(folder, faults, random.Random(1), undisturbed[0]) == len(faults)
    check(folder, undisturbed)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(STUDIES))
def test_a_study_that_is_disturbed_again_and_again_equals_the_undisturbed(tmp_path, undisturbed, seed):
    faults = ORDER[seed * IN_ONE_STUDY : (seed + 1) * IN_ONE_STUDY]
    folder = made(tmp_path / "study")

    assert disturbed(folder, faults, random.Random(seed), undisturbed[0]) >= IN_ONE_STUDY - 1
    check(folder, undisturbed)
