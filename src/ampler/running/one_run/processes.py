"""A process group under limits: started, monitored, and ended with all its processes."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import psutil

from ampler.core.plan import Limits
from ampler.core.threads import without_pins
from ampler.running.one_run.supervisor import adopt_orphans, alone, children, end_children, is_worker, pidfd_of

GRACE = 5.0  # seconds between the request to end (SIGTERM) and the end (SIGKILL)
MEMORY_LOOK = 0.1  # seconds between checks of the memory of a group, more if a check is slow
CPU_LOOK = 0.01  # minimum seconds between checks of the processor time of a group
BLIND_LOOK = 0.02  # seconds between checks for the end of a process without kernel support
MAX_POLL = 3600.0  # seconds: the kernel counts them in milliseconds, of which an integer holds 24 days
PIECE = 64 * 1024
MOST_IN_A_PIPE = 1024 * 1024  # size of pipes in bytes; the default of Linux is 64 kB

EXIT_STATUS_UNKNOWN = 256  # exit code of a process whose end the system did not report

Cause = Literal["ended", "answered", "timeout", "cpu-timeout", "memory"]
Sink = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Ending:
    """End of a process group: reason, seconds, and resource usage."""

    cause: Cause
    seconds: float
    code: int = 0  # as in subprocess: negative for a signal
    cpu_seconds: float = 0.0
    memory: int = 0


def run_group(argv: Sequence[str], *, folder: str, limits: Limits, out: Sink, err: Sink) -> Ending:
    """Run a command as its own process group, until it ends or exceeds a limit; OSError if it cannot start.

    Whatever it leaves running is ended with it. What it prints goes to `out` and `err` as it comes. The clock starts
    directly before the program does, and stops when the kernel tells of its end.
    """
    orphans = Orphans()
    began = time.perf_counter()
    process = started(argv, folder)
    assert process.stdout is not None
    assert process.stderr is not None
    process.returncode = 0  # waited for here
    with process.stdout, process.stderr:
        sinks = {process.stdout.fileno(): out, process.stderr.fileno(): err}
        return ending_of(process.pid, sinks, limits, began, orphans, grace=GRACE)


def ending_of(
    leader: int, sinks: Mapping[int, Sink], limits: Limits, began: float, orphans: Orphans, *, grace: float = 0.0
) -> Ending:
    """Monitor a group until it ends or exceeds a limit, and kill its orphans.

    At a time limit it first receives SIGTERM, if it has seconds of `grace`.
    """
    group = Group(leader)
    try:
        watched = group.watch(sinks, limits, began=began)
        if grace and watched.cause in ("timeout", "cpu-timeout"):
            group.ask_to_end()
            group.watch(sinks, Limits(timeout=grace), began=time.perf_counter())
    finally:
        code, cpu_seconds, memory = group.end()
        orphans.end()
    drain(sinks)
    used = max(cpu_seconds, watched.cpu_seconds), max(memory, watched.memory)
    return Ending(watched.cause, watched.seconds, code, *used)


def started(argv: Sequence[str], folder: str, *, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start a command that leads its own process group.

    Nothing of ours runs between fork and exec, so that the memory of this process is not copied and the start costs
    what it costs anybody: a study's `true` takes 0.6 ms, with a Python function in between 3 ms and more.
    """
    environment, pipe = without_pins(os.environ), subprocess.PIPE
    return subprocess.Popen(
        argv, 0, stdin=stdin, stdout=pipe, stderr=pipe, cwd=folder or None, env=environment, process_group=0
    )


class Orphans:
    """Orphans of a run; `end` kills them.

    A program that calls setsid or forks twice escapes its process group, but on Linux it falls to us. Beside other
    threads nobody knows whose it is, and it is left alone.
    """

    def __init__(self) -> None:
        adopt_orphans()
        self._before = children()

    def end(self, others: Collection[int] = ()) -> None:
        """Kill processes started since then, except `others`."""
        if alone() or is_worker():
            end_children(lambda pid: pid not in self._before and pid not in others)


