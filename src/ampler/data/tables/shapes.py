"""From a data frame of known shape to runs, with all checks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ampler.core.arrays import Bools, Codes, Floats, Runs, at_rows
from ampler.core.errors import InvalidData
from ampler.core.settings import Better
from ampler.core.text import parameter, quoted
from ampler.data.tables import vocabulary as v
from ampler.data.tables.cells import (
    Coded,
    RowLocation,
    as_floats,
    coded,
    combination,
    combinations,
    decimal_mark,
    is_crossed,
    needed,
    outcome_of,
    row_names,
    same,
    statuses,
    to_numbers,
)
from ampler.data.tables.columns import Columns, Role, Shape, Spelling, find

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 12  # a column with more values than this does not group instances
_NAMES, _VALUE = "\0names", "\0value"  # columns of a melted table; no file has columns of these names


@dataclass(frozen=True, slots=True)
class Direction:
    """Better direction, and its source in the table: "the name 'accuracy'"."""

    better: Better
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class ResultsTable:
    """The contents of a table of results: the runs, what groups the instances, and notes of the reader."""

    runs: Runs
    features: Mapping[str, Mapping[str, object]]  # feature -> instance -> value
    direction: Direction | None  # None: unknown
    notes: tuple[str, ...]
    summary: str = ""  # how the columns were understood
    paired: str | None = None  # columns whose values pair runs, if declared
    folds: str = ""  # a warning, if the runs are folds of a cross-validation
    time_limit: float | None = None  # time limit of all runs, if recorded
    measure: str = "value"  # name of the values: their column, or the metric
    roles: Mapping[str, Role] = field(default_factory=dict)  # of each column
    cluster: str | None = None  # the feature whose groups belong together, if the user declares one
    nested: str | None = None  # the columns whose groups of runs are averaged
    crossed: str | None = None  # the columns of sessions that many instances share
    test_over_train: float | None = None  # of folds, if the user declares them
    groups: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # other possible groupings


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a long table with their names."""

    frame: pd.DataFrame
    algorithm: Coded
    instance: Coded
    long: Shape
    location: RowLocation

    def at(self, rows: Codes) -> _Rows:
        algorithm, instance = self.algorithm.at(rows), self.instance.at(rows)
        return replace(self, frame=self.frame.iloc[rows], algorithm=algorithm, instance=instance)

    def column(self, name: str) -> Coded:
        return coded(self.frame[name])

    def keys(self, *columns: str) -> Codes:
        """The cell of each row as a number, combined with further columns."""
        return combination(self.algorithm.codes, self.instance.codes, *(self.column(name).codes for name in columns))[0]


