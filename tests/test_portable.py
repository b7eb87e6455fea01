"""A system without POSIX locks, fork and limits can design, analyse, advise and report: only running needs them."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest

import ampler as am

ABSENT = """
import os, select, sys

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
"""


@pytest.fixture
def elsewhere():
    """`elsewhere(program, …)`: what a program prints on such a system; it must not complain."""

    def run(program: str, *arguments: object) -> str:
        command = [sys.executable, "-c", ABSENT + program, *map(str, arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert ran.stderr == ""
        return ran.stdout

    return run


@pytest.fixture
def frame():
    """Two algorithms on twelve instances, three runs each; `new` is better."""
    rows = [
        {"algorithm": a, "instance": f"i{i}", "value": 10 + i % 3 + shift + 0.1 * ((7 * i + 3 * r) % 5)}
        for i in range(12)
        for a, shift in (("old", 2.0 + i % 2), ("new", 0.0))
        for r in range(3)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def table(frame, tmp_path):
    path = tmp_path / "runs.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_python_door_opens_and_analyses_a_data_frame(elsewhere, frame, table):
    told = elsewhere(
        """
import pandas as pd
from ampler.front import analyse
print(analyse(pd.read_csv(sys.argv[1]), difference="simple", better="lower"))
""",
        table,
    )
    assert told == f"{am.analyse(frame, difference='simple', better='lower')}\n"


def test_advice_is_given_and_a_report_written(elsewhere, frame, table, tmp_path):
    told = elsewhere(
        """
import ampler as am
print(am.advise(sys.argv[1], difference="simple", detect=0.5, start=2))
am.write_report(sys.argv[1], sys.argv[2], difference="simple", better="lower")
""",
        table,
        tmp_path / "report.md",
    )
    assert told == f"{am.advise(frame, difference='simple', detect=0.5, start=2)}\n"
    assert (tmp_path / "report.md").read_text().startswith("# runs")


def test_the_shell_analyses_a_table(elsewhere, table):
    told = elsewhere(
        """
sys.argv[:1] = ["ampler", "analyse"]
from ampler.app.shell import main
main()
""",
        table,
        *("--difference", "simple", "--better", "lower"),
    )
    assert told.startswith("1 of 1 pairs differ on 12 instances")


def test_a_study_file_is_read_and_writing_one_is_refused_in_a_sentence(elsewhere, tmp_path):
    file = tmp_path / "study.db"
    study = am.Study(
        algorithms={"plain": lambda instance, seed: instance + seed % 7, "worse": lambda instance, seed: instance + 9},
        instances={f"i{k}": 10.0 + k for k in range(4)},
        difference="simple",
        rule=am.Fixed(runs=3),
        use="all",
    )
    verdict = study.run(file, workers=1).comparisons[0].verdict

    told = elsewhere(
        """
import ampler as am
print(am.analyse(sys.argv[1]).comparisons[0].verdict)
try:
    am.open_store(sys.argv[1])
except am.AmplerError as problem:
    print(problem)
""",
        file,
    )
    assert told.splitlines() == [
        verdict,
        "writing a study file needs POSIX file locks, which this system lacks; run the study on Linux or macOS",
    ]
