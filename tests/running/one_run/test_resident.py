"""Programs that stay: one process makes many runs under limits, and whatever it does wrong is one sentence."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from living import gone_within

from ampler.core.plan import Command, Instance, Limits, Reading
from ampler.running.one_run import execution
from ampler.running.one_run.execution import LONGEST_LINE, Lines, OutOfStep, request_of, run_once

PAGE = Path(__file__).parents[3] / "docs" / "worker-protocol.md"
NO_LIMITS = Limits()
START = """
import json, os, subprocess, sys, time
def say(**answer): print(json.dumps(answer), flush=True)
def asked():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit()
say(ampler=1)
"""
ECHO = "while True: run = asked(); say(seed=run['seed'], value=run['seed'], pid=os.getpid())"


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    execution._threads.__dict__.pop("programs", None)  # what is no longer referred to is ended


@pytest.fixture
def worker(tmp_path):
    """`worker(script)`: a worker with this script."""

    def make(script, *, start=START, parameters=None, reading=Reading(), name="x"):  # noqa: B008
        file = tmp_path / f"{abs(hash(script))}.py"
        file.write_text(start + textwrap.dedent(script))
        return Command(name, (sys.executable, str(file)), parameters or {}, reading, "worker", str(tmp_path))

    return make


def run(command, seed=7, *, limits=NO_LIMITS, instance=Instance("i1")):  # noqa: B008
    return run_once(command, instance, seed, limits)


def example(language):
    return re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize("language", ["python", "c"])
def test_the_examples_of_the_documentation_work(language, tmp_path):
    source = tmp_path / f"worker.{'py' if language == 'python' else 'c'}"
    source.write_text(example(language))
    argv = (sys.executable, str(source))
    if language == "c":
        compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
        subprocess.run([compiler, "-Wall", "-Werror", "-o", tmp_path / "worker", source], check=True, timeout=60)
        argv = ("./worker",)
    (tmp_path / "i 1.txt").write_text("30")
    command = Command("noisy", argv, {"noise": 2.0}, protocol="worker", folder=str(tmp_path))
    instance = Instance("i 1.txt", path=str(tmp_path / "i 1.txt"))

    values = [run(command, seed, instance=instance).value for seed in (1, 2, 2**31 - 1, 1)]

    assert all(30 <= value <= 32 for value in values)
    assert values[0] == values[3]
    assert len(set(values)) == 3


def test_one_process_makes_all_runs_and_algorithms_with_the_same_command_share_it(worker):
    outcomes = [run(worker(ECHO, name=name), seed) for name in ("a", "b") for seed in range(20)]

    assert [outcome.value for outcome in outcomes] == [*range(20)] * 2
    assert len({outcome.measures["pid"] for outcome in outcomes}) == 1


def test_a_request_holds_seed_instance_and_parameters_in_this_order():
    command = Command("x", ("w",), {"k": 3, "how": ["a", "b"]}, protocol="worker")

    assert request_of(command, Instance("ü", path='/a "b"/ü'), 7) == (
        '{"seed": 7, "instance": "/a \\"b\\"/ü", "parameters": {"k": 3, "how": ["a", "b"]}}\n'.encode()
    )


def test_a_request_that_would_not_fit_into_a_pipe_is_a_failure(worker):
    outcome = run(worker(ECHO, parameters={"text": "x" * 70_000}))

    assert outcome.status == "failed"
    assert "at most 60000 bytes" in outcome.message


def test_other_output_is_passed_over_and_further_numbers_are_measures(worker):
    script = """
        print("reading 5 files")
        while True:
            run = asked()
            print("Iteration 1: 99", flush=True)
            say(seed=run["seed"], value=3, gap=0.25, note="fine", best=True, inner={"cost": 8})
    """
    assert run(worker(script)).measures == {"value": 3.0, "gap": 0.25}
    assert run(worker(script, reading=Reading("json", "gap"))).value == 0.25
    assert run(worker(script, reading=Reading("json", "inner.cost"))).value == 8.0


def test_times_are_values_on_request_and_the_start_does_not_count(worker):
    slow_start = START.replace("say(ampler=1)", "time.sleep(2.0); say(ampler=1)")
    script = """
        while True:
            run = asked()
            time.sleep(0.1)
            subprocess.run([sys.executable, "-S", "-c", "sum(range(4_000_000))"])
            say(seed=run["seed"], steps=4, size=2)
    """
    wall = run(worker("while True: run = asked(); time.sleep(0.1); say(seed=run['seed'])", start=slow_start,
                      reading=Reading("seconds")))  # fmt: skip
    cpu = run(worker(script, reading=Reading("cpu-seconds")))

    assert 0.1 <= wall.value == wall.seconds < 2.0
    assert 0.02 < cpu.value < cpu.seconds
    assert cpu.measures == {"steps": 4.0, "size": 2.0}


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("run = asked(); say(seed=run['seed'], error='no route')", "it answered with the error 'no route'"),
        ("asked(); say(value=3)", "an answer must repeat the seed of its request, \"seed\": 7, got '{\"value\": 3}'"),
        ("asked(); say(seed=8, value=3)", "must repeat the seed of its request, \"seed\": 7"),
        ("asked(); say(seed=7)", "an answer must have the field 'value', got '{\"seed\": 7}'"),
        ("asked(); say(seed=7, value='3')", "the JSON field 'value' must hold a number, got \"3\""),
        ("asked(); say(seed=7, value=float('nan'))", "the value must be a finite number, got nan"),
        ("asked(); print('{oops', flush=True); asked()", "an answer must be a line of JSON, got '{oops'"),
        ("asked(); print('bad luck', file=sys.stderr); sys.exit(3)",
         "it ended with exit code 3 before it answered; its error output ends with 'bad luck'"),
        ("asked(); sys.exit()", "it ended with exit code 0 before it answered"),
        ("asked(); os.kill(os.getpid(), 11)", "it was ended by SIGSEGV before it answered"),
        ("asked(); print('{' + 'x' * 2_000_000, flush=True); asked()", f"at most {LONGEST_LINE} bytes"),
    ],
)  # fmt: skip
def test_a_run_without_a_value_fails_with_one_sentence_and_the_next_one_works(worker, script, sentence):
    once = f"if not os.path.exists('seen'):\n    open('seen', 'w').close()\n    {script}\n{ECHO}"
    command = worker(once)
    failed, next_one = run(command), run(command, 9)

    assert (failed.status, failed.value) == ("failed", None)
    assert sentence in failed.message
    assert (next_one.status, next_one.value) == ("ok", 9.0)


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ("print('{\"ampler\": 2}')", "it must first print {\"ampler\": 1}, got '{\"ampler\": 2}'"),
        ("import sys; sys.exit('no licence')",
         "it ended with exit code 1 before it answered; its error output ends with 'no licence'"),
    ],
)  # fmt: skip
def test_a_program_that_is_no_worker_is_told_so(worker, start, sentence):
    outcome = run(worker("", start=start))

    assert (outcome.status, outcome.message) == ("failed", sentence)


def test_a_program_that_does_not_greet_is_not_waited_for_for_ever(worker, monkeypatch):
    monkeypatch.setattr(execution, "STARTING", 0.3)
    outcome = run(worker("", start="print(5); import time; time.sleep(60)"))

    assert outcome.message == 'it must print {"ampler": 1} within 0.3 s of its start, and did not'


def test_a_program_that_cannot_be_started_is_a_failure(tmp_path):
    outcome = run(Command("x", ("./no-such-worker",), protocol="worker", folder=str(tmp_path)))

    assert outcome.message == "the command './no-such-worker' was not found; give its path, or put it on PATH"


def test_a_program_that_answers_twice_is_found_out(worker):
    command = worker("while True: run = asked(); say(seed=run['seed'], value=1); say(seed=run['seed'], value=2)")
    first, second = run(command, 1), run(command, 2)

    assert first.value == 1.0
    assert second.status == "failed"
    assert "must repeat the seed" in second.message


def test_one_that_ends_after_its_answer_is_started_again(worker):
    command = worker("run = asked(); say(seed=run['seed'], value=run['seed'], pid=os.getpid())")
    outcomes = [run(command, seed) for seed in (1, 2, 3)]

    assert [(outcome.value, outcome.message) for outcome in outcomes] == [(1.0, ""), (2.0, ""), (3.0, "")]
    assert len({outcome.measures["pid"] for outcome in outcomes}) == 3


def test_the_successor_of_one_that_has_ended_is_not_taken_for_its_orphan(worker):
    command = worker("run = asked(); say(seed=run['seed'], value=run['seed'])")
    assert run(command, 1).value == 1.0
    [group] = [program.group for program in execution._programs().values()]
    while not group.has_ended():
        time.sleep(0.001)

    assert run(command, 2).value == 2.0


def test_the_time_limit_ends_the_whole_group_and_the_next_run_has_a_new_process(worker, tmp_path):
    script = f"""
        if not os.path.exists("seen"):
            child = subprocess.Popen(["sleep", "60"])
            open("seen", "w").write(f"{{os.getpid()}} {{child.pid}}")
            asked(); time.sleep(60)
        {ECHO}
    """
    command = worker(script)
    outcome = run(command, limits=Limits(timeout=2.0))
    program, child = map(int, (tmp_path / "seen").read_text().split())

    assert (outcome.status, outcome.message) == ("timeout", "it ran longer than 2 s and was ended")
    assert gone_within(program)
    assert gone_within(child)
    assert run(command, 9, limits=Limits(timeout=30)).value == 9.0


def test_a_program_that_used_up_its_time_is_first_asked_to_end(worker, tmp_path):
    script = f"""
        import signal
        def leave(number, frame):
            open({str(tmp_path / "asked")!r}, "w").close()
            sys.exit()
        signal.signal(signal.SIGTERM, leave)
        asked(), time.sleep(300)
    """
    assert run(worker(script), limits=Limits(timeout=1.0)).status == "timeout"
    assert (tmp_path / "asked").exists()


def test_the_memory_limit_holds(worker):
    script = "while True: run = asked(); full = bytearray(200_000_000); time.sleep(60); say(seed=run['seed'], value=1)"
    outcome = run(worker(script), limits=Limits(memory=100_000_000))

    assert outcome.status == "failed"
    assert "more than 100 MB, and was killed" in outcome.message


def test_each_thread_has_its_own_process_which_ends_with_the_thread(worker):
    command, found = worker(ECHO), []
    threads = [threading.Thread(target=lambda: found.append(run(command).measures["pid"])) for _ in range(2)]
    for thread in threads:
        thread.start()
        thread.join()

    assert len(set(found)) == 2
    assert all(gone_within(pid) for pid in found)


def test_it_dies_with_its_owner_with_all_that_it_started(worker, tmp_path):
    script = (
        "child = subprocess.Popen(['sleep', '60'])\nwhile True: run = asked(); say(seed=run['seed'], value=child.pid)"
    )
    owner = textwrap.dedent(f"""
        import os, signal
        from ampler.core.plan import Command
        from ampler.core.plan import Instance
        from ampler.core.plan import Limits
        from ampler.core.runs import RunKey
        from ampler.running.engines import LocalPool
        from ampler.running.work import Task, Work
        command = Command("x", {worker(script).argv!r}, protocol="worker")
        pool = LocalPool(Work({{"x": command}}, {{"i": Instance("i")}}, 1, Limits()), 1)
        pool.submit([Task(RunKey("i", "x", 0))])
        (fate,) = pool.collect(60.0)
        print(fate.observations[0].value, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    ended = subprocess.run([sys.executable, "-c", owner], capture_output=True, text=True, timeout=120, check=False)

    assert ended.returncode == -9
    assert gone_within(float(ended.stdout))


def test_a_forked_child_leaves_its_parents_process_alone(worker):
    command = worker(ECHO)
    mine = run(command).measures["pid"]
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(writing, json.dumps(run(command).measures["pid"]).encode())
            os._exit(0 if execution._threads.programs else 2)
        finally:
            os._exit(3)  # whatever happens: this is a copy of the process that runs the tests
    _, status = os.waitpid(child, 0)
    os.close(writing)
    assert status == 0
    with open(reading) as file:
        theirs = json.load(file)

    assert theirs != mine
    assert run(command).measures["pid"] == mine


def test_lines_may_come_in_any_pieces():
    lines = Lines()
    for byte in b'noise\r\n {"a": 1}\r\n{"b": 2}\n{"c"':
        lines.feed(bytes([byte]))

    assert [lines.next(), lines.next()] == [{"a": 1}, {"b": 2}]
    assert not lines
    lines.feed(b"]\n")
    with pytest.raises(OutOfStep):
        lines.next()
