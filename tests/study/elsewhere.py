"""Code in processes of its own, without the time that Python takes to load what studies need.

`Elsewhere` starts one process that has loaded the store; it forks itself for each piece of code, script or command.
Nothing that this process holds, such as the lock of a study, is known there.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

import typer.main

# What code elsewhere starts with.
PRELUDE = """
import os, resource, signal, sys, time
from pathlib import Path
from ampler.core.errors import *
from ampler.core.values import *
from ampler.study.store import *
from ampler.testing import contract_plan
"""
RUNS = 1000  # no exit code


class Elsewhere:
    """A process that has loaded the store and more modules, and forks itself for what it is given."""

    def __init__(self, *modules: str) -> None:
        self._asking, there = socket.socketpair()
        with there:
            command = [sys.executable, __file__, str(there.fileno()), *modules]
            self._server = subprocess.Popen(
                command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self._asking.close()  # then it leaves
        self._server.wait()

    def start(self, code: str) -> Process:
        """Start code there."""
        return Process(self, {"code": code})

    def script(self, path: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a script in its folder, as `python SCRIPT WORDS` would, and wait for its end."""
        return self.begin(path, *words).ended()

    def begin(self, path: Path, *words: str) -> Process:
        """Start a script in its folder."""
        return Process(self, {"script": path.name, "cwd": str(path.parent), "words": words})

    def ampler(self, *words: object, cwd: Path, env: dict[str, str] | None = None) -> Process:
        """Start `ampler WORDS` in a session of its own; what of it was started anew has the environment, too."""
        asked = {"ampler": [*map(str, words)], "cwd": str(cwd), "env": {**(env or os.environ)}}
        return Process(self, asked)

    def answer(self, asked: dict[str, Any], files: tuple[int, ...] = ()) -> int:
        """Ask the process, which answers everything with a number."""
        socket.send_fds(self._asking, [f"{json.dumps(asked)}\n".encode()], files)
        return int(self._asking.recv(64))


class Process:
    """A piece of code that runs elsewhere: what there is of `subprocess.Popen` that tests use."""

    def __init__(self, there: Elsewhere, asked: dict[str, Any]) -> None:
        self._there, self.args = there, asked
        self.returncode: int | None = None
        reading, writing = os.pipe()
        self.stdout = os.fdopen(reading, encoding="utf-8")
        self._errors = tempfile.TemporaryFile(mode="r", encoding="utf-8")  # noqa: SIM115  (closed with the process)
        self.pid = there.answer(asked, (writing, self._errors.fileno()))
        os.close(writing)

    def kill(self) -> None:
        """End it, if it still runs."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)  # until it is waited for, nobody else has its number

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        if self.returncode is None and (told := self._there.answer({"poll": self.pid})) != RUNS:
            self.returncode = told
        return self.returncode

    def wait(self, seconds: float | None = None) -> int:
        """Wait for its end."""
        if seconds is not None and not self._ends_within(seconds):
            raise subprocess.TimeoutExpired([str(self.args)], seconds)
        if self.returncode is None:
            self.returncode = self._there.answer({"wait": self.pid})
        return self.returncode

    def _ends_within(self, seconds: float) -> bool:
        """Wait for its end for a while, without asking for it again and again where the kernel tells of it."""
        until = time.monotonic() + seconds
        if self.poll() is None and hasattr(os, "pidfd_open"):
            death = os.pidfd_open(self.pid)  # until it is waited for, nobody else has its number
            select.select([death], [], [], seconds)
            os.close(death)
        while self.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        return self.poll() is not None

    def communicate(self) -> tuple[str, str]:
        """Return all that it says until its end, and close."""
        with self.stdout, self._errors:
            out = self.stdout.read()
            self.wait()
            self._errors.seek(0)
            return out, self._errors.read()

    def ended(self) -> subprocess.CompletedProcess[str]:
        """Wait for its end, as `subprocess.run` does."""
        out, err = self.communicate()
        return subprocess.CompletedProcess([str(self.args)], self.wait(), out, err)

    def close(self) -> None:
        """End it and close what it wrote to."""
        self.kill()
        self.wait()
        self.stdout.close()
        self._errors.close()


def serve(telling: socket.socket, *modules: str) -> None:
    """Fork for what is asked, and tell how it ended when that is asked."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(PRELUDE, names)
    for module in modules:
        loaded = importlib.import_module(module)
        if hasattr(loaded, "app"):
            read_commands(loaded.app)
    gc.freeze()  # what is loaded is no garbage, and its pages stay shared
    while True:
        message, files, _, _ = socket.recv_fds(telling, 1 << 16, 2)
        if not message:
            return
        asked = json.loads(message)
        if "wait" in asked or "poll" in asked:
            answer = ending(asked.get("wait") or asked["poll"], 0 if "wait" in asked else os.WNOHANG)
        elif (answer := os.fork()) == 0:
            telling.close()
            become(asked, names, files)
        for file in files:
            os.close(file)
        telling.send(str(answer).encode())


def read_commands(app: typer.Typer) -> None:
    """Have typer read the signatures of all commands, once for all, and load what it reads words with."""
    made = typer.main.get_command(app)
    typer.main.get_command = lambda app: made
    with redirect_stdout(None):
        app(["--version"], standalone_mode=False)


def ending(pid: int, how: int) -> int:
    """The exit code of a process, or RUNS."""
    ended, status = os.waitpid(pid, how)
    return os.waitstatus_to_exitcode(status) if ended else RUNS


def become(asked: dict[str, Any], names: dict[str, Any], files: list[int]) -> NoReturn:
    """Carry it out; never come back."""
    leaving = SystemExit()
    try:
        carry_out(asked, names, files)
    except SystemExit as said:
        leaving = said
    except BaseException as problem:
        sys.excepthook(type(problem), problem, problem.__traceback__)
        leaving = SystemExit(1)
    leave(leaving)


def leave(leaving: SystemExit) -> NoReturn:
    """Leave as the interpreter does, but without tearing down all that was loaded: each page would be copied first."""
    code = leaving.code or 0
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


def carry_out(asked: dict[str, Any], names: dict[str, Any], files: list[int]) -> None:
    """Do what is asked, in a process of its own."""
    for number, file in enumerate(files, start=1):
        os.dup2(file, number)
        os.close(file)
    if "ampler" in asked:
        os.setsid()
        sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ  # which Python reads when it starts
        os.chdir(asked["cwd"])
        sys.path[0] = asked["cwd"]
        sys.argv = ["ampler", *asked["ampler"]]
        runpy.run_module("ampler", run_name="__main__", alter_sys=True)
    elif "code" in asked:
        exec(asked["code"], names)
    else:
        os.chdir(asked["cwd"])
        sys.path[0] = asked["cwd"]
        sys.argv = [asked["script"], *asked["words"]]
        runpy.run_path(asked["script"], run_name="__main__")


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
