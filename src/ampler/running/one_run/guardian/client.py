"""What owners tell the guardian, which process groups are theirs, and how children are bound to their parents."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache

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


def adopt(pipe: int) -> None:
    """Share the guardian of the process that started this one, whose pipe was handed down."""
    os.set_inheritable(pipe, False)
    _line.share(pipe)


def binding() -> Callable[[], None]:
    """Return what a freshly forked child must call: it then leads its own process group and dies with this process.

    The child announces its group itself, so there is no moment at which it could be left behind.
    """
    owner, pipe = os.getpid(), ensure()
    _mark_of(owner)  # read before the fork

    def bind() -> None:
        os.setpgid(0, 0)
        os.write(pipe, _line_of(owner, os.getpid()))
        die_with(owner)

    return bind


def with_mark(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with a mark by which the guardian knows what this process started.

    For processes with several threads, where a child cannot announce itself between fork and exec.
    """
    _introduce(os.getpid())
    return {**environment, script.MARK: script.mark_of(os.getpid())}


def _introduce(owner: int) -> None:
    """Have the death of an owner noticed from now on, before it has a group: once, as long as the guardian listens.

    A pipe that nobody reads any more is in error.
    """
    poll = select.poll()
    poll.register(ensure(), 0)
    if owner not in _introduced or poll.poll(0):
        _line.tell(owner, 0)
        _introduced.clear()
        _introduced.add(owner)


_introduced: set[int] = set()  # this process, if it is


def bind_worker(driver: int) -> None:
    """Bind this process, a worker, to its driver, and all that it will start to itself."""
    os.setpgid(0, 0)
    _line.tell(driver, os.getpid())
    _line.tell(os.getpid(), os.getpid())
    _label(script.label_of(os.getpid()))
    die_with(driver)
    _workers.add(os.getpid())


def is_worker() -> bool:
    """Say whether this process was bound: it is ours, and makes runs one after the other."""
    return os.getpid() in _workers


_workers: set[int] = set()  # what was said before a fork does not hold after it


@contextmanager
def labelling() -> Iterator[None]:
    """Have what is started within carry the label of this process, for a process that must not carry it itself.

    For processes with one thread: what another one started meanwhile would carry it too.
    """
    before = _label(script.label_of(os.getpid()))
    try:
        yield
    finally:
        if before is not None:
            _label(before)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the thread of `parent` that started it ends (Linux only)."""
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


def _label(number: int | None) -> int | None:
    """Have all that is started from now on carry a number, and return the one before; None where that cannot be.

    It is a limit that no process ever reaches (see `script.label_of`): whatever else a daemon gets rid of, it keeps its
    limits.
    """
    if number is None:
        return None
    import resource  # Unix only

    with suppress(AttributeError, OSError, ValueError):  # there is no limit of the kind, or a lower one
        before, most = resource.getrlimit(resource.RLIMIT_RTTIME)
        if before == resource.RLIM_INFINITY or before >= script.LABELS:
            resource.setrlimit(resource.RLIMIT_RTTIME, (number, most))
            return before
    return None


def _load_prctl() -> Callable[..., int] | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl: Callable[..., int] = ctypes.CDLL(None).prctl  # looked up before any fork: a forked child must not load
    return prctl


_prctl = _load_prctl()


class _Line:
    """The way to the guardian: a pipe, the start of the guardian at its other end, and what it must know of us."""

    def __init__(self) -> None:
        self._pipe: int | None = None
        self._file: int | None = None  # what the pipe is, whatever its number is later
        self._starting = threading.Lock()
        self._told: dict[tuple[int, int, int], None] = {}  # who told of which owner and group

    def pipe(self) -> int:
        with self._starting:
            if self._pipe is None:
                self.share(_started())
            assert self._pipe is not None
            return self._pipe

    def share(self, pipe: int) -> None:
        self._pipe, self._file = pipe, _file_of(pipe)

    def tell(self, owner: int, group: int) -> None:
        self._remember(owner, group)
        if self._pipe is not None and _file_of(self._pipe) != self._file:
            self._pipe = None  # a run has closed it, and perhaps opened a file of the same number
        try:
            os.write(self.pipe(), _line_of(owner, group))
        except OSError:  # the guardian was killed, or our pipe closed: a new one is told all that is under way
            self._pipe = None
            for known, watched in self._ours():
                os.write(self.pipe(), _line_of(known, watched))

    def _remember(self, owner: int, group: int) -> None:
        if group >= 0:
            self._told[os.getpid(), owner, group] = None
        else:
            self._told.pop((os.getpid(), owner, -group), None)

    def _ours(self) -> list[tuple[int, int]]:
        """What this process has told, not one from which it was forked."""
        return [(owner, group) for teller, owner, group in list(self._told) if teller == os.getpid()]


def _file_of(descriptor: int) -> int | None:
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return None


def _line_of(owner: int, group: int) -> bytes:
    """What the guardian reads: with the owner's mark, for the owner may be dead when it is read."""
    return f"{owner} {group} {_mark_of(owner)}\n".encode()


_mark_of = lru_cache(maxsize=4)(script.mark_of)


_line = _Line()


def _started() -> int:
    """Start a guardian, detached, and return the writing end of its pipe."""
    reading, writing = os.pipe()
    nowhere = subprocess.DEVNULL  # or those who read our output would wait for the guardian's end
    command = [sys.executable, "-I", "-S", script.__file__, script.mark_of(os.getpid()), str(os.getpid())]
    signed = {**os.environb, SIGN.partition(b"=")[0]: SIGN.partition(b"=")[2]}
    try:
        subprocess.run(
            command, stdin=reading, stdout=nowhere, stderr=nowhere, start_new_session=True, check=True, env=signed
        )
    finally:
        os.close(reading)
    return writing
