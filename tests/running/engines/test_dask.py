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
from pathlib import Path

import pytest
from elsewhere import Elsewhere
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from small_plans import SERIAL, kept, make, noisy

from ampler.core.errors import EngineFailed, InvalidInput, MissingDependency, StoreError
from ampler.core.failures import Drop
from ampler.core.values import Command, Limits, Question, RunKey
from ampler.running import run_plan
from ampler.running.engines import Done, Lost, Returned
from ampler.running.engines import dask as dask_module
from ampler.running.engines.dask import DaskEngine, client_of, dask_cluster
from ampler.running.work import Parcel, Task, Work, folders_of, names_of, run_parcel
from ampler.sampling.rules import Accuracy, Fixed
from ampler.study.seeds import run_seed
from ampler.study.store import read_store
from ampler.testing import MemoryStore

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed")


def ran(plan, executor=SERIAL):
    store = MemoryStore()
    return store, run_plan(plan, store, executor=executor)


class Pretended:
    """A client whose futures end as they are told to, and whose workers come and go."""

    status = "running"

    def __init__(self, *endings):
        self._endings, self.threads, self.cancelled, self.calls = list(endings), {"w1": 2}, [], []
        self.spread, self.having = [], ["w0"]

    def nthreads(self):
        return self.threads

    def submit(self, call, *arguments, pure, workers=()):
        if workers:
            self.spread.append((len(self.calls), *workers))
            self.having += workers
        return Ending("finished", key="the work")

    def who_has(self, futures):
        return {future.key: list(self.having) for future in futures}

    def map(self, call, parcels, names, *, key, pure):
        assert (call, pure, len(set(key))) == (run_parcel, False, len(names))
        self.calls.append(f"map {len(names)}")
        return [self._endings.pop(0) for _ in names]

    def gather(self, futures, *, errors):
        self.calls.append(f"gather {len(futures)}")
        return {key: future.batch for key, future in futures.items()}

    def cancel(self, futures, *, force):
        self.cancelled = [future.key for future in futures]


class Ending:
    """A future that has ended, or never will."""

    def __init__(self, status, problem=None, key="chunk", batch=None):
        self.status, self.key, self._problem, self.batch = status, key, problem, batch

    def add_done_callback(self, tell):
        if self.status != "pending":
            tell(self)

    def result(self):
        raise self._problem

    def exception(self, timeout):
        return self._problem


CHUNK = [Task(RunKey("i1", "a", 0))]


def fates_of(ending):
    engine = DaskEngine(Pretended(ending), Work.of(make()), 1)
    engine.submit(CHUNK)
    return engine.collect(0)


def test_a_chunk_that_the_cluster_cancelled_is_made_again_and_one_that_broke_is_lost():
    assert fates_of(Ending("cancelled")) == [Returned(CHUNK)]
    assert fates_of(Ending("error", OSError("the node went down"))) == [Lost(CHUNK, "OSError: the node went down")]


def test_a_problem_of_the_study_is_raised_as_it_is():
    with pytest.raises(InvalidInput, match="as it is"):
        fates_of(Ending("error", InvalidInput("as it is")))


def test_all_workers_have_the_work_before_the_first_runs_are_sent_and_once_more_when_others_came(monkeypatch):
    monkeypatch.setattr(dask_module, "RECOUNT", 0.0)
    client = Pretended(*(Ending("cancelled", key=number) for number in range(3)))
    engine = DaskEngine(client, Work.of(make()))
    for threads in ({"w1": 2}, {"w1": 2}, {"w1": 2, "w2": 2}):
        client.threads = threads
        engine.submit(CHUNK)
        engine.collect(0)

    assert client.calls == ["map 1"] * 3
    assert client.spread == [(0, "w1"), (2, "w2")]


def test_workers_are_counted_again_as_they_come_and_go(monkeypatch):
    client = Pretended()
    engine = DaskEngine(client, Work.of(make()))
    assert engine.workers == 2
    client.threads = {"w1": 2, "w2": 3}
    assert engine.workers == 2  # for a while

    monkeypatch.setattr(dask_module, "RECOUNT", 0.0)

    assert engine.workers == 5


