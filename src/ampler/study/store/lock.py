"""One writer per study: a lock that the kernel keeps and that dies with its holder."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

from ampler.core.errors import StoreBusy, StoreUnusable

# A POSIX lock belongs to a process: it does not stop the same process from locking twice, so that is kept here.
# The process id is part of it because a forked worker inherits this table but not the lock.
_held: dict[Path, int] = {}
_taking = threading.Lock()


class StudyLock:
    """The right to write a study, held from the moment it is made until `release`.

    The lock lies on a file beside the study file (SQLite's own locks vanish when anybody closes the study file). It
    is a POSIX lock: workers forked by the holder do not inherit it, and it ends with the holder, however that ends.
    """

    def __init__(self, study: Path) -> None:
        self.path = study.with_name(study.name + ".lock")
        self._pid = os.getpid()
        with _taking:
            if _held.get(self.path) == self._pid:
                raise StoreBusy(f"{study.name} is already open for writing in this process; close it first")
            self._file = _locked(self.path, study)
            _held[self.path] = self._pid

    def release(self) -> None:
        """Give the right back; a second time, or in a forked process, nothing happens."""
        if _held.get(self.path) == self._pid == os.getpid():
            self.path.unlink(missing_ok=True)  # still locked: whoever waits for it sees that it is gone
            os.close(self._file)
            del _held[self.path]


def _locked(path: Path, study: Path) -> int:
    """Open and lock the file; start again if its holder removed it in between."""
    while True:
        file = _opened(path, study)
        try:
            import fcntl  # not at the top: systems without it can still read and analyse study files

            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(file, path):
                with suppress(OSError):  # a full disk: the lock holds all the same
                    os.truncate(file, 0)
                    os.write(file, f"{os.getpid()} on {socket.gethostname()}\n".encode())
                return file
        except ImportError:
            os.close(file)
            path.unlink(missing_ok=True)
            raise StoreUnusable(
                "writing a study file needs POSIX file locks, which this system lacks; run the study on Linux or macOS"
            ) from None
        except BlockingIOError:
            holder = os.pread(file, 200, 0).decode(errors="replace").strip()
            os.close(file)
            who = f"process {holder}" if holder else "another process"
            raise StoreBusy(f"{study.name} is being run by {who}; wait for it to end, or interrupt it") from None
        except OSError as problem:
            os.close(file)
            raise StoreUnusable(
                f"{study} cannot be locked ({problem.strerror}); keep the study on a file system that has locks"
            ) from None
        os.close(file)


def _opened(path: Path, study: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as problem:
        raise StoreUnusable(
            f"{study} cannot be written: folder {study.parent} gives {problem.strerror!r}; choose another with --store"
        ) from None


def _is_still(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
