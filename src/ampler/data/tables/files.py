"""A file of results → a data frame: CSV and ARFF with the line of each row as index, and Parquet."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ampler.core.errors import InvalidData, MissingDependency
from ampler.core.text import composed, count, in_bytes, parameter, quoted

if TYPE_CHECKING:
    import pandas as pd

# Maximum size of uncompressed text: some ten million runs.
LIMIT = 512 * 10**6
LONGEST_LINE = 2**20  # maximum length of a line, as the parser reads whole lines
HEADER_LINE = 1  # the line on which a CSV's header stands; the first row of data is the next
MAX_COMMENTS = 1000  # lines before the header
MARKS = ",;\t|"  # between cells
UTF16 = (b"\xff\xfe", b"\xfe\xff")

_OPENERS: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
DAMAGED = (EOFError, OSError, lzma.LZMAError, zlib.error)
_FOREIGN = {
    b"PK\x03\x04": "an Excel or zip file: save the table as CSV, or unpack it",
    b"\x89HDF": "an HDF5 file: save the table as CSV or Parquet",
    b"%PDF": "a PDF: save the table as CSV",
    b"RDX3": "an R data file: write the table with write.csv",
    b"\x80\x04": "a Python pickle; opening it would run its code: save the table as CSV or Parquet",
}


def read_text(path: Path, *, encoding: str | None = None, limit: int = LIMIT) -> pd.DataFrame:
    """Read CSV (comma, semicolon, tab or bar) or ARFF, also compressed.

    Every cell stays text, so that an instance called 007 keeps its name; the separator is in `attrs`.
    """
    head = measured_head(path, limit)
    try:
        codecs.lookup(encoding or "utf-8").incrementaldecoder("strict").decode(b"")
    except (LookupError, TypeError) as problem:
        raise InvalidData(f"{encoding!r} is not a text encoding; common ones are utf-8 and cp1252") from problem
    encoding = encoding or ("utf-16" if head.startswith(UTF16) else "utf-8-sig")
    try:
        is_arff = head.lstrip().lower().startswith((b"@relation", b"%"))
        return _parse_arff(path, encoding) if is_arff else _parse_csv(path, encoding)
    except UnicodeError as problem:
        name = "UTF-8" if encoding == "utf-8-sig" else encoding
        raise InvalidData(
            f"line {_undecodable_line(path, encoding)} of {path.name} is not {name} text; save the file as UTF-8 or"
            f" specify its encoding ({parameter('encoding', 'cp1252')} is usual for files from Windows)"
        ) from problem
    except csv.Error as problem:
        raise InvalidData(f"{path.name} is not a table of results: {first_line(problem)}") from problem


def read_parquet(path: Path, *, limit: int = LIMIT) -> pd.DataFrame:
    """Read a Parquet file, after asking its footer how large it will be."""
    pyarrow, parquet = parquet_modules()
    try:
        with path.open("rb") as stream:  # pyarrow requires UTF-8 paths
            return _frame_within(parquet.ParquetFile(stream), path, limit)
    except InvalidData:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, TypeError) as problem:  # its metadata are foreign
        raise InvalidData(f"{path.name} cannot be read as Parquet: {first_line(problem)}") from problem


def _frame_within(file: Any, path: Path, limit: int) -> pd.DataFrame:
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    columns = [group.column(j) for group in groups for j in range(metadata.num_columns)]
    # a column of one number is tiny on disk
    size = sum(max(8 * column.num_values, column.total_uncompressed_size) for column in columns)
    size = max(size, 8 * metadata.num_rows * metadata.num_columns)
    if size > limit or (table := _table_within(file, columns, limit)) is None:
        shape = f"{count(metadata.num_rows, 'row')} of {count(metadata.num_columns, 'column')}"
        amount = f"{in_bytes(size)} ({shape})" if size > limit else shape
        found = f" ({amount} from {in_bytes(path.stat().st_size)} on disk)"
        raise _too_large(path, limit, "save only the rows and columns that are needed", found)
    try:
        frame: pd.DataFrame = table.to_pandas()
    except Exception:  # pandas metadata describe other columns, as after an edit by another tool
        frame = table.replace_schema_metadata().to_pandas()
    return frame


def _too_large(path: Path, limit: int, remedy: str, found: str = "") -> InvalidData:
    name, most = path.name, in_bytes(limit)
    return InvalidData(f"{name} unpacks to more than {most}, which could fill the memory{found}; {remedy}")


def parquet_modules() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet; MissingDependency where they are not installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as problem:
        raise MissingDependency("Parquet files need pyarrow: pip install 'ampler[parquet]'") from problem


def _table_within(file: Any, columns: Sequence[Any], limit: int) -> Any | None:
    """A Parquet file as a table; None as soon as it takes more bytes than the limit.

    The footer has the sizes as encoded. A text that stands in a dictionary once, or is the beginning of the next, is
    repeated when it is decoded: at worst every value is as long as its column.
    """
    import pyarrow

    texts = [column for column in columns if column.physical_type == "BYTE_ARRAY"]
    if sum(column.num_values * column.total_uncompressed_size for column in texts) <= limit:
        return file.read()
    if any(column.num_values > file.metadata.row_group(0).num_rows for column in texts):  # lists
        return None
    sizes = sorted((column.total_uncompressed_size, column.path_in_schema) for column in texts)
    longest_row = sum({name: size for size, name in sizes}.values())
    batches, size = [], 0
    for batch in file.iter_batches(batch_size=max(1, min(2**16, limit // (4 * longest_row)))):
        batches.append(batch)
        if (size := size + batch.nbytes) > limit:
            return None
    return pyarrow.Table.from_batches(batches, schema=file.schema_arrow)


def read_excel(path: Path, *, limit: int = LIMIT) -> pd.DataFrame:
    """Read the only sheet of an Excel file, after asking its archive how large it will be."""
    import pandas as pd

    try:
        import openpyxl  # used by pandas
    except ImportError as problem:
        raise MissingDependency("Excel files need openpyxl: pip install 'ampler[excel]'") from problem
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size <= limit:
            size = max(map(_extent, openpyxl.load_workbook(path, read_only=True)), default=0)
        if size > limit:
            raise _too_large(path, limit, "save the table as CSV", f" ({in_bytes(size)})")
        sheets: dict[str, pd.DataFrame] = pd.read_excel(path, sheet_name=None, engine="openpyxl")
    except InvalidData:
        raise
    except Exception as problem:  # openpyxl passes on errors of its parsers
        raise InvalidData(f"{path.name} cannot be read as an Excel file: {first_line(problem)}") from problem
    filled = {name: sheet for name, sheet in sheets.items() if not sheet.empty}
    if len(filled) != 1:
        raise InvalidData(
            f"{path.name} must hold one sheet with a table, got {quoted(filled) or 'none'}; save it as CSV"
        )
    return next(iter(filled.values()))


def _extent(sheet: Any) -> int:
    """The memory of a sheet as a table, at eight bytes for each cell of its full range."""
    if not hasattr(sheet, "iter_rows"):  # a sheet of a chart
        return 0
    sheet.reset_dimensions()  # the recorded dimensions may be wrong
    rows = width = 0
    for row in sheet.iter_rows(values_only=True):
        rows, width = rows + 1, max(width, len(row))
    return 8 * rows * width


def read_bytes(path: Path, *, limit: int = LIMIT) -> bytes:
    """Return the whole content, decompressed."""
    measured_head(path, limit)
    with open_stream(path) as stream:
        return stream.read()


def measured_head(path: Path, limit: int) -> bytes:
    """Return the first bytes of a text file, after reading it through once: it is whole and not too large."""
    limit = limit if _opener(path) else 2**63
    head, size = b"", 0
    try:
        with open_stream(path) as stream:
            while chunk := stream.read(LONGEST_LINE):
                size += len(chunk)
                if size > limit:
                    raise _too_large(path, limit, "if this is expected, unpack it and analyse the unpacked file")
                if len(chunk) == LONGEST_LINE and b"\n" not in chunk and b"\r" not in chunk:
                    raise InvalidData(f"{path.name} has a line of over a megabyte, so it is not a table of results")
                head = head or chunk[:4096]
    except DAMAGED as problem:
        raise InvalidData(f"{path.name} cannot be read: {first_line(problem)}") from problem
    if not head.strip():
        raise InvalidData(f"{path.name} is empty; it must hold a header and one row per run")
    for magic, description in _FOREIGN.items():
        if head.startswith(magic):
            raise InvalidData(f"{path.name} is {description}")
    if b"\0" in head and not head.startswith(UTF16):
        raise InvalidData(
            f"{path.name} is not a text table (it holds zero bytes); save it as CSV in UTF-8 or as Parquet"
        )
    return head


def open_stream(path: Path) -> IO[bytes]:
    """Open a file for reading bytes, decompressed if its content is gz, bz2 or xz."""
    opener = _opener(path)
    stream: IO[bytes] = opener(path) if opener else path.open("rb")
    return stream


def first_line(problem: BaseException) -> str:
    """Return the message of a library's error in one line."""
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]