def test_closing_takes_back_what_is_not_done_and_the_work_itself():
    client = Pretended(Ending("pending"))
    engine = DaskEngine(client, Work.of(make()), 1)
    engine.submit(CHUNK)
    assert engine.collect(0) == []

    engine.close(at_once=True)

    assert client.cancelled == ["chunk", "the work"]


def test_chunks_are_sent_and_fetched_together_and_one_in_trouble_is_lost_alone():
    work = Work.of(make())
    batch = run_parcel(Parcel(work), names_of(CHUNK))
    endings = [Ending("finished", key=str(number), batch=batch) for number in range(3)]
    endings[1] = Ending("finished", OSError("gone on the way"), key="1")
    client = Pretended(*endings)
    engine = DaskEngine(client, work, 3)
    for _ in range(3):
        engine.submit(CHUNK)
    assert engine.busy == 3

    first, second, third = engine.collect(0)

    assert client.calls == ["map 3", "gather 3"]
    assert isinstance(first, Done)
    assert second == Lost(CHUNK, "OSError: gone on the way")
    assert [seen.key for seen in third.observations] == [task.key for task in CHUNK]
    assert engine.busy == 0


LOADED = (
    *("distributed.cli.dask_scheduler", "distributed.cli.dask_worker", "cloudpickle", "ampler.app.shell.app"),
    *("ampler.running.driver", "ampler.study.toml", "ampler.study.words", "ampler.study.fairness"),
)
ALIKE = ["--nthreads", "1", "--memory-limit", "0", "--death-timeout", "60"]
SCHEDULER = """
from distributed.cli.dask_scheduler import main
main(["--port", "0", "--dashboard-address", ":0", *ARGUMENTS])
"""
CREW = """
import dask
from distributed.cli.dask_worker import main
dask.config.set({"distributed.worker.multiprocessing-method": "fork"})
main(ARGUMENTS)
"""


@pytest.fixture(scope="session")
def there():
    """A process that has loaded Dask and what drivers need, and forks itself for each process of a cluster."""
    with Elsewhere(*LOADED) as started:
        yield started


@contextmanager
def processes(there, folder, workers=2):
    """A scheduler and its workers, each a process with a nanny, on this machine only."""
    file = folder / "scheduler.json"
    here = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    alike = [*ALIKE, "--local-directory", str(folder), "--nworkers", str(workers)]
    scheduler = there.start(SCHEDULER.replace("ARGUMENTS", repr(here)))
    crew = there.start(CREW.replace("ARGUMENTS", repr([*here, *alike])))
    try:
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        yield file, scheduler
    finally:
        crew.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            crew.wait(10)
        crew.close()
        scheduler.close()


@pytest.fixture(scope="module")
def scheduler_file(there, tmp_path_factory):
    with processes(there, tmp_path_factory.mktemp("dask")) as (file, _):
        yield file


@pytest.fixture(scope="module")
def client(scheduler_file):
    with dask_cluster(str(scheduler_file)) as connected:
        connected.wait_for_workers(2, timeout=60)
        yield connected


# The same study


@pytest.mark.costly
@given(st.integers(0, 2**31), st.sampled_from([0.1, 0.5]), st.sampled_from([None, "a"]), st.integers(1, 20))
@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
def test_dask_records_what_one_process_records(client, seed, se, reference, batch):
    rule = Accuracy(se=se, difference="percent", reference=reference, start=3, budget=50, batch=batch)
    plan = make(seed=seed, rule=rule, question=Question("percent", reference))

    store, progress = ran(plan, client.get_executor(pure=False))
    alone, _ = ran(plan)

    assert kept(store) == kept(alone)
    decisions = alone.plans()[-1].decisions
    assert store.finished(decisions) == alone.finished(decisions)
    assert len(alone.finished(decisions)) == 4
    assert progress.finished == 4


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


