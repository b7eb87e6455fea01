"""Many runs as columns: what every reader of results makes and every analysis takes. Pure.

A million runs are four arrays, not a million objects. `Runs.from_columns` is the door for anything that can name
its instances and algorithms; `Runs.of` takes a handful of observations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ampler.core.arrays import Bools, Codes, Floats
from ampler.core.choices import Status
from ampler.core.errors import InvalidData
from ampler.core.names import composed
from ampler.core.values import Observation

STATUSES: tuple[Status, ...] = get_args(Status)  # a status is stored as its place here; "ok" is 0


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs as columns: `instance` and `algorithm` are places in the name tuples, `status` in STATUSES.

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
    shared: Codes | None = None  # a number that runs of different algorithms have in common, as a fold; None: nothing

    def __post_init__(self) -> None:
        _check_columns(self)
        _check_values(self)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def ok(self) -> Bools:
        """Which runs gave a value."""
        return np.equal(self.status, 0)

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
        codes = np.zeros(len(values), np.uint8) if status is None else _status_codes(status)
        return cls(instances, algorithms, instance_codes, algorithm_codes, values, codes)

    @classmethod
    def of(cls, observations: Iterable[Observation]) -> Runs:
        """Make runs from observations, in their order."""
        seen = list(observations)
        return cls.from_columns(
            [o.key.instance for o in seen],
            [o.key.algorithm for o in seen],
            [np.nan if o.value is None else o.value for o in seen],
            [o.status for o in seen],
        )


def on_instances(runs: Runs, names: Collection[str]) -> Runs:
    """Return the runs on some instances only.

    >>> runs = Runs.from_columns(["i1", "i2", "i3"], ["a", "a", "b"], [1.0, 2.0, 3.0])
    >>> on_instances(runs, {"i3", "i1"}).instances
    ('i1', 'i3')
    """
    wanted = np.array([name in names for name in runs.instances], bool)
    places = np.cumsum(wanted) - 1
    kept = at_rows(runs, np.flatnonzero(wanted[runs.instance]))
    instances = tuple(name for name in runs.instances if name in names)
    return replace(kept, instances=instances, instance=places[kept.instance])


def at_rows(runs: Runs, rows: Codes) -> Runs:
    """Return some of the runs, in the order of the rows; all names stay.

    >>> at_rows(Runs.from_columns(["i1", "i2"], ["a", "b"], [1.0, 2.0]), np.array([1])).value.tolist()
    [2.0]
    """
    columns = {name: getattr(runs, name)[rows] for name in ("instance", "algorithm", "value", "status")}
    return replace(runs, **columns, shared=None if runs.shared is None else runs.shared[rows])


def joined_runs(parts: Sequence[Runs], algorithms: Sequence[str]) -> Runs:
    """Return runs on different instances as one, part after part, with the algorithms named in this order.

    >>> first, second = (Runs.from_columns([name], [who], [1.0]) for name, who in (("i1", "b"), ("i2", "a")))
    >>> joined_runs([first, second], ["a", "b"]).algorithm.tolist()
    [1, 0]
    """
    places = {name: place for place, name in enumerate(algorithms)}
    starts = np.cumsum([0, *(len(part.instances) for part in parts)])
    codes = [np.array([places[name] for name in part.algorithms])[part.algorithm] for part in parts]
    return Runs(
        instances=tuple(name for part in parts for name in part.instances),
        algorithms=tuple(algorithms),
        instance=np.concatenate([part.instance + start for part, start in zip(parts, starts[:-1], strict=True)]),
        algorithm=np.concatenate(codes),
        value=np.concatenate([part.value for part in parts]),
        status=np.concatenate([part.status for part in parts]),
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


def floored(runs: Runs, floor: float | None) -> Runs:
    """Return the runs with values below the floor, if there is one, as the floor.

    >>> floored(Runs.from_columns(["i1", "i1"], ["a", "b"], [0.0, 3.0]), 1e-8).value.tolist()
    [1e-08, 3.0]
    """
    return runs if floor is None else replace(runs, value=np.maximum(runs.value, floor))


def _coded(names: Iterable[str]) -> tuple[tuple[str, ...], Codes]:
    """Names in the order of first appearance, and each row's place among them."""
    places: dict[str, int] = {}
    codes = np.fromiter((places.setdefault(name, len(places)) for name in names), dtype=np.intp)
    return tuple(places), codes


def _status_codes(status: Sequence[Status]) -> NDArray[np.uint8]:
    places = {name: place for place, name in enumerate(STATUSES)}
    unknown = sorted({str(name) for name in status} - set(places))
    if unknown:
        raise InvalidData(f"a run's status must be one of {', '.join(STATUSES)}, got {unknown[0]!r}; map it first")
    return np.fromiter((places[name] for name in status), dtype=np.uint8, count=len(status))


def _check_columns(runs: Runs) -> None:
    """The columns are equally long and their codes name something."""
    lengths = {len(runs.instance), len(runs.algorithm), len(runs.value), len(runs.status)}
    lengths |= set() if runs.shared is None else {len(runs.shared)}
    if len(lengths) != 1:
        raise InvalidData(f"the columns of runs must be equally long, got lengths {sorted(lengths)}")
    if not len(runs):
        raise InvalidData("there must be at least one run, got none")
    for what, codes, names in (
        ("instance", runs.instance, runs.instances),
        ("algorithm", runs.algorithm, runs.algorithms),
    ):
        if codes.min() < 0 or codes.max() >= len(names):
            raise InvalidData(f"{what} codes must lie between 0 and {len(names) - 1}, got {codes.min()}..{codes.max()}")
        if len(set(names)) != len(names):
            raise InvalidData(f"{what} names must differ, got {_first_twice(names)!r} twice")


def _first_twice(names: Sequence[str]) -> str:
    return next(name for place, name in enumerate(names) if name in names[:place])


def _check_values(runs: Runs) -> None:
    """A run that is ok has a finite value."""
    if runs.status.max() >= len(STATUSES):
        raise InvalidData(f"status codes must lie below {len(STATUSES)}, got {runs.status.max()}")
    wrong = runs.ok & ~np.isfinite(runs.value)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidData(
            f"a run that is ok must have a finite value, got {runs.value[row]} for algorithm"
            f" {runs.algorithms[runs.algorithm[row]]!r} on instance {runs.instances[runs.instance[row]]!r};"
            " if the run failed, give it a status"
        )
