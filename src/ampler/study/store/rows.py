"""Runs as rows of the table `run`: columns, validation and queries.

A row has the names of an observation's fields, so that a further field of an observation needs a column in the schema
and nothing else here. A file of an earlier version lacks it: there the run has the field's default.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import repeat
from operator import attrgetter, itemgetter
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np

from ampler.core.errors import InvalidData, PlanMismatch
from ampler.core.failures import KIND_OF_CAUSE, KINDS, kind_of
from ampler.core.measures import OF_EVERY_RUN
from ampler.core.plan import Fingerprint
from ampler.core.runs import Observation, RunKey
from ampler.core.serialization import canonical
from ampler.core.settings import Status
from ampler.study.record import changed

Row = tuple[Any, ...]

KEY = tuple(field.name for field in fields(RunKey))
DEFAULTS = {field.name: field.default for field in fields(Observation) if field.name != "key"}
RUN = (*KEY, *DEFAULTS)
NAMED = (*RUN, "session")  # a run copied between files, with the session number of its source
_hints = {**get_type_hints(RunKey), **get_type_hints(Observation), "session": int}
TYPES: dict[str, set[type]] = {  # storage types of SQLite's STRICT tables
    name: set(get_args(_hints[name]) or [_hints[name]]) & {str, int, float, NoneType} for name in NAMED
} | {"status": {str}, "measures": {dict, NoneType}}
STATUSES: tuple[Status, ...] = get_args(Status)
MAX_MESSAGE_LENGTH = 2000  # characters; a message is a sentence, the output itself is not kept

_names = ", ".join(f'"{name}"' for name in NAMED)
_id_of = [f"(SELECT id FROM {table} WHERE name = ?)" for table in ("instance", "algorithm")]
_fields_of = attrgetter(*DEFAULTS)

COUNTS = "SELECT instance, algorithm, count(*), sum(status = 'ok'), sum(seconds)"
ADD_NAMED = f"INSERT INTO run ({_names}) VALUES ({', '.join([*_id_of, *repeat('?', len(NAMED) - 2)])})"


# Validation


def storable(observation: Observation) -> Observation:
    """Return the observation in its recorded form, with plain Python numbers; InvalidData if it is invalid."""
    key, value, measures, status = observation.key, observation.value, observation.measures, observation.status
    if status not in STATUSES:
        raise InvalidData(f"the status of a run must be one of {', '.join(STATUSES)}, got {status!r}")
    if (value is not None) != (status == "ok"):
        raise InvalidData(f"a run has a value exactly when it is ok, got {value!r} and {status!r} for {key}")
    numbers = (value or 0.0, observation.seconds, *(measures or {}).values())
    if not all(map(math.isfinite, numbers)):
        raise InvalidData(f"values, seconds and measures must be finite numbers, got {numbers} for {key}")
    if min(key.index, observation.attempt, observation.round, observation.seconds) < 0:
        raise InvalidData(f"index, attempt, round and seconds must not be negative, got {observation}")
    usual = value is None or (type(value) is float and value != 0.0)
    usual = usual and not observation.message and observation.answer is None
    if usual and (measures is None or type(measures) is dict):
        return observation  # fast path: copying would cost as much as writing
    return replace(
        observation,
        value=None if value is None else float(value) + 0.0,  # SQLite has no -0.0
        message=_storable_text(observation.message),
        answer=None if observation.answer is None else _storable_text(observation.answer),
        measures=None if measures is None else dict(measures),
    )


def _storable_text(text: str) -> str:
    """A text without lone surrogates (from undecodable output), which cannot be encoded."""
    return text[:MAX_MESSAGE_LENGTH].encode("utf-8", "replace").decode()


def refuse_mismatch(recorded: Fingerprint | None, planned: Fingerprint, where: str) -> None:
    """Raise PlanMismatch, naming the field, when a plan contradicts what is recorded."""
    change = None if recorded is None else changed(recorded, planned)
    if change is not None:
        if change.field == "seed":
            raise PlanMismatch(
                f"the seed was changed from {change.recorded} to {change.planned}, and {where} holds runs of seed"
                f" {change.recorded}: restore seed = {change.recorded}, or use another results file"
            )
        raise PlanMismatch(
            f"{where} holds runs of another plan: {change}; give the changed one a new name, or use another results"
            " file"
        )


# Writing


def insertion(
    observations: Sequence[Observation], instances: Iterable[int], algorithms: Iterable[int], session: int
) -> tuple[str, Iterator[Row]]:
    """Return the statement that adds runs, at least one, and its rows."""
    values = zip(*map(_fields_of, observations), strict=True)
    columns: dict[str, Iterable[Any]] = dict(zip(DEFAULTS, values, strict=True))
    columns["measures"] = [measures if measures is None else canonical(measures) for measures in columns["measures"]]
    indexes = [observation.key.index for observation in observations]
    columns |= {"instance": instances, "algorithm": algorithms, "index": indexes, "session": repeat(session)}
    names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
    return f"INTO run ({names}) VALUES ({marks})", zip(*columns.values(), strict=False)


def take(*names: str) -> Callable[[Row], Any]:
    """Return a function that extracts columns from a row by name.

    >>> take("index", "instance")(("i1", "full", 7))
    (7, 'i1')
    """
    return itemgetter(*(NAMED.index(name) for name in names))


def with_attempt(row: Row, attempt: int) -> Row:
    """Return a row as another attempt at its run."""
    index = NAMED.index("attempt")
    return (*row[:index], attempt, *row[index + 1 :])


# Reading


def observations_of(
    rows: Sequence[Row], instances: Mapping[int, str], algorithms: Mapping[int, str]
) -> Iterator[Observation]:
    """Return rows, columns as in RUN, as observations; ValueError when one of them could not have been recorded."""
    columns = _columns(rows)
    columns["instance"] = list(map(instances.__getitem__, columns["instance"]))
    columns["algorithm"] = list(map(algorithms.__getitem__, columns["algorithm"]))
    _check(columns)
    keys = map(RunKey, *(columns[name] for name in KEY))
    return map(Observation, keys, *(columns[name] for name in DEFAULTS))


def checked_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows, columns as in NAMED; ValueError when one of them could not have been recorded."""
    _check(_columns(rows))
    return rows