def only_one_can_take(marks):
    """Something that the first process can unpack as often as it likes, and no other: as where a folder is missing."""

    def unpacked():
        with suppress(FileExistsError):
            os.symlink(str(os.getpid()), marks / "the one")
        if os.readlink(marks / "the one") != str(os.getpid()):
            raise ImportError("no such module here")
        return Exclusive()

    class Exclusive:
        def __reduce__(self):
            return unpacked, ()

    return Exclusive()


def test_a_worker_that_cannot_take_the_work_holds_nothing_up(client, tmp_path):
    plan = make({"a": noisy(10, 1), "b": noisy(11, 1)}, rule=Fixed(runs=2))
    data = only_one_can_take(tmp_path)
    instances = tuple(replace(instance, data=data) for instance in plan.instances)

    store, progress = ran(replace(plan, instances=instances), client)

    assert (progress.finished, progress.failures) == (4, 0)
    assert kept(store) == kept(ran(plan)[0])


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
            time.sleep(0.001)  # as early as can be: the worker may not have told the guardian yet
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


def test_a_scheduler_that_is_lost_is_told_and_what_is_recorded_stays(there, tmp_path, capfd):
    def slow(instance, seed):
        import time

        time.sleep(0.02)
        return seed

    plan, store = make({"a": slow, "b": slow}, rule=Fixed(runs=500)), MemoryStore()
    with processes(there, tmp_path, workers=1) as (file, scheduler), dask_cluster(str(file)) as client:
        client.wait_for_workers(1, timeout=60)

        def end(progress):
            if progress.new:
                scheduler.kill()

        with pytest.raises(EngineFailed, match="the connection to the Dask scheduler was lost; what is recorded stays"):
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
        ("nowhere.json", InvalidInput, "'local', an address such as tcp://node7:8786 or a scheduler file that exists"),
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

STUDY = """
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


def test_ampler_run_uses_a_cluster_or_starts_one_that_takes_no_port_of_another_study(there, scheduler_file, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.replace("workers = 2", "workers = 1"))
    (tmp_path / "solvers.py").write_text("def solve(instance, seed):\n    return seed\n")

    with ExitStack() as stack:
        with suppress(OSError):  # somebody has it already
            stack.enter_context(socket.create_server(("127.0.0.1", 8787)))
        for name, where in {"file": str(scheduler_file), "local": "local"}.items():
            run = there.ampler("run", "study.toml", "--store", f"{name}.db", "--dask", where, cwd=tmp_path)
            out, err = run.communicate()
            told = [line for line in err.splitlines() if " runs/s" not in line]  # progress, when it takes long
            assert (run.returncode, told) == (0, []), err
            assert "all 2 instances are finished; 12 runs are recorded" in " ".join(out.split())

    made = values(tmp_path / "file.db")
    assert made == values(tmp_path / "local.db")
    assert all(value == (seed if key.algorithm == "python" else int(f"1{seed}")) for key, seed, value in made)


def begun(study):
    """Whether a study that another process carries out has recorded something."""
    with suppress(StoreError):  # it is being made
        return study.exists() and bool(values(study))
    return False


def test_an_interrupt_leaves_with_130_and_what_is_recorded(there, scheduler_file, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.replace("runs = 3", "runs = 300"))
    (tmp_path / "solvers.py").write_text(
        "import time\ndef solve(instance, seed):\n    time.sleep(0.02)\n    return seed\n"
    )
    driver = there.ampler("run", "study.toml", "--dask", scheduler_file, cwd=tmp_path)
    until = time.monotonic() + 60
    while time.monotonic() < until and not begun(tmp_path / "study.db"):
        time.sleep(0.1)
    driver.send_signal(signal.SIGINT)
    out, err = driver.communicate()

    assert driver.returncode == 130
    assert "the same command goes on from there" in err
    assert "Traceback" not in out + err
    assert values(tmp_path / "study.db")
