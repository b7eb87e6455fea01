"""How the tests of the commands use the shell: in this process, which is quick, or in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

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
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`process("design", …)`: the same in a process of its own, as a user has it."""

    def run(*arguments: object, **settings: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ampler", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **settings)

    return run
