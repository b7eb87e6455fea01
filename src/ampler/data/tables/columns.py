"""Roles of columns: found by name without regard to case, or specified by the user.

Columns that stand side by side like algorithms may be something else. Where there is doubt, the user is asked; a column
that the user names is never doubted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ampler.core.errors import InvalidData
from ampler.core.text import composed, parameter, quoted
from ampler.data.tables import vocabulary as v
from ampler.data.tables.cells import Mark, as_floats, holds_integers, holds_numbers
from ampler.data.tables.vocabulary import fold, words_of

if TYPE_CHECKING:
    import pandas as pd

NUMBER = re.compile(r"[\s._-]*\d+")  # a column that is called by the number of a run alone
IOH_LEVEL = frozenset({"target", "runtime"})  # IOHanalyzer's samples hold one value per target, or per budget


Spelling = Literal["same", "different"]  # one name, or two


@dataclass(frozen=True, slots=True)
class Columns:
    """The roles of columns that the user specifies; the others are found by their names.

    Several columns can name an algorithm or an instance together: `instance=("function", "dimension")`.
    """

    algorithm: tuple[str, ...] = ()
    instance: tuple[str, ...] = ()
    value: str | None = None
    metric: str | None = None  # the metric to compare
    algorithms: tuple[str, ...] = ()  # algorithms to compare: columns of a wide table, names in a long one
    ignore: tuple[str, ...] = ()  # ignored columns
    describing: tuple[str, ...] = ()  # columns that describe instances, whatever their names
    paired: tuple[str, ...] = ()  # columns whose values pair runs
    resampled: tuple[str, ...] = ()  # repeat and fold of a cross-validation, whose runs share training data
    test_share: float | None = None  # of the data, where the splits are random; None: folds
    nested: tuple[str, ...] = ()  # columns of the process that made a run, within algorithm and instance
    crossed: tuple[str, ...] = ()  # sessions, each of which served many instances
    cluster: str | None = None  # the column that groups instances which belong together
    decimal: Mark | None = None  # the decimal mark of numbers; None: as the cells show
    spelling: Spelling | None = None  # names that differ only by case or spaces: same or different; None: ask

    def __post_init__(self) -> None:
        for name in self.__slots__:
            match getattr(self, name):
                case str() as word:
                    object.__setattr__(self, name, composed(word))
                case tuple() | list() as names:
                    object.__setattr__(self, name, tuple(map(composed, names)))

    @property
    def declared(self) -> set[str]:
        """The columns that group runs or instances; none of them is the value."""
        runs = (*self.paired, *self.resampled, *self.nested, *self.crossed)
        return {fold(name) for name in (self.cluster, *self.describing, *runs) if name}


Side = Literal["algorithm", "instance"]


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of a table: one row per run, or one per cell with its runs side by side.

    Or algorithms stand side by side, one column each, or instances do; then no column names them.
    """

    algorithm: tuple[str, ...]
    instance: tuple[str, ...]  # specified columns, or all candidates: redundant ones are removed later
    values: tuple[str, ...]
    index: tuple[str, ...] = ()
    metric: str | None = None
    status: str | None = None
    attempt: str | None = None
    direction: str | None = None
    others: tuple[str, ...] = ()
    side_by_side: Side | None = None


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of a table by what their cells are, and the roles that the user specifies."""

    header: Sequence[str]
    numeric: Collection[str]  # columns of numbers that may be values
    words: Sequence[str]  # columns that are not of numbers
    unique: Collection[str]  # columns that are different in all rows
    counting: Sequence[str]  # columns of whole numbers that count something, by their names
    columns: Columns

    def named(self, names: frozenset[str], but: Collection[str | None] = ()) -> tuple[str, ...]:
        """Return the columns with these names."""
        return tuple(name for name in self.header if fold(name) in names and name not in but)

    def first(self, names: frozenset[str], but: Collection[str | None]) -> str | None:
        """Return the first column with one of these names."""
        return next(iter(self.named(names, but)), None)

    def index(self, but: Collection[str | None]) -> tuple[str, ...]:
        """Return the columns that number the runs of a cell."""
        indexes = self.named(v.INDEX, but)
        return tuple(name for name in indexes if fold(name) not in v.STEP) or indexes

    def find_all(self, names: Collection[str], option: str) -> tuple[str, ...]:
        """Return the columns that an option names."""
        return tuple(find(self.header, name, option) for name in names)

    def side_by_side(self, but: Collection[str]) -> tuple[str, ...]:
        """Return the columns of numbers of a table that has algorithms (or instances) side by side; () if it has not.

        A column that describes instances or numbers rows is none of them.
        """
        aside = v.INDEX | v.SEED | v.STEPS | v.ATTEMPT
        numbers = [name for name in self.header if name in self.numeric and name not in but and fold(name) not in aside]
        free = tuple(n for n in numbers if not (v.describes(n) or v.is_identifying(n) or v.SETTING.match(n)))
        return free if len(free) > 1 else ()


class UnknownColumn(InvalidData):
    """An option names a column that the table does not have."""

    def __init__(self, option: str, name: str, header: Sequence[str]) -> None:
        super().__init__(f"{parameter(option)} must name a column, got {name!r}: the columns are {quoted(header)}")
        self.option, self.name, self.header = option, name, header


def find(header: Sequence[str], name: str, option: str) -> str:
    """Return the column of this name, exactly or without regard to case."""
    alike = [name] if name in header else [column for column in header if fold(column) == fold(name)]
    if len(alike) != 1:
        raise UnknownColumn(option, name, header)
    return alike[0]


def which_column(names: Sequence[str], role: str, *, together: bool = False) -> InvalidData:
    """Return the question which of several columns has a role."""
    several = f", or that they name it together with {parameter(role, names)}" if together else ""
    verb = "be the value; specify which to compare:" if role == "value" else f"name the {role}; specify which does with"
    likely = names[-1 if role == "instance" else 0]  # the algorithm's column mostly stands before the instance's
    return InvalidData(f"{quoted(names)} could each {verb} {parameter(role, likely)}{several}")


def no_column(role: str, header: Sequence[str], free: Sequence[str] = (), more: str = "") -> InvalidData:
    """Return the question which column has a role that none has by its name; the first of `free` is proposed."""
    asked = parameter(role, free[0] if free else None)
    return InvalidData(
        f"no column names the {role}; specify which does with {asked}{more}: the columns are {quoted(header)}"
    )


# long or wide? ----------------------------------------------------------------------------------------------------


def shape_of(frame: pd.DataFrame, columns: Columns) -> Shape:
    """Return the shape of a table, from names and cells; InvalidData asks in case of doubt."""
    everything = [str(name) for name in frame.columns]
    described = tuple(find(everything, name, "describing") for name in columns.describing)
    if columns.cluster is not None and (name := find(everything, columns.cluster, "cluster")) not in columns.instance:
        described = tuple(dict.fromkeys((*described, name)))
    header = [name for name in everything if name not in described]
    numbers = [name for name in header if holds_numbers(frame[name])]
    counting = [name for name in numbers if v.counts(name) and holds_integers(frame[name])]
    words = [name for name in header if name not in numbers]
    unique = [name for name in (*words, *counting) if frame[name].is_unique]
    numeric = {name for name in numbers if name not in counting} | set(columns.algorithms)
    shape = _shape(_Table(header, numeric, words, unique, counting, columns))
    shape = replace(shape, others=(*shape.others, *described))
    _check_side_by_side(frame, shape, columns)
    _check_value(frame, shape, columns)
    return shape


def _shape(table: _Table) -> Shape:
    columns = table.columns
    instance = table.find_all(columns.instance, "instance")
    if _are_algorithms(table):
        return _wide(table, instance or _instance(table, ()))
    algorithm = table.find_all(columns.algorithm, "algorithm")
    if not algorithm:
        algorithm = table.named(v.ALGORITHM) or table.named(v.ALGORITHM_ELSE)
        if len(algorithm) > 1:
            raise which_column(algorithm, "algorithm", together=True)
    instance = instance or _instance(table, algorithm)
    algorithm = algorithm or (table.named(frozenset({"id"})) if instance else ())  # IOHanalyzer's ID
    if algorithm and instance:
        return _long(table, algorithm, instance)
    if not algorithm:
        return _wide(table, instance)
    values = table.side_by_side(algorithm)
    if not values:
        raise no_column("instance", table.header, [name for name in table.words if name not in algorithm])
    return _as_wide(table, algorithm, values, "instance")


def _are_algorithms(table: _Table) -> bool:
    """Whether the columns that the user names are algorithms side by side."""
    columns = table.columns
    if columns.value is not None:
        return False
    if len(columns.algorithm) > 1:
        return all(name in table.numeric for name in table.find_all(columns.algorithm, "algorithm"))
    return bool(columns.algorithms) and {*map(fold, columns.algorithms)} <= {*map(fold, table.header)}


def _instance(table: _Table, algorithm: Collection[str]) -> tuple[str, ...]:
    names = table.named(v.INSTANCE, algorithm) or table.named(v.INSTANCE_ELSE, algorithm)[:1]
    return names + table.named(v.DIMENSION) if names else ()


def _long(table: _Table, algorithm: tuple[str, ...], instance: tuple[str, ...]) -> Shape:
    keys = (*algorithm, *instance)
    metric = table.first(v.METRIC, keys)
    values = _values(table, keys, metric)
    used = (*keys, *values)
    if metric is None and (len(values) > 1 or fold(values[0]) in {"fx", "rt"}):
        metric = table.first(IOH_LEVEL, used)
    status, attempt, direction = (table.first(names, used) for names in (v.STATUS, v.ATTEMPT, v.DIRECTION))
    index = table.index(used)
    used = (*used, *index, *filter(None, (metric, status, attempt, direction)))
    others = tuple(name for name in table.header if name not in used)
    return Shape(algorithm, instance, values, index, metric, status, attempt, direction, others)


def _values(table: _Table, keys: Collection[str], metric: str | None) -> tuple[str, ...]:
    """The column of values: specified, called value, side by side, called like a measure, or the only numbers."""
    columns = table.columns
    header = [name for name in table.header if name not in keys and fold(name) not in columns.declared]
    if columns.value is not None:
        return table.find_all([columns.value], "value")
    if columns.metric is not None and metric is None and fold(columns.metric) in map(fold, table.header):
        return table.find_all([columns.metric], "metric")
    runs = [name for name in header if v.RUN_WORD.fullmatch(name) or NUMBER.fullmatch(name)]
    named = [name for name in header if fold(name) in v.VALUE]
    held = [name for name in header if name in table.numeric or fold(name) in v.SUCCESS]  # numbers, or success
    measures = [name for name in held if v.is_measure(name) or fold(name) in v.UNSURE]
    free = [name for name in header if name in table.numeric and may_be_value(name)]
    for names in ([name for name in named if name in held], named, runs, measures, free):
        if len(names) == 1 or (names is runs and names):
            return tuple(names)
        if names:
            raise which_column([*names, *(name for name in free if names is measures and name not in names)], "value")
    raise InvalidData(
        f"no column holds numbers to compare; specify which is the value with {parameter('value')}: the columns are"
        f" {quoted(table.header)}"
    )


def may_be_value(name: str) -> bool:
    """Return whether a column of numbers with this name could be what is compared."""
    aside = v.ALGORITHM | v.INSTANCE | v.DIMENSION | v.INDEX | v.METRIC | v.STATUS | v.ATTEMPT | v.DIRECTION
    return fold(name) not in aside and not v.is_never_value(name)


def _wide(table: _Table, instance: tuple[str, ...]) -> Shape:
    columns, header = table.columns, table.header
    if not table.numeric:
        raise InvalidData(f"a column must hold the numbers to compare, none does: the columns are {quoted(header)}")
    names = instance or _naming(table)
    side_by_side = table.side_by_side(names)
    values = table.find_all(columns.algorithm or columns.algorithms, "algorithms") or side_by_side
    if columns.value is not None or not values:
        free = [name for name in table.words if name not in names]
        raise no_column("algorithm", header, free, f", or which columns are algorithms with {parameter('algorithms')}")
    left_out = {*side_by_side} - {*values}  # algorithms that are not compared describe nothing
    rest = replace(table, header=[name for name in header if name not in left_out])
    return _as_wide(rest, names, values, "algorithm")


def _naming(table: _Table) -> tuple[str, ...]:
    """The column that names the rows of a wide table: unique texts, any texts, or the row's number."""
    aside = v.METRIC | v.STATUS | v.DIRECTION | v.INDEX | v.SEED
    words = [name for name in table.words if fold(name) not in aside]
    unique = [name for name in words if name in table.unique]
    if len(words) > 1 and not unique:
        raise which_column(words, "instance", together=True)
    numbers = [name for name in table.counting if fold(name) in v.ROW_NUMBER and name in table.unique]
    return tuple(unique or words or numbers)[:1]