def drain(sinks: Mapping[int, Sink]) -> None:
    """Forward the rest of the output, without waiting for other processes that hold the pipes open."""
    for fd, sink in sinks.items():
        os.set_blocking(fd, False)
        with suppress(BlockingIOError):
            for _ in range(MOST_IN_A_PIPE // PIECE + 1):
                if not _passed_on(fd, sink):
                    break


class Group:
    """A process group of ours, known by its leader, which is a child of this process and not yet waited for."""

    def __init__(self, leader: int) -> None:
        self.leader = leader
        self._death = pidfd_of(leader)

    def watch(
        self,
        sinks: Mapping[int, Sink],
        limits: Limits,
        *,
        began: float,
        answered: Callable[[], bool] = lambda: False,
        cpu_before: float = 0.0,
    ) -> Ending:
        """Forward the output of the group until its leader ends, `answered` is true, or a limit is exceeded.

        `cpu_before` is the processor time it had used when the run began; it counts for nothing.
        """
        poll = select.poll()
        for fd in (*sinks, *self._death):
            poll.register(fd, select.POLLIN)
        cores = os.cpu_count() or 1
        memory = UsageWatch(lambda: resident_memory(self.leader), limits.memory, MEMORY_LOOK, growth=math.inf)
        cpu = UsageWatch(lambda: processor_time(self.leader) - cpu_before, limits.cpu_timeout, CPU_LOOK, growth=cores)
        passed = 0.0
        while not answered():
            left = None if limits.timeout is None else limits.timeout - passed
            waits = (left, memory.pause, cpu.pause, None if self._death else BLIND_LOOK, MAX_POLL)
            ready = poll.poll(max(0, int(1000 * min(wait for wait in waits if wait is not None)) + 1))
            passed = time.perf_counter() - began
            for fd, _ in ready:
                if fd in sinks and not _passed_on(fd, sinks[fd]):
                    poll.unregister(fd)
            if self.has_ended() and not answered():
                return Ending("ended", passed)
            if limits.timeout is not None and passed >= limits.timeout:
                return Ending("timeout", passed, cpu_seconds=cpu.look())
            if cpu.exceeded():
                return Ending("cpu-timeout", passed, cpu_seconds=cpu.used)
            if memory.exceeded():
                return Ending("memory", passed, cpu_seconds=cpu.look(), memory=int(memory.used))
        return Ending("answered", time.perf_counter() - began)

    def has_ended(self) -> bool:
        """State whether the leader has ended; it stays a zombie, so that its number cannot become another's."""
        try:
            return os.waitid(os.P_PID, self.leader, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # no zombies if SIGCHLD is ignored
            return True

    def signal(self, number: int) -> None:
        """Send a signal to all processes of the group, and to its leader, which may have joined another one."""
        for send in (os.killpg,) if self.has_ended() else (os.kill, os.killpg):
            with suppress(ProcessLookupError, PermissionError):
                send(self.leader, number)

    def ask_to_end(self) -> None:
        """Ask all processes of the group to end, also those that were stopped."""
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)

    def end(self) -> tuple[int, float, int]:
        """Kill what is left of the group; return the leader's exit code, processor time and peak memory in bytes.

        The memory is that of its largest process. It is 0 (unknown) below the peak of this process: a child inherits
        that number when it starts.
        """
        self.signal(signal.SIGKILL)
        for fd in self._death:
            os.close(fd)
        try:
            _, status, usage = os.wait4(self.leader, 0)
        except ChildProcessError:
            return EXIT_STATUS_UNKNOWN, 0.0, 0
        import resource  # missing on systems without commands

        peak = usage.ru_maxrss if usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss else 0
        memory = peak * (1 if sys.platform == "darwin" else 1024)
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, memory


class UsageWatch:
    """Resource usage of a process group, measured at intervals, with its limit."""

    def __init__(self, measure: Callable[[], float], limit: float | None, interval: float, *, growth: float) -> None:
        self.used = 0.0
        self.pause = None if limit is None else CPU_LOOK  # measure early the first time
        self._measure, self._limit = measure, limit
        self._interval, self._growth = interval, growth  # how fast usage can grow per second
        self._next = 0.0

    def exceeded(self) -> bool:
        """Return whether the group exceeds its limit; measured at intervals.

        Measurements take a twentieth of a core at most, by this thread's own processor time: one during which the
        machine did something else was not a dear one, and the run would have seconds to exceed its limit in.
        """
        now = time.perf_counter()
        if self._limit is None or now < self._next:
            return False
        began = time.thread_time()
        left = self._limit - self.look()
        self.pause = max(self._interval, left / self._growth, 20 * (time.thread_time() - began))
        self._next = now + self.pause
        return left < 0

    def look(self) -> float:
        """Return the current usage."""
        self.used = self._measure()
        return self.used


def signal_name(number: int) -> str:
    """Return the name of a signal; not every number has one."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def can_end_processes() -> bool:
    """Whether this system has groups of processes, which end together."""
    return hasattr(os, "fork") and hasattr(os, "killpg")


def resident_memory(group: int) -> int:
    """Return the bytes of resident memory of a process group."""
    total = 0
    for process in _members(group):
        with suppress(psutil.Error):  # the process has just ended
            total += process.memory_info().rss
    return total


def processor_time(group: int) -> float:
    """Return the seconds of processor time its processes, and the children they have waited for, used so far."""
    return sum(map(process_time, _members(group)))


def process_time(process: psutil.Process) -> float:
    """Return the seconds of processor time that one process, and the children it has waited for, used so far.

    0 when it has ended.
    """
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    try:
        own = time.clock_gettime((~process.pid << 3) | 2)  # clock_getcpuclockid(3) on Linux: to the nanosecond
    except OSError:
        own = float(times.user + times.system)
    return own + float(times.children_user + times.children_system)


def _members(group: int) -> Iterator[psutil.Process]:
    """The processes of a group; its leader may have joined another one.

    The group of a process is cheap to read, so only members are inspected.
    """
    for pid in psutil.pids():
        with suppress(OSError, psutil.Error):  # the process has just ended
            if pid == group or os.getpgid(pid) == group:
                yield psutil.Process(pid)


def _passed_on(fd: int, sink: Sink) -> bool:
    """Pass on what can be read; False at the end of the stream."""
    data = os.read(fd, PIECE)
    if data:
        sink(data)
    return bool(data)