def to_table(frame: pd.DataFrame, shape: Shape, *, columns: Columns, location: RowLocation) -> ResultsTable:
    """Turn a frame into runs; every complaint names the line."""
    chosen, spelling = columns.decimal, columns.spelling
    marks = {name: chosen or decimal_mark(frame, name, location.source, shape.values) for name in shape.values}
    numbers = {name: to_numbers(frame[name], location, mark, chosen=bool(chosen)) for name, mark in marks.items()}
    frame, long = _melted(frame.assign(**numbers), shape)
    if not len(frame):
        raise InvalidData(f"{location.source} holds no run; there must be one row per run below the header")
    frame = _of_metric(frame, long, columns.metric, location)
    parts = needed(frame, long.instance)
    as_written = (row_names(frame, names, location) for names in (long.algorithm, parts))
    algorithm, instance = (_one_spelling(names, spelling) for names in as_written)
    rows = _Rows(frame, algorithm, instance, long, location)
    if columns.algorithms and shape.side_by_side != "algorithm":
        rows = _of_algorithms(rows, columns.algorithms)
    rows = _without_retries(rows)
    header = [str(name) for name in rows.frame.columns if name not in (_NAMES, _VALUE)]
    nested, resampled, crossed, paired = (
        tuple(find(header, name, option) for name in getattr(columns, option))
        for option in ("nested", "resampled", "crossed", "paired")
    )
    if sum(map(bool, (nested, resampled, crossed, paired))) > 1:
        raise InvalidData("runs belong together in one way: choose one of paired, resampled, nested and crossed")
    index = tuple(dict.fromkeys((*rows.long.index, *nested, *resampled, *crossed)))
    others = tuple(name for name in rows.long.others if name not in (*nested, *crossed))
    rows = replace(rows, long=replace(rows.long, index=index if rows.long.index else (), others=others))
    _ask_about_groups(rows, (*paired, *columns.describing))
    _ask_about_endings(rows, (*paired, *columns.describing))
    _refuse_duplicates(rows)
    _ask_about_factors(rows)
    if len(rows.long.index) == 1 and not np.isnan(order := as_floats(rows.frame[rows.long.index[0]])).any():
        rows = rows.at(np.argsort(order, kind="stable"))  # by run number; names keep the order of the file
    frame, long, algorithm, instance = rows.frame, rows.long, rows.algorithm, rows.instance
    value = frame[long.values[0]].to_numpy(dtype=float)
    status, kind, notes = statuses(frame, long.status, value)
    measure = "value" if long.values[0] == _VALUE else long.values[0]
    measure = measure if long.metric is None else str(frame[long.metric].iloc[0])
    if v.is_time(measure) and (negative := (value < 0) & (status == 0)).any():
        row = int(np.argmax(negative))
        raise InvalidData(
            f"{location.of(frame.index[row])} holds {value[row]:g} as {measure!r}, and no time is negative; leave the"
            " cell empty if the run failed"
        )
    paired, groups = paired or resampled or crossed, nested or crossed
    cluster = None if columns.cluster is None else find(header, columns.cluster, "cluster")
    clusters = {} if cluster is None else {cluster: _clusters(rows, cluster)}
    check_spelling(dict.fromkeys(str(name) for of in clusters.values() for name in of.values()), "cluster", spelling)
    check_spelling(algorithm.names, "algorithm", spelling)
    check_spelling(instance.names, "instance", spelling)
    shared, of_group = (
        combination(*(rows.column(name).codes for name in names))[0] if names else None for names in (paired, groups)
    )
    _refuse_summaries(rows, value, by_name=shape.side_by_side == "algorithm")
    runs = Runs(instance.names, algorithm.names, instance.codes, algorithm.codes, value, status, shared, kind)
    features, groups_of_instances = _descriptions(rows)
    about_folds, test_over_train = _about_folds(rows, paired, resampled, columns.test_share)
    return ResultsTable(
        runs if of_group is None else _group_means(runs, of_group),
        features | clusters,
        _direction(frame, long),
        tuple(filter(None, (_about_parts(parts, rows), *notes))),
        _summary(shape, parts, long.index),
        " and ".join(paired) or None,
        about_folds,
        measure=measure,
        cluster=cluster,
        nested=" and ".join(nested) or None,
        crossed=" and ".join(crossed) or None,
        test_over_train=test_over_train,
        groups=groups_of_instances,
    )


def _melted(frame: pd.DataFrame, shape: Shape) -> tuple[pd.DataFrame, Shape]:
    """Convert columns side by side to one row per run; empty cells are no runs."""
    if shape.side_by_side is None and len(shape.values) == 1:
        return frame, shape
    rest = [name for name in frame.columns if name not in shape.values]
    long = frame.melt(rest, list(shape.values), _NAMES, _VALUE, ignore_index=False)
    long = long[long[_VALUE].notna()]
    named = shape.side_by_side or "index"
    names: dict[str, Any] = {named: (*getattr(shape, named), _NAMES)}
    return long, replace(shape, values=(_VALUE,), side_by_side=None, **names)


def _of_metric(frame: pd.DataFrame, long: Shape, metric: str | None, location: RowLocation) -> pd.DataFrame:
    """The rows of the metric to compare; the user chooses among several."""
    if long.metric is None:
        if metric is not None and v.fold(metric) != v.fold(long.values[0]):
            raise InvalidData(
                f"{parameter('metric', metric)} chooses among metrics, but {location.source} has no column of metrics"
            )
        return frame
    levels = [str(level) for level in frame[long.metric].unique()]
    if metric is None:
        if len(levels) == 1:
            return frame
        raise InvalidData(
            f"{location.source} holds several metrics ({quoted(levels)}); specify which to compare:"
            f" {parameter('metric', levels[0])}"
        )
    chosen = [level for level in levels if level == metric] or [level for level in levels if same(level, metric)]
    if len(chosen) != 1:
        raise InvalidData(f"{parameter('metric')} must be one of {quoted(levels)}, got {metric!r}")
    return frame[frame[long.metric].astype("str") == chosen[0]]


