"""What owners tell the guardian, which process groups are theirs, and how children are bound to their parents."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping

from ampler.running.one_run.guardian import script

PR_SET_PDEATHSIG = 1
SIGN = b"AMPLER_GUARDIAN=1"  # a variable of the guardian itself: it is nobody's stray


def watch(group: int) -> None:
    """Have a process group ended when this process dies."""
    _line.tell(os.getpid(), group)


def release(group: int) -> None:
    """Take back a watch: the group has ended."""
    _line.tell(os.getpid(), -group)


def ensure() -> int:
    """Start the guardian unless there is one, and return its pipe; children made by fork share it."""
    return _line.pipe()


def binding() -> Callable[[], None]:
    """Return what a freshly forked child must call: it then leads its own process group and dies with this process.

    The child announces its group itself, so there is no moment at which it could be left behind.
    """
    owner, pipe = os.getpid(), ensure()

    def bind() -> None:
        os.setpgid(0, 0)
        os.write(pipe, f"{owner} {os.getpid()}\n".encode())
        die_with(owner)

    return bind


def with_mark(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with a mark by which the guardian knows what this process started.

    For processes with several threads, where a child cannot announce itself between fork and exec.
    """
    _line.tell(os.getpid(), 0)  # no group yet, but from now on our death is noticed
    return {**environment, script.MARK: script.mark_of(os.getpid())}


def bind_worker(driver: int) -> None:
    """Bind this process, a worker, to its driver, and all that it will start to itself."""
    os.setpgid(0, 0)
    _line.tell(driver, os.getpid())
    _line.tell(os.getpid(), os.getpid())
    die_with(driver)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the thread of `parent` that started it ends (Linux only)."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def _load_prctl() -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl: Callable[..., int] = ctypes.CDLL(None).prctl  # looked up before any fork: a forked child must not load
    return prctl


_prctl = _load_prctl()


class _Line:
    """The way to the guardian: a pipe, and the start of the guardian at its other end."""

    def __init__(self) -> None:
        self._pipe: int | None = None
        self._starting = threading.Lock()

    def pipe(self) -> int:
        with self._starting:
            if self._pipe is None:
                self._pipe = _started()
            return self._pipe

    def tell(self, owner: int, group: int) -> None:
        line = f"{owner} {group}\n".encode()
        try:
            os.write(self.pipe(), line)
        except BrokenPipeError:  # the guardian was killed: a new one knows at least this
            self._pipe = None
            os.write(self.pipe(), line)


_line = _Line()


def _started() -> int:
    """Start a guardian, detached, and return the writing end of its pipe."""
    reading, writing = os.pipe()
    nowhere = subprocess.DEVNULL  # or those who read our output would wait for the guardian's end
    command = [sys.executable, "-I", "-S", script.__file__, str(os.getpid())]
    signed = {**os.environb, SIGN.partition(b"=")[0]: SIGN.partition(b"=")[2]}
    try:
        subprocess.run(
            command, stdin=reading, stdout=nowhere, stderr=nowhere, start_new_session=True, check=True, env=signed
        )
    finally:
        os.close(reading)
    return writing
