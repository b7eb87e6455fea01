"""The supervisor: one small process that is the parent of all workers, so that nothing outlives the driver.

    driver ── asks for workers ──► supervisor ── forks ──► workers ──► commands, daemons …
       └───────── a pipe to each worker: requests go in, answers come back ─────────┘

On Linux the supervisor is the one to whom the orphans of its descendants fall (PR_SET_CHILD_SUBREAPER), also after
setsid and double forks. So what a dead worker has left is whatever child of the supervisor is no worker. When the pipe
to the driver closes, it ends all its descendants and exits. When the supervisor itself is killed, the kernel ends its
workers (PR_SET_PDEATHSIG), and what they have started falls to the driver, which ends it.

Workers are forked from the supervisor, which has one thread. The supervisor is forked from the driver, whose work it
inherits, or, next to other threads, it is a new interpreter that is sent the work: a copy of a process with several
threads could wait forever for a lock that one of them holds."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes import c_long, sizeof
from mmap import mmap
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any, NamedTuple, NoReturn, Protocol

import psutil

from ampler.core.errors import AmplerError, EngineFailed

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
EXIT_NO_RESULT_PIPE = 251  # the exit code of a process whose function has closed the pipe for its result
KILL_TIMEOUT = 5.0  # timeout for the end of killed processes, in seconds
KILL_POLL = 0.005  # seconds between checks for the end
FRESH = (
    "import sys; sys.path[:] = sys.argv[3:]; from ampler.running.one_run.supervisor import main;"
    " main(*map(int, sys.argv[1:3]))"
)


class RequestHandler(Protocol):
    """Work of a worker process."""

    def run(self, request: Any, at: c_long) -> Any:
        """Answer a request; `at` is set to the index of the part that is under way."""


class Exit(NamedTuple):
    """End of a worker: its number, its exit code, and the part of its request under way."""

    worker: int
    code: int
    at: int


class Supervisor:
    """Driver's side of a supervisor. It starts workers until it is closed or killed."""

    def __init__(self, work: RequestHandler, sent: bytes | None = None) -> None:
        """Start a supervisor that inherits `work`, or a new interpreter that gets it as bytes."""
        self.control, theirs = Pipe()
        self._owner = os.getpid()
        self._before = children()
        adopt_orphans()
        with theirs:
            if sent is None:
                self._pid = fork()
                if self._pid == 0:
                    self.control.close()
                    _supervise(theirs, work, self._owner)
            else:
                path = [folder or os.getcwd() for folder in sys.path]  # "" is the folder of a notebook
                argv = [sys.executable, "-c", FRESH, str(theirs.fileno()), str(self._owner), *path]
                process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
                process.returncode = 0  # waited for here
                self._pid = process.pid
        _supervisors.add(self._pid)
        if sent is not None:
            with suppress(OSError):
                self.control.send_bytes(sent)

    def start(self) -> Connection:
        """Start a worker; return the pipe to it. Workers are numbered in this order."""
        ours, theirs = Pipe()
        with theirs, suppress(OSError):  # the supervisor was killed: `exits` says so
            send_handle(self.control, theirs.fileno(), self._pid)
        return ours

    def exits(self) -> Iterator[Exit]:
        """Yield the ends of workers that are known; EOFError when the supervisor has ended itself."""
        try:
            while self.control.poll():
                message = self.control.recv()
                if isinstance(message, str):
                    raise EngineFailed(message)
                yield Exit(*message)
        except OSError as problem:
            raise EOFError from problem

    def close(self) -> None:
        """End the supervisor and all that it has started."""
        if self.control.closed or self._owner != os.getpid():
            return
        with suppress(OSError), socket.socket(fileno=os.dup(self.control.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)  # other forked processes may hold it, too
        self.control.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGCONT)
        status = -1
        with suppress(ChildProcessError):  # no zombies if SIGCHLD is ignored
            _, status = os.waitpid(self._pid, 0)
        _supervisors.discard(self._pid)
        if status != 0:
            self._end_orphans()

    def _end_orphans(self) -> None:
        """End what fell to us when the supervisor was killed: children of another session that this program knows not.

        Python's objects of running programs are looked for, as other threads may have started some.
        """
        session = os.getsid(0)
        ours = {process.pid for process in gc.get_objects() if isinstance(process, subprocess.Popen)}
        ours |= {process.pid or 0 for process in multiprocessing.active_children()} | self._before | _supervisors

        def is_orphan(pid: int) -> bool:
            with suppress(ProcessLookupError):
                return pid not in ours and os.getsid(pid) != session
            return False

        end_children(is_orphan)

    def __del__(self) -> None:
        if hasattr(self, "_pid") and not sys.is_finalizing():
            self.close()


_supervisors: set[int] = set()


def alone() -> bool:
    """State whether this process has one thread only, so that it may fork: a lock held by another would stay held."""
    return threading.active_count() == 1


def is_worker() -> bool:
    """Return whether this process is one of our workers."""
    return os.getpid() in _workers


_workers: set[int] = set()  # invalid after a fork


def fork() -> int:
    """Fork, without Python's warning where threads are left over from runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def flush() -> None:
    """Flush the output if possible: a child must not print it again."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(BaseException):  # a function may have closed or replaced it
            stream.flush()


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the thread of `parent` that started it ends (Linux only)."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent died before this call
        os._exit(1)


