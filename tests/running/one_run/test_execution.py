"""One run, whatever it does, is an outcome with one clear sentence, and leaves no process behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from living import gone_within

from ampler.core.errors import EngineFailed
from ampler.core.plan import Command, Function, Instance, Limits, Reading
from ampler.core.text import in_bytes
from ampler.running.one_run import functions, processes
from ampler.running.one_run.execution import run_once
from ampler.running.one_run.readings import Outcome

NO_LIMITS = Limits()
SHORT = Limits(timeout=0.3)
AMPLE = Limits(timeout=30)


def run(*argv, limits=NO_LIMITS, instance=Instance("i1"), seed=7, **fields):  # noqa: B008
    return run_once(Command("x", argv, **fields), instance, seed, limits)


def shell(script, **options):
    return run("sh", "-c", script, **options)


def call(function, limits=NO_LIMITS, instance=Instance("i1"), **fields):  # noqa: B008
    return run_once(Function("f", function, "tests:f", **fields), instance, 7, limits)


@pytest.fixture
def place():
    """`place(action)` does something where forking is safe."""
    return lambda action: action()


@pytest.fixture
def anywhere(place):
    """A call in either place."""
    return lambda *arguments, **options: place(lambda: call(*arguments, **options))


# Commands


def test_a_command_gets_instance_seed_and_parameters_and_its_last_number_is_the_value():
    outcome = run("echo", "{instance}", "{k}", "{seed}", instance=Instance("i1", path="/a b/c"), parameters={"k": 3})

    assert outcome == Outcome(
        7.0, outcome.seconds, cpu=outcome.cpu, started=outcome.started, line="/a b/c 3 7", exit_code=0
    )
    assert outcome.seconds > 0


def test_a_command_is_not_given_to_a_shell():
    assert run("echo", "$(id)", "; echo 9", "5").value == 5.0


def test_a_command_runs_in_its_folder_with_nothing_to_read(tmp_path):
    (tmp_path / "solve").write_text("#!/bin/sh\npwd; cat; echo 4\n")
    (tmp_path / "solve").chmod(0o755)

    assert run("./solve", folder=str(tmp_path)).value == 4.0


def test_times_are_values_on_request():
    asleep = Reading("seconds"), Reading("cpu-seconds")
    wall, cpu = (shell("sleep 0.3; echo 5", reading=reading).value for reading in asleep)
    busy = run(sys.executable, "-c", "sum(range(3_000_000))", reading=Reading("cpu-seconds")).value

    assert 0.3 <= wall < 60
    assert 0 <= cpu < 0.2
    assert 0.01 < busy < 10


def test_processor_time_is_that_of_the_program_and_of_the_kernel_for_it(tmp_path):
    script = "import os, sys; os.urandom(100_000_000); open(sys.argv[1], 'w').write(repr(sum(os.times()[:2])))"
    outcome = run(sys.executable, "-c", script, str(tmp_path / "used"), reading=Reading("cpu-seconds"))
    used = float((tmp_path / "used").read_text())
    assert used > 0.05
    assert outcome.value >= used - 0.02  # ticks of the kernel's clock


def test_json_output_gives_value_and_measures():
    outcome = run("echo", '{"cost": 3, "gap": 0.5}', reading=Reading("json", "gap"))

    assert (outcome.value, outcome.measures) == (0.5, {"cost": 3.0, "gap": 0.5})


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (":", "no number in its output: it printed nothing"),
        ("echo hello world", "no number in its output, which ends with 'hello world'"),
        ("echo oops >&2", "no number in its output: it printed nothing; its error output ends with 'oops'"),
        ("printf '\\377\\376\\001x'", "no number in its output, which ends with '�� x'"),
        ("echo cost 5; echo cost -nan", "the value must be a finite number, got -nan"),
        (
            "echo 5; echo 'no memory' >&2; exit 3",
            "it ended with exit code 3 (success = [0]); its error output ends with 'no memory'",
        ),
        ("echo 5; kill -SEGV $$", "it was ended by SIGSEGV"),
        ("echo 5; kill -KILL $$", "it was ended by SIGKILL"),
    ],
)
def test_a_command_without_a_value_fails_with_one_sentence(script, sentence):
    outcome = shell(script)

    assert (outcome.status, outcome.value, outcome.message) == ("failed", None, sentence)


def test_exit_codes_that_mean_success_give_a_value_and_all_others_fail():
    script = ("sh", "-c", 'echo 5; exit "$1"', "sh")
    ended = [run(*script, str(code), success=(10, 20)) for code in (10, 20, 0)]

    assert [outcome.value for outcome in ended] == [5.0, 5.0, None]
    assert ended[2].message == "it ended with exit code 0 (success = [10, 20])"


def test_a_command_that_cannot_start_says_why(tmp_path):
    (tmp_path / "text").write_text("no program\n")
    (tmp_path / "locked").write_text("#!/bin/sh\necho 1\n")
    (tmp_path / "text").chmod(0o755)

    def message(*argv, folder=tmp_path):
        outcome = run(*argv, folder=str(folder))
        assert outcome.status == "failed"
        return outcome.message

    assert message("no-such-program") == "the command 'no-such-program' was not found; give its path, or put it on PATH"
    assert message("./locked") == "the command './locked' cannot be started: Permission denied"
    assert message("./text") == "the command './text' cannot be started: Exec format error"
    assert message("echo", "a\0b") == "the command 'echo' cannot be started: embedded null byte"
    assert "in which it must run, was not found" in message("echo", folder=tmp_path / "gone")


def test_a_hanging_command_is_ended_with_its_whole_group():
    outcome = shell("sleep 300 & echo $! >&2; sleep 300", limits=SHORT)

    assert (outcome.status, outcome.message) == ("timeout", "it ran longer than 0.3 s and was ended")
    assert 0.3 <= outcome.seconds < 60


def test_a_command_is_first_asked_to_end(tmp_path):
    script = f"trap 'echo asked > {tmp_path}/asked; exit 0' TERM; sleep 300 & wait"

    outcome = shell(script, limits=Limits(timeout=2.0))  # so long it may take to be ready for the question

    assert outcome.status == "timeout"
    assert (tmp_path / "asked").read_text() == "asked\n"


def test_a_command_that_ignores_the_request_is_killed(monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 0.3)
    began = time.monotonic()

    outcome = shell("trap '' TERM; echo 5; while :; do sleep 1; done", limits=SHORT)

    assert outcome.status == "timeout"
    assert time.monotonic() - began < 60


def test_what_a_command_leaves_running_is_ended_with_it(tmp_path):
    outcome = shell(f"sleep 300 & echo $! > {tmp_path}/pid; (sleep 300; echo 9) & echo 5")

    assert outcome.value == 5.0
    assert gone_within(int((tmp_path / "pid").read_text()))


def test_a_daemon_that_holds_the_output_open_does_not_hold_us_up_and_is_ended(tmp_path):
    daemon = "os.setsid(); print(os.getpid(), file=open('pid', 'w'), flush=True); time.sleep(60)"
    code = f"import os, time\nprint(5, flush=True)\nif os.fork() == 0:\n    {daemon}"
    began = time.monotonic()

    outcome = run(sys.executable, "-c", code, folder=str(tmp_path))

    assert outcome.value == 5.0
    assert time.monotonic() - began < 30
    if (tmp_path / "pid").exists() and (pid := (tmp_path / "pid").read_text()):
        assert gone_within(int(pid))


@pytest.mark.parametrize("megabytes", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_much_output_is_read_in_little_memory(megabytes):
    code = textwrap.dedent("""
        import resource
        from ampler.running.one_run.execution import run_once
        from ampler.core.plan import Command, Instance, Limits
        run_once(Command("x", ("echo", "1")), Instance("i"), 1, Limits())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        flood = ("sh", "-c", "head -c MEGABYTES000000 /dev/zero | tr '\\\\0' x; echo; echo cost 5; echo done >&2")
        outcome = run_once(Command("x", flood), Instance("i"), 1, Limits())
        print(outcome.value, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """)

    code = code.replace("MEGABYTES", str(megabytes))
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    value, kilobytes = printed.split()
    assert float(value) == 5.0
    assert int(kilobytes) < 20_000


def test_the_memory_of_the_whole_group_is_limited():
    hold = "import time; x = bytearray(60_000_000); time.sleep(60)"
    script = f"'{sys.executable}' -c '{hold}' & '{sys.executable}' -c '{hold}' & wait"

    one = shell(script, limits=Limits(memory=100_000_000, timeout=30))

    assert one.status == "failed"
    assert one.message.startswith("it used 1")
    assert one.message.endswith(" MB of memory, more than 100 MB, and was killed")


def test_memory_within_the_limit_is_no_reason_to_end():
    assert shell("sleep 0.3; echo 5", limits=Limits(memory=50_000_000)).value == 5.0


# Functions


@pytest.mark.parametrize("limits", [NO_LIMITS, AMPLE])
def test_a_function_gets_object_path_or_name_with_seed_and_parameters(place, limits):
    def function(instance, seed, factor):
        return {list: 100, str: 200}.get(type(instance), 300) + seed * factor

    given = [Instance("i1", data=[1, 2]), Instance("i1"), Instance("i1", path="/data/i1")]
    outcomes = place(lambda: [call(function, limits, instance, parameters={"factor": 2}) for instance in given])

    assert [outcome.value for outcome in outcomes] == [114.0, 214.0, 314.0]


def test_a_file_is_given_as_a_path():
    assert call(lambda instance, seed: len(instance.parts), instance=Instance("i1", path="/data/i1")).value == 3.0


@pytest.mark.parametrize("limits", [NO_LIMITS, AMPLE])
def test_numbers_of_any_library_are_values(limits):
    import decimal
    import fractions

    import numpy as np

    for number in (
        3,
        3.0,
        True + 2,
        np.float32(3),
        np.int64(3),
        np.array(3.0),
        decimal.Decimal(3),
        fractions.Fraction(3),
    ):
        assert call(lambda instance, seed, number=number: number, limits).value == 3.0


@pytest.mark.parametrize("limits", [NO_LIMITS, AMPLE])
def test_a_mapping_gives_measures_and_the_first_or_the_chosen_one_is_the_value(limits):
    def function(instance, seed):
        return {"cost": 5, "gap": 0.25, "bound": float("nan")}

    first = call(function, limits)
    chosen = call(function, limits, reading=Reading("json", "gap"))

    assert (first.value, chosen.value) == (5.0, 0.25)
    assert first.measures == chosen.measures == {"cost": 5.0, "gap": 0.25}


def test_times_of_functions_are_values_on_request():
    def function(instance, seed):
        time.sleep(0.05)

    assert 0.05 <= call(function, reading=Reading("seconds")).value < 60
    assert 0.0 <= call(function, reading=Reading("cpu-seconds")).value < 0.04
    assert 0.05 <= call(function, AMPLE, reading=Reading("seconds")).value < 60


def raises(problem):
    def function(instance, seed):  # not of a module: another process may not find the one that tests are in
        raise problem

    return function


WITHOUT_VALUE = [
    (
        raises(ValueError("no such\nneighbourhood")),
        "it raised ValueError: no such neighbourhood (test_execution.py, line ",
    ),
    (lambda instance: 1, "it raised TypeError: "),
    (lambda instance, seed: sys.exit(4), "it raised SystemExit: 4 (test_execution.py, line "),
    (lambda instance, seed: "12", "a number or a mapping of numbers must be returned, got str '12'"),
    (lambda instance, seed: None, "a number or a mapping of numbers must be returned, got nothing"),
    (lambda instance, seed: [1], "a number or a mapping of numbers must be returned, got list [1]"),
    (lambda instance, seed: float("nan"), "the value must be a finite number, got nan"),
    (lambda instance, seed: 10**400, "the value must be a finite number, got inf"),
    (lambda instance, seed: {}, "at least one measure must be returned, got an empty mapping"),
    (lambda instance, seed: {"a": "x"}, "the measure 'a' must be a number, got str 'x'"),
    (lambda instance, seed: {"a": float("inf")}, "the value must be a finite number, got inf"),
]


@pytest.mark.parametrize("limits", [NO_LIMITS, AMPLE])
def test_a_function_without_a_value_fails_with_one_sentence(place, limits):
    outcomes = place(lambda: [call(function, limits) for function, _ in WITHOUT_VALUE])

    assert {(outcome.status, outcome.value) for outcome in outcomes} == {("failed", None)}
    for outcome, (_, sentence) in zip(outcomes, WITHOUT_VALUE, strict=True):
        assert outcome.message.startswith(sentence)
        assert "\n" not in outcome.message


def test_an_answer_is_read_even_if_the_end_of_its_function_is_noticed_first(monkeypatch):
    class Absent(processes.Group):
        def watch(self, sinks, limits, **options):
            while not self.has_ended():
                time.sleep(0.01)
            return processes.Ending("ended", 0.1)

    monkeypatch.setattr(functions, "Group", Absent)

    assert call(lambda instance, seed: {"cost": 3.0, "gap": 0.5}, limits=AMPLE).value == 3.0


def test_a_missing_measure_is_named():
    outcome = call(lambda instance, seed: {"cost": 1, "gap": 2}, reading=Reading("json", "time"))
    plain = call(lambda instance, seed: 1, reading=Reading("json", "time"))

    assert outcome.message == "the measure 'time' must be one of the returned ones, got 'cost', 'gap'"
    assert plain.message == "a mapping with 'time' must be returned, got int 1"


def endless():
    return lambda instance, seed: sum(iter(int, 1))  # for ever, and all of it in C


def test_a_function_that_loops_for_ever_in_c_is_ended_and_the_next_call_is_answered(place):
    killed, following = place(lambda: [call(endless(), Limits(0.15)), call(lambda instance, seed: seed, AMPLE)])

    assert (killed.status, killed.message) == ("timeout", "it ran longer than 0.15 s and was ended")
    assert 0.15 <= killed.seconds < 60
    assert following.value == 7.0


def test_a_limit_on_a_function_is_refused_where_other_threads_are(monkeypatch):
    """A lock held by another thread would stay held in a fork."""
    found = []

    def refused():
        with pytest.raises(EngineFailed, match="needs a process with one thread"):
            call(endless(), AMPLE)
        found.append(True)

    thread = threading.Thread(target=refused)
    thread.start()
    thread.join()

    assert found


def test_a_function_that_takes_too_much_memory_is_killed(place):
    def modest(instance, seed):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def hoarding(instance, seed):
        hoard = bytearray(120_000_000)
        time.sleep(60)
        return len(hoard)

    def both():
        limits = Limits(memory=int(call(modest, AMPLE).value) + 60_000_000, timeout=60)
        return call(modest, limits), call(hoarding, limits), limits

    within, beyond, limits = place(both)

    assert within.status == "ok"
    assert beyond.status == "failed"
    assert beyond.message.endswith(f" of memory, more than {in_bytes(limits.memory)}, and was killed")


def test_a_function_that_takes_its_process_down_fails_alone(place):
    deadly = (lambda instance, seed: os.kill(os.getpid(), signal.SIGKILL), lambda instance, seed: os._exit(4))
    killed, left = place(lambda: [call(function, AMPLE) for function in deadly])

    assert (killed.status, killed.message) == ("failed", "it was ended by SIGKILL")
    assert (left.status, left.message) == ("failed", "it ended with exit code 4")


def test_what_a_limited_function_has_started_ends_with_it(tmp_path, anywhere):
    path = tmp_path / "pid"

    def function(instance, seed):
        path.write_text(str(subprocess.Popen(["sleep", "300"]).pid))
        time.sleep(300)

    assert anywhere(function, Limits(timeout=1.5)).status == "timeout"
    assert gone_within(int(path.read_text()))


BUSY = "while :; do :; done"


def test_a_command_that_uses_up_its_processor_time_is_ended_and_says_so():
    began = time.time()
    outcome = shell(BUSY, limits=Limits(timeout=60.0, cpu_timeout=0.1))

    assert (outcome.status, outcome.value) == ("timeout", None)
    assert outcome.message == "it used more than 0.1 s of processor time and was ended"
    assert 0.1 <= outcome.cpu < 2.0
    assert began <= outcome.started <= time.time()


def test_sleeping_costs_no_processor_time():
    outcome = shell("sleep 0.5; echo 5", limits=Limits(cpu_timeout=0.3))

    assert (outcome.value, outcome.status) == (5.0, "ok")
    assert outcome.cpu < 0.3 < outcome.seconds


def test_processor_time_of_children_counts_and_is_recorded_when_the_clock_ends_a_run():
    forked = shell(f"({BUSY}) & ({BUSY}) & wait", limits=Limits(timeout=60.0, cpu_timeout=0.1))
    by_clock = shell(f"({BUSY}) & wait", limits=Limits(timeout=0.2))

    assert (forked.status, forked.message) == ("timeout", "it used more than 0.1 s of processor time and was ended")
    assert (by_clock.status, by_clock.message) == ("timeout", "it ran longer than 0.2 s and was ended")
    assert by_clock.cpu > 0


def test_a_run_that_ended_beyond_its_processor_time_between_two_looks_has_exceeded_it(monkeypatch):
    monkeypatch.setattr("ampler.running.one_run.processes.CPU_LOOK", 100.0)
    busy = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo 5"

    assert shell(busy, limits=Limits(cpu_timeout=0.001)).status == "timeout"


def test_functions_have_processor_time_and_its_limit_too(anywhere):
    def busy(instance, seed):
        began = time.process_time()
        while time.process_time() - began < (100 if seed == 7 else 0.05):
            pass
        return 1.0

    ended = anywhere(busy, Limits(timeout=60.0, cpu_timeout=0.1))

    assert (ended.status, ended.message) == ("timeout", "it used more than 0.1 s of processor time and was ended")
    assert ended.cpu >= 0.1
    free = call(lambda instance, seed: sum(range(10**6)))
    assert free.cpu > 0
    assert free.started is not None


DYING = """
import os, sys, threading, time
from ampler.core.plan import Command
from ampler.core.plan import Function
from ampler.core.plan import Instance
from ampler.core.plan import Limits
from ampler.running.one_run.execution import run_once
from ampler.running.one_run.execution import _threads

def half(instance, seed):
    return seed / 2

def resident():
    program = (
        "import json, sys; print(json.dumps({'ampler': 1}), flush=True)\\n"
        "for line in sys.stdin: print(json.dumps({'seed': json.loads(line)['seed'], 'value': 1}), flush=True)"
    )
    run_once(Command("x", (sys.executable, "-c", program), protocol="worker"), Instance("i1"), 7, Limits(timeout=60))
    return next(iter(_threads.programs.values()))

kept = resident()
kept.itself = kept          # whoever still holds it when the interpreter ends
sys.modules["kept"] = kept
print(kept.group.leader)
"""


def test_a_process_that_dies_with_a_child_at_hand_ends_it_without_a_word():
    done = subprocess.run([sys.executable, "-c", DYING], capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert gone_within(done.stdout)


@pytest.mark.parametrize("limits", [Limits(timeout=1.5), NO_LIMITS], ids=["limited", "unlimited"])
def test_what_a_function_imports_is_imported_before_its_clock_starts(tmp_path, monkeypatch, limits):
    """A lazy import that takes longer than the limit fails no run, and is not in the time of any."""
    name = f"slow_to_import_{'limited' if limits.timeout else 'unlimited'}"
    (tmp_path / f"{name}.py").write_text("import time\ntime.sleep(2.0)\nONE = 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    namespace = {"__name__": "lazy"}
    exec(
        f"def inner():\n    from {name} import ONE\n    return ONE\ndef lazy(instance, seed):\n    return inner()",
        namespace,
    )

    outcomes = [call(namespace["lazy"], limits) for _ in range(2)]

    assert [(outcome.status, outcome.value) for outcome in outcomes] == [("ok", 1.0)] * 2
    assert max(outcome.seconds for outcome in outcomes) < 1.5


@pytest.mark.parametrize("module", ["import os; os._exit(3)", "import sys; sys.exit(0)", "while True: pass"])
def test_an_import_that_ends_its_process_or_never_ends_harms_its_own_run_only(tmp_path, monkeypatch, module):
    monkeypatch.setattr(functions, "IMPORTING", 1.0)
    name = f"harmful_{abs(hash(module))}"
    (tmp_path / f"{name}.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    namespace = {"__name__": "lazy"}
    exec(f"def lazy(instance, seed):\n    import {name}\n    return 1.0", namespace)

    assert call(namespace["lazy"], Limits(timeout=1.0)).status in ("failed", "timeout")
