"""What the tests of study files share: a path, other processes, and stores with runs in them."""

from __future__ import annotations

from contextlib import contextmanager
from textwrap import dedent

import pytest
from commands import PYTHON

from ampler.core.runs import Observation, RunKey
from ampler.study.store import open_store
from ampler.testing import contract_plan


@pytest.fixture
def study(tmp_path):
    return tmp_path / "study.db"


PRELUDE = """
import os, resource, signal, sys, time
from pathlib import Path
from ampler.core.errors import *
from ampler.core.plan import *
from ampler.core.runs import *
from ampler.study.store import *
from ampler.testing import contract_plan
"""


@pytest.fixture
def start_elsewhere(start):
    """Start code in a process of its own."""
    return lambda code: start("-c", PRELUDE + dedent(code), program=PYTHON)


@pytest.fixture
def elsewhere(process):
    """Run code in a process of its own and wait for its end; with a mount in one that starts with it."""

    def run(code, *, mount=""):
        mounted = ("unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh") if mount else ()
        return process("-c", PRELUDE + dedent(code), program=(*mounted, *PYTHON))

    return run


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
