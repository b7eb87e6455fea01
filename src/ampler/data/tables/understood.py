"""How a table is understood: its first rows, and what each column is taken for, so that a person can correct it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal

from ampler.core.errors import InvalidData
from ampler.core.wording import shortened
from ampler.data.tables.columns import Columns, Long, Shape
from ampler.data.tables.files import LIMIT
from ampler.data.tables.reading import shape_in
from ampler.data.tables.vocabulary import SEED, fold

Role = Literal["algorithm", "instance", "value", "compared", "run", "metric", "ending", "ignored", "group"]
ROWS = 8  # that are shown
LONGEST_CELL = 60


@dataclass(frozen=True, slots=True)
class Understanding:
    """The columns of a table with their roles, its first rows as texts, and why they do not make results, if so.

    "compared" are columns that hold the values of one algorithm each, "run" those that number runs, "ending" those that
    say how a run ended, and a "group" describes instances.
    """

    columns: tuple[str, ...]
    roles: tuple[Role, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int
    problem: str = ""

    def having(self, role: Role) -> tuple[str, ...]:
        """Return the columns of a role."""
        return tuple(name for name, own in zip(self.columns, self.roles, strict=True) if own == role)


def understood(
    source: str | PathLike[str], columns: Columns, *, encoding: str | None = None, limit: int = LIMIT
) -> Understanding:
    """Return how a file of results is understood; InvalidData only if it is no table at all."""
    frame, shape = shape_in(source, columns, encoding, limit)
    header = tuple(str(name) for name in frame.columns)
    rows = tuple(tuple(shortened(str(cell), LONGEST_CELL) for cell in row) for row in frame.head(ROWS).to_numpy())
    if isinstance(shape, InvalidData):
        said = _said(header, columns)
        return Understanding(header, said, rows, len(frame), str(shape))
    return Understanding(header, tuple(_roles(header, shape, columns)), rows, len(frame))


def _roles(header: Sequence[str], shape: Shape, columns: Columns) -> Iterator[Role]:
    named: dict[str, Role] = {}
    if isinstance(shape, Long):
        named.update(dict.fromkeys(shape.algorithm, "algorithm"))
        named.update(dict.fromkeys(shape.instance, "instance"))
        named.update(dict.fromkeys(shape.values, "value"))
        named |= {name: "ending" for name in (shape.status, shape.attempt) if name is not None}
    else:
        named |= dict.fromkeys(shape.names, "algorithm" if shape.transposed else "instance")
        named |= dict.fromkeys(shape.values, "instance" if shape.transposed else "compared")
    named |= dict.fromkeys(shape.index, "run")
    if shape.metric is not None:
        named[shape.metric] = "metric"
    named |= dict.fromkeys(columns.describing, "group")
    named |= dict.fromkeys(columns.ignore, "ignored")
    for name in header:
        yield named.get(name, "run" if fold(name) in SEED else "group")


def _said(header: Sequence[str], columns: Columns) -> tuple[Role, ...]:
    """What the user says of the columns, where nothing was found."""
    said: dict[str, Role] = {}
    said.update(dict.fromkeys(columns.algorithm, "algorithm"))
    said.update(dict.fromkeys(columns.instance, "instance"))
    said.update(dict.fromkeys(columns.algorithms, "compared"))
    said.update(dict.fromkeys(columns.ignore, "ignored"))
    if columns.value is not None:
        said[columns.value] = "value"
    return tuple(said.get(name, "group") for name in header)
