"""One writer per study: locks that the kernel keeps and that die with their holder."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path

from ampler.core.errors import StoreBusy, StoreUnusable
from ampler.core.spoken import parameter
from ampler.study.store.plain_lock import PlainLock

# A POSIX lock belongs to a process: it does not stop the same process from locking twice, so that is kept here.
# The process id is part of it because a forked worker inherits this table but not the lock.
_held: dict[Path, int] = {}
_taking = threading.Lock()
_signs: set[socket.socket] = set()  # see _sign_of; a worker that outlives us must not keep the study locked


def _forget_signs() -> None:
    for sign in _signs:
        sign.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_signs)


class StudyLock:
    """The right to write a study, held from the moment it is made until `release`.

    The lock lies on a file beside the study file (SQLite's own locks vanish when anybody closes the study file). It
    is a POSIX lock: workers forked by the holder do not inherit it, and it ends with the holder, however that ends.
    A file that has two names is locked under both, see `hold_the_file`.
    """

    def __init__(self, study: Path) -> None:
        self.path = study.with_name(study.name + ".lock")
        self._study = study
        self._pid = os.getpid()
        self._sign: socket.socket | None = None
        with _taking:
            if _held.get(self.path) == self._pid:
                raise StoreBusy(f"{study.name} is already open for writing in this process; close it first")
            self._file = _locked(self.path, study) if _has_posix_locks() else PlainLock(self.path, study)
            _held[self.path] = self._pid
        try:
            self.hold_the_file()
        except BaseException:
            self.release()
            raise

    def hold_the_file(self) -> None:
        """Lock the file itself, whatever other names it has; StoreBusy when it is run under another one.

        Where the file does not exist yet nothing happens: call it again when it does.
        """
        if self._sign is None and self._study.exists():
            self._sign = _sign_of(self._study)

    def release(self) -> None:
        """Give the right back; a second time, or in a forked process, nothing happens."""
        if _held.get(self.path) == self._pid == os.getpid():
            if self._sign is not None:
                self._sign.close()
                _signs.discard(self._sign)
            if isinstance(self._file, PlainLock):
                self._file.close()
            else:
                self.path.unlink(missing_ok=True)  # still locked: whoever waits for it sees that it is gone
                os.close(self._file)
            del _held[self.path]


def _sign_of(study: Path) -> socket.socket | None:
    """A name in the kernel's own list, made of device and number of the file: only one process can have it.

    Linux alone has such a list; elsewhere the lock beside the file must do. It is opened by nobody and needs no file.
    """
    if not sys.platform.startswith("linux"):
        return None
    found = study.stat()
    sign = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        sign.bind(f"\0ampler-study-{found.st_dev:x}-{found.st_ino:x}")
    except OSError as problem:
        sign.close()
        if problem.errno != errno.EADDRINUSE:
            return None
        raise StoreBusy(
            f"{study.name} is being run under another name of the same file; wait for it to end, or interrupt it"
        ) from None
    _signs.add(sign)
    return sign


def _has_posix_locks() -> bool:
    try:
        import fcntl  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


_has_posix_locks()  # loads them now: a process that gives up its rights later may not be able to


def _locked(path: Path, study: Path) -> int:
    """Open and lock the file; start again if its holder removed it in between."""
    while True:
        file = _opened(path, study)
        try:
            import fcntl  # not at the top: systems without it have another lock

            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(file, path):
                with suppress(OSError):  # a full disk: the lock holds all the same
                    os.truncate(file, 0)
                    os.write(file, f"{os.getpid()} on {socket.gethostname()}\n".encode())
                return file
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
    """Open the file that is locked, never what a link of its name leads to."""
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | careful, 0o644)
    except OSError as problem:
        if path.is_symlink():
            raise _planted(path) from None
        raise StoreUnusable(
            f"{study} cannot be written: folder {study.parent} gives {problem.strerror!r}; choose another with"
            f" {parameter('path')}"
        ) from None
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(file)
        raise _planted(path)
    return file


def _planted(path: Path) -> StoreUnusable:
    return StoreUnusable(f"{path} must be a file of ours, got a link or something else of that name; remove it")


def _is_still(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False