def _columns(rows: Sequence[Row]) -> dict[str, Sequence[Any]]:
    columns: dict[str, Sequence[Any]] = dict(zip(NAMED, zip(*rows, strict=True), strict=False))
    return columns | {"measures": [text if text is None else json.loads(text) for text in columns["measures"]]}


def _check(columns: Mapping[str, Sequence[Any]]) -> None:
    """Raise ValueError unless runs, column by column, could have been recorded."""
    wrong = [name for name, column in columns.items() if not TYPES[name].issuperset(map(type, column))]
    if wrong:
        raise ValueError(f"{wrong[0]} of a run is of another type")
    measures = [number for measures in columns["measures"] if measures for number in measures.values()]
    if not {int, float}.issuperset(map(type, measures)):
        raise ValueError("a measure must be a number")
    numbers = (columns[name] for name in ("value", "seconds", "cpu", "started"))
    if not all(math.isfinite(number) for column in (*numbers, measures) for number in column if number is not None):
        raise ValueError("a number is not finite")
    if not set(STATUSES).issuperset(columns["status"]):
        raise ValueError("unknown status of a run")
    ends = zip(columns["value"], columns["status"], strict=True)
    if any((value is None) == (status == "ok") for value, status in ends):
        raise ValueError("a run must have a value exactly when it is ok")
    if min((*columns["index"], *columns["attempt"])) < 0:
        raise ValueError("index and attempt must not be negative")