def adopt_orphans() -> None:
    """Have orphans among the descendants of this process become its children (Linux only)."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


# Looked up before any fork: a forked child must not load.
_prctl: Callable[..., int] = ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else lambda *_: 0


def children() -> frozenset[int]:
    """Return the numbers of the child processes of this one, zombies too.

    The kernel says at once when there are none, which is the rule; only else are all processes looked through.
    """
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return frozenset()
    return frozenset(child.pid for child in psutil.Process().children())


def end_children(chosen: Callable[[int], bool] = lambda pid: True) -> None:
    """Kill the chosen children with all their descendants; what they leave falls to us, and is next (Linux only)."""
    until = time.monotonic() + KILL_TIMEOUT
    while (found := list(filter(chosen, children()))) and time.monotonic() < until:
        for pid in found:
            kill_tree(pid)
        for pid in found:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(KILL_POLL)


def kill_tree(pid: int) -> None:
    """Kill a process and all its descendants."""
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            with suppress(psutil.Error):
                process.kill()


# In the supervisor


def main(control: int, driver: int) -> None:
    """Run a supervisor in a new interpreter, which receives its work first."""
    connection = Connection(control)
    try:
        work: RequestHandler = pickle.loads(connection.recv_bytes())
    except EOFError:
        return
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
        connection.send(
            f"the workers cannot load the study ({reason}); this process has several threads, so they start without"
            " its state: put the functions into importable modules"
        )
        return
    _supervise(connection, work, driver)


def _supervise(control: Connection, work: RequestHandler, driver: int) -> NoReturn:
    try:
        _serve(control, work, driver)
    except BaseException:
        traceback.print_exc()
    finally:
        signal.set_wakeup_fd(-1)
        end_children()
        os._exit(0)


def _serve(control: Connection, work: RequestHandler, driver: int) -> None:
    """Start workers, report their ends, and kill their orphans, until the driver is gone."""
    woken = _detach()
    poll = select.poll()
    for fd in (control.fileno(), woken, *pidfd_of(driver)):
        poll.register(fd, select.POLLIN)
    workers: dict[int, tuple[int, c_long]] = {}
    number, supervisor = 0, os.getpid()
    while True:
        ready = {fd for fd, _ in poll.poll()}
        if woken in ready:
            os.read(woken, 4096)
            _report_ends(control, workers)
        if control.fileno() in ready:
            try:
                handle = recv_handle(control)
            except (EOFError, OSError):
                return
            at = c_long.from_buffer(mmap(-1, sizeof(c_long)))
            try:
                pid = fork()
            except OSError as problem:
                control.send(f"no worker can be started: {problem.strerror}")
                return
            if pid == 0:
                control.close()
                _live(Connection(handle), work, at, supervisor)
            os.close(handle)
            workers[pid] = number, at
            number += 1
        elif ready - {woken, control.fileno()}:
            return  # the driver died, but other processes hold its end of the pipe


def _detach() -> int:
    """Leave the driver's session and ignore all signals but SIGCHLD; return the descriptor that reports it.

    Ctrl-C goes to the driver only.
    """
    with suppress(PermissionError):
        os.setsid()
    adopt_orphans()
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for as long as we live
    os.dup2(sys.stdin.fileno(), 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    return woken


def _report_ends(control: Connection, workers: dict[int, tuple[int, c_long]]) -> None:
    """Reap ended processes, kill their orphans, and report workers to the driver."""
    ends = []
    with suppress(ChildProcessError):
        while (waited := os.waitpid(-1, os.WNOHANG))[0]:
            if waited[0] in workers:
                number, at = workers.pop(waited[0])
                ends.append((number, os.waitstatus_to_exitcode(waited[1]), at.value))
    for orphan in children() - workers.keys():
        kill_tree(orphan)
    for end in ends:
        with suppress(OSError):
            control.send(end)


def pidfd_of(pid: int) -> tuple[int, ...]:
    """Return a descriptor that becomes readable when a process ends; none where the kernel cannot tell."""
    try:
        return (os.pidfd_open(pid),)
    except (AttributeError, OSError):
        return ()


# In a worker


def _live(connection: Connection, work: RequestHandler, at: c_long, supervisor: int) -> NoReturn:
    """Main loop of a worker: answer requests until the pipe closes."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        # SIGTERM ends it at once, even in C code; commands inherit the signal settings
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        die_with(supervisor)
        os.setpgid(0, 0)
        adopt_orphans()
        _workers.add(os.getpid())
        answer_requests(connection, work, at)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        flush()
        os._exit(code)


def answer_requests(connection: Connection, work: RequestHandler, at: c_long) -> None:
    """Answer requests from a connection while it stays unchanged."""
    os.register_at_fork(after_in_child=connection.close)  # a process forked by a run must ignore these signals
    inode = os.fstat(connection.fileno()).st_ino

    def receive() -> Any:
        with suppress(EOFError, OSError):
            return connection.recv()

    for request in iter(receive, None):
        try:
            answer = work.run(request, at)
        except AmplerError as problem:
            answer = problem
        try:  # a run may have reused the file descriptor of our connection
            intact = os.fstat(connection.fileno()).st_ino == inode
        except OSError:
            intact = False
        if not intact:
            os._exit(EXIT_NO_RESULT_PIPE)
        with suppress(OSError):  # the driver is gone: exit
            connection.send(answer)
