"""Columns that stand side by side like algorithms and may be something else: where there is doubt, the user is asked.

A column that the user names is never doubted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.core.arrays import Floats
from ampler.core.errors import InvalidData
from ampler.core.spoken import parameter
from ampler.core.wording import quoted
from ampler.data.tables.cells import holds_numbers
from ampler.data.tables.columns import Columns, Long, Shape, Wide, may_be_value, which_value
from ampler.data.tables.vocabulary import (
    MEASURE,
    RUN_WORD,
    STATISTIC,
    VALUE,
    fold,
    is_measure,
    is_never_value,
    summarises,
    words_of,
)

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 6  # fewer do not show what kind of column it is
FEW_LEVELS = 1 / 3  # a column with so many different numbers per row repeats itself
MANY_LEVELS = 2 / 3  # one with more does not
FAR = 100.0  # results of one instance are seldom further apart than this in all rows
SHOWN = 6
FUNCTION = re.compile(r"[fF]\d+")


def check_side_by_side(frame: pd.DataFrame, shape: Shape, said: Columns) -> None:
    """Ask where columns of a table with algorithms, or instances, side by side may be something else."""
    if not isinstance(shape, Wide) or said.algorithms or (said.algorithm and not shape.transposed):
        return
    _refuse_measures(shape)
    _refuse_runs(shape)
    _ask_about([name for name in shape.values if summarises(name)], shape, "a summary of others")
    _ask_about(_statistics(shape.values), shape, "another statistic or measure of the same")
    if not shape.transposed:
        _refuse_summary_rows(frame, shape)
        _ask_about(_odd(frame, shape.values), shape, "of another kind than the rest, as what describes an instance is")


def check_value(frame: pd.DataFrame, shape: Shape, said: Columns) -> None:
    """Ask which column is the value where another differs from run to run too, whatever it is called."""
    if not isinstance(shape, Long) or said.value is not None or said.metric is not None or len(shape.values) > 1:
        return
    value = shape.values[0]
    if fold(value) in VALUE:
        return
    others = [name for name in shape.others if may_be_value(name) and holds_numbers(frame[name])]
    found = [
        name for name in others if not any(_depends(frame, name, keys) for keys in (shape.instance, shape.algorithm))
    ]
    if found:
        raise which_value([value, *found])


def _depends(frame: pd.DataFrame, name: str, keys: Sequence[str]) -> bool:
    """Whether a column is the same wherever the keys are: a size of the instance, a parameter of the algorithm."""
    return bool(frame.groupby(list(keys), dropna=False, sort=False)[name].nunique(dropna=False).max() == 1)


def _refuse_measures(shape: Wide) -> None:
    functions = sum(FUNCTION.fullmatch(name) is not None for name in shape.values) > 1  # f1 beside f2 is no F1 score
    found = [name for name in shape.values if is_measure(name) and not (functions and FUNCTION.fullmatch(name))]
    rest = [name for name in shape.values if name not in found and not is_never_value(name)]
    if found and len(rest) < 2:  # nothing is left to be compared
        raise InvalidData(_nothing_named(found, "are what was measured", shape))
    _ask_about(found, shape, "what was measured")


def _refuse_runs(shape: Wide) -> None:
    found = [name for name in shape.values if RUN_WORD.fullmatch(name)]
    if found:
        raise InvalidData(_nothing_named(found, "number runs", shape))


def _nothing_named(found: Sequence[str], what: str, shape: Wide) -> str:
    wanted = ["instance"] if shape.transposed else ["algorithm"] if shape.names else ["instance", "algorithm"]
    lacking, options = " and the ".join(wanted), " and ".join(parameter(word) for word in wanted)
    return f"{quoted(found, SHOWN)} {what}, and no column names the {lacking}; say which does with {options}"


def _refuse_summary_rows(frame: pd.DataFrame, shape: Wide) -> None:
    for name in shape.names:
        rows = [str(cell) for cell in frame[name].unique() if summarises(cell)]
        if rows:
            raise InvalidData(
                f"{quoted(rows, SHOWN)} in column {name!r} sums up the other rows by its name, and no instance may be"
                " counted twice; take the row out, or rename it if it is an instance"
            )


def _ask_about(names: Sequence[str], shape: Wide, why: str) -> None:
    """Refuse to guess about these columns, with the two ways to say what they are."""
    if not names:
        return
    rest = [name for name in shape.values if name not in names] or list(shape.values)
    side = "an instance" if shape.transposed else "an algorithm"
    choose = "" if shape.transposed else f", or name the algorithms: {parameter('algorithms', _shown(rest))}"
    raise InvalidData(
        f"{quoted(names, SHOWN)} may be {side} or {why}; leave such columns out with"
        f" {parameter('ignore', _shown(names))}{choose}"
    )


def _shown(names: Sequence[str]) -> list[str]:
    return [*names[:SHOWN], *(["…"] if len(names) > SHOWN else [])]


def _statistics(names: Sequence[str]) -> list[str]:
    """Columns that differ from another in the statistic or the measure alone: RF_mean and RF_std, GA and GA time."""
    families: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        stem = tuple(word for word in words_of(name) if word not in STATISTIC | MEASURE | VALUE)
        if stem:
            families[stem].append(name)
    return [name for family in families.values() for name in family[1:] if len({*map(fold, family)}) > 1]


def _odd(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Columns of another kind than all others: few levels where they have many, or whole and far off alone."""
    if len(frame) < FEWEST_ROWS or len(names) < 2:
        return []
    values = np.column_stack([_numbers(frame[name]) for name in names])
    values = np.where(np.isfinite(values), values, np.nan)
    there = np.isfinite(values).sum(axis=0)
    if not there.all():
        return []  # a column without a number shows no kind
    levels = np.array([len(np.unique(column[np.isfinite(column)])) for column in values.T]) / np.maximum(there, 1)
    whole = np.array([bool(np.all(column[np.isfinite(column)] % 1 == 0)) for column in values.T])
    few, others_many = (levels <= FEW_LEVELS) & (there >= FEWEST_ROWS), _all_others(levels >= MANY_LEVELS)
    alone = whole & _all_others(~whole)
    suspects: list[int] = np.flatnonzero((few & others_many) | (alone & (_far(values) | _counts_up(values)))).tolist()
    return [names[k] for k in suspects if not _meets_others(values, k)]


def _numbers(column: pd.Series[Any]) -> Floats:
    import pandas as pd

    return pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def _all_others(holds: Any) -> Any:
    """For each place whether something holds in all other places."""
    return (~holds).sum() - ~holds == 0


def _far(values: Floats) -> Any:
    """Which columns are far from every other in the middle."""
    with np.errstate(all="ignore"):
        middle = np.log(np.nanmedian(np.abs(values), axis=0))
        apart = np.abs(middle[:, None] - middle[None, :]) > np.log(FAR)
    np.fill_diagonal(apart, val=True)
    return apart.all(axis=1)


def _counts_up(values: Floats) -> Any:
    """Which columns are the numbers of the rows."""
    with np.errstate(all="ignore"):
        return (np.diff(values, axis=0) == 1).all(axis=0) & np.isin(values[0], (0, 1))


def _meets_others(values: Floats, k: int) -> bool:
    """Whether a column has a result in common with another on some instance, or is mostly zero: as algorithms do."""
    own = values[:, k]
    ties = (np.delete(values, k, axis=1) == own[:, None]).any()
    return bool(ties or (own == 0).mean() > 0.5)
