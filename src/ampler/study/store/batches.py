"""Runs on their way into a study file and out of it: many at once, one by one where one is unusual or wrong. Pure.

Making sure of a run takes longer than writing or reading it, so the columns of a batch are looked at instead. Only
where one is not as usual is each run looked at, so that the first that is wrong is named, after all before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ampler.core.values import Observation, RunKey
from ampler.study.store.checks import are_believed, are_plain, believed, storable
from ampler.study.store.columns import KEY, Row, given_columns, observation_of, observations_of, read_columns
from ampler.study.store.damage import SURPRISES

Names = Mapping[int, str]


def all_storable(observations: Iterable[Observation]) -> Sequence[Observation]:
    """Return observations as they are kept; InvalidData when one makes no sense."""
    given = list(observations)
    columns = given_columns(given)
    return given if are_plain(columns, [seen.key.index for seen in given]) else list(map(storable, given))


def believed_runs(rows: Sequence[Row], instances: Names, algorithms: Names) -> Iterable[Observation]:
    """Return rows, columns as in RUN, as observations; what surprises in one is raised when it is reached."""
    columns = _sound_columns(rows, instance=instances, algorithm=algorithms)
    if columns is not None:
        return observations_of(columns)
    return (
        _believed(RunKey(instances[instance], algorithms[algorithm], *rest[:1]), (instance, algorithm, *rest))
        for instance, algorithm, *rest in rows
    )


def believed_rows(rows: Sequence[Row]) -> Iterable[Row]:
    """Return rows, columns as in NAMED; what surprises in one is raised when it is reached."""
    return rows if _sound_columns(rows) is not None else _rows_one_by_one(rows)


def _rows_one_by_one(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        _believed(RunKey(*row[: len(KEY)]), row[:-1])
        yield row


def _sound_columns(rows: Sequence[Row], **names: Names) -> dict[str, Any] | None:
    """The columns of rows, with names instead of numbers; None when something in them is not as it must be."""
    try:
        columns: dict[str, Any] = read_columns(rows)
        columns |= {what: list(map(known.__getitem__, columns[what])) for what, known in names.items()}
        return columns if are_believed(columns) else None
    except SURPRISES:
        return None


def _believed(key: RunKey, row: Row) -> Observation:
    return believed(observation_of(key, row))
