"""A schedule of looks: what turns a level into the nominal level of each look. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ampler.stats.sequential.boundaries import Sides, normal_levels
from ampler.stats.sequential.spending import Spending
from ampler.stats.sequential.student import student_levels


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the looks come and how they spend: by exact t where the instances are given, else by normal theory."""

    spending: Spending
    fractions: tuple[float, ...]
    instances: tuple[int, ...] | None = None
    sides: Sides = 2

    def nominal_levels(self, level: float) -> tuple[float, ...]:
        """Return the level that the ordinary p-value of each look must meet.

        >>> from ampler.stats.sequential.spending import named_spending
        >>> schedule = student_schedule(named_spending("OF"), (24, 35, 47, 58))
        >>> [round(nominal, 5) for nominal in schedule.nominal_levels(0.05)]
        [0.00099, 0.00738, 0.02266, 0.04115]
        """
        if self.instances is None:
            return normal_levels(self.spending, level, self.fractions, sides=self.sides)
        return student_levels(self.spending, level, self.instances, fractions=self.fractions, sides=self.sides)


def student_schedule(spending: Spending, instances: Sequence[int], *, sides: Sides = 2) -> Schedule:
    """Return the schedule of t-tests on so many instances, the last look having all of them."""
    looks = tuple(instances)
    return Schedule(spending, tuple(n / looks[-1] for n in looks), looks, sides)
