"""Fixture of the tests of commands: what a step loads."""

from types import SimpleNamespace

import commands
import pytest

RUN = """
import os, sys
sys.argv = ["ampler", *sys.argv[1:]]
try:
    {code}
finally:
    os.write(2, " ".join(sys.modules).encode())
"""


@pytest.fixture(scope="session")
def loaded():
    """`loaded("design", "--json")`: output of a command, or of `code`, in a new Python, and the modules loaded then."""

    def run(*words, code="from ampler.app.cli import main; main()"):
        ran = commands.process("-c", RUN.format(code=code), *words, program=commands.PYTHON)
        return SimpleNamespace(out=ran.stdout, modules=frozenset(ran.stderr.split()))

    return run
