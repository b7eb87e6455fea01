"""`ampler run`, from study.toml to the study file; whatever goes wrong is one sentence, and the file stays valid."""

import csv
import fcntl
import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from ampler.study.run_inputs import run_seed
from ampler.study.store import read_store

PYTHON = """
import random, sys
size = int(open(sys.argv[1]).read())
rng = random.Random(int(sys.argv[2]))
print("reading", size)
print("cost:", size + rng.gauss(0, 2))
"""

C = r"""
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int size;
    FILE *file = fopen(argv[1], "r");
    if (!file || fscanf(file, "%d", &size) != 1) return 2;
    unsigned long state = strtoul(argv[2], NULL, 10);
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    printf("%f best of %d\n", size + 1 + (state >> 40) % 1000 / 250.0, 3);
    return 0;
}
"""

SHELL = """#!/bin/sh
read size < "$1"
echo "{\\"cost\\": $((size + 3 + $2 % 5)), \\"steps\\": $3}"
"""

THREE = f"""
name = "three"
reference = "python"
difference = "percent"
better = "lower"
se = 0.02
seed = 5
[rule]
start = 3
budget = 15
[run]
timeout = "60s"
[[algorithm]]
name = "python"
command = "{sys.executable} solver.py {{instance}} {{seed}}"
[[algorithm]]
name = "c"
command = "./solver {{instance}} {{seed}}"
value = '^([\\d.]+) best'
[[algorithm]]
name = "shell"
command = "./solver.sh {{instance}} {{seed}} {{steps}}"
value = "json:cost"
parameters = {{ steps = 7 }}
[instances]
files = "instances/*.txt"
use = "all"
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """`study(text)`: a folder with a study file and four instances, and we are in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances").mkdir()
    for number in (1, 2, 3, 4):
        (tmp_path / "instances" / f"{number}0.txt").write_text(f"{number}0\n")

    def make(text):
        (tmp_path / "study.toml").write_text(text)
        return tmp_path

    return make


def two(command, *, settings="", more=""):
    """A study of two algorithms: one that works, and the command in question."""
    return f"""
        better = "lower"
        difference = "simple"
        {settings}
        [rule]
        allocation = "fixed"
        runs = 2
        [run]
        workers = 2
        {more}
        [[algorithm]]
        name = "good"
        command = "echo {{seed}} {{instance}} 5"
        [[algorithm]]
        name = "bad"
        command = {json.dumps(command)}
        [instances]
        files = "instances/*.txt"
        use = "all"
    """


def observed(path="study.db"):
    with read_store(path) as store:
        return list(store.observations())


def is_valid(path="study.db"):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_three_programs_in_three_languages_from_study_to_export(study, shell):
    folder = study(THREE)
    (folder / "solver.py").write_text(PYTHON)
    (folder / "solver.c").write_text(C)
    (folder / "solver.sh").write_text(SHELL)
    (folder / "solver.sh").chmod(0o755)
    subprocess.run(["cc", "-o", "solver", "solver.c"], check=True, cwd=folder)

    answer = shell("run", "study.toml", "--workers", 2)
    exported = shell("export", "study.db", "runs.csv")
    again = shell("run", "study.toml")

    assert (answer.code, exported.code, again.code) == (0, 0, 0), answer.err
    assert "three: all 4 instances finished" in answer.words
    assert "(0 new)" in again.words
    with (folder / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["algorithm"] for row in rows} == {"python", "c", "shell"}
    assert {row["instance"] for row in rows} == {f"instances/{number}0.txt" for number in (1, 2, 3, 4)}
    for row in rows:
        assert int(row["seed"]) == run_seed(5, row["instance"], row["algorithm"], int(row["index"]))
        assert row["status"] == "ok"
        if row["algorithm"] == "shell":
            assert float(row["value"]) == int(row["instance"][10:12]) + 3 + int(row["seed"]) % 5
    shell_runs = [seen for seen in observed() if seen.key.algorithm == "shell"]
    assert all(seen.measures == {"cost": seen.value, "steps": 7.0} for seen in shell_runs)


