"""How a run ended, in the words of many tables. A run without a finite value has failed, whatever they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ampler.core.arrays import Floats
from ampler.core.choices import Status
from ampler.core.runs import STATUSES
from ampler.core.wording import quoted
from ampler.data.tables.codes import coded
from ampler.data.tables.vocabulary import fold, word_set

if TYPE_CHECKING:
    import pandas as pd

OK = word_set("ok success successful succeeded solved sat unsat optimal feasible done finished complete completed true")
TIMEOUT = word_set("timeout timedout timelimit timelimitexceeded tle outoftime")
FAILED = word_set(
    "failed failure fail memout memoryout outofmemory oom crash crashed error abort aborted killed notapplicable other"
    " unknown infeasible false"
)


def statuses(frame: pd.DataFrame, column: str | None, value: Floats) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Return the status of each run as codes, and what the reader of the results should know about them."""
    status = np.zeros(len(value), dtype=np.uint8)
    notes: tuple[str, ...] = ()
    if column is not None:
        found = coded(frame[column])
        meanings = [outcome_of(word, exit_code="code" in fold(column)) for word in found.names]
        if any(meanings):
            known = [STATUSES.index(meaning or "failed") for meaning in meanings]
            status = np.array([*known, 0], dtype=np.uint8)[found.codes]  # an empty cell (-1) says nothing: ok
        else:
            notes = (f"column {column!r} holds no known run status ({quoted(found.names, 5)}), so it is not used",)
    status[(status == 0) & ~np.isfinite(value)] = STATUSES.index("failed")
    return status, notes


def outcome_of(word: str, *, exit_code: bool = False) -> Status | None:
    """Return what a word for a run's status means; None when it is not known.

    >>> outcome_of("Time-out"), outcome_of("memout"), outcome_of("0", exit_code=True), outcome_of("blue")
    ('timeout', 'failed', 'ok', None)
    """
    plain = fold(word)
    if plain in OK or (exit_code and plain in {"0", "00"}):  # 00 is 0.0 without its point
        return "ok"
    if plain in TIMEOUT:
        return "timeout"
    if plain == "lost":
        return "lost"
    return "failed" if plain in FAILED or exit_code else None
