"""A data frame whose shape is known → runs, with everything checked on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ampler.core.arrays import Codes
from ampler.core.choices import Better
from ampler.core.errors import InvalidData
from ampler.core.runs import Runs
from ampler.core.spoken import parameter
from ampler.core.wording import quoted
from ampler.data.tables.cells import Place, same, to_numbers
from ampler.data.tables.codes import Coded, coded, combination, is_crossed, needed, row_names, varies
from ampler.data.tables.columns import Columns, Long, Shape, Wide, find
from ampler.data.tables.directions import better_by_name
from ampler.data.tables.numerals import decimal_mark
from ampler.data.tables.outcomes import statuses
from ampler.data.tables.vocabulary import DIMENSION, FOLDS, ROW_NUMBER, SEED, STEPS, fold, is_derived, is_measure

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 12  # a column with more values than this names instances, it does not group them
_NAMES, _VALUE = "\0names", "\0value"  # columns of a melted table; no file has columns of these names


@dataclass(frozen=True, slots=True)
class Direction:
    """What is better, and what in the table says so, in words: "the name 'accuracy'"."""

    better: Better
    said_by: str


@dataclass(frozen=True, slots=True, eq=False)
class ResultsTable:
    """What a table of results holds: the runs, what groups the instances, and what the reader noticed."""

    runs: Runs
    features: Mapping[str, Mapping[str, object]]  # feature -> instance -> value
    direction: Direction | None  # None: the table does not say what is better
    notes: tuple[str, ...]
    taken: str = ""  # which columns were taken for what
    paired: str | None = None  # the columns that runs share, if the user says so
    folds: str = ""  # a warning, if the runs are folds of a cross-validation
    time_limit: float | None = None  # of all runs, if the source says it
    measure: str = "value"  # what was measured: the name of the column of values, or the metric


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a long table with their names."""

    frame: pd.DataFrame
    algorithm: Coded
    instance: Coded

    def at(self, rows: Codes) -> _Rows:
        return _Rows(self.frame.iloc[rows], self.algorithm.at(rows), self.instance.at(rows))


def to_table(frame: pd.DataFrame, shape: Shape, *, columns: Columns, place: Place) -> ResultsTable:
    """Turn a frame into runs; every complaint names the line."""
    marks = {name: columns.decimal or decimal_mark(frame, name, place.source) for name in shape.values}
    frame = frame.assign(**{name: to_numbers(frame[name], place, mark) for name, mark in marks.items()})
    frame, long = _melted(frame, shape)
    if not len(frame):
        raise InvalidData(f"{place.source} holds no run; there must be one row per run below the header")
    frame = _one_metric(frame, long, columns.metric, place)
    parts = needed(frame, long.instance)
    rows = _Rows(frame, row_names(frame, long.algorithm, place), row_names(frame, parts, place))
    rows = _of_algorithms(rows, columns.algorithms) if isinstance(shape, Long) or shape.transposed else rows
    rows, long = _without_retries(rows, long, place)
    _refuse_duplicates(rows, long, place)
    _ask_about_factors(rows, long, place)
    rows = _in_run_order(rows, long)
    value = rows.frame[long.values[0]].to_numpy(dtype=float)
    status, notes = statuses(rows.frame, long.status, value)
    algorithm, instance = rows.algorithm, rows.instance
    header = [str(name) for name in frame.columns if name not in (_NAMES, _VALUE)]
    pairing = tuple(find(header, name, "paired") for name in columns.paired)
    shared = combination(*(coded(rows.frame[name]).codes for name in pairing))[0] if pairing else None
    return ResultsTable(
        Runs(instance.names, algorithm.names, instance.codes, algorithm.codes, value, status, shared),
        _features(rows, long),
        _direction(rows.frame, long),
        (*_composite_note(parts, rows), *_case_notes(algorithm, instance), *notes),
        _taken(shape, parts, long.index),
        " and ".join(pairing) or None,
        _about_folds(rows, (*long.index, *long.others), pairing),
        measure=_measure(rows.frame, long),
    )


def _measure(frame: pd.DataFrame, long: Long) -> str:
    """The name of what was measured."""
    if long.metric is not None:
        return str(frame[long.metric].iloc[0])
    return "value" if long.values[0] == _VALUE else long.values[0]


