"""A process group under limits: started bound to us, watched, and ended as a whole."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from ampler.core.values import Limits
from ampler.running.one_run import guardian
from ampler.running.one_run.strays import Watch

QUIET = 0.1  # seconds a command is known to the guardian by its mark and label alone
GRACE = 5.0  # seconds between the request to end (SIGTERM) and the end (SIGKILL)
MEMORY_LOOK = 0.1  # seconds between looks at the memory of a group, more when a look itself takes long
CPU_LOOK = 0.01  # seconds between looks at the processor time of a group, at least
BLIND_LOOK = 0.02  # seconds between looks for the end of a process where the kernel cannot tell of it
PIECE = 64 * 1024
MOST_IN_A_PIPE = 1024 * 1024  # bytes Linux lets a program ask for; 64 kB unless it does

UNSEEN = 256  # instead of an exit code, of a process whose end the system did not tell

Cause = Literal["ended", "answered", "timeout", "cpu-timeout", "memory"]
Sink = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process group ended: why, after how many seconds, and what its leader left behind."""

    cause: Cause
    seconds: float
    code: int = 0  # as in subprocess: negative for a signal
    cpu_seconds: float = 0.0
    memory: int = 0


def run_group(argv: Sequence[str], *, folder: str, limits: Limits, out: Sink, err: Sink) -> Ending:
    """Run a command as a process group of its own until it ends or a limit ends it; OSError when it cannot start.

    Whatever it leaves running is ended with it. What it prints goes to `out` and `err` as it comes. The clock starts
    where the program does, and stops when the kernel tells of its end.
    """
    strays = Watch(alone=alone())
    process, began = started(argv, folder, strays)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        group = Group(process.pid, marked=True)
        try:
            sinks = {process.stdout.fileno(): out, process.stderr.fileno(): err}
            watched = group.watch(sinks, limits, began=began)
            if watched.cause in ("timeout", "cpu-timeout"):
                group.ask_to_end()
                group.watch(sinks, Limits(timeout=GRACE), began=time.perf_counter())
        finally:
            code, cpu_seconds = group.end()
            process.returncode = code  # or subprocess would wait for a process that is gone
            strays.end()
        drain(sinks)
    return Ending(watched.cause, watched.seconds, code, max(cpu_seconds, watched.cpu_seconds), watched.memory)


def started(
    argv: Sequence[str], folder: str, strays: Watch, *, stdin: int = subprocess.DEVNULL
) -> tuple[subprocess.Popen[bytes], float]:
    """Start a command that leads its own group and does not outlive us; return it and when it was started.

    Nothing of ours runs between fork and exec, so that the memory of this process is not copied and the start costs
    what it costs anybody: a study's `true` takes 0.6 ms, with a Python function in between 3 ms and more. The guardian
    knows the command by a mark in its environment until it knows its group. The time is that at which Popen has last
    looked into the environment, directly before it forks.
    """
    environment = LastRead(strays.environment(guardian.with_mark(os.environ)))
    with guardian.labelling():
        process = subprocess.Popen(
            argv,
            cwd=folder or None,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            bufsize=0,
        )
    return process, environment.at


