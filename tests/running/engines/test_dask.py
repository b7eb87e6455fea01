"""Dask: a real scheduler and two worker processes give the study that one process gives, whatever happens to them."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise, permutations
from pathlib import Path

import commands
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from small_plans import SERIAL, kept, make, noisy

from ampler.core.errors import EngineFailed, InvalidInput, MissingDependency, StoreError
from ampler.core.failures import Drop
from ampler.core.plan import Command, Limits, Question
from ampler.running import run_plan
from ampler.running.engines import client_of
from ampler.running.engines.dask import dask_cluster
from ampler.running.work import Work, folders_of
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.run_inputs import run_seed
from ampler.study.store import read_store
from ampler.testing import MemoryStore

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed")


def ran(plan, executor=SERIAL):
    store = MemoryStore()
    return store, run_plan(plan, store, executor=executor)


ALIKE = ["--nthreads", "1", "--memory-limit", "0", "--death-timeout", "60"]
SCHEDULER = """
import sys
from distributed.cli.dask_scheduler import main
main(["--port", "0", "--dashboard-address", ":0", *sys.argv[1:]])
"""
CREW = """
import dask, sys
from distributed.cli.dask_worker import main
dask.config.set({"distributed.worker.multiprocessing-method": "fork"})
main(sys.argv[1:])
"""


@contextmanager
def processes(folder, workers=2):
    """A scheduler and its workers, each a process with a nanny, on this machine only."""
    file = folder / "scheduler.json"
    here = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    alike = [*ALIKE, "--local-directory", str(folder), "--nworkers", str(workers)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "program": (sys.executable,)}
    scheduler = commands.start("-c", SCHEDULER, *here, **silent)
    crew = commands.start("-c", CREW, *here, *alike, **silent)
    try:
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        yield file, scheduler
    finally:
        crew.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            crew.wait(10)
        commands.end(crew)
        commands.end(scheduler)


@pytest.fixture(scope="module")
def scheduler_file(tmp_path_factory):
    with processes(tmp_path_factory.mktemp("dask")) as (file, _):
        yield file


@pytest.fixture(scope="module")
def connected(scheduler_file):
    with dask_cluster(str(scheduler_file)) as client:
        yield client


@pytest.fixture
def client(connected):
    """The client of a cluster with two workers, though a test before this one may have killed some."""
    connected.wait_for_workers(2, timeout=60)
    return connected


# The same study


@given(st.integers(0, 2**31), st.sampled_from([0.1, 0.5]), st.sampled_from([None, "a"]), st.integers(1, 20))
@settings(
    max_examples=settings().max_examples // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
def test_dask_records_what_one_process_records(client, seed, se, reference, batch):
    rule = Accuracy(se=se, difference="percent", reference=reference, start=3, budget=50, batch=batch)
    plan = make(seed=seed, rule=rule, question=Question("percent", reference, better="lower"))

    store, progress = ran(plan, client.get_executor(pure=False))
    alone, _ = ran(plan)

    assert kept(store) == kept(alone)
    decisions = alone.plans()[-1].decisions
    assert store.finished(decisions) == alone.finished(decisions)
    assert len(alone.finished(decisions)) == 4
    assert progress.finished == 4


@pytest.mark.parametrize("limits", [Limits(), Limits(timeout=60.0), Limits(memory=2 * 10**9)])
def test_instances_that_an_algorithm_changes_are_as_planned_in_every_run(client, limits):
    def sort_in_place(instance, seed):  # inside, so that it travels by value
        values = instance["numbers"]
        unsorted = sum(one > two for one, two in pairwise(values))
        values.sort()
        return float(unsorted)

    instances = {f"i{n}": {"numbers": [3 - n, 2, 1, 0]} for n in range(3)}
    expected = {name: sort_in_place({"numbers": list(each["numbers"])}, 0) for name, each in instances.items()}
    plan = make({"a": sort_in_place, "b": sort_in_place}, instances, rule=Fixed(runs=4), limits=limits)

    store, _ = ran(plan, client)

    assert [seen.value - expected[seen.key.instance] for seen in store.observations()] == [0.0] * 24


def test_objects_that_cannot_be_sent_are_named(client):
    plan = make({"a": noisy(1, 1), "b": noisy(2, 1)}, {"i": threading.Lock(), "j": 1}, rule=Fixed(runs=2))

    with pytest.raises(InvalidInput, match=r"can be sent to other processes \(cannot pickle '_thread.lock'"):
        ran(plan, client)


def test_runs_are_not_merged_even_if_dask_takes_calls_for_pure(client):
    plan = make({"a": lambda instance, seed: seed, "b": lambda instance, seed: -seed}, rule=Fixed(runs=5))

    store, _ = ran(plan, client.get_executor())

    assert len({seen.value for seen in store.observations()}) == 4 * 2 * 5


def test_an_interrupted_study_goes_on_with_another_engine(client):
    class Cut(MemoryStore):
        writes = 2

        def add(self, observations, finished=()):
            if not self.writes:
                raise KeyboardInterrupt
            self.writes -= 1
            super().add(observations, finished)

    plan, store = make(), Cut()
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, store, executor=client)
    before = kept(store)
    store.writes = -1
    run_plan(plan, store, workers=2)

    assert before < kept(store) == kept(ran(plan)[0])


# Workers that die, and runs that hang


def ended(pid):
    until = time.monotonic() + 60
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_running(pid)


def is_running(pid):
    """A zombie has ended: this process may have adopted it, and nobody waits for it here."""
    try:
        return b"\nState:\tZ" not in Path(f"/proc/{pid}/status").read_bytes()
    except FileNotFoundError:
        return False


def test_a_worker_killed_in_mid_study_changes_nothing_and_comes_back(client, tmp_path):
    marks = str(tmp_path)

    def slow(instance, seed):
        import os
        import random
        import time

        open(os.path.join(marks, str(os.getpid())), "w").close()
        time.sleep(0.03)
        return random.Random(seed).random()

    plan = make({"a": slow, "b": slow}, rule=Fixed(runs=20))
    killed = []

    def kill_one():
        until = time.monotonic() + 30
        while not os.listdir(marks) and time.monotonic() < until:
            time.sleep(0.02)
        killed.append(int(os.listdir(marks)[0]))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    store, progress = ran(plan, client)
    killer.join()
    client.wait_for_workers(2, timeout=60)

    assert killed
    assert (progress.finished, progress.failures) == (4, 0)
    assert {(key, seed) for key, seed, _ in kept(store)} == {
        (key, seed) for key, seed, _ in kept(ran(make({"a": noisy(1, 1), "b": noisy(1, 1)}, rule=Fixed(runs=20)))[0])
    }
    assert all(value == random.Random(seed).random() for _, seed, value in kept(store))
    assert killed[0] not in client.run(os.getpid).values()


def not_for(*pids):
    """Something that some processes cannot unpack: as where a folder is missing."""

    def unpacked():
        if os.getpid() in pids:
            raise ImportError("no such module here")
        return Exclusive()

    class Exclusive:
        def __reduce__(self):
            return unpacked, ()

    return Exclusive()


def with_data(plan, data):
    return replace(plan, instances=tuple(replace(instance, data=data) for instance in plan.instances))


def test_a_worker_that_cannot_take_the_work_holds_nothing_up(client):
    """Though it is idle, while the other has runs waiting that it could take over."""
    slow = {name: lambda instance, seed: time.sleep(0.05) or seed for name in "ab"}
    plan = make(slow, 2, rule=Fixed(runs=5))
    pid, *_ = client.run(os.getpid).values()

    store, progress = ran(with_data(plan, not_for(pid)), client)

    assert (progress.finished, progress.failures) == (2, 0)
    assert kept(store) == kept(ran(plan)[0])
    for giver, taker in permutations(client.nthreads(), 2):  # nor what goes from one to the other afterwards
        passed_on = client.submit(bytes, 3, workers=[giver], pure=False)
        assert client.submit(len, passed_on, workers=[taker], pure=False).result(timeout=30) == 3


def test_what_waits_for_a_dead_worker_is_made_by_one_that_came_later(client):
    """The other one cannot take the work, so that all runs were meant for the one that dies."""
    unable, able = client.run(os.getpid).values()

    def once_deadly(instance, seed):
        if os.getpid() == able:
            os.kill(able, signal.SIGKILL)
        return seed

    plan = make({"a": once_deadly, "b": once_deadly}, 2, rule=Fixed(runs=3))
    store, progress = ran(with_data(plan, not_for(unable)), client)

    assert (progress.finished, progress.failures) == (2, 0)
    assert {value for _, _, value in kept(store)} == {seed for _, seed, _ in kept(store)}
    assert len(kept(store)) == 2 * 2 * 3


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize("killed", ["worker", "its child that makes the run"])
def test_what_a_killed_worker_was_running_ends_with_it(client, tmp_path, killed):
    mark = tmp_path / "mark"
    script = (
        f"if mkdir {mark} 2>/dev/null; then echo $$ > {mark}/new; mv {mark}/new {mark}/pid; sleep 1000; fi; echo $1"
    )
    command = Command("c", ("sh", "-c", script, "{instance}", "{seed}"))
    plan = make({"a": lambda instance, seed: seed, "c": command}, 2, rule=Fixed(runs=2))
    commands = []

    def kill_its_worker():
        until = time.monotonic() + 30
        while not (mark / "pid").exists() and time.monotonic() < until:
            time.sleep(0.001)  # as early as can be: the worker may have hardly begun
        commands.append(int((mark / "pid").read_text()))
        maker = parent_of(commands[0])
        os.kill(parent_of(maker) if killed == "worker" else maker, signal.SIGKILL)

    killer = threading.Thread(target=kill_its_worker)
    killer.start()
    store, progress = ran(plan, client)
    killer.join()

    assert (progress.finished, progress.failures) == (2, 0)
    assert {value for key, _, value in kept(store) if key.algorithm == "c"} == {
        seed for key, seed, _ in kept(store) if key.algorithm == "c"
    }
    assert ended(commands[0])


def test_a_hung_run_is_ended_by_its_time_limit_and_blocks_no_worker(client):
    def hanging(instance, seed):
        while seed % 2 and instance == "i1":
            time.sleep(1000)
        return seed

    script = 'if [ "$0" = i1 ] && [ $(($1 % 2)) = 1 ]; then sleep 1000; fi; echo $1'
    command = Command("c", ("sh", "-c", script, "{instance}", "{seed}"))
    algorithms = {"a": lambda instance, seed: seed, "f": hanging, "c": command}
    plan = make(algorithms, 2, rule=Fixed(runs=3), policy=Drop(), limits=Limits(timeout=1.5))

    store, progress = ran(plan, client)

    stuck = {(name, index) for name in "fc" for index in range(3) if run_seed(7, "i1", name, index) % 2}
    assert {name for name, _ in stuck} == {"f", "c"}
    ended = {(seen.key.algorithm, seen.key.index, seen.status) for seen in store.failures()}
    assert ended == {(*each, "timeout") for each in stuck}
    assert progress.finished == 2
    assert client.submit(os.getpid, pure=False).result(timeout=30)


# Clusters that cannot be used


def test_a_scheduler_that_is_lost_is_told_and_what_is_recorded_stays(tmp_path, capfd):
    def slow(instance, seed):
        import time

        time.sleep(0.02)
        return seed

    plan, store = make({"a": slow, "b": slow}, rule=Fixed(runs=500)), MemoryStore()
    with processes(tmp_path, workers=1) as (file, scheduler), dask_cluster(str(file)) as client:
        client.wait_for_workers(1, timeout=60)

        def end(progress):
            if progress.new:
                scheduler.kill()

        with pytest.raises(EngineFailed, match="the connection to the Dask scheduler was lost; recorded runs are safe"):
            run_plan(plan, store, executor=client, report=end)

    assert kept(store)


def test_workers_that_cannot_load_the_study_are_told(client, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "vanishing.py").write_text("def solve(instance, seed):\n    return seed\n")
    import vanishing

    plan = make({"a": vanishing.solve, "b": vanishing.solve}, rule=Fixed(runs=2))
    (tmp_path / "vanishing.py").unlink()

    with pytest.raises(EngineFailed, match=r"cannot load the study .*vanishing.*same path"):
        ran(plan, client)


def test_functions_of_a_module_beside_the_study_are_found_by_the_workers(client, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "beside.py").write_text("def solve(instance, seed):\n    return seed\n")
    import beside

    plan = make({"a": beside.solve, "b": beside.solve}, rule=Fixed(runs=2))

    assert folders_of(Work.of(plan)) == (str(tmp_path),)
    assert ran(plan, client)[1].finished == 4


@pytest.mark.parametrize(
    ("where", "error", "words"),
    [
        ("tcp://127.0.0.1:9", EngineFailed, "no Dask scheduler answers at tcp://127.0.0.1:9"),
        ("nowhere.json", InvalidInput, "'local', an address such as tcp://node7:8786 or an existing scheduler file"),
    ],
)
def test_a_cluster_that_is_not_there_is_told(where, error, words, monkeypatch):
    monkeypatch.setattr("ampler.running.engines.dask.CONNECT", 1.0)

    with pytest.raises(error, match=words), dask_cluster(where):
        pass


def test_without_dask_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(MissingDependency, match=r"pip install 'ampler\[dask\]'"), dask_cluster("local"):
        pass


def test_other_executors_are_not_taken_for_dask():
    assert client_of(SERIAL) is None
    assert client_of(None) is None


# The shell

STUDY = """better = "lower"
difference = "simple"
[rule]
allocation = "fixed"
runs = 3
[run]
workers = 2
timeout = "60s"
[[algorithm]]
name = "python"
python = "solvers:solve"
[[algorithm]]
name = "shell"
command = "echo {instance} 1{seed}"
[instances]
names = ["i", "j"]
use = "all"
"""


def values(path):
    with read_store(path) as store:
        return {(seen.key, seen.seed, seen.value) for seen in store.observations()}


def test_ampler_run_uses_a_cluster_or_starts_one_that_takes_no_port_of_another_study(start, scheduler_file, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.replace("workers = 2", "workers = 1"))
    (tmp_path / "solvers.py").write_text("def solve(instance, seed):\n    return seed\n")

    with ExitStack() as stack:
        with suppress(OSError):  # somebody has it already
            stack.enter_context(socket.create_server(("127.0.0.1", 8787)))
        for name, where in {"file": str(scheduler_file), "local": "local"}.items():
            run = start("run", "study.toml", "--store", f"{name}.db", "--dask", where, cwd=tmp_path)
            out, err = run.communicate()
            told = [line for line in err.splitlines() if " runs/s" not in line]  # progress, when it takes long
            assert (run.returncode, told) == (0, []), err
            assert "all 2 instances finished. 12 runs recorded" in " ".join(out.split())

    made = values(tmp_path / "file.db")
    assert made == values(tmp_path / "local.db")
    assert all(value == (seed if key.algorithm == "python" else int(f"1{seed}")) for key, seed, value in made)


def begun(study):
    """Whether a study that another process carries out has recorded something."""
    with suppress(StoreError):  # it is being made
        return study.exists() and bool(values(study))
    return False


def test_an_interrupt_leaves_with_130_and_what_is_recorded(start, scheduler_file, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.replace("runs = 3", "runs = 300"))
    (tmp_path / "solvers.py").write_text(
        "import time\ndef solve(instance, seed):\n    time.sleep(0.02)\n    return seed\n"
    )
    driver = start("run", "study.toml", "--dask", scheduler_file, cwd=tmp_path)
    until = time.monotonic() + 60
    while time.monotonic() < until and not begun(tmp_path / "study.db"):
        time.sleep(0.1)
    driver.send_signal(signal.SIGINT)
    out, err = driver.communicate()

    assert driver.returncode == 130, out + err
    assert "rerun the same command to resume" in err
    assert "Traceback" not in out + err
    assert values(tmp_path / "study.db")
