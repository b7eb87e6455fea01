"""Nothing outlives its owner: a small process that ends the process groups of owners that died.

A worker that is killed, or a driver that is, cannot clean up after itself. On Linux the kernel ends our direct
children (PR_SET_PDEATHSIG), but not what they have started. So each process tree has one guardian: owners tell it
their process groups through a pipe, and when an owner dies it ends them. What an owner could not tell in time is
known by a mark in its environment. It runs as a script of its own, needs nothing but the standard library, holds no
file but the pipe, and leaves when its last owner has died.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

PR_SET_PDEATHSIG = 1
MARK = "AMPLER_OWNER"  # a variable in the environment of what an owner with several threads starts
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


def marked(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with a mark by which the guardian knows what this process started.

    For processes with several threads, where a child cannot announce itself between fork and exec.
    """
    _line.tell(os.getpid(), 0)  # no group yet, but from now on our death is noticed
    return {**environment, MARK: _mark_of(os.getpid())}


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


def _mark_of(pid: int) -> str:
    """A process's number with its start time, since the number alone may have been another's before."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return f"{pid}-{file.read().rpartition(b')')[2].split()[19].decode()}"
    except OSError:  # no /proc, or it has just died
        return f"{pid}"


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
    owners = {first: _Owner.of(first)}
    groups: dict[int, set[int]] = {}
    rest, listening = b"", True
    while owners:
        deaths = [owner.death for owner in owners.values()]
        wakers = [0] * listening + [death for death in deaths if death is not None]
        ready, _, _ = select.select(wakers, [], [], LOOK if None in deaths else None)
        if listening and 0 in ready:
            text = os.read(0, 65536)
            *lines, rest = (rest + text).split(b"\n")
            listening = bool(text)
            _note(lines, owners, groups)
        for pid in [pid for pid, owner in owners.items() if _dead(pid, owner.death, ready)]:
            _bury(pid, owners, groups)


class _Owner(NamedTuple):
    """What is kept of an owner: a file descriptor that tells of its death, and its mark."""

    death: int | None
    mark: str

    @classmethod
    def of(cls, pid: int) -> _Owner:
        return cls(_death_of(pid), _mark_of(pid))


def _note(lines: list[bytes], owners: dict[int, _Owner], groups: dict[int, set[int]]) -> None:
    for line in lines:
        owner, group = map(int, line.split())
        if owner not in owners:
            owners[owner] = _Owner.of(owner)
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


def _bury(pid: int, owners: dict[int, _Owner], groups: dict[int, set[int]]) -> None:
    """End what a dead owner has started, and forget the number, which may soon be another process's."""
    owner = owners.pop(pid)
    for group in groups.pop(pid, set()):
        with suppress(ProcessLookupError, PermissionError):  # it may have ended by itself
            os.killpg(group, signal.SIGKILL)
    for stray in _marked_with(owner.mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(stray, signal.SIGKILL)
    for others in groups.values():
        others.discard(pid)
    if owner.death is not None:
        os.close(owner.death)


def _marked_with(mark: str) -> list[int]:
    """The processes whose environment carries a mark; none where there is no /proc to look into."""
    found = []
    with suppress(OSError):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
                if f"{MARK}={mark}".encode() in file.read().split(b"\0"):
                    found.append(int(pid))
    return found


if __name__ == "__main__":
    if os.fork() == 0:  # the parent returns at once, so that nobody has to wait for the guardian
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _guard(int(sys.argv[1]))
