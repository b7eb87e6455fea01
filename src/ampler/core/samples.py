"""The runs of one instance, as running moments: adding a run is O(1), no pass over what is there."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ampler.core.arrays import Counts, Floats
from ampler.core.errors import InvalidSamples

T = TypeVar("T")

# Between 2^-200 and 2^200 fourth powers of values and of their rounding errors are ordinary doubles; only
# values beyond are kept as x·2^-e.
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
        self._places = {name: place for place, name in enumerate(self.algorithms)}
        _check_names(self.algorithms, self._places, deterministic)
        self.deterministic = frozenset(deterministic)
        size = len(self.algorithms)
        self._moments = [_Moments() for _ in range(size)]
        self._values: list[list[float]] = [[] for _ in range(size)]
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
        """Make samples from a mapping of lists; what are samples already is returned as it is."""
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
        place = self.place(algorithm)
        kept, moments = self._values[place], self._moments[place]
        try:
            for value in values:
                number = value if type(value) is float and math.isfinite(value) else _number(algorithm, value)
                if self.deterministic and algorithm in self.deterministic:
                    self._check_same(place, number)
                kept.append(number)
                moments.add(number)
                self.total_spent += 1
        finally:  # those before one that is refused are there
            self._note(place, moments)

    def drop(self, algorithm: str) -> None:
        """Count a failed run: it is spent, but it is no value."""
        self._counts[1, self.place(algorithm)] += 1
        self.total_spent += 1

    def place(self, algorithm: str) -> int:
        """Return the position of an algorithm in all the arrays."""
        try:
            return self._places[algorithm]
        except KeyError:
            raise InvalidSamples(
                f"the algorithm must be one of {', '.join(map(repr, self.algorithms))}, got {algorithm!r}"
            ) from None

    def values(self, algorithm: str) -> Floats:
        """Return the values of an algorithm in the order in which they came."""
        return np.array(self._values[self.place(algorithm)])

    def derived(self, algorithm: str, key: Hashable, compute: Callable[[Floats], T]) -> T:
        """Return compute(values of the algorithm), remembered under `key` until the algorithm gets another value."""
        memory = self._memory[self.place(algorithm)]
        if key not in memory:
            memory[key] = compute(self.values(algorithm))
        result: T = memory[key]
        return result

    @property
    def means(self) -> Floats:
        """The mean of each algorithm; NaN without a value."""
        return self._plain(self.scaled_means, 1)

    @property
    def variances(self) -> Floats:
        """The variance (n − 1) of each algorithm; 0 if it is deterministic, NaN with fewer than two values.

        Like `second` and `fourth` it is 0 or infinite where the magnitudes allow no other double; estimates use
        `scaled_variances`, which are in units of 2^(2·exponents).
        """
        return self._plain(self.scaled_variances, 2)

    @property
    def second(self) -> Floats:
        """The central power sum M2 = Σ(x − mean)² of each algorithm."""
        return self._plain(self.scaled_second, 2)

    @property
    def fourth(self) -> Floats:
        """The central power sum M4 = Σ(x − mean)⁴ of each algorithm."""
        return self._plain(self.scaled_fourth, 4)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {count}" for name, count in zip(self.algorithms, self.counts, strict=True))
        return f"Samples({counts})"

    def _check_same(self, place: int, number: float) -> None:
        if self._values[place] and number != self._values[place][0]:
            raise InvalidSamples(
                f"algorithm {self.algorithms[place]!r} is declared deterministic and must always give the same value, "
                f"got {self._values[place][0]!r} and {number!r}; do not declare it deterministic"
            )

    def _note(self, place: int, moments: _Moments) -> None:
        """Bring the arrays of one algorithm up to date."""
        if not moments.n:
            return
        self._memory[place].clear()
        counts, table = self._counts, self._table
        counts[1, place] += moments.n - counts[0, place]
        counts[0, place] = moments.n
        if moments.exponent or not self.ordinary:
            self._exponents[place] = moments.exponent
            self.ordinary = not self._exponents.any()
        table[0, place] = moments.origin + moments.mean
        table[2, place] = moments.m2
        table[3, place] = moments.m4
        if moments.n > 1 or self.algorithms[place] in self.deterministic:
            table[1, place] = moments.m2 / max(moments.n - 1, 1)  # the moments of equal values are exactly 0

    def _plain(self, scaled: Floats, power: int) -> Floats:
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


def _check_names(algorithms: tuple[str, ...], places: Mapping[str, int], deterministic: Collection[str]) -> None:
    if len(algorithms) < 2:
        raise InvalidSamples(f"a comparison needs at least two algorithms, got {list(algorithms)!r}; add another")
    if len(places) < len(algorithms):
        twice = sorted({name for name in algorithms if algorithms.count(name) > 1})
        raise InvalidSamples(f"each algorithm must have its own name, got {', '.join(twice)} twice; rename one")
    strangers = sorted(set(deterministic) - set(places))
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
            "leave failed runs out (drop) or give them a penalty"
        )
    return number


def _view(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only window on an array that goes on changing."""
    window = array.view()
    window.flags.writeable = False
    return window
