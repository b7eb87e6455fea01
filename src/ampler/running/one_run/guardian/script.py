"""The guardian itself: listens for process groups, looks for dead owners, and ends what they have started.

A process is known by its number and the time of its start: a number alone may be another's by now.

Executed as a script by its path, with `python -I -S`: no site packages, no environment, the standard library alone. It
holds no file but its pipe, and leaves when its last owner has died.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from contextlib import suppress
from functools import partial

MARK = "AMPLER_OWNER"  # a variable in the environment of what an owner with several threads starts
LABELS = 2**62  # labels are numbers from here on
PIECE = 65536  # bytes that are read at once
LOOK = 0.2  # seconds between looks at the owners where the kernel cannot tell of their death


Groups = dict[int, dict[int, str]]  # by owner, and the mark that each group's leader had when we were told of it


def guard(first: int, mark: str = "") -> None:
    """Listen for groups, look for dead owners, until none is left; `mark` is that of the first owner, to know it by."""
    owners = {first: _Owner.of(first, mark)}
    groups: Groups = {}
    rest, listening = b"", True
    while owners:
        ready = _woken(owners, listening=listening)
        if listening and 0 in ready:
            text = os.read(0, PIECE)
            *lines, rest = (rest + text).split(b"\n")
            listening = bool(text)
            _note(lines, owners, groups)
        for pid in [pid for pid, owner in owners.items() if _dead(pid, owner, ready)]:
            _bury(pid, owners, groups)


class _Owner:
    """What is kept of an owner: a file descriptor that tells of its death, its mark and its label.

    A plain class: to load what makes tuples with names would take a third of the time in which a guardian starts.
    """

    __slots__ = ("death", "label", "mark")

    def __init__(self, death: int | None, mark: str, label: int | None = None) -> None:
        self.death, self.mark, self.label = death, mark, label

    @classmethod
    def of(cls, pid: int, told: str = "") -> _Owner:
        """The owner of a number, whose mark we may have been told: it may have died before we look."""
        death, seen = _death_of(pid), mark_of(pid)
        if told and seen != told and death is not None:
            os.close(death)
            death = None  # it would tell of another process, which has the number by now
        return cls(death, told or seen, label_for(told or seen))


def _woken(owners: dict[int, _Owner], *, listening: bool) -> set[int]:
    """The descriptors that have something to tell; waits for them, or for a while where deaths must be looked for."""
    deaths = [owner.death for owner in owners.values()]
    poll = select.poll()  # unlike select, it takes any number of owners
    for descriptor in [0] * listening + [death for death in deaths if death is not None]:
        poll.register(descriptor, select.POLLIN)
    return {descriptor for descriptor, _ in poll.poll(LOOK * 1000 if None in deaths else None)}


def _note(lines: list[bytes], owners: dict[int, _Owner], groups: Groups) -> None:
    for line in lines:
        numbers, mark = line.split()[:2], b"".join(line.split()[2:])
        owner, group = map(int, numbers)
        if owner not in owners:
            owners[owner] = _Owner.of(owner, mark.decode())
        if group > 0:
            groups.setdefault(owner, {})[group] = mark_of(group)
        else:
            groups.get(owner, {}).pop(-group, None)


def _death_of(pid: int) -> int | None:
    """A file descriptor that becomes readable when a process dies, or None where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _dead(pid: int, owner: _Owner, ready: set[int]) -> bool:
    if owner.death is not None:
        return owner.death in ready
    try:
        os.kill(pid, 0)
        return mark_of(pid) != owner.mark  # the number is another process's by now
    except (ProcessLookupError, PermissionError):
        return True


def _bury(pid: int, owners: dict[int, _Owner], groups: Groups) -> None:
    """End what a dead owner has started, and forget the number, which may soon be another process's."""
    owner = owners.pop(pid)
    for group, mark in groups.pop(pid, {}).items():
        if mark_of(group) in (mark, f"{group}"):  # a number is not given away while its group has members
            with suppress(ProcessLookupError, PermissionError):  # it may have ended by itself
                os.killpg(group, signal.SIGKILL)
    _end_strays(owner)
    for others in groups.values():
        others.pop(pid, None)
    if owner.death is not None:
        os.close(owner.death)


def _end_strays(owner: _Owner) -> None:
    """End what an owner has started and nobody told of; twice, as one may have started another while we looked."""
    for _ in range(2):
        for stray in _strays_of(owner):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)


def _strays_of(owner: _Owner) -> list[int]:
    """The processes that carry an owner's label, or its mark in their environment; none where there is no /proc.

    A number is asked for at once, an environment must be copied: the label comes first.
    """
    others = [pid for pid in map(int, _processes()) if pid != os.getpid() and _may_end(pid)]
    mark = f"{MARK}={owner.mark}".encode()
    return [pid for pid in others if _is_labelled(pid, owner.label) or _is_marked(pid, mark)]


def _processes() -> list[str]:
    try:
        return list(filter(str.isdigit, os.listdir("/proc")))
    except OSError:
        return []


def _may_end(pid: int) -> bool:
    """Whether we could end a process at all: on a machine of many people most are others'."""
    try:
        os.kill(pid, 0)
        return True
    except OSError:
        return False


def _is_marked(pid: int, mark: bytes) -> bool:
    return mark in content(f"/proc/{pid}/environ").split(b"\0")


def _is_labelled(pid: int, label: int | None) -> bool:
    if label is None:
        return False
    import resource  # Unix only

    try:
        return label in resource.prlimit(pid, resource.RLIMIT_RTTIME)
    except ProcessLookupError:
        return False
    except (AttributeError, OSError):  # it has rights that we have not, but everybody may read its limits
        return f" {label} ".encode() in content(f"/proc/{pid}/limits")


def content(path: str) -> bytes:
    """What a file of /proc has; empty when its process is gone or not ours. Files of Python's take twice the time."""
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            return b"".join(iter(partial(os.read, file, PIECE), b""))
        finally:
            os.close(file)
    return b""


def label_of(pid: int) -> int | None:
    """The label of a process that is alive."""
    return label_for(mark_of(pid))


def label_for(mark: str) -> int | None:
    """A number that only the descendants of a process carry: a limit far beyond reach, unlike any that people set.

    It is the limit of time that real-time processes may take without a pause, in microseconds: children inherit it,
    whatever they do to their group, session, environment and descriptors, and 146 000 years limit nobody.
    """
    number, _, start = mark.partition("-")
    return LABELS + (int(number) << 36) + int(start) % 2**36 if start else None


def mark_of(pid: int) -> str:
    """A process's number with its start time, since the number alone may have been another's before."""
    fields = content(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return f"{pid}-{fields[19].decode()}" if fields else f"{pid}"  # no /proc, or it has just died


def _shed_label() -> None:
    """Be nobody's stray, though a worker that carries a label may have started us."""
    import resource  # Unix only

    with suppress(AttributeError, OSError, ValueError):
        kind = resource.RLIMIT_RTTIME
        resource.setrlimit(kind, (resource.getrlimit(kind)[1],) * 2)


if __name__ == "__main__":
    if os.fork() == 0:  # the parent returns at once, so that nobody has to wait for the guardian
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _shed_label()
        guard(int(sys.argv[-1]), *sys.argv[1:-1])
