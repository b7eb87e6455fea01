"""Whether processes still live: what tests of killed and abandoned ones ask."""

import os
import time
from contextlib import suppress
from pathlib import Path


def alive(pid):
    """Whether a process runs; a zombie no longer does."""
    try:
        return Path(f"/proc/{int(pid)}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone_within(pid, seconds=60.0):
    """Wait for a process to end, and say whether it has."""
    until = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)


def belonging(token, session, folder):
    """What a driver has running, and itself: its session, all that was started with a token, all that is in its folder.

    The token, b"NAME=value", is a variable of the environment; processes that were forked have none of their own. Of
    each process there are the number of its parent and its words.
    """
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(OSError):
            state, parent, _, of, *_ = _read(pid, "stat").rpartition(b")")[2].split(None, 4)
            inside = Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(folder)
            ours = inside or int(of) == session or token in _read(pid, "environ").split(b"\0")
            if ours and state != b"Z":
                found[pid] = (int(parent), _read(pid, "cmdline"))
    return found


def _read(pid, name):
    with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
        return file.read()
