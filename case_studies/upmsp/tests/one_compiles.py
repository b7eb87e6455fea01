"""Compiling takes many seconds: of several test processes one does it, and the others find what it has kept."""

import fcntl
import tempfile
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def one_compiles(what):
    """Let one process at a time come in."""
    with Path(tempfile.gettempdir(), f"ampler-upmsp-{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
