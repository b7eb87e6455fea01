"""The pages of an SQLite file as they lie on the disk, each read for itself: one that is damaged harms no other.

The layout is that of https://www.sqlite.org/fileformat.html. What lies in the write-ahead log beside a file counts too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

USUAL = 4096  # bytes of a page, where the file does not say
HEADER = 100  # bytes before the first page's own
FRAME, LOG_HEADER = 24, 32  # bytes before each page of the log, and before all of them
TABLE, KEYS, KEYS_ABOVE = 0x0D, 0x0A, 0x02  # kinds of pages that hold records
SIZES = (0, 1, 2, 3, 4, 6, 8)  # bytes of whole numbers, by their code
MOST_AGAIN = 4  # times the file's size that long records may take: pages can lead in circles


@dataclass(frozen=True, slots=True)
class Record:
    """A record: its number in a table (None in a table without), and its cells."""

    number: int | None
    cells: tuple[Any, ...]


class Pages:
    """Reads a file page by page. `unreadable` counts pages and records that make no sense."""

    def __init__(self, path: Path) -> None:
        self.unreadable = 0
        self._file: BinaryIO = path.open("rb")
        size = path.stat().st_size
        self._page = _page_size(self._file.read(HEADER))
        self._usable = self._page - _reserved(self._file, self._page)
        self._pages = -(-size // self._page)
        self._left = MOST_AGAIN * size + 10**6
        self._log: dict[int, bytes] = {}  # the newest page of each number
        self._superseded: list[tuple[int, bytes]] = []
        log = path.with_name(path.name + "-wal")
        if log.is_file():
            self._read_log(log)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def records(self) -> Iterator[Record]:
        """Yield what lies in the pages that count."""
        for number in range(1, max(self._pages, *self._log, 0) + 1):
            yield from self._records(number, self._content(number))

    def old_records(self) -> Iterator[Record]:
        """Yield what lies in pages that newer ones stand for: the same, where nothing is damaged."""
        before = self.unreadable
        for number, content in self._superseded:
            yield from self._records(number, content)
        for number in self._log:
            yield from self._records(number, self._on_disk(number))
        self.unreadable = before

    def _content(self, number: int) -> bytes:
        return self._log.get(number) or self._on_disk(number)

    def _on_disk(self, number: int) -> bytes:
        if not 1 <= number <= self._pages:
            return b""
        self._file.seek((number - 1) * self._page)
        return self._file.read(self._page)

    def _read_log(self, log: Path) -> None:
        with log.open("rb") as file:
            salts = file.read(LOG_HEADER)[16:24]
            while len(frame := file.read(FRAME + self._page)) == FRAME + self._page:
                number = int.from_bytes(frame[:4], "big")
                if frame[8:16] == salts and 0 < number <= self._pages + len(self._log) + 10**6:
                    if number in self._log:
                        self._superseded.append((number, self._log[number]))
                    self._log[number] = frame[FRAME:]

    def _records(self, number: int, page: bytes) -> Iterator[Record]:
        start = HEADER if number == 1 else 0
        kind = page[start] if len(page) > start + 12 else None
        if kind not in (TABLE, KEYS, KEYS_ABOVE):
            self.unreadable += bool(page) and kind not in (0x05, 0x00, None) and number > 1
            return
        first = start + (12 if kind == KEYS_ABOVE else 8)
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        for place in range(first, min(first + 2 * count, len(page) - 1), 2):
            try:
                yield self._record(page, kind, int.from_bytes(page[place : place + 2], "big"))
            except (ValueError, IndexError, struct.error, UnicodeDecodeError, OverflowError):
                self.unreadable += 1

    def _record(self, page: bytes, kind: int, at: int) -> Record:
        at += 4 if kind == KEYS_ABOVE else 0
        size, at = _varint(page, at)
        rowid: int | None = None
        if kind == TABLE:
            number, at = _varint(page, at)
            rowid = number - 2**64 if number >= 2**63 else number  # SQLite's numbers have a sign
        return Record(rowid, _cells(self._payload(page, kind, at, size)))

    def _payload(self, page: bytes, kind: int, at: int, size: int) -> bytes:
        """The bytes of a record, from this page and those it goes on in."""
        local = self._local(kind, size)
        payload = page[at : at + local]
        if local < size:
            payload += self._overflow(int.from_bytes(page[at + local : at + local + 4], "big"), size - local)
        if len(payload) != size:
            raise ValueError("the record ends before its end")
        return payload

    def _local(self, kind: int, size: int) -> int:
        usable = self._usable
        most = usable - 35 if kind == TABLE else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (usable - 12) * 32 // 255 - 23
        fitting = least + (size - least) % (usable - 4)
        return fitting if fitting <= most else least

    def _overflow(self, number: int, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise ValueError("long records that lead in circles")
        parts = []
        while size > 0:
            page = self._content(number)[: self._usable]
            if len(page) < 4:
                raise ValueError("a page that is not there")
            parts.append(page[4 : 4 + size])
            size -= len(page) - 4
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big") if len(header) >= 18 else 0
    size = 65536 if size == 1 else size
    return size if 512 <= size <= 65536 and size & (size - 1) == 0 else USUAL


def _reserved(file: BinaryIO, page: int) -> int:
    file.seek(20)
    reserved = (file.read(1) or b"\0")[0]
    return reserved if page - reserved >= 480 else 0


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A whole number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | content[place] & 0x7F
        if content[place] < 0x80:
            return value, place + 1
    return value << 8 | content[at + 8], at + 9


def _cells(payload: bytes) -> tuple[Any, ...]:
    """The cells of a record: a head with the kind of each, then their bytes."""
    head, at = _varint(payload, 0)
    kinds = []
    while at < head:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    cells = []
    for kind in kinds:
        cell, at = _cell(payload, at, kind)
        cells.append(cell)
    if at != len(payload):
        raise ValueError("a record of another length")
    return tuple(cells)


def _cell(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    match kind:
        case 0:
            return None, at
        case 7:
            return struct.unpack_from(">d", payload, at)[0], at + 8
        case 8 | 9:
            return kind - 8, at
        case _ if kind < 7:
            return int.from_bytes(payload[at : at + SIZES[kind]], "big", signed=True), at + SIZES[kind]
        case _ if kind >= 12:
            end = at + (kind - 12) // 2
            return (payload[at:end].decode() if kind % 2 else payload[at:end]), end
    raise ValueError("a cell of no kind")
