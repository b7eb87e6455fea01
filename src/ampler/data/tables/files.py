"""A file of results → a data frame whose index is the line in the file."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ampler.core.errors import InvalidData, MissingDependency
from ampler.core.names import composed
from ampler.core.spoken import parameter
from ampler.core.wording import count, in_bytes, quoted

if TYPE_CHECKING:
    import pandas as pd

# More text than this out of a compressed file is a mistake or a trap: it holds some ten million runs already.
LIMIT = 512 * 10**6
LONGEST_LINE = 2**20  # a table of results has no line of a megabyte; a parser would swallow it whole
HEADER_LINE = 1  # the line on which a CSV's header stands; the first row of data is the next

_OPENERS: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error)  # what a damaged file makes its reader say
_FOREIGN = {
    b"PK\x03\x04": "an Excel or zip file: save the table as CSV, or unpack it",
    b"\x89HDF": "an HDF5 file: save the table as CSV or Parquet",
    b"%PDF": "a PDF: save the table as CSV",
    b"RDX3": "an R data file: write the table with write.csv",
    b"\x80\x04": "a Python pickle, which is never opened because that runs its code: save the table as CSV or Parquet",
}


def read_text(path: Path, *, encoding: str | None = None, limit: int = LIMIT) -> pd.DataFrame:
    """Read CSV (comma, semicolon, tab or bar) or ARFF, also compressed.

    Every cell stays text, so that an instance called 007 keeps its name; the separator is in `attrs`.
    """
    head = measured_head(path, limit)
    _check_encoding(encoding)
    encoding = encoding or ("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    try:
        if head.lstrip().lower().startswith((b"@relation", b"%")):
            return _parse_arff(path, encoding)
        return _parse_csv(path, encoding)
    except UnicodeError as problem:
        raise InvalidData(_encoding_message(path, encoding)) from problem
    except csv.Error as problem:
        raise InvalidData(f"{path.name} is not a table of results: {first_line(problem)}") from problem


def read_parquet(path: Path, *, limit: int = LIMIT) -> pd.DataFrame:
    """Read a Parquet file, after asking its footer how large it will be."""
    try:
        import pyarrow
        import pyarrow.parquet as pq
    except ImportError as problem:
        raise MissingDependency("Parquet files need pyarrow: pip install 'ampler[parquet]'") from problem
    try:
        metadata = pq.ParquetFile(path).metadata
        told = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        size = max(8 * metadata.num_rows * metadata.num_columns, told)  # a column of one number is nothing on disk
        if size > limit:
            rows, columns = count(metadata.num_rows, "row"), count(metadata.num_columns, "column")
            raise InvalidData(
                f"{path.name} unpacks to more than {in_bytes(limit)}: {in_bytes(size)} ({rows} of {columns}) from"
                f" {in_bytes(path.stat().st_size)} on disk, which is refused as it would fill the memory; keep the rows"
                " and columns that are needed"
            )
        frame: pd.DataFrame = pq.read_table(path).to_pandas()
    except (pyarrow.ArrowException, OSError) as problem:
        raise InvalidData(f"{path.name} cannot be read as Parquet: {first_line(problem)}") from problem
    return frame


def read_bytes(path: Path, *, limit: int = LIMIT) -> bytes:
    """The whole content, decompressed."""
    measured_head(path, limit)
    with open_stream(path) as stream:
        return stream.read()


def measured_head(path: Path, limit: int) -> bytes:
    """The first bytes of a text file that was read through once without keeping it: it is whole and not too large."""
    limit = limit if _opener(path) else 2**63
    head, size = b"", 0
    try:
        with open_stream(path) as stream:
            while chunk := stream.read(LONGEST_LINE):
                size += len(chunk)
                if size > limit:
                    raise InvalidData(_too_large(path, limit))
                if len(chunk) == LONGEST_LINE and b"\n" not in chunk and b"\r" not in chunk:
                    raise InvalidData(f"{path.name} has a line of over a megabyte, so it is not a table of results")
                head = head or chunk[:4096]
    except _BROKEN as problem:
        raise InvalidData(f"{path.name} cannot be read: {first_line(problem)}") from problem
    if not head.strip():
        raise InvalidData(f"{path.name} is empty; it must hold a header and one row per run")
    _refuse_foreign(path, head)
    return head


def open_stream(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed if it begins like a gz, bz2 or xz file, whatever its name."""
    opener = _opener(path)
    stream: IO[bytes] = opener(path) if opener else path.open("rb")
    return stream


def first_line(problem: BaseException) -> str:
    """What a library's error says, in one line."""
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]


def _opener(path: Path) -> Callable[[Path], Any] | None:
    with path.open("rb") as file:
        start = file.read(8)
    return next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)


