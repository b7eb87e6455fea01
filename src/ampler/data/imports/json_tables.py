"""JSON of any origin: tables, and logs in JSON lines, as evaluations of language models write them.

A table is a list of records, columns by name, or rows below columns, as pandas has it. A log has one object per line,
one line per attempt; which key is what is found as in any long table (model, task, attempt, score, …). Objects within
an object become columns called outer.inner; lists are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ampler.core.errors import InvalidData
from ampler.data.imports.reader import Imported, ResultFile, Row, frame_of, parse_json

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.bz2", ".jsonl.xz", ".ndjson.gz")
MAX_TEXT = 200  # a text longer than this names nothing: it is a prompt or an answer
MAX_KEYS = 200
INSIDE = ("data", "records", "rows", "runs")  # under which records may lie in a document


class JsonTable:
    """A table of any origin, in a file that no other reader recognises."""

    tool = "JSON"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether a file is called as JSON is."""
        return file.document is not None

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return the table as it is."""
        frame = table_in(files[0].document)
        if frame is None:
            raise InvalidData(
                f"{source} has an unknown format: it must be a table of records,"
                ' [{"solver": "a", "problem": "x", "result": 1.5}, …], or the output of a supported tool'
                " (docs/readers.md); save other results as CSV or Parquet"
            )
        return Imported(frame, self.tool, row="row")


def table_in(document: Any) -> pd.DataFrame | None:
    """Return the table in a JSON document; None when it holds none.

    >>> table_in([{"solver": "a", "result": 1.5}, {"solver": "b", "result": 2}]).shape
    (2, 2)
    """
    import pandas as pd

    table = _table(document)
    if not table:
        return None
    frame = pd.DataFrame(table)
    is_numbered = all(str(label).isdigit() for label in frame.index)  # other labels name the instances
    return frame.reset_index(drop=True) if is_numbered else frame


def _table(document: Any) -> Any:
    """The records or the columns in a document, for a data frame; None if there are none."""
    if isinstance(document, list):
        return document if all(map(_is_record, document)) else None
    if not isinstance(document, Mapping):
        return None
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        fits = all(isinstance(row, list) and len(row) == len(names) and _are_cells(row) for row in rows)
        return [dict(zip(map(str, names), row, strict=True)) for row in rows] if fits else None
    inside = (_table(document[name]) for name in INSIDE if isinstance(document.get(name), list))
    if table := next(filter(None, inside), None):
        return table
    columns = list(document.values())
    are_lists = all(isinstance(column, list) and column and _are_cells(column) for column in columns)
    fits = len(set(map(len, columns))) == 1 if are_lists and columns else all(map(_is_record, columns))
    return dict(document) if len(columns) > 1 and fits else None


def _is_record(record: Any) -> bool:
    return isinstance(record, Mapping) and bool(record) and _are_cells(record.values())


def _are_cells(values: Iterable[Any]) -> bool:
    return all(value is None or isinstance(value, str | int | float) for value in values)


class JsonLines:
    """Logs, one after the other."""

    tool = "JSON lines"

    def recognises(self, file: ResultFile) -> bool:
        """Return whether a file is called as a log."""
        return file.name.lower().endswith(ENDINGS)

    def read(self, files: Sequence[ResultFile], source: str) -> Imported:
        """Return one row per line."""
        return Imported(frame_of([row for file in files for row in log_rows(file)], source, "a log"), self.tool)


def log_rows(file: ResultFile, *, lists: Collection[str] = ()) -> Iterator[Row]:
    """Yield the cells of each line, with the lists under these names."""
    for number, line in enumerate(file.text().splitlines(), 1):
        if not line.strip():
            continue
        where = f"line {number} of {file.name}"
        document = parse_json(line, where)
        if not isinstance(document, dict) or len(document) > MAX_KEYS:
            raise InvalidData(f"{where} must be a JSON object with at most {MAX_KEYS} keys, as every line of a log")
        row: Row = {}
        for name, value in document.items():
            inner = value.items() if isinstance(value, dict) and len(value) <= MAX_KEYS else ()
            row |= {f"{name}.{key}": item for key, item in inner if _is_cell(item)}
            row |= {name: value} if _is_cell(value) or name in lists else {}
        if row:
            yield row


def _is_cell(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= MAX_TEXT)
