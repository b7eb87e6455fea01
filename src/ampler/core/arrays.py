"""Runs as arrays: types of arrays, the samples of one instance as running moments, the runs of a study as columns.

Adding a run to `Samples` is O(1). A million `Runs` are four arrays, not a million objects: `Runs.from_columns` takes
names per run, `Runs.of` takes observations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ampler.core.errors import InvalidData, InvalidSamples
from ampler.core.failures import KINDS, kind_of
from ampler.core.runs import Observation
from ampler.core.settings import Status
from ampler.core.text import composed

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]  # how many: runs, instances, exponents
Codes = NDArray[np.intp]  # positions: in a tuple of names, in another array
Bools = NDArray[np.bool_]
Pair = tuple[str, str]  # two algorithms that are compared
Interval = tuple[float, float]  # lower and upper end


T = TypeVar("T")

# Between 2^-200 and 2^200 fourth powers of values and of their rounding errors are ordinary doubles; only
# values beyond are selected as x·2^-e.
ORDINARY = 200


class Samples:
    """The values of each algorithm on one instance: numbers of runs, means, variances, fourth moments.

    `deterministic` names algorithms whose value never changes: one value is enough, the variance is 0.
    Add values in the order of their run index; the last digit of a mean may depend on it.

    >>> samples = Samples.of({"full": [5.0, 7.0], "no-swap": [9.0, 9.5, 10.0]})
    >>> samples.counts.tolist(), samples.means.tolist(), samples.variances.tolist()
    ([2, 3], [6.0, 9.5], [2.0, 0.25])
    """

    def __init__(self, algorithms: Sequence[str], *, deterministic: Collection[str] = ()) -> None:
        self.algorithms: tuple[str, ...] = tuple(algorithms)
        self._positions = {name: position for position, name in enumerate(self.algorithms)}
        _check_names(self.algorithms, self._positions, deterministic)
        self.deterministic = frozenset(deterministic)
        size = len(self.algorithms)
        self._moments = [_Moments() for _ in range(size)]
        self._values: list[list[float]] = [[] for _ in range(size)]
        self._dropped: list[list[int]] = [[] for _ in range(size)]
        self._memory: list[dict[Hashable, Any]] = [{} for _ in range(size)]
        self._table = np.full((4, size), np.nan)  # scaled: means, variances, second, fourth
        self._table[2:] = 0.0
        self._counts = np.zeros((2, size), dtype=np.int64)  # values, runs spent
        self.total_spent = 0  # runs of all algorithms
        self._exponents = np.zeros(size, dtype=np.int64)
        self.ordinary = True
        self.exponents = _view(self._exponents)
        self.counts: Counts = _view(self._counts[0])
        self.spent: Counts = _view(self._counts[1])
        self.scaled_means: Floats = _view(self._table[0])
        self.scaled_variances: Floats = _view(self._table[1])
        self.scaled_second: Floats = _view(self._table[2])
        self.scaled_fourth: Floats = _view(self._table[3])

    @classmethod
    def of(cls, values: Mapping[str, Iterable[float]] | Samples, *, deterministic: Collection[str] = ()) -> Samples:
        """Make samples from a mapping of lists; samples are returned unchanged."""
        if isinstance(values, Samples):
            return values
        if not isinstance(values, Mapping):
            raise InvalidSamples(
                f"samples must be a mapping from algorithm to its values, got {type(values).__name__}; "
                'write {"a": [1.0, 2.0], "b": [3.0, 4.0]}'
            )
        samples = cls(tuple(values), deterministic=deterministic)
        for algorithm, numbers in values.items():
            samples.extend(algorithm, numbers)
        return samples

    def add(self, algorithm: str, value: float) -> None:
        """Add the value of one more run."""
        self.extend(algorithm, (value,))

    def extend(self, algorithm: str, values: Iterable[float]) -> None:
        """Add the values of several runs, in their order."""
        position = self.position(algorithm)
        own, moments = self._values[position], self._moments[position]
        try:
            for value in values:
                number = value if type(value) is float and math.isfinite(value) else _number(algorithm, value)
                if own and algorithm in self.deterministic and number != own[0]:
                    raise InvalidSamples(
                        f"algorithm {algorithm!r} is declared deterministic and must always give the same value, "
                        f"got {own[0]!r} and {number!r}; do not declare it deterministic"
                    )
                own.append(number)
                moments.add(number)
                self.total_spent += 1
        finally:  # the values before an invalid one are kept
            self._note(position, moments)

    def drop(self, algorithm: str, index: int | None = None) -> None:
        """Count a failed run, by default at the next index: it uses the budget but has no value."""
        position = self.position(algorithm)
        self._dropped[position].append(int(self.spent[position]) if index is None else index)
        self._counts[1, position] += 1
        self.total_spent += 1

    def position(self, algorithm: str) -> int:
        """Return the position of an algorithm in all the arrays."""
        try:
            return self._positions[algorithm]
        except KeyError:
            raise InvalidSamples(
                f"the algorithm must be one of {', '.join(map(repr, self.algorithms))}, got {algorithm!r}"
            ) from None

    def values(self, algorithm: str) -> Floats:
        """Return the values of an algorithm in the order in which they came."""
        return np.array(self._values[self.position(algorithm)])

    def by_index(self, exponents: Counts | None = None) -> Floats:
        """Return the values with algorithms in columns and the index of the run in rows; NaN where there is none.

        They are in units of 2^exponents. A deterministic algorithm has its value everywhere.

        >>> samples = Samples.of({"a": [1.0, 2.0], "b": [3.0]})
        >>> samples.drop("a"); samples.add("a", 4.0); samples.by_index().tolist()
        [[1.0, 3.0], [2.0, nan], [nan, nan], [4.0, nan]]
        """
        table = np.full((int(self.spent.max()), len(self.algorithms)), np.nan)
        for k, (name, values, dropped) in enumerate(zip(self.algorithms, self._values, self._dropped, strict=True)):
            scaled = np.array(values) if exponents is None else np.ldexp(values, -exponents[k])
            if name in self.deterministic:
                table[:, k] = scaled[0]
            else:
                table[np.delete(np.arange(self.spent[k]), dropped), k] = scaled
        return table

    def derived(self, algorithm: str, key: Hashable, compute: Callable[[Floats], T]) -> T:
        """Return compute(values of the algorithm), remembered under `key` until the algorithm gets another value."""
        memory = self._memory[self.position(algorithm)]
        if key not in memory:
            memory[key] = compute(self.values(algorithm))
        result: T = memory[key]
        return result

    @property
    def means(self) -> Floats:
        """The mean of each algorithm; NaN without a value."""
        return self._unscaled(self.scaled_means, 1)

    @property
    def variances(self) -> Floats:
        """The variance (n − 1) of each algorithm; 0 if it is deterministic, NaN with fewer than two values.

        It is 0 or infinite where the magnitudes allow no other double; estimates use `scaled_variances`, which are in
        units of 2^(2·exponents).
        """
        return self._unscaled(self.scaled_variances, 2)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {count}" for name, count in zip(self.algorithms, self.counts, strict=True))
        return f"Samples({counts})"

    def _note(self, position: int, moments: _Moments) -> None:
        """Bring the arrays of one algorithm up to date."""
        if not moments.n:
            return
        self._memory[position].clear()
        counts, table = self._counts, self._table
        counts[1, position] += moments.n - counts[0, position]
        counts[0, position] = moments.n
        if moments.exponent or not self.ordinary:
            self._exponents[position] = moments.exponent
            self.ordinary = not self._exponents.any()
        table[0, position] = moments.origin + moments.mean
        table[2, position] = moments.m2
        table[3, position] = moments.m4
        if moments.n > 1 or self.algorithms[position] in self.deterministic:
            table[1, position] = moments.m2 / max(moments.n - 1, 1)  # the moments of equal values are exactly 0

    def _unscaled(self, scaled: Floats, power: int) -> Floats:
        if self.ordinary:
            return scaled
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(scaled, power * self._exponents)


class _Moments:
    """Central power sums of (x − first)·2^-e by one-pass updates (Pébay 2008, eqs. 2.1 and 3.1 for one more value).

    The shift by the first value keeps large offsets harmless, the scale keeps the powers within doubles; e is 0
    as long as the largest magnitude is an ordinary one.
    """

    __slots__ = ("exponent", "first", "m2", "m3", "m4", "mean", "n", "origin", "top")

    def __init__(self) -> None:
        self.n = 0
        self.first = self.origin = self.mean = self.m2 = self.m3 = self.m4 = 0.0
        self.top: int | None = None  # binary exponent of the largest magnitude so far
        self.exponent = 0

    def add(self, x: float) -> None:
        if x != 0.0:
            magnitude = math.frexp(x)[1]
            if self.top is None or magnitude > self.top:
                self._rescale(magnitude)
        if self.n == 0:
            self.first = x
            self.origin = math.ldexp(x, -self.exponent)
        before = self.n
        n = self.n = before + 1
        scaled = math.ldexp(x, -self.exponent) if self.exponent else x
        delta = (scaled - self.origin) - self.mean
        step = delta / n
        square = step * step
        term = delta * step * before
        self.mean += step
        self.m4 += term * square * (n * n - 3 * n + 3) + 6.0 * square * self.m2 - 4.0 * step * self.m3
        self.m3 += term * step * (n - 2) - 3.0 * step * self.m2
        self.m2 += term

    def _rescale(self, magnitude: int) -> None:
        self.top = magnitude
        exponent = 0 if abs(magnitude) <= ORDINARY else magnitude
        change = self.exponent - exponent
        if change:
            self.exponent = exponent
            self.origin = math.ldexp(self.first, -exponent)
            self.mean = math.ldexp(self.mean, change)
            self.m2 = math.ldexp(self.m2, 2 * change)
            self.m3 = math.ldexp(self.m3, 3 * change)
            self.m4 = math.ldexp(self.m4, 4 * change)


def _check_names(algorithms: tuple[str, ...], positions: Mapping[str, int], deterministic: Collection[str]) -> None:
    if len(algorithms) < 2:
        raise InvalidSamples(f"a comparison needs at least two algorithms, got {list(algorithms)!r}; add another")
    if len(positions) < len(algorithms):
        twice = sorted({name for name in algorithms if algorithms.count(name) > 1})
        raise InvalidSamples(f"each algorithm must have its own name, got {', '.join(twice)} twice; rename one")
    strangers = sorted(set(deterministic) - set(positions))
    if strangers:
        raise InvalidSamples(
            f"deterministic must name algorithms among {', '.join(map(repr, algorithms))}, got {strangers[0]!r}"
        )


def _number(algorithm: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidSamples(
            f"every value must be a finite number, got {value!r} from algorithm {algorithm!r}; "
            "drop failed runs or give them a penalty"
        )
    return number


def _view(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only window on an array that continues to change."""
    window = array.view()
    window.flags.writeable = False
    return window


