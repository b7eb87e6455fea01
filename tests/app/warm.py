"""Commands in processes of their own, without the second that Python takes to load all they need.

`Warm` asks one process that has loaded what they need, which all workers of a run of the tests share; it forks itself
for each command. There is one for the commands that carry studies out, whose processes are forked again for workers and
for runs with limits, and one for all others, which has loaded nearly three times as much. What is tested is a process
as a user has it, with its own exit code, streams, folder and environment, started where `python -m ampler` or
`python script.py` begins.
"""

from __future__ import annotations

import fcntl
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
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from elsewhere import PRELUDE, RUNS, Elsewhere, ending, leave, read_commands
from elsewhere import become as become_elsewhere

CARRYING = ("run", "check")  # the commands that carry studies out
RUNNING = (  # what these load
    *("numpy", "scipy.special", "sqlite3", "rich.console", "rich.table", "rich.progress_bar", "ampler.app.shell"),
    *("ampler.app.shell.progress", "ampler.study.toml", "ampler.study.store", "ampler.study.words"),
    *("ampler.study.detect_rule", "ampler.study.fairness", "ampler.running.check", "ampler.running.driver"),
    *("multiprocessing.popen_fork", "multiprocessing.sharedctypes", "encodings.unicode_escape", "encodings.utf_8_sig"),
)
SHOWING = (  # what others load, sooner or later
    *("scipy.optimize", "scipy.interpolate", "pandas", "jinja2", "matplotlib.figure", "matplotlib.pyplot"),
    *("matplotlib.backends.backend_svg", "ampler.front", "ampler.report", "ampler.report.html", "ampler.analysis"),
    *("ampler.analysis.text", "ampler.analysis.advice", "ampler.data.imports", "ampler.data.export", "email.parser"),
    *("ampler.design.words", "ampler.design.assurance", "ampler.design.cost", "ampler.design.noise", "asyncio"),
    *("ampler.app.web.server", "uvicorn", "uvicorn.protocols.http.auto", "uvicorn.loops.auto", "uvicorn.lifespan.off"),
)
LOADED = {"runs": RUNNING, "all": (*RUNNING, *SHOWING)}  # a process that has loaded less is forked in less time
FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "study")]  # of this and of `elsewhere`
HERE = b"here"  # how the process greets


class Warm(Elsewhere):
    """Asks the process that has loaded what commands need to carry them out, one after the other.

    What is started as `Elsewhere` starts it goes on in the background.
    """

    def __init__(self, loaded: str = "all") -> None:
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        self._loaded, self._address = loaded, os.path.join(tempfile.gettempdir(), f"ampler-warm-{loaded}-{run}")
        self._server: subprocess.Popen[bytes] | None = None
        with open(f"{self._address}.lock", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            self._asking = self._connected() or self._started()

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        self._asking.close()
        if self._server is not None:
            self._server.wait()  # which leaves when nobody is left who could ask
            Path(f"{self._address}.lock").unlink()

    def _started(self) -> socket.socket:
        """Start the process, and be the first that it knows."""
        Path(self._address).unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self._address)
            listening.listen()
            number = listening.fileno()
            start = f"import sys; sys.path[1:1] = {FOLDERS}; from warm import serve; del sys.path[1:3]"
            code = f"{start}; serve({number}, {self._loaded!r})"
            self._server = subprocess.Popen(
                [sys.executable, "-c", code], pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
        connected = self._connected()
        assert connected is not None
        return connected

    def _connected(self) -> socket.socket | None:
        """A connection to the process, if it is there and answers."""
        asking = socket.socket(socket.AF_UNIX)
        with suppress(OSError):
            asking.connect(self._address)
            if asking.recv(len(HERE)) == HERE:
                return asking
        asking.close()
        return None

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
            code = self.answer(asked)
            out, err = (Path(folder, name).read_text(encoding="utf-8") for name in ("out", "err"))
        return subprocess.CompletedProcess(arguments, code, out, err)


def serve(number: int, loaded: str) -> None:
    """Carry out what is asked through a socket, as long as somebody is there who could ask."""
    listening = socket.socket(fileno=number)
    for name in LOADED[loaded]:
        with suppress(ModuleNotFoundError):  # not every command has all that it needs everywhere
            importlib.import_module(name)
    read_commands(importlib.import_module("ampler.app.shell.app").app)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(PRELUDE, names)
    gc.freeze()  # what is loaded is no garbage, and its pages stay shared
    reading, writing = os.pipe()  # has something to read when a command ended
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writing)
    asking, commands = [first_or_next(listening)], Commands(names)
    while asking:
        for ready in select.select([listening, reading, *asking], [], [])[0]:
            if ready is listening:
                asking.append(first_or_next(listening))
            elif ready == reading:
                os.read(reading, 4096)
                commands.tell()
            elif (asked := received(ready)) is not None:
                commands.answer(ready, *asked, others=[listening, *asking])
            else:
                asking.remove(ready)
                ready.close()
    os.unlink(listening.getsockname())


def first_or_next(listening: socket.socket) -> socket.socket:
    """The next who could ask, greeted."""
    asking, _ = listening.accept()
    asking.sendall(HERE)
    return asking


def received(asking: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """What somebody asks, with the files to write to, or None from one who left."""
    line, files, _, _ = socket.recv_fds(asking, 1 << 16, 2)
    while line and not line.endswith(b"\n"):
        line += asking.recv(1 << 16)
    return (json.loads(line), files) if line else None


class Commands:
    """The commands that were begun, and who waits for the end of which."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names  # that code in the background knows
        self.awaited: dict[int, socket.socket] = {}

    def answer(
        self, asking: socket.socket, asked: dict[str, Any], files: list[int], others: list[socket.socket]
    ) -> None:
        """Begin a command or tell of one; who asks for one in the foreground hears of its end only."""
        if "poll" in asked:
            asking.sendall(str(ending(asked["poll"], os.WNOHANG)).encode())
        elif "wait" in asked:
            self.awaited[asked["wait"]] = asking
            self.tell()
        elif files:
            asking.sendall(str(begin(lambda: become_elsewhere(asked, self.names, files), others)).encode())
            for file in files:
                os.close(file)
        else:
            self.awaited[begin(lambda: carry_out(**asked), others)] = asking

    def tell(self) -> None:
        """Tell those who wait how their commands ended; until somebody waits, an ended command keeps its number."""
        for child in list(self.awaited):
            if (code := ending(child, os.WNOHANG)) != RUNS:
                with suppress(OSError):  # who asked may have been ended meanwhile
                    self.awaited.pop(child).sendall(str(code).encode())


def begin(what: Callable[[], None], sockets: list[socket.socket]) -> int:
    """Fork for something that does not come back; the number of its process."""
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in sockets:
            each.close()
        try:
            what()
        except SystemExit as leaving:
            leave(leaving)
    return child


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
    become(words)


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