def _of_algorithms(rows: _Rows, algorithms: Sequence[str]) -> _Rows:
    """The rows of these algorithms only."""
    names = rows.algorithm.names
    unknown = [name for name in algorithms if name not in names]
    if unknown:
        raise InvalidData(
            f"{parameter('algorithms')} must name algorithms, got {unknown[0]!r}: there are {quoted(names)}"
        )
    return rows.at(np.flatnonzero(np.isin(rows.algorithm.codes, [names.index(name) for name in algorithms])))


def _without_retries(rows: _Rows) -> _Rows:
    """Keep the last attempt of each repeated run; without another index, attempts number the runs."""
    long, location = rows.long, rows.location
    if long.attempt is None:
        return rows
    if not long.index:
        return replace(rows, long=replace(long, index=(long.attempt,)))
    keys = rows.keys(*long.index)
    order = np.lexsort((to_numbers(rows.frame[long.attempt], location), keys))
    last = np.append(keys[order][1:] != keys[order][:-1], True)
    status, *_ = statuses(rows.frame, long.status, rows.frame[long.values[0]].to_numpy(dtype=float))
    if (status[order[~last]] == 0).any():
        raise InvalidData(
            f"in {location.source} runs have several attempts that"
            f" succeeded; choose one with {parameter('where', {long.attempt: str(rows.frame[long.attempt].iloc[0])})},"
            f" or let attempts number the runs with {parameter('ignore', long.index)}"
        )
    return rows.at(np.sort(order[last]))


def _refuse_duplicates(rows: _Rows) -> None:
    """Check that each numbered run occurs once."""
    index, frame, keys = rows.long.index, rows.frame, rows.keys(*rows.long.index)
    first = combination(keys)[1]
    if not index or len(first) == len(keys):
        return
    second = int(np.setdiff1d(np.arange(len(keys)), first)[0])
    run = ", ".join(str(frame[name].iloc[second]) for name in index)
    raise InvalidData(
        f"each run must occur once, but {rows.location.of(frame.index[int(np.argmax(keys == keys[second]))])} and"
        f" {rows.location.row} {frame.index[second]} both hold run {run} of {rows.algorithm.of(second)!r} on"
        f" {rows.instance.of(second)!r} ({len(keys) - len(first)} such rows){_remedy(rows, keys)}"
    )


def _refuse_summaries(rows: _Rows, value: Floats, *, by_name: bool) -> None:
    """Refuse rows that summarise the others: by their name alone, or only if their values are the mean or sum."""
    for column in rows.long.instance:
        cells = rows.column(column)
        names = [
            name
            for code, name in enumerate(cells.names)
            if v.summarises(name) and (by_name or _sums_up(rows.algorithm.codes, cells.codes == code, value))
        ]
        if names:
            raise InvalidData(
                f"{quoted(names, 5)} in column {column!r} seems to summarise the other rows by its name; remove the"
                " row, or rename it if it is an instance"
            )


def _sums_up(algorithm: Codes, is_row: Bools, value: Floats) -> bool:
    """Whether some rows hold the mean, median or sum of the others, for every algorithm."""
    for code in np.unique(algorithm[is_row]):
        rest, here = value[~is_row & (algorithm == code)], value[is_row & (algorithm == code)]
        found = len(rest) and np.isclose([rest.mean(), np.median(rest), rest.sum()], here.mean(), rtol=0.01).any()
        if not found:
            return False
    return True


def _remedy(rows: _Rows, keys: Codes) -> str:
    """A column in which the duplicates differ, if there is one: a setting, or the steps within a run."""
    for name in rows.long.others:
        column = rows.column(name)
        if combinations(keys, column.codes) < len(keys):
            continue
        if len(column.names) <= MAX_LEVELS:
            has_groups = combinations(rows.keys(), column.codes) < len(keys)
            groups = f", or declare that its runs belong together: {parameter('nested', name)}" if has_groups else ""
            return (
                f"; column {name!r} distinguishes them: choose one with {parameter('where', {name: column.names[0]})},"
                f" make it part of the instance with {parameter('instance', (*rows.long.instance, name))}{groups}"
            )
        if _as_numbers(column.names) is not column.names and len(column.names) < len(keys):
            last = parameter("where", {name: column.names[-1]})
            return f"; if {name!r} counts steps within a run, take the last ones: {last}"
    return "; remove the copies"