def test_workers_and_the_order_in_the_file_do_not_change_the_values(study, shell):
    text = two("sh -c 'echo $(($1 % 97))' sh {seed} {instance}", settings="seed = 4")
    folder = study(text)
    head, first, second = text.split("[[algorithm]]")
    turned = (
        f"{head}[[algorithm]]{second.partition('[instances]')[0]}[[algorithm]]{first}[instances]"
        + (second.partition("[instances]")[2])
    )
    (folder / "turned.toml").write_text(turned)

    codes = [
        shell("run", "study.toml", "--workers", 1, "--store", "one.db").code,
        shell("run", "study.toml", "--workers", 3, "--store", "three.db").code,
        shell("run", "turned.toml", "--store", "turned.db").code,
    ]

    assert codes == [0, 0, 0]
    one, three, other = (
        {(seen.key, seen.seed, seen.value) for seen in observed(f"{name}.db")} for name in ("one", "three", "turned")
    )
    assert one == three == other
    assert len(one) == 16


FAILURES = [
    ("no-such-program", "the command 'no-such-program' was not found; give its path, or put it on PATH"),
    ("true", "no number in its output: it printed nothing"),
    ("sh -c 'echo garbage' sh", "no number in its output, which ends with 'garbage'"),
    ("sh -c 'echo cost 5; echo cost nan' sh", "the value must be a finite number, got nan"),
    ("sh -c 'echo 5; exit 3' sh", "it ended with exit code 3 (success = [0]);"),
    ("sh -c 'echo 5; kill -9 $$' sh", "it was ended by SIGKILL;"),
    (
        "sh -c 'echo 5; echo no luck >&2; exit 1' sh",
        "exit code 1 (success = [0]); its error output ends with 'no luck';",
    ),
]


@pytest.mark.parametrize(("command", "sentence"), FAILURES)
def test_a_command_that_fails_stops_the_study_with_one_sentence_and_a_valid_file(study, shell, command, sentence):
    study(two(f"{command} {{instance}} {{seed}}"))

    answer = shell("run", "study.toml")

    assert answer.code == 1
    lines = answer.err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("ampler: run ")
    assert " of 'bad' on 'instances/" in lines[0]
    assert sentence in lines[0]
    assert is_valid()
    assert [seen.status for seen in observed() if seen.status != "ok"]


@pytest.mark.parametrize(
    ("command", "statuses"),
    [
        ("sh -c 'trap \"\" TERM; exec sleep 100' sh", {"timeout"}),
        ("sh -c 'sleep 100 & sleep 100 & wait' sh", {"timeout"}),
        ("sh -c 'sleep 100 & echo 5' sh", {"ok"}),
        ("sh -c 'yes 123456789 | head -c 20000000; echo; echo 5' sh", {"ok"}),
    ],
)
def test_commands_that_hang_flood_or_fork_cost_only_their_own_runs(study, shell, monkeypatch, command, statuses):
    monkeypatch.setattr("ampler.running.one_run.processes.GRACE", 0.3)
    folder = study(two(f"{command} {{instance}} {{seed}}", more='timeout = "120s"\non-failure = "drop"'))
    (folder / "instances" / "30.txt").unlink()
    (folder / "instances" / "40.txt").unlink()
    text = (folder / "study.toml").read_text()
    if statuses == {"timeout"}:
        (folder / "study.toml").write_text(text.replace("120s", "2s").replace("runs = 2", "runs = 1"))

    answer = shell("run", "study.toml")

    assert answer.code == 0, answer.err
    assert {seen.status for seen in observed() if seen.key.algorithm == "bad"} == statuses
    assert {seen.status for seen in observed() if seen.key.algorithm == "good"} == {"ok"}
    assert is_valid()


def test_functions_that_raise_return_text_or_hang_in_c_are_told_in_one_sentence(study, shell):
    folder = study("")
    (folder / "bad_solvers.py").write_text(
        "def raising(instance, seed):\n    raise ValueError('no luck')\n"
        "def text(instance, seed):\n    return 'twelve'\n"
        "def endless(instance, seed):\n    return sum(iter(int, 1))\n"
        "def good(instance, seed):\n    return seed\n"
    )
    sentences = {
        "raising": "it raised ValueError: no luck (bad_solvers.py, line 2)",
        "text": "a number or a mapping of numbers must be returned, got str 'twelve'",
        "endless": "it ran longer than 0.3 s and was ended",
    }
    for name, sentence in sentences.items():
        limit = "300ms" if name == "endless" else "60s"  # on a busy machine even `raising` takes its time
        text = two("x {instance}", more=f'timeout = "{limit}"').replace(
            'command = "x {instance}"', f'python = "bad_solvers:{name}"'
        )
        study(text.replace('command = "echo {seed} {instance} 5"', 'python = "bad_solvers:good"'))
        answer = shell("run", "study.toml", "--store", f"{name}.db")
        assert answer.code == 1
        assert len(answer.err.strip().splitlines()) == 1
        assert sentence in answer.err
        assert is_valid(f"{name}.db")