STATUSES: tuple[Status, ...] = get_args(Status)  # a status is stored as its position here; "ok" is 0


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs as columns: `instance` and `algorithm` are positions in the name tuples, `status` in STATUSES.

    Names stand in the order of first appearance, rows in the order of the runs. A run whose status is not "ok" may
    have a value (a solver's cutoff) or NaN; it is never used as a value unless a failure policy says so.

    >>> runs = Runs.from_columns(["i1", "i1", "i2", "i2"], ["a", "b", "a", "b"], [1.0, 2.0, 3.0, 5.0])
    >>> runs.instances, runs.algorithms, len(runs)
    (('i1', 'i2'), ('a', 'b'), 4)
    """

    instances: tuple[str, ...]
    algorithms: tuple[str, ...]
    instance: Codes
    algorithm: Codes
    value: Floats
    status: NDArray[np.uint8]
    shared: Codes | None = None  # number that pairs runs of different algorithms, such as a fold
    kind: NDArray[np.uint8] | None = None  # positions in KINDS; None: only the status is known
    shift: float = 0.0  # added to the value of each run

    def __post_init__(self) -> None:
        _check_columns(self)
        _check_values(self)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def ok(self) -> Bools:
        """Whether each run gave a value."""
        return np.equal(self.status, 0)

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of end of each run, as positions in KINDS."""
        of_status = np.array([KINDS.index(kind_of(status)) for status in STATUSES], np.uint8)
        return of_status[self.status] if self.kind is None else self.kind

    def failures(self) -> Counter[tuple[str, Status]]:
        """Count the failed runs by algorithm and by how they ended."""
        failed = ~self.ok
        ends = zip(self.algorithm[failed].tolist(), self.status[failed].tolist(), strict=True)
        return Counter({(self.algorithms[k], STATUSES[code]): number for (k, code), number in Counter(ends).items()})

    @classmethod
    def from_columns(
        cls,
        instance: Sequence[str] | NDArray[np.object_],
        algorithm: Sequence[str] | NDArray[np.object_],
        value: ArrayLike,
        status: Sequence[Status] | None = None,
    ) -> Runs:
        """Make runs from one name per run; a missing value is NaN and needs a status other than "ok"."""
        instances, instance_codes = _coded(instance)
        algorithms, algorithm_codes = _coded(algorithm)
        values = np.asarray(value, dtype=float)
        if status is None:
            return cls(instances, algorithms, instance_codes, algorithm_codes, values, np.zeros(len(values), np.uint8))
        names, positions = _coded(status)
        if unknown := sorted({*map(str, names)} - {*STATUSES}):
            raise InvalidData(f"a run's status must be one of {', '.join(STATUSES)}, got {unknown[0]!r}; map it first")
        codes = np.array([STATUSES.index(name) for name in names], np.uint8)[positions]
        return cls(instances, algorithms, instance_codes, algorithm_codes, values, codes)

    @classmethod
    def of(cls, observations: Iterable[Observation]) -> Runs:
        """Make runs from observations, in their order."""
        rows = [
            (run.key.instance, run.key.algorithm, np.nan if run.value is None else run.value, run.status, run.cause)
            for run in observations
        ]
        *columns, causes = zip(*rows, strict=True) if rows else ((), (), (), (), ())
        runs = cls.from_columns(*columns)
        kinds = [KINDS.index(kind_of(status, cause)) for status, cause in zip(columns[3], causes, strict=True)]
        return replace(runs, kind=np.array(kinds, np.uint8))


def on_instances(runs: Runs, names: Collection[str]) -> Runs:
    """Return the runs on some instances only.

    >>> runs = Runs.from_columns(["i1", "i2", "i3"], ["a", "a", "b"], [1.0, 2.0, 3.0])
    >>> on_instances(runs, {"i3", "i1"}).instances
    ('i1', 'i3')
    """
    chosen = np.array([name in names for name in runs.instances], bool)
    positions = np.cumsum(chosen) - 1
    selected = at_rows(runs, np.flatnonzero(chosen[runs.instance]))
    instances = tuple(name for name in runs.instances if name in names)
    return replace(selected, instances=instances, instance=positions[selected.instance])


def at_rows(runs: Runs, rows: Codes) -> Runs:
    """Return some of the runs, in the order of the rows; all names stay.

    >>> at_rows(Runs.from_columns(["i1", "i2"], ["a", "b"], [1.0, 2.0]), np.array([1])).value.tolist()
    [2.0]
    """
    names = ("instance", "algorithm", "value", "status", "shared", "kind")
    columns: dict[str, Any] = {name: column[rows] for name in names if (column := getattr(runs, name)) is not None}
    return replace(runs, **columns)


def paired_by_index(runs: Runs) -> Runs:
    """Return the runs paired by position: run k of every algorithm on an instance shares one seed.

    >>> paired_by_index(Runs.from_columns(["i", "i", "i"], ["a", "b", "a"], [1.0, 2.0, 3.0])).shared.tolist()
    [0, 0, 1]
    """
    cell = runs.instance * len(runs.algorithms) + runs.algorithm
    order = np.argsort(cell, kind="stable")
    sizes = np.bincount(cell)
    index = np.empty(len(cell), dtype=np.intp)
    index[order] = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return replace(runs, shared=index)


def joined_runs(parts: Sequence[Runs], algorithms: Sequence[str]) -> Runs:
    """Concatenate runs on different instances, with the algorithms in this order.

    >>> first, second = (Runs.from_columns([name], [who], [1.0]) for name, who in (("i1", "b"), ("i2", "a")))
    >>> joined_runs([first, second], ["a", "b"]).algorithm.tolist()
    [1, 0]
    """
    positions = {name: position for position, name in enumerate(algorithms)}
    starts = np.cumsum([0, *(len(part.instances) for part in parts)])
    codes = [np.array([positions[name] for name in part.algorithms])[part.algorithm] for part in parts]
    return Runs(
        instances=tuple(name for part in parts for name in part.instances),
        algorithms=tuple(algorithms),
        instance=np.concatenate([part.instance + start for part, start in zip(parts, starts[:-1], strict=True)]),
        algorithm=np.concatenate(codes),
        value=np.concatenate([part.value for part in parts]),
        status=np.concatenate([part.status for part in parts]),
        kind=np.concatenate([part.kinds for part in parts]),
    )


def with_composed_names(runs: Runs) -> Runs:
    """Return the runs with each name in one spelling: two spellings of a name are one.

    >>> with_composed_names(Runs.from_columns(["i", "i"], ["\\u00e9", "e\\u0301"], [1.0, 2.0])).algorithm.tolist()
    [0, 0]
    """
    if all(map(str.isascii, (*runs.instances, *runs.algorithms))):
        return runs
    instances, instance = _coded(map(composed, runs.instances))
    algorithms, algorithm = _coded(map(composed, runs.algorithms))
    own, others = instance[runs.instance], algorithm[runs.algorithm]
    return replace(runs, instances=instances, algorithms=algorithms, instance=own, algorithm=others)


def adjusted_runs(runs: Runs, floor: float | None, shift: float | None = None) -> Runs:
    """Return the runs with values raised to the floor, if there is one, and the shift added.

    >>> adjusted_runs(Runs.from_columns(["i1", "i1"], ["a", "b"], [0.0, 3.0]), 1e-8).value.tolist()
    [1e-08, 3.0]
    """
    runs = runs if shift is None else replace(runs, shift=shift)
    return runs if floor is None else replace(runs, value=np.maximum(runs.value, floor))


def _coded(names: Iterable[str]) -> tuple[tuple[str, ...], Codes]:
    """Names in the order of first appearance, and each row's position among them."""
    positions: dict[str, int] = {}
    codes = np.fromiter((positions.setdefault(name, len(positions)) for name in names), dtype=np.intp)
    return tuple(positions), codes


def _check_columns(runs: Runs) -> None:
    """Check that the columns have equal length and valid codes."""
    columns = (runs.instance, runs.algorithm, runs.value, runs.status, runs.shared, runs.kind)
    lengths = {len(column) for column in columns if column is not None}
    if len(lengths) != 1:
        raise InvalidData(f"the columns of runs must be equally long, got lengths {sorted(lengths)}")
    if not len(runs):
        raise InvalidData("there must be at least one run, got none")
    for what in ("instance", "algorithm"):
        codes, names = getattr(runs, what), getattr(runs, f"{what}s")
        if codes.min() < 0 or codes.max() >= len(names):
            raise InvalidData(f"{what} codes must lie between 0 and {len(names) - 1}, got {codes.min()}..{codes.max()}")
        if len(set(names)) != len(names):
            twice = next(name for name, number in Counter(names).items() if number > 1)
            raise InvalidData(f"{what} names must differ, got {twice!r} twice")


def _check_values(runs: Runs) -> None:
    """Check that every run with status "ok" has a finite value."""
    if runs.status.max() >= len(STATUSES):
        raise InvalidData(f"status codes must lie below {len(STATUSES)}, got {runs.status.max()}")
    wrong = runs.ok & ~np.isfinite(runs.value)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidData(
            f"a run with status ok must have a finite value, got {runs.value[row]} for algorithm"
            f" {runs.algorithms[runs.algorithm[row]]!r} on instance {runs.instances[runs.instance[row]]!r};"
            " if the run failed, give it another status"
        )