def numbered_names(rows: Iterable[Any]) -> dict[str, int]:
    """Return the numbers of names; ValueError unless they are 1, 2, …, each once, in the order of appearance."""
    names = dict(rows)
    if sorted(names.values()) != list(range(1, len(names) + 1)) or not {str}.issuperset(map(type, names)):
        raise ValueError("they must be numbered from 1 on, each name once")
    return names


def check_table(table: np.ndarray[Any, Any], instances: int, algorithms: int) -> None:
    """Raise ValueError unless runs as numbers name what is there, and have a value exactly when they are ok."""
    if not len(table):
        return
    for name, most in (("instance", instances), ("algorithm", algorithms)):
        if table[name].min() < 1 or table[name].max() > most:
            raise ValueError(f"a run of an {name} that is not there")
    if (np.isinf(table["value"]) == (table["status"] == 0)).any() or np.isnan(table["value"]).any():
        raise ValueError("a run without a value must not be ok, nor one with a value failed")
    if min(table["index"].min(), table["attempt"].min()) < 0:
        raise ValueError("index and attempt must not be negative")


# Queries


def kind_number() -> str:
    """Return the SQL expression for the end of a run, as a position in KINDS."""
    ends = {f"status = '{status}'": kind_of(status) for status in STATUSES if status != "failed"}
    ends |= {f"cause GLOB '{start}*'": kind for start, kind in KIND_OF_CAUSE.items()}
    numbers = " ".join(f"WHEN {condition} THEN {KINDS.index(kind)}" for condition, kind in ends.items())
    return f"CASE {numbers} ELSE {KINDS.index(kind_of('failed'))} END"


def measure_value(measure: str) -> str:
    """Return the expression for a measure of a run, a float or NULL."""
    column = OF_EVERY_RUN.get(measure)
    path = measure.replace("'", "''")  # a name must not end the SQL text
    source = f"""json_extract(measures, '$."{path}"')"""
    return f"CAST({source if column is None else f'coalesce({source}, {column})'} AS REAL)"


def last_attempts(where: str = "") -> str:
    """Return the query for the last attempt at each run, columns as in RUN.

    SQLite takes the other columns from the row that has the maximum.
    """
    return f'SELECT {_select(attempt="max(attempt)")} FROM run {where} GROUP BY instance, algorithm, "index"'


def failed_last(counting: str, later: str) -> str:
    """Return the query for the runs whose last attempt that counts has no value, columns as in RUN.

    `counting` is the condition for an attempt that counts, `later` the same of a later one.
    """
    same = " AND ".join(f'later."{name}" = run."{name}"' for name in KEY)
    return f"""
        SELECT {_select()} FROM run WHERE status != 'ok' AND {counting} AND NOT EXISTS
        (SELECT 1 FROM run AS later WHERE {same} AND later.attempt > run.attempt AND {later})
        ORDER BY instance, algorithm, "index"
    """


def latest_runs(where: str) -> str:
    """Return the query for the runs that began last, columns as in RUN."""
    return f"SELECT {_select()} FROM run WHERE {where} ORDER BY started DESC, session DESC, attempt DESC LIMIT ?"


def every_attempt(where: str = "") -> str:
    """Return the query for all attempts, in the order of the plan; columns as in RUN."""
    return f'SELECT {_select()} FROM run {where} ORDER BY instance, algorithm, "index", attempt'


def named_attempts() -> str:
    """Return the query for all attempts by the names of instance and algorithm, in their order; columns as in NAMED."""
    return f"""
        SELECT {_select(instance="instance.name", algorithm="algorithm.name")}, session
        FROM run JOIN instance ON instance.id = run.instance JOIN algorithm ON algorithm.id = run.algorithm
        ORDER BY instance.name, algorithm.name, "index", attempt
    """


def _select(**expressions: str) -> str:
    return ", ".join(expressions.get(name, f'run."{name}"') + f' AS "{name}"' for name in RUN)
