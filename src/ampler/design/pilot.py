"""What a pilot showed and what was decided after it, as one value that is kept, told and drawn. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ampler.core.arrays import Pair
from ampler.core.choices import Alternative, Difference, difference_of
from ampler.stats.growth import FinalTest

Row = tuple[float, ...]

NUMBERS = ("means", "errors", "freedom", "p_values", "skewness", "deviations", "noise_shares", "shares")  # rows
UNKNOWN = ("mean_power", "least_power", "se", "detectable")  # are no numbers where nothing goes on, or nothing lacks
LATER = ("final_test", "shares")  # fields since version 0.3
IN_UNIT = ("means", "errors", "deviations")  # rows in the unit of simple differences


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotReport:
    """What the pilot showed of each comparison, and how many instances and runs were decided on.

    Rows are in the order of `pairs`. Comparisons that are `clear` get no more runs. `runs` are those of each algorithm
    on every instance, 0 for those that left; `planned` instances are run in all, `needed` reach the power.
    """

    difference: Difference
    detect: float
    power: float
    alpha: float
    alternative: Alternative
    share: float  # of every level, spent on the pilot; 0 where its tests decide nothing
    instances: tuple[str, ...]  # of the pilot
    start: int  # runs of each algorithm on them
    available: int
    pairs: tuple[Pair, ...]
    means: Row  # of the differences
    errors: Row
    freedom: Row
    p_values: Row
    clear: tuple[bool, ...]
    skewness: Row
    deviations: Row  # of the differences, over instances
    noise_shares: Row  # of the runs, in the squares of these
    runs: Mapping[str, int]
    planned: int
    needed: int
    interval: tuple[int, int]  # of the instances asked for in 90 % of all pilots
    mean_power: float  # of what is planned
    least_power: float
    se: float  # of every comparison that goes on, at most, with these runs
    detectable: float  # what the instances that are there find with the wanted power; NaN where they are enough
    total: int  # runs in all, the pilot's included
    seen: int = 0  # so many of the pilot's instances, the first, decided on the size; 0: all did
    final_test: FinalTest = "growth"  # of all instances
    shares: Row = ()  # of each variance, held by the instance that is farthest from the mean; empty: not known

    @property
    def pilot(self) -> int:
        """The number of instances of the pilot."""
        return len(self.instances)

    @property
    def since(self) -> tuple[str, ...]:
        """The instances whose variance decided on the size; a growth test has only that which came since."""
        return self.instances[: self.seen or self.pilot]

    @property
    def is_fixed(self) -> bool:
        """Whether there were too few instances to choose their number: the tests are the ordinary ones then."""
        return self.share == 0

    @property
    def going(self) -> tuple[int, ...]:
        """The places of the comparisons that go on."""
        return tuple(place for place, clear in enumerate(self.clear) if not clear)

    @property
    def left(self) -> tuple[str, ...]:
        """The algorithms that got no more runs after the pilot."""
        return tuple(name for name, count in self.runs.items() if not count)

    @property
    def is_enough(self) -> bool:
        """Whether the instances that are there reach the power."""
        return self.needed <= self.planned

    def times(self, unit: float) -> PilotReport:
        """The same in other units of the differences."""
        rows: dict[str, Any] = {name: tuple(each * unit for each in getattr(self, name)) for name in IN_UNIT}
        return replace(self, detect=self.detect * unit, detectable=self.detectable * unit, se=self.se * unit, **rows)

    def to_data(self) -> dict[str, Any]:
        """Return everything as plain data; what came later is left out where it is as in reports of earlier days."""
        later = {field.name: field.default for field in fields(self) if field.name in LATER}
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in data.items() if name not in later or value != later[name]}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> PilotReport:
        """Return the report from plain data; to_data's other half. What is not a number may be kept as text."""
        rows = {name: tuple(map(float, data[name])) for name in NUMBERS if name in data}
        given = {
            "pairs": tuple((first, second) for first, second in data["pairs"]),
            "clear": tuple(data["clear"]),
            "instances": tuple(data["instances"]),
            "interval": tuple(data["interval"]),
            "difference": difference_of(data["difference"]),
        }
        return cls(**{**data, **rows, **given, **{name: float(data[name]) for name in UNKNOWN}})
