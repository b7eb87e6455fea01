"""Where a study file is, or can be: a plain file in a folder that exists."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ampler.core.errors import StoreUnusable
from ampler.core.spoken import parameter


def study_place(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path behind all links; StoreUnusable where no study file can be.

    Nothing is opened: a pipe would have us wait for ever, and a device has no end.
    """
    if not isinstance(path, str | os.PathLike) or "\0" in str(path):
        raise StoreUnusable(f"a study file must be named by a path, got {path!r}; say where it lies")
    place = Path(os.path.realpath(path))
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        check_beside(place)
        return place
    except OSError as problem:  # links that lead in circles, names that are too long, folders that cannot be entered
        raise StoreUnusable(f"{place} cannot be used as a study file: {problem.strerror}; name another") from None
    check_kind(place, mode)
    check_beside(place)
    return place


def check_folder(place: Path) -> None:
    """Raise StoreUnusable when there is no folder to put a file in."""
    if not place.parent.is_dir():
        raise StoreUnusable(
            f"folder {place.parent} does not exist; make it, or choose another with {parameter('path')}"
        )


def check_beside(place: Path) -> None:
    """Raise StoreUnusable when somebody has put a link where SQLite writes: it would follow it."""
    for ending in ("-wal", "-shm", "-journal"):
        beside = place.with_name(place.name + ending)
        try:
            found = beside.lstat()
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise StoreUnusable(f"{beside} must be a file of SQLite's, got a link or something else; remove it")


def check_kind(place: Path, mode: int) -> None:
    """Raise StoreUnusable for what is there but no plain file."""
    if stat.S_ISDIR(mode):
        raise StoreUnusable(f"a study file must be a file, {place} is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise StoreUnusable(f"a study file must be a plain file, {place} is a pipe, socket or device; name another")
