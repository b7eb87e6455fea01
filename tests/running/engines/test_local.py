"""Worker processes: each can die without harm to the others, and all die with the driver."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from living import alive, gone_within

from ampler.core.errors import EngineFailed
from ampler.core.plan import Command, Function, Instance, Limits
from ampler.core.runs import RunKey
from ampler.running.driver import Interrupts
from ampler.running.engines import Done, LocalPool, Lost, Returned
from ampler.running.one_run.supervisor import Supervisor, children
from ampler.running.work import Task, Work
from ampler.study.run_inputs import run_seed


def work_of(**functions):
    return Work(
        {name: Function(name, call, f"tests:{name}") for name, call in functions.items()},
        {"i1": Instance("i1", data={"size": 3})},
        seed=5,
        limits=Limits(),
    )


def tasks_of(*names):
    return [Task(RunKey("i1", name, index)) for index, name in enumerate(names)]


def collected(pool, chunks):
    """What became of so many chunks; a chunk that a worker took down counts when it is lost."""
    fates = []
    until = time.monotonic() + 120
    while sum(not isinstance(fate, Returned) for fate in fates) < chunks and time.monotonic() < until:
        fates += pool.collect(1.0)
    return fates


def next_fates(pool):
    """What became of the next chunk; that workers are gone may be known before their supervisor is."""
    until = time.monotonic() + 60
    while not (fates := pool.collect(1.0)) and time.monotonic() < until:
        pass
    return fates


@pytest.fixture
def pool_of():
    pools = []

    def make(workers=2, **functions):
        pools.append(LocalPool(work_of(**functions), workers))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close(at_once=True)


def test_chunks_are_run_with_the_seeds_of_their_keys_and_lambdas_need_no_pickling(pool_of):
    pool = pool_of(seeds=lambda instance, seed: seed, sizes=lambda instance, seed: instance["size"])
    tasks = [Task(RunKey("i1", name, index), attempt=2, round=4) for index, name in enumerate(["seeds", "sizes"])]

    pool.submit(tasks)
    (fate,) = collected(pool, 1)

    assert isinstance(fate, Done)
    assert [seen.key for seen in fate.observations] == [task.key for task in tasks]
    assert [seen.value for seen in fate.observations] == [run_seed(5, "i1", "seeds", 0), 3.0]
    assert {(seen.attempt, seen.round, seen.status) for seen in fate.observations} == {(2, 4, "ok")}
    assert fate.seconds > 0


def test_each_of_several_waiting_chunks_gets_its_own_answer(pool_of):
    pool = pool_of(workers=1, seeds=lambda instance, seed: seed)
    chunks = [[Task(RunKey("i1", "seeds", index))] for index in range(4)]

    for chunk in chunks:
        pool.submit(chunk)
    fates = collected(pool, 4)

    seen = [observation for fate in fates for observation in fate.observations]
    assert [each.key.index for each in seen] == [0, 1, 2, 3]
    assert [each.value for each in seen] == [run_seed(5, "i1", "seeds", index) for index in range(4)]


def test_what_a_worker_gave_before_it_died_is_not_lost(pool_of, tmp_path):
    def deadly(instance, seed):
        (tmp_path / "pid").write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)

    pool = pool_of(workers=1, good=lambda instance, seed: seed, deadly=deadly)
    good, bad = tasks_of("good"), tasks_of("deadly")

    pool.submit(good)
    pool.submit(bad)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    assert gone_within(int((tmp_path / "pid").read_text()))
    fates = collected(pool, 2)

    assert isinstance(fates[0], Done)
    assert [seen.key for seen in fates[0].observations] == [good[0].key]
    assert [fate.tasks for fate in fates if isinstance(fate, Lost)] == [bad]


def test_a_careless_child_of_a_run_does_not_answer_for_it(pool_of):
    def forking(instance, seed):
        if os.fork() == 0:
            return -1.0  # on into the worker's own life
        time.sleep(0.5)
        return 1.0

    pool = pool_of(workers=1, forking=forking, good=lambda instance, seed: 2.0)
    pool.submit(tasks_of("forking"))
    pool.submit(tasks_of("good"))
    fates = collected(pool, 2)

    assert [seen.value for fate in fates for seen in fate.observations] == [1.0, 2.0]


def test_sigterm_ends_a_worker_whatever_it_means_to_the_driver(pool_of, tmp_path):
    def sleeping(instance, seed):
        (tmp_path / "pid").write_text(str(os.getpid()))
        time.sleep(60)

    with Interrupts():
        pool = pool_of(workers=1, sleeping=sleeping)
    pool.submit(tasks_of("sleeping"))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.01)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
    fates = collected(pool, 1)

    assert [fate.how for fate in fates if isinstance(fate, Lost)] == ["it was ended by SIGTERM"]


def test_chunks_are_shared_out_among_the_workers(pool_of):
    pool = pool_of(workers=3, pid=lambda instance, seed: (time.sleep(0.2), os.getpid())[1])
    for _ in range(6):
        pool.submit(tasks_of("pid"))
    assert pool.busy == 6

    values = [fate.observations[0].value for fate in collected(pool, 6)]

    assert len(set(values)) == 3
    assert os.getpid() not in values
    assert pool.busy == 0


@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("it was ended by SIGKILL, perhaps for want of memory", lambda: os.kill(os.getpid(), signal.SIGKILL)),
        ("it was ended by SIGUSR1", lambda: os.kill(os.getpid(), signal.SIGUSR1)),
        ("it left with exit code 3", lambda: os._exit(3)),
        ("it left with exit code 0", lambda: os._exit(0)),
    ],
)
def test_a_worker_that_dies_loses_the_run_it_was_making_and_gives_back_the_others(pool_of, how, end):
    pool = pool_of(workers=1, good=lambda instance, seed: 1, bad=lambda instance, seed: end())
    chunk, behind = tasks_of("good", "bad", "good"), tasks_of("good")
    pool.submit(chunk)
    pool.submit(behind)

    lost, returned = collected(pool, 1)
    pool.submit(returned.tasks)
    (done,) = collected(pool, 1)

    assert lost == Lost([chunk[1]], how)
    assert returned == Returned([chunk[0], chunk[2], behind[0]])
    assert [seen.value for seen in done.observations] == [1.0, 1.0, 1.0]


def test_a_dead_worker_costs_the_others_nothing(pool_of, tmp_path):
    def patient(instance, seed):
        while not (tmp_path / "go").exists():
            time.sleep(0.01)
        return 1

    pool = pool_of(good=patient, bad=lambda instance, seed: os._exit(1))
    pool.submit(tasks_of("good"))
    pool.submit(tasks_of("bad"))

    fates = collected(pool, 1)
    (tmp_path / "go").touch()
    fates += collected(pool, 1)

    assert [type(fate) for fate in fates] == [Lost, Returned, Done]


def test_workers_killed_while_idle_are_replaced(pool_of):
    pool = pool_of(pid=lambda instance, seed: (time.sleep(0.1), os.getpid())[1])
    for _ in range(2):
        pool.submit(tasks_of("pid"))
    pids = {int(fate.observations[0].value) for fate in collected(pool, 2)}
    for pid in pids:
        os.kill(pid, signal.SIGKILL)

    for _ in range(4):
        pool.submit(tasks_of("pid"))
    values, waiting = [], 4
    until = time.monotonic() + 120
    while waiting and time.monotonic() < until:
        for fate in pool.collect(1.0):
            match fate:
                case Done():
                    waiting -= 1
                    values.append(fate.observations[0].value)
                case Lost(tasks) | Returned(tasks):
                    for task in tasks:
                        pool.submit([task])

    assert len(values) == 4
    assert not pids & set(values)


@pytest.mark.parametrize("wanted", [8, pytest.param(30, marks=pytest.mark.slow)])
def test_many_kills_at_random_moments_never_stop_the_pool(pool_of, wanted):
    pool = pool_of(workers=2, pid=lambda instance, seed: os.getpid())
    chunk = tasks_of(*["pid"] * 20)
    waiting, made, kills = 0, 0, 0
    until = time.monotonic() + 240
    while made < 10 * wanted and time.monotonic() < until:
        while waiting < 4:
            pool.submit(chunk)
            waiting += 1
        for fate in pool.collect(5.0):
            match fate:
                case Done():
                    waiting -= 1
                    made += 1
                    if made % 10 == 0:
                        kills += 1
                        os.kill(int(fate.observations[0].value), signal.SIGKILL)
                case Returned():
                    waiting = pool.busy
    assert made >= 10 * wanted
    assert kills >= wanted


def test_closing_ends_workers_in_the_middle_of_c_code(pool_of, tmp_path):
    pids = tmp_path / "pids"

    def endless(instance, seed):
        with pids.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return sum(iter(int, 1))

    pool = pool_of(endless=endless)
    for _ in range(2):
        pool.submit(tasks_of("endless"))
    until = time.monotonic() + 120
    while (not pids.exists() or len(pids.read_text().split()) < 2) and time.monotonic() < until:
        time.sleep(0.01)

    pool.close(at_once=True)  # or it would wait for ever

    assert all(gone_within(int(pid)) for pid in pids.read_text().split())


def test_a_pool_that_cannot_be_filled_leaves_no_worker(monkeypatch):
    started = []
    start = Supervisor.start

    def taken(supervisor):
        if len(started) == 2:
            raise KeyboardInterrupt
        started.append(start(supervisor))
        return started[-1]

    before = children()
    monkeypatch.setattr(Supervisor, "start", taken)
    with pytest.raises(KeyboardInterrupt):
        LocalPool(work_of(a=lambda instance, seed: 1), 3)

    assert len(started) == 2
    assert children() == before


def test_runs_whose_supervisor_is_killed_are_made_again(pool_of, tmp_path):
    def patient(instance, seed):
        (tmp_path / "daemon").write_text(str(subprocess.Popen(["setsid", "sleep", "300"]).pid))
        while not (tmp_path / "go").exists():
            time.sleep(0.01)
        return os.getppid()

    pool = pool_of(workers=1, patient=patient)
    pool.submit(tasks_of("patient"))
    while not (tmp_path / "daemon").exists() or not (tmp_path / "daemon").read_text():
        time.sleep(0.01)
    before = pool._supervisor._pid
    daemon = int((tmp_path / "daemon").read_text())
    os.kill(before, signal.SIGKILL)
    (returned,) = next_fates(pool)
    (tmp_path / "go").touch()
    pool.submit(returned.tasks)
    (done,) = collected(pool, 1)

    assert returned == Returned(tasks_of("patient"))
    assert done.observations[0].value not in (before, os.getpid())
    assert gone_within(daemon, 5.0)


def test_a_killed_supervisor_turns_no_run_under_a_limit_into_a_failed_one():
    def nap(instance, seed):
        time.sleep(0.05)
        return 1.0

    nap_command = Command("command", ("sh", "-c", "sleep 0.05; echo 1", "{instance}", "{seed}"))
    algorithms = {"function": Function("function", nap, "tests:nap"), "command": nap_command}
    pool = LocalPool(Work(algorithms, {"i1": Instance("i1")}, 1, Limits(timeout=60.0)), 2)
    runs, kills = [], 0
    try:
        for index in range(12):
            pool.submit([Task(RunKey("i1", name, index)) for name in algorithms])
        while pool.busy:
            for fate in pool.collect(0.1):
                assert isinstance(fate, Done | Returned), fate
                if isinstance(fate, Done):
                    runs += fate.observations
                else:
                    pool.submit(fate.tasks)
            if len(runs) >= 4 * kills and kills < 5:
                os.kill(pool._supervisor._pid, signal.SIGKILL)
                kills += 1
    finally:
        pool.close(at_once=True)

    assert kills == 5
    assert [(run.status, run.value) for run in runs] == [("ok", 1.0)] * 24


def test_a_run_that_kills_its_supervisor_again_and_again_stops_the_study(pool_of, monkeypatch):
    monkeypatch.setattr("ampler.running.engines.MAX_KILLED", 2)
    pool = pool_of(workers=1, deadly=lambda instance, seed: os.kill(os.getppid(), signal.SIGKILL) or time.sleep(60))
    for _ in range(2):
        pool.submit(tasks_of("deadly"))
        assert next_fates(pool) == [Returned(tasks_of("deadly"))]
    pool.submit(tasks_of("deadly"))
    with pytest.raises(EngineFailed, match="was killed 3 times"):
        next_fates(pool)
    assert pool.collect(0) == []


def test_other_programs_of_the_driver_are_left_alone_when_the_supervisor_is_killed(pool_of):
    before = subprocess.Popen(["sleep", "300"], start_new_session=True)
    pool = pool_of(workers=1, good=lambda instance, seed: 1.0)
    after = subprocess.Popen(["sleep", "300"], start_new_session=True)
    pool.submit(tasks_of("good"))
    os.kill(pool._supervisor._pid, signal.SIGKILL)
    fates = next_fates(pool)
    for fate in fates:
        if isinstance(fate, Returned):
            pool.submit(fate.tasks)
            fates += next_fates(pool)

    assert fates[-1].observations[0].value == 1.0
    for program in (before, after):
        assert program.poll() is None
        program.kill()
        program.wait()


@pytest.mark.parametrize("where", ["main thread", "another thread"])
def test_a_process_that_ignores_the_ends_of_its_children_has_workers_all_the_same(where):
    """Some shells and services start their programs so."""
    code = textwrap.dedent(f"""
        import os, signal, threading
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        from ampler.core.plan import Command, Function, Instance, Limits
        from ampler.core.runs import RunKey
        from ampler.running.engines import LocalPool
        from ampler.running.work import Task, Work
        algorithms = {{
            "function": Function("function", lambda instance, seed: 1.0, "tests:f"),
            "command": Command("command", ("echo", "2")),
            "dies": Function("dies", lambda instance, seed: os._exit(3), "tests:f"),
        }}
        def work():
            pool = LocalPool(Work(algorithms, {{"i": Instance("i")}}, 5, Limits()), 2)
            for name in algorithms:
                pool.submit([Task(RunKey("i", name, 0))])
            fates = []
            while pool.busy:
                fates += pool.collect(60.0)
            pool.close(at_once=False)
            print(sorted(fate.observations[0].value for fate in fates if hasattr(fate, "observations")))
        if {where!r} == "main thread":
            work()
            assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
        else:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    """)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)

    assert ran.stdout == "[1.0, 2.0]\n", ran.stderr


def test_closing_in_peace_lets_idle_workers_leave(pool_of):
    pool = pool_of(pid=lambda instance, seed: os.getpid())
    pool.submit(tasks_of("pid"))
    (fate,) = collected(pool, 1)

    pool.close(at_once=False)

    assert gone_within(int(fate.observations[0].value))


def test_workers_their_commands_and_what_those_started_die_with_the_driver(tmp_path):
    code = textwrap.dedent(f"""
        import os, subprocess, sys, time
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from ampler.core.plan import Command, Function, Instance, Limits
        from ampler.core.runs import RunKey
        from ampler.running.engines import LocalPool
        from ampler.running.work import Task, Work

        def note(name, pid):
            with open("{tmp_path}/" + name, "w") as file:
                file.write(str(pid) + chr(10))

        def function(instance, seed):
            note("worker", os.getpid())
            note("its-child", subprocess.Popen(["sleep", "300"]).pid)
            return sum(iter(int, 1))

        script = "sleep 300 & echo $! > {tmp_path}/grandchild; echo $$ > {tmp_path}/command; wait"
        algorithms = {{"f": Function("f", function, "x:f"), "c": Command("c", ("sh", "-c", script))}}
        pool = LocalPool(Work(algorithms, {{"i": Instance("i")}}, 1, Limits()), 2)
        pool.submit([Task(RunKey("i", "f", 0))])
        pool.submit([Task(RunKey("i", "c", 0))])
        pool.collect(300)
    """)
    driver = subprocess.Popen([sys.executable, "-c", code])
    files = [tmp_path / name for name in ("worker", "its-child", "command", "grandchild")]
    until = time.monotonic() + 120
    while not all(file.exists() and file.read_text().endswith("\n") for file in files) and time.monotonic() < until:
        time.sleep(0.01)
    pids = [int(file.read_text()) for file in files]
    assert all(map(alive, pids))

    driver.kill()
    driver.wait()

    assert [gone_within(pid) for pid in pids] == [True] * 4


def test_a_replaced_worker_lives_on(pool_of):
    """The kernel's parent-death signal is tied to the thread that forked: a replacement must outlive its making."""
    pool = pool_of(workers=1, bad=lambda instance, seed: os._exit(1), pid=lambda instance, seed: os.getpid())
    pool.submit(tasks_of("bad"))
    collected(pool, 1)
    time.sleep(0.3)

    values = []
    for _ in range(3):
        pool.submit(tasks_of("pid"))
        values += [fate.observations[0].value for fate in collected(pool, 1)]
        time.sleep(0.1)

    assert len(values) == 3
    assert len(set(values)) == 1


def test_commands_in_workers_can_be_interrupted_like_any_other():
    code = "import signal; print(sum(signal.getsignal(n) == signal.SIG_IGN for n in (signal.SIGINT, signal.SIGTERM)))"
    work = Work({"c": Command("c", (sys.executable, "-c", code))}, {"i1": Instance("i1")}, 1, Limits())
    pool = LocalPool(work, 1)
    try:
        pool.submit(tasks_of("c"))
        (fate,) = collected(pool, 1)
    finally:
        pool.close(at_once=True)

    assert fate.observations[0].value == 0.0
