"""Whether a process still lives: what tests of killed and abandoned processes ask."""

import time
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