def _ask_about_groups(rows: _Rows, declared: Collection[str]) -> None:
    """Runs of one process, or of one session that serves many instances, are no independent runs."""
    cells = rows.keys()
    number = len(np.unique(cells))
    for name in rows.long.others if number < len(cells) else ():
        column = rows.column(name)
        groups, places = (combinations(keys, column.codes) for keys in (cells, rows.instance.codes))
        is_nested = v.fold(name) in v.WORDS["nested"] and number < groups < len(cells)
        is_crossed_by = v.fold(name) in v.WORDS["session"] and number < groups and 2 * len(column.names) <= places
        if name not in declared and (column.codes >= 0).all() and (is_nested or is_crossed_by):
            raise InvalidData(
                f"runs of one {name} may belong together; declare it with"
                f" {parameter('nested' if is_nested else 'crossed', name)}, or take all rows as independent runs with"
                f" {parameter('ignore', name)}"
            )


def _ask_about_endings(rows: _Rows, declared: Collection[str]) -> None:
    """Columns that call runs failed are not passed over, whatever their name: category, verified, timed_out, error."""
    known = {*declared, *(("cause", "answer") if "cause" in rows.frame.columns else ())}  # as ampler export writes them
    for name in (name for name in rows.long.others if name not in known):
        column = rows.column(name)
        is_named = outcome_of(name) not in (None, "ok") and _as_numbers(column.names) is column.names
        ends = [word for word in column.names if is_named or outcome_of(word) not in (None, "ok")]
        if ends and all(
            combinations(keys, column.codes) > len(np.unique(keys))
            for keys in (rows.instance.codes, rows.algorithm.codes)
        ):
            raise InvalidData(
                f"column {name!r} holds {ends[0]!r} and may tell how runs ended; if it does, write a column 'status' of"
                f" ok, timeout, memout, crash and wrong; then ignore this one with {parameter('ignore', name)}"
            )


def _ask_about_factors(rows: _Rows) -> None:
    """Rows of a cell that differ in a setting or a moment are no runs, unless the user says so."""
    long, cells = rows.long, rows.keys()
    number = len(np.unique(cells))
    if long.index or number == len(cells):
        return
    seeds = [name for name in long.others if v.fold(name) in v.SEED]
    are_runs = bool(seeds) and len(np.unique(rows.keys(*seeds))) == len(cells)  # each row has a seed of its own
    for name in long.others:
        column = rows.column(name)
        several = f"{rows.location.source} has several rows for each algorithm and instance, and column {name!r}"
        if v.fold(name) in v.STEPS and not are_runs and combinations(cells, column.codes) > number:
            raise InvalidData(
                f"{several} counts steps within a run; choose one with {parameter('where', {name: column.names[-1]})},"
                f" or take all rows as runs with {parameter('ignore', name)}"
            )
        if _may_describe(name) and not v.is_measure(name) and not v.is_derived(name) and is_crossed(cells, column):
            part = f" make it part of the instance with {parameter('instance', (*long.instance, name))},"
            raise InvalidData(
                f"{several} distinguishes them; choose one with {parameter('where', {name: column.names[0]})},"
                f"{'' if _NAMES in long.instance else part} or take all rows as runs with {parameter('ignore', name)}"
            )


def _clusters(rows: _Rows, cluster: str) -> dict[str, object]:
    """The cluster of each instance, as a text."""
    column, instances = rows.column(cluster), rows.instance
    clusters: dict[str, object] = {}
    for row in combination(instances.codes, column.codes)[1]:
        name = instances.of(row)
        if column.codes[row] < 0:
            raise InvalidData(f"each instance must have its cluster in column {cluster!r}, and {name!r} has none")
        if name in clusters:
            raise InvalidData(
                f"each instance must belong to one cluster, but {name!r} has several in column {cluster!r}: name"
                f" further columns of the instance with {parameter('instance')}"
            )
        clusters[name] = column.of(row)
    return clusters


