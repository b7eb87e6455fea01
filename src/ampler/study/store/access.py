"""Access to a results file: its place, one writer at a time, connections and their errors, versions of tables, copies.

Also the environment of a session, and runs written in groups.
"""

from __future__ import annotations

import os
import platform
import re
import socket
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from ampler.core.contracts import Store
from ampler.core.errors import StoreBusy, StoreError, StoreUnusable
from ampler.core.runs import Finished, Observation
from ampler.core.serialization import is_path, replace_file
from ampler.core.text import parameter, printable, shortened

try:
    import fcntl

    HAS_POSIX_LOCKS = True
except ImportError:  # not available on all systems
    HAS_POSIX_LOCKS = False

# A stranger's schema calls no functions, and cells that reach beyond their page are noticed.
DISTRUST = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0")
MIN_TEXT_LIMIT = 1_000_000  # maximum size of a text in any file
WAIT = 10.0  # seconds a writer waits for readers, or a reader for a checkpoint
JOURNALS = ("-wal", "-shm")  # the endings of the files that SQLite keeps next to a results file that is open

# Errors caused by damaged rows: unknown names, texts in place of numbers, invalid JSON.
SURPRISES = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH)
MAX_DETAIL_LENGTH = 160  # maximum length of a description of damage

# The types under which Linux mounts file systems that other machines may write to at the same time.
# fmt: off
NETWORK_TYPES = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse.beegfs", "fuse.ceph", "fuse.cvmfs2", "fuse.glusterfs",
    "fuse.juicefs", "fuse.s3fs", "fuse.sshfs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "vboxsf", "wekafs",
})
# fmt: on
BACKUP = ".bak"
PACKAGES = ("ampler", "numpy", "scipy")

GROUP_RUNS = 100  # a group of runs is written when it has this many …
GROUP_SECONDS = 0.25  # … or after this many seconds, the most that can be lost


# Connections


def connection_to_write(path: Path) -> sqlite3.Connection:
    """Connect to a new or existing results file after a check; the caller must hold its lock."""
    with kept_open(_connection(path, "mode=rwc")) as connection:
        network = on_network(path)
        if network:  # network file systems: no shared memory, so no readers beside the writer
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _checked_version(connection, path)  # checked before writing into a foreign file
        connection.execute(f"PRAGMA journal_mode = {'DELETE' if network else 'WAL'}")  # WAL: readers never block
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, path.name)
        problems = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if problems != "ok":
            raise damaged(path, problems.splitlines()[-1])
        return connection


@contextmanager
def kept_open(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Close a connection if what is done with it fails."""
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _connection(path: Path, mode: str, timeout: float = WAIT) -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?{mode}"
    connection = sqlite3.connect(uri, timeout, isolation_level=None, check_same_thread=False, uri=True)
    with kept_open(connection):
        for setting in DISTRUST:
            connection.execute(setting)
        return connection


def connection_to_rescue(path: Path) -> sqlite3.Connection:
    """Connect to a damaged file as it is; for the holder of its lock."""
    connection = _connection(path, "mode=ro" if _size(f"{path}-wal") else "mode=ro&immutable=1")
    # with a writable schema, SQLite can read a truncated file
    connection.executescript("PRAGMA query_only = ON; PRAGMA writable_schema = ON;")
    return connection


def connection_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a results file that is there, to read it only. Where nothing can be written, nothing needs to be.

    Where it can be written, SQLite removes its journals when the last reader leaves.
    """
    may_write, wal = os.access(path, os.W_OK), Path(f"{path}-wal")
    if may_write or wal.exists():
        try:
            return _reader(path, "mode=rw" if may_write else "mode=ro")
        except sqlite3.OperationalError as problem:
            # A folder that cannot be written, or is full, has no place for WAL's shared memory; a file nobody can
            # change needs none.
            no_space = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL)
            if _kind(problem) not in no_space or _size(wal):
                raise
    return _reader(path, "mode=ro&immutable=1")


def _reader(path: Path, mode: str) -> sqlite3.Connection:
    with kept_open(_connection(path, mode)) as connection:
        connection.execute("PRAGMA query_only = ON")
        size = _size(path) + _size(f"{path}-wal")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(MIN_TEXT_LIMIT, size))  # no text is longer than its file
        version = _checked_version(connection, path)
        if not version:
            raise StoreUnusable(f"{path.name} has no study in it yet; `ampler run` begins it")
        if version == len(MIGRATIONS):
            return connection
        with kept_open(_connection(Path(":memory:"), "mode=memory")) as copy, closing(connection):
            connection.backup(copy)  # a file of an earlier version stays as it is
            migrate(copy, path.name)
            copy.execute("PRAGMA query_only = ON")
            return copy