def _as_wide(table: _Table, names: tuple[str, ...], values: tuple[str, ...], side: Side) -> Shape:
    used = (*names, *values)
    index, metric = table.index(used), table.first(v.METRIC, used)
    others = tuple(name for name in table.header if name not in {*used, *index, metric})
    algorithm, instance = (names, ()) if side == "instance" else ((), names)
    return Shape(algorithm, instance, values, index, metric, others=others, side_by_side=side)


Role = Literal["algorithm", "instance", "value", "compared", "run", "metric", "ending", "ignored", "group"]


def roles_of(header: Sequence[str], shape: Shape, columns: Columns) -> tuple[Role, ...]:
    """Return how each column is understood; a column without another role may group the instances."""
    of_values: dict[Side | None, Role] = {None: "value", "algorithm": "compared", "instance": "instance"}
    having: dict[Role, Sequence[str | None]] = {"algorithm": shape.algorithm, "instance": shape.instance}
    having[of_values[shape.side_by_side]] = shape.values
    having["ending"] = (shape.status, shape.attempt)
    having |= {"run": shape.index, "metric": (shape.metric,), "group": columns.describing, "ignored": columns.ignore}
    roles = {name: role for role, names in having.items() for name in names}
    return tuple(roles.get(name, "run" if fold(name) in v.SEED else "group") for name in header)


