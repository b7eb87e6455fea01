"""A system without POSIX locks, fork, limits and /proc can do everything but run commands and keep limits."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import ampler as am

ABSENT = """
import os, select, sys

import psutil  # on such a system it is another build, which needs nothing of what is taken away below

for name in ("fork", "sysconf", "register_at_fork", "pidfd_open", "waitid", "wait4", "killpg", "setpgid", "pread"):
    vars(os).pop(name, None)
vars(select).pop("poll", None)


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource"):
            raise ModuleNotFoundError(f"no module {name}", name=name)


sys.meta_path.insert(0, Absent())
for name in ("fcntl", "resource"):
    sys.modules.pop(name, None)


def refuse_proc(path):
    if isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", os.fsdecode(path))


def without_proc(call):
    def called(path, *arguments, **named):
        refuse_proc(path)
        return call(path, *arguments, **named)

    return called


sys.addaudithook(lambda event, given: refuse_proc(given[0]) if event in ("open", "os.listdir", "os.scandir") else None)
for name in ("stat", "lstat", "readlink", "access"):
    setattr(os, name, without_proc(getattr(os, name)))
"""


@pytest.fixture(scope="module")
def elsewhere():
    """`elsewhere(program, …)`: what a program prints on such a system; it must not complain."""

    def run(program: str | Path, *arguments: object) -> str:
        given = [program] if isinstance(program, Path) else ["-c", ABSENT + program]
        command = [sys.executable, *given, *map(str, arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
        assert ran.stderr == ""
        return ran.stdout

    return run


@pytest.fixture(scope="module")
def frame():
    """Two algorithms on twelve instances, three runs each; `new` is better."""
    rows = [
        {"algorithm": a, "instance": f"i{i}", "value": 10 + i % 3 + shift + 0.1 * ((7 * i + 3 * r) % 5)}
        for i in range(12)
        for a, shift in (("old", 2.0 + i % 2), ("new", 0.0))
        for r in range(3)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("portable")


@pytest.fixture(scope="module")
def table(frame, folder):
    path = folder / "runs.csv"
    frame.to_csv(path, index=False)
    return path


PROC = """
import io
from pathlib import Path

ways = (open, io.open, os.listdir, os.scandir, os.stat, os.lstat, os.readlink, lambda path: os.open(path, os.O_RDONLY),
        lambda path: Path(path).read_text(), lambda path: Path(path).stat())
for way in ways:
    for path in ("/proc", "/proc/self/stat", "/proc/self/mountinfo"):
        try:
            way(path)
        except FileNotFoundError:
            print("absent")
print(os.path.exists("/proc/self/stat"), Path("/proc").is_dir(), os.access("/", os.R_OK), os.path.exists(os.getcwd()))
print(end="\f")
"""

STUDY = """
import ampler as am
from ampler.study.store import open_store
from ampler.testing import SerialExecutor


def plain(instance, seed):
    return instance + seed % 7


def worse(instance, seed):
    return instance + 9


def opened(path):
    try:
        open_store(path).close()
    except am.AmplerError as problem:
        return str(problem)


def study(**said):
    return am.Study(
        algorithms={"plain": plain, "worse": worse}, instances={f"i{k}": 10.0 + k for k in range(4)},
        difference="simple", better="lower", design=am.FixedSize(runs=3, instances="all"), **said,
    )
"""


@pytest.fixture(scope="module")
def verdict(folder):
    """What the study above gives on a system that has everything."""
    made: dict[str, object] = {}
    exec(STUDY, made)
    return made["study"]().run(folder / "here.db", workers=1).comparisons[0].verdict


REFUSED = """
def refused(study, **how):
    try:
        study.run(other, **how)
    except am.AmplerError as problem:
        print(problem)


refused(study())
refused(study(limits=am.Limits(time=5)), executor=SerialExecutor())
commands = {name: am.Command(name, ("solve", "{instance}", "{seed}")) for name in "ab"}
refused(am.Study(algorithms=commands, instances=["x", "y", "z"], difference="simple", better="lower",
                 design=am.FixedSize(runs=2, instances="all")),
        executor=SerialExecutor())
with open_store(other):
    print(pool.submit(opened, other).result())
