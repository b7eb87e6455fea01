"""Other users of the machine, and an environment that is not as usual: nothing is open to them, nothing is broken."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

import commands
import psutil
import pytest

from ampler.core.threads import VARIABLES
from ampler.study.store import read_store

STUDY = """
difference = "simple"
better = "lower"
[rule]
allocation = "fixed"
runs = 1
[[algorithm]]
name = "function"
python = "solvers:threads"
[[algorithm]]
name = "command"
command = "sh -c 'echo ${OMP_NUM_THREADS:-7}' {instance}"
[instances]
names = ["i", "j"]
use = "all"
"""
SOLVERS = "import os\ndef threads(instance, seed):\n    return int(os.environ['OMP_NUM_THREADS'])\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in VARIABLES:  # of a user who has set one of them, the others are left alone
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "solvers.py").write_text(SOLVERS)
    return tmp_path


@pytest.mark.parametrize("engine", [(), ("--dask", "local")], ids=["pool", "dask"])
@pytest.mark.parametrize("threads", [None, "3"])
def test_functions_have_one_thread_of_numerical_libraries_and_commands_what_the_user_has_set(folder, engine, threads):
    if engine:
        pytest.importorskip("cryptography")
    environment = {name: text for name, text in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"OMP_NUM_THREADS": threads} if threads else {}

    done = commands.process("run", "study.toml", "--workers", 1, *engine, cwd=folder, env=environment)

    assert done.returncode == 0, done.stderr
    with read_store(folder / "study.db") as store:
        values = {(run.key.algorithm, run.value) for run in store.observations()}
    assert values == {("function", float(threads or 1)), ("command", float(threads or 7))}


LISTENING = """
import os, sys, time
from ampler.running.engines.dask import dask_cluster
if __name__ == "__main__":
    with dask_cluster("local", workers=1) as client:
        print(client.scheduler.address, flush=True)
        sys.stdin.read()
"""


def test_a_local_dask_cluster_talks_to_nobody_without_its_certificate(tmp_path, start):
    pytest.importorskip("cryptography")
    distributed = pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(LISTENING)
    cluster = start("cluster.py", program=commands.PYTHON, cwd=tmp_path, stdin=commands.subprocess.PIPE)
    address = cluster.stdout.readline().strip()
    processes = [psutil.Process(cluster.pid), *psutil.Process(cluster.pid).children(recursive=True)]
    ports = [at.laddr.port for each in processes for at in each.net_connections() if at.status == "LISTEN"]

    assert address.startswith("tls://")
    with pytest.raises((OSError, TypeError)):
        distributed.Client(address.replace("tls", "tcp"), timeout=3, set_as_default=False)
    for port in ports:
        for path in ("info/main/workers.html", "json/counts.json", "info/main/logs.html", "api/v1/retire_workers"):
            with pytest.raises((OSError, urllib.error.URLError)):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5)


TABLE = "algorithm,instance,value\n" + "".join(f"{name},i{n},{n}.5{n}\n" for n in range(6) for name in "ab")
REPORT = ("report", "runs.csv", *("--difference", "simple", "--better", "lower"), "-o", "out.html")
FIGURES = (*REPORT, "--figures", "figures", "--figure-format", "png")


@pytest.fixture
def results(tmp_path):
    (tmp_path / "runs.csv").write_text(TABLE)
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: nonsense\n")
    return tmp_path


@pytest.mark.parametrize(
    "environment",
    [
        {"MPLBACKEND": "nonsense"},
        {"MPLBACKEND": "module://matplotlib_inline.backend_inline"},
        {"MATPLOTLIBRC": "."},
        {"HOME": "/nonexistent", "TMPDIR": "/nonexistent"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        *({"COLUMNS": str(columns)} for columns in (1, 2, 5, 40)),
    ],
    ids=str,
)
def test_no_environment_breaks_a_report(results, environment):
    done = commands.process(*FIGURES, cwd=results, env=os.environ | environment)

    assert done.returncode == 0, done.stderr
    assert (results / "figures" / "intervals.png").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_break_no_command_and_nothing_is_written_into_files_in_their_place(results, closed):
    words = " ".join([*commands.AMPLER, *REPORT])

    done = commands.process("-c", f"{words} {closed}", program=("sh",), cwd=results)

    assert done.returncode == 0, done.stderr
    assert (results / "out.html").read_text().startswith("<!doctype html>")


def test_runs_are_exported_to_the_terminal(folder):
    made = commands.process("run", "study.toml", cwd=folder)
    assert made.returncode == 0, made.stderr

    done = commands.process("export", "study.db", "/dev/stdout", cwd=folder)

    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 + 4
    assert done.stdout.startswith("instance,")


def test_a_study_definition_that_is_nested_too_deep_is_one_sentence(shell, tmp_path):
    (tmp_path / "study.toml").write_text(f"a = {'[' * 100_000}")

    answer = shell("run", tmp_path / "study.toml")

    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "ampler: study.toml has brackets within brackets too deep to be read; remove some\n"


PRINTING = """
import atexit, os, sys
print("while it is imported")
os.write(1, b"past all streams")
atexit.register(print, "at the end")
def threads(instance, seed):
    print("in a run")
    return {"value": 1.0 + seed % 7, "\\ud800": 2.0}
"""


@pytest.mark.parametrize("command", ["check", "next"])
def test_only_the_document_of_json_goes_to_stdout(folder, command):
    (folder / "solvers.py").write_text(PRINTING)
    done = commands.process(command, "study.toml", "--json", cwd=folder)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema_version"] == 1
    assert "at the end" in done.stderr


@pytest.mark.parametrize("statement", ["sys.stdout = sys.stderr = None", "sys.path[:] = []", "sys.exit = None"])
def test_what_a_module_replaces_while_it_is_imported_is_put_back(folder, statement):
    (folder / "solvers.py").write_text(PRINTING + statement)
    for command in ("check", "run"):
        done = commands.process(command, "study.toml", cwd=folder)

        assert done.returncode == 0, done.stderr
        assert "Next: ampler" in done.stdout


@pytest.mark.parametrize("statement", ["sys.exit(0)", "os._exit(0)", "raise SystemExit", "raise BaseException"])
def test_a_module_that_leaves_while_it_is_imported_is_one_sentence(folder, statement):
    (folder / "solvers.py").write_text(f"import os, sys\n{statement}\n")
    for command in ("check", "run"):
        done = commands.process(command, "study.toml", cwd=folder)

        assert (done.returncode, done.stdout) == (1, "")
        assert "module 'solvers' cannot be imported" in done.stderr
        assert len(done.stderr.splitlines()) == 1
