"""Commands in processes of their own, without the second that Python takes to load all they need.

`Warm` starts one process that has loaded everything; it forks itself for each command. What is tested is a process as
a user has it, with its own exit code, streams, folder and environment, started where `python -m ampler` or
`python script.py` begins.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

LOADED = (  # what the commands load, sooner or later
    *("numpy", "scipy.special", "scipy.optimize", "pandas", "sqlite3", "jinja2", "rich.console", "rich.table"),
    *("rich.progress_bar", "matplotlib.figure", "matplotlib.backends.backend_svg", "ampler.app.shell", "ampler.front"),
    *("ampler.study.toml", "ampler.study.store", "ampler.study.words", "ampler.running.check", "ampler.report"),
    *("ampler.report.html", "ampler.analysis", "ampler.design.words", "ampler.app.shell.progress"),
    *("ampler.analysis.text", "ampler.analysis.advice", "ampler.data.imports", "ampler.data.export", "email.parser"),
    *("ampler.design.assurance", "ampler.design.cost", "multiprocessing.popen_fork", "multiprocessing.sharedctypes"),
    *("matplotlib.pyplot", "encodings.unicode_escape", "encodings.utf_8_sig"),
)


class Warm:
    """A process that has loaded everything and carries commands out, one after the other."""

    def __init__(self) -> None:
        command = [sys.executable, __file__]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()  # at the end of its input it leaves

    def run(
        self,
        *words: object,
        cwd: os.PathLike[str] | str = ".",
        env: dict[str, str] | None = None,
        program: str = "ampler",
        figures: Sequence[str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Carry out `ampler WORDS`, or `python WORDS`, as `subprocess.run(…, capture_output=True, text=True)` would.

        With `figures`, pages have those of these sections only.
        """
        arguments = [program, *map(str, words)]
        with tempfile.TemporaryDirectory() as folder:
            asked = {"words": arguments, "cwd": os.path.abspath(cwd), "env": {**(env or os.environ)}, "into": folder}
            asked["figures"] = figures
            code = self._answer(asked)
            out, err = (Path(folder, name).read_text(encoding="utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(arguments, code, out, err)

    def _answer(self, asked: dict[str, Any]) -> int:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(f"{json.dumps(asked)}\n")
        self._server.stdin.flush()
        return int(json.loads(self._server.stdout.readline()))


def serve() -> None:
    """Carry out what is asked, line by line."""
    for name in LOADED:
        importlib.import_module(name)
    read_commands()
    gc.freeze()  # what is loaded is no garbage, and its pages stay shared
    asking, telling = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in asking:
        child = os.fork()
        if child == 0:
            asking.close()
            telling.close()
            carry_out(**json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=telling, flush=True)


def read_commands() -> None:
    """Have typer read the signatures of all commands and load what it reads words with."""
    import typer.main

    from ampler.app.shell.app import app

    made = typer.main.get_command(app)
    typer.main.get_command = lambda _: made
    with redirect_stdout(None):
        app(["--version"], standalone_mode=False)


def carry_out(*, words: list[str], cwd: str, env: dict[str, str], into: str, figures: list[str] | None) -> None:
    """Become the command; never come back."""
    wanted = ((os.devnull, os.O_RDONLY), *((f"{into}/{name}", os.O_WRONLY | os.O_CREAT) for name in ("out", "err")))
    for number, (path, how) in enumerate(wanted):
        opened = os.open(path, how)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path[0] = cwd
    if figures is not None:
        draw_only(figures)
    try:
        become(words)
    except SystemExit as leaving:
        leave(leaving)


def draw_only(sections: list[str]) -> None:
    """Leave the figures of other sections out of pages."""
    from ampler.report import html

    drawings = html.drawings
    html.drawings = lambda analysis: (each for each in drawings(analysis) if each.section in sections)


def become(words: list[str]) -> NoReturn:
    """Do what `python -m ampler WORDS` or `python WORDS` does."""
    if words[0] == "python":
        sys.argv = words[1:]
        runpy.run_path(words[1], run_name="__main__")
        sys.exit()
    sys.argv = words
    runpy.run_module("ampler", run_name="__main__", alter_sys=True)
    sys.exit()


def leave(leaving: SystemExit) -> NoReturn:
    """Leave as the interpreter does, but without tearing down all that was loaded: each page would be copied first."""
    code = leaving.code or 0
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    serve()