def test_an_instance_that_begins_with_a_dash_is_refused_where_it_would_be_an_option(study, shell):
    text = two("echo {instance} 5").replace('files = "instances/*.txt"', 'names = ["-n", "x"]')
    folder = study(text)

    refused = shell("run", "study.toml")

    assert refused.code == 1
    assert "'-n' begins with '-'" in refused.err
    assert not (folder / "study.db").exists()


def test_a_file_that_begins_with_a_dash_is_an_instance_like_any_other(study, shell):
    folder = study(two("cat {instance}"))
    (folder / "instances" / "-rf.txt").write_text("7\n")
    text = (folder / "study.toml").read_text().replace("instances/*.txt", "instances/*")

    (folder / "study.toml").write_text(text)

    assert shell("run", "study.toml").code == 0
    assert 7.0 in {seen.value for seen in observed() if seen.key.instance == "instances/-rf.txt"}


def test_failures_that_were_dropped_are_tried_again_on_request(study, shell):
    folder = study(two("sh -c 'test -e fine && echo 5' sh {instance}", more='on-failure = "drop"'))

    first = shell("run", "study.toml")
    (folder / "fine").touch()
    second = shell("run", "study.toml")
    third = shell("run", "study.toml", "--retry-failed")

    assert (first.code, second.code, third.code) == (0, 0, 0)
    assert "8 runs failed and gave no value" in first.words
    assert "(0 new)" in second.words
    assert "(8 new)" in third.words
    assert "failed" not in third.words
    assert {(seen.status, seen.attempt) for seen in observed() if seen.key.algorithm == "bad"} == {("ok", 1)}


# The study file


def test_another_plan_is_refused_by_the_field_that_changed(study, shell):
    study(two("echo {instance} 5"))
    assert shell("run", "study.toml").code == 0
    study(two("echo {instance} 6"))

    answer = shell("run", "study.toml")

    assert answer.code == 1
    assert "command of algorithm 'bad'" in answer.err
    assert is_valid()


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be one\n" * 50, "foreign", "future"])
def test_a_file_that_is_no_study_of_ours_is_refused_and_left_alone(study, shell, content):
    folder = study(two("echo {instance} 5"))
    path = folder / "study.db"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "foreign":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE mine (x)")
            connection.commit()
    else:
        assert shell("run", "study.toml").code == 0
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 999")
            connection.commit()
    before = path.read_bytes()

    answer = shell("run", "study.toml")

    if content == b"":  # an empty file is an empty database
        assert answer.code == 0
        return
    assert answer.code == 1
    assert len(answer.err.strip().splitlines()) == 1
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_told(study, shell):
    folder = study(two("echo {instance} 5"))
    answer = shell("run", "study.toml", "--store", "/proc/study.db", cwd=folder)

    assert answer.code == 1
    assert len(answer.err.strip().splitlines()) == 1
    assert "study.db" in answer.err or "/proc" in answer.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux")
def test_a_disk_that_is_full_ends_the_study_with_one_sentence_and_a_valid_file(study, process):
    """A limit on the size of files stands for the full disk: SQLite sees a write that fails in the middle."""
    folder = study(two("echo {instance} {seed}").replace("runs = 2", "runs = 3000"))
    (folder / "small.py").write_text(
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))\n"
        "sys.argv = ['ampler', 'run', 'study.toml']\n"
        "from ampler.app.cli import main\nmain()\n"
    )

    answer = process("small.py", cwd=folder, program=(sys.executable,))

    assert answer.returncode == 1, answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1
    assert answer.stderr.startswith("ampler: ")
    assert is_valid(folder / "study.db")
    assert observed(folder / "study.db")


def test_two_runs_at_once_are_refused_and_the_first_goes_on(study, shell, start):
    folder = study(two("sh -c 'until test -e go; do sleep 0.05; done; echo 5' sh {instance} {seed}"))
    first = start("run", "study.toml", cwd=folder)
    until = time.monotonic() + 60
    while not (folder / "study.db").exists() and time.monotonic() < until:
        time.sleep(0.01)
    answer = shell("run", "study.toml")
    (folder / "go").touch()

    assert answer.code == 1
    assert f"study.db is being run by process {first.pid}" in answer.err
    assert first.wait(60) == 0
    assert len(observed()) == 16


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["run"], 2, "Missing argument 'STUDY.TOML'"),
        (["run", "nothing.toml"], 1, "there is no study definition"),
        (["run", "study.toml", "--workers", "0"], 2, "--workers must be at least 1, got 0"),
        (["run", "study.toml", "--workers", "many"], 2, "'many' is not a whole number"),
    ],
)
def test_wrong_usage_is_told(study, shell, arguments, code, sentence):
    study(two("echo {instance} 5"))

    answer = shell(*arguments)

    assert answer.code == code
    assert sentence in answer.err