def _melted(frame: pd.DataFrame, shape: Shape) -> tuple[pd.DataFrame, Long]:
    """One row per run: what stands side by side comes one below the other; an empty cell there is no run."""
    if isinstance(shape, Long) and len(shape.values) == 1:
        return frame, shape
    kept = [name for name in frame.columns if name not in shape.values]
    long = frame.melt(kept, list(shape.values), _NAMES, _VALUE, ignore_index=False)
    long = long[long[_VALUE].notna()]
    if isinstance(shape, Long):
        return long, replace(shape, values=(_VALUE,), index=(*shape.index, _NAMES))
    return long, _as_long(shape)


def _as_long(shape: Wide) -> Long:
    algorithm, instance = (shape.names, (_NAMES,)) if shape.transposed else ((_NAMES,), shape.names)
    return Long(algorithm, instance, (_VALUE,), shape.index, shape.metric, None, None, None, shape.others)


def _one_metric(frame: pd.DataFrame, long: Long, wanted: str | None, place: Place) -> pd.DataFrame:
    """The rows of the metric to compare; which one must be said when there are several."""
    if long.metric is None:
        if wanted is not None and fold(wanted) != fold(long.values[0]):
            raise InvalidData(
                f"{parameter('metric', wanted)} chooses among metrics, but {place.source} has no column of metrics"
            )
        return frame
    levels = [str(level) for level in frame[long.metric].unique()]
    if wanted is None and len(levels) == 1:
        return frame
    if wanted is None:
        raise InvalidData(
            f"{place.source} holds several metrics ({quoted(levels)}); say which to compare:"
            f" {parameter('metric', levels[0])}"
        )
    chosen = [level for level in levels if level == wanted] or [level for level in levels if same(level, wanted)]
    if len(chosen) != 1:
        raise InvalidData(f"{parameter('metric')} must be one of {quoted(levels)}, got {wanted!r}")
    return frame[frame[long.metric].astype("str") == chosen[0]]


def _of_algorithms(rows: _Rows, wanted: Collection[str]) -> _Rows:
    """The rows of these algorithms only; of all if none is named."""
    names = rows.algorithm.names
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise InvalidData(
            f"{parameter('algorithms')} must name algorithms, got {unknown[0]!r}: there are {quoted(names)}"
        )
    if not wanted:
        return rows
    kept = rows.at(np.flatnonzero(np.isin(rows.algorithm.codes, [names.index(name) for name in wanted])))
    return _Rows(kept.frame, kept.algorithm.without_absent(), kept.instance.without_absent())


def _without_retries(rows: _Rows, long: Long, place: Place) -> tuple[_Rows, Long]:
    """Of a run that failed and was tried again the last attempt counts; attempts are runs where nothing else is."""
    if long.attempt is None:
        return rows, long
    if not long.index:
        return rows, replace(long, index=(long.attempt,))
    attempts = to_numbers(rows.frame[long.attempt], place)
    keys = _keys(rows, long)
    order = np.lexsort((attempts, keys))
    last = np.append(keys[order][1:] != keys[order][:-1], True)
    value = rows.frame[long.values[0]].to_numpy(dtype=float)
    status, _ = statuses(rows.frame, long.status, value)
    if (status[order[~last]] == 0).any():
        raise InvalidData(
            f"only runs that failed are tried again, but in {place.source} runs have several attempts that succeeded;"
            f" choose one with {parameter('where', {long.attempt: str(rows.frame[long.attempt].iloc[0])})}, or let the"
            f" attempts number the runs with {parameter('ignore', long.index)}"
        )
    return rows.at(np.sort(order[last])), long


def _keys(rows: _Rows, long: Long) -> Codes:
    """The key of each run, as a number: algorithm, instance, and the columns that number the runs."""
    index = (coded(rows.frame[name]).codes for name in long.index)
    return combination(rows.algorithm.codes, rows.instance.codes, *index)[0]


def _refuse_duplicates(rows: _Rows, long: Long, place: Place) -> None:
    """Where a column numbers the runs, each run may stand there once."""
    import pandas as pd

    if not long.index:
        return
    keys = _keys(rows, long)
    again = pd.Series(keys).duplicated().to_numpy()
    if not again.any():
        return
    second = int(np.argmax(again))
    first = int(np.argmax(keys == keys[second]))
    run = ", ".join(str(rows.frame[name].iloc[second]) for name in long.index)
    raise InvalidData(
        f"each run must stand there once, but {place.of(rows.frame.index[first])} and {place.row}"
        f" {rows.frame.index[second]} both hold run {run} of {rows.algorithm.of(second)!r} on"
        f" {rows.instance.of(second)!r} ({int(again.sum())} such rows){_way_out(rows, long, keys)}"
    )


