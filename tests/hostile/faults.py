"""Faults of processes: whom a signal meets, and which signals one after the other.

Each is a victim and a list of steps: a signal, a pause in seconds, or another victim to whom the next signals go.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from living import belonging

KILL, TERM, INT, HUP, QUIT = (
    *(signal.SIGKILL, signal.SIGTERM, signal.SIGINT),
    *(signal.SIGHUP, signal.SIGQUIT),
)
STOP, CONT, SEGV, ABRT, USR1 = signal.SIGSTOP, signal.SIGCONT, signal.SIGSEGV, signal.SIGABRT, signal.SIGUSR1
SOON, LATER = 0.05, 0.4  # seconds

DRIVER = {
    **{number.name: [number] for number in (KILL, TERM, INT, HUP, QUIT, SEGV, ABRT, USR1)},
    **{number.name: [number] for number in (signal.SIGPIPE, signal.SIGBUS, signal.SIGXCPU, signal.SIGALRM)},
    "stopped for a while": [STOP, LATER, CONT],
    "stopped and killed": [STOP, SOON, KILL],
    "stopped, asked and continued": [STOP, TERM, SOON, CONT],
    "stopped, interrupted and continued": [STOP, INT, SOON, CONT],
    "asked twice": [TERM, SOON, TERM],
    "interrupted twice": [INT, INT],
    "interrupted, then killed": [INT, SOON, KILL],
    "asked, then killed": [TERM, SOON, KILL],
}
WORKER = {
    **{number.name: [number] for number in (KILL, TERM, INT, HUP, QUIT, SEGV, ABRT, USR1)},
    **{number.name: [number] for number in (signal.SIGPIPE, signal.SIGBUS, signal.SIGXCPU, signal.SIGALRM)},
    "stopped for a while": [STOP, LATER, CONT],
    "stopped and killed": [STOP, SOON, KILL],
    "asked, then killed": [TERM, KILL],
}
WORKERS = {
    "SIGKILL": [KILL],
    "SIGTERM": [TERM],
    "SIGSEGV": [SEGV],
    "stopped for a while": [STOP, LATER, CONT],
    "killed with the driver": [KILL, "driver", KILL],
}
GUARDIAN = {
    **{number.name: [number] for number in (KILL, TERM, INT, HUP, QUIT)},
    "stopped for a while": [STOP, LATER, CONT],
    "killed, then the driver": [KILL, 3 * LATER, "driver", KILL],
    "stopped while the driver is killed": [STOP, "driver", KILL, SOON, "guardian", CONT],
    "stopped while the workers are killed": [STOP, "workers", KILL, SOON, "guardian", CONT],
    "killed, then the workers": [KILL, 3 * LATER, "workers", KILL],
    "killed twice": [KILL, 3 * LATER, "guardian", KILL],
}
COMMAND = {
    **{number.name: [number] for number in (KILL, TERM, INT, SEGV, USR1)},
    "stopped for a while": [STOP, LATER, CONT],
}
GROUP = {number.name: [number] for number in (INT, TERM, KILL, HUP)} | {"stopped for a while": [STOP, LATER, CONT]}

FAULTS = [
    (victim, name, steps)
    for victim, table in {
        **{"driver": DRIVER, "worker": WORKER, "workers": WORKERS},
        **{"guardian": GUARDIAN, "command": COMMAND, "group": GROUP},
    }.items()
    for name, steps in table.items()
]


class Crew:
    """The processes of a study that is being run: a driver, its workers, their commands and the guardian."""

    def __init__(self, driver: int, token: bytes) -> None:
        self.driver = driver
        self._token = token

    def meet(self, victim: str, steps: list) -> bool:
        """Let a fault happen; False when there is no such process at the moment."""
        targets = self._targets(victim)
        if not targets:
            return False
        for step in steps:
            if isinstance(step, str):
                targets = self._targets(step)
            elif isinstance(step, signal.Signals):
                for target in targets:
                    with suppress(ProcessLookupError):
                        os.killpg(-target, step) if target < 0 else os.kill(target, step)
            else:
                time.sleep(step)
        return True

    def _targets(self, victim: str) -> list[int]:
        if victim in ("driver", "group"):
            return [self.driver if victim == "driver" else -self.driver]
        processes = belonging(self._token, self.driver)
        guardians = [pid for pid, (_, words) in processes.items() if b"guardian/script.py" in words]
        workers = [pid for pid, (parent, _) in processes.items() if parent == self.driver and pid not in guardians]
        commands = [pid for pid, (parent, _) in processes.items() if parent in workers and pid not in guardians]
        return {"guardian": guardians, "workers": workers, "worker": workers[:1], "command": commands[:1]}[victim]
