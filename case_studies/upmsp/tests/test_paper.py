"""`upmsp-paper` from design to page; killed in the middle, it goes on and gives the same runs."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from ampler.study.store import read_store
from ampler_upmsp import published
from ampler_upmsp.instance import generate_instance, write_instance
from ampler_upmsp.paper import main


@pytest.fixture(scope="module")
def instances(tmp_path_factory):
    """Four small instances as files: enough to be analysed, quick to solve, and estimated well after few runs."""
    folder = tmp_path_factory.mktemp("instances")
    for replicate in range(1, 5):
        instance = generate_instance(20, 2, 9, seed=replicate)
        write_instance(instance, folder / f"{instance.name}.txt")
    return folder


def recorded(path):
    with read_store(path) as store:
        return {run.key: run.value for run in store.observations()}


def options(instances):
    return ["--instances", str(instances), "--iterations", "8000", "--workers", "2"]


@pytest.fixture(scope="module")
def whole(instances, few_figures, tmp_path_factory):
    """Both experiments from beginning to end: the folder, and what was said."""
    output = tmp_path_factory.mktemp("whole")
    with redirect_stdout(StringIO()) as said:
        assert main([*options(instances), "--output", str(output)]) == 0
    return output, said.getvalue()


def test_both_experiments_go_from_design_to_a_page_beside_the_paper(whole):
    output, said = whole
    assert "57 are needed" in said
    assert "of 21 null hypotheses" in said
    assert "of 7 null hypotheses" in said
    page = (output / "index.html").read_text(encoding="utf-8")
    assert "<strong>57 instances</strong>" in page
    assert all(f"<td>{row.variant}</td>" in page for row in (*published.FIRST, *published.SECOND))
    shown = [part.partition('"')[0] for part in page.split('src="')[1:]]
    assert len(shown) == 8
    assert all((output / name).stat().st_size > 1000 for name in [*shown, "first.html", "second.html"])
    table = (output / "second-beside-the-paper.md").read_text(encoding="utf-8")
    assert all(row.variant in table for row in published.SECOND)


@pytest.mark.parametrize(("experiment", "kills"), [("second", 1), pytest.param("first", 3, marks=pytest.mark.slow)])
def test_killed_in_the_middle_it_goes_on_and_ends_with_the_same_runs(instances, whole, tmp_path, experiment, kills):
    """The driver is killed without a warning, each time when it has made further runs."""
    arguments = [*options(instances), "--only", experiment, "--output", str(tmp_path)]
    command, database = [sys.executable, "-m", "ampler_upmsp.paper", *arguments], f"{experiment}.db"
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as driver:
            wait_for_runs(tmp_path / database, more=60)
            driver.send_signal(signal.SIGKILL)
            driver.wait()
        wait_for_the_end_of(driver.pid)
    interrupted = recorded(tmp_path / database)
    assert len(interrupted) >= 60 * kills
    assert not (tmp_path / "index.html").exists()
    assert main(arguments) == 0
    finished = recorded(tmp_path / database)
    assert finished == recorded(whole[0] / database)
    assert interrupted.items() < finished.items()
    for name in (f"{experiment}.csv", f"{experiment}-beside-the-paper.md"):
        assert (tmp_path / name).read_text() == (whole[0] / name).read_text()
    page = (tmp_path / "index.html").read_text()
    assert main(arguments) == 0  # again: nothing is left to run
    assert recorded(tmp_path / database) == finished
    assert (tmp_path / "index.html").read_text() == page


def wait_for_runs(path, *, more):
    """Return when the study file holds so many runs more than at the beginning."""
    at_first = count(path)
    deadline = time.monotonic() + 120
    while count(path) < at_first + more:
        assert time.monotonic() < deadline, "no runs are made"
        time.sleep(0.01)


def count(path):
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM run").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def wait_for_the_end_of(session):
    """Return when no process of the session is left: workers notice that their driver is gone."""
    deadline = time.monotonic() + 20
    while processes_of(session):
        assert time.monotonic() < deadline, f"processes {processes_of(session)} outlived their driver"
        time.sleep(0.05)


def processes_of(session):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, owner = status.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(owner) == session and state != "Z":
            found.append(int(status.parent.name))
    return found


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(["--instances", "nowhere"], "must hold files"), (["--output", "/dev/null/x"], "Not a directory")],
)
def test_what_cannot_be_is_told_in_a_sentence(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_numbers_below_one_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--iterations", "0"])
    assert "at least 1" in capsys.readouterr().err
