"""Executors of other people: each records what one process records, or is said to be absent."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from small_plans import SERIAL, recorded

from ampler.running.engines import capacity_of


def loky_executor():
    loky = pytest.importorskip("loky", reason="loky is not installed")
    return loky.ProcessPoolExecutor(2)


KINDS = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    "loky": loky_executor,
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_executor_records_what_one_process_records(kind):
    with KINDS[kind]() as executor:
        assert capacity_of(executor) == 2
        assert recorded(executor) == recorded(SERIAL)


SCRIPT = """
import sys
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    sys.path.insert(0, {folder!r})
    from small_plans import SERIAL, recorded

    with MPIPoolExecutor() as executor:
        given = recorded(executor)
    print("the same" if given == recorded(SERIAL) and given else "others", len(given))
"""

ANYWHERE = {  # Open MPI wants a core for each process, and no root, as people are in containers; others do not ask
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def test_the_executor_of_mpi_records_what_one_process_records(tmp_path):
    """Three processes of an MPI job, one of which is the driver."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    start = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if start is None:
        pytest.skip("mpi4py is installed, but there is no mpiexec")
    script = tmp_path / "study.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parents[2] / "helpers")), encoding="utf-8")
    job = [start, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script)]
    ended = subprocess.run(job, capture_output=True, text=True, timeout=120, check=False, env=os.environ | ANYWHERE)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("the same"), ended.stdout
