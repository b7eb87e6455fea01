"""Nothing outlives its owner: a small process that ends the process groups of owners that died.

A worker that is killed, or a driver that is, cannot clean up after itself. On Linux the kernel ends our direct
children (PR_SET_PDEATHSIG), but not what they have started. So each process tree has one guardian: owners tell it
their process groups through a pipe, and when an owner dies it ends them. It runs as a script of its own, needs
nothing but the standard library, holds no file but the pipe, and leaves when its last owner has died.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

PR_SET_PDEATHSIG = 1
LOOK = 0.2  # seconds between looks at the owners where the kernel cannot tell of their death


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
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid())]
    try:
        subprocess.run(command, stdin=reading, stdout=nowhere, stderr=nowhere, start_new_session=True, check=True)
    finally:
        os.close(reading)
    return writing


# From here on: what the guardian itself does


def _guard(first: int) -> None:
    """Listen for groups, look for dead owners, until none is left."""
    owners = {first: _death_of(first)}
    groups: dict[int, set[int]] = {}
    rest, listening = b"", True
    while owners:
        wakers = [0] * listening + [fd for fd in owners.values() if fd is not None]
        ready, _, _ = select.select(wakers, [], [], LOOK if None in owners.values() else None)
        if listening and 0 in ready:
            text = os.read(0, 65536)
            *lines, rest = (rest + text).split(b"\n")
            listening = bool(text)
            _note(lines, owners, groups)
        for owner in [owner for owner, fd in owners.items() if _dead(owner, fd, ready)]:
            _bury(owner, owners, groups)


def _note(lines: list[bytes], owners: dict[int, int | None], groups: dict[int, set[int]]) -> None:
    for line in lines:
        owner, group = map(int, line.split())
        if owner not in owners:
            owners[owner] = _death_of(owner)
        if group > 0:
            groups.setdefault(owner, set()).add(group)
        else:
            groups.get(owner, set()).discard(-group)


def _death_of(pid: int) -> int | None:
    """A file descriptor that becomes readable when a process dies, or None where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _dead(pid: int, fd: int | None, ready: list[int]) -> bool:
    if fd is not None:
        return fd in ready
    try:
        os.kill(pid, 0)
        return False
    except ProcessLookupError:
        return True
    except PermissionError:
        return True  # the number is another user's process by now


def _bury(owner: int, owners: dict[int, int | None], groups: dict[int, set[int]]) -> None:
    """End the groups of a dead owner, and forget the number, which may soon be another process's."""
    for group in groups.pop(owner, set()):
        with suppress(ProcessLookupError, PermissionError):  # it may have ended by itself
            os.killpg(group, signal.SIGKILL)
    for others in groups.values():
        others.discard(owner)
    fd = owners.pop(owner)
    if fd is not None:
        os.close(fd)


if __name__ == "__main__":
    if os.fork() == 0:  # the parent returns at once, so that nobody has to wait for the guardian
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _guard(int(sys.argv[1]))
