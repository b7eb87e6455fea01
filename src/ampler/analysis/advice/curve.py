"""What each accuracy costs, and the cheapest one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log10

import numpy as np

from ampler.analysis.advice.goal import PowerGoal
from ampler.analysis.advice.pilot import Pilot
from ampler.design.solve import MOST_INSTANCES

STEP = 10 ** (1 / 16)  # between neighbouring accuracies of the curve
DECADES = 3  # the curve ends where better accuracy saves no instance, or here
FINER = 24  # accuracies tried between the neighbours of the best one
HALVINGS = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to reach the power: an accuracy, the instances it then takes, and what that costs."""

    se: float
    instances: int
    runs: float  # on one instance, all algorithms together, on average
    cost: float  # of everything, in units of one run (or of the costs given)
    power: float  # reached

    def times(self, unit: float) -> Choice:
        """The same in other units of the differences."""
        return replace(self, se=self.se * unit)


def cost_curve(pilot: Pilot, goal: PowerGoal) -> tuple[Choice, ...]:
    """Return choices by accuracy, from where better accuracy saves no instance up to `start` runs everywhere."""
    fewest = goal.check_possible(pilot.between)
    curve = [choice_at(pilot, goal, pilot.top)]
    for step in range(1, round(DECADES / log10(STEP)) + 1):
        if curve[-1].instances <= fewest or pilot.top == 0:
            break
        curve.append(choice_at(pilot, goal, pilot.top / STEP**step, guess=curve[-1].instances))
    return tuple(reversed(curve))


def cheapest_choice(pilot: Pilot, goal: PowerGoal, curve: Sequence[Choice]) -> Choice:
    """Return the cheapest choice: the curve's, bettered on a finer grid, then with no more accuracy than needed."""
    most = goal.available or MOST_INSTANCES
    best = _cheapest([choice for choice in curve if choice.instances <= most] or curve[:1])
    if best.se > 0:
        finer = np.geomspace(best.se / STEP, min(best.se * STEP, pilot.top), FINER)
        tried = [choice_at(pilot, goal, float(se), best.instances) for se in finer]
        best = _cheapest([best, *(choice for choice in tried if choice.instances <= most)])
    return _cheapest([best, choice_at(pilot, goal, _least_accuracy(pilot, goal, best), best.instances)])


def choice_at(pilot: Pilot, goal: PowerGoal, se: float, guess: int = 2) -> Choice:
    """Return what it takes to reach the power when every difference is known to `se`."""
    counts = pilot.counts(se)
    variances = pilot.variances(counts)
    instances = goal.instances(variances, guess)
    runs = float(counts.sum(axis=1).mean())
    return Choice(se, instances, runs, instances * pilot.cost(counts), goal.reached(instances, variances))


def _cheapest(choices: Iterable[Choice]) -> Choice:
    return min(choices, key=lambda choice: (choice.cost, choice.se))


def _least_accuracy(pilot: Pilot, goal: PowerGoal, best: Choice) -> float:
    """The largest se with which the same instances still reach the power: the cost falls with se."""
    low, high = best.se, min(best.se * STEP, pilot.top)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = goal.reached(best.instances, pilot.variances(pilot.counts(middle))) >= goal.settings.power
        low, high = (middle, high) if enough else (low, middle)
    return low
