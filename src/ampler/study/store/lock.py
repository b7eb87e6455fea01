"""Where a results file can be, and one writer at a time: locks that the kernel keeps and that die with their holder."""

from __future__ import annotations

import os
import socket
import sqlite3
import stat
import threading
from contextlib import suppress
from pathlib import Path

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.core.serialization import is_path
from ampler.core.text import parameter

try:
    import fcntl

    HAS_POSIX_LOCKS = True
except ImportError:  # other systems have another lock
    HAS_POSIX_LOCKS = False

# A POSIX lock belongs to a process: it does not stop the same process from locking twice, so that is noted here.
# The process id is part of it because a forked worker inherits this table but not the lock.
_holders: dict[Path, int] = {}
_mutex = threading.Lock()
CLOCK_ERROR = 2.0  # seconds by which the date of a file and the start of a process may be wrong


def study_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path behind all links; StoreUnusable where no results file can be.

    Nothing is opened: a pipe would have us wait forever, and a device has no end.
    """
    if not is_path(path):
        raise StoreUnusable(f"a results file must be named by a path, got {path!r}")
    file = Path(os.path.realpath(path))
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    except OSError as problem:  # links that lead in circles, names that are too long, folders that cannot be entered
        raise StoreUnusable(f"{file} cannot be used as a results file: {problem.strerror}; name another") from None
    if stat.S_ISDIR(mode):
        raise StoreUnusable(f"a results file must be a file, {file} is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise StoreUnusable(f"a results file must be a plain file, {file} is a pipe, socket or device; name another")
    for journal in (f"{file}{ending}" for ending in ("-wal", "-shm", "-journal")):  # SQLite would follow a link
        with suppress(FileNotFoundError):  # a writer that ends removes its journals at any moment
            if not _is_regular_file(os.lstat(journal)):
                raise StoreUnusable(f"{journal} must be a file of SQLite's, got a link or something else; remove it")
    return file


def _is_regular_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 1


def check_folder(file: Path) -> None:
    """Raise StoreUnusable when there is no folder to put a file in."""
    if not file.parent.is_dir():
        raise StoreUnusable(f"folder {file.parent} does not exist; make it, or choose another with {parameter('path')}")


def has_writer(study: Path) -> bool | None:
    """Return whether a process of this machine has a study file open to write it; None if another machine may have."""
    import psutil

    path = study.with_name(study.name + ".lock")
    try:
        holder, _, machine = path.read_text(encoding="utf-8", errors="replace").strip().partition(" on ")
        locked_at = path.stat().st_mtime
    except OSError:
        return False
    if machine != socket.gethostname() or not holder.isdecimal():
        return None
    try:  # a later process of this number is another one
        return bool(psutil.Process(int(holder)).create_time() <= locked_at + CLOCK_ERROR)
    except psutil.Error:
        return False


class StudyLock:
    """The right to write a study, held from the moment it is made until `release`.

    The lock lies on a file next to the results file (SQLite's own locks vanish when anybody closes the results file).
    It is a POSIX lock: workers forked by the holder do not inherit it, and it ends with the holder, however that ends.
    """

    def __init__(self, study: Path) -> None:
        self.path = study.with_name(study.name + ".lock")
        self._pid = os.getpid()
        with _mutex:
            if _holders.get(self.path) == self._pid:
                raise StoreBusy(f"{study.name} is already open for writing in this process; close it first")
            self._file = _locked(self.path, study) if HAS_POSIX_LOCKS else _locked_by_sqlite(self.path, study)
            _holders[self.path] = self._pid

    def release(self) -> None:
        """Give the right back; a second time, or in a forked process, nothing happens."""
        if _holders.get(self.path) == self._pid == os.getpid():
            if isinstance(self._file, int):
                self.path.unlink(missing_ok=True)  # still locked: whoever waits for it sees that it is gone
                os.close(self._file)
            else:
                self._file.close()  # the file stays, as another process may already have it
            del _holders[self.path]


def _locked(path: Path, study: Path) -> int:
    """Open and lock the file; start again if its holder removed it in between."""
    while True:
        file = _opened(path, study)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False)):
                    with suppress(OSError):  # a full disk: the lock holds all the same
                        os.truncate(file, 0)
                        os.write(file, f"{os.getpid()} on {socket.gethostname()}\n".encode())
                    return file
        except BlockingIOError:
            holder = os.pread(file, 200, 0).decode(errors="replace").strip()
            os.close(file)
            raise _busy(study, f"process {holder}" if holder else "another process") from None
        except OSError as problem:
            os.close(file)
            raise _no_locks(study, problem.strerror) from None
        os.close(file)


def _opened(path: Path, study: Path) -> int:
    """Open the file that is locked, never what a link of its name leads to."""
    planted = StoreUnusable(f"{path} must be a file of ours, got a link or something else of that name; remove it")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.open(path, flags, 0o644)
    except OSError as problem:
        if path.is_symlink():
            raise planted from None
        raise StoreUnusable(
            f"{study} cannot be written: folder {study.parent} gives {problem.strerror!r}; choose another with"
            f" {parameter('path')}"
        ) from None
    if not _is_regular_file(os.fstat(file)):
        os.close(file)
        raise planted
    return file


def _locked_by_sqlite(path: Path, study: Path) -> sqlite3.Connection:
    """Lock with an exclusive transaction of SQLite, which locks everywhere; it ends with its process."""
    try:
        # from any thread: whoever closes the study gives the lock back
        connection = sqlite3.connect(path, timeout=0.0, isolation_level=None, check_same_thread=False)
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as problem:
        if "locked" in str(problem):
            raise _busy(study, "another process") from None
        raise _no_locks(study, problem) from None
    return connection


def _no_locks(study: Path, problem: object) -> StoreUnusable:
    return StoreUnusable(f"{study} cannot be locked ({problem}); move it to a folder on a file system with locks")


def _busy(study: Path, holder: str) -> StoreBusy:
    return StoreBusy(f"{study.name} is being run by {holder}; wait for it to end, or interrupt it")
