"""How the tests of the commands use the shell: in this process, which is quick, or in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from once import once

from ampler.app.shell import main


@dataclass(frozen=True)
class Answer:
    """What a command printed and how it left."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """What was printed, with the line breaks of wrapping taken out."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        """What was printed, read as the one JSON document it must be; NaN and Infinity are not JSON."""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


LOADING = """
import ampler
seen("import ampler")
import ampler.app.shell.app
seen("ampler.app.shell.app")
ampled("--help")
ampled("design", "--comparisons", "21", "--effect", "0.5", "--power", "0.8", "--json")
apart("design", "--comparisons", "21", "--effect", "0.5", "--power", "0.8")
import ampler.report
seen("ampler.report")
import ampler.front
seen("ampler.front")
import ampler.app.shell; ampler.analyse
seen("analyse")
import tempfile
with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
    print("instance,old,=1+1", *(f"i{k},{k},{k + 1 + k % 2}" for k in range(6)), sep="\\n", file=table, flush=True)
    ampled("analyse", table.name, "--difference", "simple", "--better", "lower", "--csv")
"""
STEPS = """
import contextlib, io, json, os, sys
found = {}
def seen(step, out=""):
    found[step] = {"modules": list(sys.modules), "out": out}
def ampled(*words):
    from ampler.app.shell import main
    sys.argv = ["ampler", *words]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    seen(" ".join(word for word in words if not word.startswith("/")), out.getvalue())
def apart(*words):
    reading, writing = os.pipe()
    if os.fork() == 0:
        ampled(*words)
        with open(writing, "w") as telling:
            json.dump(found, telling)
        os._exit(0)
    os.close(writing)
    with open(reading) as told:
        found.update(json.load(told))
    os.wait()
"""


@dataclass(frozen=True)
class Loaded:
    """What a step printed, and the modules that were loaded after it."""

    out: str
    modules: frozenset[str]


@pytest.fixture(scope="session")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Loaded]:
    """`loaded("--help")`: what is loaded after a step of a new Python, and so after those before it but those apart."""

    def steps() -> str:
        code = f"{STEPS}{LOADING}print(json.dumps(found))"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    found = cache(lambda: json.loads(once(tmp_path_factory, "loaded.json", steps)))

    def after(step: str) -> Loaded:
        return Loaded(found()[step]["out"], frozenset(found()[step]["modules"]))

    return after


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """`shell("design", "--power", 0.8)`: the whole command line, in this process."""

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["ampler", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            main()
        captured = capsys.readouterr()
        return Answer(int(leaving.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def apart(shell: Callable[..., Answer], forked: Callable[..., Any]) -> Callable[..., Answer]:
    """`apart("run", "study.toml")`: the same, but what carries a study out does so in a process of its own.

    That is forked for its workers in an eighth of the time that this one takes, which has loaded all tests.
    """

    from warm import CARRYING  # which needs what not every system has

    def run(*arguments: object) -> Answer:
        if arguments[0] not in CARRYING:
            return shell(*arguments)
        done = forked(*arguments)
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`process("design", …)`: the same in a process of its own, as a user has it."""

    def run(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ampler", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **settings)

    return run