def test_what_the_plan_warns_of_is_said_before_the_runs(study, shell):
    study(two("echo {instance} 5", settings="effect = 0.5").replace('use = "all"', 'use = "needed"'))

    answer = shell("run", "study.toml")

    assert answer.code == 0
    assert answer.err.startswith("Note: ")


# Progress


def test_in_a_terminal_progress_is_shown_in_place(study):
    folder = study(two("sh -c 'sleep 0.1; echo 5' sh {instance}").replace("runs = 2", "runs = 5"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, 0x5414, b"\x18\x00\xc8\x00\x00\x00\x00\x00")  # 24 lines of 200 columns
    process = subprocess.Popen(
        [sys.executable, "-m", "ampler", "run", "study.toml"],
        cwd=folder,
        stderr=theirs,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other side was closed
        pass
    finally:
        os.close(ours)

    assert process.wait(60) == 0
    process.stdout.close()
    text = shown.decode()
    assert "4/4 instances" in text
    assert "runs/s" in text
    assert "\x1b[2K" in text


def test_ctrl_c_in_the_shell_is_answered_with_130(study, start):
    folder = study(two("sh -c 'sleep 0.2; echo 5' sh {instance}").replace("runs = 2", "runs = 50"))
    process = start("run", "study.toml", cwd=folder)
    until = time.monotonic() + 60
    while time.monotonic() < until and not ((folder / "study.db").exists() and _any_run(folder / "study.db")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()

    assert process.returncode == 130
    assert err.strip().splitlines()[-1].startswith("Interrupted. ")
    assert is_valid(folder / "study.db")


def _any_run(path):
    try:
        return bool(observed(path))
    except Exception:
        return False


def test_an_algorithm_that_only_fails_ends_the_study_early_unless_it_is_told_to_go_on(study, shell):
    text = two("sh -c 'exit 10' {instance} {seed}", more='on-failure = "drop"').replace("runs = 2", "runs = 5")
    study(text)

    stopped = shell("run", "study.toml")
    went_on = shell("run", "study.toml", "--despite-failures")

    assert stopped.code == 1
    assert "runs of 'bad' so far failed: it ended with exit code 10 (success = [0])" in stopped.err
    assert went_on.code == 0
    assert "20 runs failed and gave no value, every time: it ended with exit code 10 (success = [0])" in went_on.words


def test_runs_that_waited_until_the_clock_ended_them_are_told_at_the_end_in_the_status_and_in_the_analysis(
    study, shell, monkeypatch
):
    monkeypatch.setattr("ampler.running.one_run.processes.GRACE", 0.3)
    study(two("sh -c 'sleep 30' {instance} {seed}", more="timeout = 0.2\n        on-failure = { penalty = 99 }"))

    ran = shell("run", "study.toml")
    said = "8 of 8 runs that reached a time limit had used less than half of their time on a processor"

    assert ran.code == 0
    assert said in " ".join(ran.err.split())
    assert said in shell("status", "study.db").words
    assert said in shell("analyse", "study.db").words


def test_a_floor_is_an_option_of_the_analysis(study, shell):
    study(two("echo {seed} {instance} 0", settings="seed = 1"))
    assert shell("run", "study.toml").code == 0

    refused = shell("analyse", "study.db", "--difference", "percent")
    floored = shell("analyse", "study.db", "--difference", "percent", "--floor", "1e-8", "--json")

    assert refused.code == 1
    assert "to a floor, e.g. 1e-8" in refused.err
    assert floored.json["settings"]["floor"] == 1e-8


@pytest.mark.parametrize(("command", "told"), [("rm study.db", "removed"), ("mv study.db moved.db", "renamed")])
def test_a_study_whose_file_is_lost_says_so_and_saves_its_runs_beside(study, process, command, told):
    folder = study(two(f"sh -c '{command} 2>/dev/null; echo 5' - {{instance}} {{seed}}"))

    answer = process("run", "study.toml", cwd=folder)

    assert answer.returncode == 1
    assert "are recorded in study.db" not in answer.stdout + answer.stderr
    assert told in answer.stderr
    assert "are saved in study-saved.db" in answer.stderr
    assert len(observed(folder / "study-saved.db")) >= 1
    assert "Traceback" not in answer.stderr
