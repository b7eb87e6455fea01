"""The guardian itself: listens for process groups, looks for dead owners, and ends what they have started.

Executed as a script by its path, with `python -I -S`: no site packages, no environment, the standard library alone. It
holds no file but its pipe, and leaves when its last owner has died.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from typing import NamedTuple

MARK = "AMPLER_OWNER"  # a variable in the environment of what an owner with several threads starts
LOOK = 0.2  # seconds between looks at the owners where the kernel cannot tell of their death


def guard(first: int) -> None:
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
        return cls(_death_of(pid), mark_of(pid))


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


def mark_of(pid: int) -> str:
    """A process's number with its start time, since the number alone may have been another's before."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return f"{pid}-{file.read().rpartition(b')')[2].split()[19].decode()}"
    except OSError:  # no /proc, or it has just died
        return f"{pid}"


if __name__ == "__main__":
    if os.fork() == 0:  # the parent returns at once, so that nobody has to wait for the guardian
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        guard(int(sys.argv[1]))
