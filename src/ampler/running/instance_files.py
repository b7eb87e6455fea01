"""Is an instance file still the one that was planned? Asked before and after each run, by whoever makes it."""

from __future__ import annotations

import hashlib
import os

from ampler.core.values import Instance, Observation
from ampler.running.one_run import Outcome

CAUSE = "instance"  # of a run that must not be recorded

Look = tuple[int, int, int, int]
_as_planned: dict[tuple[str, str], Look] = {}  # files that were found to be as planned: how they looked then


def change_of(instance: Instance) -> str | None:
    """Say what has become of an instance's file, if it is not the one that was planned; None for all others.

    A file that looks as before is not read again.
    """
    if not (instance.path and instance.sha256):
        return None
    try:
        look = _look(instance.path)
        if _as_planned.get((instance.path, instance.sha256)) == look:
            return None
        with open(instance.path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        return f"its instance file {instance.name!r} cannot be read any more ({problem.strerror})"
    if found != instance.sha256:
        return f"its instance file {instance.name!r} was changed while the study ran"
    _as_planned[instance.path, instance.sha256] = look
    return None


def unless_changed(instance: Instance, outcome: Outcome) -> Outcome:
    """Return what a run gave, unless the file that it read was changed meanwhile."""
    change = change_of(instance)
    return outcome if change is None else spoiled(change, outcome)


def spoiled(change: str, outcome: Outcome | None = None) -> Outcome:
    """Return the outcome of a run whose instance is no longer what it was: whatever it gave says nothing."""
    made = Outcome(None, 0.0) if outcome is None else outcome
    return made._replace(value=None, status="failed", message=change, measures=None, cause=CAUSE)


def is_spoiled(seen: Observation) -> bool:
    """Whether a run was made, or would have been, on a file that is not the one that was planned."""
    return seen.cause == CAUSE


def _look(path: str) -> Look:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
