"""Which column is what: found by name without regard to case, or said by the user."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ampler.core.errors import InvalidData
from ampler.core.names import composed
from ampler.core.spoken import parameter
from ampler.core.wording import quoted
from ampler.data.tables.numerals import Mark
from ampler.data.tables.vocabulary import (
    ALGORITHM,
    ALGORITHM_ELSE,
    ATTEMPT,
    DIMENSION,
    DIRECTION,
    INDEX,
    INSTANCE,
    INSTANCE_ELSE,
    METRIC,
    ROW_NUMBER,
    RUN_WORD,
    SEED,
    STATUS,
    STEP,
    STEPS,
    SUCCESS,
    UNSURE,
    VALUE,
    describes,
    fold,
    is_identifying,
    is_measure,
    is_never_value,
)

NUMBER = re.compile(r"[\s._-]*\d+")  # a column that is called by the number of a run alone
IOH_LEVEL = frozenset({"target", "runtime"})  # IOHanalyzer's samples hold one value per target, or per budget


@dataclass(frozen=True, slots=True)
class Columns:
    """What the user says about the columns; what is left out is found by its name.

    Several columns can name an algorithm or an instance together: `instance=("function", "dimension")`.
    """

    algorithm: tuple[str, ...] = ()
    instance: tuple[str, ...] = ()
    value: str | None = None
    metric: str | None = None  # which of several metrics
    algorithms: tuple[str, ...] = ()  # compare these only: columns of a wide table, names in a long one
    ignore: tuple[str, ...] = ()  # columns that are as if they were not there
    describing: tuple[str, ...] = ()  # columns that describe instances, whatever their names say
    paired: tuple[str, ...] = ()  # runs with the same in these columns belong together
    decimal: Mark | None = None  # the decimal mark of numbers; None: as the cells show

    def __post_init__(self) -> None:
        for name in ("algorithm", "instance", "algorithms", "ignore", "describing", "paired"):
            object.__setattr__(self, name, tuple(map(composed, getattr(self, name))))
        for name in ("value", "metric"):
            word = getattr(self, name)
            object.__setattr__(self, name, composed(word) if isinstance(word, str) else word)


@dataclass(frozen=True, slots=True)
class Long:
    """One row per run, or one per cell with its runs side by side."""

    algorithm: tuple[str, ...]
    instance: tuple[str, ...]  # said, or all that may name it: those determined by the others are left out later
    values: tuple[str, ...]
    index: tuple[str, ...]
    metric: str | None
    status: str | None
    attempt: str | None
    direction: str | None
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wide:
    """One row per instance (or per run on it), one column per algorithm; turned around when `transposed`."""

    names: tuple[str, ...]  # none: only the row's number names it
    values: tuple[str, ...]
    transposed: bool
    index: tuple[str, ...]
    metric: str | None
    others: tuple[str, ...]


Shape = Long | Wide


@dataclass(frozen=True, slots=True)
class Kinds:
    """What the cells of the columns are, whatever the columns are called."""

    header: Sequence[str]
    numeric: Collection[str]  # columns of numbers
    counting: Collection[str]  # those among them that count something: by name, and by whole numbers alone
    telling: Collection[str]  # columns that tell all rows apart

    def without(self, names: Collection[str]) -> Kinds:
        """Return the same of the other columns."""
        kept = ([name for name in each if name not in names] for each in (self.numeric, self.counting, self.telling))
        return Kinds([name for name in self.header if name not in names], *kept)


def shape_of(kinds: Kinds, said: Columns) -> Shape:
    """Decide what each column holds, from the names and from what the cells are."""
    described = tuple(find(kinds.header, name, "describing") for name in said.describing)
    shape = _shape(kinds.without(described), said)
    return replace(shape, others=(*shape.others, *described))


def _shape(kinds: Kinds, said: Columns) -> Shape:
    header = kinds.header
    numeric = {name for name in kinds.numeric if name not in kinds.counting} | set(said.algorithms)
    if _are_algorithms(header, numeric, said):
        return _wide(kinds, numeric, _instance(header, said, ()), said)
    algorithm = _algorithm(header, said)
    instance = _instance(header, said, algorithm)
    algorithm = algorithm or (_named(header, frozenset({"id"})) if instance else ())  # IOHanalyzer's ID
    if algorithm and instance:
        return _long(header, numeric, algorithm, instance, said)
    if not algorithm:
        return _wide(kinds, numeric, instance, said)
    values = _side_by_side(header, numeric, algorithm)
    if not values:
        raise InvalidData(
            f"no column names the instance; say which with {parameter('instance')}: the columns are {quoted(header)}"
        )
    return _as_wide(header, algorithm, values, transposed=True)


def _are_algorithms(header: Sequence[str], numeric: Collection[str], said: Columns) -> bool:
    """Whether the columns that the user names are algorithms side by side."""
    if said.value is not None:
        return False
    if len(said.algorithm) > 1:
        return all(find(header, name, "algorithm") in numeric for name in said.algorithm)
    folded = {fold(name) for name in header}
    return bool(said.algorithms) and all(fold(name) in folded for name in said.algorithms)


def find(header: Sequence[str], wanted: str, option: str) -> str:
    """Return the column called `wanted`, exactly or without regard to case."""
    alike = [wanted] if wanted in header else [name for name in header if fold(name) == fold(wanted)]
    if len(alike) != 1:
        raise InvalidData(f"{parameter(option)} must name a column, got {wanted!r}: the columns are {quoted(header)}")
    return alike[0]


def _algorithm(header: Sequence[str], said: Columns) -> tuple[str, ...]:
    if said.algorithm:
        return tuple(find(header, name, "algorithm") for name in said.algorithm)
    found = _named(header, ALGORITHM) or _named(header, ALGORITHM_ELSE)
    if len(found) > 1:
        raise InvalidData(
            f"{quoted(found)} could each name the algorithm; say which with"
            f" {parameter('algorithm', found[0])}, or that they name it together with {parameter('algorithm', found)}"
        )
    return found


def _instance(header: Sequence[str], said: Columns, algorithm: Collection[str]) -> tuple[str, ...]:
    if said.instance:
        return tuple(find(header, name, "instance") for name in said.instance)
    found = _named(header, INSTANCE, but=algorithm) or _named(header, INSTANCE_ELSE, but=algorithm)[:1]
    return found + _named(header, DIMENSION) if found else ()


def _named(header: Sequence[str], names: frozenset[str], *, but: Collection[str] = ()) -> tuple[str, ...]:
    return tuple(name for name in header if fold(name) in names and name not in but)


def _first(header: Sequence[str], names: frozenset[str], taken: Collection[str]) -> str | None:
    return next(iter(_named(header, names, but=taken)), None)


def _index(header: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """The columns that number the runs of a cell."""
    found = _named(header, INDEX, but=taken)
    return tuple(name for name in found if fold(name) not in STEP) or found


def _long(
    header: Sequence[str],
    numeric: Collection[str],
    algorithm: tuple[str, ...],
    instance: tuple[str, ...],
    said: Columns,
) -> Long:
    keys = (*algorithm, *instance)
    metric = _first(header, METRIC, keys)
    values = _values(header, numeric, keys, said, metric)
    taken = (*keys, *values)
    if metric is None and (len(values) > 1 or fold(values[0]) in {"fx", "rt"}):
        metric = _first(header, IOH_LEVEL, taken)
    status, attempt = _first(header, STATUS, taken), _first(header, ATTEMPT, taken)
    direction, index = _first(header, DIRECTION, taken), _index(header, taken)
    used = {*taken, *index, metric, status, attempt, direction}
    others = tuple(name for name in header if name not in used)
    return Long(algorithm, instance, values, index, metric, status, attempt, direction, others)


def _values(
    header: Sequence[str], numeric: Collection[str], keys: Collection[str], said: Columns, metric: str | None
) -> tuple[str, ...]:
    """The column of values: said, called value, side by side, called like a measure, or the only one with numbers."""
    if said.value is not None:
        return (find(header, said.value, "value"),)
    if said.metric is not None and metric is None and fold(said.metric) in map(fold, header):
        return (find(header, said.metric, "metric"),)
    runs = [name for name in header if (RUN_WORD.fullmatch(name) or NUMBER.fullmatch(name)) and name not in keys]
    named = _named(header, VALUE, but=keys)
    measures = [
        name
        for name in header
        if name not in keys and (is_measure(name) or fold(name) in UNSURE) and _holds(name, numeric)
    ]
    free = [name for name in header if name in numeric and name not in keys and may_be_value(name)]
    for found in ([name for name in named if _holds(name, numeric)], named, runs, measures, free):
        if len(found) == 1 or (found is runs and found):
            return tuple(found)
        if found:
            raise which_value([*found, *(name for name in free if found is measures and name not in found)])
    raise InvalidData(
        f"no column holds numbers to compare; say which is the value with {parameter('value')}: the columns are"
        f" {quoted(header)}"
    )


def _holds(name: str, numeric: Collection[str]) -> bool:
    """Whether a column has numbers, or says of each run whether it succeeded."""
    return name in numeric or fold(name) in SUCCESS


def may_be_value(name: str) -> bool:
    """Whether a column of numbers with this name could be what is compared."""
    aside = ALGORITHM | INSTANCE | DIMENSION | INDEX | METRIC | STATUS | ATTEMPT | DIRECTION
    return fold(name) not in aside and not is_never_value(name)


def which_value(found: Sequence[str]) -> InvalidData:
    """Return the question which of several columns is to be compared."""
    return InvalidData(f"{quoted(found)} could each be the value; say which to compare: {parameter('value', found[0])}")


def _wide(kinds: Kinds, numeric: Collection[str], instance: tuple[str, ...], said: Columns) -> Wide:
    header = kinds.header
    if not numeric:
        raise InvalidData(f"a column must hold the numbers to compare, none does: the columns are {quoted(header)}")
    names = instance or _naming(kinds)
    chosen = said.algorithm or said.algorithms
    values = tuple(find(header, name, "algorithms") for name in chosen) or _side_by_side(header, numeric, names)
    if said.value is not None or not values:
        raise InvalidData(
            f"no column names the algorithm; say which with {parameter('algorithm')}, or which columns are algorithms"
            f" with {parameter('algorithms')}: the columns are {quoted(header)}"
        )
    left_out = {*_side_by_side(header, numeric, names)} - {*values}  # algorithms that are not compared describe nothing
    return _as_wide([name for name in header if name not in left_out], names, values, transposed=False)


def _naming(kinds: Kinds) -> tuple[str, ...]:
    """The column that names the rows of a wide table: words that tell them apart, any words, or the row's number."""
    aside = METRIC | STATUS | DIRECTION | INDEX | SEED
    words = [name for name in kinds.header if name not in kinds.numeric and fold(name) not in aside]
    telling = [name for name in words if name in kinds.telling] or words
    if len(telling) > 1 and telling is words:
        raise InvalidData(
            f"{quoted(words)} could each name the instance; say which with"
            f" {parameter('instance', words[0])}, or that they name it together with {parameter('instance', words)}"
        )
    numbers = (name for name in kinds.counting if fold(name) in ROW_NUMBER and name in kinds.telling)
    return tuple(telling or numbers)[:1]


def _side_by_side(header: Sequence[str], numeric: Collection[str], names: Collection[str]) -> tuple[str, ...]:
    """The columns of numbers of a table that has algorithms (or instances) side by side; () when it has none."""
    aside = INDEX | SEED | STEPS | ATTEMPT
    numbers = (name for name in header if name in numeric and name not in names)
    free = tuple(name for name in numbers if fold(name) not in aside and not (describes(name) or is_identifying(name)))
    return free if len(free) > 1 else ()


def _as_wide(header: Sequence[str], names: tuple[str, ...], values: tuple[str, ...], *, transposed: bool) -> Wide:
    taken = (*names, *values)
    index, metric = _index(header, taken), _first(header, METRIC, taken)
    others = tuple(name for name in header if name not in {*taken, *index, metric})
    return Wide(names, values, transposed, index, metric, others)