class LastRead(dict[str, str]):
    """An environment that knows when it was last read: that is what Popen does before it forks."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.at = time.perf_counter()

    def items(self) -> ItemsView[str, str]:  # type: ignore[override]
        """Return the variables."""
        self.at = time.perf_counter()
        return super().items()

    def get(self, name: str, default: Any = None) -> Any:
        """Return a variable."""
        self.at = time.perf_counter()
        return super().get(name, default)


def drain(sinks: Mapping[int, Sink]) -> None:
    """Pass on what is still in the pipes, without waiting for others who may hold them open and go on writing."""
    for fd, sink in sinks.items():
        os.set_blocking(fd, False)
        with suppress(BlockingIOError):
            for _ in range(MOST_IN_A_PIPE // PIECE + 1):
                if not _passed_on(fd, sink):
                    break


def alone() -> bool:
    """Say whether this process has one thread only, so that it may fork: a lock held by another would stay held."""
    return threading.active_count() == 1


class Group:
    """A process group of ours, known by its leader, which is a child of this process and not yet waited for.

    One that was started `marked` is known to the guardian by its mark and label. It is told of the group only when that
    has lived for a while: waking it takes time from the run that is measured, and most of it from the shortest.
    """

    def __init__(self, leader: int, *, marked: bool = False) -> None:
        self.leader = leader
        self._told = not (marked and can_see_memory())
        if self._told:
            guardian.watch(leader)  # what was forked bound has said so already; twice does no harm
        self._death = os.pidfd_open(leader) if hasattr(os, "pidfd_open") else None

    def watch(
        self,
        sinks: Mapping[int, Sink],
        limits: Limits,
        *,
        began: float,
        answered: Callable[[], bool] = lambda: False,
        cpu_before: float = 0.0,
    ) -> Ending:
        """Pass on what comes from the group until its leader ends, `answered` is true, or a limit is exceeded.

        `cpu_before` is the processor time it had used when the run began; it counts for nothing.
        """
        poll = _poll([*sinks, *([] if self._death is None else [self._death])])
        memory, cpu = MemoryWatch(self.leader, limits.memory), CpuWatch(self.leader, limits.cpu_timeout, cpu_before)
        while not answered():
            passed = time.perf_counter() - began
            left = None if limits.timeout is None else limits.timeout - passed
            quiet = None if self._told else max(0.0, QUIET - passed)
            look = None if self._death else BLIND_LOOK
            ready = poll.poll(_milliseconds(left, quiet, memory.pause, cpu.pause, look))
            passed = time.perf_counter() - began
            for fd, _ in ready:
                if fd != self._death and not _passed_on(fd, sinks[fd]):
                    poll.unregister(fd)
            if self.has_ended() and not answered():
                return Ending("ended", passed)
            if not self._told and passed >= QUIET:
                self._tell()
            if limits.timeout is not None and passed >= limits.timeout:
                return Ending("timeout", passed, cpu_seconds=cpu.look())
            if cpu.exceeded():
                return Ending("cpu-timeout", passed, cpu_seconds=cpu.used)
            if memory.exceeded():
                return Ending("memory", passed, cpu_seconds=cpu.look(), memory=memory.used)
        return Ending("answered", time.perf_counter() - began)

    def _tell(self) -> None:
        guardian.watch(self.leader)
        self._told = True

    def has_ended(self) -> bool:
        """Say whether the leader has ended; it stays a zombie, so that its number cannot become another's."""
        try:
            return os.waitid(os.P_PID, self.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # nobody keeps zombies where SIGCHLD is ignored
            return True

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the group, and to its leader, which may have joined another one."""
        if self.has_ended():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.leader, number)
            return
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self.leader, number)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, number)

    def abandon(self) -> int:
        """Kill what is left of the group while this process itself ends; return the code it will leave with.

        Nothing can be imported or started then, so the guardian, which may have to be started anew, is not told.
        """
        self.signal(signal.SIGKILL)
        return -signal.SIGKILL

    def ask_to_end(self) -> None:
        """Ask all processes of the group to end, also those that were stopped."""
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)

    def end(self) -> tuple[int, float]:
        """Kill what is left of the group; return the leader's exit code and the processor time it used."""
        self.signal(signal.SIGKILL)
        if self._told:
            guardian.release(self.leader)
        if self._death is not None:
            os.close(self._death)
        try:
            _, status, usage = os.wait4(self.leader, 0)
        except ChildProcessError:
            return UNSEEN, 0.0
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


class MemoryWatch:
    """The resident memory of a process group against its limit, looked at now and then."""

    def __init__(self, group: int, limit: int | None) -> None:
        self.used = 0
        self.pause = None if limit is None else 0.01  # the first look comes early
        self._group = group
        self._limit = limit
        self._next = 0.0

    def exceeded(self) -> bool:
        """Say whether the group uses more than it may, looking only when it is time to."""
        now = time.perf_counter()
        if self._limit is None or now < self._next:
            return False
        began = time.thread_time()
        self.used = resident_memory(self._group)
        self.pause = max(MEMORY_LOOK, _rest_after(began))
        self._next = now + self.pause
        return self.used > self._limit


class CpuWatch:
    """The processor time of a process group since a run began, against its limit, looked at now and then."""

    def __init__(self, group: int, limit: float | None, before: float) -> None:
        self.used = 0.0
        self.pause: float | None = None if limit is None else CPU_LOOK
        self._group, self._limit, self._before = group, limit, before
        self._next = 0.0

    def exceeded(self) -> bool:
        """Say whether the run has used more than it may; not before all processors together could have done it."""
        now = time.perf_counter()
        if self._limit is None or now < self._next:
            return False
        began = time.thread_time()
        left = self._limit - self.look()
        self.pause = max(CPU_LOOK, left / (os.cpu_count() or 1), _rest_after(began))
        self._next = now + self.pause
        return left < 0

    def look(self) -> float:
        """Return the seconds used so far; 0 where the system does not tell."""
        self.used = processor_time(self._group) - self._before if can_see_memory() else 0.0
        return self.used


def _rest_after(began: float) -> float:
    """The seconds to wait after a look, so that looks take a twentieth of a core at most.

    By this thread's own processor time: a look during which the machine did something else was not a dear one, and the
    run would have a rest of seconds to exceed its limit in.
    """
    return 20 * (time.thread_time() - began)


def signal_name(number: int) -> str:
    """Return the name of a signal; not every number has one."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def can_end_processes() -> bool:
    """Whether this system has groups of processes, which end together."""
    return hasattr(os, "fork") and hasattr(os, "killpg")


def can_see_memory() -> bool:
    """Say whether this system tells what memory other processes use."""
    return os.path.exists("/proc/self/stat")


def resident_memory(group: int) -> int:
    """Return the bytes of resident memory of a process group, from /proc."""
    return os.sysconf("SC_PAGE_SIZE") * sum(int(fields[21]) for _, fields in _members(group))


def processor_time(group: int) -> float:
    """Return the seconds of processor time its processes, and the children they have waited for, used so far."""
    return sum(_time_of(pid, fields) for pid, fields in _members(group))


def process_time(pid: int) -> float:
    """Return the seconds of processor time that one process, and the children it has waited for, used so far.

    0 when it has ended, or where the system does not tell.
    """
    try:
        return _time_of(pid, _stat(pid))
    except OSError:
        return 0.0


def _members(group: int) -> Iterator[tuple[int, list[bytes]]]:
    """The processes of a group with the fields of /proc/PID/stat from the state on, which is number 0 here.

    The kernel says at once to which group a process belongs; only of members is a file read.
    """
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(OSError):  # it has just ended
            if pid == group or os.getpgid(pid) == group:  # a leader may have joined another group
                yield pid, _stat(pid)


def _stat(pid: int) -> list[bytes]:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()


def _time_of(pid: int, fields: Sequence[bytes]) -> float:
    return _own_time(pid, fields) + _seconds(fields[13], fields[14])


def _own_time(pid: int, fields: Sequence[bytes]) -> float:
    try:
        return time.clock_gettime((~pid << 3) | 2)  # what clock_getcpuclockid(3) gives on Linux: to the nanosecond
    except OSError:
        return _seconds(fields[11], fields[12])


def _seconds(*ticks: bytes) -> float:
    """Ticks of the kernel's clock as seconds."""
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _poll(fds: Sequence[int]) -> select.poll:
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return poll


def _passed_on(fd: int, sink: Sink) -> bool:
    """Pass on what can be read; False at the end of the stream."""
    data = os.read(fd, PIECE)
    if data:
        sink(data)
    return bool(data)


def _milliseconds(*seconds: float | None) -> int | None:
    known = [each for each in seconds if each is not None]
    return max(0, int(min(known) * 1000) + 1) if known else None