# doubtful columns --------------------------------------------------------------------------------------------

FEWEST_ROWS = 6  # minimum number of values to classify a column
FEW_LEVELS = 1 / 3  # a column with this many different numbers per row repeats itself
MANY_LEVELS = 2 / 3  # one with more does not
FAR = 100.0  # maximum usual ratio of results on one instance
MAX_NAMES = 6
FUNCTION = re.compile(r"[fF]\d+")


def _check_side_by_side(frame: pd.DataFrame, shape: Shape, columns: Columns) -> None:
    """Ask where columns of a table with algorithms, or instances, side by side may be something else."""
    across = shape.side_by_side == "instance"
    if shape.side_by_side is None or columns.algorithms or (columns.algorithm and not across):
        return
    functions = sum(FUNCTION.fullmatch(name) is not None for name in shape.values) > 1  # f1 and f2 are no F1 score
    measures = [name for name in shape.values if v.is_measure(name) and not (functions and FUNCTION.fullmatch(name))]
    if measures and sum(name not in measures and not v.is_never_value(name) for name in shape.values) < 2:
        raise _nothing_named(measures, "are measured values", shape)
    _ask_about(measures, shape, "a measured value")
    if values := [name for name in shape.values if fold(name) in v.VALUE - v.UNSURE]:
        raise _nothing_named(values, "are values by name", shape)
    if runs := list(filter(v.RUN_WORD.fullmatch, shape.values)):
        raise _nothing_named(runs, "number runs", shape)
    _ask_about(list(filter(v.summarises, shape.values)), shape, "a summary of other rows")
    _ask_about(_statistics(shape.values), shape, "another statistic or measure of the same")
    if across:
        return
    _ask_about(_odd(frame, shape.values), shape, "of another kind than the rest, like a feature of instances")


