"""Reading a table of results: a file or a data frame, the rows to compare, its shape, its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.core.arrays import STATUSES, Runs
from ampler.core.errors import InvalidData
from ampler.core.text import composed, parameter, quoted
from ampler.data.tables.cells import RowLocation, same, scalar_cells
from ampler.data.tables.columns import Columns, Shape, find, no_column, roles_of, shape_of
from ampler.data.tables.files import LIMIT, read_excel, read_parquet, read_text
from ampler.data.tables.shapes import Direction, ResultsTable, check_spelling, spelling_key, to_table
from ampler.data.tables.vocabulary import ALGORITHM, SEED, VALUE, fold

if TYPE_CHECKING:
    import pandas as pd

_FIND_ALL = Columns()
FRAME_ROW = "row"  # of a data frame


def read_table(
    source: str | PathLike[str] | pd.DataFrame | Files,
    *,
    columns: Columns = _FIND_ALL,
    where: Mapping[str, str] | None = None,
    encoding: str | None = None,
    limit: int = LIMIT,
) -> ResultsTable:
    """Read results from a file or a data frame, long or wide; columns are found by their names.

    Of several files, by name or in a list, each holds the runs of one algorithm; so do the tables in a folder. `where`
    selects the rows with these values: `where={"dimension": "30"}`.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"Solver": ["a", "b"] * 2, "Problem": [1, 1, 2, 2], "Result": [4.0, 5.0, 6.0, 8.0]})
    >>> table = read_table(frame)
    >>> table.runs.algorithms, table.runs.instances, table.runs.value.tolist()
    (('a', 'b'), ('1', '2'), [4.0, 5.0, 6.0, 8.0])
    """
    files: Mapping[str, str | PathLike[str]] | None = source if isinstance(source, Mapping) else None
    folder = ""
    if isinstance(source, Sequence) and not isinstance(source, str):
        if not all(isinstance(path, str | PathLike) for path in source):
            raise InvalidData(f"several results must be files by name, got a list of {type(source[0]).__name__}")
        files = _by_stem([Path(path) for path in source])
    if files is None:
        table = _read(source, columns, encoding, limit)
        if not table.files:
            return _results(table, where)
        files, folder = table.files, table.summary
    if not files:
        raise InvalidData("there must be at least one file of results, got none")
    for option in ("paired", "crossed", "resampled"):
        if getattr(columns, option, ()):
            raise InvalidData(f"{parameter(option)} needs all algorithms in one table; join the files first")
    results = {}
    for name, path in files.items():
        table = _read(path, columns, encoding, limit)
        results[str(name)] = _results(_of_algorithm(str(name), table, columns), where)
    return _joined(results, columns, folder)


def _results(table: _Table, where: Mapping[str, str] | None) -> ResultsTable:
    columns, location, frame = table.columns, table.location, table.frame
    if table.question and not (columns.algorithm and columns.instance):
        raise InvalidData(table.question)
    header = [str(name) for name in frame.columns]
    for option, level in (where or {}).items():
        name = find(header, composed(option), "where")
        levels = frame[name].unique()
        chosen = [cell for cell in levels if same(str(cell), str(level))]
        if not chosen:
            raise InvalidData(
                f"no row of {location.source} has {name}={level}; its values are {quoted(map(str, levels), 10)}"
            )
        frame = frame[frame[name].isin(chosen)]
    frame, shape = _with_shape(frame, columns, location)
    results = to_table(frame, shape, columns=columns, location=location)
    return replace(
        results,
        roles=dict(zip(header, roles_of(header, shape, columns), strict=True)),
        direction=table.direction or results.direction,
        summary=table.summary or results.summary,
        time_limit=table.time_limit,
    )


def read_shape(
    source: str | PathLike[str], columns: Columns, encoding: str | None = None, limit: int = LIMIT
) -> tuple[pd.DataFrame, Shape | InvalidData]:
    """Return the table of a file with its shape, or with the error that prevents one."""
    table = _read(source, columns, encoding, limit)
    if table.files is not None:
        raise InvalidData(f"{table.location.source} is a folder of several files; name one of them")
    try:
        return table.frame, _with_shape(table.frame, table.columns, table.location)[1]
    except InvalidData as problem:
        return table.frame, problem


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A table, with information from its source."""

    frame: pd.DataFrame
    location: RowLocation
    columns: Columns
    summary: str = ""
    direction: Direction | None = None
    time_limit: float | None = None
    is_imported: bool = False  # otherwise its columns are found by their names
    question: str = ""  # where neither the source nor the user names algorithm and instance
    files: Mapping[str, Path] | None = None  # instead of the table: files with an algorithm each


def _read(source: Any, columns: Columns, encoding: str | None, limit: int) -> _Table:
    if not isinstance(source, str | PathLike):
        return _Table(_from_memory(source), RowLocation("the data frame", FRAME_ROW), columns)
    path = Path(source)
    if not path.exists():
        raise InvalidData(f"the results must be in a file or a folder, but {path} does not exist")
    if table := _imported(path, columns, limit):
        return table
    if read := {".parquet": read_parquet, ".pq": read_parquet, ".xlsx": read_excel}.get(path.suffix.lower()):
        return _Table(_indexed(read(path, limit=limit)), RowLocation(path.name, FRAME_ROW), columns)
    return _Table(read_text(path, encoding=encoding, limit=limit), RowLocation(path.name), columns)


