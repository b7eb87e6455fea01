"""Protocol of readers for other tools' results, and their shared code: untrusted files, rows, names.

A file of a stranger is bounded in size, a folder in number of files and depth; links are not followed, and nothing
outside the folder is read.
"""

from __future__ import annotations

import csv
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ampler.core.errors import InvalidData
from ampler.core.settings import Better
from ampler.core.text import in_bytes, parameter, quoted
from ampler.data.tables.files import DAMAGED, LIMIT, first_line, open_stream, read_bytes
from ampler.data.tables.vocabulary import ALGORITHM, fold

if TYPE_CHECKING:
    import pandas as pd

MAX_FILES = 20_000  # in one folder of results, with all below it
MAX_DEPTH = 6  # folders below the one that is named
LARGEST = 64 * 2**20  # bytes of one file, unpacked
LARGEST_FOLDER = 512 * 2**20  # bytes of all files that are read of a folder
MAX_DIGITS = 18  # maximum digits of an integer that is kept as one
Row = dict[str, Any]
T = TypeVar("T")


class ResultsReader(Protocol):
    """Results of one tool. A class of this form in the entry point group `ampler.readers` is a plug-in."""

    tool: str

    def recognises(self, file: ResultFile, /) -> bool:
        """Return whether a file belongs to this tool, by its name or its content."""

    def read(self, files: Sequence[ResultFile], source: str, /) -> Imported:
        """Return the runs in these files of a folder, or in one file; `source` is its name for messages."""


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """Runs of another tool: one row per run, the roles of the columns, and notes."""

    frame: pd.DataFrame
    tool: str
    algorithm: tuple[str, ...] = ()
    instance: tuple[str, ...] = ()
    value: str = ""
    summary: str = ""  # a sentence without its full stop
    better: Better | None = None
    question: str = ""  # question if the user does not name algorithm and instance either
    time_limits: Mapping[str, float | None] = field(default_factory=dict)  # of all runs, by the value that they limit
    row: str = "run"  # of the frame, in messages
    nested: tuple[str, ...] = ()  # columns whose groups of runs share a process: they are averaged


