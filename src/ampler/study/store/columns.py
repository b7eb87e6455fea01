"""A run as a row of the study file: its columns have the names of an observation's fields.

Every statement about runs is written from these names, so a new field of an observation needs a column in the schema
and nothing else here. A file of an earlier version lacks it: there the run has what the field is without being said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import MISSING, fields
from operator import attrgetter, itemgetter
from typing import Any

from ampler.core.plain import canonical
from ampler.core.values import Observation, RunKey

Row = tuple[Any, ...]

KEY = tuple(field.name for field in fields(RunKey))
GIVEN = {field.name: field.default for field in fields(Observation) if field.name != "key"}
RUN = (*KEY, *GIVEN)
NAMED = (*RUN, "session")  # a run that travels from file to file; its session is that of the file it comes from
JSON = [place for place, name in enumerate(GIVEN) if name == "measures"]

_names = ", ".join(f'"{name}"' for name in NAMED)
_marks = [f"?{place}" for place, _ in enumerate(NAMED, 1)]

ADD = f"INSERT INTO run ({_names}) VALUES ({', '.join(_marks)})"
ADD_NAMED = f"""
    INSERT INTO run ({_names}) SELECT {", ".join(["instance.id", "algorithm.id", *_marks[2:]])}
    FROM instance, algorithm WHERE instance.name = ?1 AND algorithm.name = ?2
"""


def last_attempts(present: Collection[str], where: str = "") -> str:
    """Return the query for the last attempt at each run, columns as in RUN.

    SQLite takes the other columns from the row that has the maximum.
    """
    return f'SELECT {_select(present, attempt="max(attempt)")} FROM run {where} GROUP BY instance, algorithm, "index"'


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
    values = list(_values(observation))
    for place in JSON:
        values[place] = None if values[place] is None else canonical(values[place])
    return (instance, algorithm, observation.key.index, *values, session)


def observation_of(key: RunKey, row: Row) -> Observation:
    """Return a row, columns as in RUN, as an observation."""
    values = list(row[len(KEY) :])
    for place in JSON:
        values[place] = None if values[place] is None else json.loads(values[place])
    return Observation(key, *values)


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


def _select(present: Collection[str], **instead: str) -> str:
    return ", ".join(f'{instead.get(name) or _expression(name, present)} AS "{name}"' for name in RUN)


def _expression(name: str, present: Collection[str]) -> str:
    """A column, or what stands for one that the file does not have."""
    if name in present:
        return f'run."{name}"'
    default = GIVEN[name]
    assert default is not MISSING, "a column that is added later has a default"
    return "NULL" if default is None else "'" + default + "'" if isinstance(default, str) else repr(default)
