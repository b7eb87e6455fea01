"""Workers and their supervisor: beside other threads they are new processes."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
from ctypes import c_long

import pytest

from ampler.core.errors import EngineFailed, InvalidInput, InvalidPlan
from ampler.core.plan import Function, Instance, Limits
from ampler.core.runs import RunKey
from ampler.running.engines import Done, LocalPool, Lost
from ampler.running.one_run.supervisor import EXIT_NO_RESULT_PIPE, Supervisor, answer_requests
from ampler.running.work import Batch, Task, Work

pytest.importorskip("cloudpickle")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers are forked on Linux only")

HOLDING = """
import threading, time

lock = threading.Lock()


def hold():
    with lock:
        time.sleep(600)


def solve(instance, seed):
    with lock:
        return float(seed % 7)
"""
DRIVER = """
import os, sys, threading, time
sys.path.insert(0, FOLDER)
import holding
import ampler as am
threading.Thread(target=holding.hold, daemon=True).start()
time.sleep(0.1)
study = am.Study(
    algorithms={"a": holding.solve, "b": lambda instance, seed: holding.solve(instance, seed + 1)},
    instances={"x": 1, "y": 2}, difference="simple", design=am.FixedSize(runs=4), seed=1, better="lower",
)
study.run(os.path.join(FOLDER, "study.db"), workers=2)
print("done", flush=True)
os._exit(0)
"""


def test_a_lock_that_a_thread_of_the_driver_holds_holds_up_no_worker(process, tmp_path):
    """Forked, the workers would wait for it for ever."""
    (tmp_path / "holding.py").write_text(HOLDING)
    ran = process("-c", DRIVER.replace("FOLDER", repr(str(tmp_path))), program=(sys.executable,))

    assert ran.stdout == "done\n", ran.stderr


def test_a_forked_copy_would_wait_for_ever():
    """The reason for all this."""
    code = textwrap.dedent("""
        import os, threading, time
        lock = threading.Lock()
        threading.Thread(target=lambda: (lock.acquire(), time.sleep(600)), daemon=True).start()
        time.sleep(0.1)
        child = os.fork()
        if child == 0:
            os._exit(0 if lock.acquire(timeout=1.0) else 7)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)

    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 7


def test_a_worker_that_starts_loads_what_makes_runs_and_nothing_that_decides():
    """Numpy and the driver would take it three times as long as all the rest."""
    code = "import ampler.running.one_run.supervisor, ampler.running.work, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "ampler.running.one_run.execution" in loaded
    assert not {"numpy", "sqlite3", "ampler.running.driver", "ampler.study.plan"} & {*loaded}


@pytest.fixture
def beside_a_thread():
    waiting = threading.Event()
    thread = threading.Thread(target=waiting.wait)
    thread.start()
    yield
    waiting.set()
    thread.join()


def fates_of(names, **functions):
    algorithms = {name: Function(name, call, f"tests:{name}") for name, call in functions.items()}
    pool = LocalPool(Work(algorithms, {"i1": Instance("i1", data=[1, 2])}, 5, Limits()), 2)
    try:
        for index, name in enumerate(names):
            pool.submit([Task(RunKey("i1", name, index))])
        fates = []
        while pool.busy:
            fates += pool.collect(60.0)
        return fates
    finally:
        pool.close(at_once=False)


def test_lambdas_and_closures_travel_by_value(beside_a_thread):
    offset = 100
    fates = fates_of("aab", a=lambda instance, seed: offset + len(instance), b=lambda instance, seed: os.getppid())

    values = [fate.observations[0].value for fate in fates]
    assert values.count(102.0) == 2
    assert float(os.getpid()) not in values


def test_one_that_dies_is_replaced_and_says_which_run_it_was(beside_a_thread):
    fates = fates_of("ab", a=lambda instance, seed: os._exit(3), b=lambda instance, seed: 1.0)

    assert [fate.how for fate in fates if isinstance(fate, Lost)] == ["it left with exit code 3"]
    assert [fate.observations[0].value for fate in fates if isinstance(fate, Done)] == [1.0]


def test_a_function_that_holds_a_lock_of_ours_is_refused_in_a_sentence(beside_a_thread):
    lock = threading.Lock()

    with pytest.raises(InvalidInput, match="functions must not hold a lock of this process"):
        fates_of("a", a=lambda instance, seed: lock.acquire())


def test_what_cannot_be_sent_is_inherited(beside_a_thread):
    """It can only be inherited by a fork, as everywhere where there are no threads."""
    number = multiprocessing.get_context("fork").RawValue("l", 5)
    generator = (each for each in [7.0])
    (fate,) = fates_of("a", a=lambda instance, seed: next(generator) + number.value)

    assert fate.observations[0].value == 12.0


def test_work_that_a_new_process_cannot_load_is_one_sentence():
    supervisor = Supervisor(Working(), b"no pickle")
    try:
        supervisor.start()
        assert supervisor.control.poll(60)
        with pytest.raises(EngineFailed, match=r"the workers cannot load the study \(.*several threads"):
            list(supervisor.exits())
    finally:
        supervisor.close()


class Working:
    """Answers for the names it gets; some of them are special."""

    def run(self, names, at=None):
        if names == ["refuse"]:
            raise InvalidPlan("not that")
        if names == ["close"]:
            os.closerange(3, 200)
        if names == ["replace"]:
            os.closerange(3, 200)
            for _ in range(100):
                os.open(os.devnull, os.O_RDWR)
        return Batch({"value": names}, 0.0)


@pytest.fixture
def worker():
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=answer_requests, args=(theirs, Working(), c_long()))
    process.start()
    theirs.close()
    yield ours, process
    process.kill()
    process.join()


def asked(worker, names):
    worker[0].send(names)
    return worker[0].recv()


def test_it_answers_chunk_after_chunk_and_leaves_when_told_to(worker):
    assert [asked(worker, [name]).columns["value"] for name in "ab"] == [["a"], ["b"]]
    worker[0].send(None)
    worker[1].join(60)
    assert worker[1].exitcode == 0


def test_what_is_wrong_with_the_work_is_an_answer(worker):
    assert isinstance(asked(worker, ["refuse"]), InvalidPlan)
    assert asked(worker, ["a"]).columns["value"] == ["a"]


@pytest.mark.parametrize("name", ["close", "replace"])
def test_one_whose_line_was_closed_says_so_by_its_exit_code(worker, name):
    worker[0].send([name])
    worker[1].join(60)

    assert worker[1].exitcode == EXIT_NO_RESULT_PIPE