def _size(file: Path | str) -> int:
    try:
        return os.stat(file).st_size
    except FileNotFoundError:  # a writer that ends removes its journals at any moment
        return 0


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of a file, 0 if empty; an error if it is foreign or lacks tables of its version."""
    version = check_version(connection, path.name)
    if problem := check_tables(connection, version):
        raise damaged(path, problem)
    return version


def on_network(path: str | Path) -> bool:
    """Whether the file lies on a network file system, where SQLite's shared memory cannot be relied on.

    Where the system does not tell, it does not.
    """
    import psutil

    with suppress(OSError):
        file, mounts = Path(path).resolve(), psutil.disk_partitions(all=True)
        # later mounts hide earlier ones
        around = [mount for mount in reversed(mounts) if file.is_relative_to(mount.mountpoint)]
        nearest = max(around, key=lambda mount: len(Path(mount.mountpoint).parts), default=None)
        return nearest is not None and nearest.fstype in NETWORK_TYPES
    return False


# Copies


def back_up(connection: sqlite3.Connection, path: Path) -> None:
    """Copy an open results file to `study.db.bak`; where that cannot be, the study continues without."""
    backup = f"{path}{BACKUP}"
    with suppress(sqlite3.Error, OSError), replace_file(backup) as draft, closing(sqlite3.connect(draft)) as copy:
        connection.backup(copy)


# Errors


def damaged(path: Path, what: object) -> StoreUnusable:
    """Return the error for a damaged file, with the way to save the rest."""
    detail = shortened(printable(" ".join(str(what).split())), MAX_DETAIL_LENGTH)
    return StoreUnusable(
        f"{path.name} is damaged ({detail}); take it from a backup, or save every run that can be read:"
        f" ampler rescue {path.name} -o rescued.db"
    )


def is_a_definition(path: Path) -> str:
    """Return the sentence for a study definition in place of a results file."""
    results = path.with_suffix(".db").name
    return f"{path.name} is a study definition, and this command takes the results file, e.g. {results}"


def error_for(path: Path, problem: sqlite3.Error) -> StoreError:
    """Return our error for an error of SQLite."""
    name, kind = path.name, _kind(problem)
    if kind == sqlite3.SQLITE_NOTADB and path.suffix == ".toml":
        return StoreUnusable(is_a_definition(path))
    if kind in DAMAGE or "decode" in str(problem):  # a text that is not UTF-8
        return damaged(path, problem)
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"{name} is in use by another program; try again when it is done")
    meanings = {
        sqlite3.SQLITE_NOTADB: f"{name} is not a results file (no SQLite file); choose another name, or, if it is a"
        f" damaged one, save the readable runs: ampler rescue {name} -o rescued.db",
        sqlite3.SQLITE_FULL: f"{name} cannot be written: the disk is full; recorded runs are safe, free space and run"
        " again",
        sqlite3.SQLITE_IOERR: f"{name} cannot be read or written ({problem}): disk or quota full?; recorded runs are"
        " safe",
    }
    denied = f"{path} cannot be opened ({problem}); check the permissions of the file and its folder"
    meanings |= dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), denied)
    return StoreUnusable(meanings.get(kind, f"{name} cannot be used: {problem}"))


def _kind(problem: sqlite3.Error) -> int:
    """The kind of an error; the higher bits of SQLite's codes are detail."""
    return int(getattr(problem, "sqlite_errorcode", 0)) & 0xFF


@contextmanager
def surprises_as_damage(path: Path, what: str) -> Iterator[None]:
    """Report unexpected content of a file as damage to `what`."""
    try:
        yield
    except StoreError:
        raise
    except SURPRISES as problem:
        raise damaged(path, f"{what} cannot be read: {type(problem).__name__} {problem}") from None


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Report SQLite's errors by their meaning for the study."""
    try:
        yield
    except sqlite3.Error as problem:
        raise error_for(path, problem) from problem
    except UnicodeDecodeError as problem:  # in a message of SQLite, or in a text
        raise damaged(path, f"it holds invalid text: {problem.reason}") from None


# The environment


def environment() -> dict[str, str]:
    """Return versions, operating system and processor, to judge times and repeat the study; no name of a machine."""
    from importlib.metadata import PackageNotFoundError, version  # a slow import that readers do not need

    versions = dict.fromkeys(PACKAGES, "unknown")  # of a source tree on the path that is not installed
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    processor = platform.processor() or platform.machine() or "unknown"
    with suppress(OSError):  # Linux keeps the model's name in /proc only
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if match := re.search(r"^model name\s*:\s*(\S.*)$", text, re.MULTILINE | re.IGNORECASE):
            processor = match[1].strip()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = {"system": platform.platform(), "processor": processor, "cores": str(os.cpu_count() or "unknown")}
    return {"python": python, **versions, **machine}


# Group commit


