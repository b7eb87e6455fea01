"""A forked command is what a user's own process is: the same words, the same exit code, in its own folder."""

import os
import signal
import subprocess
import sys

import pytest
from warm import Warm


@pytest.mark.parametrize("words", [("--version",), ("dessign",), ("status", "nothing.db")], ids=" ".join)
def test_a_forked_command_says_what_a_process_of_its_own_says(forked, process, tmp_path, words):
    ours, theirs = forked(*words, cwd=tmp_path), process(*words, cwd=tmp_path)

    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


SCRIPT = """
import sys
import __main__
import ampler
from beside import WORDS

class Here:
    pass

print(__name__, Here.__module__, WORDS, sys.argv, hasattr(__main__, "Here"), ampler.__version__)
sys.exit(f"bad {sys.argv[1]}") if len(sys.argv) > 1 else None
"""


@pytest.mark.parametrize("words", [(), ("word",)], ids=["good", "bad"])
def test_a_forked_script_does_what_a_process_of_its_own_does(forked, tmp_path, words):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("WORDS = 'found'")
    command = [sys.executable, "script.py", *words]
    theirs = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    ours = forked("script.py", *words, cwd=tmp_path, program="python")

    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
    assert theirs.stdout.startswith("__main__ __main__ found")


def test_a_forked_command_has_its_own_folder_and_environment_and_leaves_none_to_the_next(forked, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        forked("init", cwd=tmp_path / name)
    told = forked("fail", cwd=tmp_path, env={**os.environ, "AMPLER_TRACEBACK": "1"})

    assert (tmp_path / "one" / "study.toml").read_text() == (tmp_path / "two" / "study.toml").read_text()
    assert "Traceback" in told.stderr
    assert "Traceback" not in forked("fail", cwd=tmp_path).stderr


def test_all_who_ask_share_one_process_and_are_answered_each(warm, tmp_path):
    (tmp_path / "script.py").write_text("import os; print(os.getppid())")
    with Warm() as other:
        first, second = (each.run("script.py", cwd=tmp_path, program="python").stdout for each in (warm, other))
        missing = other.run("status", "nothing.db", cwd=tmp_path)

    assert first == second
    assert missing.returncode == 1
    assert warm.run("--version").returncode == 0


def test_what_is_begun_in_the_background_can_be_read_sent_signals_and_waited_for(warm, tmp_path):
    (tmp_path / "script.py").write_text("import sys, time; print(*sys.argv[1:], flush=True); time.sleep(60)")
    sleeping = warm.begin(tmp_path / "script.py", "a", "word")
    version = warm.ampler("--version", cwd=tmp_path).ended()
    missing = warm.ampler("status", "nothing.db", cwd=tmp_path).ended()

    assert (version.returncode, version.stdout) == (0, warm.run("--version").stdout)
    assert (missing.returncode, missing.stderr.count("nothing.db")) == (1, 1)
    assert sleeping.stdout.readline() == "a word\n"
    assert sleeping.poll() is None
    sleeping.send_signal(signal.SIGTERM)
    assert sleeping.wait(60) == -signal.SIGTERM
    sleeping.close()
    assert warm.start("print(Path('here'))").ended().stdout == "here\n"
