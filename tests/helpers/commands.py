"""Commands of ampler in this process, which is quick, and in processes of their own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import weakref
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest import mock

AMPLER = (sys.executable, "-m", "ampler")
PYTHON = (sys.executable,)


@dataclass(frozen=True)
class Answer:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """The output without the line breaks of wrapping."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        """The output, read as one JSON document; NaN and Infinity are not JSON."""
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def ampler(*arguments: object, cwd: os.PathLike[str] | str = ".", env: dict[str, str] | None = None) -> Answer:
    """Run a command in this process."""
    from ampler.app.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2))
    argv = mock.patch.object(sys, "argv", ["ampler", *map(str, arguments)])
    environment = mock.patch.dict(os.environ, env or {}, clear=env is not None)
    with argv, environment, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    return Answer(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def process(
    *arguments: object, program: tuple[str, ...] = AMPLER, timeout: float = 120, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [*program, *map(str, arguments)]
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **options)


def start(*arguments: object, program: tuple[str, ...] = AMPLER, **options: Any) -> subprocess.Popen[str]:
    """Start a command in a process and session of its own; its pipes are closed with it at the latest."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {"text": True, "start_new_session": True, **pipes, **options}
    process = subprocess.Popen([*program, *map(str, arguments)], **options)
    for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
        weakref.finalize(process, pipe.close)
    return process


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process if it still runs, and close its pipes."""
    process.kill()
    process.wait()
    for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
        pipe.close()