def _way_out(rows: _Rows, long: Long, keys: Codes) -> str:
    """A column that tells the duplicates apart, if there is one: a setting, or the steps within a run."""
    for name in long.others:
        column = coded(rows.frame[name])
        if len(combination(keys, column.codes)[1]) < len(keys):
            continue
        if len(column.names) <= MOST_LEVELS:
            together = (*long.instance, name)
            return (
                f"; column {name!r} tells them apart: choose one with {parameter('where', {name: column.names[0]})},"
                f" or make it part of the instance with {parameter('instance', together)}"
            )
        levels = _as_numbers(column.names)
        if levels is not column.names and len(levels) < len(keys):
            last = parameter("where", {name: column.names[-1]})
            return f"; if {name!r} counts steps within a run, take the last ones: {last}"
    return "; remove the copies"


def _ask_about_factors(rows: _Rows, long: Long, place: Place) -> None:
    """Rows of a cell that a setting or a moment tells apart are no runs, unless the user says so."""
    if long.index:
        return
    cells = combination(rows.algorithm.codes, rows.instance.codes)[0]
    if len(np.unique(cells)) == len(cells):
        return
    seeds = [coded(rows.frame[name]).codes for name in long.others if fold(name) in SEED]
    are_runs = bool(seeds) and len(combination(cells, *seeds)[1]) == len(cells)  # each row has a seed of its own
    for name in long.others:
        column = coded(rows.frame[name])
        if fold(name) in STEPS and not are_runs and varies(cells, column):
            raise InvalidData(
                f"{place.source} has several rows for each algorithm and instance, and column {name!r} counts steps"
                f" within a run; choose one with {parameter('where', {name: column.names[-1]})}, or take all rows as"
                f" runs with {parameter('ignore', name)}"
            )
        if _tells(name) and not is_measure(name) and not is_derived(name) and is_crossed(cells, column):
            together = (*long.instance, name) if _NAMES not in long.instance else None
            part = f" make it part of the instance with {parameter('instance', together)}," if together else ""
            raise InvalidData(
                f"{place.source} has several rows for each algorithm and instance, and column {name!r} tells them"
                f" apart; choose one with {parameter('where', {name: column.names[0]})},{part} or take all rows as runs"
                f" with {parameter('ignore', name)}"
            )


def _in_run_order(rows: _Rows, long: Long) -> _Rows:
    """Rows by run number where there is one; names keep the order of the file."""
    import pandas as pd

    if len(long.index) != 1:
        return rows
    numbers = pd.to_numeric(rows.frame[long.index[0]], errors="coerce").to_numpy(dtype=float)
    if np.isnan(numbers).any():
        return rows
    return rows.at(np.argsort(numbers, kind="stable"))


def _features(rows: _Rows, long: Long) -> dict[str, dict[str, object]]:
    """Columns that say something of an instance (the same on all its rows) and put several instances in a group."""
    columns = (
        name
        for name in dict.fromkeys((*long.instance, *long.others))
        if name != _NAMES and fold(name) not in SEED | ROW_NUMBER
    )
    features = {name: _feature(rows, name, names_instances=name in long.instance) for name in columns}
    return {name: feature for name, feature in features.items() if feature}


def _tells(name: str) -> bool:
    """Whether a column can say something of an instance; what numbers runs or rows does not."""
    return fold(name) not in SEED | ROW_NUMBER


