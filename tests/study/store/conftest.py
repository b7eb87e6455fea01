"""What the tests of study files share: a path, other processes, and stores with runs in them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from textwrap import dedent

import pytest
from elsewhere import PRELUDE

from ampler.core.values import Observation, RunKey
from ampler.study.store import open_store
from ampler.testing import contract_plan


@pytest.fixture
def study(tmp_path):
    return tmp_path / "study.db"


@pytest.fixture
def start_elsewhere(another):
    """Start code in a process of its own; what still runs at the end is ended."""
    started = []

    def start(code):
        started.append(another.start(dedent(code)))
        return started[-1]

    yield start
    for process in started:
        process.close()


@pytest.fixture
def elsewhere(start_elsewhere):
    """Run code in a process of its own and wait for its end; with a mount in one that starts with it."""

    def run(code, *, mount=""):
        if not mount:
            return start_elsewhere(code).ended()
        command = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", sys.executable, "-c"]
        return subprocess.run(
            [*command, PRELUDE + dedent(code)], capture_output=True, text=True, timeout=120, check=False
        )

    return run


@pytest.fixture
def own_mounts():
    """Skip where a process may not have file systems of its own."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("needs Linux user namespaces")


@pytest.fixture(scope="session")
def runs():
    """`runs(number)`: runs of "a" on "i1", or of another algorithm, from the first on."""

    def make(number, *, algorithm="a", first=0):
        return [Observation(RunKey("i1", algorithm, index), index / 2) for index in range(first, first + number)]

    return make


@pytest.fixture(scope="session")
def filled(runs):
    """`filled(path, number)`: make a study file with so many runs."""

    def fill(path, number):
        with open_store(path) as store:
            store.begin(contract_plan(), {})
            store.add(runs(number))

    return fill


@pytest.fixture(scope="session")
def begun():
    """`with begun(path) as store`: a study file in which a plan is begun."""

    @contextmanager
    def begin(path):
        with open_store(path) as store:
            store.begin(contract_plan(), {})
            yield store

    return begin