def _imported(path: Path, columns: Columns, limit: int) -> _Table | None:
    """The results of another tool; None if no reader recognises them."""
    import pandas as pd

    from ampler.data.imports import ResultFile, read_import, reader_of, readers

    imported = read_import(path, limit)
    if path.is_dir() and (imported is None or (imported.question and not (columns.algorithm or imported.algorithm))):
        found = [file for file in sorted(path.iterdir()) if file.is_file()]
        files = [file for file in found if (_is_table(file) if imported is None else reader_of(ResultFile(file)))]
        if imported is None and not files:
            known = ", ".join(reader.tool for reader in readers())
            raise InvalidData(f"{path} is a folder without results that are understood: neither tables nor {known}")
        if len(files) > 1:
            ignored = [file.name for file in found if file not in files]
            summary = f"left out of the folder: {quoted(ignored, 5)}" if ignored else ""
            return _Table(pd.DataFrame(), RowLocation(path.name), columns, summary, files=_by_stem(files))
        if imported is None:
            return _read(files[0], columns, None, limit)
    if imported is None:
        return None
    specified = columns.algorithm or columns.instance or columns.value or columns.algorithms
    is_own_value = not imported.value or columns.value in (None, imported.value)
    columns = replace(
        columns,
        algorithm=columns.algorithm or imported.algorithm,
        instance=columns.instance or tuple(name for name in imported.instance if name not in columns.algorithm),
        value=columns.value or imported.value or None,
    )
    better = imported.better if is_own_value else None
    if not (columns.paired or columns.resampled or columns.crossed or columns.nested):
        roles = (*columns.algorithm, *columns.instance)
        columns = replace(columns, nested=tuple(name for name in imported.nested if name not in roles))
    return _Table(
        _indexed(imported.frame) if imported.row == FRAME_ROW else imported.frame,
        RowLocation(path.name, imported.row),
        columns,
        "" if specified else imported.summary,
        Direction(better, f"the records of {imported.tool}") if better else None,
        imported.time_limits.get(str(columns.value)),
        bool(imported.summary),
        imported.question,
    )


def _is_table(file: Path) -> bool:
    from ampler.data.imports import ResultFile
    from ampler.data.imports.json_tables import table_in

    name = file.name.lower()
    return name.endswith(TABLES) or (name.endswith(".json") and table_in(ResultFile(file).document) is not None)


# several files ----------------------------------------------------------------------------------------------------

Files = Mapping[str, "str | PathLike[str]"] | Sequence["str | PathLike[str]"]
TABLES = (".csv", ".tsv", ".parquet", ".pq", ".arff", ".xlsx", ".csv.gz", ".csv.bz2", ".csv.xz")
FILE = "file"  # column that names the algorithm
ONLY_ONE = "the only one"  # instance of files that have one instance each, under different names


def _by_stem(paths: Sequence[Path]) -> dict[str, Path]:
    """The files by their names without endings, or by whole names where these are the same, or by paths."""
    for name in (lambda path: path.name.partition(".")[0] or path.name, lambda path: path.name, str):
        files = {name(path): path for path in paths}
        if len(files) == len(paths):
            return files
    raise InvalidData("each file must be given once, got one twice")


def _of_algorithm(algorithm: str, table: _Table, specified: Columns) -> _Table:
    """The table of one algorithm; a column that names others makes the instance, if a tool says so."""
    if table.files is not None:
        raise InvalidData(f"{table.location.source} is a folder of several files; name one file for each algorithm")
    header = [str(name) for name in table.frame.columns]
    instance = table.columns.instance
    if table.is_imported:
        own = tuple(name for name in table.columns.algorithm if name not in specified.algorithm)
        instance = specified.instance or (*own, *instance)
    names = () if table.is_imported else specified.algorithm or [name for name in header if fold(name) in ALGORITHM]
    ignored = [find(header, name, "algorithm") for name in names]
    for name in ignored:
        levels = table.frame[name].unique()
        if len(levels) > 1 and name not in instance:
            raise InvalidData(
                f"each file must hold the runs of one algorithm, but column {name!r} of {table.location.source} names"
                f" several ({quoted(map(str, levels), 5)}); analyse this file alone, or make the column part of the"
                f" instance with {parameter('instance')}"
            )
    column = next(name for name in (FILE, f"{FILE} of the runs") if name not in header)
    rest = tuple(name for name in ignored if name not in instance)
    ignore = (*table.columns.ignore, *rest)
    columns = replace(table.columns, algorithm=(column,), instance=instance, algorithms=(), ignore=ignore)
    summary = "" if instance != table.columns.instance else table.summary  # the column names another algorithm
    frame = table.frame.assign(**{column: algorithm})
    return replace(table, frame=frame, columns=columns, question="", summary=summary)