def _opener(path: Path) -> Callable[[Path], Any] | None:
    with path.open("rb") as file:
        start = file.read(8)
    return next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)


def _text_lines(path: Path, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(open_stream(path), encoding=encoding, newline="")


def _parse_csv(path: Path, encoding: str) -> pd.DataFrame:
    import pandas as pd

    comments, separator, header = _header(path, encoding)
    with open_stream(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header would be cut silently
        try:
            frame: pd.DataFrame = pd.read_csv(
                stream,
                sep=separator,
                encoding=encoding,
                header=0,
                skiprows=comments,
                names=header,
                index_col=False,
                dtype="str",
                keep_default_na=False,  # an algorithm may be called NA or None
                skip_blank_lines=False,  # so that the number of a row is its line
                skipinitialspace=True,
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError, pd.errors.ParserWarning) as problem:
            raise InvalidData(f"{path.name} cannot be read as CSV: {_csv_problem(problem)}") from problem
    frame = frame.fillna("")  # rows shorter than the header
    first = HEADER_LINE + comments + 1
    frame.index = pd.RangeIndex(first, first + len(frame))
    frame.attrs["separator"] = separator
    is_comment = frame.iloc[:, 0].str.startswith("#") & (frame.iloc[:, 1:] == "").all(axis=1)
    return frame[~is_comment & ~(frame == "").all(axis=1)]


def _csv_problem(problem: Exception) -> str:
    """Description of invalid rows, from the message of pandas."""
    if match := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(problem)):
        return f"line {match[2]} has {match[3]} cells, and lines above it have {match[1]}"
    if match := re.search(r"inside string starting at row (\d+)", str(problem)):
        return f"a quotation mark that opens near line {int(match[1]) + HEADER_LINE} is never closed"
    return "its rows have more cells than its header"


def _header(path: Path, encoding: str) -> tuple[int, str, list[str]]:
    """The number of comments before the header, the separator, and the names of the columns; empty ones are numbered.

    Comments begin with #; a header may begin so, too, as in #jobs,time.
    """
    with _text_lines(path, encoding) as text:
        lines = list(islice(text, MAX_COMMENTS + 2))
    comments = len(list(takewhile(lambda line: line.startswith("#"), lines[:MAX_COMMENTS])))
    last, below = (lines[k] if 0 <= k < len(lines) else "" for k in (comments - 1, comments))
    if any(mark in below and last.count(mark) == below.count(mark) for mark in MARKS) and re.search(r"\d", below):
        comments -= 1
    # the separator that splits the header most; a comma when none does
    separator = max(MARKS, key=lambda mark: len(next(csv.reader(lines[comments : comments + 1], delimiter=mark), [])))
    reader = csv.reader(lines[comments:], delimiter=separator, skipinitialspace=True)
    cells, first_row = next(reader, []), next(reader, [])
    if len(first_row) == len(cells) + 1:
        cells = ["row name", *cells]  # as R's write.table does it
    names = [composed(cell.strip()) or f"column {k}" for k, cell in enumerate(cells, start=1)]
    return comments, separator, _different(names, path)


def _parse_arff(path: Path, encoding: str) -> pd.DataFrame:
    """ASlib's own format: attributes by name, then rows as in CSV."""
    import pandas as pd

    names: list[str] = []
    rows: dict[int, list[str]] = {}
    with _text_lines(path, encoding) as text:
        in_data = False
        for number, line in enumerate(text, start=1):
            keyword = line.lstrip().lower()
            if not keyword or keyword.startswith("%"):
                continue
            if in_data:
                rows[number] = list(map(str.strip, next(csv.reader([line], quotechar="'", skipinitialspace=True))))
            elif keyword.startswith("@attribute"):
                names.append(_attribute(line, f"line {number} of {path.name}"))
            in_data = in_data or keyword.startswith("@data")
    _different(names, path)
    for number, row in rows.items():
        if len(row) != len(names):
            raise InvalidData(f"line {number} of {path.name} must hold {len(names)} cells, one for each @attribute")
    return pd.DataFrame(list(rows.values()), columns=names, index=list(rows), dtype="str")


def _attribute(line: str, where: str) -> str:
    """The name of a column in a line such as @attribute runtime numeric."""
    words = line.split(None, 1)[1:]
    cells = next(csv.reader([words[0].replace("\t", " ")], delimiter=" ", quotechar="'"), []) if words else []
    if not cells or not cells[0].strip():
        raise InvalidData(f"{where} must name an attribute and its type, as in @attribute runtime numeric")
    return composed(cells[0].strip())


def _different(names: list[str], path: Path) -> list[str]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidData(f"{path.name} has more than one column called {quoted(twice, 3)}; rename one of them")
    return names


def _undecodable_line(path: Path, encoding: str) -> int:
    with open_stream(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return number
    return 0
