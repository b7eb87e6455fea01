"""Studies that find their own size or are looked at, whose driver is really killed: the same runs and claims."""

import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing

import pytest

from ampler import Detect, Study, analyse
from ampler.running import run_plan
from ampler.study.store import open_store, read_store
from ampler.testing import MemoryStore, SerialExecutor

# `python test_detect_kills.py STUDY.DB MOMENT WORKERS|ADDRESS` runs a study in a process that is killed at that moment.
PILOT, START = 6, 3
IN_PILOT = 3 * PILOT * START  # runs
MOMENTS = ("in the pilot", "before the decision is kept", "after the decision is kept", "in the rest", "before the end")


def solver(shift, spread):
    def solve(instance, seed):
        time.sleep(0.004)
        own = random.Random(f"{instance}/{shift}").gauss(0, 1)
        return 100 + instance % 5 + shift + own + random.Random(seed).gauss(0, spread)

    return solve


def study():
    algorithms = {"a": solver(0.0, 1.0), "b": solver(0.5, 2.0), "c": solver(30.0, 1.0)}
    instances = {f"i{n}": n for n in range(40)}
    asked = {"difference": "simple", "reference": "a", "design": Detect(1.5, pilot=PILOT, runs=START), "seed": 4}
    return Study(algorithms=algorithms, instances=instances, better="lower", **asked)


class Deadly:
    """A store whose process is killed when it writes at the moment, before or after the write."""

    def __init__(self, store, moment):
        self._store, self._moment, self._runs = store, moment, sum(1 for _ in store.observations())

    def __getattr__(self, name):
        return getattr(self._store, name)

    def add(self, observations, finished=()):
        observations = list(observations)
        if self._moment == ("in the pilot" if self._runs < IN_PILOT else "in the rest"):
            self._store.add(observations[:10])  # as if a group of runs had been written a little earlier
            self._die(self._moment, observations)
        self._store.add(observations, finished)
        self._runs += len(observations)

    def decide(self, number, decision):
        self._die("before the decision is kept", number == 1)
        self._die("before the end", number == 2)
        self._store.decide(number, decision)
        self._die("after the decision is kept", number == 1)

    def _die(self, moment, now):
        if moment == self._moment and now:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def driven(process):
    """`driven(path, moment, where)` carries the study on in a process of its own, and returns how that ended."""
    return lambda path, moment, where: process(__file__, path, moment, where, program=(sys.executable,))


def kept(store):
    runs = {(seen.key, seen.seed, seen.value) for seen in store.observations()}
    return runs, [(taken.number, taken.digest, taken.decision.reason) for taken in store.decisions()]


def claims(source):
    compared = analyse(source).comparisons
    return [(each.first, each.second, each.estimate, each.p_holm, each.joint_interval) for each in compared]


@pytest.fixture(scope="module")
def undisturbed():
    store = MemoryStore()
    run_plan(study().plan, store, executor=SerialExecutor())
    return kept(store), claims(store)


def is_as(path, undisturbed):
    with read_store(path) as store:
        attempts = [seen.attempt for seen in store.observations(superseded=True)]
        return attempts == [0] * len(attempts) and (kept(store), claims(path)) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_driver_killed_at_each_moment_of_the_study_changes_nothing(moment, driven, undisturbed, tmp_path):
    path = tmp_path / "study.db"

    killed = driven(path, moment, 2)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with read_store(path) as store:
        runs, decisions = kept(store)
        assert runs < undisturbed[0][0] or moment == "before the end"
        assert decisions == undisturbed[0][1][: len(decisions)]

    resumed = driven(path, "never", 1)
    assert resumed.returncode == 0, resumed.stderr
    assert is_as(path, undisturbed)


def test_a_driver_killed_at_every_moment_in_turn_changes_nothing(driven, undisturbed, tmp_path):
    path = tmp_path / "study.db"
    for workers, moment in enumerate(MOMENTS, 1):
        killed = driven(path, moment, workers)
        assert killed.returncode == -signal.SIGKILL, (moment, killed.stderr)

    assert driven(path, "never", 3).returncode == 0
    assert is_as(path, undisturbed)