def _feature(rows: _Rows, name: str, *, names_instances: bool) -> dict[str, object]:
    column, instances = coded(rows.frame[name]), len(rows.instance.names)
    values = _as_numbers(column.names)
    measured = not names_instances and values is not column.names  # a size may have as many values as it likes
    most = instances if measured else min(MOST_LEVELS, instances // 2)
    if not 2 <= len(values) <= most or (column.codes < 0).any():
        return {}
    _, first = combination(rows.instance.codes, column.codes)
    if len(first) != instances:
        return {}
    return {rows.instance.of(row): values[column.codes[row]] for row in first}


def _as_numbers(names: Sequence[str]) -> Sequence[object]:
    """Levels as numbers when all are, so that dimension 100 comes after 30."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return names
    return [int(number) if number.is_integer() else number for number in numbers]


def _direction(frame: pd.DataFrame, long: Long) -> Direction | None:
    """What a column "maximize" says, if it says the same everywhere; else what the name of the values says."""
    said = _maximize(frame, long.direction)
    if said is not None:
        return Direction(said, f"column {long.direction!r}")
    names = [] if long.metric is None else [str(frame[long.metric].iloc[0])]
    known = [(name, better_by_name(name)) for name in (*names, long.values[0])]
    return next((Direction(better, f"the name {name!r}") for name, better in known if better), None)


def _maximize(frame: pd.DataFrame, column: str | None) -> Better | None:
    words = {str(word).strip().lower() for word in frame[column].unique()} if column is not None else set()
    if words and words <= {"true", "1", "t", "yes"}:
        return "higher"
    return "lower" if words and words <= {"false", "0", "f", "no", "-1"} else None


def _taken(shape: Shape, instance: Sequence[str], index: Sequence[str]) -> str:
    """What the columns were taken for, in a sentence without its full stop."""
    if isinstance(shape, Long):
        algorithm, where = (" and ".join(map(repr, names)) for names in (shape.algorithm, instance))
        numbers = [name for name in index if name != _NAMES]
        numbered = f", {' and '.join(map(repr, numbers))} numbers the runs" if numbers else ""
        verb = "holds" if len(shape.values) == 1 else "hold"
        held = f"{quoted(shape.values, 3)} {verb} the values"
        return f"{algorithm} names the algorithm, {where} the instance, {held}{numbered}"
    side, rows = ("instances", "algorithm") if shape.transposed else ("algorithms", "instance")
    others = [name for name in shape.others if _tells(name)]
    verb = "describe" if len(others) > 1 else "describes"
    beside = f", and {quoted(others, 6)} {verb} it" if others else ""
    named = " and ".join(map(repr, shape.names))
    way_out = f"; choose with {parameter('algorithms')} or {parameter('ignore')}" if beside else ""
    return f"columns {quoted(shape.values, 6)} are taken as {side}, {named} as the {rows}{beside}{way_out}"


def _about_folds(rows: _Rows, columns: Sequence[str], paired: Sequence[str]) -> str:
    """Folds share their training data: what that does, and what to do."""
    name = next((each for each in columns if fold(each) in FOLDS), None)
    if name is None:
        return ""
    folds = len(coded(rows.frame[name]).names)
    cells = combination(rows.algorithm.codes, rows.instance.codes)[1]
    runs = len(rows.frame) / len(cells)
    if folds < 2 or runs < 2:
        return ""
    pairing = "" if name in paired else f" compare fold by fold with {parameter('paired', name)};"
    return (
        f"the runs are folds of a cross-validation (column {name!r}, {folds} of them): they share training data and are"
        f" no independent runs, so the variance of their mean is about {1 + runs / (folds - 1):.2g} times what the"
        f" standard errors say (Nadeau and Bengio 2003). The tests over instances do not use it. What to do:{pairing}"
        " never take folds as instances; for independent runs draw other splits"
    )


def _composite_note(parts: Sequence[str], rows: _Rows) -> tuple[str, ...]:
    if len(parts) < 2:
        return ()
    note = f"an instance is one combination of {' and '.join(parts)} ({len(rows.instance.names)} of them)"
    dimension = next((name for name in parts[1:] if fold(name) in DIMENSION), None)
    if dimension is None:
        return (note,)
    level = rows.frame[dimension].iloc[0]
    return (
        f"{note}; the same {parts[0]} in another {dimension} is not an independent instance,"
        f" so look at one at a time with {parameter('where', {dimension: level})}",
    )


def _case_notes(*families: Coded) -> tuple[str, ...]:
    """Names that differ by case alone are mostly one name, mistyped."""
    return tuple(note for family in families for note in _case_note(family.names))


def _case_note(names: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for name in names:
        twin = seen.setdefault(name.casefold(), name)
        if twin != name:
            return (f"{twin!r} and {name!r} are taken as two names, though they differ by case alone",)
    return ()
