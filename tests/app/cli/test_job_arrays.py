"""The job scripts of the clusters page: their syntax, their directives, and a queue that stands in for the real one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ampler.study.store import read_store

JOBS = Path(__file__).parents[3] / "docs" / "jobs"

# How each queue begins its directives, which of them the script may use, and what it tells a job of itself.
QUEUES = {
    "slurm": ("#SBATCH ", {"--job-name", "--array", "--cpus-per-task", "--time", "--signal"}, "--array"),
    "pbs": ("#PBS ", {"-N", "-J", "-l"}, "-J"),
    "sge": ("#$ ", {"-N", "-t", "-pe", "-l", "-cwd", "-S"}, "-t"),
}
TOLD = {
    "slurm": {"SLURM_ARRAY_TASK_ID": "{index}", "SLURM_CPUS_PER_TASK": "1", "SLURM_SUBMIT_DIR": "{folder}"},
    "pbs": {"PBS_ARRAY_INDEX": "{index}", "NCPUS": "1", "PBS_O_WORKDIR": "{folder}"},
    "sge": {"SGE_TASK_ID": "{index}", "NSLOTS": "1"},
}
STUDY = """
name = "cut"
difference = "simple"
better = "lower"
[rule]
allocation = "fixed"
runs = 2
[[algorithm]]
name = "short"
command = "echo {instance} 1{seed}"
[[algorithm]]
name = "long"
command = "echo {instance} 2{seed}"
[instances]
names = ["i", "j", "k"]
use = "all"
"""


def directives(queue, text):
    """What a script asks of its queue: directives stand before the first command, each an option and its value."""
    prefix = QUEUES[queue][0]
    head = text.split("\nparts=")[0].splitlines()[1:]
    assert all(line.startswith(prefix) for line in head), head
    found = [re.split(r"[ =]", line.removeprefix(prefix), maxsplit=1) for line in head]
    return [(each[0], each[1] if len(each) > 1 else "") for each in found]


def array_of(queue, text):
    """The first and the last number of the array."""
    (asked,) = [value for option, value in directives(queue, text) if option == QUEUES[queue][2]]
    first, last = asked.split("-")
    return int(first), int(last)


def stand_in(queue, script, folder):
    """Send the script: what a queue would do, on this machine, one job after the other."""
    first, last = array_of(queue, script.read_text(encoding="utf-8"))
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "PBS_", "SGE_"))}
    for index in range(first, last + 1):
        told = {name: value.format(index=index, folder=folder) for name, value in TOLD[queue].items()}
        where = folder if queue == "sge" else folder.parent  # Grid Engine changes the folder itself, by -cwd
        yield subprocess.run(
            ["bash", str(script)], env={**ours, **told}, cwd=where, capture_output=True, text=True, check=False
        )


@pytest.mark.parametrize("queue", QUEUES)
def test_a_job_script_is_right_in_syntax_and_asks_its_queue_for_what_it_knows(queue):
    script = JOBS / f"{queue}.sh"
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!/bin/bash\n")
    assert subprocess.run(["bash", "-n", str(script)], capture_output=True, check=False).returncode == 0
    assert {option for option, _ in directives(queue, text)} == QUEUES[queue][1]
    assert array_of(queue, text) == (1, int(re.search(r"^parts=(\d+)", text, re.M)[1]))
    known = set(TOLD[queue]) | {"parts"}
    assert set(re.findall(r"\$([A-Za-z_]+)", text)) <= known  # no variable that the queue does not set


def test_a_directive_that_no_queue_knows_is_seen():
    text = (JOBS / "pbs.sh").read_text(encoding="utf-8").replace("#PBS -J", "#PBS -Jx")
    assert {option for option, _ in directives("pbs", text)} != QUEUES["pbs"][1]


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """`sent(queue, program)`: the folder of a study after its array of two jobs was sent; `program` is their ampler."""

    def send(queue, program):
        folder, commands, script = tmp_path / queue / "study", tmp_path / queue / "bin", tmp_path / queue / "job.sh"
        folder.mkdir(parents=True)
        commands.mkdir()
        (folder / "study.toml").write_text(STUDY, encoding="utf-8")
        script.write_text((JOBS / f"{queue}.sh").read_text(encoding="utf-8").replace("20", "2"), encoding="utf-8")
        (commands / "ampler").write_text(f"#!/bin/bash\n{program}\n", encoding="utf-8")
        (commands / "ampler").chmod(0o755)
        monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
        for job in stand_in(queue, script, folder):
            assert job.returncode == 0, job.stderr
        return folder

    return send


@pytest.mark.slow
@pytest.mark.parametrize("queue", QUEUES)
def test_a_job_array_makes_the_parts_of_the_study(queue, sent, shell):
    folder = sent(queue, f'exec {sys.executable} -m ampler "$@"')

    check_parts(folder, shell)


@pytest.mark.parametrize("queue", QUEUES)
def test_each_job_of_an_array_asks_for_its_part_in_the_folder_of_the_study(queue, sent):
    folder = sent(queue, 'echo "$PWD" "$@" >> asked')

    asked = (folder / "asked").read_text(encoding="utf-8").splitlines()
    assert asked == [f"{folder} run study.toml --part {number}/2 --workers 1" for number in (1, 2)]


def test_what_the_jobs_of_an_array_ask_for_makes_the_parts_of_the_study(sent, shell, monkeypatch):
    folder = sent("slurm", 'echo "$@" >> asked')

    monkeypatch.chdir(folder)
    for asked in (folder / "asked").read_text(encoding="utf-8").splitlines():
        assert shell(*asked.split()).code == 0
    check_parts(folder, shell)


def check_parts(folder, shell):
    """The parts are there, and together they are the study."""
    parts = sorted(folder.glob("study-part-*.db"))
    assert [part.name for part in parts] == [f"study-part-{number}-of-2.db" for number in (1, 2)]
    assert shell("merge", *parts, "-o", folder / "study.db").code == 0
    with read_store(folder / "study.db") as store:
        assert len(list(store.observations())) == 12


def test_the_scheduler_of_the_clusters_page_asks_slurm_for_workers_of_one_thread(monkeypatch):
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    monkeypatch.syspath_prepend(JOBS)
    import cluster

    with cluster.cluster() as workers:
        script = workers.job_script()
    assert "#SBATCH --cpus-per-task=8" in script
    assert "--nthreads 1 " in script
    assert "--nworkers 8 " in script