@pytest.mark.slow
def test_a_driver_killed_beside_a_dask_cluster_changes_nothing(driven, undisturbed, tmp_path):
    distributed = pytest.importorskip("distributed")
    path = tmp_path / "study.db"
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        for moment in ("in the pilot", "after the decision is kept", "in the rest"):
            killed = driven(path, moment, cluster.scheduler_address)
            assert killed.returncode == -signal.SIGKILL, (moment, killed.stderr)
        ended = driven(path, "never", cluster.scheduler_address)

    assert ended.returncode == 0, ended.stderr
    assert is_as(path, undisturbed)


# through the shell ------------------------------------------------------------------------------------------------

SOLVERS = """
import random, time

def value(instance, seed, shift):
    time.sleep(0.004)
    return 100 + shift + random.Random(f"{instance}/{shift}").gauss(0, 1) + random.Random(seed).gauss(0, 1.5)

def a(instance, seed): return value(instance, seed, 0.0)
def b(instance, seed): return value(instance, seed, 0.5)
def c(instance, seed): return value(instance, seed, 30.0)
"""
STUDY = """
difference = "simple"
better = "lower"
reference = "a"
seed = 3
SIZE
[instances]
names = [NAMES]
"""
DETECT = "detect = 1.5\n[rule]\npilot = 6\nstart = 3"
LOOKS = 'effect = 0.5\nlooks = [0.3, 0.6, 1.0]\n[rule]\nallocation = "fixed"\nruns = 3'


def made(folder, size=DETECT):
    folder.mkdir()
    names = ", ".join(f'"i{n}"' for n in range(24))
    algorithms = "".join(f'[[algorithm]]\nname = "{name}"\npython = "solvers:{name}"\n' for name in "abc")
    (folder / "solvers.py").write_text(SOLVERS)
    (folder / "study.toml").write_text(STUDY.replace("NAMES", names).replace("SIZE", size) + algorithms)
    return folder


@pytest.fixture
def started(start):
    """`started(folder, workers)`: `ampler run` in a process of its own."""
    return lambda folder, workers: start("run", folder / "study.toml", "--workers", workers, cwd=folder.parent)


def recorded(folder):
    path = folder / "study.db"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM run").fetchone()[0]
        except sqlite3.OperationalError:  # the very beginning: there are no tables yet
            return 0


def killed_as_soon_as(process, folder, runs):
    while recorded(folder) < runs and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    return ended(process)


def ended(process):
    """Wait for its end, which is told by its exit code."""
    process.communicate()
    return process.returncode


TWO, SEVEN = (10, 60), (1, 20, 54, 55, 70, 90, 110)


@pytest.mark.parametrize(
    ("moments", "size"),
    [
        pytest.param(TWO, DETECT, id="two-detect"),
        pytest.param(TWO, LOOKS.replace("0.3, 0.6, 1.0", "0.4, 1.0"), id="two-looks"),
        pytest.param(SEVEN, DETECT, id="seven-detect", marks=pytest.mark.slow),
        pytest.param(SEVEN, LOOKS, id="seven-looks", marks=pytest.mark.slow),
    ],
)
def test_the_command_killed_again_and_again_ends_as_if_nobody_had_killed_it(started, moments, size, tmp_path):
    whole, disturbed = made(tmp_path / "whole", size), made(tmp_path / "disturbed", size)
    assert ended(started(whole, 2)) == 0

    ends = []
    for place, runs in enumerate(moments):
        ends.append(killed_as_soon_as(started(disturbed, 1 + place % 3), disturbed, runs))
    assert ends[0] == -signal.SIGKILL
    assert ended(started(disturbed, 2)) == 0

    with read_store(whole / "study.db") as one, read_store(disturbed / "study.db") as other:
        assert kept(one) == kept(other)
        assert len(one.decisions()) > 2  # the beginning, what was decided on the way, the end
    assert claims(whole / "study.db") == claims(disturbed / "study.db")


def main():
    path, moment, where = sys.argv[1:]
    with open_store(path) as store:
        deadly = Deadly(store, moment)
        if where.isdigit():
            run_plan(study().plan, deadly, workers=int(where))
        else:
            from distributed import Client

            with Client(where) as client:
                run_plan(study().plan, deadly, executor=client)


if __name__ == "__main__":
    main()
