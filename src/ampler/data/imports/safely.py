"""Files of a stranger, read without harm: bounded in number and size, and never outside their folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ampler.core.errors import InvalidData
from ampler.core.wording import in_bytes
from ampler.data.tables.files import first_line, read_bytes

MOST_FILES = 20_000  # in one folder of results, with all below it
DEEPEST = 6  # folders below the one that is named
LARGEST = 64 * 2**20  # bytes of one file of a folder
LARGEST_FOLDER = 512 * 2**20  # bytes of all files that are read of a folder


class Allowance:
    """How much may still be read of a folder."""

    def __init__(self, most: int = LARGEST_FOLDER) -> None:
        self.most, self.left = most, most

    def text(self, path: Path) -> str:
        """Return the content of a file as text, unpacked; InvalidData when it is too large or no text."""
        content = content_of(path, min(LARGEST, self.left))
        self.left -= len(content)
        return decoded(content, path.name)


def content_of(path: Path, limit: int) -> bytes:
    """Return what a file holds, unpacked; InvalidData when that is more than the limit."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise InvalidData(f"{path.name} has {in_bytes(size)}, more than the {in_bytes(limit)} that are read of it")
        content = read_bytes(path, limit=limit)
    except OSError as problem:
        raise InvalidData(f"{path.name} cannot be read: {first_line(problem)}") from problem
    return content


def decoded(content: bytes, name: str) -> str:
    """Return bytes as text in UTF-8; InvalidData when they are none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeError as problem:
        raise InvalidData(f"{name} is not UTF-8 text") from problem


def as_json(text: str | bytes, name: str) -> Any:
    """Return what a JSON text says; InvalidData when it is none, too deep, or holds a number of thousands of digits."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        what = "nests too deeply" if isinstance(problem, RecursionError) else "is not JSON"
        raise InvalidData(f"{name} {what}") from problem


def files_below(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """Return the files of a folder and of those in it whose names end so, in order; links are not followed."""
    return sorted(path for path in _walk(folder) if path.name.lower().endswith(endings))


def _walk(folder: Path) -> Iterator[Path]:
    number = 0
    for place, folders, files in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(folders) if depth < DEEPEST else []
        for name in sorted(files):
            number += 1
            if number > MOST_FILES:
                raise InvalidData(
                    f"{folder} holds more than {MOST_FILES:,} files; name the folder of the results alone"
                )
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path


def inside(folder: Path, name: str) -> Path | None:
    """Return a file that another file names, if it is there and inside the folder; None otherwise."""
    path = folder / name.replace("\\", "/")
    try:
        resolved = path.resolve()
        is_inside = resolved.is_relative_to(folder.resolve())
        return path if is_inside and path.is_file() and not path.is_symlink() else None
    except (OSError, ValueError):
        return None