def _joined(results: Mapping[str, ResultsTable], columns: Columns, folder: str) -> ResultsTable:
    """The runs of several files on the instances that they name."""
    names = list(map(composed, results))
    if len(set(names)) < len(names):
        raise InvalidData(f"each file needs a name of its own, got {quoted(names, 5)}")
    results = dict(zip(names, results.values(), strict=True))
    measures = {name: table.measure for name, table in results.items() if fold(table.measure) not in VALUE}
    if len(set(map(fold, measures.values()))) > 1:
        pairs = ", ".join(f"{measure!r} in {name}" for name, measure in measures.items())
        raise InvalidData(
            f"the files must hold values of one name and unit, got {pairs}; rename a column, or choose one"
        )
    if len({table.direction.better for table in results.values() if table.direction}) > 1:
        raise InvalidData("higher is better in one file and lower in another; compare values of one kind")
    firsts: dict[str, str] = {}
    key = spelling_key if columns.spelling == "same" else str
    instances = {
        name: tuple(firsts.setdefault(key(instance), instance) for instance in table.runs.instances)
        for name, table in results.items()
    }
    check_spelling(dict.fromkeys(chain.from_iterable(instances.values())), "instance", columns.spelling)
    if len(set(instances.values())) > 1 and all(len(own) == 1 for own in instances.values()):
        instances = dict.fromkeys(names, (ONLY_ONE,))
    elif len(names) > 1 and len(set().union(*instances.values())) == sum(map(len, instances.values())):
        first, second = (f"{name} has {quoted(instances[name], 3)}" for name in names[:2])
        raise InvalidData(f"the files have no instance in common: {first}, {second}")
    check_spelling(names, "algorithm", columns.spelling)
    chosen = [name for name in names if name in (columns.algorithms or names)]
    tables = [results[name] for name in chosen]
    runs = Runs.from_columns(
        [instances[name][code] for name in chosen for code in results[name].runs.instance],
        [name for name in chosen for _ in range(len(results[name].runs))],
        np.concatenate([table.runs.value for table in tables]),
        [STATUSES[code] for table in tables for code in table.runs.status],
    )
    runs = replace(runs, kind=np.concatenate([table.runs.kinds for table in tables]))
    limits = {table.time_limit for table in tables}
    summary = f"each file is an algorithm ({quoted(chosen, 5)})"
    return ResultsTable(
        runs,
        _of_all([table.features for table in tables], runs.instances),
        next((table.direction for table in tables if table.direction), None),
        tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        "; ".join(dict.fromkeys(filter(None, (summary, folder, *(table.summary for table in tables))))),
        folds=next((table.folds for table in tables if table.folds), ""),
        time_limit=limits.pop() if len(limits) == 1 else None,
        measure=next(iter(measures.values()), "value"),
        roles={name: role for table in tables for name, role in table.roles.items()},
        cluster=next((table.cluster for table in tables if table.cluster), None),
        nested=next((table.nested for table in tables if table.nested), None),
        groups=_of_all([table.groups for table in tables], runs.instances),
    )


def _of_all(
    tables: Sequence[Mapping[str, Mapping[str, object]]], instances: Sequence[str]
) -> dict[str, dict[str, object]]:
    """Features that some file has for each instance; what files contradict each other about is left out."""
    features: dict[str, dict[str, object]] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        pairs = {(instance, level) for table in tables for instance, level in table.get(name, {}).items()}
        if len(pairs) == len(instances) and {instance for instance, _ in pairs} == set(instances):
            features[name] = dict(pairs)
    return features


def _from_memory(source: Any) -> pd.DataFrame:
    """A pandas data frame, or anything that can become one (polars, pyarrow)."""
    import pandas as pd

    frame = source.to_pandas() if hasattr(source, "to_pandas") else source
    if not isinstance(frame, pd.DataFrame):
        raise InvalidData(f"results must be a path or a data frame, got {type(source).__name__}")
    return _indexed(frame)


def _indexed(frame: pd.DataFrame) -> pd.DataFrame:
    """An index with names or texts becomes columns; then rows are numbered from 0."""
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
    return frame.assign(**{name: scalar_cells(frame[name]) for name in frame.columns if frame[name].dtype.kind in "Oc"})


def _with_shape(frame: pd.DataFrame, columns: Columns, location: RowLocation) -> tuple[pd.DataFrame, Shape]:
    """The frame without ignored columns and its shape; unnamed instances get row numbers."""
    header = [str(name) for name in frame.columns]
    frame = frame.drop(columns=[find(header, name, "ignore") for name in columns.ignore])
    header = [str(name) for name in frame.columns]
    shape = shape_of(frame, columns)
    if shape.side_by_side is None or shape.algorithm or shape.instance:
        return frame, shape
    if location.row != FRAME_ROW or shape.index or any(fold(name) in SEED for name in header):
        raise no_column("instance", header)
    name = next(word for word in ("row", "row number", "number of the row") if word not in header)
    return frame.assign(**{name: frame.index.astype("str")}), replace(shape, instance=(name,))