def _check_value(frame: pd.DataFrame, shape: Shape, columns: Columns) -> None:
    """Ask which column is the value where another differs from run to run too, whatever it is called."""
    value, is_chosen = shape.values[0], columns.value is not None or columns.metric is not None
    if shape.side_by_side or is_chosen or len(shape.values) > 1 or fold(value) in v.VALUE:
        return

    def depends(name: str, keys: Sequence[str]) -> bool:  # a size of the instance, a parameter of the algorithm
        return bool(frame.groupby(list(keys), dropna=False, sort=False)[name].nunique(dropna=False).max() == 1)

    free = (name for name in shape.others if may_be_value(name) and fold(name) not in columns.declared)
    numbers = (name for name in free if holds_numbers(frame[name]))
    others = [name for name in numbers if not depends(name, shape.instance) and not depends(name, shape.algorithm)]
    if others:
        raise which_column([value, *others], "value")


def _nothing_named(names: Sequence[str], what: str, shape: Shape) -> InvalidData:
    roles = [role for role in ("instance", "algorithm") if not getattr(shape, role)]
    options = " and ".join(map(parameter, roles))
    return InvalidData(
        f"{quoted(names, MAX_NAMES)} {what}, and no column names the {' and the '.join(roles)}; specify it with"
        f" {options}"
    )


