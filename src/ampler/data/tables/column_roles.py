"""Roles of the columns of a table with its first rows, for correction by the user."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from ampler.core.errors import InvalidData
from ampler.core.text import shortened
from ampler.data.tables.columns import Columns, Role, Shape, Side, roles_of
from ampler.data.tables.files import LIMIT
from ampler.data.tables.reading import read_shape

MAX_ROWS = 8
MAX_METRICS = 100
MAX_CELL = 60


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The columns of a table with their roles, its first rows as texts, and why they do not make results, if so.

    "compared" are columns that hold the values of one algorithm each, "run" those that number runs, "ending" those that
    say how a run ended, and a "group" describes instances.
    """

    columns: tuple[str, ...]
    roles: tuple[Role, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int
    problem: str = ""
    metrics: tuple[str, ...] = ()  # displayed rows

    def having(self, role: Role) -> tuple[str, ...]:
        """Return the columns of a role."""
        return tuple(name for name, own in zip(self.columns, self.roles, strict=True) if own == role)


def column_roles(
    source: str | PathLike[str], columns: Columns, *, encoding: str | None = None, limit: int = LIMIT
) -> ColumnRoles:
    """Return how a file of results is understood; InvalidData only if it is no table at all."""
    frame, shape = read_shape(source, columns, encoding, limit)
    header = tuple(str(name) for name in frame.columns)
    rows = tuple(tuple(shortened(str(cell), MAX_CELL) for cell in row) for row in frame.head(MAX_ROWS).to_numpy())
    problem = ""
    if isinstance(shape, InvalidData):  # roles specified by the user only
        problem, value = str(shape), () if columns.value is None else (columns.value,)
        side: Side | None = "algorithm" if columns.algorithms else None
        shape = Shape(columns.algorithm, columns.instance, columns.algorithms or value, side_by_side=side)
    metrics = () if shape.metric is None else tuple(str(level) for level in frame[shape.metric].unique()[:MAX_METRICS])
    return ColumnRoles(header, roles_of(header, shape, columns), rows, len(frame), problem, metrics)
