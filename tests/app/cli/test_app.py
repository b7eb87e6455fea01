from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

import ampler
from ampler.app.cli.app import app, main
from ampler.app.cli.output import WrongUsage
from ampler.core.errors import InvalidDesign

HEAVY = (
    "numpy",
    "scipy",
    "pandas",
    "matplotlib",
    "rich",
    "jinja2",
    "pebble",
    "sqlite3",
    "asyncio",
    "starlette",
    "uvicorn",
)


@pytest.fixture
def failing(monkeypatch):
    """`failing(problem)`: a command `fail` that raises it, for the time of the test."""
    monkeypatch.setattr(app, "registered_commands", list(app.registered_commands))

    def add(problem):
        @app.command()
        def fail():
            raise problem

    return add


def test_the_help_page_names_every_command(shell):
    answer = shell("--help")

    assert answer.code == 0
    for command in app.registered_commands:
        assert (command.name or command.callback.__name__) in answer.out


def test_without_a_command_the_help_page_is_shown_as_wrong_usage(shell):
    answer = shell()

    assert (answer.code, answer.out) == (2, "")
    assert "Usage: ampler" in answer.err


def test_an_unknown_command_is_wrong_usage(shell):
    answer = shell("dessign")

    assert answer.code == 2
    assert "dessign" in answer.err


def test_analyze_is_analyse_in_american_english():
    answers = [
        subprocess.run([sys.executable, "-m", "ampler", word, "--help"], check=False, capture_output=True, text=True)
        for word in ("analyse", "analyze")
    ]
    assert answers[0].stdout == answers[1].stdout
    assert answers[1].returncode == 0


def test_the_version_is_the_package_version(shell):
    assert shell("--version").out == f"ampler {ampler.__version__}\n"


@pytest.mark.parametrize(
    ("problem", "code", "sentence"),
    [
        (InvalidDesign("effect must be positive, got -1"), 1, "ampler: effect must be positive, got -1\n"),
        (WrongUsage("say --vs-one or --vs-all"), 2, "ampler: say --vs-one or --vs-all\n"),
        (KeyboardInterrupt(), 130, ""),
        (FileNotFoundError(2, "No such file or directory", "runs.csv"), 1, "cannot use runs.csv: No such file"),
        (MemoryError(), 1, "not enough memory"),
        (ZeroDivisionError("division by zero"), 1, "a defect in ampler, not in your input (ZeroDivisionError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_a_problem_is_one_sentence_and_an_exit_code_never_a_traceback(shell, failing, problem, code, sentence):
    failing(problem)

    answer = shell("fail")

    assert answer.code == code
    assert sentence in answer.err
    assert answer.err.count("\n") <= 1
    assert "Traceback" not in answer.err
    assert answer.out == ""


def test_a_traceback_can_be_asked_for(failing, monkeypatch):
    failing(ZeroDivisionError())
    monkeypatch.setenv("AMPLER_TRACEBACK", "1")
    monkeypatch.setattr(sys, "argv", ["ampler", "fail"])

    with pytest.raises(ZeroDivisionError):
        main()


def test_a_command_may_leave_with_its_own_exit_code(shell, failing):
    failing(typer.Exit(1))

    assert shell("fail").code == 1


def test_ctrl_c_in_a_real_process_leaves_with_130_and_no_traceback():
    script = (
        "import time, typer; from ampler.app.cli.app import app, main\n"
        "@app.command()\n"
        "def wait():\n"
        "    print('waiting', flush=True); time.sleep(60)\n"
        "import sys; sys.argv = ['ampler', 'wait']; main()"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "waiting\n"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)

    assert child.returncode == 130
    assert "Traceback" not in err


def test_a_reader_that_leaves_early_is_no_error_message():
    script = "import sys; sys.argv = ['ampler', '--help']; from ampler.app.cli import main; main()"
    read, write = os.pipe()
    os.close(read)
    child = subprocess.run([sys.executable, "-c", script], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert child.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "ampler", "--version"]
        child = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert child.returncode == 1
    assert child.stderr == "ampler: the output cannot be written: the disk is full; free space and try again\n"


def test_the_help_page_loads_nothing_heavy(loaded):
    after = loaded("--help")

    assert "Usage: ampler" in after.out
    assert after.modules.isdisjoint(HEAVY)
