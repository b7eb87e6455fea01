"""Killed, not asked: a real driver process is ended by SIGKILL again and again, and nothing is lost or made up."""

import os
import random
import signal
import sqlite3
import time
import uuid
from contextlib import closing

import pytest
from living import belonging

from ampler.study.store import read_store

TOKEN = "AMPLER_TEST_TOKEN"

SOLVERS = """
import random, time

def nap(instance, seed):
    time.sleep(0.04)
    return 50 + int(instance.read_text()) + random.Random(seed).gauss(0, 4)

def quick(instance, seed):
    time.sleep(0.02)
    return 55 + int(instance.read_text()) + random.Random(seed).gauss(0, 5)
"""

STUDY = """better = "lower"
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
sleep 0.04
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


@pytest.fixture
def driver(start):
    """`driver(folder)`: `ampler run` in a process of its own."""

    def run(folder, workers=2):
        token = uuid.uuid4().hex
        words = ("run", folder / "study.toml", "--workers", workers)
        process = start(*words, cwd=folder.parent, env={**os.environ, TOKEN: token})
        process.belongings = lambda: belonging(f"{TOKEN}={token}".encode(), process.pid, folder.parent)
        return process

    return run


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


def remaining(process):
    """The driver, its workers, their commands, and what those left running."""
    return [*process.belongings()]


def none_remains(process, seconds=60.0):
    until = time.monotonic() + seconds
    while remaining(process) and time.monotonic() < until:
        time.sleep(0.05)
    return not remaining(process)


def values(folder):
    with read_store(folder / "study.db") as store:
        return {(seen.key, seen.seed, seen.value, seen.status) for seen in store.observations()}


def finished(folder):
    with read_store(folder / "study.db") as store:
        return store.finished(store.plans()[-1].decisions)


@pytest.mark.parametrize(
    ("seed", "often"), [(1, 3), *(pytest.param(seed, 11, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_a_driver_killed_again_and_again_ends_with_the_study_of_one_that_was_not(folder, driver, seed, often):
    """Runs are slow, or so many sessions would bring it to its end."""
    rng = random.Random(seed)
    whole, broken = (folder(name, instances=often // 3 + 1) for name in ("whole", "broken"))
    straight = driver(whole)
    output = straight.communicate()
    assert straight.returncode == 0, output
    assert none_remains(straight)
    total = len(recorded(whole))
    assert total > 12 * often  # or there would be too little between the kills

    acknowledged, kills = {}, 0
    while kills < often:
        process = driver(broken, workers=rng.choice([1, 2]))
        wanted = max(1, round(total * 0.9 * kills / often)) + rng.randrange(8)
        while len(acknowledged) < wanted and process.poll() is None:
            acknowledged = recorded(broken)
            time.sleep(0.02)
        time.sleep(rng.random() * 0.1)
        assert process.poll() is None, f"it was done after {kills} kills: {process.communicate()}"
        acknowledged = recorded(broken)
        process.kill()
        process.communicate()
        kills += 1
        after = recorded(broken)
        assert acknowledged.items() <= after.items(), "an acknowledged run was lost or changed"
        assert none_remains(process), f"left running after kill {kills}: {remaining(process)}"
        acknowledged = after

    assert 0 < len(acknowledged) < total
    last = driver(broken)
    output = last.communicate()
    assert last.returncode == 0, output
    assert none_remains(last)

    made = recorded(broken)
    assert acknowledged.items() <= made.items()
    assert {attempt for *_, attempt in made} == {0}
    assert len(made) == total
    assert values(broken) == values(whole)
    assert finished(broken) == finished(whole)
    with closing(sqlite3.connect(broken / "study.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_driver_that_is_asked_to_end_leaves_with_130_and_the_next_goes_on(folder, driver, number):
    place = folder("asked", instances=2)
    (place / "study.toml").write_text(STUDY.replace("budget = 45", "budget = 24"))
    process = driver(place)
    while not recorded(place) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    output = "".join(process.communicate())

    assert process.returncode == 130
    assert "Interrupted." in output
    assert "rerun the same command to resume" in output
    assert "Traceback" not in output
    assert none_remains(process)
    before = recorded(place)
    assert before

    again = driver(place)
    output = again.communicate()

    assert again.returncode == 0, output
    assert before.items() <= recorded(place).items()
    assert none_remains(again)