print(end="\f")
"""

USE = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pandas as pd
from ampler.app.cli import main
from ampler.api import analyse

table, report, here, there, spawned, other = sys.argv[1:]
print(analyse(pd.read_csv(table), difference="simple", better="lower"), end="\f")
print(am.advise(table, difference="simple", better="lower", detect=0.5, start=2), end="\f")
am.write_report(am.analyse(table, difference="simple", better="lower"), report)
print(am.analyse(here).comparisons[0].verdict)
print(study().run(there, executor=SerialExecutor()).comparisons[0].verdict)
print(study().run(there, executor=SerialExecutor()).comparisons[0].verdict, end="\f")
with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
    print(study().run(spawned, executor=pool).comparisons[0].verdict, end="\f")
@REFUSED@
sys.argv = ["ampler", "analyse", table, "--difference", "simple", "--better", "lower"]
main()
"""


def indented(text):
    return text.replace("\n", "\n    ")


@pytest.fixture(scope="module")
def used(elsewhere, table, folder, verdict):
    """What is told there of /proc, by `analyse`, by `advise`, of studies that run and do not, and by the shell."""
    files = (folder / name for name in ("report.md", "here.db", "there.db", "spawned.db", "study.db"))
    program = folder / "program.py"  # which spawned processes load too
    use = indented(PROC + USE.replace("@REFUSED@", indented(REFUSED)))
    program.write_text(f'{ABSENT}{STUDY}\nif __name__ == "__main__":{use}')
    told = elsewhere(program, table, *files)
    asked = ("proc", "analyse", "advise", "study", "spawned", "refused", "shell")
    return dict(zip(asked, told.split("\f"), strict=True))


def test_nothing_of_proc_is_to_be_seen_there(used):
    assert used["proc"].splitlines() == ["absent"] * 30 + ["False False True True"]


def test_the_python_door_opens_and_analyses_a_data_frame(used, frame):
    assert used["analyse"] == f"{am.analyse(frame, difference='simple', better='lower')}"


def test_advice_is_given_and_a_report_written(used, frame, folder):
    assert used["advise"] == f"{am.advise(frame, difference='simple', detect=0.5, start=2, better='lower')}"
    assert (folder / "report.md").read_text().startswith("# Comparison of algorithms\n\n**new is better than old.**")


def test_the_shell_analyses_a_table(used):
    assert used["shell"].startswith(
        "new is better than old.\nvalue, lower is better; 12 instances, 2 algorithms, 72 runs, 0 failed"
    )


def test_a_study_file_is_read_and_a_study_is_run_by_this_process(used, verdict):
    assert used["study"].splitlines() == [verdict] * 3


def test_spawned_processes_make_the_runs(used, verdict):
    assert used["spawned"].splitlines() == [verdict]


def test_what_such_a_system_cannot_do_is_refused_in_a_sentence(used):
    told = used["refused"].splitlines()

    assert told[0].startswith("local workers need a system with fork")
    assert told[1].startswith("a time limit needs Linux or macOS")
    assert told[2].startswith("algorithm 'a' is a command, and commands need")
    assert told[3].startswith("study.db is being run by another process")


QUICK = (
    *("core/test_text.py", "core/test_settings.py", "analysis/test_units.py", "analysis/test_tables.py"),
    *("data/tables/test_columns.py", "app/cli/test_output.py"),
)
PORTABLE = (
    *QUICK,
    "report/test_tables.py",
    "design/test_words.py",
    "sampling/test_allocation.py",
)


@pytest.mark.parametrize("names", [QUICK, pytest.param(PORTABLE, marks=pytest.mark.slow)], ids=["quick", "all"])
def test_the_portable_half_of_the_suite_passes_there(elsewhere, names):
    tests = Path(__file__).parent
    told = elsewhere(
        """
import multiprocessing

import pytest

multiprocessing.set_start_method("spawn")
files = sys.argv[1:]
others = ("randomly", "xdist", "cacheprovider", "anyio")  # plugins, of which some need what is absent
sys.exit(pytest.main(["-q", "-x", "-m", "not slow", *(f"-pno:{name}" for name in others), *files]))
""",
        *(tests / name for name in names),
    )
    assert re.search(r"^\d+ passed", told, re.MULTILINE), told
    assert "failed" not in told
