"""Killed, not asked: a real driver process is ended by SIGKILL again and again, and nothing is lost or made up."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from ampler.study.store import read_store

TOKEN = "AMPLER_TEST_TOKEN"

SOLVERS = """
import random, time

def nap(instance, seed):
    time.sleep(0.08)
    return 50 + int(instance.read_text()) + random.Random(seed).gauss(0, 4)

def quick(instance, seed):
    time.sleep(0.02)
    return 55 + int(instance.read_text()) + random.Random(seed).gauss(0, 5)
"""

STUDY = """
difference = "simple"
se = 0.9
seed = 3
[rule]
start = 8
budget = 45
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
files = "instances/*.txt"
use = "all"
"""

# The command leaves a process behind, as careless programs do.
COMMAND = """
read size < "$1"
sleep 30 &
sleep 0.08
echo $((60 + size + $2 % 17))
"""


@pytest.fixture
def folder(tmp_path):
    def make(name, instances=4):
        place = tmp_path / name
        (place / "instances").mkdir(parents=True)
        for number in range(instances):
            (place / "instances" / f"{number}.txt").write_text(f"{number}\n")
        (place / "solvers.py").write_text(SOLVERS)
        (place / "solver.sh").write_text(COMMAND)
        (place / "study.toml").write_text(STUDY)
        return place

    return make


def driver(folder, token, workers=2):
    command = [sys.executable, "-m", "ampler", "run", str(folder / "study.toml"), "--workers", str(workers)]
    environment = {**os.environ, TOKEN: token}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def recorded(folder):
    """What is durable at this moment."""
    path = folder / "study.db"
    if not path.exists():
        return {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            rows = connection.execute('SELECT instance, algorithm, "index", attempt, seed, value FROM run').fetchall()
        except sqlite3.OperationalError:  # the very beginning: there are no tables yet
            return {}
    return {row[:4]: row[4:] for row in rows}


def remaining(token):
    """The processes that carry the token: the driver, its workers, their commands, and what those left running."""
    marked = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes():
                marked.append(int(entry.name))
        except OSError:
            continue
    return marked


def none_remains(token, seconds=60.0):
    until = time.monotonic() + seconds
    while remaining(token) and time.monotonic() < until:
        time.sleep(0.02)
    return not remaining(token)


def values(folder):
    with read_store(folder / "study.db") as store:
        return {(seen.key, seen.seed, seen.value, seen.status) for seen in store.observations()}


def finished(folder):
    with read_store(folder / "study.db") as store:
        return store.finished(store.plans()[-1].decisions)


@pytest.mark.parametrize(
    ("seed", "often"), [(1, 5), *(pytest.param(seed, 11, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_a_driver_killed_again_and_again_ends_with_the_study_of_one_that_was_not(folder, seed, often):
    """Runs are slow, or so many sessions would bring it to its end."""
    rng = random.Random(seed)
    whole, broken = folder("whole"), folder("broken")
    straight = driver(whole, token := uuid.uuid4().hex, workers=2)
    output, _ = straight.communicate(timeout=240)
    assert straight.returncode == 0, output
    assert none_remains(token)
    total = len(recorded(whole))
    assert total > 12 * often  # or there would be too little between the kills

    acknowledged, kills = {}, 0
    while kills < often:
        token = uuid.uuid4().hex
        process = driver(broken, token, workers=rng.choice([1, 2]))
        wanted = max(1, round(total * 0.9 * kills / often)) + rng.randrange(8)
        while len(acknowledged) < wanted and process.poll() is None:
            acknowledged = recorded(broken)
            time.sleep(0.005)
        time.sleep(rng.random() * 0.1)
        assert process.poll() is None, f"it was done after {kills} kills: {process.communicate()[0]}"
        acknowledged = recorded(broken)
        process.kill()
        process.communicate()
        kills += 1
        after = recorded(broken)
        assert acknowledged.items() <= after.items(), "an acknowledged run was lost or changed"
        assert none_remains(token), f"left running after kill {kills}: {remaining(token)}"
        acknowledged = after

    assert 0 < len(acknowledged) < total
    last = driver(broken, token := uuid.uuid4().hex)
    output, _ = last.communicate(timeout=240)
    assert last.returncode == 0, output
    assert none_remains(token)

    made = recorded(broken)
    assert acknowledged.items() <= made.items()
    assert {attempt for *_, attempt in made} == {0}
    assert len(made) == total
    assert values(broken) == values(whole)
    assert finished(broken) == finished(whole)
    with closing(sqlite3.connect(broken / "study.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_driver_that_is_asked_to_end_leaves_with_130_and_the_next_goes_on(folder, number):
    place = folder("asked", instances=3)
    process = driver(place, token := uuid.uuid4().hex)
    while not recorded(place) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)

    assert process.returncode == 130
    assert "Interrupted." in output
    assert "the same command goes on from there" in output
    assert "Traceback" not in output
    assert none_remains(token)
    before = recorded(place)
    assert before

    again = driver(place, token := uuid.uuid4().hex)
    output, _ = again.communicate(timeout=240)

    assert again.returncode == 0, output
    assert before.items() <= recorded(place).items()
    assert none_remains(token)
