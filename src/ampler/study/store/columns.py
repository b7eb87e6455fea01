"""A run as a row of the study file: its columns have the names of an observation's fields.

Every statement about runs is written from these names, so a new field of an observation needs a column in the schema
and nothing else here. A file of an earlier version lacks it: there the run has what the field is without being said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Any

from ampler.core.plain import canonical
from ampler.core.values import Observation, RunKey

Row = tuple[Any, ...]

KEY = tuple(field.name for field in fields(RunKey))
GIVEN = {field.name: field.default for field in fields(Observation) if field.name != "key"}
RUN = (*KEY, *GIVEN)
NAMED = (*RUN, "session")  # a run that travels from file to file; its session is that of the file it comes from
OPTIONAL = [name for name, default in GIVEN.items() if default is None]
JSON = list(GIVEN).index("measures")

_names = ", ".join(f'"{name}"' for name in NAMED)
_id_of = [f"(SELECT id FROM {table} WHERE name = ?)" for table in ("instance", "algorithm")]

COUNTS = "SELECT instance, algorithm, count(*), sum(status = 'ok'), sum(seconds)"
ADD_NAMED = f"INSERT INTO run ({_names}) VALUES ({', '.join([*_id_of, *repeat('?', len(NAMED) - 2)])})"


def last_attempts(present: Collection[str], where: str = "") -> str:
    """Return the query for the last attempt at each run, columns as in RUN.

    SQLite takes the other columns from the row that has the maximum.
    """
    return f'SELECT {_select(present, attempt="max(attempt)")} FROM run {where} GROUP BY instance, algorithm, "index"'


def failed_last(present: Collection[str], counting: str, later: str) -> str:
    """Return the query for the runs whose last attempt that counts has no value, columns as in RUN.

    `counting` is the condition for an attempt that counts, `later` the same of a later one.
    """
    same = " AND ".join(f'later."{name}" = run."{name}"' for name in KEY)
    return f"""
        SELECT {_select(present)} FROM run WHERE status != 'ok' AND {counting} AND NOT EXISTS
        (SELECT 1 FROM run AS later WHERE {same} AND later.attempt > run.attempt AND {later})
        ORDER BY instance, algorithm, "index"
    """


def counted_attempts(counting: str) -> str:
    """Return the query for the attempts at all runs of each algorithm on each instance, and the highest of them."""
    return f"{COUNTS}, max(attempt) FROM run WHERE {counting} GROUP BY instance, algorithm"


def counted_runs(counting: str) -> str:
    """Return the query for the runs of one algorithm on one instance, each by its last attempt."""
    return f"""{COUNTS} FROM (SELECT instance, algorithm, status, seconds, max(attempt) FROM run
        WHERE instance = ? AND algorithm = ? AND {counting} GROUP BY "index")"""


def every_attempt(present: Collection[str], where: str = "") -> str:
    """Return the query for all attempts, in the order of the plan; columns as in RUN."""
    return f'SELECT {_select(present)} FROM run {where} ORDER BY instance, algorithm, "index", attempt'


def named_attempts(present: Collection[str]) -> str:
    """Return the query for all attempts by the names of instance and algorithm, in their order; columns as in NAMED."""
    return f"""
        SELECT {_select(present, instance="instance.name", algorithm="algorithm.name")}, session
        FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
        ORDER BY instance.name, algorithm.name, "index", attempt
    """


def row_of(observation: Observation, instance: int, algorithm: int, session: int) -> Row:
    """Return an observation as a row of the table, columns as in NAMED."""
    return next(zip(*columns_to_write([observation], [instance], [algorithm], session).values(), strict=False))


def columns_to_write(
    observations: Sequence[Observation], instances: Iterable[int], algorithms: Iterable[int], session: int
) -> dict[str, Iterable[Any]]:
    """Return observations column by column as they are kept, names as in NAMED."""
    given = given_columns(observations)
    given["measures"] = [None if each is None else canonical(each) for each in given["measures"]]
    indexes = [observation.key.index for observation in observations]
    return {**dict(zip(KEY, (instances, algorithms, indexes), strict=True)), **given, "session": repeat(session)}


def adding(columns: Mapping[str, Iterable[Any]], instead: str = "INSERT") -> tuple[str, Iterator[Row]]:
    """Return the statement that adds runs, and its rows. A column without anything in it is left to be NULL.

    Python asks for each None whether it could be something else, which takes as long as to write three numbers.
    """
    written = {name: column for name, column in columns.items() if name not in OPTIONAL or any(_is_there(column))}
    names, marks = ", ".join(f'"{name}"' for name in written), ", ".join("?" * len(written))
    return f"{instead} INTO run ({names}) VALUES ({marks})", zip(*written.values(), strict=False)


def _is_there(column: Iterable[Any]) -> Iterator[bool]:
    return (value is not None for value in column)


def given_columns(observations: Sequence[Observation]) -> dict[str, Sequence[Any]]:
    """Return observations column by column, without their keys."""
    columns = zip(*map(_values, observations), strict=True) if observations else repeat(())
    return dict(zip(GIVEN, columns, strict=False))


def observation_of(key: RunKey, row: Row) -> Observation:
    """Return a row, columns as in RUN, as an observation."""
    values = list(row[len(KEY) :])
    values[JSON] = _read(values[JSON])
    return Observation(key, *values)


def read_columns(rows: Sequence[Row]) -> dict[str, Sequence[Any]]:
    """Return rows, columns as in RUN or NAMED, column by column; there is at least one."""
    columns: dict[str, Sequence[Any]] = dict(zip(NAMED, zip(*rows, strict=True), strict=False))
    return columns | {"measures": list(map(_read, columns["measures"]))}


def observations_of(columns: Mapping[str, Iterable[Any]]) -> Iterator[Observation]:
    """Return runs, column by column and by the names of instance and algorithm, as observations."""
    return map(Observation, map(RunKey, *(columns[name] for name in KEY)), *(columns[name] for name in GIVEN))


def cells(*names: str) -> Callable[[Row], Any]:
    """Return what takes cells out of a row by their names.

    >>> cells("index", "instance")(("i1", "full", 7))
    (7, 'i1')
    """
    return itemgetter(*(NAMED.index(name) for name in names))


def with_session(row: Row, session: int) -> Row:
    """Return a row that travels as it is in the file it comes to."""
    return (*row[:-1], session)


def with_attempt(row: Row, attempt: int) -> Row:
    """Return a row that travels as another attempt at its run."""
    place = NAMED.index("attempt")
    return (*row[:place], attempt, *row[place + 1 :])


_values = attrgetter(*GIVEN)
_scan = json.JSONDecoder().raw_decode


def _read(text: Any) -> Any:
    """What a text of JSON says, None without one; `json.loads` is asked only about one that is unusual."""
    if text is None:
        return None
    try:
        said, end = _scan(text, 0)
    except (ValueError, TypeError):
        return json.loads(text)
    return said if end == len(text) else json.loads(text)


def _select(present: Collection[str], **instead: str) -> str:
    return ", ".join(f'{instead.get(name) or _expression(name, present)} AS "{name}"' for name in RUN)


def _expression(name: str, present: Collection[str]) -> str:
    """A column, or what stands for one that the file does not have."""
    if name in present:
        return f'run."{name}"'
    default = GIVEN[name]
    assert default is not MISSING, "a column that is added later has a default"
    return "NULL" if default is None else "'" + default + "'" if isinstance(default, str) else repr(default)
