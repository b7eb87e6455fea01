"""Reading a table of results: a file or a data frame, the rows that are wanted, its shape, its runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ampler.core.errors import InvalidData
from ampler.core.names import composed
from ampler.core.spoken import parameter
from ampler.core.wording import quoted
from ampler.data.tables.cells import Place, holds_numbers, holds_whole_numbers, plain_cells, same
from ampler.data.tables.columns import Columns, Kinds, Shape, Wide, find, shape_of
from ampler.data.tables.files import LIMIT, read_bytes, read_parquet, read_text
from ampler.data.tables.hyperfine import instance_columns, read_hyperfine
from ampler.data.tables.records import read_records
from ampler.data.tables.shapes import Direction, ResultsTable, to_table
from ampler.data.tables.suspects import check_side_by_side, check_value
from ampler.data.tables.vocabulary import SEED, counts, fold

if TYPE_CHECKING:
    import pandas as pd

_FIND_ALL = Columns()
FRAME_ROW = "row"  # of a data frame


def read_table(
    source: str | PathLike[str] | pd.DataFrame,
    *,
    columns: Columns = _FIND_ALL,
    where: Mapping[str, str] | None = None,
    encoding: str | None = None,
    limit: int = LIMIT,
) -> ResultsTable:
    """Read results from a file or a data frame, long or wide; columns are found by their names.

    `where` keeps the rows with these values: `where={"dimension": "30"}`.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"Solver": ["a", "b"] * 2, "Problem": [1, 1, 2, 2], "Result": [4.0, 5.0, 6.0, 8.0]})
    >>> table = read_table(frame)
    >>> table.runs.algorithms, table.runs.instances, table.runs.value.tolist()
    (('a', 'b'), ('1', '2'), [4.0, 5.0, 6.0, 8.0])
    """
    found = _found(source, columns, encoding, limit)
    columns, place = found.columns, found.place
    frame = _without(_chosen(found.frame, where or {}, place), columns.ignore)
    shape = shape_of(_kinds(frame), columns)
    check_side_by_side(frame, shape, columns)
    check_value(frame, shape, columns)
    frame, shape = _with_names(frame, shape, place)
    table = to_table(frame, shape, columns=columns, place=place)
    return replace(
        table,
        direction=found.direction or table.direction,
        taken=found.taken or table.taken,
        time_limit=found.time_limit,
    )


def shape_in(
    source: str | PathLike[str], columns: Columns, encoding: str | None = None, limit: int = LIMIT
) -> tuple[pd.DataFrame, Shape | InvalidData]:
    """Return a table as it lies there with its shape, or with the sentence why it has none."""
    found = _found(source, columns, encoding, limit)
    try:
        frame = _without(found.frame, found.columns.ignore)
        shape = shape_of(_kinds(frame), found.columns)
        check_side_by_side(frame, shape, found.columns)
        check_value(frame, shape, found.columns)
        return found.frame, _with_names(frame, shape, found.place)[1]
    except InvalidData as problem:
        return found.frame, problem


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A table that was found, and what its source says of it."""

    frame: pd.DataFrame
    place: Place
    columns: Columns
    taken: str = ""
    direction: Direction | None = None
    time_limit: float | None = None


def _found(source: Any, columns: Columns, encoding: str | None, limit: int) -> _Found:
    if not isinstance(source, str | PathLike):
        return _Found(_from_memory(source), Place("the data frame", FRAME_ROW), columns)
    path = Path(source)
    if not path.is_file() and not path.is_dir():
        raise InvalidData(f"the results must be in a file or a folder, but {path} does not exist")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] in ([".parquet"], [".pq"]) and path.is_file():
        return _Found(_indexed(read_parquet(path, limit=limit)), Place(path.name, FRAME_ROW), columns)
    if ".json" in suffixes[-2:] and path.is_file():
        return _in_json(path, read_bytes(path, limit=limit), columns)
    return _of_tool(path, columns) or _Found(read_text(path, encoding=encoding, limit=limit), Place(path.name), columns)


def _in_json(path: Path, content: bytes, columns: Columns) -> _Found:
    """A table of records, or what hyperfine writes."""
    records = read_records(content)
    if records is None:
        frame = read_hyperfine(content, path.name)
        taken = "commands are taken as algorithms, parameters as the instance"
        measured = Direction("lower", "what hyperfine measures")
        return _Found(frame, Place(path.name, "run"), _for_hyperfine(frame, columns, path.name), taken, measured)
    return _Found(_indexed(records), Place(path.name, FRAME_ROW), columns)


