"""What a reader of another tool's results gives: a table with one row per run, and what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ampler.core.choices import Better
from ampler.core.errors import InvalidData

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """Runs of another tool: the rows, which column is what, what is better, and how it was understood."""

    frame: pd.DataFrame
    tool: str
    algorithm: tuple[str, ...]
    instance: tuple[str, ...]
    value: str
    taken: str  # a sentence without its full stop
    better: Better | None = None
    question: str = ""  # to be asked where neither this nor the user names algorithm and instance
    time_limits: Mapping[str, float | None] = field(default_factory=dict)  # of all runs, by the value that they limit


def frame_of(rows: Sequence[Mapping[str, Any]], source: str, tool: str) -> pd.DataFrame:
    """Return the rows as a data frame; InvalidData when there are none."""
    import pandas as pd

    if not rows:
        raise InvalidData(f"{source} holds no finished run of {tool}; there must be at least one")
    return pd.DataFrame(list(rows))


def without_constants(parts: Sequence[Sequence[str]]) -> list[str]:
    """Return names made of the parts in which they differ; of all parts where they differ in none.

    >>> without_constants([("Z3", "4.12", "quick"), ("Z3", "4.13", "quick")])
    ['4.12', '4.13']
    """
    varying = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    keep = varying if any(varying) else [True] * len(varying)
    return [" ".join(part for part, kept in zip(row, keep, strict=True) if kept and part) or "-" for row in parts]