class ResultFile:
    """A file that is there to be read, not larger than allowed."""

    def __init__(
        self, path: Path, folder: Path | None = None, *, limit: int = LIMIT, allowance: list[int] | None = None
    ) -> None:
        self.path, self.name, self._limit = path, path.name, limit
        self._folder = folder or path.parent  # the one that the user named
        self._allowance = allowance or [LARGEST_FOLDER]  # bytes left, shared with the other files of a folder

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked; empty when they cannot be read."""
        try:
            with open_stream(self.path) as stream:
                return stream.read(4096)
        except DAMAGED:
            return b""

    def content(self, limit: int = LARGEST) -> bytes:
        """Return all bytes, unpacked; InvalidData when there are more than may be read."""
        limit = min(limit, self._limit, self._allowance[0])
        try:
            size = self.path.stat().st_size
            if size > limit:
                raise InvalidData(f"{self.name} has {in_bytes(size)}, more than the {in_bytes(limit)} that are read")
            content = read_bytes(self.path, limit=limit)
        except OSError as problem:
            raise InvalidData(f"{self.name} cannot be read: {first_line(problem)}") from problem
        self._allowance[0] -= len(content)
        return content

    def text(self, limit: int = LARGEST) -> str:
        """Return the content as text in UTF-8."""
        try:
            return self.content(limit).decode("utf-8-sig")
        except UnicodeError as problem:
            raise InvalidData(f"{self.name} is not UTF-8 text") from problem

    @property
    def top(self) -> str:
        """The first folder on the path from the user's folder to the file, or the user's folder."""
        return (*self.path.parent.relative_to(self._folder).parts, self._folder.name)[0]

    def sibling(self, name: str) -> ResultFile | None:
        """Return an existing file named by this one, within the same folder."""
        path = self.path.parent / name.replace("\\", "/")
        try:
            is_inside = path.resolve().is_relative_to(self.path.parent.resolve())
            if not is_inside or not path.is_file() or path.is_symlink():
                return None
        except (OSError, ValueError):
            return None
        return ResultFile(path, self._folder, limit=self._limit, allowance=self._allowance)

    def files_in(self, folder: str) -> Iterator[tuple[str, ResultFile]]:
        """Yield the files in a folder next to this one, by their names below it."""
        start = self.path.parent / folder
        if start.is_dir() and not start.is_symlink():
            for file in files_below(start, allowance=self._allowance):
                yield file.path.relative_to(start).as_posix(), file

    @cached_property
    def document(self) -> Any:
        """Content of a .json file; None for other files."""
        if ".json" not in [suffix.lower() for suffix in self.path.suffixes[-2:]]:
            return None
        return parse_json(self.content(LIMIT), self.name)

    def has(self, *names: str) -> bool:
        """Return whether the document is an object with these names."""
        return isinstance(self.document, dict) and all(name in self.document for name in names)


def parse_json(text: str | bytes, name: str) -> Any:
    """Parse a JSON text; integers too large for a column become floats."""
    try:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else float(digits))
    except (ValueError, RecursionError) as problem:
        reason = "nests too deeply" if isinstance(problem, RecursionError) else "is not JSON"
        raise InvalidData(f"{name} {reason}") from problem


def files_below(folder: Path, *, allowance: list[int] | None = None) -> list[ResultFile]:
    """Return the files of a folder and of those in it, in order; links are not followed."""
    paths: list[Path] = []
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(folders) if len(Path(directory).relative_to(folder).parts) < MAX_DEPTH else []
        paths += (Path(directory, name) for name in names)
        if len(paths) > MAX_FILES:
            raise InvalidData(f"{folder} holds more than {MAX_FILES:,} files; name the folder of the results alone")
    allowance = allowance or [LARGEST_FOLDER]
    regular = (path for path in sorted(paths) if path.is_file() and not path.is_symlink())
    return [ResultFile(path, folder, allowance=allowance) for path in regular]


SQLITE = b"SQLite format 3\0"
MAX_STEPS = 50_000_000  # steps of SQLite's machine: more than any file of this size needs


def is_sqlite(file: ResultFile) -> bool:
    """Return whether a file begins as one of SQLite."""
    return file.head.startswith(SQLITE)


def has_tables(file: ResultFile, tables: Collection[str]) -> bool:
    """Return whether a file is one of SQLite with these tables."""
    if not is_sqlite(file):
        return False
    try:
        with connected(file, "any tool") as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1000")
            return set(tables) <= {str(name) for (name,) in rows}
    except (OSError, InvalidData, UnicodeError):  # SQLite's message about a damaged file may be no text
        return False


@contextmanager
def connected(file: ResultFile, tool: str) -> Iterator[sqlite3.Connection]:
    """Open a file of SQLite for reading alone; a query that never ends is interrupted."""
    address = f"{file.path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            steps = iter(range(MAX_STEPS // 10_000))
            connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
    except sqlite3.Error as problem:
        raise InvalidData(f"{file.name} cannot be read as a database of {tool}: {problem}") from problem


def rows_of(files: Sequence[ResultFile], parse: Callable[[ResultFile], Iterable[T]], tool: str) -> list[T]:
    """Return the rows of all files; a file of another form is named in the error."""
    rows: list[T] = []
    for file in files:
        try:
            rows += parse(file)
        except InvalidData:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as problem:
            reason = f"{problem} is missing" if isinstance(problem, KeyError) else "a part of it has another form"
            raise InvalidData(f"{file.name} is not a valid {tool} file: {reason}") from problem
    return rows


def frame_of(rows: Sequence[Row], source: str, tool: str, *, number: Sequence[str] = ()) -> pd.DataFrame:
    """Return the rows as a data frame, in which runs that agree in the columns `number` are numbered from 1."""
    import pandas as pd

    if not rows:
        raise InvalidData(f"{source} holds no finished run of {tool}; there must be at least one")
    frame = pd.DataFrame(list(rows))
    return frame.assign(run=frame.groupby(list(number)).cumcount() + 1) if number else frame


def benchmarks_in(
    rows: Sequence[Row],
    source: str,
    tool: str,
    value: str,
    better: Better | None,
    *,
    further: Collection[str] = (),
    process: str = "",
) -> Imported:
    """Return benchmark runs of a program; the algorithm is a parameter of all benchmarks, or the file.

    Columns that are not the value, the run, the `process` or `further` ones make the instance. The only `unit` belongs
    to the name of the value: files with different units are not compared.
    """
    frame = frame_of(rows, source, tool)
    if "unit" in frame and frame["unit"].nunique() == 1:
        unit = frame.pop("unit").iloc[0]
        frame = frame.rename(columns={value: (value := f"{value} in {unit}")})
    names = [str(name) for name in frame.columns if name not in {value, "run", process, *further}]
    algorithm = tuple(name for name in names if fold(name) in ALGORITHM and frame[name].notna().all())[:1]
    instance = tuple(name for name in names if name not in algorithm)
    question = (
        f"{source} holds benchmarks without a common parameter for the algorithm; compare one file per"
        f" algorithm (base.json candidate.json), or name the algorithm by one of {quoted(names)}:"
        f" {parameter('algorithm', names[0])}"
    )
    summary = f"benchmarks with their parameters are the instances, the values are in {value!r}"
    frame = frame.astype(dict.fromkeys(instance, object)).fillna(dict.fromkeys(instance, "-"))
    several = process and frame.groupby(names)[process].nunique().min() > 1  # one at a time
    nested = (process,) if several else ()
    return Imported(frame, tool, algorithm, instance, value, summary, better, question, nested=nested)


def competitors_in(
    rows: Sequence[Row], source: str, tool: str, algorithm: str, value: str, *, further: Collection[str] = ()
) -> Imported:
    """Return times of functions or commands that compete; the other columns, their parameters, make the instance."""
    frame = frame_of(rows, source, tool)
    instance = tuple(str(name) for name in frame.columns if name not in {algorithm, value, "run", *further})
    if not instance:
        frame, instance = frame.assign(instance="the only one"), ("instance",)
    summary = f"each {algorithm} is taken as an algorithm, its parameters as the instance"
    frame = frame.astype(dict.fromkeys(instance, object)).fillna(dict.fromkeys(instance, "-"))
    return Imported(frame, tool, (algorithm,), instance, value, summary, "lower")


def header_of(file: ResultFile) -> list[str]:
    """Return the names of the columns of a CSV file with commas; none of a file that is none."""
    line = file.head.decode("utf-8-sig", "replace").partition("\n")[0].partition("\r")[0]
    return [cell.strip() for cell in next(csv.reader([line]), [])] if "," in line else []


def varying_parts(names: Sequence[Sequence[str]]) -> list[str]:
    """Return names made of the parts in which they differ; of all parts where they differ in none.

    >>> varying_parts([("Z3", "4.12", "quick"), ("Z3", "4.13", "quick")])
    ['4.12', '4.13']
    """
    varying = [len(set(parts)) > 1 for parts in zip(*names, strict=True)]
    chosen = varying if any(varying) else [True] * len(varying)
    return [" ".join(part for part, used in zip(name, chosen, strict=True) if used and part) or "-" for name in names]


def as_float(text: object) -> float:
    """Return a number; NaN for text that is none."""
    try:
        return float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")