@dataclass
class Journal:
    """Collects runs and finished instances and writes them in groups, because each durable write waits for the disk.

    `add` and `flush` return the runs that are durable now; only those may be reported as done.
    """

    store: Store
    runs: int = GROUP_RUNS
    seconds: float = GROUP_SECONDS
    clock: Callable[[], float] = time.monotonic
    _waiting: list[Observation] = field(default_factory=list, init=False)
    _finished: list[Finished] = field(default_factory=list, init=False)
    _since: float = field(default=0.0, init=False)

    @property
    def due_in(self) -> float | None:
        """Seconds until the group must be written, 0 when it must be now; None when nothing waits."""
        if not self._waiting and not self._finished:
            return None
        return max(0.0, self._since + self.seconds - self.clock())

    def add(self, *observations: Observation, finished: Finished | None = None) -> list[Observation]:
        """Add runs, and an instance that they finished; write the group if it is full or has waited long enough."""
        if self.due_in is None:
            self._since = self.clock()
        self._waiting.extend(observations)
        if finished is not None:
            self._finished.append(finished)
        return self.flush() if len(self._waiting) >= self.runs or self.due_in == 0 else []

    def flush(self) -> list[Observation]:
        """Write everything that waits; after a failure everything still waits."""
        if self._waiting or self._finished:
            self.store.add(self._waiting, self._finished)
        durable, self._waiting, self._finished = self._waiting, [], []
        return durable


# The versions of the tables. A comment inside a CREATE statement of `migrations` is kept in the file:
# `sqlite3 study.db .schema` explains the study to a stranger.

APPLICATION_ID = 0x616D7072  # "ampr": tells a results file from any other SQLite file
OLDEST_SQLITE = (3, 37, 0)  # STRICT tables

# the steps from one version to the next; user_version counts the steps taken
MIGRATIONS = tuple(
    file.read_text(encoding="utf-8")
    for file in sorted((files("ampler.study.store") / "migrations").iterdir(), key=lambda file: file.name)
)
TABLES = [re.findall(r"CREATE TABLE (\w+)", step) for step in MIGRATIONS]  # that each step adds


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Raise StoreUnusable when this Python's SQLite is too old."""
    if version < OLDEST_SQLITE:
        least, present = (".".join(map(str, numbers)) for numbers in (OLDEST_SQLITE[:2], version))
        raise StoreUnusable(f"study files need SQLite {least} or newer, this Python has {present}; use a newer Python")


def check_version(connection: sqlite3.Connection, name: str, migrations: Sequence[str] = MIGRATIONS) -> int:
    """Return how many migrations the file has seen; StoreUnusable when it is foreign or of a later version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    if empty and not application and not version:
        return 0
    if application != APPLICATION_ID:
        raise StoreUnusable(f"{name} is an SQLite file of another program, not a study file; choose another name")
    if version < 0:
        raise StoreUnusable(f"{name} has the impossible file version {version}; take it from a backup")
    if version > len(migrations):
        raise StoreUnusable(
            f"{name} was written by a newer ampler (file version {version}, this ampler knows {len(migrations)});"
            " upgrade ampler to open it"
        )
    return int(version)


def check_tables(connection: sqlite3.Connection, version: int) -> str | None:
    """Return a problem if a name of our tables belongs to anything but a strict table."""
    query = "SELECT name, type, strict FROM pragma_table_list WHERE schema = 'main'"
    kinds = connection.execute(query)
    present = {name: kind if kind != "table" or strict else "columns of any type" for name, kind, strict in kinds}
    for name in (name for names in TABLES[:version] for name in names):
        if present.get(name) != "table":
            return f"{name} must be a table, got: {present.get(name, 'nothing of that name')}"
    return None


def migrate(connection: sqlite3.Connection, name: str, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a file up to date, all steps or none."""
    version = check_version(connection, name, migrations)
    if version == len(migrations):
        return
    steps = "".join(migrations[version:])
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION_ID};"
            f" PRAGMA user_version = {len(migrations)}; COMMIT;"
        )
    except sqlite3.Error as problem:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if problem.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # of the disk, or of the file as a whole
            raise
        raise StoreUnusable(f"{name} is not of the file version {version} that it has; take it from a backup") from None


# Where a results file can be, and one writer at a time: locks that the kernel keeps and that die with their holder

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
    """Exclusive lock for writing a study, held until `release`.

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
        """Release the lock; a second call, or one in a forked process, does nothing."""
        if _holders.get(self.path) == self._pid == os.getpid():
            if isinstance(self._file, int):
                self.path.unlink(missing_ok=True)  # still locked: waiting processes notice the removal
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
                    with suppress(OSError):  # a full disk: the lock is held anyway
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
    """Open the lock file, without following links."""
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
        # from any thread, as any may close the study
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