def _of_tool(path: Path, columns: Columns) -> _Found | None:
    """What another tool left there; None if no tool is known that did."""
    from ampler.data.imports import read_import

    imported = read_import(path)
    if imported is None:
        return None
    said = columns.algorithm or columns.instance or columns.value or columns.algorithms
    known = replace(
        columns,
        algorithm=columns.algorithm or imported.algorithm,
        instance=columns.instance or imported.instance,
        value=columns.value or imported.value or None,
    )
    if imported.question and not (known.algorithm and known.instance):
        raise InvalidData(imported.question)
    better = imported.better if columns.value in (None, imported.value) else None
    direction = None if better is None else Direction(better, f"what {imported.tool} records")
    limit = imported.time_limits.get(str(known.value))
    return _Found(imported.frame, Place(path.name, "run"), known, "" if said else imported.taken, direction, limit)


def _from_memory(source: Any) -> pd.DataFrame:
    """A pandas data frame, or anything that can become one (polars, pyarrow)."""
    import pandas as pd

    frame = source.to_pandas() if hasattr(source, "to_pandas") else source
    if not isinstance(frame, pd.DataFrame):
        raise InvalidData(f"results must be a path or a data frame, got {type(source).__name__}")
    return _indexed(frame)


def _indexed(frame: pd.DataFrame) -> pd.DataFrame:
    """An index with names or words becomes columns; then rows are numbered from 0."""
    import pandas as pd

    if isinstance(frame.columns, pd.MultiIndex):
        raise InvalidData("the data frame must have one row of column names, got several levels; join them first")
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    elif not isinstance(frame.index, pd.RangeIndex) and not pd.api.types.is_integer_dtype(frame.index):
        frame = frame.rename_axis("instance").reset_index()
    frame = frame.reset_index(drop=True)
    frame.columns = [composed(str(name).strip()) for name in frame.columns]
    if not frame.columns.is_unique:
        raise InvalidData("the columns of the data frame must have different names")
    return frame.assign(**{name: plain_cells(frame[name]) for name in frame.columns if frame[name].dtype.kind in "Oc"})


def _for_hyperfine(frame: pd.DataFrame, columns: Columns, source: str) -> Columns:
    instance = columns.instance or instance_columns(frame)
    if not instance:
        raise InvalidData(
            f"{source} times each command in one situation only; a comparison needs several instances,"
            " given to hyperfine as a parameter: hyperfine -L instance a.txt,b.txt 'solver {instance}'"
        )
    return replace(
        columns,
        algorithm=columns.algorithm or ("algorithm",),
        instance=instance,
        value=columns.value or "value",
    )


def _without(frame: pd.DataFrame, ignored: Collection[str]) -> pd.DataFrame:
    header = [str(name) for name in frame.columns]
    return frame.drop(columns=[find(header, name, "ignore") for name in ignored])


def _kinds(frame: pd.DataFrame) -> Kinds:
    header = tuple(str(name) for name in frame.columns)
    numeric = tuple(name for name in header if holds_numbers(frame[name]))
    counting = tuple(name for name in numeric if counts(name) and holds_whole_numbers(frame[name]))
    names = (name for name in header if name not in numeric or name in counting)
    return Kinds(header, numeric, counting, telling=tuple(name for name in names if frame[name].is_unique))


def _with_names(frame: pd.DataFrame, shape: Shape, place: Place) -> tuple[pd.DataFrame, Shape]:
    """A data frame in which nothing names the instances: the numbers of its rows do."""
    if not isinstance(shape, Wide) or shape.names:
        return frame, shape
    header = [str(name) for name in frame.columns]
    if place.row != FRAME_ROW or shape.index or any(fold(name) in SEED for name in header):
        raise InvalidData(
            f"no column names the instance; say which with {parameter('instance')}: the columns are {quoted(header)}"
        )
    name = next(word for word in ("row", "row number", "number of the row") if word not in header)
    return frame.assign(**{name: frame.index.astype("str")}), replace(shape, names=(name,))


def _chosen(frame: pd.DataFrame, where: Mapping[str, str], place: Place) -> pd.DataFrame:
    header = [str(name) for name in frame.columns]
    for wanted, level in where.items():
        name = find(header, composed(wanted), "where")
        levels = frame[name].unique()
        keep = [each for each in levels if same(str(each), str(level))]
        if not keep:
            raise InvalidData(
                f"no row of {place.source} has {name}={level}; its values are {quoted(map(str, levels), 10)}"
            )
        frame = frame[frame[name].isin(keep)]
    return frame