def _ask_about(names: Sequence[str], shape: Shape, alternative: str) -> None:
    """Refuse to guess about these columns, with the two ways to specify what they are."""
    if not names:
        return
    rest = [name for name in shape.values if name not in names] or list(shape.values)
    side = f"an {shape.side_by_side}"
    choose = f", or name the algorithms: {parameter('algorithms', _first_names(rest))}"
    choose = choose if shape.side_by_side == "algorithm" else ""
    raise InvalidData(
        f"{quoted(names, MAX_NAMES)} may be {side} or {alternative}; ignore such columns with"
        f" {parameter('ignore', _first_names(names))}{choose}"
    )


def _first_names(names: Sequence[str]) -> list[str]:
    return [*names[:MAX_NAMES], *(["…"] if len(names) > MAX_NAMES else [])]


def _statistics(names: Sequence[str]) -> list[str]:
    """Columns that differ from another in the statistic or the measure alone: RF_mean and RF_std, GA and GA time."""
    families: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        stem = tuple(word for word in words_of(name) if word not in v.STATISTIC | v.MEASURE | v.VALUE)
        if stem:
            families[stem].append(name)
    return [name for family in families.values() for name in family[1:] if len({*map(fold, family)}) > 1]


def _odd(frame: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Columns unlike all others: few levels where the others have many, or integers of another magnitude.

    One that has a result in common with another on some instance, or is mostly zero, is as algorithms are.
    """
    if len(frame) < FEWEST_ROWS or len(names) < 2:
        return []
    values = np.column_stack([as_floats(frame[name]) for name in names])
    values = np.where(np.isfinite(values), values, np.nan)
    number = np.isfinite(values).sum(axis=0)
    if not number.all():
        return []  # a column without a number shows no kind
    levels = np.array([len(np.unique(column[np.isfinite(column)])) for column in values.T]) / number
    whole = np.nanmax(values % 1, axis=0) == 0
    repeats = (levels <= FEW_LEVELS) & (number >= FEWEST_ROWS) & _all_others(levels >= MANY_LEVELS)
    with np.errstate(all="ignore"):
        counts_up = (np.diff(values, axis=0) == 1).all(axis=0) & np.isin(values[0], (0, 1))
        middle = np.log(np.nanmedian(np.abs(values), axis=0))
        apart = np.abs(middle[:, None] - middle[None, :]) > np.log(FAR)
    np.fill_diagonal(apart, val=True)
    odd = repeats | (whole & _all_others(~whole) & (apart.all(axis=1) | counts_up))
    ties = [(np.delete(values, k, axis=1) == column[:, None]).any() for k, column in enumerate(values.T)]
    odd &= ~np.array(ties) & ((values == 0).mean(axis=0) <= 0.5)
    return [name for name, is_odd in zip(names, odd, strict=True) if is_odd]


def _all_others(holds: Any) -> Any:
    """For each column whether something holds in all other columns."""
    return (~holds).sum() - ~holds == 0
