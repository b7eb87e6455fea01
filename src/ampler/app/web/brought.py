"""Files that people brought: kept in private folders of this machine, a few at a time, and gone when the server is."""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from ampler.app.web.pages import NotThere
from ampler.core.errors import InvalidData
from ampler.core.wording import in_bytes

MOST_BYTES = 32 * 10**6  # of a file as it is sent
MOST_UNPACKED = 128 * 10**6  # of the table in it
KEPT = 8  # files
HOURS = 3600.0  # after which a file that nobody looks at goes away
LONGEST_NAME = 100
SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class BroughtFile:
    """A file that somebody brought, under a name that nobody can guess."""

    key: str
    name: str
    path: Path


class BroughtFiles:
    """Keeps them; the oldest goes when there are too many, and all go with the server."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[BroughtFile, float]] = OrderedDict()
        weakref.finalize(self, _remove_all, self._kept)  # also when Python ends
        self._lock = threading.Lock()

    def keep(self, name: str, content: bytes) -> BroughtFile:
        """Keep a file; InvalidData when it is none that is read here."""
        check_brought(content)
        path = Path(mkdtemp(prefix="ampler-")) / safe_name(name)  # a folder for its owner alone
        path.write_bytes(content)
        brought = BroughtFile(secrets.token_urlsafe(12), path.name, path)
        with self._lock:
            self._kept[brought.key] = (brought, time.monotonic())
            self._let_go()
        return brought

    def find(self, key: str) -> BroughtFile:
        """Return a file that is kept; NotThere when it is gone."""
        with self._lock:
            self._let_go()
            if key not in self._kept:
                raise NotThere(
                    "this file is no longer here: files that were brought go away after a while; bring it again"
                )
            brought, _ = self._kept.pop(key)
            self._kept[key] = (brought, time.monotonic())
            return brought

    def remove(self, brought: BroughtFile) -> None:
        """Let a file go."""
        with self._lock:
            self._kept.pop(brought.key, None)
        _remove(brought)

    def _let_go(self) -> None:
        for key, (brought, when) in list(self._kept.items()):
            if len(self._kept) > KEPT or time.monotonic() - when > HOURS:
                del self._kept[key]
                _remove(brought)


def _remove(brought: BroughtFile) -> None:
    shutil.rmtree(brought.path.parent, ignore_errors=True)


def _remove_all(kept: Mapping[str, tuple[BroughtFile, float]]) -> None:
    for brought, _ in list(kept.values()):
        _remove(brought)


def check_brought(content: bytes) -> None:
    """Raise InvalidData for what no table can be, or too large a one."""
    if not content.strip():
        raise InvalidData("the file is empty; bring one with a row for each run, or one for each instance")
    if len(content) > MOST_BYTES:
        raise too_large()
    if content.startswith(SQLITE):
        raise InvalidData("this is a study file or another database; begin the server with it: ampler serve study.db")


def too_large() -> InvalidData:
    """Return what is said of a file beyond the limit."""
    return InvalidData(
        f"the file is larger than {in_bytes(MOST_BYTES)}; analyse it at the command line: ampler analyse"
    )


def safe_name(name: str) -> str:
    """Return the name of a file without folders and without anything that could be more than a name.

    >>> safe_name("../../etc/my runs.csv"), safe_name(""), safe_name(".csv")
    ('my runs.csv', 'results.csv', 'results.csv')
    """
    last = re.split(r"[/\\\\]", name)[-1]
    plain = re.sub(r"[^\w. ()+-]+", "-", last).strip(" .-")[-LONGEST_NAME:]
    stem, dot, ending = plain.rpartition(".")
    return plain if dot and stem else f"results.{ending}" if last.startswith(".") and ending else plain or "results.csv"