def _refuse_foreign(path: Path, head: bytes) -> None:
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise InvalidData(f"{path.name} is {what}")
    if b"\0" in head and head[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        raise InvalidData(
            f"{path.name} is not a text table (it holds zero bytes); save it as CSV in UTF-8 or as Parquet"
        )


def _check_encoding(encoding: str | None) -> None:
    try:
        codecs.lookup(encoding or "utf-8").incrementaldecoder("strict").decode(b"")
    except (LookupError, TypeError) as problem:
        raise InvalidData(f"{encoding!r} is not a text encoding; common ones are utf-8 and cp1252") from problem


def _too_large(path: Path, limit: int) -> str:
    return (
        f"{path.name} unpacks to more than {in_bytes(limit)}, which is refused because it would fill the memory;"
        " unpack it yourself if it is what you expect, and analyse the unpacked file"
    )


def _parse_csv(path: Path, encoding: str) -> pd.DataFrame:
    import pandas as pd

    separator = _separator(path, encoding)
    header = _header(path, encoding, separator)
    with open_stream(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header would be cut silently
        try:
            frame: pd.DataFrame = pd.read_csv(
                stream,
                sep=separator,
                encoding=encoding,
                header=0,
                names=header,
                index_col=False,
                dtype="str",
                keep_default_na=False,  # an algorithm may be called NA or None
                skip_blank_lines=False,  # so that a row's number is its line
                skipinitialspace=True,
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError, pd.errors.ParserWarning) as problem:
            raise InvalidData(f"{path.name} cannot be read as CSV: {first_line(problem)}") from problem
    frame = frame.fillna("")  # rows shorter than the header
    frame.index = pd.RangeIndex(HEADER_LINE + 1, HEADER_LINE + 1 + len(frame))
    frame.attrs["separator"] = separator
    return frame[~(frame == "").all(axis=1)]


def _header(path: Path, encoding: str, separator: str) -> list[str]:
    """The names of the columns; empty ones get a name that says where they stand."""
    with io.TextIOWrapper(open_stream(path), encoding=encoding, newline="") as text:
        reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
        cells, first_row = next(reader, []), next(reader, [])
    if len(first_row) == len(cells) + 1:
        cells = ["row name", *cells]  # as R's write.table does it
    names = [composed(cell.strip()) or f"column {place}" for place, cell in enumerate(cells, start=1)]
    _refuse_twice(names, path)
    return names


def _separator(path: Path, encoding: str) -> str:
    """The separator that splits the header most; a comma when none does."""
    with io.TextIOWrapper(open_stream(path), encoding=encoding, newline="") as text:
        line = text.readline()
    counts = {mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in ",;\t|"}
    return max(counts, key=lambda mark: counts[mark])


def _parse_arff(path: Path, encoding: str) -> pd.DataFrame:
    """ASlib's own format: attributes by name, then rows as in CSV."""
    import pandas as pd

    names: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    with io.TextIOWrapper(open_stream(path), encoding=encoding, newline="") as text:
        in_data = False
        for number, line in enumerate(text, start=1):
            if not line.strip() or line.lstrip().startswith("%"):
                continue
            if in_data:
                rows.append([cell.strip() for cell in next(csv.reader([line], quotechar="'", skipinitialspace=True))])
                lines.append(number)
            elif line.lower().lstrip().startswith("@attribute"):
                names.append(_attribute(line, f"line {number} of {path.name}"))
            in_data = in_data or line.lower().lstrip().startswith("@data")
    _refuse_twice(names, path)
    if any(len(row) != len(names) for row in rows):
        wrong = next(number for number, row in zip(lines, rows, strict=True) if len(row) != len(names))
        raise InvalidData(f"line {wrong} of {path.name} must hold {len(names)} cells, one for each @attribute")
    return pd.DataFrame(rows, columns=names, index=lines, dtype="str")


def _attribute(line: str, where: str) -> str:
    """The name that a line gives to a column."""
    words = line.split(None, 1)[1:]
    cells = next(csv.reader([words[0].replace("\t", " ")], delimiter=" ", quotechar="'"), []) if words else []
    if not cells or not cells[0].strip():
        raise InvalidData(f"{where} must name an attribute and its type, as in @attribute runtime numeric")
    return composed(cells[0].strip())


def _refuse_twice(names: list[str], path: Path) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidData(f"{path.name} has more than one column called {quoted(twice, 3)}; rename one of them")


def _encoding_message(path: Path, encoding: str) -> str:
    name = "UTF-8" if encoding == "utf-8-sig" else encoding
    return (
        f"line {_undecodable_line(path, encoding)} of {path.name} is not {name} text;"
        f" save the file as UTF-8 or say its encoding ({parameter('encoding', 'cp1252')} is usual for files from"
        " Windows)"
    )


def _undecodable_line(path: Path, encoding: str) -> int:
    with open_stream(path) as stream:
        number = 0
        for number, line in enumerate(stream, start=1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return number
        return number