def _may_describe(name: str) -> bool:
    """Whether a column can describe an instance; what numbers runs or rows does not."""
    return v.fold(name) not in v.SEED | v.ROW_NUMBER


def _descriptions(rows: _Rows) -> tuple[dict[str, dict[str, object]], dict[str, dict[str, object]]]:
    """Columns that are the same on all rows of an instance: features with few levels, and groups of instances.

    Groups are as those of passages, to which questions belong; sizes and dimensions make none.
    """
    features: dict[str, dict[str, object]] = {}
    groups: dict[str, dict[str, object]] = {}
    parts, instances = rows.long.instance, len(rows.instance.names)
    for name in dict.fromkeys((*parts, *rows.long.others)):
        if name == _NAMES or not _may_describe(name):
            continue
        column = rows.column(name)
        _, first = combination(rows.instance.codes, column.codes)
        if (column.codes < 0).any() or len(first) != instances:
            continue
        values, of = _as_numbers(column.names), {rows.instance.of(row): column.codes[row] for row in first}
        are_numbers = values is not column.names
        # sizes may have any number of values
        most = instances if are_numbers and name not in parts else min(MAX_LEVELS, instances // 2)
        if 2 <= len(values) <= most:
            features[name] = {instance: values[code] for instance, code in of.items()}
        is_first_part = len(parts) > 1 and name == parts[0]  # a function, not its dimension
        may_group = not are_numbers or is_first_part or v.fold(name) in v.WORDS["cluster"]
        if may_group and 2 <= len(values) < instances:
            groups[name] = {instance: column.names[code] for instance, code in of.items()}
    return features, groups


def _as_numbers(names: Sequence[str]) -> Sequence[object]:
    """Levels as numbers when all are, so that dimension 100 comes after 30."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return names
    return [int(number) if number.is_integer() else number for number in numbers]


def _direction(frame: pd.DataFrame, long: Shape) -> Direction | None:
    """The direction of a column "maximize", if it is the same everywhere; else that of the name of the values."""
    cells = () if long.direction is None else frame[long.direction].unique()
    levels = {str(level).strip().lower() for level in cells}
    answers: dict[Better, set[str]] = {"higher": {"true", "1", "t", "yes"}, "lower": {"false", "0", "f", "no", "-1"}}
    for better, words in answers.items():
        if levels and levels <= words:
            return Direction(better, f"column {long.direction!r}")
    names = (*([] if long.metric is None else [str(frame[long.metric].iloc[0])]), long.values[0])
    found = ((by_name, name) for name in names if (by_name := v.better_by_name(name)))
    return next((Direction(by_name, f"the name {name!r}") for by_name, name in found), None)


def _summary(shape: Shape, instance: Sequence[str], index: Sequence[str]) -> str:
    """Description of the roles of the columns, without a full stop."""
    if shape.side_by_side is None:
        algorithm, where = (" and ".join(map(repr, names)) for names in (shape.algorithm, instance))
        numbers = " and ".join(repr(name) for name in index if name != _NAMES)
        numbered = f", {numbers} numbers the runs" if numbers else ""
        values = f"{quoted(shape.values, 3)} {'holds' if len(shape.values) == 1 else 'hold'} the values"
        return f"{algorithm} names the algorithm, {where} the instance, {values}{numbered}"
    others = [name for name in shape.others if _may_describe(name)]
    verb, choice = "describe" if len(others) > 1 else "describes", f"{parameter('algorithms')} or {parameter('ignore')}"
    described = f", and {quoted(others, 6)} {verb} it; choose with {choice}" if others else ""
    rows = "algorithm" if shape.algorithm else "instance"
    names = " and ".join(map(repr, shape.algorithm or shape.instance))
    return f"columns {quoted(shape.values, 6)} are taken as {shape.side_by_side}s, {names} as the {rows}{described}"


def _group_means(runs: Runs, groups: Codes) -> Runs:
    """One run for each group of runs of an algorithm on an instance: the mean of the values."""
    ok = runs.ok
    members, first = combination(runs.instance, runs.algorithm, groups)
    with_value = np.flatnonzero(ok)[::-1]
    represents = first.copy()  # its first run, or the first with a value
    represents[members[with_value]] = with_value
    sums, counts = (np.bincount(members[ok], weights, len(first)) for weights in (runs.value[ok], None))
    value = np.where(counts > 0, sums / np.maximum(counts, 1), runs.value[first])
    return replace(at_rows(runs, represents), value=value)


def _about_folds(
    rows: _Rows, paired: Sequence[str], resampled: Sequence[str], test_share: float | None
) -> tuple[str, float | None]:
    """Folds share their training data: the effect and the remedy, and the size of a test set over its training set.

    The sizes are those of folds that the user declares: 1/(k − 1) for k folds, whatever the number of repeats.
    """
    columns = (*rows.long.index, *rows.long.others)
    names = resampled[-1:] or [name for name in columns if v.fold(name) in v.WORDS["folds"]]
    folds = len(rows.column(names[0]).names) if names else 0
    if resampled:
        if test_share is None and folds < 2:
            raise InvalidData(f"folds must be two or more, and column {names[0]!r} has {folds}")
        return (
            f"the runs are folds ({' and '.join(resampled)}) with shared training data; the standard error on each"
            " instance is corrected (Nadeau and Bengio 2003); tests over instances need no correction",
            1 / (folds - 1) if test_share is None else test_share / (1 - test_share),
        )
    runs = len(rows.frame) / len(np.unique(rows.keys()))
    if folds < 2 or runs < 2:
        return "", None
    runs_by = [*rows.long.index] if names[0] in rows.long.index else names[:1]
    pairing = "" if names[0] in paired else f" compare fold by fold with {parameter('paired', names[0])};"
    return (
        f"the runs are folds of a cross-validation (column {names[0]!r}, {folds} folds) with shared training data, so"
        f" they are not independent. The variance of their mean is about {1 + runs / (folds - 1):.2g} times the"
        " reported one (Nadeau and Bengio 2003), which tests over several instances do not use. Remedies: declare"
        f" them with {parameter('resampled', runs_by[0] if len(runs_by) == 1 else runs_by)};{pairing} never use folds"
        " as instances; for independent runs draw other splits",
        None,
    )


def _about_parts(parts: Sequence[str], rows: _Rows) -> str:
    """Description of instances that are named by several columns."""
    if len(parts) < 2:
        return ""
    note = f"an instance is one combination of {' and '.join(parts)} ({len(rows.instance.names)} of them)"
    dimension = next((name for name in parts[1:] if v.fold(name) in v.DIMENSION), None)
    if dimension is None:
        return note
    where = parameter("where", {dimension: rows.frame[dimension].iloc[0]})
    return (
        f"{note}; the same {parts[0]} in another {dimension} is not an independent instance, so analyse one at a time"
        f" with {where}"
    )


def check_spelling(names: Iterable[str], kind: str, spelling: Spelling | None) -> None:
    """Raise InvalidData, which asks, about names that differ by case or spaces alone."""
    firsts: dict[str, str] = {}
    for name in names if spelling is None else ():
        twin = firsts.setdefault(spelling_key(name), name)
        if twin != name:
            raise InvalidData(
                f"{twin!r} and {name!r} differ only by case or spaces; specify whether they are the same {kind}:"
                f" {parameter('spelling', 'same')} or {parameter('spelling', 'different')}"
            )


def spelling_key(name: str) -> str:
    """Return a name without regard to case, full-width letters and spaces, except those between digits.

    >>> spelling_key("Simulated Annealing") == spelling_key("simulatedAnnealing"), spelling_key("n 1 2")
    (True, 'n1 2')
    """
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    return re.sub(r"(?<!\d)\s+|\s+(?!\d)", "", visible).casefold()


def _one_spelling(names: Coded, spelling: Spelling | None) -> Coded:
    """Merge names that differ only by case or spaces, under the first one."""
    if spelling != "same":
        return names
    positions: dict[str, int] = {}
    codes = [positions.setdefault(spelling_key(name), len(positions)) for name in names.names]
    firsts = dict(reversed(list(zip(codes, names.names, strict=True))))
    return Coded(np.asarray([*codes, -1], dtype=np.intp)[names.codes], tuple(firsts[code] for code in sorted(firsts)))
